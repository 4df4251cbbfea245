"""The block matrix set as in a paper: symbols between parentheses, pivots circled."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from pivotree.kkt import FormatError, SymbolicFactor

from .labels import Labels
from .matrix import extent
from .state import FILL, NEW, ZERO, ZEROED, BlockState, block_state
from .style import LEAST, SMALL, TEXT, WIDTHS, Theme, new_figure, settings, theme, wrapped
from .tex import too_many

MOST = 40  # blocks; a wider matrix cannot be read
_NO_SYMBOL = r"\times"


@dataclass(frozen=True)
class Cells:
    """What stands in the cells, and how large."""

    texts: dict[tuple[int, int], str]
    pivots: set[tuple[int, ...]]
    wide: NDArray[np.float64]  # (blocks,) of the columns, in units of the font size
    left: float  # room for the unknowns, in these units
    size: float  # [pt]
    left_out: bool  # some symbols have no room

    @property
    def gap(self) -> float:
        """Between columns, in units of the font size."""
        return 0.45 if self.left_out else 0.9

    @property
    def middle(self) -> NDArray[np.float64]:
        """(blocks,) of the columns."""
        before = np.concatenate([[0.0], np.cumsum(self.wide + self.gap)[:-1]])
        return self.left + 0.9 + before + self.wide / 2

    @property
    def across(self) -> float:
        return float(self.middle[-1] + self.wide[-1] / 2) + 1.6


def cells_of(state: BlockState, names: Labels, width: str) -> Cells:
    """The symbols at the size that the columns leave them, in the font of the settings.

    Where that is less than ``LEAST``, the longest symbols are left out, as few of them as will do.
    Raises FormatError where there is no room for the shortest.
    """
    table = state.table(zeros=True)
    whole = {
        (i, j): "0" if table[i, j] == ZEROED else names.cell(i, j) or _NO_SYMBOL
        for i, j in np.argwhere(table != ZERO).tolist()
    }
    pivots = {tuple(pair) for pair in state.pivots.tolist()}
    left = 1.1 + max(extent(names.unknown(t))[0] for t in range(state.blocks))
    longest: dict[str, float] = {}  # symbols that differ in their numbers alone go together
    for text in whole.values():
        longest[_shape(text)] = max(longest.get(_shape(text), 0.0), extent(text)[0])
    for limit in sorted({*longest.values(), extent(_NO_SYMBOL)[0]}, reverse=True):
        texts = {at: text if longest[_shape(text)] <= limit else _NO_SYMBOL for at, text in whole.items()}
        wide = _widths(texts, pivots, state.blocks)
        found = Cells(texts, pivots, wide, left, 10.0, texts != whole)
        size = min(10.0, 72 * (WIDTHS.get(width, WIDTHS["double"]) - 0.1) / found.across)
        if size >= LEAST:
            return replace(found, size=size)
    wider = "use width double or " if width == "single" else "use "
    raise FormatError(
        f"figure: {state.blocks} block rows leave no room for symbols of {LEAST:.0f} pt in a "
        f"figure of {width} width; {wider}kind spy"
    )


def _shape(symbol: str) -> str:
    return re.sub(r"[\d,]+", "", symbol)


def crowded(symbolic: SymbolicFactor, step: int | None, width: str, style: Theme) -> bool:
    """Whether :func:`typeset` leaves symbols out.  Raises as it does."""
    state = block_state(symbolic, step)
    with settings(style.font):
        return cells_of(state, Labels(state), width).left_out


def typeset(
    symbolic: SymbolicFactor,
    step: int | None = None,
    *,
    width: str = "double",
    style: str | Theme = "light",
    title: str | None = None,
) -> Figure:
    r"""The blocks after ``step`` groups (None: all), in the symbols of Ascher 1996.

    Pivots so far are circled, fill is underlined and in its colour, what the elimination has made
    zero is a 0, and a block without a name in the paper is a \times, as is one whose symbol is too
    long for symbols of 5 pt; all else is zero.  Raises FormatError where the matrix is too large to
    be read.

    >>> from pivotree.analysis.figures import typeset
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.chain(2)).structure))
    >>> typeset(factor, width="single").get_size_inches()[0]  # [in], one column
    np.float64(3.4)
    """
    look = theme(style=style)
    state = block_state(symbolic, step)
    if state.blocks > MOST:
        raise too_many(state.blocks, MOST)
    names, table = Labels(state), state.table(zeros=True)
    above = wrapped(title, width) if title else ""
    with settings(look.font):  # whose letters are measured and drawn
        cells = cells_of(state, names, width)
        texts, pivots, size = cells.texts, cells.pivots, cells.size
        told = _told(cells, names.key(), width)
        total = WIDTHS.get(width, WIDTHS["double"])
        rings = [_room(texts[at], True) for at in texts if at in pivots]
        row = max(1.9, 1.25 * max(rings, default=1.4))
        height = (state.blocks * row + 1.0) * size / 72
        head, foot = (_lines([above]) if above else 0.0), _lines(told)
        tall = height + head + foot
        figure = new_figure(width, tall, look)
        ax = figure.add_axes((0, foot / tall, 1, height / tall))
        ax.set_axis_off()
        spare = (72 * total / size - cells.across) / 2
        ax.set(xlim=(-spare, cells.across + spare), ylim=(height * 72 / size, 0))
        down = 0.5 + row * (np.arange(state.blocks) + 0.5)
        for (i, j), text in texts.items():
            at, kind = (float(cells.middle[j]), float(down[i])), int(table[i, j])
            _cell(ax, at, text, kind, (i, j) in pivots, size, look)
        for t in range(state.blocks):
            ax.text(
                0.1,
                down[t],
                f"${names.unknown(t)}$",
                fontsize=max(LEAST, 0.8 * size),
                color=look.zero,
                ha="left",
                va="center",
            )
        _parentheses(ax, cells.left, cells.across - 0.5, 0.3, height * 72 / size - 0.3, look)
        lines: dict[str, Any] = {"ha": "center", "color": look.ink, "linespacing": 1.2}
        figure.text(0.5, 1 - 0.05 / tall, above, va="top", fontsize=TEXT, **lines)
        figure.text(0.5, 0.05 / tall, "\n".join(told), va="bottom", fontsize=SMALL, **lines)
    return figure


def _told(cells: Cells, key: str, width: str) -> list[str]:
    """What the marks mean, under the matrix."""
    marks = ["circle: pivot", "0: made zero", "underlined: fill"]
    if cells.left_out:
        marks.append("\xd7:\xa0a block whose symbol has no room, or that has none")
    elif _NO_SYMBOL in cells.texts.values():
        marks.append("\xd7:\xa0a block that has no symbol")
    told = [wrapped(";  ".join(marks), width, SMALL)]
    return [*told, wrapped(f"bodies: {key}", width, SMALL)] if key else told


def _lines(texts: list[str]) -> float:
    """[in] that lines of text take, with what keeps them from the matrix."""
    return 0.1 + 0.15 * sum(text.count("\n") + 1 for text in texts)


def _widths(
    texts: dict[tuple[int, int], str], pivots: set[tuple[int, ...]], blocks: int
) -> NDArray[np.float64]:
    """(blocks,) of the columns, in units of the font size."""
    wide = np.ones(blocks)
    for at, text in texts.items():
        wide[at[1]] = max(wide[at[1]], _room(text, at in pivots))
    return wide


def _room(text: str, circled: bool) -> float:
    width = extent(text)[0] if text else 0.0
    return 1.25 * float(np.hypot(width, 0.9)) if circled else width


def _cell(
    ax: Axes, at: tuple[float, float], text: str, kind: int, pivot: bool, size: float, look: Theme
) -> None:
    x, y = at
    filled = kind in (FILL, NEW)
    # fill's own colour is too light for text, that of its hatching is not
    ink = look.fill_hatch if filled else look.zero if kind == ZEROED else look.ink
    ax.text(x, y, f"${text}$", fontsize=size, color=ink, ha="center", va="center")
    half = extent(text)[0] / 2
    if filled:  # inside a ring the line is shorter and nearer
        half, low = (0.6 * half, 0.62) if pivot else (half, 0.72)
        ax.plot([x - half, x + half], [y + low, y + low], color=ink, linewidth=0.09 * size)
    if pivot:
        across = _room(text, True)
        ring = Ellipse((x, y), across, across, facecolor="none", edgecolor=look.ink)
        ring.set_linewidth(0.08 * size)
        ax.add_patch(ring)


def _parentheses(ax: Axes, left: float, right: float, top: float, bottom: float, look: Theme) -> None:
    for x, sign in ((left, 1.0), (right, -1.0)):
        bend = 0.55 * sign
        curve = Path(
            [
                (x + bend, top),
                (x - 0.1 * sign, top + 1.4),
                (x, (top + bottom) / 2),
                (x - 0.1 * sign, bottom - 1.4),
                (x + bend, bottom),
            ],
            [Path.MOVETO, Path.CURVE3, Path.CURVE3, Path.CURVE3, Path.CURVE3],
        )
        ax.add_patch(PathPatch(curve, facecolor="none", edgecolor=look.ink, linewidth=1.0))
