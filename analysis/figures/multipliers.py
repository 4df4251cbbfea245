"""Digits kept against the compliance of contacts and loops, by where multipliers stand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from .chart import DASHED, chart, places, series
from .style import Theme, plain, theme
from .units import capacity_of

if TYPE_CHECKING:
    from ..comparison import Placement

APART = 0.09  # of the distance between two compliances: orders stand beside each other


def multiplier_digits(
    found: Mapping[str, Sequence[Placement]],
    *,
    format: str = "float32",
    width: str = "double",
    style: str | Theme = "light",
    title: str | None = None,
    among: Sequence[str] = (),
) -> Figure:
    """A panel a robot: median digits of each order over states, bars from the worst to the best.

    Rigid rows are on the right.  A cross at the bottom is an order that leaves some state without
    an answer; a star, one that has answers not to be relied on.  An order has the colour of its
    place in ``among``, if that names it.

    >>> from pivotree.analysis.comparison import Placement
    >>> from pivotree.analysis.figures import multiplier_digits
    >>> found = [Placement("abm", c, (3e-6, 1e-7)) for c in (1e-3, 0.0)]
    >>> figure = multiplier_digits({"four_bar": found})
    >>> figure.axes[0].get_ylabel()
    'correct digits of qdd in float32'
    """
    look, full = theme(style=style), capacity_of(format)
    place = places(list(dict.fromkeys(p.order for some in found.values() for p in some)), among)
    compliances = sorted({p.compliance for some in found.values() for p in some}, reverse=True)
    lines = {order: {**series(look, k), "markersize": 4.0, "linewidth": 1.1} for order, k in place.items()}
    with chart(look, width, 2.6, title, shape=(1, len(found)), grid="y", sharey=True) as drawn:
        for ax, (name, some) in zip(drawn.axes, found.items(), strict=True):
            for number, order in enumerate(place):
                aside = APART * (number - (len(place) - 1) / 2)
                _line(ax, [p for p in some if p.order == order], compliances, aside, full, lines[order])
            if full is not None:
                ax.axhline(full, color=look.ink, linewidth=0.8, linestyle=DASHED)
            ax.set_xticks(range(len(compliances)), [_power(c) for c in compliances])
            ax.set_xlim(-0.4, len(compliances) - 0.6)
            ax.set_ylim(-0.25, None if full is None else full + 0.3)
            if len(found) > 1:
                ax.set_title(plain(name))
        drawn.axes[0].set_ylabel(f"correct digits of qdd in {format}")
        drawn.axes[len(found) // 2].set_xlabel("compliance, 0 is rigid [1/kg]")
        for order, line in lines.items():
            drawn.note(look.named(order), **line)
        if full is not None:
            drawn.note("all that it holds", color=look.ink, linewidth=0.8, linestyle=DASHED)
        every = [p for some in found.values() for p in some]
        silent = any(p.unanswered for p in every)
        drawn.poor("no answer in some state" * silent, any(any(p.marked) for p in every))
    return drawn.figure


def _line(
    ax: Any,
    mine: Sequence[Placement],
    compliances: list[float],
    aside: float,
    full: float | None,
    drawn: dict[str, Any],
) -> None:
    """The medians of one order, a bar for its states, and where some have no answer."""
    points = []
    for p in mine:
        x = compliances.index(p.compliance) + aside
        digits = [_digits(error, full) for error in p.answers]
        if p.unanswered:
            ax.plot(x, 0.0, "x", color=drawn["color"], markersize=5.5, clip_on=False, zorder=3)
        if digits:
            points.append((x, float(np.median(digits))))
            ax.plot([x, x], [digits[0], digits[-1]], color=drawn["color"], linewidth=0.9)
            if any(p.marked):
                ax.plot(x, digits[-1], marker="$*$", color=drawn["color"], markersize=5, clip_on=False)
    if points:
        ax.plot(*np.array(points).T, **drawn)


def _digits(error: float, full: float | None) -> float:
    """Digits that an error leaves, no more than the format has."""
    most = 30.0 if full is None else full
    return min(most, max(0.0, -math.log10(error))) if error else most


def _power(compliance: float) -> str:
    if compliance == 0.0:
        return "0"
    power = math.log10(compliance)
    return f"$10^{{{power:.0f}}}$" if power == round(power) else f"{compliance:g}"
