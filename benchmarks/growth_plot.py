"""The picture of cost against the number of bodies, which docs/benchmarks.md has on the site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from pivotree.analysis.figures import MARKERS, new_figure, settings, style_axes, theme

ROOT = Path(__file__).parent.parent
PANELS = {
    "time": (1e3, "time of one solution [ms]"),
    "memory": (2.0**-20, "memory of arrays [MiB]"),
    "fill": (1.0, "fill [blocks]"),
}
STARTS = ("ABM, chain", "ABM, random", "CHOLMOD", "SuperLU", "CRBM")  # one look each, everywhere
OPEN = 1  # a marker that shows what is under it
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def draw(curves: list[dict[str, Any]], style: str) -> Figure:
    """Time, memory and fill over n, every curve with its fitted exponent."""
    look = theme(style=style)
    figure = new_figure("double", 3.6, look)
    figure.set_layout_engine("constrained")
    axes = figure.subplots(1, len(PANELS), width_ratios=(1.5, 1, 1))
    for axis, (of, (unit, label)) in zip(axes, PANELS.items(), strict=True):
        style_axes(axis, look, grid="both")
        for curve in (c for c in curves if c["of"] == of):
            k = next(k for k, start in enumerate(STARTS) if curve["name"].startswith(start))
            name = curve["name"].replace("L D L^T", "$LDL^T$").removesuffix(", chain")
            axis.loglog(
                curve["n"],
                [unit * cost for cost in curve["cost"]],
                color=look.series[k],
                marker=MARKERS[k],
                markersize=5.5 if k == OPEN else 3.5,
                linewidth=1.2,
                linestyle=DASHES[k],
                fillstyle="none" if k == OPEN else "full",
                label=f"{name}: $n^{{{curve['exponent']:.2f}}}$",
            )
        axis.set_title(label, color=look.ink, loc="left", fontsize=8)
        axis.set_xlabel("bodies n", color=look.ink)
        axis.set_xlim(60, None)
        axis.legend(
            frameon=False,
            labelcolor=look.ink,
            fontsize=6.5,
            loc="upper left",
            bbox_to_anchor=(-0.02, -0.2),
            borderaxespad=0.0,
            handlelength=3.0,
        )
    return figure


def figure(style: str) -> Figure:
    """Of the newest results that are kept."""
    path = max((ROOT / "benchmarks" / "results").glob("table-2*.json"))
    with settings():
        return draw(json.loads(path.read_text(encoding="utf-8"))["curves"], style)
