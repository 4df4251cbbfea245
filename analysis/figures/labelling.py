"""Texts beside points so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike

from .style import plain

_DIRECTIONS = [(1, 0), (0, 1), (0, -1), (-1, 0), (0.8, 0.8), (0.8, -0.8), (-0.8, 0.8), (-0.8, -0.8)]


def place_labels(
    ax: Axes, x: ArrayLike, y: ArrayLike, texts: Sequence[str], ink: str, size: float = 8.0
) -> None:
    """Write each text beside its point, nearest free place first, with a leader where far.

    Axes limits must be final.  Greedy: crowded points first, over eight directions and growing
    distances.
    """
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("axes: belongs to no figure")
    renderer = FigureCanvasAgg(figure).get_renderer()
    points = ax.transData.transform(np.column_stack([x, y]))
    frame = ax.get_window_extent(renderer)
    scale = figure.dpi / 72
    taken = [Bbox.from_extents(*(p - 4 * scale), *(p + 4 * scale)) for p in points]
    crowd = [int((np.hypot(*(points - p).T) < 60 * scale).sum()) for p in points]
    for i in np.argsort([-c for c in crowd], kind="stable"):
        note = ax.annotate(
            plain(texts[i]), (np.asarray(x)[i], np.asarray(y)[i]), (0, 0),
            textcoords="offset points", fontsize=size, color=ink, ha="left", va="bottom",
        )  # fmt: skip
        drawn = note.get_window_extent(renderer)
        # at another resolution letters are up to a tenth wider
        w, h = 1.1 * drawn.width + 3 * scale, drawn.height + 2 * scale
        best, least = None, np.inf
        for far in (7, 14, 22, 32, 44, 58):
            for dx, dy in _DIRECTIONS:
                centre = points[i] + scale * far * np.array([dx, dy]) + [dx * w / 2, dy * h / 2]
                box = Bbox.from_bounds(centre[0] - w / 2, centre[1] - h / 2, w, h)
                outside = box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0
                cost = far + 1000 * sum(box.overlaps(t) for j, t in enumerate(taken) if j != i)
                cost += 5000 * (outside or box.y1 > frame.y1)
                if cost < least:
                    best, least, distance = box, cost, far
            if least < 1000:
                break
        if best is None:
            continue
        taken.append(best)
        corner = (best.min - points[i]) / scale + [1.5, 1.0]
        note.set_position((float(corner[0]), float(corner[1])))
        if distance > 14:
            end = ax.transData.inverted().transform(np.clip(points[i], best.min, best.max))
            ax.plot(
                [np.asarray(x)[i], end[0]], [np.asarray(y)[i], end[1]], color=ink, linewidth=0.4
            )
