"""An empty figure of a paper's page, and the colours and settings in which it is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from matplotlib.figure import Figure

from pivotree.analysis.figures import Theme, new_figure, settings, theme

# line styles that are told apart in grey, too
DASHES = ("-", (0, (5, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)))


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
