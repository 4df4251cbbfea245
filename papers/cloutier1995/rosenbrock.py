"""The Rosenbrock method of Kaps & Rentrop in Shampine's parameters, as stiff of Numerical Recipes.

Numerical Recipes in C, 2nd ed., section 16.6 (Shampine 1982): order 4 with an error of order 3,
one Jacobian and one factorisation a step, three evaluations, here for equations without t.  The
Jacobian is of forward differences, one evaluation a column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pivotree.analysis.simulation import Record

from .stepping import Rates, Start, Tried, integrate

GAMMA = 1 / 2
A = ((2.0,), (48 / 25, 6 / 25))  # states of the second and third evaluation
C = ((-8.0,), (372 / 25, 12 / 5), (-112 / 125, -54 / 125, -2 / 5))
B = (19 / 9, 1 / 2, 25 / 108, 125 / 108)
E = (17 / 54, 7 / 36, 0.0, 125 / 108)
SAFETY, GROW, SHRINK, MOST, LEAST = 0.9, -1 / 4, -1 / 3, 1.5, 0.5
ERRCON = (MOST / SAFETY) ** (1.0 / GROW)  # errors below it let the step grow by 1.5


@dataclass(frozen=True)
class Rosenbrock:
    """The integrator; ``eps`` is the accuracy asked for in each step, over |y| + |h dy/dt|."""

    eps: float = 1e-6
    first: float = 0.01  # [s]
    most: int = 10_000  # steps

    name = "rosenbrock"

    def __call__(self, rates: Rates, y: NDArray, seconds: float) -> Record:
        """Integrate from y (states,) to ``seconds``."""
        return integrate(self.name, self.attempt, rates, y, seconds, self.first, self.most)

    def attempt(self, start: Start, h: float, tries: int) -> Tried:
        after, error = step(start.rates, start.y, start.slope, start.J, h)
        worst = float(np.max(np.abs(error / start.scale))) / self.eps
        if worst <= 1.0:
            return Tried(after, h * (SAFETY * worst**GROW if worst > ERRCON else MOST), 2)
        cut = max(SAFETY * worst**SHRINK, LEAST) if np.isfinite(worst) else LEAST
        return Tried(None, h * cut, 2)


def step(rates: Rates, y: NDArray, slope: NDArray, J: NDArray, h: float) -> tuple[NDArray, NDArray]:
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
