"""Section 5.1.5: integrators for stiff equations, found "much less efficient" than Runge-Kutta.

STIFF is stiff of Numerical Recipes in C, 2nd ed., sections 16.2 and 16.6: the Rosenbrock method of Kaps &
Rentrop in Shampine's parameters (1982), order 4 with an error of order 3, one Jacobian and one
factorisation a step, three evaluations, here for equations without t.  The Jacobian is of forward
differences, one evaluation a column; errors are relative to |y| + |h dy/dt|, formed once a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.analysis.simulation import Motion, Record

from ..item import Progress, Results, value
from .robot import planar_robot
from .simulator import order_of, run

REFERENCE = ("DOP853", 1e-13)
GAMMA = 1 / 2
A = ((2.0,), (48 / 25, 6 / 25))  # states of the second and third evaluation
C = ((-8.0,), (372 / 25, 12 / 5), (-112 / 125, -54 / 125, -2 / 5))
B = (19 / 9, 1 / 2, 25 / 108, 125 / 108)
E = (17 / 54, 7 / 36, 0.0, 125 / 108)
SAFETY, GROW, SHRINK, MOST, LEAST = 0.9, -1 / 4, -1 / 3, 1.5, 0.5
ERRCON = (MOST / SAFETY) ** (1.0 / GROW)  # errors below it let the step grow by 1.5
NEAR = 2.0**-26  # of difference quotients
TINY = 1e-30

Rates = Callable[[NDArray[Any]], NDArray[Any]]  # (m, states) -> (m, states)


@dataclass(frozen=True)
class Rosenbrock:
    """The integrator; ``eps`` is the accuracy asked for in each step, over |y| + |h dy/dt|."""

    eps: float = 1e-6
    first: float = 0.01  # [s]
    most: int = 10_000  # steps

    def __call__(self, rates: Rates, y: NDArray[Any], seconds: float) -> Record:
        """Integrate from y (states,) to ``seconds``; after ``most`` steps it gives up.

        Raises PivotreeError where a step becomes too small.
        """
        steps, failed, t, h = [(0.0, 0.0, 0, 0.0, y)], None, 0.0, self.first
        evaluations = rejected = 0
        while t < seconds and failed is None:
            slope, J = jacobian(rates, y)
            scale = np.abs(y) + np.abs(h * slope) + TINY
            h, tries = min(h, seconds - t), 0
            while True:
                after, error = step(rates, y, slope, J, h)
                worst, tries = float(np.max(np.abs(error / scale))) / self.eps, tries + 1
                if worst <= 1.0:
                    break
                h *= max(SAFETY * worst**SHRINK, LEAST) if np.isfinite(worst) else LEAST
                if t + h == t:
                    raise kkt.PivotreeError("rosenbrock", f"the step becomes too small at t = {t:.4g} s")
            evaluations, rejected = evaluations + 1 + len(y) + 2 * tries, rejected + tries - 1
            begin, t, y = t, t + h if t + h < seconds else seconds, after
            steps.append((begin, h, tries, t, y))
            h *= SAFETY * worst**GROW if worst > ERRCON else MOST
            if t < seconds and len(steps) > self.most:
                failed = f"more than {self.most} steps at t = {t:.4g} s"
        begun, lengths, tried, ends, states = (np.array(column) for column in zip(*steps, strict=True))
        last = begun[1:], lengths[1:], failed, tried[1:]
        return Record(evaluations, len(steps) - 1, rejected, ends, states, *last)


def jacobian(rates: Rates, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rates (states,) and their derivatives (states, states) at y."""
    move = NEAR * np.maximum(np.abs(y), 1.0)
    found = rates(np.concatenate([y[None], y + np.diag(move)]))
    return found[0], ((found[1:] - found[0]) / move[:, None]).T


def step(
    rates: Rates, y: NDArray[Any], slope: NDArray[Any], J: NDArray[Any], h: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The state after h, and its error."""
    from scipy.linalg import lu_factor, lu_solve

    factor = lu_factor(np.eye(len(y)) / (GAMMA * h) - J)
    g = [lu_solve(factor, slope)]
    for i, row in enumerate(C):
        if i < len(A):  # the fourth stage uses the third's evaluation again
            slope = rates((y + sum(a * k for a, k in zip(A[i], g, strict=True)))[None])[0]
        g.append(lu_solve(factor, slope + sum(c * k for c, k in zip(row, g, strict=True)) / h))
    return (
        y + sum(b * k for b, k in zip(B, g, strict=True)),
        np.asarray(sum(e * k for e, k in zip(E, g, strict=True))),
    )


def measure(
    progress: Progress,
    *,
    accuracies: tuple[float, ...] = (1e-3, 1e-5, 1e-7, 1e-9),
    seconds: float = 3.0,
    method: str = "ABM",
) -> Results:
    """Two links with l = m = 1 that fall from rest along x, width 0.1.

    Compared are evaluations of the forward dynamics, those of difference quotients counted, at the error
    of the final angles that they buy.
    """
    tree = planar_robot((1.0, 1.0), (1.0, 1.0), 0.1)
    exact = run(tree, method, integrator=REFERENCE[0], eps=REFERENCE[1], seconds=seconds).q[-1]
    explicit, stiff = [], []  # evaluations, largest error of the angles [rad]
    motion = Motion.of(tree, orderings.get(order_of(method)))
    for eps in accuracies:
        progress(f"accuracy {eps:g}")
        one = run(tree, method, eps=eps, seconds=seconds)
        explicit.append((one.first.evaluations, max(float(np.abs(one.q[-1] - exact).max()), 1e-16)))
        record = Rosenbrock(eps)(motion.rates, motion.start(), seconds)
        off = np.abs(record.y[-1, : len(exact)] - exact)
        stiff.append((record.evaluations, max(float(off.max()), 1e-16)))
    middle = float(np.exp(np.median([np.log(error) for _, error in explicit + stiff])))
    yield value(
        "thesis", _cost(stiff, middle) / _cost(explicit, middle), name="rosenbrock", error=f"{middle:.0e}"
    )


def _cost(curve: list[tuple[int, float]], error: float) -> float:
    """Evaluations for an error, interpolated in the logarithms of both."""
    points = np.log(np.array(sorted(curve, key=lambda point: point[1])))
    return float(np.exp(np.interp(np.log(error), points[:, 1], points[:, 0])))
