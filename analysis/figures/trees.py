"""The tree of bodies beside the elimination tree of an order, each body in one colour."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pivotree.kkt import SymbolicFactor

from .chart import chart
from .labels import Labels
from .state import block_state
from .style import LEAST, TEXT, Theme, theme

NAMED = 60  # nodes; with more none is named
DOTTED = 400  # nodes; with more, lines alone are drawn, in the colours of their lower ends


def tree_layout(parent: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n, 2) places of the nodes of a forest: leaves side by side, parents over their children's
    middle, depth downwards.  ``parent`` (n,) is -1 at a root."""
    order = walk(parent)
    x, y = np.zeros(len(parent)), np.zeros(len(parent))
    low, high = np.full(len(parent), np.inf), np.full(len(parent), -np.inf)
    for k in order:
        y[k] = y[parent[k]] + 1 if parent[k] >= 0 else 0
    leaves = 0
    for k in order[::-1]:
        if low[k] > high[k]:
            low[k] = high[k] = leaves
            leaves += 1
        x[k] = (low[k] + high[k]) / 2
        if parent[k] >= 0:
            up = parent[k]
            low[up], high[up] = min(low[up], x[k]), max(high[up], x[k])
    return np.stack([x.max(initial=0.0) - x, y], axis=1)


def walk(parent: NDArray[np.int64]) -> list[int]:
    """Nodes in depth-first order, parents first."""
    children: list[list[int]] = [[] for _ in parent]
    waiting: list[int] = []
    for k, up in enumerate(parent.tolist()):
        (children[up] if up >= 0 else waiting).append(k)
    waiting.reverse()
    order = []
    while waiting:
        k = waiting.pop()
        order.append(k)
        waiting += reversed(children[k])
    return order


