"""Figures 5.6, 5.8 and 5.10: what the integrator and the energy tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis.figures.style import new_figure, settings, style_axes, theme

from ..paper import printed


def stiffness(found: Sequence[Any], style: str) -> Figure:
    """Evaluations over the ratio of the links; hollow marks are printed."""
    look = theme(style=style)
    said = printed("cloutier1995")["figure56"]
    with settings():
        figure = new_figure("double", 3.4, look)
        figure.set_layout_engine("constrained")
        ax: Any = figure.add_subplot()
        style_axes(ax, look, grid="both")
        ratios = np.array([line.ratio for line in found])
        marks = zip(("ABM", "CRBM", "CRBM, LU"), "os^", ("-", "--", ":"), strict=True)
        for i, (method, marker, dash) in enumerate(marks):
            colour, mean = look.series[i], np.array([line.runs[method].mean for line in found])
            ax.plot(ratios, mean, marker, linestyle=dash, color=colour, markersize=4,
                    linewidth=1.2, label=f"{method}, ours")  # fmt: skip
            lost = np.array([line.failed(method) for line in found])
            ax.plot(ratios[lost], mean[lost], "x", color=colour, markersize=11, markeredgewidth=2)
            theirs = said.get(method.lower(), [])
            pairs = [(x, y) for x, y in zip(said["ratio"], theirs, strict=False)
                     if not isinstance(y, str)]  # fmt: skip
            if pairs:
                ax.plot(*zip(*pairs, strict=True), marker, markerfacecolor="none",
                        markeredgecolor=colour, markersize=8, label=f"{method}, printed")  # fmt: skip
        ax.set(xscale="log", yscale="log")
        ax.invert_xaxis()
        ax.set_xlabel(r"ratio of the links, $l_1 / (l_1 + l_2)$", color=look.ink)
        ax.set_ylabel("evaluations for 10 s", color=look.ink)
        ax.legend(frameon=False, labelcolor=look.ink, fontsize=7)
    return figure
