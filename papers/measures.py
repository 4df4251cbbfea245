"""What items of several papers measure: errors, condition numbers, curves, and what ensembles take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pivotree import kkt, orderings
from pivotree.analysis.simulation import Simulation

from .row import Value, value, within

Floats = NDArray[np.float64]


def error(exact: kkt.Certified, qdd: ArrayLike) -> float:
    """The relative error of qdd (N,); infinite where one of them is no finite number."""
    found = exact.error(np.asarray(qdd, dtype=float))
    return float("inf") if found is None else float(found)


def errors(system: kkt.System, orders: Mapping[str, Any], format: str = "float32") -> dict[str, float]:
    """The error of qdd by each order, or tape of it, for the model rounded to the format.

    Infinite where a pivot fails.
    """
    exact, found = kkt.certify(system, 20, rounded_to=format), {}
    for name, order in orders.items():
        result = kkt.eliminate(system, order, format, records=False)
        found[name] = float("inf") if result.failed_at is not None else error(exact, result.qdd)
    return found


def apart(x: NDArray[Any], y: NDArray[Any]) -> float:
    """The largest difference from y, over the largest of y."""
    return float(np.abs(x - y).max() / np.abs(y).max())


def condition(tree: Any, q: Floats) -> Floats:
    """(m,) 2-norm condition numbers of the joint-space inertia at q (m, n), by singular values."""
    inertia = kkt.compile(tree, orderings.get("crbm"), outputs=("inertia",))
    return np.linalg.cond(np.asarray(inertia(q, np.zeros_like(q), None)))


@dataclass(frozen=True)
class Curves:
    """Accelerations of one joint of an arm over m angles of another joint."""

    angles: Floats  # (m,) [rad]
    exact: Floats  # (m,) [rad/s^2]
    kappa: Floats  # (m,) 2-norm condition number of the joint-space inertia
    found: dict[str, Floats]  # method -> (m,) [rad/s^2]

    def error(self, method: str) -> Floats:
        """(m,) relative error."""
        return self.found[method] / self.exact - 1.0

    def rms(self, method: str) -> float:
        return float(np.sqrt(np.mean(self.error(method) ** 2)))

    def worst(self, method: str) -> float:
        return float(np.abs(self.error(method)).max())

    def roughness(self, method: str) -> float:
        """Total variation of the curve, the sum of |differences|, over that of the exact one."""
        ours, exact = (float(np.abs(np.diff(curve)).sum()) for curve in (self.found[method], self.exact))
        return ours / exact


def fails(run: Simulation) -> bool:
    """Whether half of an ensemble's runs fail, or more: then it counts as failed."""
    return run.failed >= len(run.records) / 2


def ended(run: Simulation) -> Floats:
    """Evaluations of the runs of an ensemble that reach the end; a run that fails has no count."""
    return np.array([r.evaluations for r in run.records if r.failed is None], dtype=float)


def spread(run: Simulation, abm: Simulation | None = None, decimals: int = 2) -> str:
    """Evaluations of an ensemble's runs that end, its failures, and how many times ABM's mean it takes."""
    text, counts = f"{len(run.records)} runs", ended(run)
    if run.failed:
        text += f", {run.failed} failed ({run.why})"
    if counts.size:
        text += f", {'the others ' if run.failed else ''}{counts.min():.0f} to {counts.max():.0f}"
        text += "" if abm is None else f", {counts.mean() / abm.mean:.{decimals}f} times ABM's"
    return text


def counted(run: Simulation, share: float, none: str, unknown: str, **words: Any) -> Value:
    """The row of an ensemble's evaluations beside a printed count, or "fail".

    ``unknown`` is why a row may be missed.
    """
    lost, theirs = fails(run), words["printed"]
    no_count, mean = isinstance(theirs, str), np.nan if lost else float(ended(run).mean())
    holds = lost if no_count or none else not lost and within(theirs, mean, share)
    if not holds and not none and unknown:
        words["why"] += f"; {unknown}"
    row, ours = "count_fails" if no_count and not none else "count", "fail" if lost else round(mean)
    return value(row, ours, bool(holds), none=none, share=f"{share:.0%}", **words)
