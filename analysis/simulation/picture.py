"""Steps over time: what an integrator does when the accelerations lose their digits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from ..figures.style import MARKERS, new_figure, plain, settings, style_axes, theme
from .record import Floats, Record
from .run import Simulation

BINS = 160


def picture(found: Sequence[Simulation], *, style: str = "light", title: str = "") -> Figure:
    """Accepted step sizes over time, and evaluations so far; the first run of each simulation."""
    look = theme(style=style)
    least = np.inf
    with settings():
        figure = new_figure("double", 4.2, look)
        figure.set_layout_engine("constrained")
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        for ax in (top, bottom):
            style_axes(ax, look, grid="y")
        for i, simulation in enumerate(found):
            record = simulation.records[0]
            colour = look.series[i % len(look.series)]
            name = f"{simulation.order}, {simulation.format}"
            t, low, middle, high = bands(record, simulation.seconds)
            least = min(least, *low[1:]) if len(low) > 1 else least
            top.fill_between(t, low, high, color=colour, alpha=0.25, linewidth=0)
            top.plot(
                t,
                middle,
                color=colour,
                linewidth=1.0,
                marker=MARKERS[i % len(MARKERS)],
                markevery=(5 * i, BINS // 8),
                markersize=4,
                label=plain(name),
            )
            each = record.evaluations / max(len(record.step), 1)
            so_far = np.arange(1, len(record.step) + 1) * each
            bottom.plot(
                record.step_t,
                so_far,
                color=colour,
                linewidth=1.2,
                marker=MARKERS[i % len(MARKERS)],
                markersize=4,
                markevery=max(1, len(record.step) // 8),
            )
            if record.failed:
                bottom.plot(
                    record.step_t[-1:],
                    so_far[-1:],
                    "x",
                    color=colour,
                    markersize=9,
                    markeredgewidth=2,
                    clip_on=False,
                )
        top.set_yscale("log")
        if np.isfinite(least):  # the first steps from rest are as small as the roundoff
            top.set_ylim(0.5 * least, None)
        top.set_ylabel("accepted step [s]", color=look.ink)
        bottom.set_ylabel("evaluations", color=look.ink)
        bottom.set_xlabel("time [s]", color=look.ink)
        bottom.set_xlim(0, max(simulation.seconds for simulation in found))
        bottom.set_ylim(0, None)
        figure.legend(
            loc="outside upper center",
            ncols=min(len(found), 3),
            frameon=False,
            labelcolor=look.ink,
            title=title or None,
        )
    return figure


def bands(record: Record, seconds: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Times, and the least, middle and largest step of each of a number of intervals."""
    edges = np.linspace(0.0, seconds, BINS + 1)
    place = np.clip(np.searchsorted(edges, record.step_t, side="right") - 1, 0, BINS - 1)
    rows = [
        (edges[b] + edges[b + 1], *np.quantile(record.step[place == b], (0.0, 0.5, 1.0)))
        for b in range(BINS)
        if (place == b).any()
    ]
    t, low, middle, high = np.array(rows).T if rows else np.empty((4, 0))
    return t / 2.0, low, middle, high
