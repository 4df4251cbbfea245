"""Large matrices as pixels: how many blocks of each kind fall on each, in time linear in blocks."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from .state import FILL, NEW, ORIGINAL, ZEROED, BlockState
from .style import Theme

PIXELS = 500  # a side; more than a journal's column prints
KINDS = (ORIGINAL, FILL, NEW, ZEROED)


def density(state: BlockState, pixels: int = PIXELS, *, zeros: bool = False) -> NDArray[np.int64]:
    """(4, p, p) blocks of each of ``KINDS`` on p = min(pixels, B) pixels a side.

    ``zeros``: what the elimination has made zero below the diagonal counts as ZEROED, else as
    what it was.
    """
    count = state.blocks
    p = min(pixels, count)
    pixel = (np.arange(count, dtype=np.int64) * p // max(count, 1)).astype(np.int32)
    row, col = pixel[state.row], pixel[state.col]
    above = below = _tally(row * np.int32(p) + col, state.kind, p)
    if zeros:
        # the mirror image alone differs; few kinds of block, so that a second count is cheap
        kinds = np.where(state.zeroed, np.int8(ZEROED), state.kind)
        below = _tally(row * np.int32(p) + col, kinds, p)
    own = np.flatnonzero(state.diagonal)
    diagonal = _tally(pixel[own] * np.int32(p + 1), state.diagonal[own], p)
    return above + below.transpose(0, 2, 1) + diagonal


def _tally(at: NDArray[np.int32], kinds: NDArray[np.int8], p: int) -> NDArray[np.int64]:
    """(4, p, p) blocks by kind; ``at`` (E,) is row * p + column of the pixel."""
    place = np.zeros(1 + max(KINDS), dtype=np.int32)
    place[list(KINDS)] = np.arange(len(KINDS), dtype=np.int32) * np.int32(p * p)
    counted = np.bincount(place[kinds] + at, minlength=len(KINDS) * p * p)
    return counted.reshape(len(KINDS), p, p)


def raster(ax: Axes, state: BlockState, look: Theme, *, zeros: bool = False) -> None:
    """Pixels: hue says how much of what is there is fill, opacity how dense it is."""
    counted = density(state, zeros=zeros)
    p = counted.shape[1]
    side = np.diff(np.arange(p + 1) * state.blocks // p)
    total = counted.sum(axis=0)
    colours = np.array([to_rgb(strong(kind, look)) for kind in KINDS])
    share = np.moveaxis(counted, 0, -1) / np.maximum(total, 1)[..., None]
    image = np.zeros((p, p, 4))
    image[..., :3] = share @ colours
    full = np.minimum(1.0, 0.7 + 0.3 * np.sqrt(total / side[:, None] / side[None, :]))
    image[..., 3] = np.where(total > 0, full, 0.0)
    pixels = (255 * image + 0.5).astype(np.uint8)
    extent = (0.0, float(state.blocks), float(state.blocks), 0.0)
    ax.imshow(pixels, extent=extent, interpolation="nearest", aspect="equal", zorder=1)


def strong(kind: int, look: Theme) -> str:
    """The colour of a kind of block where blocks are too small for hatching and rings."""
    return {
        ORIGINAL: look.entry_strong,
        FILL: look.fill_strong,
        NEW: look.new_strong,
        ZEROED: look.zero_strong,
    }[kind]
