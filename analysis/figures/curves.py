"""What an elimination has filled in and worked, step by step, of several orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pivotree.kkt import SymbolicFactor
from pivotree.kkt.tape.tape import Tape

from .chart import chart, large_ticks, series
from .style import Theme, theme

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
    across = width == "double"
    counted = "operations, dense blocks" if tapes is None else "operations"
    shape = (1, 2) if across else (2, 1)
    with chart(look, width, 2.5 if across else 4.2, title, shape=shape, grid="y", sharex=True) as drawn:
        for i, symbolic in enumerate(symbolics):
            share = np.concatenate([[0.0], np.cumsum(symbolic.size)])
            stops = np.append(np.flatnonzero(np.diff(symbolic.plan.group)) + 1, len(symbolic.size))
            x = 100 * np.append(0.0, share[stops]) / share[-1]
            fill, work = step_counts(symbolic)
            _stairs(drawn.axes[0], x, fill, curve(look, i))
            _stairs(drawn.axes[1], x, work if tapes is None else traced_counts(tapes[i]), curve(look, i))
            drawn.note(look.named(symbolic.plan.sequence.name), **curve(look, i))
        for ax, what in zip(drawn.axes, ("blocks of fill", counted), strict=True):
            ax.set(xlim=(0, 101), ylim=(0, None), ylabel=what)
            large_ticks(ax.yaxis)
            if across or ax is drawn.axes[-1]:
                ax.set_xlabel("rows eliminated [%]")
    return drawn.figure


def curve(look: Theme, i: int) -> dict[str, Any]:
    """The line of the i-th curve; its markers are smaller than those before, which are hollow, so that
    curves that coincide are all seen."""
    return {
        **series(look, i),
        "linewidth": 1.2,
        "linestyle": DASHES[i % len(DASHES)],
        "markersize": max(2.6, 6.4 - 1.1 * i),
        "markeredgewidth": 0.9,
        **({"markerfacecolor": look.page} if i < 2 else {}),
    }


def _stairs(ax: Any, x: NDArray, y: NDArray, line: dict[str, Any]) -> None:
    """A staircase: nothing happens between two steps; a few marks on it."""
    if len(x) > 600:  # steps finer than a page shows
        kept = np.unique(np.linspace(0, len(x) - 1, 600).astype(int))
        x, y = x[kept], y[kept]
    ax.plot(x, y, drawstyle="steps-post", markevery=max(1, len(x) // 8), clip_on=False, **line)
