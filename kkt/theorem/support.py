"""How large articulated inertias become over all states, and what holds a body up in every state.

An articulated inertia lies between the body's own and the composite of its subtree, in the Loewner
order (a joint lets go, never adds).  So its diagonal is at most the composite's, and that is
bounded by masses and distances alone, whatever the joints do.  Every number is an upper bound;
sums of positive numbers are made larger by more than they can have been rounded.

A lower bound of M^_k that does not depend on q: a child that turns about an axis hands Phi Mbar_c
Phi* to its parent, and Mbar_c is at least what it would be of any lower bound of M^_c.  Averaged
over all turns about the axis it commutes with the turn; so much of the average as is below it in the
Loewner order stays below it in every state.  Of a perturbation the size of its entries is known.

A bound over all angles at once takes the least inertia of one angle together with the longest
lever of another.  In boxes that cover the range of one child's angle both are of the same angle.
Between the middles of two boxes inertias move by a known factor: with Z the generator of the turn, N
what is turned and K <= the rest, which turns into itself, N + K changes by a factor of
exp(lambda |dq|) at most, where both Z N + N Z* and its opposite are at most lambda (N + K).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..matrix.system import System
from ..model.joints import GENERAL, in_plane
from ..model.spatial import skew
from .ranges import Ranges

UP = 1.0 + 1e-12  # more than a few hundred roundings of float64 make of a sum of positive numbers
ROUNDED = 256.0  # units
BOUNDED = f"fixed revolute continuous prismatic cylindrical spherical planar floating {GENERAL}".split()
CANCELLED = 100.0  # times what is left of entries of Phi, they may be formed from


@dataclass(frozen=True)
class Reach:
    """Bounds over all states within ranges; n bodies."""

    size: Floats  # (n, 6) square roots of the largest diagonal of M^_k
    handed: Floats  # (n, 6) those of Mbar_k: zero where the joint has let go
    sent: Floats  # (n, 6) |Phi_k| handed, in the parent's frame
    carried: Floats  # (n, 6) |Phi_k| size


def reach(system: System, ranges: Ranges, unit: float) -> Reach:
    """The bounds for entries of (4) that have been rounded with unit roundoff ``unit``."""
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
    more = np.zeros(tree.n)  # what children add to a body's moment
    for level in reversed(tree.levels):
        for k in level.tolist():
            square = own[k] + np.concatenate([np.full(3, more[k]), np.full(3, mass[k] - own[k, 3])])
            # no more than its own, and what children hand on: nothing along their own joints
            square = np.minimum(square, own[k] + received[k])
            size[k] = np.sqrt(square) * UP
            handed[k] = np.where(freed(system, k), 0.0, size[k])
            sent[k], carried[k] = turns[k].apply(handed[k]), turns[k].apply(size[k])
            up = int(tree.parent[k])
            if up < 0:
                continue
            dust = ROUNDED * unit * carried[k] ** 2  # what rounding may leave where a joint let go
            received[up] = (received[up] + sent[k] * sent[k] + dust) * UP
            far = turns[k].far
            grown = 1.0 + 16.0 * unit
            moment = (second[k] + 2.0 * far * first[k] + far * far * mass[k]) * grown * UP
            more[up] = (more[up] + moment) * UP
            second[up] = (second[up] + moment) * UP
            first[up] = (first[up] + (first[k] + far * mass[k]) * grown) * UP
            mass[up] = (mass[up] + mass[k] * grown) * UP
    return Reach(size, handed, sent, carried)


def cancelled(system: System, ranges: Ranges, sizes: Reach, unit: float) -> int | None:
    """A body whose Phi has entries of which all but a hundredth may cancel; None: there is none.

    Of these, what forming Phi in float64 leaves is no small part of |Phi| size.
    """
    for k in np.flatnonzero(system.tree.parent >= 0).tolist():
        formed = Turn(system, ranges, k, unit).formed(sizes.size[k])
        if (formed > CANCELLED * sizes.carried[k]).any():
            return k
    return None


def freed(system: System, k: int) -> NDArray[np.bool_]:
    """(6,) rows of Mbar_k that are zero: the joint turns or slides along this very axis."""
    tree = system.tree
    S = system.entries.S[tree.freedoms_of(k)]
    alone = (S != 0.0).sum(axis=1) == 1
    rows = np.zeros(6, dtype=bool)
    if not has_armature(system, k):
        rows[np.flatnonzero((S[alone] != 0.0).any(axis=0))] = True
    return rows


def has_armature(system: System, k: int) -> bool:
    """Whether the joint of body k has an entry A_k of its own."""
    return bool(system.structure.armature[k])


class Turn:
    """|Phi_k| x for all states: R turns about a known axis, or any way; p is known, or bounded."""

    def __init__(self, system: System, ranges: Ranges, k: int, unit: float) -> None:
        tree, kind = system.tree, system.tree.joint[k]
        self.R: Floats = tree.R[k]
        self.p0: Floats = tree.p[k]
        self.kind: str = kind
        self.axis: Any = tree.axis[k, 0]
        self.slack: float = (1.0 + 8.0 * unit) * UP
        here = tree.freedoms_of(k)
        farthest = np.maximum(np.abs(ranges.lower[here]), np.abs(ranges.upper[here]))
        self.slide: Floats = self._slide(tree.S.get(k), farthest)
        self.far: float = float(np.linalg.norm(np.abs(self.p0) + self.slide)) * UP

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


Floats = NDArray[np.float64]
EPS = 2.0**-52
TRIES = 40


def share(M: Floats, B: Floats) -> float:
    """An upper bound of the least g with -g M <= G <= g M for every symmetric |G_ij| <= B_ij.

    M (..., m, m) is symmetric, B (..., m, m) symmetric and not negative; of many the largest.
    |x* G x| <= |x|* B |x|, and where x has the signs s that is x* (s B s) x; so g will do if
    g M - s B s is positive semidefinite for all signs s.  Infinite where no g could be proved, as
    where M is singular.
    """
    if not B.any():
        return 0.0
    signs = np.array([(1.0, *rest) for rest in product((1.0, -1.0), repeat=M.shape[-1] - 1)])
    return dominated(M, B[..., None, :, :] * signs[:, :, None] * signs[:, None, :])


def dominated(M: Floats, C: Floats) -> float:
    """An upper bound of the least g with C <= g M for all of C (..., s, m, m), M (..., m, m).

    An eigenvalue says which g to try, and a Cholesky factor in float64 proves it: it exists for
    A - shift only if A is positive definite (Rump 2006, theorem 2.3).
    """
    m = M.shape[-1]
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    if not (np.isfinite(M).all() and np.isfinite(C).all() and (diagonal > 0.0).all()):
        return float("inf")
    scale = np.sqrt(diagonal)
    both = scale[..., :, None] * scale[..., None, :]
    A = M / both  # scaling moves entries by a few roundings, which shift covers
    C = C / both[..., None, :, :]
    values, vectors = np.linalg.eigh(A)
    if values.min() <= 64.0 * m * m * EPS:
        return float("inf")
    root = (vectors / np.sqrt(values)[..., None, :])[..., None, :, :]
    g = float(np.linalg.eigvalsh(np.swapaxes(root, -1, -2) @ C @ root)[..., -1].max())
    g *= 1.0 + 1e-6
    for attempt in range(TRIES):
        shift = 32.0 * m * m * EPS * (g * np.abs(A).max() + np.abs(C).max())
        try:
            np.linalg.cholesky(g * A[..., None, :, :] - C - shift * np.eye(m))
        except np.linalg.LinAlgError:
            g *= 1.0 + 1e-6 * 4.0**attempt
            if not np.isfinite(g):
                break
        else:
            return g
    return float("inf")


# -- what hangs on a body -------------------------------------------------------------------------


KEPT = 1.0 - 1e-6  # of what float64 finds


def support(system: System, M: Floats) -> Floats:
    """(n, 6, 6) with M_k <= support_k <= M^_k in every state."""
    tree = system.tree
    L = M.copy()
    for level in reversed(tree.levels[1:]):
        for k in level.tolist():
            held = handed_on(system, L[k], k)
            if held is not None:
                L[tree.parent[k]] += placed(system, held, k)
    return L


def placed(system: System, X: Floats, k: int) -> Floats:
    """What turns into itself at the joint of k, in its parent's frame, less what is rounded."""
    R, zero = system.tree.R[k], np.zeros((3, 3))
    Phi = np.block([[R, skew(system.tree.p[k]) @ R], [zero, R]])
    more = Phi @ X @ Phi.T
    # float64 rounds here by at most 100 EPS t t*, which is at most 6 times its diag(t^2)
    t = np.abs(Phi) @ np.sqrt(np.abs(np.diagonal(X)))
    return np.asarray(0.5 * (more + more.T) - np.diag(600.0 * EPS * t * t))


