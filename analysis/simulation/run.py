"""Integrate a tree's motion by several orders and formats, from ensembles of starts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.machine.joint_space import SOLVERS
from pivotree.kkt.machine.kernel import FRAMES

from .cash_karp import TINY, CashKarp
from .midpoint import Midpoint
from .motion import Motion
from .record import Floats, Record
from .scipy_methods import SCIPY, Scipy

INTEGRATORS = ("cash_karp", "midpoint", *SCIPY)
MOST_RUNS, MOST_STEPS = 100_000, 10_000_000  # that are kept in memory
ENERGIES = 200  # states at which the energy and the accelerations are looked at


@dataclass(frozen=True)
class Simulation:
    """One order in one format: an ensemble of runs of the same motion."""

    model: str
    order: str
    format: str
    integrator: str
    seconds: float  # [s] asked for
    operations: int  # of one evaluation
    records: tuple[Record, ...]
    wall: float  # [s] that it took
    drift: float | None  # largest change of the energy less the work, over its scale
    doubt: str | None = None  # where accelerations of the first run do not hold, and why

    @cached_property
    def evaluations(self) -> Floats:
        """(runs,) those of failed runs up to where they failed."""
        return np.array([record.evaluations for record in self.records], dtype=float)

    @property
    def mean(self) -> float:
        return float(self.evaluations.mean())

    @property
    def spread(self) -> float:
        """Standard deviation over the runs."""
        return float(self.evaluations.std(ddof=1)) if len(self.records) > 1 else 0.0

    @property
    def failed(self) -> int:
        return sum(record.failed is not None for record in self.records)

    @property
    def why(self) -> str | None:
        """Why the first run that failed did."""
        return next((record.failed for record in self.records if record.failed), None)

    def as_dict(self) -> dict[str, Any]:
        return {
            "order": self.order, "format": self.format, "integrator": self.integrator,
            "evaluations": self.mean, "spread": self.spread, "runs": len(self.records),
            "failed": self.failed, "operations": self.operations,
            "accepted": float(np.mean([record.accepted for record in self.records])),
            "rejected": float(np.mean([record.rejected for record in self.records])),
            "energy_drift": self.drift, "seconds": self.wall,
            "why": self.why, "doubt": self.doubt,
        }  # fmt: skip


def simulate(
    tree: Any,
    order: Any = "abm",
    format: str = "float64",
    integrator: str = "cash_karp",
    *,
    seconds: float = 10.0,
    eps: float = 1e-6,
    step: float = 0.01,
    most: int = 10_000,
    floor: float = TINY,
    runs: int = 1,
    seed: int = 0,
    state: str = "float64",
    clock: str | None = None,
    solver: str | None = None,
    bias: str = "propagated",
    frames: str = "own",
    q: Any = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    tick: Callable[[float], None] = lambda t: None,
) -> Simulation:
    """Integrate ``seconds`` of motion, accelerations by an order in a number format.

    ``eps`` is the accuracy asked of each step, ``step`` the first step (of ``midpoint``, every
    one), ``most`` the steps after which a run is given up.  Cash-Karp's errors are relative to
    each component, or to ``floor`` where it is smaller: Numerical Recipes have 1e-30, with which
    a component that is zero but for rounding stops the integration.  ``runs`` above 1 perturb
    the start by about one unit of the format's roundoff, since counts are chaotic.  ``state`` is
    the number type of the states, which the integrator combines and compares in it, float64 or
    float32; ``clock`` that of Cash-Karp's time, step and largest error, as ``state`` where it is
    None.  An order's name may
    carry a dense method, ``crbm+cholesky``: ``solver``, ``bias`` and ``frames`` are those of
    :func:`kkt.compile`, what CRBM's joint-space system is solved by, where velocities and gravity
    enter, and in which frames (4) is written.
    """
    check(integrator, seconds, eps, step, runs, state, most, floor, clock, frames)
    if isinstance(order, str):
        order, solver = order_of(order, solver)
    motion = Motion.of(tree, order, format, tau, solver=solver, bias=bias, frames=frames)
    y = starts(motion.start(q, qd), runs, seed, format).astype(state)
    method = method_of(integrator, motion, tree, eps, step, most, floor, clock)
    begin = time.perf_counter()
    records = method(motion.rates, y, seconds, motion.settle, tick)
    wall = time.perf_counter() - begin
    return Simulation(
        tree.graph.get("name") or "tree", motion.kernel.order, format, integrator, seconds,
        motion.operations, tuple(records), wall, drift(motion, records[0]),
        motion.doubt(some(records[0])),
    )  # fmt: skip


def order_of(text: str, solver: str | None = None) -> tuple[Any, str | None]:
    """An order by name, and its dense method, as in ``crbm+cholesky``."""
    name, plus, dense = text.partition("+")
    if plus and dense.strip() not in SOLVERS:
        raise kkt.OrderError(
            f"order {text!r}: there is no dense method {dense.strip()!r}; use {', '.join(SOLVERS)}"
        )
    return orderings.get(name.strip()), dense.strip() if plus else solver


def method_of(
    integrator: str, motion: Motion, tree: Any, eps: float, step: float, most: int, floor: float,
    clock: str | None = None,
) -> Any:  # fmt: skip
    if integrator == "cash_karp":
        return CashKarp(eps, step, most, floor, clock)
    if integrator == "midpoint":
        crbm = orderings.get("crbm")
        return Midpoint(motion, kkt.compile(tree, crbm, "float64", outputs=("inertia",)), step)
    return Scipy(integrator, eps, most)


def starts(y: Floats, runs: int, seed: int, format: str) -> Floats:
    """(runs, states): the start, and others about one roundoff of the format beside it."""
    if seed < 0:
        raise kkt.PivotreeError(f"option --seed: {seed} is no seed; give a whole number from 0 on")
    chosen = get_format(format)
    unit = float(getattr(chosen, "unit", 2.0**-53)) or 2.0**-53
    noise = np.random.default_rng(seed).normal(size=(runs, len(y)))
    noise[0] = 0.0
    return y + unit * noise * np.maximum(np.abs(y), 1.0)


def some(record: Record) -> Floats:
    """States along a run, as many as are looked at."""
    chosen = np.unique(np.linspace(0, len(record.t) - 1, ENERGIES).round().astype(int))
    return record.y[chosen]


def drift(motion: Motion, record: Record) -> float | None:
    """Largest change of energy less work, over the largest kinetic energy or energy at the start.

    None where the efforts' work is not known.
    """
    y = some(record)
    y = y[np.isfinite(y).all(1)]
    try:
        work = motion.work(y)
    except kkt.ModelError:
        return None
    energies = motion.energies(y)
    energy = energies.sum(1) - work
    scale = max(float(energies[:, 0].max()), 1e-300)
    return float(np.abs(energy - energy[0]).max() / scale)


def check(
    integrator: str, seconds: float, eps: float, step: float, runs: int, state: str,
    most: int = 1, floor: float = 1.0, clock: str | None = None, frames: str = "own",
) -> None:  # fmt: skip
    """One sentence for what cannot be."""
    if integrator not in INTEGRATORS:
        raise kkt.PivotreeError(
            f"integrator {integrator!r}: is unknown; use {', '.join(INTEGRATORS)}"
        )
    for name, value in (("seconds", seconds), ("eps", eps), ("step", step), ("floor", floor)):
        if not (np.isfinite(value) and value > 0.0):
            raise kkt.PivotreeError(f"option --{name}: is {value}; give a number above 0")
    for name, count in (("runs", runs), ("steps", most)):
        if count < 1:
            raise kkt.PivotreeError(f"option --{name}: is {count}; give 1 or more")
    if runs > MOST_RUNS:
        raise kkt.PivotreeError(f"option --runs: is {runs}; give 1 to {MOST_RUNS:,}")
    if integrator == "midpoint" and seconds / step > MOST_STEPS:
        raise kkt.PivotreeError(
            f"option --step: is {step:g}, more than {MOST_STEPS:,} steps in {seconds:g} s; give a "
            "longer one"
        )
    for name, number in (("state", state), ("clock", clock or state)):
        if number not in ("float64", "float32"):
            raise kkt.PivotreeError(f"option --{name}: is {number!r}; use float64 or float32")
    if frames not in FRAMES:
        raise kkt.PivotreeError(f"option --frames: is {frames!r}; use {' or '.join(FRAMES)}")
    if clock is not None and integrator != "cash_karp":
        raise kkt.PivotreeError(
            f"option --clock: is Cash-Karp's alone, and {integrator} has none; leave it out"
        )
