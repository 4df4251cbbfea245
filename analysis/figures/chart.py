"""One chart: axes in a theme, ticks, a title above and a legend below."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from pivotree.kkt import FormatError
from pivotree.kkt.arithmetic import get_format

from .style import MARKERS, SMALL, TEXT, Theme, new_figure, settings, style_axes, wrapped

DASHED: tuple[int, tuple[int, ...]] = (0, (4, 3))
_LINE = 0.17  # [in] of a line of the title or the legend


@dataclass
class Chart:
    """A figure while it is drawn: its axes, and what the legend will say."""

    figure: Figure
    axes: NDArray[Any]  # of matplotlib's Axes, row after row
    look: Theme
    handles: list[Any] = field(default_factory=list)

    def note(self, label: str, **style: Any) -> None:
        """An entry of the legend; a marker stands alone where no line is asked for."""
        alone = {"linestyle": ""} if "marker" in style and "linewidth" not in style else {}
        self.handles.append(Line2D([], [], label=label, **{**alone, **style}))

    def poor(self, failed: str, marked: bool) -> None:
        """What a cross says, where there is one, and the star beside an answer."""
        if failed:
            self.note(failed, marker="x", markersize=6, color=self.look.ink)
        if marked:
            self.note("not to be relied on", marker="$*$", markersize=5, color=self.look.ink)


@contextmanager
def chart(
    look: Theme,
    width: str,
    height: float,
    title: str | None = None,
    *,
    shape: tuple[int, int] = (1, 1),
    grid: str = "",
    columns: tuple[int, int] = (2, 5),
    **axes: Any,
) -> Iterator[Chart]:
    """Axes to draw in, ``height`` [in] without title and legend, which come when all is drawn.

    ``columns`` are those of the legend, in a single and a double column.
    """
    with settings(look.font):
        figure = new_figure(width, height, look)
        figure.set_layout_engine("constrained")
        panels = figure.subplots(*shape, squeeze=False, **axes).ravel()
        for ax in panels:
            style_axes(ax, look, grid=grid)
        made = Chart(figure, panels, look)
        yield made
        across = max(1, min(columns[width == "double"], len(made.handles)))
        lines = -(-len(made.handles) // across)
        if title:
            text = wrapped(title, width)
            lines += 2 + text.count("\n")
            figure.suptitle(text, color=look.ink, fontsize=TEXT)
        figure.set_figheight(height + _LINE * lines)
        if made.handles:
            figure.legend(
                handles=made.handles,
                loc="outside lower center",
                ncols=across,
                frameon=False,
                fontsize=SMALL,
                labelcolor=look.ink,
                columnspacing=1.4,
            )


def series(look: Theme, k: int) -> dict[str, Any]:
    """Colour and marker of the k-th order of a figure."""
    return {"color": look.series[k % len(look.series)], "marker": MARKERS[k % len(MARKERS)]}


def places(orders: Sequence[str], among: Sequence[str]) -> dict[str, int]:
    """The place of each order in ``among``, if that names them all, so that figures agree on colours."""
    known = list(among) if {*orders} <= {*among} else list(orders)
    return {order: known.index(order) for order in orders}


def unit_of(format: str) -> float | None:
    """The unit roundoff of a format's name; None for exact numbers and a user's own formats."""
    try:
        found = get_format(format)
    except FormatError:
        return None
    return None if found.from_model else found.unit


def capacity_of(format: str) -> float | None:
    """-log10 of the unit roundoff: the decimal digits of a format."""
    unit = unit_of(format)
    return None if unit is None else -math.log10(unit)