def axis_of(system: System, k: int) -> int | None:
    """The axis of its frame that the joint of body k turns about; None: it does something else."""
    unit = np.flatnonzero(np.abs(system.tree.axis[k, 0]) == 1.0)
    turns = system.tree.joint[k] in ("revolute", "continuous") and len(unit) == 1
    return int(unit[0]) if turns else None


def handed_on(system: System, L: Floats, k: int) -> Floats | None:
    """What body k hands on at least, whatever its joint does; None where nothing is known."""
    if system.tree.joint[k] == "fixed":
        return L
    z = axis_of(system, k)
    if z is None or not L[z, z] > 0.0:
        return None
    return turned_to_itself(let_go(L, z), z, L)


def let_go(L: Floats, z: int) -> Floats:
    """S(L) of a joint that turns about z and has no armature."""
    N = np.asarray(L - np.outer(L[z], L[z]) / L[z, z])
    N[z] = N[:, z] = 0.0
    return N


def turned_to_itself(N: Floats, z: int, source: Floats | None = None) -> Floats | None:
    """A part of N's mean over all turns about z that is at most N; ``source``: N is S of it."""
    rest = [i for i in range(6) if source is None or i != z]
    mean = averaged(N, z)
    size = np.diagonal(N if source is None else source)[rest]
    part = _part(N[np.ix_(rest, rest)], mean[np.ix_(rest, rest)], size)
    return part * mean if part > 0.0 else None


