"""Table 1 as curves: evaluations against the ratio of the links, printed and ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from pivotree.analysis.figures import style_axes

from ..counted import MARKERS, ours, theirs
from ..paper import printed
from ..sheet import sheet


def growth(found: Sequence[Any], keys: dict[str, str], style: str) -> Figure:
    """Means and ranges of the ensembles; hollow marks are the paper's single runs.

    ``keys`` are the rows that the paper prints of an order.
    """
    said, drawn = printed("ascher1996")["table1"], set[str]()
    with sheet("double", 3.6, style) as (figure, look):
        ax: Any = figure.add_subplot()
        style_axes(ax, look, grid="both")
        for i, order in enumerate(found[0].single):
            key = keys.get(order, "")
            runs = [line.single[order] for line in found]
            name = order.replace("@world", ", world's frame")
            ours(ax, look, i, name, [line.r for line in found], runs)
            if key and key not in drawn:
                drawn.add(key)
                theirs(ax, look.ink, i, f"{key.upper()}, printed", said["r"], said[key])
        ax.set(xscale="log", yscale="log")
        ax.invert_xaxis()
        ax.set_xlabel("length of the base link, r", color=look.ink)
        ax.set_ylabel("evaluations for 10 s", color=look.ink)
        ax.legend(frameon=False, labelcolor=look.ink, fontsize=7)
    return figure


def turned(found: Any, names: dict[str, str], style: str) -> Figure:
    """Evaluations over kappa, frames along the axes (hollow, dashed) and turned (filled)."""
    with sheet("single", 3.7, style) as (figure, look):
        ax: Any = figure.add_subplot()
        style_axes(ax, look, grid="both")
        for i, order in enumerate(found.lines[0].level):
            name, colour, marker = names.get(order, order), look.series[i], MARKERS[i]
            for tilted in (False, True):
                times = [line.times(order, tilted) for line in found.lines]
                sound = [
                    (line.kappa, x * line.level["abm"].mean)
                    for line, x in zip(found.lines, times, strict=True)
                    if np.isfinite(x)
                ]
                lost = [line.kappa for line, x in zip(found.lines, times, strict=True) if not np.isfinite(x)]
                if sound:
                    ax.plot(
                        *zip(*sound, strict=True),
                        color=colour,
                        marker=marker,
                        markersize=4,
                        linewidth=1,
                        linestyle="-" if tilted else "--",
                        markerfacecolor=colour if tilted else "none",
                        label=f"{name}, {found.tilt:g}°" if tilted else None,
                    )
                ax.plot(
                    lost,
                    [0.97 if tilted else 0.93] * len(lost),
                    "x",
                    color=colour,
                    markersize=7,
                    transform=ax.get_xaxis_transform(),
                )
        ax.set(xscale="log", yscale="log")
        ax.margins(y=0.12)
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _power(x)))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel("largest condition number on the way", color=look.ink)
        ax.set_ylabel("evaluations for the motion", color=look.ink)
        legend = figure.legend(
            loc="outside upper center",
            ncols=2,
            frameon=False,
            labelcolor=look.ink,
            fontsize=7,
            title="dashed: frames along the axes; ×: most runs fail",
            title_fontsize=7,
        )
        legend.get_title().set_color(look.ink)
    return figure


def _power(x: float) -> str:
    exponent = int(np.floor(np.log10(x)))
    return rf"${x / 10.0**exponent:.0f}\cdot10^{{{exponent}}}$"
