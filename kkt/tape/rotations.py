"""Elimination by rotations as scalar operations: weighted rows, merged without a square root.

A set of m weighted rows stands for the quadratic form ``sum_i w_i (g_i x + z_i)^2 / 2`` in six
unknowns x: coefficients g_i, a residual z_i and a weight w_i.  Two rows are merged by a Givens
rotation without square roots (Gentleman 1973, J. Inst. Maths Applics 12): for the pivot row r of
weight d, with a one in the column, and a row h of weight w with x there,

    d' = d + w x^2,    h' = h - (x/d) (d r),    d' r' = d r + (w x) h,    w' = w (d/d').

All weights stay positive and every sum is formed at the scale of its own row, so that a light row
survives beside a heavy one whichever of them is the pivot: no sign, size or row is chosen.  A
pivot row is kept as d r (a momentum) until its column is done: four operations an entry.
"""

from __future__ import annotations

import numpy as np

from .emit import Emitter, Operation, Scalars

COLUMNS = 8  # of a block of weighted rows: six unknowns, the residual, the weight
Z, W = 6, 7


def sequence(dof: int, concentric: bool, linear: tuple[int, ...] = ()) -> tuple[int, ...]:
    """The order in which the columns of [S E] are eliminated: the joint, then E.

    Linear columns come before angular ones: rows from a body's moments of inertia then have no
    linear entry, and a change of frame keeps these zeros.  Where the parent's joint has the same
    centre, or nearly so, angular columns come first: rows without an angular entry are then the
    heavy ones, turning about the common centre must not meet them, and a change of frame keeps
    their zeros (or makes entries of the centres' distance, right to all digits).  Among the
    ``linear`` columns those along the links come last: a stretched arm leaves the payload's row
    there, and its other entries, which should cancel, are then eliminated and not kept as noise.
    """
    angular = [j for j in range(5, dof - 1, -1) if j not in linear]
    return (*range(dof), *([*angular[::-1], *linear] if concentric else [*linear, *angular]))


def basis(e: Emitter, H: Scalars, rows: tuple[int, ...]) -> Scalars:
    """[S E] (6, 6): E is the identity outside ``rows``, in the order of ``across``."""
    other = [i for i in range(6) if i not in rows]
    E = np.zeros((6, len(other)), dtype=np.int64)
    E[other] = np.eye(len(other), dtype=np.int64)
    return np.concatenate([H.T, E], axis=1)


def weigh(
    e: Emitter, K: Scalars, u: Scalars, dof: int, concentric: bool, linear: tuple[int, ...] = ()
) -> Scalars:
    """K = R^T D R without pivoting: rows [D R, R^-T u, D] (6, 8), R unit triangular.

    Row i has its pivot in column i; where K has no entry there, its weight is zero, and the entry
    of u stays as it is (see ``unweighed``).
    """
    A, u = K.copy(), u[:, 0].copy()
    out = np.zeros((6, COLUMNS), dtype=np.int64)
    left = list(sequence(dof, concentric, linear))
    while left:
        j = left.pop(0)
        out[j, j], out[j, Z], out[j, W] = A[j, j], u[j], A[j, j]
        later = [k for k in left if A[j, k]]
        if not later:
            continue
        out[j, later] = A[j, later]
        ratio = e.div(A[j, later], A[j, j])
        first, second = np.triu_indices(len(later))
        rows, columns = np.array(later)[first], np.array(later)[second]
        new = e.sub(A[rows, columns], e.mul(ratio[first], A[j, columns]))
        A[rows, columns] = A[columns, rows] = new
        u[later] = e.sub(u[later], e.mul(ratio, u[j]))
    return out


def unweighed(e: Emitter, own: Scalars) -> Scalars:
    """(6, 1) entries of u after ``weigh`` in rows of weight zero: a force where no mass is."""
    return np.where(own[:, W : W + 1] == 0, own[:, Z : Z + 1], 0)


def rotate(
    e: Emitter, own: Scalars, *more: Scalars, dof: int, concentric: bool, linear: tuple[int, ...] = ()
) -> Scalars:
    """Merge rows into a body's own: (m, 8) unit rows [r, z, w], the ``dof`` pivot rows first.

    ``own`` comes from ``weigh``; ``more`` are coefficients (m, 6), residuals (m, 1) and weights
    (m, 1) of one set of rows after another.  Where the body has no row of its own for a joint's
    column (it has no mass there), that column is projected out of all rows instead; for another
    column the rows stay as they are.  Rows that are zero are left out.

    Armature is diagonal (dof, dof) and the last of ``more``.  Its rows are merged too; rows are
    then on qdd and on beta along and beside the joint, and beta along it takes ``dof`` new columns.
    """
    sets = [np.concatenate(more[i : i + 3], axis=1) for i in range(0, len(more) - 2, 3)]
    rows = np.concatenate([np.zeros((0, COLUMNS), dtype=np.int64), *sets])
    given = turned = np.zeros(0, dtype=np.int64)
    if len(more) % 3:
        own, rows, given, turned = _geared(own, rows, more[-1].diagonal())
    done: dict[int, Scalars] = {}
    left = list(sequence(dof, concentric, linear))
    kept: list[int] = []
    while left:
        j = left.pop(0)
        columns = np.array([*left, *kept, Z, *given])
        meets = np.flatnonzero(rows[:, j] != 0)
        if j < dof and len(given):  # a row on alpha is one on qdd and beta
            columns = np.array([*columns, *turned])
            own[j, turned] = e.add(own[j, :dof], own[j, given])
            rows[meets[:, None], turned] = e.add(rows[meets, :dof], rows[meets[:, None], given])
        if own[j, W]:
            pivot, d = own[j, columns], own[j, W]
            for i in meets:
                pivot, d = rotated(e, rows[i], j, columns, pivot, d)
        elif j < dof:
            pivot, d = projected(e, rows, meets, j, columns)
        else:
            kept.append(j)  # rotations of later columns still change its entries
            continue
        done[j] = np.zeros(own.shape[1], dtype=np.int64)
        done[j][j], done[j][W] = 1, d
        done[j][columns] = e.div(pivot, d) if d else 0
    # a joint without any mass has a pivot of zero, which is refused by name
    on_beta = (rows[:, :Z] != 0).any(axis=1) | (rows[:, given] != 0).any(axis=1)
    rows = rows[on_beta & (rows[:, W] != 0)]
    out = np.concatenate([*(done[j][None] for j in sorted(done)), rows])
    out[:dof, given] = out[:dof, turned]
    return out[:, : COLUMNS + len(given)]


