"""Digits kept and work done, from the rows of a comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from .labels import place_labels
from .style import (
    MARKERS,
    SMALL,
    TEXT,
    WIDTHS,
    Theme,
    new_figure,
    plain,
    settings,
    style_axes,
    theme,
    wrapped,
)
from .units import capacity_of

Rows = Iterable[Mapping[str, Any]]


def error_bars(
    rows: Rows,
    *,
    dark: bool = False,
    width: str = "double",
    title: str | None = None,
    style: str | Theme | None = None,
) -> Figure:
    """Digits kept by each order, one marker a number format, best order of the first format first.

    ``rows`` have the keys order, format, error, digits of ``compare --json``; error None is a
    failed elimination, drawn as a cross at zero digits, and one that is ``marked`` has a star.

    >>> from pivotree.analysis.figures import error_bars
    >>> table = pt.compare(pt.build(pt.chain(5)), ["abm", "crbm"], ["float32"])
    >>> figure = error_bars([row.as_dict() for row in table.rows])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['abm', 'crbm']
    """
    rows, look = list(rows), theme(dark, style)
    formats = list(dict.fromkeys(row["format"] for row in rows))
    kept = {(row["order"], row["format"]): _digits(row) for row in rows}
    marked = {(row["order"], row["format"]) for row in rows if row.get("marked")}
    orders = sorted(
        dict.fromkeys(row["order"] for row in rows),
        key=lambda order: [-_or(kept.get((order, f)), -1.0) for f in formats],
    )
    most = max([1.0, *(d for d in kept.values() if d is not None)])
    capacity = {f: full for f in formats if (full := capacity_of(f)) is not None}
    most = max([most, *capacity.values()])
    near = 0.07 if width == "double" else 0.15  # share of the axis that a number takes
    with settings(look.font):
        figure = new_figure(width, 1.15 + 0.2 * max(len(orders), 2) + 0.25 * bool(title), look)
        figure.set_layout_engine("constrained")
        ax = figure.add_subplot()
        style_axes(ax, look, grid="x")
        failed = False
        for i, format in enumerate(formats):
            colour, marker = look.series[i % len(look.series)], MARKERS[i % len(MARKERS)]
            if format in capacity:
                ax.axvline(capacity[format], color=colour, linewidth=0.8, linestyle=(0, (4, 3)))
            for y, order in enumerate(orders):
                if (order, format) not in kept:
                    continue
                digits = kept[order, format]
                if digits is None:
                    failed = True
                    ax.plot(0.0 + 0.02 * most * i, y, "x", color=colour, markersize=6, clip_on=False)
                    continue
                ax.plot(digits, y, marker, color=colour, markersize=5.5, clip_on=False)
                # a number stands where no line of a format runs through it
                ahead = any(0 <= full - digits < near * most for full in capacity.values())
                ax.annotate(
                    f"{digits:.1f}{'*' if (order, format) in marked else ''}",
                    (digits, y),
                    (-5 if ahead else 5, 0),
                    textcoords="offset points",
                    fontsize=SMALL,
                    va="center",
                    ha="right" if ahead else "left",
                    color=look.ink,
                    path_effects=[withStroke(linewidth=2, foreground=look.page)],
                )
        for y in range(len(orders)):
            ax.axhline(y, color=look.faint, linewidth=0.4, alpha=0.5, zorder=0)
        ax.set(xlim=(0, most * 1.08), ylim=(len(orders) - 0.5, -0.5))
        ax.set_yticks(range(len(orders)), list(map(plain, orders)))
        what = "correct decimal digits"
        if width == "double":
            what += " of the joint accelerations"
        ax.set_xlabel(what, color=look.ink)
        _title(ax, title, look.ink)
        handles = [
            Line2D(
                [],
                [],
                linestyle="",
                marker=MARKERS[i % len(MARKERS)],
                markersize=5.5,
                color=look.series[i % len(look.series)],
                label=format,
            )
            for i, format in enumerate(formats)
        ]
        if capacity:
            line: dict[str, Any] = {"color": look.ink, "linewidth": 0.8, "linestyle": (0, (4, 3))}
            handles.append(Line2D([], [], label="all that the format holds", **line))
        handles += poor(look.ink, "failed" * failed, bool(marked))
        _legend(figure, handles, look.ink, width)
    return figure


def poor(ink: str, failed: str, marked: bool) -> list[Line2D]:
    """What a cross says, where there is one, and the star beside an answer."""
    told = [("x", 6, failed), ("$*$", 5, "not to be relied on" * marked)]
    return [
        Line2D([], [], linestyle="", marker=marker, markersize=size, color=ink, label=label)
        for marker, size, label in told
        if label
    ]


def fill_cost(
    rows: Rows,
    *,
    dark: bool = False,
    width: str = "double",
    title: str | None = None,
    style: str | Theme | None = None,
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
    look = theme(dark, style)
    at: dict[tuple[int, int], list[str]] = {}
    for row in rows:
        if row.get("fill_blocks") is None or row.get("flops") is None:
            continue
        names = at.setdefault((int(row["fill_blocks"]), int(row["flops"])), [])
        if row["order"] not in names:
            names.append(row["order"])
    with settings(look.font):
        figure = new_figure(width, 2.9 if width == "single" else 3.8, look)
        figure.set_layout_engine("constrained")
        ax = figure.add_subplot()
        style_axes(ax, look, grid="both")
        ax.set_xlabel("operations (additions, multiplications, divisions)", color=look.ink)
        ax.set_ylabel("blocks of fill", color=look.ink)
        _title(ax, title, look.ink)
        if not at:
            return figure
        fill, flops = [f for f, _ in at], [o for _, o in at]
        ax.plot(flops, fill, "o", color=look.series[0], markersize=5.5)
        ax.set_xscale("log")
        # a chain of one body has no fill, and a logarithm no zero
        ax.set_yscale("log" if min(fill) > 0 else "symlog")
        ax.set_xlim(*_around(flops))
        ax.set_ylim(*(_around(fill) if min(fill) > 0 else (-0.5, 3.0 * max(fill) + 1)))
        _plain_ticks(ax, 100 if width == "double" else 20)
        figure.draw_without_rendering()  # the layout decides where points are
        figure.set_layout_engine("none")
        place_labels(ax, *_merge(ax, at), look.ink, 7.5)
    return figure


def _merge(ax: Any, at: dict[tuple[int, int], list[str]]) -> tuple[list[float], list[float], list[str]]:
    """Points whose dots touch share a label: operations, fill, names."""
    touching = 5.5 * ax.figure.dpi / 72
    left = [(flops, fill, names) for (fill, flops), names in at.items()]
    x, y, texts = [], [], []
    while left:
        here = ax.transData.transform(left[0][:2])
        near = [p for p in left if np.hypot(*(ax.transData.transform(p[:2]) - here)) < touching]
        left = [p for p in left if p not in near]
        names = [name for p in near for name in p[2]]
        x.append(float(np.exp(np.mean([np.log(p[0]) for p in near]))))
        y.append(float(np.mean([p[1] for p in near])))
        lines = [", ".join(names[i : i + 2]) for i in range(0, len(names), 2)]
        texts.append(",\n".join(lines))
    return x, y, texts


def _around(values: list[int]) -> tuple[float, float]:
    """Limits of a log axis with room for labels."""
    low, high = min(values), max(values)
    room = max((high / low) ** 0.25, 1.5)
    return low / room, high * room


def _plain_ticks(ax: Any, few: float) -> None:
    """Powers of ten, written out; 2 and 5 times them where the axis spans less than ``few``."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in (ax.xaxis, ax.yaxis):
        low, high = axis.get_view_interval()
        narrow = low > 0 and high / low < few
        if axis.get_scale() == "log":
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if narrow else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axis.set_minor_formatter(NullFormatter())


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


def _title(ax: Any, title: str | None, ink: str) -> None:
    if title:
        total = ax.get_figure(root=True).get_figwidth()
        width = min(WIDTHS, key=lambda name: abs(WIDTHS[name] - total))
        ax.set_title(wrapped(title, width), color=ink, loc="left", fontsize=TEXT)


def _legend(figure: Figure, handles: list[Line2D], ink: str, width: str) -> None:
    columns = 2 if width == "single" else 5
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(columns, len(handles)),
        frameon=False,
        fontsize=SMALL,
        labelcolor=ink,
        columnspacing=1.4,
    )
