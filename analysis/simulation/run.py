"""Integrate a tree's motion by several orders and formats, from ensembles of starts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.model.tree import require_graph
from pivotree.kkt.program.joint_space import SOLVERS

from ..states.manifold import Manifold, begun
from .cash_karp import Tick
from .integration import Integration
from .motion import Floats, Motion, Record

USUAL = Integration()
LEFT = ("loop_gap", "loop_rate")  # largest along a run [rad or m, per s]
MOST_RUNS = 100_000  # runs whose records fit into memory
ENERGIES = 200  # states of a run at which energy and accelerations are checked


@dataclass(frozen=True)
class Simulation:
    """One order in one format: an ensemble of runs of the same motion.

    >>> from pivotree.analysis.simulation import Integration, simulate
    >>> swing = simulate(pt.chain(2), "crbm", integration=Integration(seconds=0.2, eps=1e-8))
    >>> swing.order, swing.drift < 1e-6, swing.doubt
    ('crbm', True, None)
    """

    model: str
    order: str
    format: str
    integrator: str
    seconds: float  # [s] asked for
    operations: int  # of one evaluation
    records: tuple[Record, ...]
    wall: float  # [s] that it took
    drift: float | None  # largest change of energy less work, over the largest kinetic
    doubt: str | None = None  # where accelerations of the first run do not hold, and why
    left: tuple[float, float] | None = None  # of loops: largest gap [rad, m] and rate of it [/s]
    kept: bool = True  # False where the start breaks its loops, and the motion goes on so

    def __repr__(self) -> str:
        """One line; the states of a run are in its records."""
        runs = "1 run" if len(self.records) == 1 else f"{len(self.records)} runs"
        failed = f", {self.failed} failed" if self.failed else ""
        return (
            f"<Simulation of {self.model}: {self.order} in {self.format}, {self.seconds:g} s by "
            f"{self.integrator}, {runs} of {self.mean:,.0f} evaluations{failed}>"
        )

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
        loops: dict[str, Any] = {}
        if self.left is not None:
            loops = dict(zip(LEFT, self.left, strict=True)) | {"kept": self.kept}
        return {
            "order": self.order,
            "format": self.format,
            "integrator": self.integrator,
            "evaluations": self.mean,
            "spread": self.spread,
            "runs": len(self.records),
            "failed": self.failed,
            "operations": self.operations,
            "accepted": float(np.mean([record.accepted for record in self.records])),
            "rejected": float(np.mean([record.rejected for record in self.records])),
            "energy_drift": self.drift,
            "seconds": self.wall,
            "why": self.why,
            "doubt": self.doubt,
            **loops,
        }


def simulate(
    tree: Any,
    order: Any = "abm",
    format: str = "float64",
    integration: Integration = USUAL,
    *,
    runs: int = 1,
    seed: int = 0,
    q: Any = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    project: bool = False,
    manifold: Manifold | None = None,
    tick: Tick = lambda t: None,
    **compiled: Any,
) -> Simulation:
    """Integrate a motion, accelerations by an order in a number format.

    ``runs`` above 1 perturb the start by about one unit of the format's roundoff, since counts are
    chaotic.  An order's name may carry a dense method, ``crbm+cholesky``: ``solver``, ``bias`` and
    ``frames`` are those of :func:`kkt.compile`, what CRBM's joint-space system is solved by, where
    velocities and gravity enter, and in which frames (4) is written.  A tree with closed loops
    and contacts is kept on its manifold (:mod:`analysis.states.manifold`); ``project`` starts
    from the nearest state that keeps them.  Without it a start that breaks them is warned about
    (LoopWarning), and the motion stays beside them.  ``manifold`` is given with a tree of
    :func:`begun`.  Raises ModelError, one sentence, for loops that cannot be closed and rows that
    follow from others.

    >>> from pivotree.analysis.simulation import Integration, simulate
    >>> swing = simulate(pt.chain(3), "abm", "float32", Integration(seconds=0.2))
    >>> round(float(swing.records[0].t[-1]), 6), swing.records[0].failed
    (0.2, None)
    """
    require_graph(tree)
    if isinstance(order, str):
        order, solver = order_of(order, compiled.get("solver"))
        compiled |= {"solver": solver}
    if manifold is None and tree.graph.get("loops"):
        tree, manifold = begun(tree, q, qd, project)
        q = qd = None
    motion = Motion.of(tree, order, format, tau, manifold, **compiled)
    return side_by_side([motion], [motion.start(q, qd)], format, integration, runs, seed, tick)[0]


def side_by_side(
    motions: list[Motion],
    begun: list[Floats],
    format: str,
    integration: Integration,
    runs: int,
    seed: int = 0,
    tick: Tick = lambda t: None,
) -> list[Simulation]:
    """Motions of one tree in one batch, each with its start; several by Cash-Karp alone.

    >>> from pivotree.analysis.simulation import Integration, Motion, side_by_side
    >>> swings = [Motion.of(pt.chain(2), pt.orderings.get(order)) for order in ("abm", "crbm")]
    >>> begun = [swing.start() for swing in swings]
    >>> [swing.order for swing in side_by_side(swings, begun, "float64", Integration(0.2), runs=3)]
    ['abm', 'crbm']
    """
    integration.check()
    require_runs(runs)
    if motions[1:] and integration.integrator != "cash_karp":
        raise kkt.PivotreeError("integrator", f"{integration.integrator} takes one motion", "use cash_karp")
    y = np.concatenate([starts(at, runs, seed, format) for at in begun]).astype(integration.state)
    rates, settle = [motion.rates for motion in motions], motions[0].settle
    method, begin = integration.method(motions[0]), time.perf_counter()
    records = method(rates if rates[1:] else rates[0], y, integration.seconds, settle, tick)
    wall = (time.perf_counter() - begin) / len(motions)
    return [
        Simulation(
            motion.graph.graph.get("name") or "tree",
            motion.kernel.order,
            format,
            integration.integrator,
            integration.seconds,
            motion.operations,
            tuple(own := records[i * runs : (i + 1) * runs]),
            wall,
            drift(motion, own[0]),
            motion.doubt(some(own[0])),
            left(motion, own[0]),
            motion.manifold is None or motion.manifold.kept,
        )
        for i, motion in enumerate(motions)
    ]


def order_of(text: str, solver: str | None = None) -> tuple[Any, str | None]:
    """An order by name, and its dense method, as in ``crbm+cholesky``."""
    name, plus, dense = text.partition("+")
    if plus and dense.strip() not in SOLVERS:
        raise kkt.OrderError(
            f"order {text!r}", f"there is no dense method {dense.strip()!r}", f"use {', '.join(SOLVERS)}"
        )
    return orderings.get(name.strip()), dense.strip() if plus else solver


def starts(y: Floats, runs: int, seed: int, format: str) -> Floats:
    """(runs, states): the start, and others about one roundoff of the format beside it."""
    if seed < 0:
        raise kkt.PivotreeError("option --seed", f"{seed} is no seed", "give a whole number from 0 on")
    unit = float(getattr(get_format(format), "unit", 2.0**-53)) or 2.0**-53
    noise = np.random.default_rng(seed).normal(size=(runs, len(y)))
    noise[0] = 0.0
    return y + unit * noise * np.maximum(np.abs(y), 1.0)


def some(record: Record) -> Floats:
    """ENERGIES states of a run, evenly among its steps, or all if they are fewer."""
    return record.y[np.unique(np.linspace(0, len(record.t) - 1, ENERGIES).round().astype(int))]


def left(motion: Motion, record: Record) -> tuple[float, float] | None:
    """The largest gap [rad or m] and rate [per s] of hard rows along a run; None without any."""
    if motion.manifold is None or not motion.manifold.loops:
        return None
    y = some(record)
    found = motion.manifold.left(y[np.isfinite(y).all(1)])
    return float(found[:, 0].max()), float(found[:, 1].max())


def drift(motion: Motion, record: Record) -> float | None:
    """Largest change of energy less work along a run, over the run's largest kinetic energy.

    Damping does work, too.  None where the work of efforts or external wrenches is not known, or that
    of rows which yield or are not kept.
    """
    if motion.manifold is not None and (motion.manifold.yields or not motion.manifold.kept):
        return None
    sound = np.isfinite(record.y).all(1)
    whole = replace(record, t=record.t[sound], y=record.y[sound])
    y, lost = some(whole), some(replace(whole, y=motion.lost(whole.t, whole.y)))
    try:
        work = motion.work(y) - lost
    except kkt.ModelError:
        return None
    energies = motion.energies(y)
    energy = energies.sum(1) - work
    scale = max(float(energies[:, 0].max()), 1e-300)
    return float(np.abs(energy - energy[0]).max() / scale)


def require_runs(runs: int) -> None:
    """Raise PivotreeError for less than one run, or more than MOST_RUNS."""
    if isinstance(runs, bool) or not (isinstance(runs, Integral) and 1 <= runs <= MOST_RUNS):
        raise kkt.PivotreeError("option --runs", f"is {runs}", f"give 1 to {MOST_RUNS:,}")


ALIKE = 1.1  # ratios of evaluations that are no difference


def verdict(found: Sequence[Simulation]) -> str:
    """Whether the cheapest evaluation is the cheapest motion, format by format."""
    sentences = []
    for format in dict.fromkeys(s.format for s in found):
        here = [s for s in found if s.format == format]
        sentences.append(_compared(format, here))
        sentences += [f"{s.order}'s accelerations do not hold at {s.doubt}." for s in here if s.doubt]
    return " ".join(sentences)


def _compared(format: str, here: list[Simulation]) -> str:
    sound = [s for s in here if not s.failed]
    lost = "; ".join(f"{s.order} gives up ({s.why})" for s in here if s.failed)
    if not sound:
        return f"In {format} no order reaches the end: {lost}."
    best, cheap = min(sound, key=_work), min(here, key=lambda s: s.operations)
    if len(here) == 1:
        took = f"{best.mean:,.0f} evaluations for {best.seconds:g} s, {_work(best):.2g} operations"
        return f"In {format} {best.order} takes {took}."
    text = f"{best.order} does it with the fewest operations"
    if best is cheap and sound[1:]:
        text += _beside(best, min((s for s in sound if s is not best), key=_work))
    elif best is not cheap and not cheap.failed and _work(cheap) < ALIKE * _work(best):
        text = f"{cheap.order} and {best.order} cost the same, {_work(best):.2g} operations"
    elif best is not cheap and not cheap.failed:
        text = (
            f"{cheap.order} is cheaper by the evaluation ({cheap.operations:,} operations, {best.order} "
            f"{best.operations:,}), but takes {cheap.mean / best.mean:.2f} times as many: "
            f"{_work(cheap) / _work(best):.2f} times the operations in all"
        )
    return f"In {format} {text}{'; ' + lost if lost else ''}."


def _beside(best: Simulation, other: Simulation) -> str:
    """What the best takes, and how much more the next best does."""
    ratio = other.mean / best.mean
    how = "as many" if 1 / ALIKE < ratio < ALIKE else f"{ratio:.2f} times as many"
    took = f"{_work(other):.2g} operations"
    if _work(best):  # a body that turns about its axis of symmetry takes none
        took = f"{_work(other) / _work(best):.2f} times the operations"
    return f": {_work(best):.2g}; {other.order} takes {how} evaluations and {took}"


def _work(s: Simulation) -> float:
    return s.mean * s.operations
