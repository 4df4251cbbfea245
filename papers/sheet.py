"""An empty figure of a paper's page, the colours and settings in which it is drawn, and its curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from matplotlib.figure import Figure

from pivotree.analysis.figures import Theme, new_figure, settings, style_axes, theme

# line styles that are told apart in grey, too
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)))


@contextmanager
def sheet(width: str, height: float, style: str) -> Iterator[tuple[Figure, Theme]]:
    """A figure whose axes are kept apart, and its colours; ``height`` is in inches.

    Fonts and lines follow the settings of all figures until the block ends.
    """
    look = theme(style=style)
    with settings():
        figure = new_figure(width, height, look)
        figure.set_layout_engine("constrained")
        yield figure, look


@contextmanager
def panels(
    style: str, width: str, height: float, rows: int = 1, columns: int = 1, grid: str = "both", **shared: Any
) -> Iterator[tuple[Figure, Any, Theme]]:
    """A figure, its styled axes, and its colours: one of the axes, a row or column, or all by rows.

    ``shared`` goes to matplotlib's ``subplots``, as ``sharex=True``.
    """
    with sheet(width, height, style) as (figure, look):
        axes = figure.subplots(rows, columns, squeeze=False, **shared)
        for ax in axes.flat:
            style_axes(ax, look, grid=grid)
        yield figure, axes[0, 0] if axes.size == 1 else axes.ravel() if 1 in axes.shape else axes, look


def named(ax: Any, look: Theme, x: str = "", y: str = "", title: str = "", **options: Any) -> None:
    """Names of the axes and a title, in the colour of ink; what is empty stays as it is."""
    if x:
        ax.set_xlabel(x, color=look.ink)
    if y:
        ax.set_ylabel(y, color=look.ink)
    if title:
        ax.set_title(title, color=look.ink, **options)


def legend(place: Any, look: Theme, **options: Any) -> Any:
    """The legend of axes, or of a figure, without a frame."""
    return place.legend(frameon=False, labelcolor=look.ink, **{"fontsize": 7, **options})


def lines(ax: Any, look: Theme, x: Any, curves: Mapping[str, Any], **options: Any) -> None:
    """Curves over x by their labels, each in a colour and a dash of its own."""
    for i, (label, y) in enumerate(curves.items()):
        ax.plot(x, y, color=look.series[i], label=label, **{"linestyle": DASHES[i % len(DASHES)], **options})
