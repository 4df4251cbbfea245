"""Errors of many states of one model against what the condition number allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .chart import DASHED, chart, limits, log_ticks, places, series
from .style import Theme, theme


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
    place = places(list(dict.fromkeys(i.order for i in instances)), among)
    finite = [i.kappa * unit for i in instances if np.isfinite(i.kappa)] or [unit]
    errors = [i.error for i in instances if i.error]
    with chart(look, width, 3.0 if width == "single" else 3.6, title, grid="both") as drawn:
        (ax,) = drawn.axes
        ax.set(xscale="log", yscale="log", xlim=limits(finite), ylim=limits([*errors, *finite]))
        ax.set_xlabel("condition number times unit roundoff, $\\kappa u$")
        ax.set_ylabel(f"relative error{f' in {format}' if format else ''}")
        line: dict[str, Any] = {"color": look.ink, "linewidth": 0.9, "linestyle": DASHED}
        ax.plot(ax.get_xlim(), ax.get_xlim(), zorder=1, **line)
        star = {"marker": "$*$", "markersize": 4, "color": look.ink}
        for order, k in place.items():
            mine = [i for i in instances if i.order == order]
            point = {**series(look, k), "markersize": 3.6, "markeredgewidth": 0.6, "markerfacecolor": "none"}
            for some, look_of in ((mine, point), ([i for i in mine if i.marked], star)):
                good = [(i.kappa * unit, i.error) for i in some if i.error]
                if good:
                    ax.plot(*np.array(good).T, linestyle="", **look_of)
            drawn.note(look.named(order), **point)
            bad = [i.kappa * unit for i in mine if i.error is None]
            top = {"transform": ax.get_xaxis_transform(), "color": point["color"]}
            ax.plot(bad, [0.98] * len(bad), "x", markersize=5, **top)
        log_ticks(ax.xaxis, written=False)
        log_ticks(ax.yaxis, 10, written=False)
        drawn.note(r"error = $\kappa u$", **line)
        failed = any(i.error is None for i in instances)
        drawn.poor("failed" * failed, any(i.marked for i in instances))
    return drawn.figure
