"""How a motion is integrated: the options that every integrator and every sweep shares."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt
from pivotree.kkt.base.foreign import is_number

from .cash_karp import TINY, CashKarp, Rates, Tick
from .motion import Motion, Record

RUNGE_KUTTA = ("RK45", "DOP853", "Radau")  # methods that go on from a corrected state
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
        rates: Rates,
        y: NDArray[Any],
        seconds: float,
        settle: Rates = lambda y: y,
        tick: Tick = lambda t: None,
    ) -> list[Record]:
        """Each row of y (m, states) by itself; rejected tries are not told by scipy."""
        return [self._one(rates, row, seconds, settle, tick) for row in y]

    def _one(self, rates: Rates, y: NDArray[Any], seconds: float, settle: Rates, tick: Tick) -> Record:
        from scipy import integrate

        def slope(t: float, state: NDArray[Any]) -> NDArray[Any]:
            tick(t)
            return rates(state[None])[0]

        method = getattr(integrate, self.name)  # stepped as solve_ivp does it
        solver = method(slope, 0.0, y.astype(float), seconds, rtol=self.eps, atol=self.eps)
        times, states, why = [0.0], [y.astype(float)], None
        corrections = 0  # after which the slope is found anew
        try:
            while solver.status == "running" and why is None:
                why = solver.step()
                if solver.status != "failed" and self.name in RUNGE_KUTTA:
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


INTEGRATORS = ("cash_karp", *SCIPY)
ONE_STEP = ("cash_karp", *RUNGE_KUTTA)  # integrators that go on from corrected states
STATES = ("float64", "float32")  # number types of states and clocks


@dataclass(frozen=True)
class Integration:
    """An integrator, how far and how accurately it goes, and in which numbers it counts.

    Cash-Karp's errors are relative to each component, or to ``floor`` where it is smaller:
    Numerical Recipes have 1e-30, with which a component that is zero but for rounding stops the
    integration.  The integrator combines and compares states in their number type, float64 or
    float32; Cash-Karp keeps its time, step and largest error in ``clock``.

    >>> from pivotree.analysis.simulation import Integration
    >>> Integration(seconds=1.0, integrator="DOP853").clock is None
    True
    """

    seconds: float = 10.0  # [s]
    eps: float = 1e-6  # accuracy that is asked of each step
    integrator: str = "cash_karp"
    step: float = 0.01  # [s] the first one of cash_karp
    steps: int = 10_000  # after which a run is given up
    floor: float = TINY
    state: str = "float64"
    clock: str | None = None  # as the state where it is None

    def check(self) -> None:
        """Raise PivotreeError, one sentence, for an option that has no meaning."""
        if self.integrator not in INTEGRATORS:
            raise kkt.PivotreeError(
                f"integrator {self.integrator!r}", "is unknown", f"use {', '.join(INTEGRATORS)}"
            )
        for name in ("seconds", "eps", "step", "floor"):
            value = getattr(self, name)
            if not is_number(value) or value <= 0.0:
                where = f"option --{name}" if name in ("seconds", "eps") else f"integrator: {name}"
                raise kkt.PivotreeError(where, f"is {value}", "give a number above 0")
        if not (isinstance(self.steps, Integral) and self.steps >= 1):
            raise kkt.PivotreeError("integrator", f"steps is {self.steps}", "give 1 or more")
        for name, number in (("state", self.state), ("clock", self.clock or self.state)):
            if number not in STATES:
                raise kkt.PivotreeError("integrator", f"{name} is {number!r}", "use float64 or float32")
        if self.clock is not None and self.integrator != "cash_karp":
            raise kkt.PivotreeError(
                "integrator", f"clock is Cash-Karp's alone, and {self.integrator} has none", "leave it out"
            )

    def method(self, motion: Motion) -> Any:
        """The integrator of a motion."""
        if self.integrator == "cash_karp":
            return CashKarp(self.eps, self.step, self.steps, self.floor, self.clock)
        held = motion.manifold
        if held is not None and held.kept and held.loops and self.integrator not in ONE_STEP:
            raise kkt.PivotreeError(
                f"integrator {self.integrator!r}",
                "goes on from more than the last state, which closed loops and contacts correct after each "
                "step",
                f"use {', '.join(ONE_STEP)}",
            )
        return Scipy(self.integrator, self.eps, self.steps)
