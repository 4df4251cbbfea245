"""The blocks of equation (4) in one state: spatial algebra and bias, in any number type.

What joints' own terms add: the block A on the diagonal of qdd, and efforts.  The block is there only
where a joint has an entry in it (:mod:`kkt.model.joints`).

The pattern of equation (4) says which entries of its blocks are zero, or one, in every state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.objects import each
from ..base.compiled import loop
from ..base.errors import ModelError
from ..base.foreign import is_number
from ..model.spatial import (
    MANY,
    Array,
    breadth_first,
    cross_force,
    cross_motion,
    force_transform,
    in_pieces,
    levels,
    lift,
    matvec,
    spatial_inertia,
    stored,
    transpose,
)
from ..model.tree import BodyTree
from .state import State, kinematics, posed

if TYPE_CHECKING:
    from ..model.loops import Loop
    from .closures import Closure

UNIT = 2.0**-53  # unit roundoff of the data of a model
ROUNDINGS = 4.0  # roundings that an entry, or a pivot that is zero, may have


def joint_rates(S: Array, owner: Array, column: Array, qd: Array, n: int) -> Array:
    """S_k qd_k of every body (n, 6); S holds the columns (N, 6) of body ``owner``."""
    total = np.zeros_like(S, shape=(n, 6))
    for j in range(int(column.max(initial=-1)) + 1):
        take = column == j
        total[owner[take]] = total[owner[take]] + S[take] * qd[take, None]
    return total


@loop(few=0)
def outwards(order: Array, parent: Array, M: Array, given: Any, found: Any) -> None:  # pragma: no cover
    """Phi, v, a, b but for gravity in one compiled pass, by the sums of functions below; parents first."""
    (R, p, offset, S, qd, own, pull), (Phi, v, a, b) = given, found
    r, force = np.empty(6), np.empty(6)
    for k in order:
        T, x, w, u, up, m = Phi[k], p[k], v[k, :3], v[k, 3:], parent[k], M[min(k, len(M) - 1)]
        for j in range(3):
            for i, f, s in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
                T[i, j] = T[3 + i, 3 + j] = R[k, i, j]
                T[3 + i, j] = 0.0 * R[k, i, j]
                T[i, 3 + j] = x[f] * R[k, s, j] - x[s] * R[k, f, j] + 0.0 * x[0] * R[k, i, j]
        for i in range(6):
            r[i] = 0.0
            for j in range(offset[k], offset[k + 1]):
                r[i] += S[j, i] * qd[j]
            total = r[i]
            if up >= 0:
                total = T[0, i] * v[up, 0]
                for j in range(1, 6):
                    total += T[j, i] * v[up, j]
                total += r[i]
            v[k, i] = total
        for i in range(6):
            total = m[i, 0] * v[k, 0]
            for j in range(1, 6):
                total += m[i, j] * v[k, j]
            force[i] = total
        more, less = own[min(k, len(own) - 1)], pull[min(k, len(pull) - 1)]
        for i, f, s in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            slip = w[f] * r[3 + s] - w[s] * r[3 + f] + (u[f] * r[s] - u[s] * r[f])
            turn = w[f] * force[s] - w[s] * force[f] + (u[f] * force[3 + s] - u[s] * force[3 + f])
            a[k, i], a[k, 3 + i] = w[f] * r[s] - w[s] * r[f] + more[i], slip + more[3 + i]
            push = w[f] * force[3 + s] - w[s] * force[3 + f]
            b[k, i], b[k, 3 + i] = turn - less[i], push - less[3 + i]


def velocities(parent: Array, Phi: Array, rates: Array) -> Array:
    """Spatial velocities v_k = Phi* v_parent + S_k qd_k (n, 6)."""
    v = rates + 0
    for level in levels(parent)[1:]:
        up = parent[level]
        v[level] = matvec(transpose(Phi[level]), v[up]) + rates[level]
    return v


def bias(
    parent: Array, M: Array, Phi: Array, rates: Array, joint_bias: Array, wrench: Array, gravity: Array
) -> tuple[Array, Array]:
    """a (n, 6) and b (n, 6): a body's acceleration is Phi* alpha_parent + H* qdd + a.

    With alpha = -pdd the force on the body is M alpha + b.  a_k is v_k x (S_k qd_k) + S°_k qd_k,
    and Phi* (0, -g) more for a root, since gravity enters as the base's acceleration; b_k is
    v_k x* (M_k v_k) - external wrench (Ascher 1996, eqs (1), (2)).
    """
    v = velocities(parent, Phi, rates)

    # a_k: what the body accelerates by while its joint's qdd is 0
    a = cross_motion(v, rates) + joint_bias
    lift(a, parent, Phi, gravity)

    # b_k: the force that turns the momentum M_k v_k, less what pulls from outside
    return a, cross_force(v, matvec(M, v)) - wrench


def joint_entries(state: State, cast: Callable[[NDArray[Any]], Array]) -> tuple[Array, Array]:
    """The right-hand side (N,) of rows qdd, and A (N,), or (0,) where no joint has an entry."""
    tau, terms = cast(state.tau), state.terms
    if terms is None:
        return tau, np.zeros(0)
    tau = tau - terms.resistance(state.qd, state.step, cast)
    return tau, terms.diagonal(state.step, cast) if len(own_entries(state)) else np.zeros(0)


def own_entries(state: State) -> NDArray[np.bool_]:
    """(N,) freedoms whose qdd has an entry of its own on the diagonal; (0,) where none has."""
    found = np.zeros(0, dtype=bool) if state.terms is None else state.terms.own(state.step)
    return found if found.any() else np.zeros(0, dtype=bool)


def step_of(implicit: Any) -> float:
    """The step [s] of an implicit build, 0 where there is none; raises ModelError."""
    if implicit is None:
        return 0.0
    if not is_number(implicit) or implicit <= 0.0:
        raise ModelError("build", f"implicit is {implicit!r}", "give a step in s, above 0, or None")
    return float(implicit)


class Entries(NamedTuple):
    """The blocks of (4) in one number type; arrays of float64 or of objects."""

    M: Array  # (n, 6, 6) spatial inertias
    Phi: Array  # (n, 6, 6) force transforms to the parent; a root's is unused
    S: Array  # (N, 6) columns of the motion subspaces: row j of H
    a: Array  # (n, 6) bias accelerations
    b: Array  # (n, 6) bias forces
    tau: Array  # (N,) joint efforts
    # the rows of closed loops and contacts stand one after another
    G: Array = np.zeros((0, 6))  # C* Phi* on the first body, then on the second, m rows each; the first
    #                              body's enter with minus
    gamma: Array = np.zeros(0)  # (m,) of each
    compliance: Array = np.zeros(0)  # (m,) of each
    A: Array = np.zeros(0)  # (N,) diagonal of (qdd, qdd), or (0,)

    def __repr__(self) -> str:
        return f"<Entries: {len(self.M)} bodies, {len(self.tau)} freedoms>"

    def __eq__(self, other: object) -> bool:  # arrays have no one truth
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


LETTERS = Entries._fields
RIGHT_HAND_SIDE = ("a", "b", "tau", "gamma")


def assemble(
    state: State, number: Callable[[Any], Any] | None = None, inertias: Array | None = None
) -> Entries:
    """Spatial algebra, bias and blocks of (4) from the state's doubles, in any number type.

    ``number`` turns a float into the number type; None stays in float64.  ``inertias`` (n, 6, 6)
    are M of the same bodies, where they are known already.
    """

    def cast(x: NDArray[Any]) -> Array:
        return x if number is None else each(number, x)

    n, parent, offset = len(state.names), state.parent, state.S.offset

    # the blocks of the matrix: H by its columns S, M and Phi
    S = cast(state.S.columns)
    M = inertias
    if M is None:
        M = in_pieces(spatial_inertia, cast(state.mass), cast(state.com), cast(state.inertia))
    R, p, qd, own = map(cast, (state.R, state.p, state.qd, state.joint_bias))
    pull, gravity = cast(state.wrench), cast(state.gravity)

    # the right-hand side: bias of bodies, efforts of joints
    if number is None and (n >= MANY or outwards.ready):
        # in one piece: memory comes faster in large ones; and malloc keeps what is freed, for the next
        # system, up to twice its largest piece so far, so that one as large as all others comes first
        np.empty(min(140 * n, 4_000_000))
        block, v = np.empty(48 * n), np.empty((n, 6))
        Phi, (a, b) = block[: 36 * n].reshape(n, 6, 6), block[36 * n :].reshape(2, n, 6)
        order = np.arange(n) if (parent < np.arange(n)).all() else breadth_first(parent)[0]
        outwards(order, parent, stored(M), (R, p, offset, S, qd, stored(own), stored(pull)), (Phi, v, a, b))
        lift(a, parent, Phi, gravity)
    else:
        owner = np.repeat(np.arange(n), np.diff(offset))
        rates = joint_rates(S, owner, np.arange(len(owner)) - offset[owner], qd, n)
        Phi = force_transform(R, p)
        v = velocities(parent, Phi, rates) if state.loops else rates
        a, b = bias(parent, M, Phi, rates, own, pull, gravity)
    tau, A = joint_entries(state, cast)
    if not state.loops:
        return Entries(M, Phi, S, a, b, tau, A=A)

    # rows of closed loops and contacts, below and beside all others
    from .closures import constraint_rows

    rows = constraint_rows(state.loops, v, gravity, cast)
    return Entries(M, Phi, S, a, b, tau, *rows, A)


@dataclass(frozen=True, eq=False, repr=False)
class Pattern:
    """What does not change with the state: structural zeros and ones, and where entries go."""

    M: NDArray[np.bool_]  # (n, 6, 6) entries that may be nonzero
    Phi: NDArray[np.bool_]  # (n, 6, 6)
    S: NDArray[np.bool_]  # (N, 6)
    Phi_one: NDArray[np.bool_]  # (n, 6, 6) entries that are 1 in every state
    S_one: NDArray[np.bool_]  # (N, 6)
    a: NDArray[np.bool_]  # (n,) bodies whose bias acceleration may be nonzero
    G: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 6), dtype=bool))
    G_one: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 6), dtype=bool))
    compliance: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    A: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))  # (N,) or (0,)

    def holds(self, entries: Entries) -> bool:
        """Whether all entries are 0 and 1 where the pattern says so."""
        names = ("M", "Phi", "S", "G", "compliance", "A")
        parts = ((getattr(self, x), getattr(self, f"{x}_one", None), getattr(entries, x)) for x in names)
        return all(_within(*part) for part in parts) and not entries.a[~self.a].any()


def _within(mask: NDArray[np.bool_], one: NDArray[np.bool_] | None, x: Array) -> bool:
    if len(x) != len(mask):  # joints with entries of their own, and without
        return False
    return not ((x != 0.0) > mask).any() and (one is None or bool(((x == 1.0) >= one).all()))


def pattern_of(tree: BodyTree, state: State, a: NDArray[np.float64]) -> Pattern:
    """The union of nonzeros over this state and a generic one, so that a refresh keeps the pattern.

    General joints take a generic position only where q moves one of them: a model file gives no
    poses but one, whose zeros are structural.
    """
    # this state, and one in which no entry is zero by chance
    n, q, loops = tree.n, state.q, [closure.loop for closure in state.loops]
    moved = any(q[tree.freedoms_of(k)].any() for k in tree.S)
    generic, still = np.random.default_rng(1996).uniform(0.4, 1.2, len(q)), np.broadcast_to(0.0, len(q))
    for k in () if moved else tree.S:
        generic[tree.freedoms_of(k)] = 0.0

    # an entry counts where one of both has it, a one where both have it
    Phi, Phi_one = np.zeros((2, n, 6, 6), dtype=bool)
    S, S_one = state.S.columns != 0.0, state.S.columns == 1.0
    for at, take, R, p, columns, _ in posed(tree, generic, still):
        turn, shift = map(np.asfortranarray, (state.R[at], state.p[at]))
        Phi[at] = _transform_pattern(turn, shift) | _transform_pattern(R, p)
        Phi_one[at, :3, :3] = Phi_one[at, 3:, 3:] = (turn == 1.0) & (R == 1.0)
        S[take] |= columns != 0.0
        S_one[take] &= columns == 1.0
    M = in_pieces(_inertia_pattern, tree.mass, tree.com, tree.inertia)
    biased = (tree.dof > 0) | (tree.parent < 0) | a.any(axis=1)
    found = Pattern(M, Phi, S, Phi_one, S_one, biased, A=own_entries(state))
    if not loops:
        return found
    poses = (q, state.R, state.p), (generic, *kinematics(tree, generic, still)[:2])
    (G, G_one), (G_too, G_one_too) = (_constraint_pattern(tree, R, p, at, loops) for at, R, p in poses)
    soft = np.concatenate([loop.compliance for loop in loops]) != 0.0
    return replace(found, G=G | G_too, G_one=G_one & G_one_too, compliance=soft)


# Patterns come from the factors, not from the products: in float64 a sum of products may cancel
# to 0 where its exact value is 1e-17.


def _transform_pattern(R: Array, p: Array) -> NDArray[np.bool_]:
    """Entries of Phi = [[R, p~ R], [0, R]] (..., 6, 6) that may be nonzero."""
    turn, shift = R != 0.0, (p != 0.0)[..., None]
    seen = np.zeros_like(turn, shape=(*p.shape[:-1], 6, 6))
    seen[..., :3, :3] = seen[..., 3:, 3:] = turn
    for i, j, m in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        seen[..., i, 3:] = shift[..., m, :] & turn[..., j, :] | shift[..., j, :] & turn[..., m, :]
    return seen


def _constraint_pattern(
    tree: BodyTree, R: Array, p: Array, q: Array, loops: Sequence[Loop]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Entries of G = C* Phi* that may be nonzero, and those that are always 1."""
    from .closures import closures

    masks, ones = [], []

    def seen(closure: Closure, place: int) -> Array:
        there = _transform_pattern(closure.R[place], closure.p[place]).T
        return (closure.loop.C.T != 0.0).astype(np.int64) @ there.astype(np.int64)

    def unit(closure: Closure, place: int) -> Array:
        C = closure.loop.C.T
        alone = (np.count_nonzero(C, axis=1) == 1) & (C == 1.0).any(axis=1)
        kept = force_transform(closure.R[place], np.zeros(3)).T == 1.0
        return alone[:, None] & ((C == 1.0).astype(np.int64) @ kept.astype(np.int64) > 0)

    for closure in closures(tree, R, p, q, loops):
        masks += [sum(x) > 0 for x in closure.by_end(seen)]
        ones += [x[0] & (closure.beside is None) for x in closure.by_end(unit)]
    return np.concatenate(masks), np.concatenate(ones)


def _inertia_pattern(mass: Array, com: Array, inertia: Array) -> NDArray[np.bool_]:
    """Entries of M = [[J - m d~ d~, m d~], [-m d~, m 1]] that may be nonzero."""
    massive, com = (mass != 0.0)[:, None], (com != 0.0) & (mass != 0.0)[:, None]
    out = np.zeros_like(inertia, dtype=bool, shape=(len(mass), 6, 6))
    top, side = out[:, :3, :3], out[:, :3, 3:]
    top[...] = inertia != 0.0
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        top[:, i, i] |= com[:, j] | com[:, k]
        top[:, i, j] |= com[:, i] & com[:, j]
        top[:, j, i] |= com[:, i] & com[:, j]
        side[:, i, j] = side[:, j, i] = com[:, k]
    out[:, 3:, :3] = side
    out[:, [3, 4, 5], [3, 4, 5]] = massive
    return out


def size_of(x: Any) -> float:
    """The largest magnitude in an array; 1 where all are zero."""
    return float(np.abs(np.asarray(x, dtype=float)).max(initial=0.0)) or 1.0


def weight_of(entries: Entries) -> float:
    """What gravity or rates ask of a body at most, by the largest entries of M and a."""
    return size_of(entries.M) * size_of(entries.a)
