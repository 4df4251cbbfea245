"""Rigid contact with a floor, without friction: impacts, and contact forces between them.

Section 6.4.2, Newton's law at every touching point, (6.6)-(6.8):

    p >= 0,   v+ + e v- >= 0,   p (v+ + e v-) = 0,        v+ = v- + A p,

and section 6.5.2, (6.10)-(6.12), the same complementarity between normal forces and normal
accelerations.  A = J M^-1 J^T is what contact rows at the end of equation (4) leave of it, up to
its sign.  Between impacts, classical Runge-Kutta steps; the time of an impact is found within
its step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kkt import PivotreeError

from .falling import Falling, Floats

TOUCH = 1e-7  # [m] a point so near to the floor touches it
SINK = 1e-9  # [m] by which a point that leaves may come lower in a step; TOUCH for one that stays
STILL = 1e-4  # [m/s] a touching point that rises so slowly does not leave it
BOUNCE = 1e-2  # [m/s] slower impacts are plastic, which ends an infinity of ever smaller ones
MOST = 20  # steps taken over steps asked for


def complementary(A: Floats, b: Floats) -> Floats:
    """p >= 0 with w = A p + b >= 0 and p w = 0, A symmetric positive definite.

    Principal pivots by least index (Murty 1974): finite for every such A.  An active set's
    equations are the contact rows that an elimination of (4) would be given.
    """
    small = 1e-12 * np.max(np.abs(b), initial=0.0)
    active = np.zeros(len(b), dtype=bool)
    for _ in range(2 ** min(len(b), 24) + 1):
        p = np.zeros(len(b))
        p[active] = np.linalg.solve(A[np.ix_(active, active)], -b[active])
        wrong = np.flatnonzero(np.where(active, p < 0.0, A @ p + b < -small))
        if not wrong.size:
            return p
        active[wrong[-1]] ^= True
    raise PivotreeError("contact: the points' matrix is not positive definite; use fewer points")


class Impact(NamedTuple):
    t: float  # [s]
    points: int  # that took part with a blow
    gain: float  # [J] energy after less before


@dataclass(frozen=True)
class Run:
    """A motion over a floor."""

    t: Floats  # (k,) ends of steps [s]
    q: Floats  # (k, N)
    v: Floats  # (k, N)
    energy: Floats  # (k,) [J]
    impacts: tuple[Impact, ...]
    smooth_gain: float  # largest energy that a smooth step has made [J]
    depth: float  # deepest point below the floor at the end of any step [m]


def run(chain: Falling, q: Floats, v: Floats, *, seconds: float, restitution: float,
        step: float = 2e-3) -> Run:  # fmt: skip
    """From q, v (N,) for ``seconds``, with steps of at most ``step``."""
    t, kept = 0.0, [(0.0, q, v)]
    impacts: list[Impact] = []
    energy, smooth, deep = [float(chain.energy(q, v))], -np.inf, 0.0
    while t < seconds - 1e-12:
        if len(kept) > MOST * seconds / step:
            raise PivotreeError(
                f"contact: {len(impacts)} blows up to t = {t:.4g} s, one after another without "
                "end; take a shorter step, or a lower restitution"
            )
        h, q, v = _until_touch(chain, q, v, min(step, seconds - t))
        t += h
        before = float(chain.energy(q, v))
        smooth = max(smooth, before - energy[-1])
        v, blows = impact(chain, q, v, restitution)
        now = float(chain.energy(q, v))
        if blows:
            impacts.append(Impact(t, blows, now - before))
        deep = max(deep, -float(heights(chain, q).min()))
        kept.append((t, q, v))
        energy.append(now)
    times, states, speeds = (np.array(values) for values in zip(*kept, strict=True))
    return Run(times, states, speeds, np.array(energy), tuple(impacts), float(smooth), deep)


def _until_touch(chain: Falling, q: Floats, v: Floats, h: float) -> tuple[float, Floats, Floats]:
    """A step of h, or up to where the first point comes below the floor, or below where it was."""
    from scipy.optimize import brentq

    level = heights(chain, q)
    rising = chain.speeds(chain.directions(q), v)[chain.touching, 1] > STILL
    held = np.flatnonzero((level <= TOUCH) & ~rising) + chain.touching.start
    lower = np.minimum(level, 0.0) - np.where(rising, SINK, TOUCH)
    level = np.where(level > TOUCH, 0.0, lower)

    def gap(s: float) -> float:
        return float((heights(chain, _step(chain, q, v, s, held)[0]) - level).min())

    after = _step(chain, q, v, h, held)
    if (heights(chain, after[0]) < level).any():
        h = float(brentq(gap, 0.0, h, xtol=1e-14, rtol=1e-13))
        after = _step(chain, q, v, h, held)
    return h, *after


def heights(chain: Falling, q: Floats) -> Floats:
    """Of the points that may touch the floor [m]."""
    return chain.places(q)[chain.touching, 1]


def impact(chain: Falling, q: Floats, v: Floats, restitution: float) -> tuple[Floats, int]:
    """Rates after blows at touching points, and how many points gave one faster than ``BOUNCE``.

    Points that rest give what removes the rates at which rounding makes them sink.
    """
    u = chain.directions(q)
    r = chain.places(q, u)
    touching = _touching(chain, r)
    if not touching.size:
        return v, 0
    J = chain.rows(r, touching, 1)
    _, moved = chain.free_and_responses(q, v, _units(len(r), touching), u)
    speed = J @ v
    e = np.where(speed < -BOUNCE, restitution, 0.0)
    blow = complementary(J @ moved.T, speed + e * speed)
    return v + blow @ moved, int(((blow > 0.0) & (speed < -BOUNCE)).sum())


def accelerations(chain: Falling, q: Floats, v: Floats, held: NDArray[np.int64]) -> Floats:
    """(N,) qdd under weights and the normal forces of held points, which may leave but not sink.

    Held are those that touch and do not rise as a step starts: its inner stages are off the floor
    by what a step of lower order misses, and a point that lands in it is not held before its blow.
    """
    u = chain.directions(q)
    r = chain.places(q, u)
    qdd, moved = chain.free_and_responses(q, v, _units(len(r), held), u)
    if not held.size:
        return qdd
    J = chain.rows(r, held, 1)
    force = complementary(J @ moved.T, J @ qdd + chain.drift(u, v)[held, 1])
    return qdd + force @ moved


def _touching(chain: Falling, r: Floats) -> NDArray[np.int64]:
    first = chain.touching.start
    return np.flatnonzero(r[first:, 1] <= TOUCH) + first


def _units(p: int, points: NDArray[np.int64]) -> Floats:
    """(c, p, 2) unit forces upward on points."""
    units = np.zeros((len(points), p, 2))
    units[np.arange(len(points)), points, 1] = 1.0
    return units


def _step(
    chain: Falling, q: Floats, v: Floats, h: float, held: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Classical Runge-Kutta."""

    def rates(q: Floats, v: Floats) -> Floats:
        return accelerations(chain, q, v, held)

    a1 = rates(q, v)
    a2 = rates(q + h / 2 * v, v + h / 2 * a1)
    a3 = rates(q + h / 2 * (v + h / 2 * a1), v + h / 2 * a2)
    a4 = rates(q + h * (v + h / 2 * a2), v + h * a3)
    return q + h * v + h * h / 6 * (a1 + a2 + a3), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
