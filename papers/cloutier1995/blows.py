"""One blow of a point, with friction: Newton's law of restitution, and Poisson's hypothesis.

v = (v_T, v_N) is the point's velocity, A (2, 2) what impulses add to it, A = J M^-1 J^T; mu is
Coulomb's coefficient (section 6.3), e that of restitution.  Both return the impulse (p_T, p_N).
"""

from __future__ import annotations

import numpy as np

from .falling import Floats


def newton(A: Floats, v: Floats, e: float, mu: float) -> Floats:
    """(6.5), v_N+ = -e v_N-: the point sticks, or where that asks too much friction, slides.

    It slides on in its direction (section 6.4.2, after Hahn 1988; reversed sliding is left out).
    """
    stick = np.linalg.solve(A, -v * (1.0, 1.0 + e))
    if abs(stick[0]) <= mu * stick[1]:
        return np.asarray(stick)
    along = np.array([-mu * np.sign(v[0]), 1.0])
    return along * (-(1.0 + e) * v[1] / (A[1] @ along))


def poisson(A: Floats, v: Floats, e: float, mu: float) -> Floats:
    """(6.9), p_N = (1 + e) p_Nc: the normal impulse grows, and slip may stop, stick or turn round.

    In the plane the velocity is piecewise linear in p_N (Routh; Keller 1986; Wang & Mason 1992).
    """
    p, v, total = np.zeros(2), np.array(v, dtype=float), np.inf
    held = -A[0, 1] / A[0, 0]  # friction that keeps the point from slipping, over p_N
    while p[1] < total:
        sticks = v[0] == 0.0 and abs(held) <= mu
        friction = np.clip(held, -mu, mu) if v[0] == 0.0 else -mu * np.sign(v[0])
        step = np.array([friction, 1.0])
        slope = A @ step
        if sticks:
            slope[0] = 0.0
        stops = -v[0] / slope[0] if v[0] * slope[0] < 0.0 else np.inf
        rises = -v[1] / slope[1] if total == np.inf and slope[1] > 0.0 else np.inf
        d = min(stops, rises, total - p[1])
        p, v = p + d * step, v + d * slope
        if d == stops:
            v[0] = 0.0
        if d == rises:  # greatest compression
            total = (1.0 + e) * p[1]
        elif d != stops:
            break
    return p


def gain(A: Floats, v: Floats, p: Floats) -> float:
    """Kinetic energy that a blow adds [J]: p times the mean of the velocities around it."""
    return float(p @ (v + A @ p / 2))
