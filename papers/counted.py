"""Charts of evaluations: ours as means of ensembles with their range, printed counts hollow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pivotree.analysis.figures import Theme
from pivotree.analysis.simulation import Simulation

from .measures import fails

MARKERS = "os^Dv"


def ours(ax: Any, look: Theme, i: int, label: str, x: Sequence[float], runs: Sequence[Simulation]) -> None:
    """Line i of a chart over x: means, and bars to the fewest and the most.

    Where half of the runs fail or more, a cross alone, at the most that one took until then.
    """
    low, high = (np.array([end(run.evaluations) for run in runs]) for end in (np.min, np.max))
    lost = np.array([fails(run) for run in runs])
    mean = np.where(lost, np.nan, [run.mean for run in runs])
    colour = look.series[i]
    ax.errorbar(
        x,
        mean,
        (mean - low, high - mean),
        color=colour,
        marker=MARKERS[i],
        markersize=4,
        linestyle=("-", "--", "-.", ":", (0, (4, 1)))[i],
        linewidth=1,
        capsize=2,
        label=label,
    )
    ax.plot(np.array(x)[lost], high[lost], "x", color=colour, markersize=10, markeredgewidth=2)


def theirs(ax: Any, colour: str, i: int, label: str, x: Iterable[float], counts: Any) -> None:
    """Printed counts as hollow marks of line i; texts, such as "fail", are left out."""
    pairs = [(at, y) for at, y in zip(x, counts, strict=False) if not isinstance(y, str)]
    if pairs:
        ax.plot(
            *zip(*pairs, strict=True),
            MARKERS[i],
            markerfacecolor="none",
            markeredgecolor=colour,
            markersize=8,
            linestyle="none",
            label=label,
        )
