"""The same problems by scipy, on the letters of equation (20): none of our methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..measures import Floats
from .collocation import Acceleration

TIGHT = 1e-13, 1e-14  # relative and absolute tolerance of an integration


def integrate(
    acceleration: Acceleration, end: float, q0: Floats, qd0: Floats, near: tuple[float, float] = TIGHT
) -> Any:
    """scipy's solve_ivp (DOP853) over [0, end]; ``sol(t)[:N]`` is Theta, ``y[:, -1]`` the end."""
    from scipy.integrate import solve_ivp

    N = len(q0)

    def right(t: float, y: Floats) -> Floats:
        return np.concatenate([y[N:], acceleration(np.asarray(t), y[:N], y[N:])])

    start, (rtol, atol) = np.concatenate([q0, qd0]), near
    return solve_ivp(right, (0.0, end), start, "DOP853", rtol=rtol, atol=atol, dense_output=True)


def reached(acceleration: Acceleration, end: float, q0: Floats, qd0: Floats) -> Floats:
    """Theta(end) (N,) of the initial value problem: the paper's own test of a solution."""
    return integrate(acceleration, end, q0, qd0).y[: len(q0), -1]


def conjugate_points(acceleration: Acceleration, end: float, q0: Floats, qd0: Floats) -> Floats:
    """Lengths e in (0, end) at which d Theta(e) / d Theta'(0) is singular.

    There the boundary value problem on [0, e] has no isolated solution at the initial value
    problem's.  The derivative is a central difference of integrations.
    """
    from scipy.optimize import brentq

    N, tiny = len(q0), 1e-6
    moved = [
        [integrate(acceleration, end, q0, qd0 + sign * tiny * unit) for sign in (1.0, -1.0)]
        for unit in np.eye(N)
    ]

    def determinant(e: float) -> float:
        columns = [(up.sol(e)[:N] - down.sol(e)[:N]) / (2.0 * tiny) for up, down in moved]
        return float(np.linalg.det(np.array(columns).T))

    at = np.linspace(0.02, end, 20 + int(200 * end))
    values = [determinant(e) for e in at]
    turned = [i for i in range(len(at) - 1) if values[i] * values[i + 1] < 0.0]
    return np.array([brentq(determinant, at[i], at[i + 1]) for i in turned])
