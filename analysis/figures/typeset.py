"""The block matrix set as in a paper: symbols between parentheses, pivots circled."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, PathPatch
from matplotlib.path import Path

from pivotree.kkt import FormatError, SymbolicFactor

from .labels import Labels
from .matrix import extent
from .state import FILL, NEW, ZERO, ZEROED, block_state
from .style import WIDTHS, Theme, new_figure, plain, settings, theme, wrapped

MOST = 40  # blocks; a wider matrix cannot be read


def typeset(
    symbolic: SymbolicFactor,
    step: int | None = None,
    *,
    width: str = "double",
    style: str = "light",
    title: str | None = None,
) -> Figure:
    r"""The blocks after ``step`` groups (None: all), in the symbols of Ascher 1996.

    Pivots so far are circled, fill is underlined and in its colour, what the elimination has made
    zero is a 0, and a block without a name in the paper is a \times; all else is zero.  Raises
    FormatError where the matrix is too large to be read.
    """
    look = theme(style=style)
    state = block_state(symbolic, step)
    if state.blocks > MOST:
        raise FormatError(
            f"figure: {state.blocks} block rows are too many to be set as symbols (at most "
            f"{MOST}); use kind spy"
        )
    names, table = Labels(state), state.table(zeros=True)
    texts = {
        (i, j): "0" if table[i, j] == ZEROED else names.cell(i, j) or r"\times"
        for i, j in np.argwhere(table != ZERO).tolist()
    }
    pivots = {tuple(pair) for pair in state.pivots.tolist()}
    wide = np.array(
        [max([1.0, *(_room(texts.get((i, j), ""), (i, j) in pivots) for i in range(state.blocks))])
         for j in range(state.blocks)]
    )  # fmt: skip
    total = WIDTHS.get(width, WIDTHS["double"])
    # in units of the font size: columns, gaps, parentheses, unknowns at the left
    left = 1.1 + max(extent(names.unknown(t))[0] for t in range(state.blocks))
    across = left + float((wide + 0.9).sum()) + 1.6
    size = min(10.0, 72 * (total - 0.1) / across)
    row = max(1.9, 1.25 * max((w for w in _circled(texts, pivots).values()), default=1.4))
    height = (state.blocks * row + 1.0) * size / 72
    key = names.key()
    with settings():
        lines = 0.22 * bool(title) + 0.2 + 0.18 * bool(key)
        figure = new_figure(width, height + lines, look)
        tall = height + lines
        ax = figure.add_axes((0, (0.2 + 0.18 * bool(key)) / tall, 1, height / tall))
        ax.set_axis_off()
        spare = (72 * total / size - across) / 2
        ax.set(xlim=(-spare, across + spare), ylim=(height * 72 / size, 0))
        middle = left + 0.9 + np.concatenate([[0.0], np.cumsum(wide + 0.9)[:-1]]) + wide / 2
        down = 0.5 + row * (np.arange(state.blocks) + 0.5)
        for (i, j), text in texts.items():
            _cell(ax, middle[j], down[i], text, int(table[i, j]), (i, j) in pivots, size, look)
        for t in range(state.blocks):
            ax.text(0.1, down[t], f"${names.unknown(t)}$", fontsize=0.8 * size, color=look.zero,
                    ha="left", va="center")  # fmt: skip
        _parentheses(ax, left, across - 0.5, 0.3, height * 72 / size - 0.3, look)
        if title is not None:
            figure.text(0.5, 1 - 0.04 / tall, wrapped(title, width, 9), ha="center", va="top",
                        color=look.ink, fontsize=9)  # fmt: skip
        told = "circle: pivot   0: made zero   underlined: fill"
        figure.text(0.5, (0.2 * bool(key) + 0.04) / tall, told, ha="center", va="bottom",
                    color=look.ink, fontsize=7)  # fmt: skip
        if key:
            figure.text(0.5, 0.03 / tall, f"bodies: {plain(key)}", ha="center", va="bottom",
                        color=look.zero, fontsize=7)  # fmt: skip
    return figure


def _room(text: str, circled: bool) -> float:
    width = extent(text)[0] if text else 0.0
    return 1.25 * float(np.hypot(width, 0.9)) if circled else width


def _circled(
    texts: dict[tuple[int, int], str], pivots: set[tuple[int, ...]]
) -> dict[tuple[int, int], float]:
    return {at: _room(text, True) for at, text in texts.items() if at in pivots}


def _cell(
    ax: Axes, x: float, y: float, text: str, kind: int, pivot: bool, size: float, look: Theme
) -> None:
    filled = kind in (FILL, NEW)
    ink = _strong(look) if filled else look.zero if kind == ZEROED else look.ink
    ax.text(x, y, f"${text}$", fontsize=size, color=ink, ha="center", va="center")
    half = extent(text)[0] / 2
    if filled:  # inside a ring the line is shorter and nearer
        half, low = (0.6 * half, 0.62) if pivot else (half, 0.72)
        ax.plot([x - half, x + half], [y + low, y + low], color=ink, linewidth=0.9)
    if pivot:
        across = _room(text, True)
        ring = Ellipse((x, y), across, across, facecolor="none", edgecolor=look.ink, linewidth=0.8)
        ax.add_patch(ring)


def _strong(look: Theme) -> str:
    """A colour of fill that can be read as text."""
    return look.fill_hatch


def _parentheses(
    ax: Axes, left: float, right: float, top: float, bottom: float, look: Theme
) -> None:
    for x, sign in ((left, 1.0), (right, -1.0)):
        bend = 0.55 * sign
        curve = Path(
            [(x + bend, top), (x - 0.1 * sign, top + 1.4), (x, (top + bottom) / 2),
             (x - 0.1 * sign, bottom - 1.4), (x + bend, bottom)],
            [Path.MOVETO, Path.CURVE3, Path.CURVE3, Path.CURVE3, Path.CURVE3],
        )  # fmt: skip
        ax.add_patch(PathPatch(curve, facecolor="none", edgecolor=look.ink, linewidth=1.0))
