"""How large articulated inertias become, over all states of a robot.

An articulated inertia lies between the body's own and the composite of its subtree, in the Loewner
order (a joint lets go, never adds).  So its diagonal is at most the composite's, and that is
bounded by masses and distances alone, whatever the joints do.  Every number is an upper bound;
sums of positive numbers are made larger by more than they can have been rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..matrix.system import System
from ..model.joints import GENERAL, in_plane
from ..model.spatial import skew
from .ranges import Ranges

Floats = NDArray[np.float64]
UP = 1.0 + 1e-12  # more than a few hundred roundings of float64 make of a sum of positive numbers
ROUNDED = 256.0  # units
CANCELLED = 100.0  # times what is left of entries of Phi, they may be formed from


@dataclass(frozen=True)
class Reach:
    """Bounds over all states within ranges; n bodies."""

    size: Floats  # (n, 6) square roots of the largest diagonal of M^_k
    handed: Floats  # (n, 6) those of Mbar_k: zero where the joint has let go
    sent: Floats  # (n, 6) |Phi_k| handed, in the parent's frame
    carried: Floats  # (n, 6) |Phi_k| size
    moment: Floats  # (n,) of the subtree, about the parent's origin [kg m^2]
    mass: Floats  # (n,) of the subtree [kg]


def reach(system: System, ranges: Ranges, unit: float, rigid: bool = False) -> Reach:
    """The bounds for entries of (4) that have been rounded with unit roundoff ``unit``.

    ``rigid``: of composites, whose joints let nothing go, in the place of articulated inertias.
    """
    tree = system.tree
    turns = [Turn(system, ranges, k, unit) for k in range(tree.n)]
    mass, first = tree.mass * UP, tree.mass * np.linalg.norm(tree.com, axis=1) * UP
    own = np.einsum("kii->ki", system.entries.M)
    top = np.trace(system.entries.M[:, :3, :3], axis1=1, axis2=2)
    norm = np.linalg.norm(system.entries.M[:, :3, :3], axis=(1, 2))
    second = np.minimum(top, norm) * UP  # at least the largest eigenvalue
    size, handed = np.zeros((tree.n, 6)), np.zeros((tree.n, 6))
    sent, carried = np.zeros((tree.n, 6)), np.zeros((tree.n, 6))
    received = np.zeros((tree.n, 6))  # the diagonal of what children hand on
    moment, more = np.zeros((2, tree.n))  # what a subtree adds to its parent's, and children add
    for level in reversed(tree.levels):
        for k in level.tolist():
            square = own[k] + np.concatenate([np.full(3, more[k]), np.full(3, mass[k] - own[k, 3])])
            # no more than its own, and what children hand on: nothing along their own joints
            square = np.minimum(square, own[k] + received[k])
            size[k] = np.sqrt(square) * UP
            handed[k] = np.where(let_go(system, k) & (not rigid), 0.0, size[k])
            sent[k], carried[k] = turns[k].apply(handed[k]), turns[k].apply(size[k])
            up = int(tree.parent[k])
            if up < 0:
                continue
            dust = ROUNDED * unit * carried[k] ** 2  # what rounding may leave where a joint let go
            received[up] = (received[up] + sent[k] * sent[k] + dust) * UP
            far = turns[k].far
            grown = 1.0 + 16.0 * unit
            moment[k] = (second[k] + 2.0 * far * first[k] + far * far * mass[k]) * grown * UP
            more[up] = (more[up] + moment[k]) * UP
            second[up] = (second[up] + moment[k]) * UP
            first[up] = (first[up] + (first[k] + far * mass[k]) * grown) * UP
            mass[up] = (mass[up] + mass[k] * grown) * UP
    return Reach(size, handed, sent, carried, moment, mass)


def cancelled(system: System, ranges: Ranges, sizes: Reach, unit: float) -> int | None:
    """A body whose Phi has entries of which all but a hundredth may cancel; None: there is none.

    Of these, what forming Phi in float64 leaves is no small part of |Phi| size.
    """
    for k in np.flatnonzero(system.tree.parent >= 0).tolist():
        formed = Turn(system, ranges, k, unit).formed(sizes.size[k])
        if (formed > CANCELLED * sizes.carried[k]).any():
            return k
    return None


def let_go(system: System, k: int) -> NDArray[np.bool_]:
    """(6,) rows of Mbar_k that are zero: the joint turns or slides along this very axis."""
    tree = system.tree
    S = system.entries.S[tree.offset[k] : tree.offset[k + 1]]
    alone = (S != 0.0).sum(axis=1) == 1
    rows = np.zeros(6, dtype=bool)
    if not has_armature(system, k) and not axes_turn(system, k):
        rows[np.flatnonzero((S[alone] != 0.0).any(axis=0))] = True
    return rows


def has_armature(system: System, k: int) -> bool:
    """Whether the joint of body k has an entry A_k of its own."""
    return bool(system.structure.armature[k])


def axes_turn(system: System, k: int) -> bool:
    """Whether an axis of the joint of body k moves with q, in the body's frame."""
    return bool(system.tree.joint[k] == "universal")


