"""Rigid contact of any tree with a floor, without friction: blows, and contact forces between them.

Newton's law at every touching point, (6.6)-(6.8) of Cloutier 1995,

    p >= 0,   v+ + e v- >= 0,   p (v+ + e v-) = 0,        v+ = v- + A p,

and between blows (6.10)-(6.12), the same complementarity of normal forces and normal
accelerations.  A = J M^-1 J^T is what contact rows at the end of equation (4) leave of it, up to
its sign.  Steps are classical Runge-Kutta's; the time of a blow is found within its step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pivotree.analysis.contact.laws import complementary
from pivotree.kkt import PivotreeError

from .floor import Floats, Floor

TOUCH = 1e-7  # [m] a point so near to the floor touches it
SINK = 1e-9  # [m] by which a point that leaves may come lower in a step; TOUCH for one that stays
STILL = 1e-4  # [m/s] a touching point that rises so slowly does not leave it
BOUNCE = 1e-2  # [m/s] slower blows are plastic, which ends an infinity of ever smaller ones
LOOKED_AT = 200  # states of a motion at which the accelerations are checked
MOST = 20  # steps taken over steps asked for


class Blow(NamedTuple):
    t: float  # [s]
    points: int  # points that the blow hit
    gain: float  # [J] energy after less before


@dataclass(frozen=True)
class Fall:
    """A motion over a floor.

    >>> from pivotree.papers.cloutier1995.floor import Floor
    >>> from pivotree.papers.cloutier1995.rigid import fall
    >>> ball = pt.new_tree("ball")
    >>> pt.add_body(ball, "ball", mass=1.0, inertia=0.1 * np.eye(3), joint="floating")
    >>> floor = Floor.of(ball, [("ball", (0.0, 0.0, 0.0))])
    >>> drop = fall(floor, floor.start([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), seconds=0.6)
    >>> drop.depth < 1e-6, drop.doubt is None
    (True, True)
    """

    t: Floats  # (k,) ends of steps [s]
    y: Floats  # (k, nx + N) states
    energy: Floats  # (k,) [J]
    blows: tuple[Blow, ...]
    smooth_gain: float  # largest energy that a smooth step has made [J]
    depth: float  # deepest point below the floor at the end of any step [m]
    doubt: str | None  # at how many of at most 200 states the accelerations do not hold, and why


def fall(floor: Floor, y: Floats, *, seconds: float, restitution: float = 0.0, step: float = 2e-3) -> Fall:
    """From a state y (nx + N,) for ``seconds``, with steps of at most ``step``.

    >>> from pivotree.papers.cloutier1995.floor import Floor
    >>> from pivotree.papers.cloutier1995.rigid import fall
    >>> ball = pt.new_tree("ball")
    >>> pt.add_body(ball, "ball", mass=1.0, inertia=0.1 * np.eye(3), joint="floating")
    >>> floor = Floor.of(ball, [("ball", (0.0, 0.0, 0.0))])
    >>> above = floor.start([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    >>> drop = fall(floor, above, seconds=0.6, restitution=0.5)
    >>> len(drop.blows), round(float(drop.energy[-1] / drop.energy[0]), 6)  # e^2 is kept
    (1, 0.25)
    """
    t, y = 0.0, np.atleast_2d(np.array(y, dtype=float))
    kept, blows = [(0.0, y[0])], list[Blow]()
    energy, smooth, deep = [float(floor.energy(y)[0])], -np.inf, 0.0
    while t < seconds - 1e-12:
        if len(kept) > MOST * seconds / step:
            raise PivotreeError(
                f"contact: {len(blows)} blows up to t = {t:.4g} s, one after another without "
                "end; take a shorter step, or a lower restitution"
            )
        h, y = _until_touch(floor, y, min(step, seconds - t))
        t += h
        before = float(floor.energy(y)[0])
        smooth = max(smooth, before - energy[-1])
        y, points = blow(floor, y, restitution)
        now = float(floor.energy(y)[0])
        if points:
            blows.append(Blow(t, points, now - before))
        deep = max(deep, -float(floor.heights(y).min()))
        kept.append((t, y[0]))
        energy.append(now)
    times, states = (np.array(values) for values in zip(*kept, strict=True))
    doubt = floor.doubt(states[:: 1 + len(states) // LOOKED_AT])
    return Fall(times, states, np.array(energy), tuple(blows), float(smooth), deep, doubt)


def _until_touch(floor: Floor, y: Floats, h: float) -> tuple[float, Floats]:
    """A step of h, or up to where the first point comes below the floor, or below where it was."""
    from scipy.optimize import brentq

    pose = floor.pose(y)
    level, rising = (pose.r @ floor.frame[0])[0], (pose.speed @ floor.frame[0])[0] > STILL
    held = np.flatnonzero((level <= TOUCH) & ~rising)
    lower = np.minimum(level, 0.0) - np.where(rising, SINK, TOUCH)
    level = np.where(level > TOUCH, 0.0, lower)

    def gap(s: float) -> float:
        return float((floor.heights(_step(floor, y, s, held))[0] - level).min())

    after = _step(floor, y, h, held)
    if (floor.heights(after)[0] < level).any():
        h = float(brentq(gap, 0.0, h, xtol=1e-14, rtol=1e-13))
        after = _step(floor, y, h, held)
    return h, after


def blow(floor: Floor, y: Floats, restitution: float) -> tuple[Floats, int]:
    """The state after blows at touching points, and how many gave one faster than ``BOUNCE``.

    Points that rest give what removes the rates at which rounding makes them sink.
    """
    pose = floor.pose(y)
    touching = np.flatnonzero((pose.r @ floor.frame[0])[0] <= TOUCH)
    if not touching.size:
        return y, 0
    _, _, moved, A = floor.free_and_responses(y, pose, touching)
    speed = (pose.speed[0] @ floor.frame[0])[touching]
    e = np.where(speed < -BOUNCE, restitution, 0.0)
    p = complementary((A + A.T) / 2, speed + e * speed)
    y = y.copy()
    y[0, floor.nx :] += p @ moved
    return y, int(((p > 0.0) & (speed < -BOUNCE)).sum())


def rates(floor: Floor, y: Floats, held: NDArray[np.int64]) -> Floats:
    """dy/dt (1, nx + N) under weights and the normal forces of held points, which may leave.

    Held are those that touch and do not rise as a step starts: its inner stages are off the floor
    by what a step of lower order misses, and a point that lands in it is not held before its blow.
    """
    qdd, up, moved, A = floor.free_and_responses(y, floor.pose(y), held)
    if held.size:
        qdd = qdd + complementary((A + A.T) / 2, up) @ moved
    turning = floor.motion.kernel.rate(y[:, : floor.nx], y[:, floor.nx :])
    return np.concatenate([turning, qdd[None]], axis=1)


def _step(floor: Floor, y: Floats, h: float, held: NDArray[np.int64]) -> Floats:
    """Classical Runge-Kutta."""
    k1 = rates(floor, y, held)
    k2 = rates(floor, y + h / 2 * k1, held)
    k3 = rates(floor, y + h / 2 * k2, held)
    k4 = rates(floor, y + h * k3, held)
    return floor.motion.settle(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
