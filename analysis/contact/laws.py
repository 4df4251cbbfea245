"""Laws of a blow, on a few numbers: complementarity, Newton's and Poisson's restitution, friction.

v is the velocity of a point and A = J M^-1 J^T what impulses add to it, the normal first, then up
to two directions of sliding; mu is Coulomb's coefficient, e that of restitution.
Cloutier 1995, sections 6.3 and 6.4.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import PivotreeError

Floats = NDArray[np.float64]
STILL = 1e-9  # of the first speed: slower sliding has stopped
MOST = 100  # phases of one blow: compression and restitution, each stopped and started


def complementary(A: Floats, b: Floats) -> Floats:
    """p >= 0 with w = A p + b >= 0 and p w = 0, A symmetric positive semidefinite.

    With A = B* B that is least squares with p >= 0, B p + B^-* b as short as it can be (Lawson &
    Hanson 1974, in scipy).  Where points follow from others, how they share is one of many ways.
    """
    from scipy.optimize import nnls

    if not len(b):
        return np.zeros(0)
    scale = 1.0 / np.sqrt(np.where(np.diagonal(A) > 0.0, np.diagonal(A), 1.0))
    size, V = np.linalg.eigh(scale[:, None] * A * scale)
    kept = size > 1e-13 * max(float(size[-1]), 0.0)
    r, V = np.sqrt(size[kept]), V[:, kept]
    p, _ = nnls(r[:, None] * V.T, -(V.T @ (scale * b)) / r)
    active = np.flatnonzero(p)
    if not len(active):
        return np.zeros_like(p)
    if np.linalg.matrix_rank(A[np.ix_(active, active)]) == len(active):  # by their own equations
        better = np.zeros_like(p)
        better[active] = np.linalg.solve(A[np.ix_(active, active)], -b[active])
        if (better >= 0.0).all():
            return better
    return np.asarray(scale * p)


def newton(A: Floats, v: Floats, e: float, mu: float) -> Floats:
    """Newton's law, v_N+ = -e v_N-: the point sticks, or where that asks too much friction, slides.

    It slides on in its direction (after Hahn 1988; reversed sliding is left out).  Raises
    PivotreeError where A is not definite, or only an impulse that pulls would do that.

    >>> from pivotree.analysis.contact import newton
    >>> newton(np.eye(2), np.array([-1.0, 0.5]), e=0.5, mu=0.1).round(3)  # impulses: normal, along
    array([ 1.5 , -0.15])
    """
    _require_definite(A)
    stick = np.linalg.solve(A, -v * np.where(np.arange(len(v)) == 0, 1.0 + e, 1.0))
    if np.linalg.norm(stick[1:]) <= mu * stick[0]:
        return np.asarray(stick)
    along = np.concatenate([[1.0], -mu * _unit(v[1:])])
    if not v[1:].any():  # it starts to slide
        along[1:] = mu * _unit(_holding(A))
    slope = A[0] @ along
    if not slope > 0.0:
        raise PivotreeError(
            "blow",
            "by Newton's law with this friction the floor would have to pull",
            "use law='poisson', or a lower friction",
        )
    return along * (-(1.0 + e) * v[0] / slope)


def poisson(A: Floats, v: Floats, e: float, mu: float) -> Floats:
    """Poisson's hypothesis, p_N = (1 + e) p_Nc: sliding may stop, stick, or take another direction.

    The normal impulse grows as time does (Routh; Keller 1986).  In the plane the velocity is
    piecewise linear in it (Wang & Mason 1992); in space the direction of sliding turns, and is
    integrated.  Raises PivotreeError where A is not definite.

    >>> from pivotree.analysis.contact import poisson
    >>> poisson(np.eye(2), np.array([-1.0, 0.05]), e=0.5, mu=0.1).round(3)  # it stops, and sticks
    array([ 1.5 , -0.05])
    """
    _require_definite(A)
    p, v, total = np.zeros(len(v)), np.array(v, dtype=float), np.inf
    held, turns = _holding(A), len(v) == 3 and mu > 0.0
    slow = STILL * max(float(np.abs(v).max()), 1e-300)
    for _ in range(MOST):
        left = total - p[0]  # infinite in compression, whose end says what the total is
        if left <= 0.0:
            return p
        still = np.linalg.norm(v[1:]) <= slow
        sticks = bool(still and np.linalg.norm(held) <= mu)
        if turns and not sticks:
            start = v.copy()
            if still:
                start[1:] = 2.0 * slow * _escape(A, mu)
            dp, ended = _turning(A, start, mu, slow, left)
            dv = A @ dp
        else:
            slips = np.clip(held, -mu, mu) if still else -mu * np.sign(v[1:])
            dp, dv, ended = _straight(A, v, held if sticks else slips, sticks, left)
        p, v = p + dp, v + dv
        if ended == "stops":
            v[1:] = 0.0
        elif ended == "rises":  # greatest compression
            total = (1.0 + e) * p[0]
        else:
            return p
    raise PivotreeError("blow", f"sliding stops and starts more than {MOST} times", "lower the friction")


def gain(A: Floats, v: Floats, p: Floats) -> float:
    """Kinetic energy that a blow adds [J]: p times the mean of the velocities around it.

    >>> from pivotree.analysis.contact import gain
    >>> gain(np.eye(1), np.array([-1.0]), np.array([1.0]))  # a unit mass is stopped
    -0.5
    """
    return float(p @ (v + A @ p / 2))


LAWS: dict[str, Callable[[Floats, Floats, float, float], Floats]] = {"newton": newton, "poisson": poisson}


def _require_definite(A: Floats) -> None:
    try:
        np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        raise PivotreeError(
            "blow",
            "A is not positive definite",
            "give A = J M^-1 J^T of rows that do not depend on each other",
        ) from None


def _holding(A: Floats) -> Floats:
    """Friction that keeps a still point from sliding, over the normal impulse."""
    return np.asarray(-np.linalg.solve(A[1:, 1:], A[1:, 0])) if len(A) > 1 else np.zeros(0)


def _unit(x: Floats) -> Floats:
    length = float(np.linalg.norm(x))
    return np.asarray(x / length) if length else x


def _turning(A: Floats, v: Floats, mu: float, slow: float, left: float) -> tuple[Floats, str]:
    """Impulse of a point that slides in space until it stops, comes up, or ``left`` has been given.

    Speed and direction of sliding are (exp(y[1]), y[0]), and the variable is the normal impulse
    over the speed: a direction that turns ever faster as the point slows down is smooth in it.
    """
    from scipy.integrate import solve_ivp

    def rates(_: float, y: Floats) -> Floats:
        s = np.array([np.cos(y[0]), np.sin(y[0])])
        along = np.concatenate([[1.0], -mu * s])
        pull, rho = A @ along, np.exp(y[1])
        turn = s[0] * pull[2] - s[1] * pull[1]
        return np.array([turn, s @ pull[1:], rho * pull[0], *(rho * along)])

    def stops(_: float, y: Floats) -> float:
        return float(y[1] - np.log(slow))

    def rises(_: float, y: Floats) -> float:
        return float(y[2])

    def given(_: float, y: Floats) -> float:
        return float(y[3] - left)

    ends = {"stops": stops, **({"rises": rises} if np.isinf(left) else {"total": given})}
    events: list[Any] = list(ends.values())
    for event, direction in zip(events, (-1.0, 1.0), strict=True):
        event.terminal, event.direction = True, direction
    y = np.array([np.arctan2(v[2], v[1]), np.log(np.hypot(v[1], v[2])), v[0], 0.0, 0.0, 0.0])
    far = 1e9 / float(np.trace(A))  # never reached: one of the events comes first
    found = solve_ivp(rates, (0.0, far), y, method="DOP853", rtol=1e-10, atol=1e-12, events=events)
    for name, times in zip(ends, found.t_events or [], strict=True):
        if len(times):
            return np.asarray(found.y[3:, -1]), name
    raise AssertionError("a point that is slowed down by a definite A comes to an end")


def _straight(
    A: Floats, v: Floats, friction: Floats, sticks: bool, left: float
) -> tuple[Floats, Floats, str]:
    """Impulse of a point that sticks or slides in a line, likewise, and what it changes v by."""
    step = np.concatenate([[1.0], friction])  # over the normal impulse
    slope = A @ step
    if sticks:
        slope[1:] = 0.0
    stops = -v[1] / slope[1] if len(v) == 2 and v[1] * slope[1] < 0.0 else np.inf
    rises = -v[0] / slope[0] if np.isinf(left) and slope[0] > 0.0 else np.inf
    d = min(stops, rises, left)
    return d * step, d * slope, "stops" if d == stops else "rises" if d == rises else "total"


def _escape(A: Floats, mu: float) -> Floats:
    """The direction in which a still point starts to slide: that of its own acceleration."""
    angle = np.linspace(0.0, 2.0 * np.pi, 3601)
    s = np.stack([np.cos(angle), np.sin(angle)])
    push = A[1:, :1] - mu * A[1:, 1:] @ s
    size = np.linalg.norm(push, axis=0)
    return np.asarray(s[:, int(np.argmax((push * s).sum(0) / np.where(size > 0.0, size, 1.0)))])