def averaged(N: Floats, z: int) -> Floats:
    """The mean of T N T* over all rotations T = diag(T3, T3) about coordinate axis z."""
    x, y = (z + 1) % 3, (z + 2) % 3
    mean = np.zeros((6, 6))
    for a in (0, 3):
        for b in (0, 3):
            even = 0.5 * (N[a + x, b + x] + N[a + y, b + y])
            odd = 0.5 * (N[a + x, b + y] - N[a + y, b + x])
            mean[a + x, b + x] = mean[a + y, b + y] = even
            mean[a + x, b + y], mean[a + y, b + x] = odd, -odd
            mean[a + z, b + z] = N[a + z, b + z]
    return mean


def _part(N: Floats, mean: Floats, size: Floats) -> float:
    """A number c with c mean <= N, proved by a Cholesky factor; 0 where none is found.

    ``size`` is the diagonal of what N was made of, whose rounding it holds.
    """
    if not (np.diagonal(mean) > 0.0).all():
        return 0.0
    scale = np.sqrt(np.diagonal(mean))
    A, C = N / np.outer(scale, scale), mean / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(C)
    if values[0] <= 64.0 * 36.0 * EPS:
        return 0.0
    root = vectors / np.sqrt(values)
    part = float(np.linalg.eigvalsh(root.T @ A @ root)[0]) * KEPT
    shift = 1e3 * EPS * float((np.abs(A).max() + np.abs(C).max() + size / scale**2).max())
    if part <= 0.0:
        return 0.0
    try:
        np.linalg.cholesky(A - part * KEPT * C - shift * np.eye(len(A)))
    except np.linalg.LinAlgError:
        return 0.0
    return part * KEPT * KEPT


