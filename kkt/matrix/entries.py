"""The blocks of equation (4) in one state: spatial algebra and bias, in any number type.

What joints' own terms add: the block A on the diagonal of qdd, and efforts.  The block is there only
where a joint has an entry in it (:mod:`kkt.model.joints`).

The pattern of equation (4) says which entries of its blocks are zero, or one, in every state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import loop
from ..base.errors import ModelError
from ..base.foreign import is_number
from ..model.loops import Loop
from ..model.spatial import (
    MANY,
    Array,
    breadth_first,
    cross_force,
    cross_motion,
    force_transform,
    in_pieces,
    levels,
    matvec,
    spatial_inertia,
    transpose,
)
from ..model.tree import BodyTree
from .closures import Closure, closures, constraint_rows
from .state import State, kinematics


def joint_rates(S: Array, owner: Array, column: Array, qd: Array, n: int) -> Array:
    """S_k qd_k of every body (n, 6); S holds the columns (N, 6) of body ``owner``."""
    total = np.zeros_like(S, shape=(n, 6))
    for j in range(6):
        take = column == j
        total[owner[take]] = total[owner[take]] + S[take] * qd[take, None]
    return total


@loop(few=0)
def outwards(order: Array, parent: Array, Phi: Array, rates: Array, v: Array) -> None:  # pragma: no cover
    """Velocities of many bodies, into v (n, 6), parents before children, by the same sums."""
    for k in order:
        up = parent[k]
        for i in range(6 if up >= 0 else 0):
            total = Phi[k, 0, i] * v[up, 0]
            for j in range(1, 6):
                total += Phi[k, j, i] * v[up, j]
            v[k, i] = total + rates[k, i]


def velocities(parent: Array, Phi: Array, rates: Array) -> Array:
    """Spatial velocities v_k = Phi* v_parent + S_k qd_k (n, 6)."""
    v = rates + 0
    if len(v) >= MANY and v.dtype != object:
        outwards(breadth_first(parent)[0], parent, Phi, rates, v)
        return v
    for level in levels(parent)[1:]:
        up = parent[level]
        v[level] = matvec(transpose(Phi[level]), v[up]) + rates[level]
    return v


def unit_motions(parent: Array, Phi: Array, S: Array, owner: Array) -> Array:
    """(n, 6, N) velocities of all bodies while each freedom moves alone at rate 1.

    ``S`` (N, 6) holds the columns of bodies ``owner`` (N,).
    """
    v = np.zeros((len(parent), 6, len(owner)))
    v[owner, :, np.arange(len(owner))] = S
    for level in levels(parent)[1:]:
        v[level] += transpose(Phi[level]) @ v[parent[level]]
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
    a = in_pieces(cross_motion, v, rates) + joint_bias

    # gravity enters as the acceleration of the world, from which roots hang
    roots = np.flatnonzero(parent < 0)
    base = np.concatenate([gravity * 0, -gravity])
    lift = matvec(transpose(Phi[roots]), np.broadcast_to(base, (len(roots), 6)))
    a[roots] = a[roots] + lift

    # b_k: the force that turns the momentum M_k v_k, less what pulls from outside
    b = in_pieces(lambda v, M: cross_force(v, matvec(M, v)), v, M) - wrench
    return a, b


def joint_entries(state: State, cast: Callable[[NDArray[Any]], Array]) -> tuple[Array, Array]:
    """The right-hand side (N,) of rows qdd, and A (N,), or (0,) where no joint has an entry."""
    tau, terms = cast(state.tau), state.terms
    if terms is None:
        return tau, np.zeros(0)
    tau = terms.effort(tau, state.qd, state.step, cast)
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
        raise ModelError(f"build: implicit is {implicit!r}; give a step in s, above 0, or None")
    return float(implicit)


@dataclass(frozen=True)
class Entries:
    """The blocks of (4) in one number type; arrays of float64 or of objects."""

    M: Array  # (n, 6, 6) spatial inertias
    Phi: Array  # (n, 6, 6) force transforms to the parent; a root's is unused
    S: Array  # (N, 6) columns of the motion subspaces: row j of H
    a: Array  # (n, 6) bias accelerations
    b: Array  # (n, 6) bias forces
    tau: Array  # (N,) joint efforts
    # of closed loops and contacts, one after another:
    G: Array = field(default_factory=lambda: np.zeros((0, 6)))  # C* Phi* on the first body, then
    #                       on the second, m rows each; the first body's enter with minus
    gamma: Array = field(default_factory=lambda: np.zeros(0))  # (m,) of each
    compliance: Array = field(default_factory=lambda: np.zeros(0))  # (m,) of each
    A: Array = field(default_factory=lambda: np.zeros(0))  # (N,) diagonal of (qdd, qdd), or (0,)


LETTERS = tuple(entry.name for entry in fields(Entries))
RIGHT_HAND_SIDE = ("a", "b", "tau", "gamma")


def assemble(
    state: State, number: Callable[[Any], Any] | None = None, inertias: Array | None = None
) -> Entries:
    """Spatial algebra, bias and blocks of (4) from the state's doubles, in any number type.

    ``number`` turns a float into the number type; None stays in float64.  ``inertias`` (n, 6, 6)
    are M of the same bodies, where they are known already.
    """

    def cast(x: NDArray[Any]) -> Array:
        if number is None:
            return x
        flat = [number(float(value)) for value in x.ravel()]
        return np.array([*flat, None], dtype=object)[:-1].reshape(x.shape)

    n = len(state.names)
    dof = np.diff(state.S.offset)
    owner = np.repeat(np.arange(n), dof)
    column = ragged(np.zeros(n, dtype=np.int64), dof)

    # the blocks of the matrix: H by its columns S, M and Phi
    S = cast(state.S.columns)
    M = inertias
    if M is None:
        M = in_pieces(spatial_inertia, cast(state.mass), cast(state.com), cast(state.inertia))
    Phi = in_pieces(force_transform, cast(state.R), cast(state.p))

    # the right-hand side: bias of bodies, efforts of joints
    rates = joint_rates(S, owner, column, cast(state.qd), n)
    a, b = bias(state.parent, M, Phi, rates, cast(state.joint_bias), cast(state.wrench), cast(state.gravity))
    tau, A = joint_entries(state, cast)
    if not state.loops:
        return Entries(M, Phi, S, a, b, tau, A=A)

    # rows of closed loops and contacts, below and beside all others
    v = velocities(state.parent, Phi, rates)
    rows = constraint_rows(state.loops, v, cast(state.gravity), cast)
    return Entries(M, Phi, S, a, b, tau, *rows, A)


def ragged(start: NDArray[Any], length: NDArray[Any]) -> NDArray[Any]:
    """start[k], ..., start[k] + length[k] - 1 for every k, one after another."""
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    return np.repeat(start, length) + within


@dataclass(frozen=True)
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
        pairs = (
            (self.M, None, entries.M),
            (self.Phi, self.Phi_one, entries.Phi),
            (self.S, self.S_one, entries.S),
            (self.G, self.G_one, entries.G),
            (self.compliance, None, entries.compliance),
            (self.A, None, entries.A),
        )
        held = all(_within(mask, one, x) for mask, one, x in pairs)
        return held and not entries.a[~self.a].any()


def _within(mask: NDArray[np.bool_], one: NDArray[np.bool_] | None, x: Array) -> bool:
    if len(x) != len(mask):  # joints with entries of their own, and without
        return False
    held = not ((x != 0.0) & ~mask).any()
    return bool(held and (one is None or ((x == 1.0) | ~one).all()))


def pattern_of(tree: BodyTree, state: State, a: NDArray[np.float64], own: NDArray[np.bool_]) -> Pattern:
    """The union of nonzeros over this state and a generic one, so that a refresh keeps the pattern.

    ``own`` says which diagonal entries of qdd the joints' own terms fill.

    General joints take a generic position only where q moves one of them: a model file gives no
    poses but one, whose zeros are structural.
    """
    # this state, and one in which no entry is zero by chance
    N, q, loops = int(tree.offset[-1]), state.q, [closure.loop for closure in state.loops]
    moved = any(q[tree.offset[k] : tree.offset[k + 1]].any() for k in tree.S)
    always = np.ones(tree.n, dtype=bool)
    always[list(tree.S)] = moved
    free = np.repeat(always, tree.dof)
    poses = [(q, state.R, state.p, state.S)]
    if free.any():
        generic = np.where(free, np.random.default_rng(1996).uniform(0.4, 1.2, N), 0.0)
        poses.append((generic, *kinematics(tree, generic, np.zeros(N))[:3]))

    # an entry counts where one state has it, a one where all have it
    Phi, Phi_one = np.zeros((2, tree.n, 6, 6), dtype=bool)
    for _, R, p, _ in poses:
        Phi |= in_pieces(_transform_pattern, R, p)
    Phi_one[:, :3, :3] = Phi_one[:, 3:, 3:] = np.all([R == 1.0 for _, R, *_ in poses], axis=0)
    S = np.stack([S.columns for *_, S in poses])
    Gs, ones_in_G = zip(*(_constraint_pattern(tree, R, p, q, loops) for q, R, p, _ in poses), strict=True)
    return Pattern(
        M=_inertia_pattern(tree),
        Phi=Phi,
        S=np.any(S != 0.0, axis=0),
        Phi_one=Phi_one,
        S_one=np.all(S == 1.0, axis=0),
        a=(tree.dof > 0) | (tree.parent < 0) | a.any(axis=1),
        G=np.any(np.stack(Gs), axis=0),
        G_one=np.all(np.stack(ones_in_G), axis=0),
        compliance=np.concatenate([np.zeros(0), *(loop.compliance for loop in loops)]) != 0.0,
        A=own,
    )


# Patterns come from the factors, not from the products: in float64 a sum of products may cancel
# to 0 where its exact value is 1e-17.


def _transform_pattern(R: Array, p: Array) -> NDArray[np.bool_]:
    """Entries of Phi = [[R, p~ R], [0, R]] (..., 6, 6) that may be nonzero."""
    turn, shift = R != 0.0, (p != 0.0)[..., None]
    seen = np.zeros((*p.shape[:-1], 6, 6), dtype=bool)
    seen[..., :3, :3] = seen[..., 3:, 3:] = turn
    for i, j, m in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        seen[..., i, 3:] = shift[..., m, :] & turn[..., j, :] | shift[..., j, :] & turn[..., m, :]
    return seen


def _constraint_pattern(
    tree: BodyTree, R: Array, p: Array, q: Array, loops: Sequence[Loop]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Entries of G = C* Phi* that may be nonzero, and those that are always 1."""
    masks, ones = [np.zeros((0, 6), dtype=bool)], [np.zeros((0, 6), dtype=bool)]

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


def _inertia_pattern(tree: BodyTree) -> NDArray[np.bool_]:
    """Entries of M = [[J - m d~ d~, m d~], [-m d~, m 1]] that may be nonzero."""
    massive, com = (tree.mass != 0.0)[:, None], (tree.com != 0.0) & (tree.mass != 0.0)[:, None]
    out = np.zeros((tree.n, 6, 6), dtype=bool)
    top, side = out[:, :3, :3], out[:, :3, 3:]
    top[...] = tree.inertia != 0.0
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        top[:, i, i] |= com[:, j] | com[:, k]
        top[:, i, j] |= com[:, i] & com[:, j]
        top[:, j, i] |= com[:, i] & com[:, j]
        side[:, i, j] = side[:, j, i] = com[:, k]
    out[:, 3:, :3] = side
    out[:, [3, 4, 5], [3, 4, 5]] = massive
    return out
