"""Pictures of block sparsity: one matrix, before and after, and several orders side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from pivotree.kkt import OrderError, Partition, SymbolicFactor

from ..colours import SMALL, TEXT, Theme, plain
from .labels import Labels
from .matrix import TEXT_BLOCKS, draw, face, into
from .own_axes import One, Own, axes_of
from .state import FILL, NEW, ORIGINAL, BlockState, block_state
from .style import even, inches, new_figure, settings, theme, wrapped

_KEY_BODIES = 6  # with more bodies the numbers are not explained under the figure

_TIGHT: dict[str, Any] = {"handlelength": 1.4, "handleheight": 1.2, "borderpad": 0.1, "borderaxespad": 0.1}
_entry = partial(Rectangle, (np.nan, np.nan), 0, 0)  # of a legend; axes that hold it draw nothing


def spy(
    symbolic: SymbolicFactor,
    step: int | None = None,
    *,
    ax: One | None = None,
    labels: bool | None = None,
    width: str = "double",
    title: str | None = None,
    style: str | Theme | None = None,
    zeros: bool = False,
) -> One:
    """The blocks after ``step`` groups (None: all), rows in the order of elimination.

    Blocks are named where they are few and have room (``labels`` False: never).  Blocks made by
    the last of the ``step`` groups are marked apart; with None all fill looks alike.  With
    ``zeros`` what the elimination has made zero is marked, as in the 0-structure that Ascher 1996
    prints after (6); without, the factor's other triangle is shown.  ``ax`` is as in
    :func:`before_after`.

    >>> from pivotree.analysis.figures import spy
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.chain(3)).structure))
    >>> figure = spy(factor, step=1)
    >>> figure.texts[0].get_text()
    'ABM: after step 1 of 3, 1 block of fill + 1 diagonal'
    """
    state, look = block_state(symbolic, step), theme(style=style)
    if title is None:
        title = f"{look.named(symbolic.plan.sequence.name)}: {_progress(state)}"
    return _panels([state], [title], _How(labels, look, width, None, zeros), ax)


def before_after(
    symbolic: SymbolicFactor,
    *,
    ax: Own | None = None,
    labels: bool | None = None,
    width: str = "double",
    title: str | None = None,
    style: str | Theme | None = None,
    zeros: bool = False,
) -> Own:
    """The matrix as given, in elimination order, beside all that the elimination makes of it.

    Figures of several pictures are drawn into ``ax``, where that holds matplotlib's axes, one a
    picture, and return it; axes beyond are switched off.  Their figure must have its layout already;
    its title and its legend are its owner's, and the first axes know the entries: ``figure.legend()``.

    >>> from pivotree.analysis.figures import before_after
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("crbm"), pt.build(pt.chain(3)).structure))
    >>> [text.get_text() for text in before_after(factor).texts[:2]]
    ['the matrix: 8 blocks + 3 diagonal', 'after CRBM: 6 blocks of fill\\n+ 3 diagonal, 21 entries']
    """
    before, after, look = block_state(symbolic, 0), block_state(symbolic), theme(style=style)
    own = int((before.diagonal > 0).sum())
    captions = [
        f"the matrix: {symbolic.original:,} blocks + {own:,} diagonal",
        f"after {look.named(symbolic.plan.sequence.name)}: {after.told}, {after.fill_entries:,} entries",
    ]
    return _panels([before, after], captions, _How(labels, look, width, title, zeros), ax)


def filmstrip(
    symbolic: SymbolicFactor,
    steps: Sequence[int] | None = None,
    captions: Sequence[str] | None = None,
    *,
    ax: Own | None = None,
    labels: bool | None = None,
    width: str = "double",
    title: str | None = None,
    style: str | Theme | None = None,
    zeros: bool = False,
) -> Own:
    """One matrix after some numbers of groups; what is new since the picture before is marked apart.

    ``steps`` ascend, 0 being the matrix; where they are None, there are six of them, or one for each
    of ``ax`` (:func:`before_after`), evenly spaced, or all there are.  ``captions`` None tell the fill.

    >>> from pivotree.analysis.figures import filmstrip
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.chain(3)).structure))
    >>> figure = filmstrip(factor, [0, 1], ["the matrix", "the tip is eliminated"])
    >>> [text.get_text() for text in figure.texts[:2]]
    ['the matrix', 'the tip is eliminated']
    """
    groups = symbolic.plan.groups
    steps = stops(groups, 6 if ax is None else np.array(ax, dtype=object).size) if steps is None else steps
    states = [
        block_state(symbolic, step, since) for since, step in zip((0, *steps[:-1]), steps, strict=False)
    ]
    captions = captions or [
        f"{state.step:,} of {groups:,}: {state.told}" if state.step else "the matrix" for state in states
    ]
    return _panels(states, captions, _How(labels, theme(style=style), width, title, zeros), ax)


def stops(groups: int, frames: int) -> list[int]:
    """At most ``frames`` numbers of groups from 0 to all, evenly spaced; of one frame, all."""
    few = min(frames, groups + 1)
    return np.linspace(0 if few > 1 else groups, groups, few).round().astype(int).tolist()


def compare_orders(
    symbolics: Sequence[SymbolicFactor],
    *,
    ax: Own | None = None,
    names: Sequence[str] | None = None,
    labels: bool | None = False,
    width: str = "double",
    title: str | None = None,
    style: str | Theme | None = None,
    zeros: bool = False,
) -> Own:
    """The same matrix eliminated in several orders, each with its fill; ``ax`` as in `before_after`.

    >>> from pivotree.analysis.figures import compare_orders
    >>> graph = pt.build(pt.chain(4)).structure
    >>> plans = [pt.plan(pt.orderings.get(name), graph) for name in ("abm", "crbm")]
    >>> figure = compare_orders([pt.symbolic(plan) for plan in plans])
    >>> [text.get_text() for text in figure.texts[:2]]
    ['ABM: 3 blocks of fill + 4 diagonal', 'CRBM: 12 blocks of fill + 4 diagonal']
    """
    states, look = [block_state(symbolic) for symbolic in symbolics], theme(style=style)
    names = names or [look.named(symbolic.plan.sequence.name) for symbolic in symbolics]
    if title is None and ax is None:
        many = {2: "two", 3: "three", 4: "four"}.get(len(states), str(len(states)))
        title = f"One matrix, {many} orders of elimination"
    captions = [f"{n}: {s.told}" for n, s in zip(names, states, strict=True)]
    return _panels(states, captions, _How(labels, look, width, title, zeros), ax)


def _progress(state: BlockState) -> str:
    groups = state.symbolic.plan.groups
    if state.step == 0:
        return f"{state.symbolic.original:,} blocks off the diagonal"
    if state.step < groups:
        return f"after step {state.step:,} of {groups:,}, {state.told}"
    return state.told


class _How(NamedTuple):
    """How a figure of panels looks."""

    labels: bool | None
    look: Theme
    width: str
    title: str | None
    zeros: bool


def _panels(states: Sequence[BlockState], captions: Sequence[str], how: _How, ax: Any) -> Any:
    """Square panels in rows, captions above, one legend below; or each in one of a user's axes."""
    if not states or len(states) != len(captions):
        told = f"has {len(states)} pictures and {len(captions)} captions" if states else "has no picture"
        raise OrderError("figure", told, "give one step or order or more, and a caption for each or none")
    legend = _legend(states, how.look, how.zeros)
    if ax is not None:
        given = axes_of(ax, len(states), how.title)
        for one, state, text in zip(given, states, captions, strict=True):
            into(one, state, text, how.look, labels=how.labels, zeros=how.zeros)
        for handle in legend:
            given[0].add_artist(handle)
        return ax
    with settings(how.look.font):
        return _page(states, captions, how, legend)


