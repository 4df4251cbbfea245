"""Errors of many states of one model against what the condition number allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .charts import _legend, _title, poor
from .style import MARKERS, Theme, new_figure, plain, settings, style_axes, theme


@dataclass(frozen=True)
class Instance:
    """One order on one system in one number format.

    >>> from pivotree.analysis.figures import Instance
    >>> lost = Instance("crbm", kappa=250.0, error=3e-2)
    >>> failed = Instance("crbm", kappa=9e8, error=None)
    >>> bool(lost.error > lost.kappa * 2**-24), failed.error is None  # u of float32 is 2^-24
    (True, True)
    """

    order: str
    kappa: float  # componentwise condition number of qdd
    error: float | None  # max |qdd - exact| / max |exact|; None where the elimination failed
    marked: str | None = None  # why the answer should not be relied on


def error_condition(
    instances: Sequence[Instance],
    unit: float,
    *,
    format: str = "",
    width: str = "double",
    style: str | Theme = "light",
    title: str | None = None,
    among: Sequence[str] = (),
) -> Figure:
    """Error over kappa u, one point an instance; on or below the line nothing is lost needlessly.

    ``unit`` is the format's unit roundoff u.  A cross at the top is a failed elimination,
    a star an answer that is marked as not to be relied on.  An order
    has the colour of its place in ``among``, if that names it, so that figures agree on colours.

    >>> from pivotree.analysis.figures import Instance, error_condition
    >>> seen = [Instance("abm", 250.0, 1e-6), Instance("crbm", 250.0, 3e-2)]
    >>> figure = error_condition(seen, 2**-24, format="float32")
    >>> figure.axes[0].get_ylabel()
    'relative error in float32'
    """
    look = theme(style=style)
    orders = list(dict.fromkeys(i.order for i in instances))
    places = list(among) if {*orders} <= {*among} else orders
    finite = [i.kappa * unit for i in instances if np.isfinite(i.kappa)]
    errors = [i.error for i in instances if i.error]
    with settings(look.font):
        columns = 2 if width == "single" else 5
        height = (3.0 if width == "single" else 3.6) + 0.17 * -(-(len(orders) + 2) // columns)
        figure = new_figure(width, height + 0.25 * bool(title), look)
        figure.set_layout_engine("constrained")
        ax = figure.add_subplot()
        style_axes(ax, look, grid="both")
        ax.set(xscale="log", yscale="log")
        low, high = _around(finite or [unit])
        bottom, top = _around([*errors, *(finite or [unit])])
        line = np.array([low, high])
        ax.plot(line, line, color=look.ink, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        handles: list[Line2D] = []
        failed, star = False, {"marker": "$*$", "linestyle": "", "markersize": 4, "color": look.ink}
        for order in orders:
            k = places.index(order)
            mine = [i for i in instances if i.order == order]
            point: dict[str, Any] = {
                "color": look.series[k % len(look.series)],
                "marker": MARKERS[k % len(MARKERS)],
                "linestyle": "",
                "markersize": 3.6,
                "markeredgewidth": 0.6,
                "markerfacecolor": "none",
            }
            for some, look_of in ((mine, point), ([i for i in mine if i.marked], star)):
                good = [(i.kappa * unit, i.error) for i in some if i.error]
                if good:
                    ax.plot(*np.array(good).T, **look_of)
            handles.append(Line2D([], [], label=plain(order), **point))
            bad = [i.kappa * unit for i in mine if i.error is None]
            failed = failed or bool(bad)
            ax.plot(
                bad,
                [0.98] * len(bad),
                "x",
                color=point["color"],
                markersize=5,
                transform=ax.get_xaxis_transform(),
            )
        ax.set(xlim=(low, high), ylim=(bottom, top))
        _ticks(ax, high / low)
        ax.set_xlabel("condition number times unit roundoff, $\\kappa u$", color=look.ink)
        ax.set_ylabel(f"relative error{f' in {format}' if format else ''}", color=look.ink)
        dash: dict[str, Any] = {"color": look.ink, "linewidth": 0.9, "linestyle": (0, (4, 3))}
        handles.append(Line2D([], [], label=r"error = $\kappa u$", **dash))
        handles += poor(look.ink, "failed" * failed, any(i.marked for i in instances))
        _title(ax, title, look.ink)
        _legend(figure, handles, look.ink, width)
    return figure


def _ticks(ax: Any, span: float) -> None:
    """Labels at powers of ten, and at 2 and 5 times them where the axis is short."""
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter

    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0) if span < 100 else (1.0,)))
    ax.xaxis.set_major_formatter(LogFormatterSciNotation(labelOnlyBase=False))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_minor_formatter(NullFormatter())


def _around(values: list[float]) -> tuple[float, float]:
    """Limits of a log axis: at least a decade, a third of a decade beside the points."""
    low, high = min(values) / 2, max(values) * 2
    room = max(0.0, 1.0 - np.log10(high / low)) / 2
    return low / 10**room, high * 10**room
