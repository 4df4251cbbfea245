"""Operations of orders against the number of bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from .chart import chart, log_ticks
from .curves import curve
from .style import Theme, plain, theme


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
    points = [pair for pairs in costs.values() for pair in pairs]
    with chart(look, width, 2.7 if width == "single" else 3.3, title, grid="both") as drawn:
        (ax,) = drawn.axes
        ax.set(xscale="log", yscale="log", xlabel=plain(what), ylabel="operations")
        for k, (order, pairs) in enumerate(costs.items()):
            line = curve(look, k)
            if pairs:
                ax.plot(*np.array(pairs, dtype=float).T, **line)
            drawn.note(look.named(order), **line)
        if points:
            first, last = min(points), max(points)
            n = np.array([first[0], last[0]], dtype=float)
            dots: dict[str, Any] = {"color": look.ink, "linewidth": 0.9, "linestyle": ":"}
            ax.plot(n, first[1] / first[0] * n, **dots)
            drawn.note("proportional to n", **dots)
        log_ticks(ax.xaxis, 2000)
        sizes = sorted({n for n, _ in points})
        if len(sizes) <= 6:
            ax.xaxis.set_major_locator(FixedLocator(sizes))
        log_ticks(ax.yaxis, 10, written=False)
    return drawn.figure
