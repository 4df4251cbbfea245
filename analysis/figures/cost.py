"""Operations of orders against the number of bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .charts import _legend, _title
from .curves import DASHES, nested
from .style import Theme, new_figure, plain, settings, style_axes, theme


def cost_curves(
    costs: Mapping[str, Sequence[tuple[int, int]]],
    *,
    what: str = "bodies n",
    width: str = "double",
    style: str | Theme = "light",
    title: str | None = None,
) -> Figure:
    """Operations that qdd needs, for each order as pairs (n, operations), both axes logarithmic.

    A dotted line of slope 1 starts where the cheapest curve does: an order that runs beside it is
    linear in n.

    >>> from pivotree.analysis.figures import cost_curves
    >>> chains, abm = [pt.build(pt.chain(n)) for n in (1, 2, 4)], pt.orderings.get("abm")
    >>> figure = cost_curves({"abm": [(s.tree.n, pt.trace(s, abm).flops) for s in chains]})
    >>> figure.axes[0].get_xscale()
    'log'
    """
    look = theme(style=style)
    with settings(look.font):
        columns = 2 if width == "single" else 5
        height = (2.7 if width == "single" else 3.3) + 0.17 * -(-(len(costs) + 1) // columns)
        figure = new_figure(width, height + 0.25 * bool(title), look)
        figure.set_layout_engine("constrained")
        ax = figure.add_subplot()
        style_axes(ax, look, grid="both")
        ax.set(xscale="log", yscale="log")
        handles: list[Line2D] = []
        points = [pair for pairs in costs.values() for pair in pairs]
        if points:
            last = max(n for n, _ in points)
            first = min(points, key=lambda pair: (pair[0], pair[1]))
            n = np.array([first[0], last], dtype=float)
            dots: dict[str, Any] = {"color": look.ink, "linewidth": 0.9, "linestyle": ":"}
            ax.plot(n, first[1] / first[0] * n, **dots)
        for k, (order, pairs) in enumerate(costs.items()):
            line: dict[str, Any] = {
                "color": look.series[k % len(look.series)],
                "linewidth": 1.2,
                "linestyle": DASHES[k % len(DASHES)],
                **nested(k, look.page),
            }
            if pairs:
                ax.plot(*np.array(pairs, dtype=float).T, **line)
            handles.append(Line2D([], [], label=plain(order), **line))
        if points:
            handles.append(Line2D([], [], label="proportional to n", **dots))
        ax.set_xlabel(plain(what), color=look.ink)
        ax.set_ylabel("operations", color=look.ink)
        _few_ticks(ax, sorted({n for n, _ in points}))
        _title(ax, title, look.ink)
        _legend(figure, handles, look.ink, width)
    return figure


def _few_ticks(ax: Any, sizes: Sequence[int]) -> None:
    """Numbers of bodies written out, each one where they are few; operations as powers of ten."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogFormatterMathtext, LogLocator, NullFormatter

    low, high = ax.get_xlim()
    if len(sizes) <= 6:
        ax.xaxis.set_major_locator(FixedLocator(list(sizes)))
    else:
        subs = (1.0, 2.0, 5.0) if high / low < 2000 else (1.0,)
        ax.xaxis.set_major_locator(LogLocator(subs=subs))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(LogFormatterMathtext())
