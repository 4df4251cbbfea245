"""What the papers' pictures share: an empty figure in its colours, its axes, curves and counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from flint import fmpq_poly
from matplotlib.figure import Figure

from pivotree.analysis.figures import Theme, new_figure, settings, style_axes, theme
from pivotree.analysis.simulation import Simulation

from .measures import ended, fails

MARKERS = "os^Dv"
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


def shared_legend(figure: Figure, ax: Any, look: Theme, **options: Any) -> None:
    """One legend of all panels, of what one of them shows."""
    handles, labels = ax.get_legend_handles_labels()
    legend(figure, look, handles=handles, labels=labels, **options)


def lines(ax: Any, look: Theme, x: Any, curves: Mapping[str, Any], **options: Any) -> None:
    """Curves over x by their labels, each in a colour and a dash of its own."""
    for i, (label, y) in enumerate(curves.items()):
        ax.plot(x, y, color=look.series[i], label=label, **{"linestyle": DASHES[i % len(DASHES)], **options})


def evaluated(law: fmpq_poly, n: np.ndarray) -> np.ndarray:
    """The values (m,) of a polynomial that counts operations, at n (m,)."""
    return np.polynomial.polynomial.polyval(n, [float(c) for c in law.coeffs()])


# -- evaluations: ours as means of ensembles with their range, printed counts hollow ----------------


def ours(ax: Any, look: Theme, i: int, label: str, x: Sequence[float], runs: Sequence[Simulation]) -> None:
    """Line i of a chart over x: means of the runs that end, and bars to the fewest and the most.

    Where half of the runs fail or more, a cross alone, at the most that one took until then.
    """
    lost = np.array([fails(run) for run in runs])
    counts = [run.evaluations if fails(run) else ended(run) for run in runs]
    low, high, mean = (np.array([f(each) for each in counts]) for f in (np.min, np.max, np.mean))
    mean[lost] = np.nan
    colour = look.series[i]
    ax.errorbar(
        x,
        mean,
        (mean - low, high - mean),
        color=colour,
        marker=MARKERS[i],
        markersize=4,
        linestyle=("-", "--", "-.", ":", (0, (4, 1)))[i],
        linewidth=1,
        capsize=2,
        label=label,
    )
    ax.plot(np.array(x)[lost], high[lost], "x", color=colour, markersize=10, markeredgewidth=2)


def theirs(ax: Any, colour: str, i: int, label: str, x: Iterable[float], counts: Any) -> None:
    """Printed counts as hollow marks of line i; texts, such as "fail", are left out."""
    pairs = [(at, y) for at, y in zip(x, counts, strict=False) if not isinstance(y, str)]
    if pairs:
        ax.plot(
            *zip(*pairs, strict=True),
            MARKERS[i],
            markerfacecolor="none",
            markeredgecolor=colour,
            markersize=8,
            linestyle="none",
            label=label,
        )
