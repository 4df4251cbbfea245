"""odeint of Numerical Recipes for methods with a Jacobian: steps that are tried, cut and kept.

Numerical Recipes in C, 2nd ed., sections 16.2 and 16.6, for equations without t: one Jacobian of
forward differences a step, and errors over |y| + |h dy/dt|, formed once a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt
from pivotree.analysis.simulation import Keeper, Record

NEAR = 2.0**-26  # of difference quotients
TINY = 1e-30

Rates = Callable[[NDArray], NDArray]  # (m, states) -> (m, states)


class Start(NamedTuple):
    """Where a step starts, and what is asked of it."""

    rates: Rates
    y: NDArray  # (states,)
    slope: NDArray  # (states,) dy/dt
    J: NDArray  # (states, states)
    scale: NDArray  # (states,) sizes that errors are relative to
    last: bool  # the step was cut to end in time


class Tried(NamedTuple):
    """A step that was tried."""

    y: NDArray | None  # the state after it; None where its error is too large
    h: float  # what to try next [s]
    evaluations: int


def integrate(
    name: str,
    attempt: Callable[[Start, float, int], Tried],
    rates: Rates,
    y: NDArray,
    seconds: float,
    first: float,
    most: int,
) -> Record:
    """From y (states,) to ``seconds`` by ``attempt(start, h, tries so far)``.

    Raises PivotreeError where a step becomes too small; after ``most`` steps it gives up.
    """
    kept, t, h = Keeper(y), 0.0, first
    evaluations = rejected = 0
    while t < seconds and kept.failed is None:
        slope, J = jacobian(rates, y)
        evaluations += 1 + len(y)
        scale, last = np.abs(y) + np.abs(h * slope) + TINY, t + h > seconds
        start, h, tries = Start(rates, y, slope, J, scale, last), seconds - t if last else h, 0
        while True:
            tried = attempt(start, h, tries)
            evaluations += tried.evaluations
            if tried.y is not None:
                break
            h, tries = tried.h, tries + 1
            if t + h == t:
                raise kkt.PivotreeError(f"{name}: the step becomes too small at t = {t:.4g} s")
        rejected += tries
        begin, t, y = t, t + h if t + h < seconds else seconds, tried.y
        kept.keep(begin, h, 1 + tries, t, y)
        h = tried.h
        if t < seconds and len(kept.steps) >= most:
            kept.failed = f"more than {most} steps at t = {t:.4g} s"
    return kept.record(evaluations, rejected)


def jacobian(rates: Rates, y: NDArray) -> tuple[NDArray, NDArray]:
    """Rates (states,) and their derivatives (states, states) at y."""
    move = NEAR * np.maximum(np.abs(y), 1.0)
    found = rates(np.concatenate([y[None], y + np.diag(move)]))
    return found[0], ((found[1:] - found[0]) / move[:, None]).T
