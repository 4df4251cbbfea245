"""Section 5.1.5: integrators for stiff equations, found "much less efficient" than Runge-Kutta.

STIFF is the Rosenbrock method of Numerical Recipes (rosenbrock.py).  Compared are evaluations of the
forward dynamics, those of difference quotients counted, at the error of the final angles that they buy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pivotree import orderings
from pivotree.analysis.simulation import Motion

from ..item import Progress, Results, picture, value
from .robot import planar_robot
from .rosenbrock import Rosenbrock
from .simulator import order_of, run

THESIS = "rosenbrock"
INTEGRATORS = ("cash_karp", THESIS)
REFERENCE = ("DOP853", 1e-13)


def measure(
    progress: Progress,
    *,
    lengths: tuple[float, ...] = (1.0, 1.0),
    accuracies: tuple[float, ...] = (1e-3, 1e-5, 1e-7, 1e-9),
    seconds: float = 3.0,
    method: str = "ABM",
) -> Results:
    """A chain with l = m = ``lengths`` that falls from rest along x, width 0.1."""
    tree = planar_robot(lengths, lengths, 0.1)
    exact = run(tree, method, integrator=REFERENCE[0], eps=REFERENCE[1], seconds=seconds).q[-1]
    curves: dict[str, list[tuple[int, float]]] = {}  # evaluations, largest error of the angles [rad]
    for integrator in INTEGRATORS:
        curves[integrator] = []
        for eps in accuracies:
            progress(f"{integrator}, accuracy {eps:g}")
            count, q = _counted(tree, method, integrator, eps, seconds)
            curves[integrator].append((count, max(float(np.abs(q - exact).max()), 1e-16)))
    middle = float(np.exp(np.median([np.log(error) for curve in curves.values() for _, error in curve])))
    ratio = _cost(curves[THESIS], middle) / _cost(curves["cash_karp"], middle)
    yield value("thesis", ratio, name=THESIS, error=f"{middle:.0e}")
    yield picture("integrators", "precision", curves)


def _cost(curve: list[tuple[int, float]], error: float) -> float:
    """Evaluations for an error, interpolated in the logarithms of both."""
    points = np.log(np.array(sorted(curve, key=lambda point: point[1])))
    return float(np.exp(np.interp(np.log(error), points[:, 1], points[:, 0])))


def _counted(tree: Any, method: str, integrator: str, eps: float, seconds: float) -> Any:
    """Evaluations, all of them, and the final angles."""
    if integrator == "cash_karp":
        one = run(tree, method, integrator=integrator, eps=eps, seconds=seconds)
        return one.first.evaluations, one.q[-1]
    motion = Motion.of(tree, orderings.get(order_of(method)))
    record = Rosenbrock(eps)(motion.rates, motion.start(), seconds)
    return record.evaluations, record.y[-1, : record.y.shape[1] // 2]
