"""The recursion of docs/theory/guarantee.md, from tips to base: by how much rounding changes inertias.

Of what is rounded into M^_k there are three measures, and the program takes the one that gives
least: against the body's own inertia, where the largest of a path counts; against what its children
hold up as well, where they are summed; and against what its parent holds it by, too, through its
joint, where it counts at the parent.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..matrix.system import System
from .ranges import Ranges
from .roundings import Roundings, eliminated
from .support import ROUNDED, UP, Reach, Turn, above, angles, handed_on, has_armature, placed, share

Floats = NDArray[np.float64]
SECOND = 1.25  # covers what is of second order, while what is bounded is at most LARGEST
LARGEST = 0.02  # of an inertia
PHI = 2.1  # units of |Phi| |M| |Phi|* by which rounding Phi may move what a child holds up
LOCAL = 0.01  # of a pivot, by its own rounding
DEFINITE = 0.5  # of an inertia whose rounding counts at its parent, at most
LESS = 0.7  # of what it would be, to be worth it
LOOKED = 6  # bodies at which boxes of angles are looked at, one after another
WORTH = 0.3  # of the worst pivot, what such a body adds at least


@dataclass(frozen=True)
class Behind:
    """What the bounds of pivots were computed from, of n bodies; bodies at rest are left at zero.

    What is rounded into M^_k is at most ``unit`` |x|* B_k |x|, in all that follow from it.
    """

    M: Floats  # (n, 6, 6) inertias
    least: Floats  # (n, 6, 6) lower bounds of M^_k: M_k, or what children hold up as well
    B: Floats  # (n, 6, 6)
    joints: Floats  # (n, 2) eta of the joint, and units of rounding in its pivot
    shares: Floats  # (n, 2) of B_k times unit: of M_k, and of least_k with what all before it hold
    above: Floats  # (n, 6) roots of the diagonal of what all before it hold body k by
    sizes: Reach
    counts: Roundings
    unit: float


@dataclass
class Recursion:
    """Shares of what is rounded, body by body; ``looked`` are those looked at angle by angle."""

    system: System
    ranges: Ranges
    M: Floats
    held: Floats  # (n, 6, 6) lower bounds of M^_k
    sizes: Reach
    counts: Roundings
    unit: float
    looked: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        system, tree = self.system, self.system.tree
        n = tree.n
        self.still: NDArray[np.bool_] = at_rest(system)
        self.turns: list[Turn] = [Turn(system, self.ranges, k, self.unit) for k in range(n)]
        self.above, self.before = np.zeros((2, n, 6, 6))  # of the parent, and of all before it
        for k in (k for level in tree.levels[1:] for k in level.tolist()):
            up = int(tree.parent[k])
            if not self.still[up]:
                given = system, self.ranges, k, self.unit, self.turns[k]
                self.above[k] = self.before[k] = above(self.M[up], *given)
                if self.before[up].any():
                    self.before[k] = above(self.M[up] + self.before[up], *given)
        self.least: Floats = firm(system, self.M, self.held, self.sizes, self.unit)
        self.joints, self.out = np.zeros((n, 2)), np.zeros(n)
        for k in np.flatnonzero(~self.still).tolist():
            *self.joints[k], self.out[k] = joint_of(system, self.least[k], self.sizes.size[k], k, self.counts)
        self.children: list[list[int]] = [
            [c for c in np.flatnonzero(tree.parent == k).tolist() if not self.still[c]] for k in range(n)
        ]
        self.B = np.array([self.rounded(k) for k in range(n)])
        self.shares = np.array([self.of(k, self.held[k][None], self.B[k][None]) for k in range(n)])

    def rounded(self, k: int) -> Floats:
        """(6, 6) B_k, of M^_k that children hand on to: over all angles at once."""
        sent, carried = (x[self.children[k]] for x in (self.sizes.sent, self.sizes.carried))
        return self.entries(k, sent, carried, self.sizes.size[k])

    def entries(self, k: int, sent: Floats, carried: Floats, size: Floats) -> Floats:
        """B_k (..., 6, 6) from what each child hands on (..., children, 6), and the sizes of M^_k.

        The last sum, of M_k and what the children hand on, is one of M^_k.
        """
        if not self.children[k] or self.still[k]:
            return np.zeros((6, 6))
        counts = self.counts
        of_children = counts.before[k] * _outer(sent).sum(axis=-3)
        B = of_children + counts.last[k] * _outer(size)
        for i, c in enumerate(self.children[k]):
            B = B + counts.frame[c] * _outer(sent[..., i, :])
            B = B + self.out[c] * _outer(carried[..., i, :])
        return np.asarray(B)

    def of(self, k: int, least: Floats, B: Floats) -> tuple[float, ...]:
        """Shares of B: of M_k, of ``least``, that with what is above and before, and the pivot."""
        if not B.any():
            return 0.0, 0.0, 0.0, 0.0, 0.0
        S, unit = self.rows(k), SECOND * self.unit
        along = S @ least @ S.T, np.abs(S) @ B @ np.abs(S).T
        pivot = unit * share(0.5 * (along[0] + np.swapaxes(along[0], -1, -2)), along[1])
        if self.system.tree.parent[k] < 0:  # of a body on the ground only its joint matters
            M = S @ self.M[k] @ S.T
            return unit * share(0.5 * (M + M.T), along[1]), pivot, pivot, pivot, pivot
        own, held = (unit * share(x, B) for x in (self.M[k], least))
        above = before = unit * share(least + self.above[k], B)
        if (self.before[k] != self.above[k]).any():
            before = min(above, unit * share(least + self.before[k], B))
        return own, held, above, before, pivot

    def rows(self, k: int) -> Floats:
        return np.asarray(self.system.entries.S[self.system.tree.freedoms_of(k)])

    def look(self, k: int) -> None:
        """Shares of body k, angle by angle of the child that hands on most."""
        system, sizes = self.system, self.sizes
        self.looked.add(k)
        weights = [float(sizes.carried[c].max()) for c in self.children[k]]
        if not weights:
            return
        i = int(np.argmax(weights))
        child = self.children[k][i]
        rest = self.M[k].copy()
        for c in np.flatnonzero(system.tree.parent == k).tolist():
            more = None if c == child else handed_on(system, self.held[c], c)
            if more is not None:
                rest += placed(system, more, c)
        boxes = angles(system, self.ranges, rest, self.held[child], child)
        if boxes is None:
            return
        slack = (1.0 + 8.0 * self.unit) * UP
        m = len(boxes.Phi)
        sent, carried = (np.repeat(x[None, self.children[k]], m, axis=0) for x in (sizes.sent, sizes.carried))
        sent[:, i] = np.minimum(sent[:, i], boxes.Phi @ sizes.handed[child] * slack)
        carried[:, i] = np.minimum(carried[:, i], boxes.Phi @ sizes.size[child] * slack)
        dust = ROUNDED * self.unit * carried**2
        square = np.diagonal(system.entries.M[k]) + (sent**2 + dust).sum(axis=1)
        size = np.minimum(sizes.size[k], np.sqrt(square) * UP)
        found = self.of(k, boxes.least, self.entries(k, sent, carried, size))
        self.shares[k] = np.minimum(self.shares[k], found)

    def total(self) -> Total:
        """The numbers of the theorem, tips to base, from the shares that are known by now.

        M^_k is off by ``handed`` of itself, and, where it leaves its own rounding to its parent, by
        ``fresh`` of itself and of the parent's own inertia.
        """
        tree, names, n = self.system.tree, self.system.tree.names, self.system.tree.n
        inertia, pivot, handed, fresh, cost = np.zeros((5, n))
        blame, why = np.arange(n), ""
        for level in reversed(tree.levels):
            for k in level[~self.still[level]].tolist():
                own, held, with_above, _, along = self.shares[k]
                along = min(along, with_above)  # what is above it moves no pivot
                below = (handed + fresh)[self.children[k]].max(initial=0.0)
                reached = float(fresh[self.children[k]].sum())  # of M_k
                behind = max(below, reached)
                found = min(max(own + reached, below), held + behind)
                cost[k], pivot[k] = found - behind, min(found, behind + along)
                grown = SECOND * self.unit * np.diagonal(self.B[k]) / self.sizes.size[k] ** 2
                fits = behind + held <= DEFINITE and behind + max(along, grown.max()) <= LARGEST
                if self.above[k].any() and fits and behind + with_above < LESS * found:
                    fresh[k], found, inertia[k] = with_above, behind, held
                    cost[k], pivot[k] = max(with_above, along), behind + along
                inertia[k] += found
                handed[k] = found
                eta, in_pivot = self.joints[k]
                local = SECOND * self.unit * in_pivot * eta if in_pivot else 0.0
                pivot[k] += local
                if not why and not found <= LARGEST:
                    why = light(names[k], float(found))
                elif not why and not math.isfinite(eta):
                    why = f"joint {names[k]}: no inertia of its own in some direction"
                elif not why and not local <= LOCAL:
                    why = f"joint {names[k]}: rounding its pivot may change it by {local:.1g}"
                for c in self.children[k]:
                    if cost[blame[c]] > cost[blame[k]]:
                        blame[k] = blame[c]
        worst = int(blame[pivot.argmax()]) if n else 0
        return Total(inertia, pivot * (1.0 + LARGEST), cost, worst, why)

    def behind(self) -> Behind:
        """What the numbers were computed from."""
        shares = self.shares[:, [0, 3]] / SECOND
        roots = np.sqrt(np.maximum(np.einsum("kii->ki", self.before), 0.0))
        return Behind(
            self.M, self.least, self.B, self.joints, shares, roots, self.sizes, self.counts, self.unit
        )


@dataclass(frozen=True)
class Total:
    """What a pass found; ``why`` nothing can be promised, or an empty sentence."""

    inertia: Floats  # (n,)
    pivot: Floats  # (n,)
    cost: Floats  # (n,) what body k alone adds
    worst: int
    why: str


def recursion(
    system: System, ranges: Ranges, M: Floats, held: Floats, sizes: Reach, counts: Roundings, unit: float
) -> tuple[Total, Behind]:
    """The theorem's numbers; the bodies that cost most are looked at angle by angle."""
    found = Recursion(system, ranges, M, held, sizes, counts, unit)
    total = found.total()
    for _ in range(LOOKED):
        left = np.array([0.0 if k in found.looked else x for k, x in enumerate(total.cost)])
        k = int(left.argmax())
        if not left[k] > WORTH * total.pivot.max():
            break
        found.look(k)
        total = found.total()
    return total, found.behind()


