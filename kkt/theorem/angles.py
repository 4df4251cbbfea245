"""One child's joint angle, in boxes that cover its range: what holds the parent up, and |Phi|.

A bound over all angles at once takes the least inertia of one angle together with the longest
lever of another.  Here both are of the same angle.  Between the middles of two boxes inertias move
by a known factor: with Z the generator of the turn, N what is turned and K <= the rest,
which turns into itself, N + K changes by a factor of exp(lambda |dq|) at most, where both
Z N + N Z* and its opposite are at most lambda (N + K).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..matrix.ranges import Ranges
from ..matrix.system import System
from ..model.spatial import skew
from .loewner import dominated, share
from .reach import UP, Turn
from .support import EPS, axis_of, handed_on, let_go, turned_to_itself

Floats = NDArray[np.float64]
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


def _turned(turn: Floats, at: NDArray) -> Floats:
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
