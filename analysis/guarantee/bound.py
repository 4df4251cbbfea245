"""The theorem of docs/guarantee.md, evaluated: from a robot to the digits of its pivots.

In exact arithmetic, tip to base,

    M^_k = M_k + sum over children Phi_c Mbar_c Phi_c*,   D_k = A_k + H_k M^_k H_k*,
    Mbar_k = M^_k - M^_k H_k* D_k^-1 H_k M^_k.

In floating point the same, with M_k + G_k in the place of M_k and |x* G_k x| <= g_k x* M_k x: the
computed numbers belong to a robot whose inertias are changed by a relative g_k.  All that is behind
that is monotone and homogeneous, so that changes are not added up from body to body: the largest
counts.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt.arithmetic import Format
from pivotree.kkt.base.errors import FormatError
from pivotree.kkt.matrix.system import System

from ..states.sample import Ranges
from .loewner import share
from .reach import Reach, has_armature, reach
from .support import support

Floats = NDArray[np.float64]
SECOND = 1.25  # covers what is of second order, while what is bounded is at most LARGEST
LARGEST, LOCAL = 0.02, 0.01  # of an inertia, and of a pivot by its own rounding
PRODUCT = np.array([6.0, 6.0, 6.0, 3.0, 3.0, 3.0])  # roundings of a row of Phi with a column
PHI = 2.1  # units of |Phi| |Mbar| |Phi|* by which rounding Phi may move what a child holds up
PROVED = ("abm", "gain_abm")


@dataclass(frozen=True)
class Bound:
    """What holds in every state; ``inertia`` and ``pivot`` are infinite where nothing does."""

    inertia: Floats  # (n,) |x* (computed - exact) x| <= inertia_k x* M^_k x
    pivot: Floats  # (n,) relative errors of the pivots of D_k
    worst: Hashable | None  # the body whose own rounding is behind the largest
    why: str  # why nothing can be promised; empty where something is

    @property
    def digits(self) -> float:
        """Decimal digits that every pivot keeps."""
        largest = float(self.pivot.max(initial=0.0))
        return max(0.0, -math.log10(largest)) if largest > 0.0 else math.inf


def bound(system: System, ranges: Ranges, order: str, chosen: Format) -> Bound:
    """Bounds for one order in one format, over all states within the ranges.

    Raises FormatError for a format that has no rounding to bound.
    """
    n, unit = system.tree.n, chosen.unit
    if not 0.0 < unit < 1.0:
        raise FormatError(f"format {chosen.name!r}: has no unit roundoff that a bound could use")
    why = refusal(system, order, unit)
    if why:
        return Bound(np.full(n, np.inf), np.full(n, np.inf), None, why)
    M = np.asarray(chosen.cast(system.entries.M), dtype=float)
    sizes = reach(system, ranges, unit)
    return _recursion(system, M, sizes, unit)


def refusal(system: System, order: str, unit: float) -> str:
    """Why the theorem does not speak of this robot, or an empty sentence."""
    tree = system.tree
    if order not in PROVED:
        return f"no bound is proved for {order}; there is one for {' and '.join(PROVED)}"
    if system.structure.ties:
        return "loops are closed, and the bound is for trees"
    if unit * tree.n > 1e-3:
        return f"the format has too few digits for {tree.n} bodies"
    turning = [k for k in range(tree.n) if tree.joint[k] == "universal"]
    if turning:
        return f"joint {tree.names[turning[0]]}: universal, its axes change with q"
    several = [k for k in range(tree.n) if tree.dof[k] > 1 and tree.parent[k] >= 0]
    if order == "gain_abm" and several:
        return f"joint {tree.names[several[0]]}: several freedoms, whose gains are not bounded yet"
    return ""


def _recursion(system: System, M: Floats, sizes: Reach, unit: float) -> Bound:
    tree = system.tree
    n = tree.n
    inertia, pivot = np.zeros(n), np.zeros(n)
    B, C, merged = np.zeros((n, 6, 6)), np.zeros((n, 6, 6)), np.zeros(n, dtype=int)
    held = support(system, M)
    blame: list[int] = list(range(n))
    reason = ""
    still = _at_rest(system)
    for level in reversed(tree.levels):
        for k in level.tolist():
            if still[k]:
                continue
            if merged[k]:
                more = _outer(sizes.size[k]) + (merged[k] - 1) * _handed_on(sizes, tree.parent, k)
                own = SECOND * unit * share(M[k], B[k] + more)
                with_children = SECOND * unit * share(held[k], B[k] + more)
                behind = inertia[k]
                # against the body's own inertia the larger counts; against what children
                # hold up as well, the two add up
                found = min(max(own, behind), with_children + behind)
                if not found <= LARGEST and not reason:
                    reason = _light(tree.names[k], found)
                if min(own, with_children) > behind:
                    blame[k] = k
                inertia[k] = found
            firm = SECOND * unit * share(held[k], PHI * C[k]) <= LARGEST
            least = held[k] if firm else M[k]
            eta, in_pivot, out = _joint(system, least, sizes.size[k], k)
            local = SECOND * unit * in_pivot * eta if in_pivot else 0.0
            if not math.isfinite(eta) and not reason:
                reason = f"joint {tree.names[k]}: no inertia of its own in some direction"
            elif not local <= LOCAL and not reason:
                reason = f"joint {tree.names[k]}: rounding its pivot may change it by {local:.1g}"
            pivot[k] = (inertia[k] + local) * (1.0 + LARGEST)
            up = int(tree.parent[k])
            if up >= 0 and not still[up]:
                B[up] += (PRODUCT[:, None] + PRODUCT) * _outer(sizes.sent[k])
                B[up] += out * _outer(sizes.carried[k])
                C[up] += _outer(sizes.carried[k])
                merged[up] += 1
                if inertia[k] > inertia[up]:
                    inertia[up], blame[up] = inertia[k], blame[k]
    if reason:
        return Bound(np.full(n, np.inf), np.full(n, np.inf), None, reason)
    return Bound(inertia, pivot, tree.names[blame[int(pivot.argmax())]], "")


def _at_rest(system: System) -> NDArray[np.bool_]:
    """(n,) bodies that no joint moves: their inertia is in no pivot."""
    still = np.zeros(system.tree.n, dtype=bool)
    for level in system.tree.levels:
        above = system.tree.parent[level]
        still[level] = (system.tree.dof[level] == 0) & ((above < 0) | still[above])
    return still


def _handed_on(sizes: Reach, parent: NDArray[np.int64], k: int) -> Floats:
    """What children hand to body k, entry by entry: it is rounded when they are summed."""
    return np.asarray(sum(_outer(sizes.sent[c]) for c in np.flatnonzero(parent == k)))


def _joint(system: System, M: Floats, size: Floats, k: int) -> tuple[float, float, float]:
    """eta of a joint, and roundings in its pivot and in Mbar: in units, times eta and times size^2.

    H M^ takes r roundings an entry, D another r and one for A_k; eliminating N freedoms N + 1.
    """
    tree = system.tree
    N = int(tree.dof[k])
    if N == 0:
        return 1.0, 0.0, PHI * LARGEST
    S = system.entries.S[tree.offset[k] : tree.offset[k + 1]]
    entries = (S != 0.0).sum(axis=1)
    r = float((entries - 1 + ~np.isin(np.abs(S), (0.0, 1.0)).all(axis=1)).max())
    last = N + 1.0
    before = 0.0 if N == 1 else last
    added = float(has_armature(system, k))
    in_pivot = before + 2.0 * r + added
    own, sigma = S @ M @ S.T, np.abs(S) @ size
    extra = np.zeros((N, N))
    if added:
        extra = np.diag(system.entries.A[tree.offset[k] : tree.offset[k + 1]])
    sigma = np.sqrt(sigma * sigma + np.diagonal(extra))
    own = 0.5 * (own + own.T) + extra
    # without inertia in the direction of a joint there is no pivot, however little is rounded
    eta = share(own, _outer(sigma)) if (np.diagonal(own) > 0.0).all() else math.inf
    if not in_pivot and math.isfinite(eta):
        eta = 1.0
    root = math.sqrt(eta)
    return eta, in_pivot, PHI * LARGEST + last + 2.0 * root * (before + r) + eta * in_pivot


def _outer(x: Floats) -> Floats:
    return np.outer(x, x)


def _light(body: Hashable, own: float) -> str:
    if not math.isfinite(own):
        return f"body {body}: no inertia of its own in some direction, and children with inertia"
    return (
        f"body {body}: what its children hand to it, rounded, may be {own:.1g} of its inertia; "
        "a heavier link, a shorter or lighter subtree, or a longer format would help"
    )
