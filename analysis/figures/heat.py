"""Where digits are lost: heat maps over the blocks of the matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pivotree.kkt import System
from pivotree.kkt.arithmetic import Format
from pivotree.kkt.rounding.observe import Observation, seen
from pivotree.kkt.tape.tape import Tape

from .chart import chart
from .density import PIXELS
from .labels import Labels
from .state import block_state
from .style import LEAST, SMALL, TEXT, WIDTHS, Theme, theme
from .trees import ink_on

NAMED = 24  # blocks; with more, no number is written into a cell


@dataclass(frozen=True)
class BlockLoss:
    """Digits lost by the operations on each block, in elimination order; both triangles alike.

    >>> from pivotree.kkt.arithmetic import get_format
    >>> from pivotree.analysis.figures import block_loss
    >>> system = pt.build(pt.chain(20))
    >>> crbm = pt.trace(system, pt.orderings.get("crbm"))
    >>> lost = block_loss(crbm, system, get_format("float32"))
    >>> lost.blocks, bool(lost.digits.max() > 3)
    (60, True)
    """

    tape: Tape
    row: NDArray[np.int64]  # (E,) positions; the right-hand side is column B, the answer B + 1
    col: NDArray[np.int64]  # (E,)
    digits: NDArray[np.float64]  # (E,) log10(error / u), 0 to all; infinite: not a number

    @property
    def blocks(self) -> int:
        return len(self.tape.program.symbolic.pivot) if self.tape.program.symbolic else 0


def block_loss(tape: Tape, system: System, format: Format) -> BlockLoss:
    """Largest error of the operations on each block, over the format's unit roundoff u.

    The error of a block is the largest distance of what is computed on it to a shadow of twice the
    digits that ran on the same data, relative to the largest entry that the shadow has on it; a
    pivot counts by itself as well, relative to its own size.  No more digits are lost than the
    format has, guard digits of mp counted.  Balls are as far off as their radius says, fractions
    are exact.  Blocks on which nothing is computed, such as identities, are left out.

    >>> from pivotree.kkt.arithmetic import get_format
    >>> from pivotree.analysis.figures import block_loss
    >>> system, float32 = pt.build(pt.chain(20)), get_format("float32")
    >>> worst = {}
    >>> for name in ("abm", "crbm"):
    ...     tape = pt.trace(system, pt.orderings.get(name))
    ...     worst[name] = block_loss(tape, system, float32).digits.max()
    >>> bool(worst["crbm"] > worst["abm"])
    True
    """
    found = seen(system, tape, format, sums=False)
    bits = -found.log_unit
    factor = tape.program.symbolic
    if factor is None:
        raise AssertionError("kkt.trace refuses orders that substitute")
    count = len(factor.pivot)
    where = np.full(factor.plan.graph.count + 1, count, dtype=np.int64)  # last: of -1
    where[factor.plan.blocks] = np.arange(count)
    off, size = _furthest(found, where, count)
    worst = {at: _lost(off[at], size[at], bits) for at in off}
    for t, digits in _pivot_loss(found, bits, where):
        worst[t, t] = max(worst.get((t, t), 0.0), digits)
    cells = sorted(worst)
    ends = np.array(cells, dtype=np.int64).reshape(-1, 2)
    return BlockLoss(tape, ends[:, 0], ends[:, 1], np.array([worst[c] for c in cells]))


def _furthest(
    seen: Observation, where: NDArray[np.int64], count: int
) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]]:
    """Largest distance to the shadow, and largest entry of the shadow, of each block."""
    off: dict[tuple[int, int], float] = {}
    size: dict[tuple[int, int], float] = {}
    program, blocks = seen.tape.program, seen.blocks
    if blocks.off is None or blocks.scale is None:
        raise AssertionError("blocks are told apart beside a shadow")
    for k, place in enumerate(program.places):
        if not blocks.operations[k] or not place.blocks:
            continue
        at = [int(where[b]) for b in place.blocks]
        if place.back and place.label == "x" and program.pivots[place.pivot].pair:
            at = at[-1:]  # the second unknown of a pair, from the first
        for target in _targets(place.label, at, place.back, count):
            off[target] = max(off.get(target, 0.0), float(blocks.off[k]))
            size[target] = max(size.get(target, 0.0), float(blocks.scale[k]))
    return off, size


def _lost(off: float, size: float, bits: float) -> float:
    """Digits between u = 2^-bits and an error, at most all; infinite for what is no number."""
    if not math.isfinite(off):
        return math.inf
    if off == 0.0:
        return 0.0
    most = bits * math.log10(2.0)
    return most if off >= size else min(most, max(0.0, most + math.log10(off) - math.log10(size)))


def _pivot_loss(seen: Observation, bits: float, where: NDArray[np.int64]) -> Iterator[tuple[int, float]]:
    """(position, digits) of each pivot: D_k by itself, which may be small beside its block."""
    factor = seen.tape.program.symbolic
    if factor is None or seen.shadow is None:
        return
    graph = factor.plan.graph
    for number, slots in seen.tape.pivots.items():
        at = [int(where[graph.number(*block)]) for block in seen.tape.program.pivots[number].blocks]
        off, size = seen.distances(np.asarray(slots))
        stops = np.cumsum(factor.size[at])[:-1]
        lost = [_lost(float(o), float(s), bits) for o, s in zip(off, size, strict=True)]
        for t, own in zip(at, np.split(np.array(lost), stops), strict=True):
            if len(own):
                yield t, float(np.max(own))


def _targets(label: str, at: list[int], back: bool, count: int) -> list[tuple[int, int]]:
    """(row, column) that an instruction works on: the last two of its blocks, or a diagonal."""
    if back:
        return [(t, count + 1) for t in at if t < count]
    if label in ("residual", "x"):
        return [(t, count) for t in at if t < count]
    if label == "pivot" or len(at) == 1:
        return [(t, t) for t in at if t < count]
    i, j = at[-2:]
    return [(min(i, j), max(i, j))]


def loss_map(
    losses: Mapping[str, BlockLoss],
    format: str,
    *,
    width: str = "double",
    style: str | Theme = "light",
    title: str | None = None,
) -> Figure:
    """Digits lost per block, one panel an order; two columns apart are the right-hand side and
    the answer.  A cross is a block that became infinite or not a number.

    >>> from pivotree.kkt.arithmetic import get_format
    >>> from pivotree.analysis.figures import block_loss, loss_map
    >>> system = pt.build(pt.chain(3))
    >>> abm = pt.trace(system, pt.orderings.get("abm"))
    >>> figure = loss_map({"abm": block_loss(abm, system, get_format("float32"))}, "float32")
    >>> figure.axes[0].get_title()
    'ABM'
    """
    look = theme(style=style)
    across = 1 if width == "single" else min(len(losses), 2)
    down = -(-len(losses) // across)
    total = WIDTHS[width]
    side = min((total - 1.0) / across - 0.12, 4.6)  # [in] width of a panel
    finite = [x for loss in losses.values() for x in loss.digits.tolist() if math.isfinite(x)]
    top = max(1.0, math.ceil(max(finite, default=1.0)))
    scale = Normalize(0.0, top)
    tall = max(_shape(loss.blocks) for loss in losses.values())
    with chart(look, width, down * (side * tall + 0.5) + 0.1, title, shape=(down, across)) as drawn:
        for ax in drawn.axes[len(losses) :]:
            ax.set_visible(False)
        image = None
        for ax, (name, loss) in zip(drawn.axes, losses.items(), strict=False):
            image = _panel(ax, loss, look, scale, 72 * side)
            ax.set_title(look.named(name), fontsize=TEXT, fontweight="bold", pad=14)
        if image is not None:
            bar = drawn.figure.colorbar(image, ax=[*drawn.axes[: len(losses)]], fraction=0.04, pad=0.01)
            bar.set_label(f"decimal digits lost in {format}", color=look.ink)
            bar.ax.tick_params(colors=look.ink, width=0.6)
            bar.outline.set_edgecolor(look.ink)
    return drawn.figure


def _gap(blocks: int) -> int:
    """Columns of pixels that stand for one: a single one would not be seen beside many."""
    return max(1, min(blocks, PIXELS) // 40)


def _shape(blocks: int) -> float:
    """Height over width of a panel: the matrix, and two columns beside it."""
    return 1.0 / (1.0 + 3.0 * _gap(blocks) / max(1, min(blocks, PIXELS)))


def _map(look: Theme) -> ListedColormap:
    """The theme's scale, without the end that vanishes on the page, loss farthest from the page."""
    shades = matplotlib.colormaps[look.map](np.linspace(0.0, 1.0, 256))
    dark_page = look.page != "#FFFFFF"
    return ListedColormap(shades[40:] if dark_page else shades[:236][::-1])


