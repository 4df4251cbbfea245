"""How a motion is integrated: the options that every integrator and every sweep shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt, orderings

from .cash_karp import TINY, CashKarp
from .midpoint import Midpoint
from .motion import Motion
from .scipy_methods import ONE_STEP as RUNGE_KUTTA
from .scipy_methods import SCIPY, Scipy

INTEGRATORS = ("cash_karp", "midpoint", *SCIPY)
ONE_STEP = ("cash_karp", *RUNGE_KUTTA)  # integrators that go on from corrected states
MOST_STEPS = 10_000_000  # steps whose record fits into memory
STATES = ("float64", "float32")  # number types of states and clocks


@dataclass(frozen=True)
class Integration:
    """An integrator, how far and how accurately it goes, and in which numbers it counts.

    Cash-Karp's errors are relative to each component, or to ``floor`` where it is smaller:
    Numerical Recipes have 1e-30, with which a component that is zero but for rounding stops the
    integration.  The integrator combines and compares states in their number type, float64 or
    float32; Cash-Karp keeps its time, step and largest error in ``clock``.

    >>> from pivotree.analysis.simulation import Integration
    >>> Integration(seconds=1.0, integrator="midpoint", step=1e-3).clock is None
    True
    """

    seconds: float = 10.0  # [s]
    eps: float = 1e-6  # accuracy that is asked of each step
    integrator: str = "cash_karp"
    step: float = 0.01  # [s] the first one; of midpoint, every one
    steps: int = 10_000  # after which a run is given up
    floor: float = TINY
    state: str = "float64"
    clock: str | None = None  # as the state where it is None

    def check(self) -> None:
        """Raise PivotreeError, one sentence, for an option that has no meaning."""
        if self.integrator not in INTEGRATORS:
            raise kkt.PivotreeError(
                f"integrator {self.integrator!r}: is unknown; use {', '.join(INTEGRATORS)}"
            )
        for name in ("seconds", "eps", "step", "floor"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                where = f"option --{name}:" if name in ("seconds", "eps") else f"integrator: {name}"
                raise kkt.PivotreeError(f"{where} is {value}; give a number above 0")
        if self.steps < 1:
            raise kkt.PivotreeError(f"integrator: steps is {self.steps}; give 1 or more")
        if self.integrator == "midpoint" and self.seconds / self.step > MOST_STEPS:
            raise kkt.PivotreeError(
                f"integrator: step is {self.step:g}, more than {MOST_STEPS:,} steps in "
                f"{self.seconds:g} s; give a longer one"
            )
        for name, number in (("state", self.state), ("clock", self.clock or self.state)):
            if number not in STATES:
                raise kkt.PivotreeError(f"integrator: {name} is {number!r}; use float64 or float32")
        if self.clock is not None and self.integrator != "cash_karp":
            raise kkt.PivotreeError(
                f"integrator: clock is Cash-Karp's alone, and {self.integrator} has none; leave it out"
            )

    def method(self, motion: Motion) -> Any:
        """The integrator of a motion."""
        if self.integrator == "cash_karp":
            return CashKarp(self.eps, self.step, self.steps, self.floor, self.clock)
        manifold = motion.manifold
        if self.integrator == "midpoint" and manifold is not None:
            raise kkt.PivotreeError(
                "integrator 'midpoint': goes by momenta, on which closed loops and contacts have "
                f"no rows; use {', '.join(ONE_STEP)}"
            )
        if manifold is not None and manifold.corrects and self.integrator not in ONE_STEP:
            raise kkt.PivotreeError(
                f"integrator {self.integrator!r}: goes on from more than the last state, which "
                f"closed loops and contacts correct after each step; use {', '.join(ONE_STEP)}"
            )
        if self.integrator == "midpoint":
            crbm = orderings.get("crbm")
            inertia = kkt.compile(motion.graph, crbm, "float64", outputs=("inertia",))
            return Midpoint(motion, inertia, self.step)
        return Scipy(self.integrator, self.eps, self.steps)
