"""scipy's integrators on the same motions, for comparison and for stiff problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .record import Record

SCIPY = ("RK45", "DOP853", "Radau", "BDF", "LSODA")


@dataclass(frozen=True)
class Scipy:
    """One of scipy's ``solve_ivp`` methods; ``eps`` is both tolerances."""

    name: str
    eps: float = 1e-6

    def __call__(
        self,
        rates: Callable[[NDArray], NDArray],
        y: NDArray,
        seconds: float,
        settle: Callable[[NDArray], NDArray] = lambda y: y,
        tick: Callable[[float], None] = lambda t: None,
    ) -> list[Record]:
        """Each row of y (m, states) by itself; rejected tries are not told by scipy."""
        return [self._one(rates, row, seconds, tick) for row in y]

    def _one(
        self, rates: Callable[[NDArray], NDArray], y: NDArray, seconds: float,
        tick: Callable[[float], None],
    ) -> Record:  # fmt: skip
        from scipy.integrate import solve_ivp

        def slope(t: float, state: NDArray) -> NDArray:
            tick(t)
            return rates(state[None])[0]

        found = solve_ivp(
            slope, (0.0, seconds), y.astype(float), method=self.name, rtol=self.eps, atol=self.eps
        )
        why = None if found.success else f"{found.message} at t = {found.t[-1]:.4g} s"
        steps = np.diff(found.t)
        return Record(int(found.nfev), len(steps), 0, found.t, found.y.T, found.t[:-1], steps, why)
