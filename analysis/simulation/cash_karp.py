"""Adaptive Runge-Kutta steps of Cash & Karp, as odeint and rkqs of Numerical Recipes take them.

Numerical Recipes in C, 2nd ed., section 16.2: error of each component relative to
|y| + |h dy/dt| + 1e-30, growth by at most 5 and shrinking to at least a tenth, first step 0.01, at
most 10000 steps.  Many starts are integrated side by side, each with steps of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .record import Floats, Record

Rates = Callable[[NDArray], NDArray]  # (m, states) -> (m, states)

# Cash & Karp 1990: a_ij row by row, the fifth-order weights, and their difference to the fourth
A = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (3 / 10, -9 / 10, 6 / 5),
    (-11 / 54, 5 / 2, -70 / 27, 35 / 27),
    (1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096),
)
B = (37 / 378, 0.0, 250 / 621, 125 / 594, 0.0, 512 / 1771)
E = (
    37 / 378 - 2825 / 27648, 0.0, 250 / 621 - 18575 / 48384, 125 / 594 - 13525 / 55296,
    -277 / 14336, 512 / 1771 - 1 / 4,
)  # fmt: skip
SAFETY, GROW, SHRINK, TINY = 0.9, -0.2, -0.25, 1e-30
ERRCON = (5.0 / SAFETY) ** (1.0 / GROW)  # errors below it let the step grow by 5
EVALUATIONS = 6  # of a step whose first try is accepted; a further try needs 5


@dataclass(frozen=True)
class CashKarp:
    """The integrator; ``eps`` is the accuracy asked for in each step."""

    eps: float = 1e-6
    first: float = 0.01  # [s]
    most: int = 10_000  # steps
    floor: float = TINY  # size below which errors are relative to it, not to the component

    name = "cash_karp"

    def __call__(
        self,
        rates: Rates,
        y: NDArray,
        seconds: float,
        settle: Callable[[NDArray], NDArray] = lambda y: y,
        tick: Callable[[float], None] = lambda t: None,
    ) -> list[Record]:
        """Integrate from the rows of y (m, states), in their number type, to ``seconds``.

        ``settle`` is applied to accepted states; ``tick`` is told the earliest time that has been
        reached.
        """
        run = _Run(self, y, seconds)
        while run.alive.size:
            run.advance(rates, settle)
            tick(float(run.t[run.alive].min(initial=seconds)))
        return run.records()


class _Run:
    """The starts that are under way, and what they have done."""

    def __init__(self, method: CashKarp, y: NDArray, seconds: float) -> None:
        m = len(y)
        self.method, self.seconds = method, seconds
        self.y, self.type = y.copy(), y.dtype.type
        self.t = np.zeros(m)
        self.h = np.full(m, min(method.first, seconds))
        self.fresh = np.ones(m, dtype=bool)  # at the beginning of a step
        self.evaluations = np.zeros(m, dtype=np.int64)
        self.accepted = np.zeros(m, dtype=np.int64)
        self.rejected = np.zeros(m, dtype=np.int64)
        self.alive = np.arange(m)
        self.failed: list[str | None] = [None] * m
        self.kept: list[list[tuple[float, NDArray]]] = [[(0.0, row.copy())] for row in self.y]
        self.steps: list[list[tuple[float, float]]] = [[] for _ in range(m)]

    def advance(self, rates: Rates, settle: Callable[[NDArray], NDArray]) -> None:
        """One try of every start that is under way."""
        who, method = self.alive, self.method
        y, t, fresh = self.y[who], self.t[who], self.fresh[who]
        h = np.where(fresh, np.minimum(self.h[who], self.seconds - t), self.h[who])
        with np.errstate(all="ignore"):  # what overflows ends its start, and is told
            after, error = stages(rates, y, h.astype(self.type)[:, None], method.floor)
        self.evaluations[who] += EVALUATIONS - 1 + fresh
        worst = error / method.eps
        good = worst <= 1.0
        with np.errstate(all="ignore"):
            shrunk = np.fmax(SAFETY * h * worst**SHRINK, 0.1 * h)  # 0.1 h where it is nan
            grown = np.where(worst > ERRCON, SAFETY * h * worst**GROW, 5.0 * h)
        self.t[who] = np.where(good, t + h, t)
        self.h[who] = np.where(good, grown, shrunk)
        self.fresh[who] = good
        self.accepted[who] += good
        self.rejected[who] += ~good
        if good.any():
            self.y[who[good]] = settle(after[good])
        for i in np.flatnonzero(good):
            self.keep(int(who[i]), float(t[i]), float(h[i]))
        self.end(who, worst, good)

    def keep(self, lane: int, start: float, h: float) -> None:
        self.steps[lane].append((start, h))
        self.kept[lane].append((float(self.t[lane]), self.y[lane].copy()))

    def end(self, who: NDArray[np.int64], worst: Floats, good: NDArray[np.bool_]) -> None:
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
        return [
            Record(
                int(self.evaluations[i]), int(self.accepted[i]), int(self.rejected[i]),
                np.array([t for t, _ in self.kept[i]]),
                np.array([y for _, y in self.kept[i]], dtype=np.float64),
                np.array([t for t, _ in self.steps[i]]),
                np.array([h for _, h in self.steps[i]]),
                self.failed[i],
            )
            for i in range(len(self.y))
        ]  # fmt: skip


def stages(rates: Rates, y: NDArray, h: NDArray, floor: float = TINY) -> tuple[NDArray, Floats]:
    """The state after steps h (m, 1), and the largest scaled error of each (m,)."""
    one = y.dtype.type
    slopes = [rates(y)]
    for row in A:
        at = y.copy()
        for a, slope in zip(row, slopes, strict=True):
            at += one(a) * h * slope
        slopes.append(rates(at))
    after = y + h * sum(one(b) * k for b, k in zip(B, slopes, strict=True) if b)
    error = h * sum(one(e) * k for e, k in zip(E, slopes, strict=True) if e)
    scale = np.abs(y) + np.abs(h * slopes[0]) + one(floor)
    return after, np.abs(error / scale).max(1).astype(np.float64)
