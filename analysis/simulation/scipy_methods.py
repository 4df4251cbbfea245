"""scipy's integrators on the same motions, for comparison and for stiff problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .record import Record

ONE_STEP = ("RK45", "DOP853", "Radau")  # methods that go on from a corrected state
SCIPY = ("RK45", "DOP853", "Radau", "BDF", "LSODA")
"""Integrators of ``scipy.integrate.solve_ivp`` that ``simulate`` runs, by their names there.

>>> from pivotree.analysis.simulation import SCIPY
>>> "DOP853" in SCIPY
True
"""


@dataclass(frozen=True)
class Scipy:
    """One of scipy's ``solve_ivp`` methods; ``eps`` is both tolerances."""

    name: str
    eps: float = 1e-6
    most: int = 10_000_000  # steps after which a run is given up

    def __call__(
        self,
        rates: Callable[[NDArray], NDArray],
        y: NDArray,
        seconds: float,
        settle: Callable[[NDArray], NDArray] = lambda y: y,
        tick: Callable[[float], None] = lambda t: None,
    ) -> list[Record]:
        """Each row of y (m, states) by itself; rejected tries are not told by scipy."""
        return [self._one(rates, row, seconds, settle, tick) for row in y]

    def _one(
        self,
        rates: Callable[[NDArray], NDArray],
        y: NDArray,
        seconds: float,
        settle: Callable[[NDArray], NDArray],
        tick: Callable[[float], None],
    ) -> Record:
        from scipy import integrate

        def slope(t: float, state: NDArray) -> NDArray:
            tick(t)
            return rates(state[None])[0]

        method = getattr(integrate, self.name)  # stepped as solve_ivp does it
        solver = method(slope, 0.0, y.astype(float), seconds, rtol=self.eps, atol=self.eps)
        times, states, why = [0.0], [y.astype(float)], None
        corrections = 0  # after which the slope is found anew
        try:
            while solver.status == "running" and why is None:
                why = solver.step()
                if solver.status != "failed" and self.name in ONE_STEP:
                    settled = settle(solver.y[None])
                    if (settled != solver.y).any():
                        solver.y, solver.f = settled[0], slope(solver.t, settled[0])
                        corrections += 1
                if solver.status != "failed":
                    times.append(solver.t)
                    states.append(solver.y.copy())
                if len(times) > self.most and solver.status == "running":
                    why = f"gives up after {self.most:,} steps"
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            why = f"{self.name} breaks off: {error}"
        t = np.array(times)
        why = None if why is None else f"{why} at t = {t[-1]:.4g} s"
        steps = np.diff(t)
        evaluations = int(solver.nfev) + corrections
        return Record(evaluations, len(steps), 0, t, np.array(states), t[:-1], steps, why)
