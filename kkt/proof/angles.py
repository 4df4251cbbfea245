"""One child's joint angle, in boxes that cover its range: what holds the parent up, and |Phi|.

A bound over all angles at once takes the least inertia of one angle together with the longest
lever of another.  Here both are of the same angle.  Between the middles of two boxes inertias move
by a known factor: with Z the generator of the turn, N what is turned and K <= the rest,
which turns into itself, N + K changes by a factor of exp(lambda |dq|) at most, where both
Z N + N Z* and its opposite are at most lambda (N + K).
"""

from __future__ import annotations

import math
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
PLACED = 64.0  # units: entries of Phi that are formed in float64 and rounded to a format


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
    turn = np.zeros((6, 6))
    for a in (0, 3):
        turn[a + (z + 2) % 3, a + (z + 1) % 3] = tree.axis[k, 0, z]
        turn[a + (z + 1) % 3, a + (z + 2) % 3] = -tree.axis[k, 0, z]
    moved = turn @ N + N @ turn.T
    speed = dominated(N + own, np.stack([moved, -moved])) if moved.any() else 0.0
    if not math.isfinite(speed):
        return None
    boxes = max(16, min(BOXES, math.ceil((high - low) * speed / (2.0 * FINE))))
    half = 0.5 * (high - low) / boxes * UP
    if speed * half > COARSE:
        return None
    middles = low + half * (2.0 * np.arange(boxes) + 1.0)
    c, s = np.cos(middles)[:, None, None], np.sin(middles)[:, None, None]
    plane = -turn @ turn  # the coordinates across the axis
    T = np.eye(6) - plane + c * plane + s * turn
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


def above(system: System, parent: Floats, k: int, unit: float, turn: Turn) -> Floats:
    """(6, 6) how the parent's inertia, ``parent`` at least, holds body k up through its joint.

    With y = Phi* x + H* z, x the parent's motion, y* above y <= x* parent x, whatever the angle and
    z are.  Zero where nothing is known.  Entries of Phi are those that the format has.
    """
    if axis_of(system, k) is None:
        return np.zeros((6, 6))
    held = handed_on(system, _seen_from(parent, _placed(system, k)), k)
    if held is None:
        return np.zeros((6, 6))
    t = turn.apply(np.sqrt(np.maximum(np.diagonal(held), 0.0)))
    off = PLACED * unit * math.sqrt(share(parent, np.outer(t, t)))
    return held / (1.0 + off) ** 2 * (1.0 - 1e-9) if math.isfinite(off) else np.zeros((6, 6))


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
