"""Where digits are lost: the error of each pivot against the step that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pivotree.kkt import Elimination

from .chart import chart, places, series, unit_of
from .style import Theme, theme

_LINES = ("-", (0, (5, 2)), (0, (1, 1)), (0, (5, 2, 1, 2)))
_COLOURED = 6  # orders that can be told apart
_MARKED = 40  # steps; with more, markers would hide the line
_EACH = 400  # steps; with more, the largest error in each per cent of them is drawn


def _telling(results: Mapping[str, Elimination]) -> list[str]:
    """Orders to draw in colour: all where they are few, else those that lose most and least."""
    long = max((len(result.steps) for result in results.values()), default=0) > _MARKED
    coloured = 2 if long else _COLOURED  # long lines cross too often to be followed
    if len(results) <= coloured:
        return list(results)

    def worst(order: str) -> float:
        return max((s.pivot_error or 0.0 for s in results[order].steps), default=0.0)

    ranked = sorted(results, key=worst)
    chosen = {*ranked[: coloured // 2], *ranked[-(coloured // 2) :]}
    return [order for order in results if order in chosen]


def _largest(share: NDArray[Any], error: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The largest error in each per cent of the steps; nan where none has one."""
    at = np.minimum(share.astype(int), 99)
    most = np.full(100, -1.0)
    known = ~np.isnan(error)
    np.maximum.at(most, at[known], error[known])
    return np.arange(100) + 0.5, np.where(most < 0, np.nan, most)


def pivot_errors(
    result_by_order: Mapping[str, Elimination],
    *,
    width: str = "double",
    title: str | None = None,
    style: str | Theme | None = None,
    among: Sequence[str] = (),
) -> Figure:
    """Relative error of each step's own pivots, by order, in one number format.

    Steps are counted in per cent, since orders differ in their number.  Steps without an error
    (pairs, whose pivots are identities, and exact pivots) are left out; a pivot that is zero or
    not a number is a cross at the top.  Of many steps, the largest error in each per cent is
    drawn.  Of many orders, those whose pivots lose most and least are drawn in colour.  An order
    has the colour of its place in ``among``, if that names it, so that figures agree on colours.

    >>> from pivotree.analysis.figures import pivot_errors
    >>> system = pt.build(pt.chain(5))
    >>> crbm = pt.trace(system, pt.orderings.get("crbm"))
    >>> figure = pivot_errors({"crbm": pt.eliminate(system, crbm, "float32")})
    >>> figure.axes[0].get_ylabel()
    'relative error of pivots'
    """
    look = theme(style=style)
    told = _telling(result_by_order)
    place = places(told, among)
    lost: list[tuple[float, str]] = []
    coarse = False
    with chart(look, width, 2.5 if width == "single" else 3.2, title, grid="y") as drawn:
        (ax,) = drawn.axes
        ax.set(yscale="log", xlim=(0, 102), xlabel="steps done [%]")
        for order, result in result_by_order.items():
            step = np.array([s.step for s in result.steps], dtype=float)
            error = np.array([np.nan if s.pivot_error is None else s.pivot_error for s in result.steps])
            if not len(step):
                continue
            share = 100 * step / step[-1]
            if len(step) > _EACH:
                share, error, coarse = *_largest(share, error), True
            seen = np.isfinite(error) & (error > (unit_of(result.format) or 0.0) / 1000)
            line: dict[str, Any] = {"color": look.faint, "linewidth": 0.5, "alpha": 0.6}
            if order in told:
                dashes = _LINES[place[order] // len(look.series) % len(_LINES)]
                line = {
                    **series(look, place[order]),
                    "markersize": 3.5,
                    "linewidth": 1.0,
                    "linestyle": dashes,
                }
                drawn.note(look.named(order), **line)
            ax.plot(share[seen], error[seen], markevery=max(1, int(seen.sum()) // _MARKED), **line)
            lost += [(float(x), line["color"]) for x in share[np.isinf(error)]]
        if len(told) < len(result_by_order):
            drawn.note("other orders", color=look.faint, linewidth=0.5)
        for x, colour in lost:
            ax.plot(x, 0.98, "x", color=colour, markersize=6, transform=ax.get_xaxis_transform())
        if not lost and not any(np.size(line.get_xdata()) for line in ax.lines):
            ax.text(0.5, 0.5, "no pivot is off", color=look.ink, ha="center", transform=ax.transAxes)
        ax.set_ylabel("largest relative error in each %" if coarse else "relative error of pivots")
        if lost:
            drawn.poor("zero or not a number", False)
        for format in dict.fromkeys(r.format for r in result_by_order.values()):
            if (level := unit_of(format)) is not None:
                unit: dict[str, Any] = {"color": look.ink, "linewidth": 0.8, "linestyle": "--"}
                ax.axhline(level, **unit)
                drawn.note(f"rounding unit of {format}", **unit)
    return drawn.figure
