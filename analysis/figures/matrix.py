"""One block matrix drawn into an axes: cells with text, or a raster."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgb, to_rgba_array
from matplotlib.patches import Ellipse, Rectangle
from matplotlib.textpath import TextPath
from numpy.typing import NDArray

from pivotree.kkt import Matrix, System, plan, symbolic
from pivotree.kkt.matrix.system import require_system

from ..colours import SMALL, TEXT, Theme, plain
from .labels import Labels
from .own_axes import axes_of, size_of
from .state import FILL, NEW, ORIGINAL, ZEROED, BlockState, block_state
from .style import LEAST, even, new_figure, settings, theme

TEXT_BLOCKS = 60  # with more blocks there is no text, but a raster
PIXELS = 500  # of its side at most; more than a journal's column prints
_MARGIN_TEXT = 8.0  # [pt] text at the margins


def draw(
    ax: Axes,
    state: BlockState,
    side: float,
    look: Theme,
    *,
    labels: bool | None,
    circles: bool,
    zeros: bool = False,
) -> str:
    """Draw a state into a square of ``side`` [pt]; returns "cells" or "raster"."""
    small = state.blocks <= TEXT_BLOCKS
    named = small and labels is not False and _room(state, side)
    edge = _edges(state, side, named) if small else np.arange(state.blocks + 1.0)
    end = float(edge[-1])
    ax.set(xlim=(0, end), ylim=(end, 0), xticks=[], yticks=[], facecolor=look.page)
    ax.set_aspect("equal")
    for spine in ax.spines.values():
        spine.set(color=look.faint, linewidth=0.6)
    gone = float(edge[int(state.done.sum())])
    partly = 0 < state.step < state.symbolic.plan.groups
    if small:
        for box in ((0, 0, end, gone), (0, gone, gone, end - gone)) if partly else ():
            ax.add_patch(Rectangle(box[:2], *box[2:], facecolor=look.shade, linewidth=0, zorder=0))
        _cells(ax, state, edge, side, look, named, zeros)
        if circles:
            _circle(ax, state, edge, look)
        _brackets(ax, state, edge, look)
        _margins(ax, state, edge, side, look)
        return "cells"
    if labels:
        _margins(ax, state, edge, side, look)
    _raster(ax, state, look, zeros, partly)
    if partly:
        ax.plot([gone, gone, end], [end, gone, gone], color=look.ink, linewidth=0.6)
    return "raster"


# -- large: pixels --------------------------------------------------------------------------------


def _raster(ax: Axes, state: BlockState, look: Theme, zeros: bool, partly: bool) -> None:
    """A pixel has the colour of the rarest kind of block that falls on it: what is new, then fill.

    Without transparency or resampling, a PDF of it takes half of the time.
    """
    p = min(PIXELS, state.blocks)
    at = np.arange(state.blocks) * p // state.blocks
    below = np.where(state.zeroed & zeros, ZEROED, state.kind)
    rows = at[np.concatenate([state.row, state.col, np.arange(state.blocks)])]
    columns = at[np.concatenate([state.col, state.row, np.arange(state.blocks)])]
    kinds = np.concatenate([state.kind, below, state.diagonal])
    kind_of = np.zeros((p, p), dtype=np.int8)
    gone = at[int(state.done.sum())] if partly else 0
    kind_of[:gone] = kind_of[:, :gone] = -1  # the shade
    for kind in (ZEROED, ORIGINAL, FILL, NEW):
        kind_of[rows[kinds == kind], columns[kinds == kind]] = kind
    colours = [look.page, *(strong(kind, look) for kind in (ORIGINAL, FILL, NEW, ZEROED)), look.shade]
    image = (to_rgba_array(colours) * 255).round().astype(np.uint8)[kind_of]
    extent = (0.0, float(state.blocks), float(state.blocks), 0.0)
    ax.imshow(image, extent=extent, interpolation="none", aspect="equal", zorder=1)


def strong(kind: int, look: Theme) -> str:
    """The colour of a kind of block where blocks are too small for hatching and rings."""
    return {
        ORIGINAL: look.entry_strong,
        FILL: look.fill_strong,
        NEW: look.new_strong,
        ZEROED: look.zero_strong,
    }[kind]


# -- small: cells with text -----------------------------------------------------------------------


def _room(state: BlockState, side: float) -> bool:
    """Few bodies, and blocks of 6 x 6 wide enough for Phi."""
    widest = 6 * side / float(state.symbolic.size.sum() + 2 * state.symbolic.plan.graph.structure.n)
    return state.symbolic.plan.graph.structure.n <= 6 and widest >= 1.9 * LEAST * 1.6


def _edges(state: BlockState, side: float, named: bool) -> NDArray[np.float64]:
    """(B + 1,) true sizes; thin blocks are drawn just thick enough for their text."""
    size = state.symbolic.size.astype(float)
    wanted = 14.0 if named else _text_size(side) + 1.5  # [pt]
    for least in (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0):
        drawn = np.maximum(size, least)
        if least * side / drawn.sum() >= wanted or (named and least == 3.0):
            break
    return np.concatenate([[0.0], np.cumsum(drawn)])


def _text_size(side: float) -> float:
    return min(_MARGIN_TEXT, max(7.0, side / 40))


def _cells(
    ax: Axes, state: BlockState, edge: NDArray[Any], side: float, look: Theme, text: bool, zeros: bool
) -> None:
    table = state.table(zeros=zeros)
    names = Labels(state) if text else None
    points = side / float(edge[-1])
    inset = min(0.6 / points, 0.06 * float(np.diff(edge).min()))
    boxes: dict[int, list[Rectangle]] = {ORIGINAL: [], FILL: [], NEW: [], ZEROED: []}
    for i, j in np.argwhere(table):
        corner = (edge[j] + inset, edge[i] + inset)
        width, height = edge[j + 1] - edge[j] - 2 * inset, edge[i + 1] - edge[i] - 2 * inset
        boxes[int(table[i, j])].append(Rectangle(corner, width, height))
        centre = (corner[0] + width / 2, corner[1] + height / 2)
        if table[i, j] == ZEROED:
            ring: Any = {"markerfacecolor": "none", "markeredgecolor": look.zero, "markeredgewidth": 0.6}
            ax.plot(*centre, "o", markersize=min(3.6, 0.45 * min(width, height) * points), zorder=3, **ring)
            continue  # a small nought: something was here, and the elimination has made it zero
        label = names.cell(int(i), int(j)) if names else ""
        paper = look.fill if table[i, j] == FILL else None
        shown = label and _write(
            ax, centre, (width * points, height * points), label, _ink_on(int(table[i, j]), look), paper
        )
        if table[i, j] == NEW and not shown:
            mark = 0.5 * min(width, height) * points
            ax.plot(*centre, "+", color=look.page, markersize=mark, markeredgewidth=1.2, zorder=3)
    for kind, patches in boxes.items():
        if patches:
            ax.add_collection(PatchCollection(patches, **face(kind, look, cells=True)))


def _ink_on(kind: int, look: Theme) -> str:
    """The colour of text on a block: the page's where the block is as dark as the ink."""
    if kind != NEW:
        return look.ink

    def away(colour: str) -> float:
        return abs(sum(to_rgb(colour)) - sum(to_rgb(look.new)))

    return max((look.ink, look.page), key=away)


