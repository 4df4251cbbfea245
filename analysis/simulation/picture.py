"""Steps over time: what an integrator does when the accelerations lose their digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ..colours import plain
from ..figures.charts import chart, series
from ..figures.style import theme
from .motion import Floats, Record
from .run import Simulation

BINS = 160


def picture(found: Sequence[Simulation], *, style: str = "light", title: str = "") -> Figure:
    """Accepted step sizes over time, and evaluations so far; the first run of each simulation."""
    look, least = theme(style=style), np.inf
    axes: dict[str, Any] = {"shape": (2, 1), "sharex": True, "height_ratios": (3, 2), "columns": (1, 3)}
    with chart(look, "double", 4.2, title, grid="y", **axes) as drawn:
        top, bottom = drawn.axes
        for i, simulation in enumerate(found):
            record, point = simulation.records[0], {**series(look, i), "markersize": 4}
            t, low, middle, high = bands(record, simulation.seconds)
            least = min(least, *low[1:]) if len(low) > 1 else least
            top.fill_between(t, low, high, color=point["color"], alpha=0.25, linewidth=0)
            top.plot(t, middle, linewidth=1.0, markevery=(5 * i, BINS // 8), **point)
            each = record.evaluations / max(len(record.step), 1)
            so_far = np.arange(1, len(record.step) + 1) * each
            every = max(1, len(record.step) // 8)
            bottom.plot(record.step_t, so_far, linewidth=1.2, markevery=every, **point)
            name = f"{look.named(simulation.order)}, {plain(simulation.format)}"
            drawn.note(name, linewidth=1.0, **point)
            if record.failed:
                cross: dict[str, Any] = {"markersize": 9, "markeredgewidth": 2, "clip_on": False}
                bottom.plot(record.step_t[-1:], so_far[-1:], "x", color=point["color"], **cross)
        top.set(yscale="log", ylabel="accepted step [s]")
        if np.isfinite(least):  # the first steps from rest are as small as the roundoff
            top.set_ylim(0.5 * least, None)
        bottom.set(ylabel="evaluations", xlabel="time [s]", ylim=(0, None))
        bottom.set_xlim(0, max(simulation.seconds for simulation in found))
    return drawn.figure


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
