"""Pictures of Ascher, Pai & Cloutier 1996 in the paper's own form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pivotree.analysis.simulation import Simulation
from pivotree.analysis.simulation.picture import picture

from ..item import printed
from ..measures import Curves
from ..sheet import legend, lines, named, ours, panels, theirs

EXACT: Any = (0, (1, 3))  # the line of what is exact
ABOVE = {"loc": "outside upper center"}


def curves(found: Curves, names: Mapping[str, str], style: str) -> Figure:
    """Base acceleration against the tip's angle, one panel an order, and the errors below."""
    shared: dict[str, Any] = {"sharex": True, "sharey": "row", "height_ratios": (3, 2)}
    with panels(style, "double", 3.9, 2, len(names), "y", **shared) as (figure, axes, look):
        turns = found.angles / np.pi
        least = 1e-9
        for column, (order, name) in enumerate(names.items()):
            top, bottom = axes[:, column]
            colour = look.series[column]
            top.plot(turns, found.found[order], color=colour, linewidth=0.7)
            top.plot(turns, found.exact, color=look.ink, linewidth=0.6, linestyle=EXACT)
            named(top, look, title=f"{name}\nrms error {found.rms(order):.1e}")
            error = np.maximum(np.abs(found.error(order)), least)
            bottom.plot(turns, error, ".", color=colour, markersize=1.6)
            bottom.set_yscale("log")
            named(bottom, look, r"angle of the tip joint $q_1$ / $\pi$")
        named(axes[0, 0], look, y="base joint [rad/s²]")
        named(axes[1, 0], look, y="relative error")
    return figure


def pivots(found: Mapping[str, list[tuple[float, float]]], style: str) -> Figure:
    """D_2 of Example 3, case 2, over m_1, which is 1 in exact arithmetic; the printed masses ruled.

    Symmetric logarithm: a pivot may be negative.
    """
    with panels(style, "double", 2.3, 1, len(found), "y", sharey=True) as (figure, axes, look):
        for ax, (i, (name, values)) in zip(axes, enumerate(found.items()), strict=True):
            masses, pivot = np.array(values).T
            for power in (1e6, 1e7, 1e8, 1e9):
                ax.axvline(power, color=look.faint, linewidth=0.6)
            ax.axhline(1.0, color=look.ink, linewidth=0.6, linestyle=EXACT)
            ax.plot(masses, pivot, ".", color=look.series[i], markersize=3.5)
            ax.set_xscale("log")
            ax.set_yscale("symlog", linthresh=1.0)
            named(ax, look, r"$m_1$, printed at the rules", title=name)
        named(axes[0], look, y=r"$D_2$, exactly 1")
    return figure


def approach(
    angles: Sequence[float], kappa: Sequence[float], errors: Mapping[str, Sequence[float]], style: str
) -> Figure:
    """Errors of orders, and the condition number, as two axes of a shoulder come together."""
    with panels(style, "single", 2.9) as (figure, ax, look):
        lines(ax, look, angles, errors, marker="o", markersize=3, linewidth=1.3)
        rounded = 2.0**-24 * np.array(kappa)
        ax.plot(angles, rounded, color=look.ink, linewidth=0.8, linestyle=EXACT, label=r"$\kappa u$")
        ax.set(xscale="log", yscale="log")
        ax.invert_xaxis()
        named(ax, look, "angle between the first and the third axis [rad]")
        named(ax, look, y=r"error of $\ddot q$, single precision")
        legend(figure, look, ncols=3, **ABOVE)
    return figure


def growth(found: Mapping[float, Mapping[str, Simulation]], keys: Mapping[str, str], style: str) -> Figure:
    """Table 1: means and ranges of the ensembles; hollow marks are the paper's single runs.

    ``keys`` are the rows that the paper prints of an order.
    """
    said, drawn = printed("ascher1996")["table1"], set[str]()
    with panels(style, "double", 3.6) as (figure, ax, look):
        for i, order in enumerate(next(iter(found.values()))):
            key = keys.get(order, "")
            runs = [line[order] for line in found.values()]
            ours(ax, look, i, order.replace("@world", ", world's frame"), list(found), runs)
            if key and key not in drawn:
                drawn.add(key)
                theirs(ax, look.ink, i, f"{key.upper()}, printed", said["r"], said[key])
        ax.set(xscale="log", yscale="log")
        ax.invert_xaxis()
        named(ax, look, "length of the base link, r", "evaluations for 10 s")
        legend(ax, look)
    return figure


def steps(runs: Sequence[Simulation], style: str) -> Figure:
    """Steps over time of a few ensembles."""
    return picture(runs, style=style)
