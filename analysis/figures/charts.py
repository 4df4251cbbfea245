"""Digits kept and work done, from the rows of a comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from .chart import DASHED, chart, limits, log_ticks, series
from .labels import place_labels
from .style import SMALL, Theme, settings, theme
from .units import capacity_of

Rows = Iterable[Mapping[str, Any]]


def error_bars(
    rows: Rows, *, width: str = "double", title: str | None = None, style: str | Theme | None = None
) -> Figure:
    """Digits kept by each order, one marker a number format, best order of the first format first.

    ``rows`` have the keys order, format, error, digits of ``compare --json``; error None is a
    failed elimination, drawn as a cross at zero digits, and one that is ``marked`` has a star.

    >>> from pivotree.analysis.figures import error_bars
    >>> table = pt.compare(pt.build(pt.chain(5)), ["abm", "crbm"], ["float32"])
    >>> figure = error_bars([row.as_dict() for row in table.rows])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['ABM', 'CRBM']
    """
    rows, look = list(rows), theme(style=style)
    formats = list(dict.fromkeys(row["format"] for row in rows))
    kept = {(row["order"], row["format"]): _digits(row) for row in rows}
    marked = {(row["order"], row["format"]) for row in rows if row.get("marked")}
    orders = sorted(
        dict.fromkeys(row["order"] for row in rows),
        key=lambda order: [-_or(kept.get((order, f)), -1.0) for f in formats],
    )
    capacity = {f: full for f in formats if (full := capacity_of(f)) is not None}
    most = max([1.0, *(d for d in kept.values() if d is not None), *capacity.values()])
    near = (0.07 if width == "double" else 0.15) * most  # that a number takes
    with chart(look, width, 0.9 + 0.2 * max(len(orders), 2), title, grid="x") as drawn:
        (ax,) = drawn.axes
        ax.set(xlim=(0, most * 1.08), ylim=(len(orders) - 0.5, -0.5))
        for i, format in enumerate(formats):
            point = {**series(look, i), "markersize": 5.5}
            drawn.note(format, **point)
            if format in capacity:
                ax.axvline(capacity[format], color=point["color"], linewidth=0.8, linestyle=DASHED)
            for y, order in enumerate(orders):
                if (order, format) not in kept:
                    continue
                if (digits := kept[order, format]) is None:
                    ax.plot(0.02 * most * i, y, "x", color=point["color"], markersize=6, clip_on=False)
                else:
                    ax.plot(digits, y, clip_on=False, **point)
                    # a number stands where no line of a format runs through it
                    ahead = any(0 <= full - digits < near for full in capacity.values())
                    _number(ax, f"{digits:.1f}{'*' * ((order, format) in marked)}", digits, y, ahead, look)
        for y in range(len(orders)):
            ax.axhline(y, color=look.faint, linewidth=0.4, alpha=0.5, zorder=0)
        ax.set_yticks(range(len(orders)), [look.named(order) for order in orders])
        ax.set_xlabel("correct decimal digits" + " of the joint accelerations" * (width == "double"))
        if capacity:
            drawn.note("all that the format holds", color=look.ink, linewidth=0.8, linestyle=DASHED)
        drawn.poor("failed" * (None in kept.values()), bool(marked))
    return drawn.figure


def _number(ax: Any, text: str, digits: float, y: float, left: bool, look: Theme) -> None:
    """Digits beside their point, at its left or at its right."""
    ax.annotate(
        text,
        (digits, y),
        (-5 if left else 5, 0),
        textcoords="offset points",
        fontsize=SMALL,
        va="center",
        ha="right" if left else "left",
        color=look.ink,
        path_effects=[withStroke(linewidth=2, foreground=look.page)],
    )


def fill_cost(
    rows: Rows, *, width: str = "double", title: str | None = None, style: str | Theme | None = None
) -> Figure:
    """Blocks of fill against scalar operations, one point an order; the fewer, the lower left.

    ``rows`` have the keys order, fill_blocks, flops; rows without them (refused orders) are left
    out.  Orders that share a point share its label.

    >>> from pivotree.analysis.figures import fill_cost
    >>> table = pt.compare(pt.build(pt.chain(5)), ["abm", "crbm"], ["float32"])
    >>> figure = fill_cost([row.as_dict() for row in table.rows])
    >>> figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()
    ('blocks of fill', 'operations (additions, multiplications, divisions)')
    """
    look = theme(style=style)
    at: dict[tuple[int, int], list[str]] = {}
    for row in rows:
        if row.get("fill_blocks") is None or row.get("flops") is None:
            continue
        names = at.setdefault((int(row["fill_blocks"]), int(row["flops"])), [])
        if row["order"] not in names:
            names.append(row["order"])
    with chart(look, width, 2.9 if width == "single" else 3.8, title, grid="both") as drawn:
        (ax,) = drawn.axes
        ax.set_xlabel("operations (additions, multiplications, divisions)")
        ax.set_ylabel("blocks of fill")
        if at:
            fill, flops = [f for f, _ in at], [o for _, o in at]
            ax.plot(flops, fill, "o", color=look.series[0], markersize=5.5)
            # a chain of one body has no fill, and a logarithm no zero
            scale, around = (
                ("log", limits(fill)) if min(fill) > 0 else ("symlog", (-0.5, 3.0 * max(fill) + 1))
            )
            ax.set(xscale="log", xlim=limits(flops), yscale=scale, ylim=around)
            for axis in (ax.xaxis, ax.yaxis):
                log_ticks(axis)
    if at:
        with settings(look.font):
            drawn.figure.draw_without_rendering()  # the layout decides where points are
            drawn.figure.set_layout_engine("none")
            place_labels(ax, *_merge(ax, at, look), look.ink, 7.5)
    return drawn.figure


def _merge(
    ax: Any, at: dict[tuple[int, int], list[str]], look: Theme
) -> tuple[list[float], list[float], list[str]]:
    """Points whose dots touch share a label: operations, fill, names."""
    touching = 5.5 * ax.figure.dpi / 72
    left = [(flops, fill, names) for (fill, flops), names in at.items()]
    x, y, texts = [], [], []
    while left:
        here = ax.transData.transform(left[0][:2])
        near = [p for p in left if np.hypot(*(ax.transData.transform(p[:2]) - here)) < touching]
        left = [p for p in left if p not in near]
        names = [look.named(name) for p in near for name in p[2]]
        x.append(float(np.exp(np.mean([np.log(p[0]) for p in near]))))
        y.append(float(np.mean([p[1] for p in near])))
        lines = [", ".join(names[i : i + 2]) for i in range(0, len(names), 2)]
        texts.append(",\n".join(lines))
    return x, y, texts


def _digits(row: Mapping[str, Any]) -> float | None:
    """Digits of a row, from its error where they are not given; None where it failed."""
    error = row.get("error")
    if error is None:
        return None
    if row.get("digits") is not None:
        return float(row["digits"])
    if error > 0:
        return max(0.0, -math.log10(error))
    return _or(capacity_of(row["format"]), 30.0)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