# -- by angles ------------------------------------------------------------------------------------


BOXES = 96  # at most
FINE = 0.05  # lambda times half the width of a box, if there are not too many
COARSE = 0.7
OWN = 24  # boxes of the joint's own angle
PLACED = 64.0  # units of what Turn.formed gives: rounded entries of Phi; 12 are proved


@dataclass(frozen=True)
class Angles:
    """m boxes of the angle of one child."""

    least: Floats  # (m, 6, 6) lower bounds of M^ of the parent
    Phi: Floats  # (m, 6, 6) upper bounds of |Phi| of the child


def angles(system: System, ranges: Ranges, rest: Floats, L: Floats, k: int) -> Angles | None:
    """Boxes for child k, whose M^ is at least L; ``rest`` is what else its parent has, at least.

    None where the joint turns about no axis of its frame, or the boxes would be too many.
    """
    tree, z = system.tree, axis_of(system, k)
    if z is None:
        return None
    here = int(tree.offset[k])
    low, high = float(ranges.lower[here]), float(ranges.upper[here])
    Phi = _placed(system, k)
    own = turned_to_itself(_seen_from(rest, Phi), z)
    if own is None:
        return None
    N = let_go(L, z)
    turn = _turning(system, k, z)
    speed = _speed(N + own, N, turn)
    if not math.isfinite(speed):
        return None
    boxes = max(16, min(BOXES, math.ceil((high - low) * speed / (2.0 * FINE))))
    half = 0.5 * (high - low) / boxes * UP
    if speed * half > COARSE:
        return None
    middles = low + half * (2.0 * np.arange(boxes) + 1.0)
    T = _turned(turn, middles)
    placed = Phi @ T
    handed = placed @ N @ np.swapaxes(placed, -1, -2)
    least = rest + 0.5 * (handed + np.swapaxes(handed, -1, -2))
    t = np.abs(placed) @ np.sqrt(np.abs(np.diagonal(L)))
    least -= 600.0 * EPS * (t * t)[:, :, None] * np.eye(6)
    far, one = float(np.linalg.norm(tree.p[k])), np.ones((3, 3))  # p~ R is formed with |p| |R|
    dust = PLACED * EPS * np.block([[one, far * one], [0.0 * one, one]])
    across = np.abs(turn).sum(axis=1) > 0.0
    pair = np.abs(turn) > 0.0  # a column of Phi with the one that it turns into
    widest = np.where(across, np.hypot(Phi, np.abs(Phi) @ pair), 0.0)
    most = np.abs(placed) + half * widest + dust
    return Angles(least * math.exp(-speed * half) * (1.0 - 1e-9), most)


def above(parent: Floats, system: System, ranges: Ranges, k: int, unit: float, turn: Turn) -> Floats:
    """(6, 6) how an inertia of the parent, ``parent`` at least, holds body k up by its joint.

    With y = Phi* x + H* z, x the parent's motion, y* above y <= x* parent x, whatever the angle and
    z are.  Zero where nothing is known.  Entries of Phi are those that the format has.
    """
    if axis_of(system, k) is None:
        return np.zeros((6, 6))
    seen, here = _seen_from(parent, _placed(system, k)), int(system.tree.offset[k])
    low, high = float(ranges.lower[here]), float(ranges.upper[here])
    narrow = high - low <= 0.5 * math.pi  # else the mean of all turns holds more
    held = _within(system, seen, k, low, high) if narrow else handed_on(system, seen, k)
    if held is None:
        return np.zeros((6, 6))
    t = turn.formed(np.sqrt(np.maximum(np.diagonal(held), 0.0)))
    off = PLACED * unit * math.sqrt(share(parent, np.outer(t, t)))
    return held / (1.0 + off) ** 2 * (1.0 - 1e-9) if math.isfinite(off) else np.zeros((6, 6))


