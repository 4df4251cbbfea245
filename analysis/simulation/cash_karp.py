"""Adaptive Runge-Kutta steps of Cash & Karp: odeint, rkqs and rkck of Numerical Recipes.

Numerical Recipes in C, 2nd ed., section 16.2, operation by operation, in double precision or in the
single precision of the book's float.  The error of each component is relative to
|y| + |h dy/dt| + 1e-30, formed once a step with the h that the step is begun with, and kept while
the step is tried again with smaller ones.  Steps grow by at most 5 and shrink to at least a tenth;
the first is 0.01, and after 10000 steps the book gives up.  As in C, what holds a constant of the
book is evaluated in double precision and rounded once.  Many starts are integrated side by side,
each with steps of its own and to the same bits as by itself.  One thing differs: an error that is
not a number is never forgotten, where the book's macro for the larger of two may lose it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce
from itertools import pairwise, starmap
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .motion import Record

Rates = Callable[[NDArray[Any]], NDArray[Any]]  # (m, states) -> (m, states)
Tick = Callable[[float], None]

# Cash & Karp 1990: a_ij row by row, the fifth-order weights, and the fourth-order ones
A = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (3 / 10, -9 / 10, 6 / 5),
    (-11 / 54, 5 / 2, -70 / 27, 35 / 27),
    (1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096),
)
B = (37 / 378, 0.0, 250 / 621, 125 / 594, 0.0, 512 / 1771)
FOURTH = (2825 / 27648, 0.0, 18575 / 48384, 13525 / 55296, 277 / 14336, 1 / 4)
SAFETY, GROW, SHRINK, TINY = 0.9, -0.2, -0.25, 1e-30
ERRCON = 1.89e-4  # (5 / SAFETY)^(1 / GROW) as the book rounds it; below it steps grow by 5
EVALUATIONS = 6  # of a step whose first try is accepted; a further try needs 5


@dataclass(frozen=True)
class CashKarp:
    """The integrator; ``eps`` is the accuracy asked for in each step.

    States are combined, and their errors scaled, in the states' own number type.  ``clock`` is the
    type of the variables that are the integrator's alone: the time, the step and the largest error
    over ``eps``; None stands for the states' type, which is the book's.
    """

    eps: float = 1e-6
    first: float = 0.01  # [s]
    most: int = 10_000  # steps
    floor: float = TINY  # size below which errors are relative to it, not to the component
    clock: str | None = None  # float64, float32

    name = "cash_karp"

    def __call__(
        self,
        rates: Rates | list[Rates],
        y: NDArray[Any],
        seconds: float,
        settle: Rates = lambda y: y,
        tick: Tick = lambda t: None,
    ) -> list[Record]:
        """Integrate from the rows of y (m, states), in their number type, to ``seconds``.

        Several ``rates`` have as many rows each, one after another.  ``settle`` is applied to
        accepted states; ``tick`` is told the earliest time that has been reached.
        """
        run = _Run(self, y, seconds, rates if isinstance(rates, list) else [rates])
        while run.alive.size:
            run.advance(settle)
            tick(float(run.t[run.alive].min(initial=seconds)))
        return run.records()


class _Run:
    """The starts that are under way, and what they have done."""

    def __init__(self, method: CashKarp, y: NDArray[Any], seconds: float, rates: list[Rates]) -> None:
        m, clock = len(y), np.dtype(method.clock or y.dtype)
        self.rates, self.ends = rates, np.arange(len(rates) + 1) * (m // len(rates))
        self.method, self.clock, self.seconds = method, clock, clock.type(seconds)
        self.y = y.copy()
        self.slope, self.scale = np.zeros_like(y), np.ones_like(y)  # of the step under way
        self.t = np.zeros(m, clock)
        self.h = np.full(m, method.first, clock)
        self.fresh = np.ones(m, dtype=bool)  # at the beginning of a step
        # the last are the tries of the step under way
        self.evaluations, self.accepted, self.rejected, self.refused = np.zeros((4, m), dtype=np.int64)
        self.alive = np.arange(m)
        # who, and where each step began, its length, tries and end, and the state there; first the start
        begun = np.arange(m), self.t.copy(), self.h.copy(), self.refused.copy(), self.t.copy(), y.copy()
        self.steps: list[tuple[NDArray[Any], ...]] = [begun]
        self.failed: list[str | None] = [None] * m

    def rates_of(self, who: NDArray[np.int64]) -> Rates:
        """Slopes of the states of some starts, ascending, each by its own rates."""
        each = zip(self.rates, pairwise(np.searchsorted(who, self.ends).tolist()), strict=True)
        shares = [(rates, slice(*at)) for rates, at in each if at[1] > at[0]]
        return lambda y: np.concatenate([rates(y[at]) for rates, at in shares] or [y])

    def begin(self, who: NDArray[np.int64]) -> None:
        """Slopes and error scales of new steps, which no retry renews; the last step ends in time.

        The scale has the step as it was proposed, before it is cut to the time that is left.
        """
        y, t, h = self.y[who], self.t[who], self.h[who]
        self.slope[who] = self.rates_of(who)(y)
        moved = self.slope[who] * h.astype(y.dtype)[:, None]
        self.scale[who] = np.abs(y).astype(float) + np.abs(moved).astype(float) + self.method.floor
        self.h[who] = np.where(t + h > self.seconds, self.seconds - t, h)

    def advance(self, settle: Rates) -> None:
        """One try of every start that is under way."""
        who, method = self.alive, self.method
        with np.errstate(all="ignore"):  # what overflows ends its start, and is told
            self.begin(who[self.fresh[who]])
            y, t, h, fresh = self.y[who], self.t[who], self.h[who], self.fresh[who]
            after, error = stages(self.rates_of(who), y, self.slope[who], h.astype(y.dtype)[:, None])
            worst = np.abs(error / self.scale[who]).max(1, initial=0.0).astype(self.clock)
            worst = worst / self.clock.type(method.eps)
            good = worst <= 1.0
            following = self.following(h, worst, good)
        self.evaluations[who] += EVALUATIONS - 1 + fresh
        self.t[who] = np.where(good, t + h, t)
        self.h[who] = following
        self.fresh[who] = good
        self.accepted[who] += good
        self.rejected[who] += ~good
        self.refused[who] = np.where(fresh, 0, self.refused[who]) + ~good
        if good.any():
            went = who[good]
            self.y[went] = settle(after[good])
            self.steps.append((went, t[good], h[good], 1 + self.refused[went], self.t[went], self.y[went]))
        self.end(who, worst, good)

    def following(self, h: NDArray[Any], worst: NDArray[Any], good: NDArray[np.bool_]) -> NDArray[Any]:
        """(m,) the step to try next, by the largest error over eps; a tenth where that is nan."""
        h = h.astype(float)
        power = [
            math.pow(e, GROW if fine else SHRINK) if e > ERRCON else math.nan  # nan: not used
            for e, fine in zip(worst.tolist(), good.tolist(), strict=True)
        ]
        scaled = (SAFETY * h * np.array(power)).astype(self.clock)
        grown = np.where(worst.astype(float) > ERRCON, scaled, (5.0 * h).astype(self.clock))
        return np.where(good, grown, np.fmax(scaled, (0.1 * h).astype(self.clock)))

    def end(self, who: NDArray[np.int64], worst: NDArray[Any], good: NDArray[np.bool_]) -> None:
        over = self.t[who] >= self.seconds
        many = ~over & good & (self.accepted[who] >= self.method.most)
        stuck = ~good & (self.t[who] + self.h[who] == self.t[who])
        number = np.isfinite(worst)
        for mask, why in (
            (many, f"more than {self.method.most} steps"),
            (stuck & number, "the step has become too small"),
            (stuck & ~number, "an acceleration is not a number"),
        ):
            for lane in who[mask]:
                self.failed[lane] = f"{why} at t = {self.t[lane]:.4g} s"
        self.alive = who[~(over | many | stuck)]

    def records(self) -> list[Record]:
        lane, *columns = (np.concatenate(column) for column in zip(*self.steps, strict=True))
        order, ends = np.argsort(lane, kind="stable"), np.cumsum(1 + self.accepted)[:-1]
        counts = np.stack([self.evaluations, self.accepted, self.rejected], axis=1).tolist()
        each = zip(counts, self.failed, *(np.split(x[order], ends) for x in columns), strict=True)
        rows = (
            (*count, *(x.astype(float) for x in (t, y, start[1:], h[1:])), failed, tries[1:])
            for count, failed, start, h, tries, t, y in each
        )
        return [*starmap(Record, rows)]


def stages(
    rates: Rates, y: NDArray[Any], slope: NDArray[Any], h: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """rkck: the states after steps h (m, 1) from y, with their slopes there, and the errors."""
    a, b, e = coefficients(y.dtype)
    slopes = [slope, rates(y + a[0][0] * h * slope)]
    for row in a[1:]:
        slopes.append(rates(y + h * combined(row, slopes)))
    return y + h * combined(b, slopes), h * combined(e, slopes)


@cache
def coefficients(number: np.dtype) -> tuple[Any, Any, Any]:
    """A, B and B less the fourth-order weights, as variables of a number type hold them.

    The book subtracts from B's weights after these have been rounded.
    """
    one = number.type
    a, b = [[one(x) for x in row] for row in A], [one(x) for x in B]
    return a, b, [one(float(x) - fourth) for x, fourth in zip(b, FOURTH, strict=True)]


def combined(weights: list[Any], slopes: list[NDArray[Any]]) -> NDArray[Any]:
    """The sum of weights times slopes, from the first on, weights of zero left out."""
    return reduce(add, (w * k for w, k in zip(weights, slopes, strict=True) if w))
