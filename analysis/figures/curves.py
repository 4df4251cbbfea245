"""What an elimination has filled in and worked, step by step, of several orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from pivotree.kkt import SymbolicFactor
from pivotree.kkt.tape.tape import Tape

from .charts import _legend, _title
from .style import MARKERS, Theme, new_figure, plain, settings, style_axes, theme

DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (8, 2)), (0, (3, 1, 1, 1)))


def step_counts(symbolic: SymbolicFactor) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(groups + 1,) blocks of fill, and operations with dense blocks, after 0, 1, ... groups.

    The last are :attr:`SymbolicFactor.fill_blocks` and :attr:`SymbolicFactor.flops`.
    """
    groups = symbolic.plan.groups
    fill = np.bincount(symbolic.fill_step, minlength=groups)
    s = symbolic.size.astype(float)
    ends = np.concatenate([[0.0], np.cumsum(s[symbolic.column_index])])
    w = ends[symbolic.column_pointer[1:]] - ends[symbolic.column_pointer[:-1]]
    work = s**3 / 3 + 2 * s * s * w + s * w * (w + 1)
    flops = np.bincount(symbolic.plan.group, weights=work, minlength=groups)
    return (
        np.concatenate([[0], np.cumsum(fill)]).astype(np.int64),
        np.concatenate([[0.0], np.cumsum(flops)]),
    )


def traced_counts(tape: Tape) -> NDArray[np.int64]:
    """(groups + 1,) operations that qdd needs of the first 0, 1, ... groups, forward and backward.

    Zeros and ones of the model are folded away; the last is :attr:`Tape.flops`.
    """
    needed = np.repeat(tape.program.live(("qdd",)), np.diff(tape.first))
    work = np.zeros(tape.program.groups + 1, dtype=np.int64)
    start = 0
    for chunk in tape.chunks():
        here = needed[start : start + len(chunk.step)]
        start += len(chunk.step)
        # what splits the forces belongs to no step, and is there before the first
        np.add.at(work, np.maximum(chunk.step[here] + 1, 0), 1)
    return np.cumsum(work)


def fill_curves(
    symbolics: Sequence[SymbolicFactor],
    tapes: Sequence[Tape] | None = None,
    *,
    width: str = "double",
    style: str | Theme = "light",
    title: str | None = None,
) -> Figure:
    """Blocks of fill, and operations, against the share of rows that are eliminated.

    Rows are counted and not steps, since orders bracket differently.  Operations are those that
    the orders' ``tapes`` hold; without tapes, which large trees do not have, those with dense
    blocks, of which no zeros are taken off.

    >>> from pivotree.analysis.figures import fill_curves
    >>> system = pt.build(pt.chain(10))
    >>> orders = [pt.orderings.get(name) for name in ("abm", "crbm")]
    >>> tapes = [pt.trace(system, order) for order in orders]
    >>> figure = fill_curves([tape.program.symbolic for tape in tapes], tapes)
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['blocks of fill', 'operations']
    """
    look = theme(style=style)
    rows = -(-len(symbolics) // (2 if width == "single" else 5))
    across = width == "double"
    with settings(look.font):
        height = (2.5 if across else 4.2) + 0.17 * rows + 0.25 * bool(title)
        figure = new_figure(width, height, look)
        figure.set_layout_engine("constrained")
        axes = figure.subplots(*((1, 2) if across else (2, 1)), sharex=True)
        handles: list[Line2D] = []
        for i, symbolic in enumerate(symbolics):
            share = np.concatenate([[0.0], np.cumsum(symbolic.size)])
            stops = np.append(np.flatnonzero(np.diff(symbolic.plan.group)) + 1, len(symbolic.size))
            x = 100 * np.append(0.0, share[stops]) / share[-1]
            line: dict[str, Any] = {
                "color": look.series[i % len(look.series)],
                "linewidth": 1.2,
                "linestyle": DASHES[i % len(DASHES)],
                **nested(i, look.page),
            }
            fill, work = step_counts(symbolic)
            _curve(axes[0], x, fill, line)
            _curve(axes[1], x, work if tapes is None else traced_counts(tapes[i]), line)
            handles.append(Line2D([], [], label=plain(symbolic.plan.sequence.name), **line))
        counted = "operations, dense blocks" if tapes is None else "operations"
        for ax, what in zip(axes, ("blocks of fill", counted), strict=True):
            style_axes(ax, look, grid="y")
            ax.set_ylabel(what, color=look.ink)
            ax.set(xlim=(0, 101), ylim=(0, None))
            _large_ticks(ax)
            if across or ax is axes[-1]:
                ax.set_xlabel("rows eliminated [%]", color=look.ink)
        _title(axes[0], title, look.ink)
        _legend(figure, handles, look.ink, width)
    return figure


def nested(i: int, page: str) -> dict[str, Any]:
    """The marker of the i-th curve: smaller than those before, which are hollow, so that curves
    that coincide are all seen."""
    return {
        "marker": MARKERS[i % len(MARKERS)],
        "markersize": max(2.6, 6.4 - 1.1 * i),
        "markeredgewidth": 0.9,
        **({"markerfacecolor": page} if i < 2 else {}),
    }


def _curve(ax: Any, x: NDArray, y: NDArray, line: dict[str, Any]) -> None:
    """A staircase: nothing happens between two steps; a few marks on it."""
    if len(x) > 600:  # steps finer than a page shows
        kept = np.unique(np.linspace(0, len(x) - 1, 600).astype(int))
        x, y = x[kept], y[kept]
    ax.plot(x, y, drawstyle="steps-post", markevery=max(1, len(x) // 8), clip_on=False, **line)


def _large_ticks(ax: Any) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.yaxis.set_major_formatter(FuncFormatter(short))


def short(x: float, _: Any = None) -> str:
    """1500 as 1,500; 2.4e6 as 2.4 M: what fits beside an axis."""
    for unit, letter in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if abs(x) >= unit:
            return f"{x / (1e3 if letter == ' k' else unit):g}{letter}"
    return f"{x:,g}"
