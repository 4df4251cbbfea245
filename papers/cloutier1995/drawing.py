"""The thesis's robot in pictures: rectangles, the trail of its tip, its energies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from pivotree.analysis.figures import Theme, settings, theme, writer_of
from pivotree.kkt.base import beside

from ..sheet import sheet
from .falling import Floats
from .robot import reach

TRAIL = 1.2  # [s]
DPI = 100
WIDTH = 0.15  # of a link [m], as drawn


def corners(lengths: Floats, q: Floats) -> Floats:
    """(n, 4, 2) the links' rectangles at joint angles q (n,)."""
    angle = np.cumsum(q)
    u = np.stack([np.cos(angle), np.sin(angle)], 1)
    across = WIDTH / 2 * np.stack([-u[:, 1], u[:, 0]], 1)
    end = np.cumsum(lengths[:, None] * u, 0)
    start = end - lengths[:, None] * u
    return np.stack([start - across, end - across, end + across, start + across], 1)


def tips(lengths: Floats, q: Floats) -> Floats:
    """(m, 2) of the last link, q (m, n)."""
    angle = np.cumsum(q, 1)
    return np.stack([np.cos(angle) @ lengths, np.sin(angle) @ lengths], 1)


def lengths_of(tree: Any) -> Floats:
    return np.array([2.0 * float(body["com"][0]) for _, body in tree.nodes(data=True)])


def strip(found: Any, style: str, panels: int = 8) -> Figure:
    """Frames of the film, evenly over its time."""
    lengths = lengths_of(found.tree)
    with sheet("double", 3.4, style) as (figure, look):
        times = np.linspace(0.0, found.seconds, panels)
        for ax, t in zip(figure.subplots(2, panels // 2).ravel(), times, strict=True):
            _stage(ax, look, reach(found.tree))
            past = np.linspace(max(0.0, t - TRAIL), t, 60)
            ax.plot(*tips(lengths, found.at(past)).T, color=look.series[1], linewidth=1)
            for k, box in enumerate(corners(lengths, found.at(np.array([t]))[0])):
                ax.add_patch(_link(box, look, k))
            ax.set_title(f"{t:.1f} s", color=look.ink, fontsize=8)
    return figure


def film(found: Any, path: Path, style: str) -> Path:
    """Write a .gif or an .mp4, whole or not at all; FormatError where this machine cannot."""
    path = Path(path)
    writer = writer_of(path)(fps=found.frames)
    with settings(), beside(path) as part:
        figure, draw = _screen(found, theme(style=style))
        with writer.saving(figure, str(part), dpi=DPI):
            for t in np.arange(0.0, found.seconds + 1e-9, 1.0 / found.frames):
                draw(float(t))
                writer.grab_frame(facecolor=figure.get_facecolor())
    return path


def _screen(found: Any, look: Theme) -> tuple[Figure, Any]:
    """A figure of even size in pixels, and what draws time t on it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = Figure(figsize=(4.8, 4.0), facecolor=look.page)
    FigureCanvasAgg(figure)
    ax: Any = figure.add_axes((0.01, 0.02, 0.72, 0.96))
    lengths = lengths_of(found.tree)
    _stage(ax, look, reach(found.tree))
    trail = ax.plot([], [], color=look.series[1], linewidth=1.4)[0]
    links = [
        ax.add_patch(_link(box, look, k)) for k, box in enumerate(corners(lengths, found.at(np.zeros(1))[0]))
    ]
    clock = ax.text(0.03, 0.95, "", transform=ax.transAxes, color=look.ink, fontsize=10)
    bar: Any = figure.add_axes((0.78, 0.12, 0.2, 0.78))
    total = float(found.energies.sum(1).max())
    kinetic = bar.bar(0, 0.0, color=look.series[0], label="kinetic")[0]
    potential = bar.bar(0, 0.0, color=look.series[4], hatch="//", edgecolor=look.page, label="potential")[0]
    bar.axhline(float(found.energies[0].sum()), color=look.ink, linewidth=0.8)
    bar.set(xlim=(-0.6, 0.6), ylim=(0, 1.12 * total), xticks=[])
    bar.set_facecolor(look.page)
    bar.tick_params(colors=look.ink, labelsize=7)
    for side, spine in bar.spines.items():
        spine.set_visible(side == "left")
        spine.set_color(look.ink)
    bar.set_title("energy [J]", color=look.ink, fontsize=8)
    figure.legend(loc="lower right", ncols=1, frameon=False, labelcolor=look.ink, fontsize=7)

    def draw(t: float) -> None:
        q = found.at(np.array([t]))[0]
        for link, box in zip(links, corners(lengths, q), strict=True):
            link.set_xy(box)
        past = np.linspace(max(0.0, t - TRAIL), t, 60)
        trail.set_data(*tips(lengths, found.at(past)).T)
        clock.set_text(f"t = {t:5.2f} s")
        T, V = (float(np.interp(t, found.record.t, found.energies[:, i])) for i in range(2))
        potential.set_height(V)
        kinetic.set_y(V)
        kinetic.set_height(T)

    return figure, draw


def _stage(ax: Any, look: Theme, size: float) -> None:
    edge = 1.06 * size
    ax.set_facecolor(look.page)
    ax.set(xlim=(-edge, edge), ylim=(-edge, edge), aspect="equal", xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.plot([0.0], [0.0], "^", color=look.ink, markersize=6, zorder=1)


def _link(box: Floats, look: Theme, k: int) -> Polygon:
    colour = look.entry if k % 2 == 0 else look.entry_strong
    return Polygon(box, closed=True, facecolor=colour, edgecolor=look.ink, linewidth=0.8, zorder=3)