def _within(system: System, seen: Floats, k: int, low: float, high: float) -> Floats | None:
    """At most T* S(seen) T for all turns T of the joint between two angles; None: nothing is known.

    A part of the mean of boxes, as much as is below all of them.
    """
    z = axis_of(system, k)
    assert z is not None
    rest = [i for i in range(6) if i != z]
    if not seen[z, z] > 0.0:
        return None
    N = let_go(seen, z) - 1e3 * EPS * np.diag(np.where(np.arange(6) == z, 0.0, np.diagonal(seen)))
    speed = _speed(N[np.ix_(rest, rest)], N, _turning(system, k, z), rest)
    half = 0.5 * (high - low) / OWN * UP
    if not speed * half <= COARSE:
        return None
    T = _turned(_turning(system, k, z), low + half * (2.0 * np.arange(OWN) + 1.0))
    there = np.swapaxes(T, -1, -2) @ N @ T
    there = 0.5 * (there + np.swapaxes(there, -1, -2))
    t = np.abs(np.swapaxes(T, -1, -2)) @ np.sqrt(np.diagonal(seen))
    there -= 600.0 * EPS * (t * t)[:, :, None] * np.eye(6)
    mean = there.mean(axis=0)
    mean[z] = mean[:, z] = 0.0
    own = np.ix_(range(OWN), rest, rest)
    more = dominated(there[own], np.broadcast_to(mean[np.ix_(rest, rest)], (OWN, 1, 5, 5)))
    return mean * (math.exp(-speed * half) / more * (1.0 - 1e-9)) if more > 0.0 else None


def _turning(system: System, k: int, z: int) -> Floats:
    """(6, 6) Z, the generator of the turn of a joint about axis z of its frame."""
    turn = np.zeros((6, 6))
    for a in (0, 3):
        turn[a + (z + 2) % 3, a + (z + 1) % 3] = system.tree.axis[k, 0, z]
        turn[a + (z + 1) % 3, a + (z + 2) % 3] = -system.tree.axis[k, 0, z]
    return turn


def _turned(turn: Floats, at: NDArray[Any]) -> Floats:
    """(m, 6, 6) the rotations by angles (m,)."""
    c, s = np.cos(at)[:, None, None], np.sin(at)[:, None, None]
    plane = -turn @ turn  # the coordinates across the axis
    return np.asarray(np.eye(6) - plane + c * plane + s * turn)


def _speed(X: Floats, N: Floats, turn: Floats, rest: Sequence[int] = range(6)) -> float:
    """lambda with Z N + N Z* and its opposite at most lambda X, in the rows ``rest``."""
    moved = (turn @ N + N @ turn.T)[np.ix_(rest, rest)]
    return dominated(X, np.stack([moved, -moved])) if moved.any() else 0.0


def _placed(system: System, k: int) -> Floats:
    """Phi where the joint is at zero."""
    R, zero = system.tree.R[k], np.zeros((3, 3))
    return np.block([[R, skew(system.tree.p[k]) @ R], [zero, R]])


def _seen_from(M: Floats, Phi: Floats) -> Floats:
    """Phi^-1 M Phi^-*, less than what float64 may have made of it."""
    R, arm = Phi[:3, :3], Phi[:3, 3:]
    back = np.block([[R.T, -R.T @ arm @ R.T], [np.zeros((3, 3)), R.T]])
    seen = back @ M @ back.T
    t = np.abs(back) @ np.sqrt(np.abs(np.diagonal(M)))
    return np.asarray(0.5 * (seen + seen.T) - np.diag(600.0 * EPS * t * t))
