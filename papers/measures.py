"""What items of several papers measure: errors, condition numbers, and what ensembles take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pivotree import kkt, orderings
from pivotree.analysis.simulation import Simulation


def error(exact: kkt.Certified, qdd: ArrayLike) -> float:
    """The relative error of qdd (N,); infinite where one of them is no finite number."""
    found = exact.error(np.asarray(qdd, dtype=float))
    return float("inf") if found is None else float(found)


def eliminated(exact: kkt.Certified, system: kkt.System, order: Any, format: str = "float32") -> float:
    """The error of an order's elimination, or of its tape's; infinite where a pivot fails."""
    result = kkt.eliminate(system, order, format, records=False)
    return float("inf") if result.failed_at is not None else error(exact, result.qdd)


def apart(x: NDArray[Any], y: NDArray[Any]) -> float:
    """The largest difference from y, over the largest of y."""
    return float(np.abs(x - y).max() / np.abs(y).max())


def condition(tree: Any, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) 2-norm condition numbers of the joint-space inertia at q (m, n), by singular values."""
    inertia = kkt.compile(tree, orderings.get("crbm"), outputs=("inertia",))
    return np.linalg.cond(np.asarray(inertia(q, np.zeros_like(q), None)))


def variation(curve: NDArray[np.float64]) -> float:
    """The sum of |differences| from point to point."""
    return float(np.abs(np.diff(curve)).sum())


def spread(run: Simulation, abm: Simulation | None = None, decimals: int = 2) -> str:
    """Evaluations of an ensemble, its failures, and how many times ABM's mean it takes."""
    text = f"{len(run.records)} runs, {run.evaluations.min():.0f} to {run.evaluations.max():.0f}"
    if run.failed:
        text += f", {run.failed} failed ({run.why})"
    return text if abm is None else f"{text}, {run.mean / abm.mean:.{decimals}f} times ABM's"