class Turn:
    """|Phi_k| x for all states: R turns about a known axis, or any way; p is known, or bounded."""

    def __init__(self, system: System, ranges: Ranges, k: int, unit: float) -> None:
        tree, kind = system.tree, system.tree.joint[k]
        self.R, self.p0, self.kind = tree.R[k], tree.p[k], kind
        self.axis = tree.axis[k, 0]
        self.slack = (1.0 + 8.0 * unit) * UP
        here = slice(int(tree.offset[k]), int(tree.offset[k + 1]))
        farthest = np.maximum(np.abs(ranges.lower[here]), np.abs(ranges.upper[here]))
        self.slide = self._slide(tree.S.get(k), farthest)
        self.far = float(np.linalg.norm(np.abs(self.p0) + self.slide)) * UP

    def _slide(self, S: Floats | None, farthest: Floats) -> Floats:
        """(3,) by how much the joint moves the child's origin, at most, in the parent's frame."""
        R, kind = np.abs(self.R), self.kind
        if kind == "prismatic":
            return np.asarray(np.abs(self.R @ self.axis) * farthest[0])
        if kind == "cylindrical":
            return np.asarray(np.abs(self.R @ self.axis) * farthest[1])
        if kind == "planar":
            e1, e2 = in_plane(self.axis[None])
            return np.asarray(R @ (np.abs(e1[0]) * farthest[0] + np.abs(e2[0]) * farthest[1]))
        if kind == "floating":
            return np.asarray(R @ farthest[3:])
        if kind == GENERAL:
            assert S is not None
            return np.full(3, float(np.linalg.norm(S[3:], axis=0) @ farthest))
        return np.zeros(3)

    @cached_property
    def along(self) -> int | None:
        """The coordinate axis that the joint turns about; None: it may turn any way."""
        turning = self.kind in ("revolute", "continuous", "cylindrical", "planar")
        unit = np.flatnonzero(np.abs(self.axis) == 1.0)
        return int(unit[0]) if turning and len(unit) == 1 else None

    def formed(self, x: Floats) -> Floats:
        """(6,) what rounding the entries of Phi is a part of: |R| x, and |p~| |R| x."""
        turned = self.rotated(self.R, x[3:])
        arm = np.abs(skew(np.abs(self.p0) + self.slide)) @ turned
        return np.concatenate([self.rotated(self.R, x[:3]) + arm, turned]) * self.slack

    def apply(self, x: Floats) -> Floats:
        angular, linear = x[:3], x[3:]
        turned = self.rotated(self.R, linear)
        p = np.abs(self.p0) + self.slide
        lever = np.array([np.hypot(p[(i + 1) % 3], p[(i + 2) % 3]) for i in range(3)])
        arm = np.minimum(lever * np.linalg.norm(linear), np.abs(skew(p)) @ turned)
        if not self.slide.any():
            arm = np.minimum(arm, self.rotated(skew(self.p0) @ self.R, linear))
        return np.concatenate([self.rotated(self.R, angular) + arm, turned]) * self.slack

    def rotated(self, A: Floats, x: Floats) -> Floats:
        """|A T| x, at most, for every rotation T of the joint; A (3, 3)."""
        if self.kind in ("fixed", "prismatic"):
            return np.asarray(np.abs(A) @ x)
        rows = np.linalg.norm(A, axis=1) * UP
        if self.along is None:
            return np.asarray(rows * np.linalg.norm(x))
        z = self.along
        across = np.hypot(*np.delete(A, z, axis=1).T)
        return np.asarray(np.abs(A[:, z]) * x[z] + across * np.linalg.norm(np.delete(x, z)))