def face(kind: int, look: Theme, *, cells: bool) -> dict[str, Any]:
    """Colour and glyph of one kind of block; where there is no room for glyphs, colour alone."""
    if not cells:
        colour = strong(kind, look)
        # what is new is drawn a little larger than it is: it is what one looks for
        return {"facecolor": colour, "edgecolor": colour, "linewidth": 0.4 * (kind == NEW)}
    if kind == ORIGINAL:
        return {"facecolor": look.entry, "linewidth": 0}
    if kind == ZEROED:
        return {"facecolor": "none", "edgecolor": look.zero, "linewidth": 0.4, "linestyle": ":"}
    if kind == FILL:
        hatched = {"hatch": "//////", "edgecolor": look.fill_hatch}
        return {"facecolor": look.fill, "linewidth": 0.5, **hatched}
    return {"facecolor": look.new, "edgecolor": look.ink, "linewidth": 1.3}


def _write(
    ax: Axes, centre: tuple[float, float], box: tuple[float, float], label: str, ink: str, paper: str | None
) -> bool:
    """A label at the largest size that fits a box [pt]; turned where that is tall and thin.

    ``paper`` is the colour that keeps hatching away from the text.
    """
    width, height = box
    w, h = extent(label)
    size = _fitting(width, height, w, h)
    turned = height > width and w > h and size < LEAST
    if turned:
        size = _fitting(height, width, w, h)
    if size < LEAST:
        return False
    ax.text(
        *centre,
        f"${label}$",
        fontsize=size,
        color=ink,
        ha="center",
        va="center",
        rotation=90 if turned else 0,
        zorder=3.8,
        bbox={"facecolor": paper, "edgecolor": "none", "pad": 0.5} if paper else None,
    )
    return True


def _fitting(width: float, height: float, w: float, h: float) -> float:
    """The font size at which a text of extent (w, h) fits into a box [pt]."""
    # a square block may be a pivot: its text must fit into a circle
    across = 0.8 * width / np.hypot(w, h) if width < 1.2 * height else 0.92 * width / w
    return min(9.0, float(across), 0.85 * height / h)


def extent(label: str) -> tuple[float, float]:
    """Width and height of a label in units of its font size, in the font of the settings."""
    return _extent(label, matplotlib.rcParams["mathtext.fontset"])