def _panel(ax: Axes, loss: BlockLoss, look: Theme, scale: Normalize, side: float) -> Any:
    count = loss.blocks
    p = min(count, PIXELS)
    pixel = np.append(np.arange(count) * p // max(count, 1), [p, p + 1])
    image = np.full((p, p), -1.0)
    value = loss.digits.copy()  # infinite ones take the last colour
    inner = loss.col < count
    i, j = pixel[loss.row[inner]], pixel[loss.col[inner]]
    np.maximum.at(image, (i, j), value[inner])
    np.maximum.at(image, (j, i), value[inner])
    beside = np.full((p, 2), -1.0)
    np.maximum.at(beside, (pixel[loss.row[~inner]], loss.col[~inner] - count), value[~inner])
    wide = _gap(count)
    options: dict[str, Any] = {"cmap": _map(look), "norm": scale, "interpolation": "nearest"}
    drawn = ax.imshow(np.ma.masked_less(image, 0), extent=(0, p, p, 0), **options)
    for k in range(2):
        left = p + 0.5 * wide + 1.25 * k * wide
        cells = np.ma.masked_less(beside[:, k : k + 1], 0)
        ax.imshow(cells, extent=(left, left + wide, p, 0), **options)
        ax.text(
            left + wide / 2,
            -0.01 * p,
            "bx"[k],
            fontsize=SMALL,
            color=look.ink,
            ha="center",
            va="bottom",
            style="italic",
        )
    ax.set(xlim=(0, p + 3 * wide), ylim=(p, 0), xticks=[], yticks=[])
    ax.set_aspect("equal")
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.plot([0, p, p, 0, 0], [0, 0, p, p, 0], color=look.faint, linewidth=0.6, clip_on=False)
    lost = np.flatnonzero(~np.isfinite(loss.digits) & inner)
    if len(lost):
        ax.plot(pixel[loss.col[lost]] + 0.5, pixel[loss.row[lost]] + 0.5, "x", color=look.ink, markersize=4)
    if count <= NAMED:
        _names(ax, loss, look, scale, side / (p + 3))
    return drawn


def _names(ax: Axes, loss: BlockLoss, look: Theme, scale: Normalize, cell: float) -> None:
    """Unknowns at the left and on top, digits in the cells: a colour is never alone."""
    factor = loss.tape.program.symbolic
    if factor is None:
        return
    names, count = Labels(block_state(factor, 0)), loss.blocks
    for t in range(count):
        style: dict[str, Any] = {"fontsize": max(LEAST, min(TEXT, 0.66 * cell)), "color": look.ink}
        ax.text(-0.15, t + 0.5, f"${names.unknown(t)}$", ha="right", va="center", **style)
        ax.text(t + 0.5, -0.15, f"${names.unknown(t)}$", ha="center", va="bottom", **style)
    size = min(SMALL, 0.58 * cell)  # 1.25 of its size is as wide as "7.2"
    if size < LEAST:
        return
    colours = _map(look)(scale(loss.digits))
    for i, j, digits, colour in zip(loss.row, loss.col, loss.digits, colours, strict=True):
        if not math.isfinite(digits):
            continue
        x = j + 0.5 if j < count else count + 1.0 + 1.25 * (j - count)
        for a, b in {(x, i + 0.5), (i + 0.5, j + 0.5)} if j < count else {(x, i + 0.5)}:
            ax.text(a, b, f"{digits:.1f}", fontsize=size, ha="center", va="center", color=ink_on(colour))
