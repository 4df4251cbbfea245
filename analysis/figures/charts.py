"""Digits kept, from the rows of a comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from .chart import DASHED, capacity_of, chart, series
from .style import SMALL, Theme, theme

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