def _geared(own: Scalars, rows: Scalars, A: Scalars) -> tuple[Scalars, Scalars, Scalars, Scalars]:
    """A body's own rows and others, with the rows of armature A and 2 dof more columns.

    A row on qdd is one on alpha along the joint less beta along it.  The first ``dof`` columns hold
    beta's coefficients in this form, in which no sum of rotations cancels; the others hold beta's
    coefficients beside qdd's, which pivot rows keep.  Where the body has no row of its own for a
    joint's column, that of the armature takes its place.
    """
    dof = len(A)
    given = COLUMNS + np.arange(dof)
    own, rows = (np.pad(x, ((0, 0), (0, 2 * dof))) for x in (own, rows))
    more = np.zeros((dof, rows.shape[1]), dtype=np.int64)
    more[range(dof), range(dof)], more[range(dof), given], more[:, W] = 1, -1, A
    bare = own[:dof, W] == 0
    for j in np.flatnonzero(bare & (A != 0)):
        own[j] = np.where(more[j] == 0, 0, A[j] * more[j])
        own[j, W] = A[j]
    return own, np.concatenate([rows, more[~bare & (A != 0)]]), given, given + dof


def rotated(
    e: Emitter, row: Scalars, j: int, columns: Scalars, pivot: Scalars, d: np.int64, W: int = W
) -> tuple[Scalars, np.int64]:
    """Rotate one row with the pivot d r: the row changes in place, d' r' and d' are returned.

    ``columns`` are those of the pivot's entries, j the pivot's own, and W that of the weight.
    """
    x, w, h = row[j : j + 1].copy(), row[W : W + 1].copy(), row[columns]
    old = np.array([d])
    wx = e.mul(w, x)
    new = e.add(old, e.mul(wx, x))
    row[columns] = e.sub(h, e.mul(e.div(x, old), pivot))
    row[W] = e.mul(w, e.div(old, new))[0]
    row[j] = 0
    return e.add(pivot, e.mul(wx, h)), new[0]


def projected(
    e: Emitter, rows: Scalars, meets: Scalars, j: int, columns: Scalars, W: int = W
) -> tuple[Scalars, np.int64]:
    """The pivot d r = sum_i w_i x_i h_i of rows that all lose their x r; their weights stay.

    Column by column this is the modified Gram-Schmidt process.
    """
    pivot, d = np.zeros(len(columns), dtype=np.int64), np.int64(0)
    for i in meets:
        wx = e.mul(rows[i, W : W + 1], rows[i, j : j + 1])
        d = e.add(np.array([d]), e.mul(wx, rows[i, j : j + 1]))[0]
        pivot = e.add(pivot, e.mul(wx, rows[i, columns]))
    for i in meets:
        ratio = e.div(rows[i, j : j + 1], np.array([d]))
        rows[i, columns] = e.sub(rows[i, columns], e.mul(ratio, pivot))
        rows[i, j] = 0
    return pivot, d


def pivot(e: Emitter, rows: Scalars) -> Scalars:
    """The joint's pivot rows (N, 8) as a factor L D L^T of D_k: weights on the diagonal."""
    N = len(rows)
    return np.tril(rows[:, :N].T, -1) + np.diag(rows[:, W])


def back(e: Emitter, F: Scalars, y: Scalars, r: Scalars) -> Scalars:
    """L^-T (D^-1 y - r) for a factor with L below its diagonal."""
    X = e.sub(e.div(y, F.diagonal()[:, None]), r)
    for j in range(len(F) - 2, -1, -1):
        for i in j + 1 + np.flatnonzero(F[j + 1 :, j]):
            X[j] = e.sub(X[j], e.mul(F[i, j], X[i]))
    return X


ROTATIONS: dict[str, Operation] = {
    "basis": basis,
    "weigh": weigh,
    "unweighed": unweighed,
    "rotate": lambda e, *args: rotate(e, *args[:-3], dof=args[-3], concentric=args[-2], linear=args[-1]),
    "pivot": pivot,
    "weight": Emitter.mul,  # w_i v_i, row by row
    "back": back,
}
