"""Motions of the joints that no inertia resists: where (4) itself is singular, whatever the order.

The joint-space inertia is singular exactly where some rates of the joints, which keep the loops
closed, carry no kinetic energy: a point mass that turns about the line from its ball joint to it,
a massless link between parallel axes.  In floats a kinetic energy is none where it is no larger
than what rounding the entries of (4) once may add to it.

And what is said of an order that pivots on an inertia that is not positive definite, or on a block
that is singular whatever the numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import OrderError, SingularError
from ..matrix.blocks import Block
from ..matrix.entries import ROUNDINGS, UNIT, Entries
from ..matrix.system import System
from ..model.loops import paths
from ..model.spatial import Array, levels, transpose
from ..model.tree import BodyTree
from ..program.program import Program
from .inputs import pivot_rows
from .tape import Tape

MOST_IN_LOOPS = 600  # joint freedoms where loops are closed; more take seconds, and are not looked at
MOST_NAMED = 4  # bodies in a sentence
SMALL = 1e-6  # of the largest rate: that a joint takes part with

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Idle:
    """Rates of the joints without kinetic energy."""

    rates: Floats  # (N,) the largest is 1
    why: str  # a sentence with bodies and joints


def all_resist(tree: BodyTree, unit: float = UNIT) -> bool:
    """Whether every body has a mass, and an inertia about every axis that rounding does not hide.

    Then no motion is without energy, in any state.
    """
    moments = np.linalg.eigvalsh(tree.inertia)
    size = moments[:, -1] + tree.mass * (tree.com**2).sum(axis=1)
    return bool((moments[:, 0] > 16 * ROUNDINGS * unit * size).all() and tree.mass.all())


def doubles(entries: Entries) -> Entries:
    """Entries of any float format in float64; of pairs the high parts."""
    return Entries(*(np.asarray(array.real, dtype=float) for array in entries))


def unresisted(system: System, e: Entries, unit: float, cut: bool = False) -> Idle | None:
    """A motion whose energy may be rounding of the entries alone, ``unit`` being their unit roundoff.

    Loops are kept unless they are ``cut``.  None where there is no such motion, and where loops close
    more than MOST_IN_LOOPS freedoms.
    """
    N, closed = len(e.tau), bool(system.structure.ties) and not cut
    if not N or (N > MOST_IN_LOOPS and closed):
        return None
    with np.errstate(all="ignore"):
        rates = _slowest(system, e) if closed else _along_the_tree(system, e, unit)
        if rates is None or not np.isfinite(rates).all():
            return None
        energy, noise = _energy(system, e, rates, unit)
    if not energy <= ROUNDINGS * noise:
        return None
    return Idle(rates, _told(system, rates, max(SMALL, min(64.0 * unit, 0.5))))


def _own(e: Entries) -> Floats:
    """(N,) inertia of the joints themselves."""
    return e.A if len(e.A) else np.zeros(len(e.tau))


def unit_motions(parent: Array, Phi: Array, S: Array, owner: Array) -> Array:
    """(n, 6, N) velocities of all bodies while each freedom moves alone at rate 1.

    ``S`` (N, 6) holds the columns of bodies ``owner`` (N,).
    """
    v = np.zeros((len(parent), 6, len(owner)))
    v[owner, :, np.arange(len(owner))] = S
    for level in levels(parent)[1:]:
        v[level] += transpose(Phi[level]) @ v[parent[level]]
    return v


def _slowest(system: System, e: Entries) -> Floats | None:
    """Rates of least energy among those that the loops allow; None where they allow none."""
    tree = system.tree
    twists = unit_motions(tree.parent, e.Phi, e.S, tree.owner)
    H = np.einsum("kiN,kij,kjL->NL", twists, e.M, twists, optimize=True)
    H += np.diag(_own(e))
    size = np.sqrt(np.abs(H.diagonal()))
    size = 1.0 / np.where(size > 0.0, size, 1.0)  # every joint by itself has the energy 1
    J = np.zeros((len(e.gamma), len(size)))
    row, body, sign = system.structure.rows_of_G
    np.add.at(J, row, sign[:, None] * np.einsum("gi,giN->gN", e.G, twists[body]))
    if not np.isfinite(J := J * size).all():  # LAPACK would not end
        return None
    _, values, right = np.linalg.svd(J)
    rank = int((values > 1e-12 * values.max(initial=0.0)).sum())
    basis = right[rank:].T
    if not basis.shape[1]:
        return None
    H = basis.T @ (H * np.outer(size, size)) @ basis
    if not np.isfinite(H).all():
        return None
    rates = (basis @ np.linalg.eigh((H + H.T) / 2)[1][:, 0]) * size
    largest = np.abs(rates).max()
    return np.asarray(rates / largest) if largest > 0.0 else None


def _along_the_tree(system: System, e: Entries, unit: float) -> Floats | None:
    """Rates whose energy is the least pivot D_k of ABM beside its terms, in time O(n).

    D_k is twice the energy of joint k at rate 1, bodies above it at rest, joints beyond it as free
    as they are (Featherstone 1983).
    """
    parent, order = system.tree.parent, system.structure.order
    inertia, follow = e.M.copy(), {}
    least, at, way = np.inf, -1, np.zeros(0)
    for k in order.tolist():
        own = system.tree.freedoms_of(k)
        S, A = e.S[own], inertia[k]
        U = S @ A
        traces = np.array([np.trace(A[:3, :3]), np.trace(A[3:, 3:])])
        rotor = np.diag(_own(e)[own])
        size = (S.reshape(-1, 2, 3) ** 2).sum(2) @ np.abs(traces)
        size = np.sqrt(size + np.abs(rotor.diagonal()))
        size = 1.0 / np.where(size > 0.0, size, 1.0)  # the energy of each by itself is at most 1
        D = (U @ S.T + rotor) * np.outer(size, size)
        if not np.isfinite(D).all():
            return None
        values, vectors = np.linalg.eigh(D)
        if len(values) and values[0] < least:
            least, at, way = values[0], k, vectors[:, 0] * size
        kept = values > ROUNDINGS * unit
        vectors = vectors[:, kept] * size[:, None]
        follow[k] = -(vectors / values[kept]) @ (vectors.T @ U)
        if parent[k] >= 0:
            inertia[parent[k]] += e.Phi[k] @ (A + U.T @ follow[k]) @ e.Phi[k].T
    rates, v = np.zeros(len(e.tau)), np.zeros((len(parent), 6))
    for k in order[::-1].tolist():
        own = system.tree.freedoms_of(k)
        if parent[k] >= 0 and v[parent[k]].any():
            v[k] = e.Phi[k].T @ v[parent[k]]
            rates[own] = follow[k] @ v[k]
        if k == at:
            rates[own] = way
        v[k] += rates[own] @ e.S[own]
    return np.asarray(rates / np.abs(rates).max())


def _energy(system: System, e: Entries, rates: Floats, unit: float) -> tuple[float, float]:
    """Twice the kinetic energy, and what rounding every entry once may add to it."""
    parent, n = system.tree.parent, system.tree.n
    v, turn, slide = np.zeros((n, 6)), np.zeros(n), np.zeros(n)  # and errors of both halves
    energy = float(rates @ (_own(e) * rates))
    noise = unit * energy
    for k in system.structure.order[::-1].tolist():
        here = system.tree.freedoms_of(k)
        own, S = rates[here], e.S[here]
        v[k] = own @ S
        parts = np.abs(own) @ np.abs(S)
        a, b = np.linalg.norm(parts[:3]), np.linalg.norm(parts[3:])
        if parent[k] >= 0:
            up = parent[k]
            arm = np.linalg.norm(e.Phi[k][:3, 3:])
            v[k] += e.Phi[k].T @ v[up]
            spin = np.linalg.norm(v[up, :3])
            turn[k] = turn[up]
            slide[k] = slide[up] + arm * turn[up]
            a, b = a + spin, b + np.linalg.norm(v[up, 3:]) + arm * spin
        turn[k] += unit * a
        slide[k] += unit * b
        M, size = e.M[k], np.abs(v[k])
        force = M @ v[k]
        angular, mixed, linear = (np.linalg.norm(M[i, j]) for i, j in _PARTS)
        energy += float(v[k] @ force)
        noise += unit * float(size @ np.abs(M) @ size)
        noise += 2.0 * float(np.linalg.norm(force[:3]) * turn[k] + np.linalg.norm(force[3:]) * slide[k])
        noise += float(angular * turn[k] ** 2 + 2 * mixed * turn[k] * slide[k] + linear * slide[k] ** 2)
    return energy, noise


_PARTS: tuple[Any, ...] = (np.s_[:3, :3], np.s_[:3, 3:], np.s_[3:, 3:])


def _told(system: System, rates: Floats, small: float) -> str:
    """Which joints move, in words."""
    tree = system.tree
    parts = [rates[tree.freedoms_of(k)] for k in range(tree.n)]
    moving = [k for k, own in enumerate(parts) if np.abs(own).max(initial=0.0) > small]
    if len(moving) > 1:
        names = ", ".join(f"{tree.names[k]!r}" for k in moving[:MOST_NAMED])
        names += f" and {len(moving) - MOST_NAMED} more" if len(moving) > MOST_NAMED else ""
        return (
            f"the joints of {names} can move against each other without moving any inertia; give "
            "the bodies between them an inertia, or fix one of these joints"
        )
    k = moving[0]
    body, kind, own = tree.names[k], tree.joint[k], parts[k]
    twist = system.state.S[k] @ own
    turns = np.abs(twist[:3]).max() > SMALL * np.abs(twist).max()
    S = system.state.S[k]
    kind = "ball" if S.shape[1] == 3 and not S[3:].any() else kind
    if tree.mass[k] > 0.0 and not tree.inertia[k].any() and turns:
        line = f" ({_axis(twist[:3])} in its frame)"
        return (
            f"the point mass {body!r} hangs on a {kind} joint: nothing resists turning about the "
            f"line to it{line}; give it an inertia, or a joint that does not turn so"
        )
    what = "body" if tree.mass[k] > 0.0 or tree.inertia[k].any() else "massless body"
    about = f"turning about {_axis(twist[:3])}" if turns else f"sliding along {_axis(twist[3:])}"
    return (
        f"the {what} {body!r} is on a {kind} joint, and neither it nor what it carries resists "
        f"{about} in its frame; give it an inertia, or fix its joint"
    )


def _axis(x: Floats) -> str:
    x = x / np.linalg.norm(x)
    return "(" + " ".join(f"{value:.3g}" for value in np.where(np.abs(x) < SMALL, 0.0, x)) + ")"


# -- orders that ask for an inertia, or for a rank, that is not there ------------------------------


def require_weighed(program: Program, system: System) -> None:
    """Refuse orders that pivot on an M_k which is not positive definite.  Raises SingularError."""
    tree = system.tree
    indefinite = {tree.names[k] for k in tree.indefinite()}
    singular = {tree.names[k] for k in tree.singular()}
    weighs = tree.mass.any() or tree.inertia.any() or system.entries.A.any()
    if tree.dof.any() and not (weighs or system.loops):
        raise SingularError(tree.name, "no link has a mass", "give each link that a joint moves its inertia")
    if program.factor.plan.sequence.rules.elimination == "orthogonal":
        return _unweighable(program, system)
    structure = program.factor.plan.graph.structure
    made_by = {i.out: i for i in program.instructions}
    for record in program.pivots:
        for block in record.blocks:
            if record.pair or block.kind != "pdd":
                continue
            body = structure.names[structure.copy_of[structure.index[block.body]]]  # also of its pieces
            what = None
            if body in indefinite:
                what = "is not positive definite"
            elif body in singular:
                (factored,) = made_by[record.factor].args
                source = made_by[factored.value] if factored else made_by[record.factor]
                what = "is singular" if source.op in ("input", "divide", "square") else None
            if what:
                fixed = tree.joint[system.structure.index[body]] == "fixed"
                merge = (
                    "merge its fixed joint (merge_fixed=True; on the command line, no --urdf keep-fixed), or "
                )
                detail = f"and order {program.name!r} pivots on M_k at step {record.step + 1}"
                raise _without_weight(body, what, merge * fixed, detail)


def _without_weight(body: Hashable, what: str, remedy: str, detail: str) -> SingularError:
    where, wrong = f"body {body!r}", f"field 'inertia' (or 'mass') {what}"
    return SingularError(where, wrong, f"{remedy}use an order that pairs pdd with f, such as abm", detail)


def _unweighable(program: Program, system: System) -> None:
    """Refuse rotations where M_k is not R^T D R, D >= 0, with the zeros of D in its pattern."""
    tree = system.tree
    singular = [k for k in tree.singular() if not _zeros_are_structure(system, k)]
    for record in program.pivots:
        k = system.structure.index[record.blocks[0].body]
        if k in tree.indefinite() or k in singular:
            what = "is not positive definite" if k in tree.indefinite() else "is singular"
            detail = f"and order {program.name!r} takes its root at step {record.step + 1}"
            raise _without_weight(tree.names[k], what, "give it a full inertia or none, or ", detail)


def _zeros_are_structure(system: System, k: int) -> bool:
    """Whether the rows of [S E]^T M [S E] are zero or independent, in any state."""
    S = system.state.S[k]
    basis = np.concatenate([S, np.delete(np.eye(6), pivot_rows(S), axis=1)], axis=1)
    K = basis.T @ system.entries.M[k] @ basis
    kept = (np.abs(basis.T) @ system.pattern.M[k] @ np.abs(basis)).any(axis=1)
    K = K[np.ix_(kept, kept)]
    size = np.sqrt(K.diagonal())
    if not len(K):  # numpy before 2.2 has no rank of an empty matrix
        return True
    return bool((size > 0).all() and np.linalg.matrix_rank(K / np.outer(size, size)) == len(K))


def without_rank(tape: Tape, number: int, rank: int) -> OrderError:
    """For a pivot, by the number of its record, of which only ``rank`` rows are independent."""
    record, where = tape.program.pivots[number], f"order {tape.program.name!r}"
    block, size = record.blocks[0], len(tape.pivots[number])
    what = f"pivot {block} at step {record.step + 1} is structurally singular (rank {rank} of {size})"
    if block.kind == "lam":
        return OrderError(where, what, _mend(tape, number))
    partner = Block("pdd" if block.kind in ("f", "fC", "fJ") else "f", block.body)
    gone = {b for earlier in tape.program.pivots[:number] for b in earlier.blocks}
    why = "" if partner in gone else f", since {partner} comes after it"
    return OrderError(where, f"{what}{why}", "use an order that pairs the two, such as abm")


def _mend(tape: Tape, number: int) -> str:
    """The remedy for multipliers whose pivot is singular: eliminate them later, or drop rows."""
    records, structure = tape.program.pivots, tape.program.factor.plan.graph.structure
    loop = records[number].blocks[0].body
    tie = structure.ties[structure.tie_index[loop]]
    gone = {block for record in records[:number] for block in record.blocks}
    late = [
        Block("qdd", structure.names[k])
        for k in paths(tie.bodies, structure.parent)
        if structure.dof[k] and Block("qdd", structure.names[k]) not in gone
    ]
    if late:
        more = f" and {len(late) - 1} more of its loop's joints" if late[1:] else ""
        return f"eliminate {late[0]}{more} first, or leave it out, and it comes last"
    return "keep fewer of its rows, or give them a compliance"
