"""Cancellation that belongs to the order, and cancellation that belongs to the number format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from pivotree.kkt import Elimination, FormatError

from .chart import chart
from .style import SMALL, TEXT, Theme, theme

_EACH = 100  # steps; with more, one bar stands for those in a per cent
_COUNTED = 12  # bars up to which counts are written


def cancelled(
    result_by_order: Mapping[str, Elimination],
    unit: float,
    *,
    width: str = "double",
    title: str | None = None,
    style: str | Theme | None = None,
) -> Figure:
    """Most bits that one sum of each step cancels, in exact arithmetic and in a number format.

    Both read the same data, the entries of (4) rounded to the format, whose unit roundoff is
    ``unit``; the bars are the order's own, the points the format's, among sums that are nonzero in
    both.  Below the axis are sums that are zero in one of them alone.  Of many steps, the most in
    each per cent is drawn.  ``result_by_order`` are eliminations with ``exact=True``; raises
    FormatError where there is nothing to compare.
    """
    look, first = theme(style=style), next(iter(result_by_order.values()))
    columns = {order: _columns(result) for order, result in result_by_order.items()}
    if all(table is None for table in columns.values()):
        raise FormatError(
            f"format {first.format!r}: nothing to hold against exact arithmetic (exact, mp and "
            "ball stand for it themselves, and an exact pivot may be zero); use float32"
        )
    bits = -math.log2(unit)
    drawn = [table for table in columns.values() if table is not None]
    top = 1.08 * max(bits, *(float(table[:2].max(initial=0.0)) for table in drawn))
    across = width == "double"
    height = (1.9 if across else 1.6) * len(columns) + 0.5
    shared: dict[str, Any] = {"sharex": True, "sharey": True, "columns": (1, 3)}
    with chart(look, width, height, title, shape=(len(columns), 1), grid="y", **shared) as made:
        for ax, (order, found) in zip(made.axes, columns.items(), strict=True):
            ax.set_title(look.named(order), loc="left", fontsize=TEXT, fontweight="bold", color=look.ink)
            ax.axhline(bits, color=look.ink, linewidth=0.8, linestyle="--")
            ax.axhline(0.0, color=look.ink, linewidth=0.6)
            if found is None:
                middle: dict[str, Any] = {"ha": "center", "fontsize": SMALL, "color": look.ink}
                ax.text(50, 0.4 * top, "exact arithmetic divides by zero", **middle)
            else:
                _panel(ax, found, look, top)
            ax.set(xlim=(0, 100), ylim=(-0.3 * top, top))
            ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
            ax.set_yticks([t for t in ax.get_yticks() if 0 <= t <= top])
        made.axes[-1].set_xlabel("steps done [%]")
        made.figure.supylabel("most bits cancelled in one sum", color=look.ink, fontsize=TEXT)
        made.handles += _handles(look, first.format)
    return made.figure


def _columns(result: Elimination) -> NDArray[np.float64] | None:
    """(4, bars): bits in exact arithmetic, bits in the format, residues, vanished sums."""
    found = [step.against for step in result.steps if step.against is not None]
    if not found:
        return None
    table = np.array([(s.order, s.format, s.residues, s.vanished) for s in found], dtype=float).T
    steps = table.shape[1]
    if steps <= _EACH:
        return table
    starts = np.unique(np.linspace(0, steps, _EACH, endpoint=False).astype(int))
    most = np.maximum.reduceat(table[:2], starts, axis=1)
    return np.concatenate([most, np.add.reduceat(table[2:], starts, axis=1)])


def _panel(ax: Axes, found: NDArray[np.float64], look: Theme, top: float) -> None:
    order, format, *counts = found
    wide = 100.0 / len(order)
    x = wide * (np.arange(len(order)) + 0.5)
    size = float(np.clip(220.0 / len(order), 2.0, 5.0))
    ax.bar(x, order, width=min(0.8 * wide, 6.0), color=look.series[0], linewidth=0)
    ax.plot(x, format, linestyle="", clip_on=False, **{**_format_marks(look), "markersize": size})
    for k, count in enumerate(counts):
        here, y = count > 0, -top * (0.09 + 0.13 * k)
        marks = {**_count_marks(look)[k], "markersize": max(3.0, size)}
        ax.plot(x[here], np.full(here.sum(), y), linestyle="", **marks)
        if len(order) <= _COUNTED:
            for at, number in zip(x[here], count[here], strict=True):
                ax.annotate(
                    f"{int(number)}",
                    (at, y),
                    (5, 0),
                    textcoords="offset points",
                    color=look.ink,
                    fontsize=SMALL,
                    ha="left",
                    va="center",
                )


def _format_marks(look: Theme) -> dict[str, Any]:
    return {
        "marker": "s",
        "markersize": 4,
        "markerfacecolor": look.page,
        "markeredgewidth": 1.0,
        "color": look.series[1],
    }


def _count_marks(look: Theme) -> tuple[dict[str, Any], dict[str, Any]]:
    return (
        {"marker": "v", "markersize": 4, "color": look.series[3]},
        {"marker": "x", "markersize": 4, "color": look.ink},
    )


def _handles(look: Theme, format: str) -> list[Any]:
    residue, vanished = _count_marks(look)
    return [
        Patch(color=look.series[0], label="exact arithmetic: the order's"),
        Line2D([], [], linestyle="", label=f"{format}", **_format_marks(look)),
        Line2D([], [], color=look.ink, linewidth=0.8, linestyle="--", label=f"bits of {format}"),
        Line2D([], [], linestyle="", label="exactly zero, not so here: residues", **residue),
        Line2D([], [], linestyle="", label=f"zero in {format} alone", **vanished),
    ]