@lru_cache(maxsize=2048)
def _extent(label: str, fontset: str) -> tuple[float, float]:
    box = TextPath((0, 0), f"${label}$", size=10).get_extents()
    return max(box.width, 1.0) / 10, max(box.height, 11.5) / 10


def _circle(ax: Axes, state: BlockState, edge: NDArray[Any], look: Theme) -> None:
    """Circles as in Ascher 1996; those of the last step are bold while elimination goes on."""
    last = {tuple(p) for p in state.step_pivots.tolist()}
    whole = state.step == state.symbolic.plan.groups
    fresh = {(i, i) for i in np.flatnonzero(state.diagonal == NEW).tolist()}
    rings: dict[tuple[bool, str], list[Ellipse]] = {}
    for i, j in state.pivots.tolist():
        w, h = edge[j + 1] - edge[j], edge[i + 1] - edge[i]
        across = 0.9 * min(w, h)
        ring = Ellipse((edge[j] + w / 2, edge[i] + h / 2), across, across)
        ink = _ink_on(NEW if (i, j) in fresh else ORIGINAL, look)
        rings.setdefault(((i, j) in last and not whole, ink), []).append(ring)
    for (bold, ink), drawn in sorted(rings.items()):
        style: dict[str, Any] = {"edgecolor": ink, "linewidth": 1.5 if bold else 0.8}
        ax.add_collection(PatchCollection(drawn, facecolor="none", zorder=4, **style))


def _brackets(ax: Axes, state: BlockState, edge: NDArray[Any], look: Theme) -> None:
    group = state.symbolic.plan.group
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    stops = np.append(starts[1:], len(group))
    frames = [
        Rectangle((edge[a], edge[a]), edge[b] - edge[a], edge[b] - edge[a])
        for a, b in zip(starts, stops, strict=True)
    ]
    style: dict[str, Any] = {"facecolor": "none", "edgecolor": look.ink, "linewidth": 0.7}
    ax.add_collection(PatchCollection(frames, zorder=3.5, clip_on=False, **style))


def _margins(ax: Axes, state: BlockState, edge: NDArray[Any], side: float, look: Theme) -> None:
    """Unknowns at the left and at the top, where none is higher than its row."""
    names = Labels(state)
    points = side / float(edge[-1])
    size = _text_size(side)
    widths, heights = size * np.array([extent(names.unknown(t)) for t in range(state.blocks)]).T
    if points * float(np.diff(edge).min()) < heights.max():
        return
    gap = 3.0 / points
    turned = 90 if (widths > points * np.diff(edge)).any() else 0
    for t in range(state.blocks):
        middle = (edge[t] + edge[t + 1]) / 2
        label = f"${names.unknown(t)}$"
        style: dict[str, Any] = {"fontsize": size, "color": look.ink, "clip_on": False}
        ax.text(-gap, middle, label, ha="right", va="center_baseline", **style)
        ax.text(middle, -gap, label, ha="center", va="bottom", rotation=turned, **style)


def spy(
    system: System | Matrix,
    order: Any,
    step: int | None = None,
    *,
    ax: Axes | None = None,
    labels: bool | None = None,
    style: str | Theme | None = None,
) -> Axes:
    """The blocks of (4) after ``step`` groups of an order (None: all), drawn into ``ax``.

    ``order`` is a name, a function, a list of groups or ``FILE.py:FUNCTION``; ``ax`` None makes a
    figure.  Rows stand in the order of elimination; the title tells the fill.  The axes keep their
    place in the figure, which must have its size and layout already, since blocks are named where
    they have room.  Returns the axes.  Raises OrderError for an order that cannot be eliminated or
    a step that it does not have.

    >>> ax = pt.spy(pt.build(pt.chain(3)), "crbm")
    >>> ax.get_title()
    'CRBM: 6 blocks of fill + 3 diagonal'
    """
    if isinstance(system, Matrix):
        labels = False  # names of blocks are those of (4)
    else:
        require_system(system)
    factor, look = symbolic(plan(order, system.structure)), theme(style=style)
    state = block_state(factor, step)
    if ax is None:
        ax = new_figure("double", 7.0, look).add_axes((0.06, 0.03, 0.9, 0.87))
    (only,) = axes_of(ax)
    into(only, state, f"{look.named(factor.plan.sequence.name)}: {state.told}", look, labels=labels)
    return ax


def into(
    ax: Axes, state: BlockState, caption: str, look: Theme, *, labels: bool | None, zeros: bool = False
) -> None:
    """Draw a state into a user's axes, as large as they are, below its caption."""
    wide, high = size_of(ax)
    side = min(wide, high)
    with settings(look.font):
        draw(ax, state, 72 * side, look, labels=labels, circles=state.step > 0, zeros=zeros)
        pad = 6 + 2 * _MARGIN_TEXT * bool(ax.texts)  # [pt] above the unknowns' names
        size = TEXT if side > 2.5 else SMALL
        ax.set_title(plain(even(caption, wide, size)), color=look.ink, pad=pad, fontsize=size)
