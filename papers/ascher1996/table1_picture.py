"""Table 1 as curves: evaluations against the ratio of the links, printed and ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis.figures.style import new_figure, settings, style_axes, theme

from ..paper import printed


def growth(found: Sequence[Any], style: str) -> Figure:
    """Means and ranges of the ensembles; hollow marks are the paper's single runs."""
    look = theme(style=style)
    said = printed("ascher1996")["table1"]
    with settings():
        figure = new_figure("single", 3.0, look)
        figure.set_layout_engine("constrained")
        ax: Any = figure.add_subplot()
        style_axes(ax, look, grid="both")
        for i, (order, name, marker) in enumerate((("abm", "ABM", "o"), ("crbm", "CRBM", "s"))):
            colour = look.series[i]
            r = np.array([line.r for line in found])
            runs = [line.single[order] for line in found]
            mean = np.array([run.mean for run in runs])
            low = np.array([run.evaluations.min() for run in runs])
            high = np.array([run.evaluations.max() for run in runs])
            ax.errorbar(r, mean, (mean - low, high - mean), color=colour, marker=marker,
                        markersize=4, linewidth=1, capsize=2, label=f"{name}, ours")  # fmt: skip
            lost = np.array([run.failed >= len(run.records) / 2 for run in runs])
            ax.plot(r[lost], mean[lost], "x", color=colour, markersize=10, markeredgewidth=2)
            pairs = [(x, y) for x, y in zip(said["r"], said[order], strict=True)
                     if not isinstance(y, str)]  # fmt: skip
            ax.plot(*zip(*pairs, strict=True), marker, markerfacecolor="none",
                    markeredgecolor=colour, markersize=8, label=f"{name}, printed")  # fmt: skip
        ax.set(xscale="log", yscale="log")
        ax.invert_xaxis()
        ax.set_xlabel("length of the base link, r", color=look.ink)
        ax.set_ylabel("evaluations for 10 s", color=look.ink)
        ax.legend(frameon=False, labelcolor=look.ink, fontsize=7)
    return figure