def at_rest(system: System) -> NDArray[np.bool_]:
    """(n,) bodies that no joint moves: their inertia is in no pivot."""
    still = np.zeros(system.tree.n, dtype=bool)
    for level in system.tree.levels:
        above = system.tree.parent[level]
        still[level] = (system.tree.dof[level] == 0) & ((above < 0) | still[above])
    return still


def firm(system: System, M: Floats, held: Floats, sizes: Reach, unit: float) -> Floats:
    """(n, 6, 6) lower bounds of M^_k that rounding Phi leaves standing: ``held``, or else M_k."""
    tree, still = system.tree, at_rest(system)
    C, least = np.zeros_like(M), M.copy()
    for k in np.flatnonzero(~still & (tree.parent >= 0)).tolist():
        C[tree.parent[k]] += _outer(sizes.carried[k])
    for k in np.flatnonzero(~still).tolist():
        if SECOND * unit * share(held[k], PHI * C[k]) <= LARGEST:
            least[k] = held[k]
    return least


def joint_of(
    system: System, M: Floats, size: Floats, k: int, counts: Roundings
) -> tuple[float, float, float]:
    """eta of a joint, and roundings in its pivot and in Mbar: in units, times eta and times size^2.

    H M^ takes ``product`` roundings an entry, D another ``pivot``, and eliminating what
    :func:`eliminated` says.
    """
    N = int(system.tree.dof[k])
    if N == 0:
        return 1.0, 0.0, PHI * LARGEST
    own, sigma = pivot_and_size(system, M, size, k)
    r, more = float(counts.product[k]), float(counts.pivot[k])
    terms = eliminated(N)
    inside = np.minimum.outer(terms, terms) + r + more
    beside = (terms + r) * sigma
    # without inertia in the direction of a joint there is no pivot, however little is rounded
    eta = share(own, _outer(sigma)) if (np.diagonal(own) > 0.0).all() else math.inf
    if not inside.any() and math.isfinite(eta):
        eta = 1.0
    in_pivot, across = share(own, inside * _outer(sigma)), math.sqrt(share(own, _outer(beside)))
    out = PHI * LARGEST + float(counts.beside[k]) + 2.0 * across + in_pivot
    return eta, in_pivot / eta if math.isfinite(eta) else math.inf, out


def pivot_and_size(system: System, M: Floats, size: Floats, k: int) -> tuple[Floats, Floats]:
    """D_k (N, N) for an inertia M (6, 6), and the roots (N,) of what its diagonal is at most."""
    here = system.tree.freedoms_of(k)
    S = system.entries.S[here]
    own, sigma = S @ M @ S.T, np.abs(S) @ size
    added = system.entries.A[here] if has_armature(system, k) else np.zeros(len(S))
    return 0.5 * (own + own.T) + np.diag(added), np.sqrt(sigma * sigma + added)


def _outer(x: Floats) -> Floats:
    return np.asarray(x[..., :, None] * x[..., None, :])


def light(body: Hashable, own: float) -> str:
    if not math.isfinite(own):
        return f"body {body}: no inertia of its own in some direction, and children with inertia"
    return (
        f"body {body}: what its children hand to it, rounded, may be {own:.1g} of its inertia; "
        "a heavier link, a shorter or lighter subtree, or a longer format would help"
    )
