"""Digits kept, from the rows of a comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from pivotree.kkt import Elimination, FormatError
from pivotree.kkt.arithmetic import get_format

from ..colours import SMALL, TEXT, Theme
from .own_axes import One, axes_of, size_of
from .style import MARKERS, even, new_figure, settings, style_axes, theme, wrapped

DASHED: tuple[int, tuple[int, ...]] = (0, (4, 3))
_LINE = 0.17  # [in] of a line of the title or the legend


@dataclass
class Chart:
    """A figure while it is drawn: its axes, and what the legend will say."""

    figure: Any  # or, in a user's axes, these
    axes: Sequence[Axes]  # row after row
    look: Theme
    wide: float  # [in] of a panel
    high: float
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
    ax: Any = None,
    shape: tuple[int, int] = (1, 1),
    grid: str = "",
    columns: tuple[int, int] = (2, 5),
    **axes: Any,
) -> Iterator[Chart]:
    """Axes to draw in, ``height`` [in] without title and legend, which come when all is drawn.

    ``columns`` are those of the legend, in a single and a double column.  A user's ``ax`` take the
    title, and the entries of a legend that ``ax.legend()`` draws.
    """
    if ax is not None:
        (own,) = axes_of(ax)
        style_axes(own, look, grid=grid)
        made = Chart(ax, [own], look, *size_of(own))
        yield made
        for handle in made.handles:
            own.add_artist(handle)
        if title:
            own.set_title(wrapped(title, made.wide), fontsize=TEXT)
        return
    with settings(look.font):
        figure = new_figure(width, height, look)
        figure.set_layout_engine("constrained")
        panels = figure.subplots(*shape, squeeze=False, **axes).ravel().tolist()
        for one in panels:
            style_axes(one, look, grid=grid)
        made = Chart(figure, panels, look, 5.4 if width == "double" else 2.5, height)
        yield made
        across = max(1, min(columns[width == "double"], len(made.handles)))
        lines = -(-len(made.handles) // across)
        if title:
            text = wrapped(title, figure.get_figwidth())
            lines += 2 + text.count("\n")
            figure.suptitle(text, color=look.ink, fontsize=TEXT)
        figure.set_figheight(height + _LINE * lines)
        if made.handles:
            figure.legend(handles=made.handles, loc="outside lower center", ncols=across, **look.legend)


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


Rows = Iterable[Mapping[str, Any]]


def error_bars(
    rows: Rows,
    *,
    ax: One | None = None,
    width: str = "double",
    title: str | None = None,
    style: str | Theme | None = None,
) -> One:
    """Digits kept by each order, one marker a number format, best order of the first format first.

    ``rows`` have the keys order, format, error, digits of ``compare --json``; error None is a
    failed elimination, drawn as a cross at zero digits, and one that is ``marked`` has a star.
    Into ``ax`` it is drawn without a legend, which ``ax.legend()`` adds, and these are returned.

    >>> from pivotree.analysis.figures import error_bars
    >>> table = pt.compare(pt.build(pt.chain(5)), ["abm", "crbm"], ["float32"])
    >>> figure = error_bars([row.as_dict() for row in table.rows])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['ABM', 'CRBM']
    """
    rows, look = list(rows), theme(style=style)
    formats = list(dict.fromkeys(row["format"] for row in rows))
    kept = {(row["order"], row["format"]): _digits(row) for row in rows}
    marked = {(row["order"], row["format"]) for row in rows if row.get("marked")}
    orders = sorted(
        dict.fromkeys(row["order"] for row in rows),
        key=lambda order: [-_or(kept.get((order, f)), -1.0) for f in formats],
    )
    capacity = {f: full for f in formats if (full := capacity_of(f)) is not None}
    most = max([1.0, *(d for d in kept.values() if d is not None), *capacity.values()])
    with chart(look, width, 0.9 + 0.2 * max(len(orders), 2), title, ax=ax, grid="x") as drawn:
        (own,) = drawn.axes
        near = 0.38 * most / drawn.wide  # that a number takes
        own.set(xlim=(0, most * 1.08), ylim=(len(orders) - 0.5, -0.5))
        for i, format in enumerate(formats):
            point = {**series(look, i), "markersize": 5.5}
            drawn.note(format, **point)
            if format in capacity:
                own.axvline(capacity[format], color=point["color"], linewidth=0.8, linestyle=DASHED)
            for y, order in enumerate(orders):
                if (order, format) not in kept:
                    continue
                if (digits := kept[order, format]) is None:
                    own.plot(0.02 * most * i, y, "x", color=point["color"], markersize=6, clip_on=False)
                else:
                    own.plot(digits, y, clip_on=False, **point)
                    if 4 * near > most:  # narrow axes
                        continue
                    # a number stands where no line of a format runs through it, nor the axis
                    ahead = digits > near and any(0 <= full - digits < near for full in capacity.values())
                    _number(own, f"{digits:.1f}{'*' * ((order, format) in marked)}", digits, y, ahead, look)
        for y in range(len(orders)):
            own.axhline(y, color=look.faint, linewidth=0.4, alpha=0.5, zorder=0)
        own.set_yticks(range(len(orders)), [look.named(order) for order in orders])
        told = "correct decimal digits" + " of the joint accelerations" * (drawn.wide > 3.5)
        own.set_xlabel(even(told, drawn.wide, TEXT))
        if capacity:
            drawn.note("all that the format holds", color=look.ink, linewidth=0.8, linestyle=DASHED)
        drawn.poor("failed" * (None in kept.values()), bool(marked))
    return drawn.figure


def _number(ax: Any, text: str, digits: float, y: float, left: bool, look: Theme) -> None:
    """Digits beside their point, at its left or at its right."""
    ax.annotate(
        text,
        (digits, y),
        (-5 if left else 5, 0),
        textcoords="offset points",
        fontsize=SMALL,
        va="center",
        ha="right" if left else "left",
        color=look.ink,
        path_effects=[withStroke(linewidth=2, foreground=look.page)],
    )


def _digits(row: Mapping[str, Any]) -> float | None:
    """Digits of a row, from its error where they are not given; None where it failed."""
    error = row.get("error")
    if error is None:
        return None
    if row.get("digits") is not None:
        return float(row["digits"])
    if error > 0:
        return max(0.0, -math.log10(error))
    return _or(capacity_of(row["format"]), 30.0)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


_COLOURED = 6  # orders that can be told apart
_MARKED = 40  # steps; with more, markers would hide the line
_EACH = 400  # steps; with more, the largest error in each per cent of them is drawn


def _telling(results: Mapping[str, Elimination]) -> list[str]:
    """Orders to draw in colour: all where they are few, else those that lose most and least.

    Of orders whose lines are the same the first is coloured; one point is a line only among points.
    """
    long = max((len(result.steps) for result in results.values()), default=0) > _MARKED
    coloured = 2 if long else _COLOURED  # long lines cross too often to be followed
    if len(results) <= coloured:
        return list(results)
    lines: dict[tuple[tuple[float, float], ...], str] = {}
    for order, result in results.items():
        points = ((s.step / len(result.steps), s.pivot_error) for s in result.steps if s.pivot_error)
        lines.setdefault(tuple(points), order)
    several = [line for line in lines if len(line) > 1] or [*lines]
    ranked = sorted(several, key=lambda line: max((error for _, error in line), default=0.0))
    chosen = {lines[line] for line in ranked[: coloured // 2] + ranked[-(coloured // 2) :]}
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
    ax: One | None = None,
    width: str = "double",
    title: str | None = None,
    style: str | Theme | None = None,
    among: Sequence[str] = (),
) -> One:
    """Relative error of each step's own pivots, by order, in one number format.

    Steps are counted in per cent, since orders differ in their number.  Steps without an error
    (pairs, whose pivots are identities, and exact pivots) are left out; a pivot that is zero or
    not a number is a cross at the top.  Of many steps, the largest error in each per cent is
    drawn.  Of many orders, those whose pivots lose most and least are drawn in colour.  An order
    has the colour of its place in ``among``, if that names it, so that figures agree on colours.
    ``ax`` is as in :func:`error_bars`.

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
    with chart(look, width, 2.5 if width == "single" else 3.2, title, ax=ax, grid="y") as drawn:
        (own,) = drawn.axes
        own.set(yscale="log", xlim=(0, 102), xlabel="steps done [%]")
        for order, result in result_by_order.items():
            step = np.array([s.step for s in result.steps], dtype=float)
            error = np.array([np.nan if s.pivot_error is None else s.pivot_error for s in result.steps])
            if not len(step):
                continue
            share = 100 * step / step[-1]
            if len(step) > _EACH:
                share, error, coarse = *_largest(share, error), True
            seen = np.isfinite(error) & (error > (unit_of(result.format) or 0.0) / 1000)
            line: dict[str, Any] = {"color": look.faint, "linewidth": 0.5, "alpha": 0.6, "zorder": 1.5}
            if order in told:
                line = {**series(look, place[order]), "markersize": 3.5, "linewidth": 1.0}
                drawn.note(look.named(order), **line)
            own.plot(share[seen], error[seen], markevery=max(1, int(seen.sum()) // _MARKED), **line)
            lost += [(float(x), line["color"]) for x in share[np.isinf(error)]]
        if len(told) < len(result_by_order):
            drawn.note("other orders", color=look.faint, linewidth=0.5)
        for x, colour in lost:
            own.plot(x, 0.98, "x", color=colour, markersize=6, transform=own.get_xaxis_transform())
        if not lost and not any(np.size(line.get_xdata()) for line in own.lines):
            own.text(0.5, 0.5, "no pivot is off", color=look.ink, ha="center", transform=own.transAxes)
        said = "largest relative error in each %" if coarse else "relative error of pivots"
        own.set_ylabel(even(said, drawn.high, TEXT))
        if lost:
            drawn.poor("zero or not a number", False)
        for format in dict.fromkeys(r.format for r in result_by_order.values()):
            if (level := unit_of(format)) is not None:
                unit: dict[str, Any] = {"color": look.ink, "linewidth": 0.8, "linestyle": "--"}
                own.axhline(level, **unit)
                drawn.note(f"rounding unit of {format}", **unit)
    return drawn.figure
