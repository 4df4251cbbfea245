"""Semi-implicit extrapolation, Bader & Deuflhard 1983, as stifbs of Numerical Recipes.

Numerical Recipes in C, 2nd ed., section 16.6: the linearly implicit midpoint rule (simpr) with 2,
6, 10, 14, 22, 34, 50 substeps, extrapolated to none by polynomials in the square of the substep.
Step and number of columns follow Deuflhard 1983: the column that promises the least work per unit
of time is aimed at, and a step that will not get there is cut at once.  One Jacobian a step, of
forward differences; equations without t.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pivotree.analysis.simulation import Record

from .stepping import Rates, Start, Tried, integrate

SUBSTEPS = (2, 6, 10, 14, 22, 34, 50, 70)
COLUMNS = len(SUBSTEPS) - 1
SAFE_ERROR, SAFE_STEP = 0.25, 0.7
LEAST_CUT, MOST_CUT = 0.7, 1e-5  # of a step that is tried again
GROWTH = 0.1  # the inverse of the most by which a step grows


@dataclass
class Plan:
    """Work and expected errors of the columns, counted from 0; and the column that is aimed at."""

    eps: float
    states: int
    work: list[float] = field(init=False)  # evaluations up to each column, Jacobian included
    grows: NDArray = field(init=False)  # [k, q] by how much the step of q exceeds that of k
    most: int = field(init=False)  # last column that is worth its work
    aim: int = field(init=False)  # column in which the next step should converge
    fresh: bool = field(init=False, default=True)  # nothing is known: every column may end a step

    def __post_init__(self) -> None:
        bare = np.cumsum([SUBSTEPS[0] + 1, *SUBSTEPS[1:]]).astype(float)
        self.grows = np.ones((COLUMNS, COLUMNS))
        for q in range(1, COLUMNS):
            for k in range(q):
                power = (bare[k + 1] - bare[q + 1]) / ((bare[q + 1] - bare[0] + 1) * (2 * k + 3))
                self.grows[k, q] = (SAFE_ERROR * self.eps) ** power
        self.work = (bare + self.states).tolist()
        most = 1
        while most < COLUMNS - 1:
            if self.work[most + 1] > self.work[most] * self.grows[most - 1, most]:
                break
            most += 1
        self.most = self.aim = most

    def attempt(self, start: Start, h: float, tries: int) -> Tried:
        """A step of h, or by how much to cut it."""
        if start.last and not tries:
            self.fresh, self.aim = True, self.most
        made = extrapolate(start, h, self.eps * start.scale, self)
        if made.cut is not None:
            return Tried(None, h * max(min(made.cut, LEAST_CUT), MOST_CUT), made.evaluations)
        self.fresh = False
        return Tried(made.y, self.next(h, made.column, made.errors, tries > 0), made.evaluations)

    def cut(self, k: int, error: float) -> float | None:
        """What to make of a step whose column k has this error: None to go on to the next."""
        before, aim, grows = k - 1, self.aim, self.grows
        if k in (self.most, aim + 1):
            return SAFE_STEP / error
        if k == aim and grows[aim - 1, aim] < error:
            return 1.0 / error
        if aim == self.most and grows[before, self.most - 1] < error:
            return float(grows[before, self.most - 1]) * SAFE_STEP / error
        if grows[before, aim] < error:
            return float(grows[before, aim - 1]) / error
        return None

    def next(self, h: float, k: int, errors: list[float], reduced: bool) -> float:
        """The next step, after one of h that converged in column k; sets the aim."""
        shares = [max(error, GROWTH) for error in errors]
        costs = [share * self.work[i + 1] for i, share in enumerate(shares)]
        best = int(np.argmin(costs))
        share, self.aim = shares[best], best + 1
        if k <= self.aim != self.most and not reduced:
            longer = max(share / float(self.grows[self.aim - 1, self.aim]), GROWTH)
            if self.work[self.aim + 1] * longer <= costs[best]:
                share, self.aim = longer, self.aim + 1
        return h / share


@dataclass(frozen=True)
class Stifbs:
    """The integrator; ``eps`` is the accuracy asked for in each step, over |y| + |h dy/dt|."""

    eps: float = 1e-6
    first: float = 0.01  # [s]
    most: int = 10_000  # steps

    name = "stifbs"

    def __call__(self, rates: Rates, y: NDArray, seconds: float) -> Record:
        """Integrate from y (states,) to ``seconds``."""
        plan = Plan(self.eps, len(y))
        return integrate(self.name, plan.attempt, rates, y, seconds, self.first, self.most)


@dataclass(frozen=True)
class Columns:
    """One step, column after column."""

    y: NDArray
    column: int  # the last one made
    errors: list[float]  # of columns 1, 2, ...: the step is good where below 1 / SAFE_ERROR
    cut: float | None  # by what to cut the step; None where it is good
    evaluations: int


def extrapolate(start: Start, h: float, wanted: NDArray, plan: Plan) -> Columns:
    """Columns until the error is what is wanted (states,), or will not be."""
    row: list[NDArray] = []  # Neville's tableau, the last row
    errors: list[float] = []
    evaluations = 0
    for k in range(plan.most + 1):
        new = [midpoint(start, h, SUBSTEPS[k])]
        evaluations += SUBSTEPS[k]
        for j in range(1, k + 1):
            ratio = (SUBSTEPS[k] / SUBSTEPS[k - j]) ** 2
            new.append(new[-1] + (new[-1] - row[j - 1]) / (ratio - 1.0))
        row = new
        if k == 0:
            continue
        with np.errstate(all="ignore"):
            worst = float(np.max(np.abs(row[k] - row[k - 1]) / wanted))
        worst = max(worst, 1e-30) if np.isfinite(worst) else 1e30
        errors.append((worst / SAFE_ERROR) ** (1.0 / (2 * k + 1)))
        if k >= plan.aim - 1 or plan.fresh:
            if worst < 1.0:
                return Columns(row[k], k, errors, None, evaluations)
            cut = plan.cut(k, errors[-1])
            if cut is not None:
                return Columns(row[k], k, errors, cut, evaluations)
    return Columns(row[-1], plan.most, errors, LEAST_CUT, evaluations)


def midpoint(start: Start, whole: float, count: int) -> NDArray:
    """The state after a step, in ``count`` substeps of the linearly implicit midpoint rule."""
    from scipy.linalg import lu_factor, lu_solve

    rates, h = start.rates, whole / count
    factor = lu_factor(np.eye(len(start.y)) - h * start.J)
    move = lu_solve(factor, h * start.slope)
    y = start.y + move
    for _ in range(count - 1):
        move = move + 2.0 * lu_solve(factor, h * rates(y[None])[0] - move)
        y = y + move
    return y + lu_solve(factor, h * rates(y[None])[0] - move)