def body_shades(parent: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n,) a number in 0..1 for each body, near ones for bodies of one subtree."""
    shade = np.zeros(len(parent))
    shade[walk(parent)] = np.linspace(0.0, 1.0, len(parent)) if len(parent) > 1 else 0.5
    return shade


def bodies_of(symbolic: SymbolicFactor) -> NDArray[np.int64]:
    """(B,) the body that each block belongs to; a piece counts as the body it is of.

    Multipliers go with the body that closes their loop.
    """
    graph, structure = symbolic.plan.graph, symbolic.plan.graph.structure
    closing = [structure.index[structure.closing(name)] for name in structure.constraints]
    own = np.concatenate([graph.member[: graph.count - len(closing)], np.array(closing, dtype=int)])
    return structure.copy_of[own[symbolic.plan.blocks]]


def body_parents(symbolic: SymbolicFactor) -> NDArray[np.int64]:
    """(n,) parent of each body of the robot, pieces and carriers of bodies left out."""
    structure = symbolic.plan.graph.structure
    copy = structure.copy_of
    parent = structure.parent[: int(np.max(copy, initial=-1)) + 1].copy()
    parent[parent >= 0] = copy[parent[parent >= 0]]  # a body may hang on a piece of another
    return parent


def body_colours(symbolic: SymbolicFactor, look: Theme) -> NDArray[np.float64]:
    """(n, 3) a colour for each body; the ends of the scale that vanish on the page are left out."""
    dark_page = sum(to_rgb(look.page)) < 1.5
    low, high = (0.35, 1.0) if dark_page else (0.0, 0.88 if look.map == "cividis" else 0.75)
    shade = body_shades(body_parents(symbolic))
    return np.asarray(matplotlib.colormaps[look.map](low + (high - low) * shade))[:, :3]


def ink_on(colour: NDArray[np.float64]) -> str:
    """Black or white, whichever is read better on a colour (3,)."""
    return "#000000" if float(colour[:3] @ (0.2126, 0.7152, 0.0722)) > 0.45 else "#FFFFFF"


def trees(
    symbolic: SymbolicFactor, *, width: str = "double", style: str | Theme = "light", title: str | None = None
) -> Figure:
    """Bodies at the left, blocks of the elimination tree (Davis 2006, section 4.1) at the right.

    Colours follow the tree of bodies depth first: blocks of neighbouring bodies look alike, so
    that one sees which limb each part of the elimination works on.  Small trees are named.

    >>> from pivotree.analysis.figures import trees
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.star(3)).structure))
    >>> len(trees(factor).axes)  # the tree of bodies, and the elimination tree
    2
    """
    look = theme(style=style)
    parent = body_parents(symbolic)
    count = len(parent)
    colours = body_colours(symbolic, look)
    names = Labels(block_state(symbolic, 0))
    unknowns = [names.unknown(t) for t in range(len(symbolic.parent))]
    bodies = [names.subscript.get(k, "") for k in range(count)]
    order = look.named(symbolic.plan.sequence.name)
    panels = (
        (parent, colours, bodies, f"{count:,} bodies"),
        (
            symbolic.parent,
            colours[bodies_of(symbolic)],
            unknowns,
            f"elimination tree of {order}: {len(symbolic.parent):,} blocks",
        ),
    )
    layouts = [tree_layout(p) for p, *_ in panels]
    deepest = max(float(place[:, 1].max(initial=0)) for place in layouts)
    height = float(np.clip(1.0 + 0.26 * deepest, 2.4, 4.6 if width == "double" else 3.4))
    across = [max(1.0, float(place[:, 0].max(initial=0)) + 1) for place in layouts]
    ratios = np.clip(np.array(across) / max(across), 0.55, 1.0)
    beside = width == "double"
    options: dict[str, Any] = {"gridspec_kw": {"width_ratios": ratios}} if beside else {}
    shape = (1, 2) if beside else (2, 1)
    with chart(look, width, height if beside else 2 * height, title, shape=shape, **options) as drawn:
        for ax, place, (up, colour, texts, caption) in zip(drawn.axes, layouts, panels, strict=True):
            _draw(ax, up, place, colour, texts, look)
            ax.set_title(caption, fontsize=TEXT)
    return drawn.figure


def _draw(
    ax: Axes,
    parent: NDArray[np.int64],
    place: NDArray[np.float64],
    colour: NDArray[np.float64],
    texts: list[str],
    look: Theme,
) -> None:
    ax.set_axis_off()
    ax.set_ylim(float(place[:, 1].max(initial=0)) + 0.6, -0.6)
    ax.set_xlim(-0.7, float(place[:, 0].max(initial=0)) + 0.7)
    inner = np.flatnonzero(parent >= 0)
    ends = np.stack([place[inner], place[parent[inner]]], axis=1)
    large = len(parent) > DOTTED
    colours = list(colour[inner]) if large else look.faint
    ax.add_collection(LineCollection(list(ends.round(2)), colors=colours, linewidths=0.8, zorder=1))
    if large:
        return
    named = len(parent) <= NAMED
    size = _node_size(ax, place) if named else 12.0
    ax.scatter(place[:, 0], place[:, 1], s=size, c=colour, edgecolors=look.ink, linewidths=0.5, zorder=2)
    text = min(0.42 * float(np.sqrt(size)), 8.0)
    if not named or text < LEAST:
        return
    for (x, y), shade, label in zip(place, colour, texts, strict=True):
        ax.text(
            x,
            y,
            f"${label}$" if len(label) < 3 or "_" in label else label,
            fontsize=text,
            ha="center",
            va="center",
            color=ink_on(shade),
            zorder=3,
        )


def _node_size(ax: Axes, place: NDArray[np.float64]) -> float:
    """Area [pt^2] of a node that leaves room between neighbours, by the figure's own size."""
    figure = ax.get_figure(root=True)
    width, height = (72 * x for x in figure.get_size_inches()) if figure else (300.0, 200.0)
    box = ax.get_subplotspec()
    share = 0.5 if box is None or box.get_gridspec().ncols > 1 else 1.0
    tall = 1.0 if share == 0.5 else 0.5
    across = 0.9 * share * width / (np.max(place[:, 0], initial=0.0) + 1.4)
    down = (tall * height - 24) / (np.max(place[:, 1], initial=0.0) + 1.2)
    return float(np.clip(0.8 * min(across, down), 4.0, 20.0) ** 2)
