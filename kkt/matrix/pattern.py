"""The pattern of equation (4): entries of its blocks that are zero, or one, in every state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..model.joints import GENERAL
from ..model.loops import Loop
from ..model.spatial import Array, force_transform, skew
from ..model.tree import BodyTree
from ..model.tree_kernels import MANY, outside
from .closures import Closure, closures
from .entries import Entries
from .state import kinematics


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
    if len(x) >= MANY:
        return not outside(x, mask, np.zeros_like(mask) if one is None else one)
    return not x[~mask].any() and (one is None or bool((x[one] == 1.0).all()))


def pattern_of(
    tree: BodyTree,
    q: NDArray[np.float64],
    a: NDArray[np.float64],
    loops: Sequence[Loop],
    own: NDArray[np.bool_],
) -> Pattern:
    """The union of nonzeros over this state and generic ones, so that a refresh keeps the pattern.

    ``own`` says which diagonal entries of qdd the joints' own terms fill.

    General joints take generic positions only where q moves one of them: a model file gives no
    poses but one, whose zeros are structural.
    """
    # this state, and two in which no entry is zero by chance
    generator = np.random.default_rng(1996)
    N = int(tree.offset[-1])
    moved = any(q[tree.offset[k] : tree.offset[k + 1]].any() for k in tree.S)
    free = np.repeat([kind != GENERAL or moved for kind in tree.joint], tree.dof)
    generic = [np.where(free, generator.uniform(0.4, 1.2, N), 0.0) for _ in range(2)]
    states = [q, *generic] if free.any() else [q]

    # where each state has entries, and ones
    Phis, Ss, ones_in_Phi, Gs, ones_in_G = [], [], [], [], []
    for q in states:
        R, p, S, _ = kinematics(tree, q, np.zeros(N))
        Phis.append(_transform_pattern(R != 0.0, p != 0.0))
        ones_in_Phi.append(force_transform(R, np.zeros_like(p)) == 1.0)
        Ss.append(S.columns)
        G, one = _constraint_pattern(tree, R, p, q, loops)
        Gs.append(G)
        ones_in_G.append(one)

    # an entry counts where one state has it, a one where all have it
    S_all = np.stack(Ss)
    return Pattern(
        M=_inertia_pattern(tree),
        Phi=np.any(np.stack(Phis), axis=0),
        S=np.any(S_all != 0.0, axis=0),
        Phi_one=np.all(np.stack(ones_in_Phi), axis=0),
        S_one=np.all(S_all == 1.0, axis=0),
        a=(tree.dof > 0) | (tree.parent < 0) | a.any(axis=1),
        G=np.any(np.stack(Gs), axis=0),
        G_one=np.all(np.stack(ones_in_G), axis=0),
        compliance=np.concatenate([np.zeros(0), *(loop.compliance for loop in loops)]) != 0.0,
        A=own,
    )


# Patterns come from the factors, not from the products: in float64 a sum of products may cancel
# to 0 where its exact value is 1e-17.


def _transform_pattern(R: NDArray[np.bool_], p: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Entries of Phi = [[R, p~ R], [0, R]] that may be nonzero."""
    upper = np.abs(skew(p.astype(np.int64))) @ R.astype(np.int64) > 0
    zero = np.zeros_like(R)
    return np.block([[R, upper], [zero, R]])


def _constraint_pattern(
    tree: BodyTree, R: Array, p: Array, q: Array, loops: Sequence[Loop]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Entries of G = C* Phi* that may be nonzero, and those that are always 1."""
    masks, ones = [np.zeros((0, 6), dtype=bool)], [np.zeros((0, 6), dtype=bool)]

    def seen(closure: Closure, place: int) -> Array:
        there = _transform_pattern(closure.R[place] != 0.0, closure.p[place] != 0.0).T
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
    massive = (tree.mass != 0.0)[:, None, None]
    d = np.abs(skew((tree.com != 0.0).astype(np.int64)))
    top = (tree.inertia != 0.0) | ((d @ d > 0) & massive)
    side = (d > 0) & massive
    return np.block([[top, side], [side, np.eye(3, dtype=bool) & massive]])