def _page(
    states: Sequence[BlockState], captions: Sequence[str], how: _How, legend: Sequence[Patch | Line2D]
) -> Figure:
    """The panels in a figure of their own."""
    labels, look, width, title, zeros = how
    most_wide = 2 if len(states) in (2, 4) else 3
    if width == "single":  # a page is no more than some 9 in high
        most_wide = 1 if len(states) <= 2 else 2
    across = min(len(states), most_wide)
    down = -(-len(states) // across)
    below = 0.12 if down > 1 else 0.0  # [in] between rows
    small = any(state.blocks <= TEXT_BLOCKS for state in states)
    # [in] room for the margins' text, the caption, the legend and the numbers of bodies
    left, gap, right = (0.28 if small else 0.08), (0.36 if small else 0.16), 0.08
    most = 5.2 if across == 1 else 9.0
    total = inches(width)
    side = min(most, (total - left - right - gap * (across - 1)) / across)
    size = 8.0 if width == "single" or across > 2 else 9.0
    lines_of = [even(text, side, size) for text in captions]
    lines = max(text.count("\n") + bool(text) for text in lines_of)
    clear = 0.24 if small else 0.09  # [in] of the captions, above the panels
    head = clear + 1.3 * lines * size / 72
    head_line = wrapped(title, total) if title else ""
    top = 0.0 if not title else 0.3 + 0.16 * head_line.count("\n")
    key = _key(states[0], total) if labels is not False else ""
    columns = _columns(legend, width)
    rows = -(-len(legend) // columns)
    low = 0.06 + 0.17 * (key.count("\n") + 1) if key else 0.0  # [in] of the key, below the legend
    bottom = 0.12 + 0.19 * rows + low
    height = top + down * (head + side + below) - below + bottom + 0.06
    figure = new_figure(width, height, look)
    centred: dict[str, Any] = {"ha": "center", "va": "top", "color": look.ink}
    start = left if across > 1 else max(left, (total - side) / 2)
    for i, (state, text) in enumerate(zip(states, lines_of, strict=True)):
        x = start + (i % across) * (side + gap)
        y = height - top - 0.04 - (i // across + 1) * (head + side) - (i // across) * below
        ax = figure.add_axes((x / total, y / height, side / total, side / height))
        draw(ax, state, 72 * side, look, labels=labels, circles=state.step > 0, zeros=zeros)
        above: dict[str, Any] = {**centred, "va": "bottom", "linespacing": 1.15, "weight": "bold"}
        figure.text((x + side / 2) / total, (y + side + clear) / height, plain(text), size=size, **above)
    if title:
        figure.text(0.5, 1 - 0.08 / height, head_line, size=TEXT, **centred)
    if key and any(ax.texts for ax in figure.axes):  # where blocks are named at all
        figure.text(0.5, 0.05 / height, key, ha="center", va="bottom", color=look.faint, fontsize=SMALL)
    place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, (0.02 + low) / height)}
    figure.legend(handles=legend, ncols=columns, **place, **look.legend, **_TIGHT)
    return figure


def _columns(legend: Sequence[Patch | Line2D], width: str) -> int:
    """Columns of a legend that fit a figure's width."""
    most, total = 2 if width == "single" else 5, inches(width)
    columns = min(len(legend), most if len(legend) != 6 else most // 2 + 1)
    # of all labels and the longest, as columns are as wide as theirs
    letters = [len(str(handle.get_label())) for handle in legend]
    mean = (max(letters) + sum(letters) / len(letters)) / 2
    # [in] at 8 pt: a letter, and a handle with its gaps
    while columns > 1 and columns * (0.058 * mean + 0.42) > 1.15 * total:
        columns -= 1
    return columns


def _key(state: BlockState, width: float) -> str:
    """Numbers of bodies beside their names, where they are few."""
    if isinstance(state.symbolic.plan.graph.structure, Partition):
        return ""  # blocks have their own names
    if state.symbolic.plan.graph.structure.n > _KEY_BODIES:
        return "bodies are numbered tip to base" if state.blocks <= TEXT_BLOCKS else ""
    key = Labels(state).key()
    lines = textwrap.wrap(f"bodies: {key}", int(width * 17), break_long_words=False)
    return plain("\n".join(lines)) if key else ""


def _legend(states: Sequence[BlockState], look: Theme, zeros: bool) -> list[Patch | Line2D]:
    small = any(state.blocks <= TEXT_BLOCKS for state in states)
    kinds = {int(k) for s in states for k in (*set(s.kind.tolist()), *set(s.diagonal.tolist()))}
    fill = "fill: zero in the matrix"
    if NEW in kinds and zeros:
        fill = "earlier fill"
    mirrored = any(((s.kind != ORIGINAL) & ~(s.zeroed & zeros)).any() for s in states)
    if mirrored:
        fill += " (mirror images not counted)"
    names = {ORIGINAL: "block of the matrix", FILL: fill, NEW: "new fill"}
    handles: list[Patch | Line2D] = [
        _entry(label=text, **face(kind, look, cells=small))
        for kind, text in names.items()
        if kind in kinds or kind == ORIGINAL
    ]
    ring: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "linestyle": ""}
    if zeros and any(s.zeroed.any() for s in states):
        nought = Line2D([], [], markersize=3.6, markeredgecolor=look.zero, label="made zero", **ring)
        pixel = _entry(facecolor=look.zero_strong, linewidth=0, label="made zero")
        handles.append(nought if small else pixel)
    if small and any(s.step > 0 for s in states):
        handles.append(Line2D([], [], markersize=7, markeredgecolor=look.ink, label="pivot", **ring))
    if small:
        handles.append(_entry(facecolor="none", edgecolor=look.ink, linewidth=0.7, label="bracket"))
    if any(0 < s.step < s.symbolic.plan.groups for s in states):
        handles.append(_entry(facecolor=look.shade, label="eliminated"))
    return handles
