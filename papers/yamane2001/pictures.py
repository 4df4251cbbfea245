"""Pictures of Yamane & Nakamura 2001: cost against degrees of freedom, in the paper's lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pivotree.analysis.figures import new_figure, settings, theme

from ..sheet import DASHES, legend, named, panels, sheet
from .growth import FOLDED, WHOLE, Growth

LINES: dict[str, tuple[str, Any, str]] = {  # label, dashes, marker
    "virtual_work": ("virtual work", "-", "o"),
    WHOLE: ("unit vectors, whole runs", (0, (5, 2)), "s"),
    FOLDED: ("unit vectors, zeros folded", (0, (2, 1.5)), "D"),
    "virtual_work_split": ("virtual work, split links", (0, (6, 2, 1, 2)), "v"),
    "abm": ("ABM", (0, (1, 1)), "^"),
}


def curves(found: Growth, methods: Sequence[str], style: str) -> Figure:
    """Solid: virtual work; dashed: unit vectors; dash-dotted: split links, as in the paper."""
    with panels(style, "double", 3.0) as (figure, ax, look):
        top = 0.0
        for i, method in enumerate(methods):
            label, dash, marker = LINES[method]
            if method == "virtual_work" and "virtual_work_split" in methods:
                label = "virtual work, whole links"
            y = [total / 1000 for total in found.total(method)]
            top = max(top, *y)
            mark = {"linestyle": dash, "linewidth": 1.4, "marker": marker, "markersize": 4}
            ax.plot(found.dof, y, color=look.series[i], label=label, **mark)
        ax.set(xlim=(0, found.dof[-1] + 1), ylim=(0, 1.03 * top))
        x = f"degrees of freedom ({found.n[0]} to {found.n[-1]} {found.variable})"
        named(ax, look, x, "operations [thousand]")
        ax.legend(frameon=False, labelcolor=look.ink, loc="upper left", handlelength=3.4)
    return figure


def depths(sizes: Sequence[int], drawn: Mapping[str, Mapping[str, Sequence[float]]], style: str) -> Figure:
    """One panel a quantity, orders against links, heights on a logarithmic axis."""
    dashes = (*DASHES, (0, (3, 1)))
    with panels(style, "double", 2.7, 1, len(drawn)) as (figure, axes, look):
        for ax, (what, orders) in zip(axes, drawn.items(), strict=True):
            for i, (order, y) in enumerate(orders.items()):
                mark = {"linestyle": dashes[i], "linewidth": 1.4, "marker": "os^vD"[i], "markersize": 4}
                ax.plot(sizes, y, color=look.series[i], label=order.replace("_", " "), **mark)
            ax.set_xscale("log")
            most, least = (pick(map(pick, orders.values())) for pick in (max, min))
            if most > 20 * least:
                ax.set_yscale("log")
            else:
                ax.set_ylim(0, None)
            ax.set_xticks(sizes, [str(n) for n in sizes])
            ax.minorticks_off()
            named(ax, look, "links", title=what)
        legend(axes[0], look, handlelength=3.2)
    return figure


def patterns(drawn: Mapping[str, tuple[Any, Any]], style: str) -> Figure:
    """S: filled squares where joints share a link, plus signs where elimination fills in."""
    with sheet("double", 3.5, style) as (figure, look):
        axes = figure.subplots(1, len(drawn))
        for ax, (title, (S, fill)) in zip(axes, drawn.items(), strict=True):
            ax.set_facecolor(look.page)
            n = len(S)
            size = 165.0 / n  # points: three quarters of a cell
            for marks, marker, colour in ((S, "s", look.entry_strong), (fill, "P", look.fill)):
                i, j = marks.nonzero()
                ax.scatter(j, i, s=size**2, marker=marker, color=colour, linewidths=0)
            ax.set(xlim=(-0.6, n - 0.4), ylim=(n - 0.4, -0.6), aspect="equal", xticks=[], yticks=[])
            named(ax, look, title=title)
            for spine in ax.spines.values():
                spine.set_color(look.ink)
                spine.set_linewidth(0.6)
    return figure


def snapshots(found: Mapping[str, Any], style: str) -> Figure:
    """A row of pictures a robot, seen along y; a dot is a joint, the cross the ground."""
    look = theme(style=style)
    across = max(len(one.times) for one in found.values())
    boxes = []
    for one in found.values():
        points = np.concatenate([ends for lines in one.lines for ends in lines])[:, ::2]
        boxes.append((points.min(axis=0) - 0.05, points.max(axis=0) + 0.05))
    heights = [1.1 * (high - low)[1] / (high - low)[0] for low, high in boxes]  # [in]
    with settings():
        tall = sum(heights) + 0.3 * len(found)
        figure = new_figure("double", tall, look)
        axes = figure.subplots(len(found), across, squeeze=False, height_ratios=heights)
        edges = {"left": 0.04, "right": 0.995, "bottom": 0.02, "top": 1 - 0.2 / tall}
        figure.subplots_adjust(**edges, wspace=0.03, hspace=0.3)
        for row, (name, one), (low, high) in zip(axes, found.items(), boxes, strict=True):
            for ax, time, lines in zip(row, one.times, one.lines, strict=True):
                for ends in lines:
                    rod = {"color": look.series[0], "linewidth": 1.6, "solid_capstyle": "round"}
                    ax.plot(ends[:, 0], ends[:, 2], **rod)
                for ends in lines[1:]:
                    ax.plot(ends[0, 0], ends[0, 2], "o", color=look.ink, markersize=2.0)
                ax.plot(*lines[0][0, ::2], "x", color=look.ink, markersize=5)
                ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
                ax.set_axis_off()
                named(ax, look, title=f"{time:.2f} s", fontsize=7.5, pad=3)
            place = row[0].get_position()
            middle: dict[str, Any] = {"va": "center", "ha": "center", "color": look.ink, "fontsize": 8.5}
            figure.text(0.015, (place.y0 + place.y1) / 2, name, rotation=90, **middle)
    return figure
