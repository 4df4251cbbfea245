"""Colours, widths and matplotlib settings of every figure, light and dark.

Colours are those of Okabe & Ito (2008), which readers with any kind of colour vision tell apart;
hatching, plus signs and markers say the same again, for a page printed in grey.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.figure import Figure

WIDTHS = {"single": 3.4, "double": 7.0}  # [in], one and two columns of a journal
MARKERS = "osD^vP*X"
RASTER_DPI = 300


@dataclass(frozen=True)
class Theme:
    """Named colours of one variant."""

    page: str
    ink: str
    faint: str  # grid, frames of brackets
    shade: str  # rows and columns that are eliminated
    entry: str  # blocks of the matrix, under text
    entry_strong: str  # the same where blocks are small
    fill: str
    fill_hatch: str
    new: str
    series: tuple[str, ...]  # lines and markers


_OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

LIGHT = Theme(
    page="#FFFFFF", ink="#1A1A1A", faint="#8A8A8A", shade="#ECECEC",
    entry="#A9D0EC", entry_strong="#0072B2", fill="#E69F00", fill_hatch="#7A4A00",
    new="#D55E00", series=_OKABE_ITO,
)  # fmt: skip
DARK = Theme(
    page="#0D1117", ink="#E6EDF3", faint="#8B949E", shade="#212832",
    entry="#1F5F8B", entry_strong="#56B4E9", fill="#B87A00", fill_hatch="#FFD98A",
    new="#D55E00",
    series=("#56B4E9", "#FF8A3D", "#2BC48F", "#E39AC4", "#E69F00", "#F0E442", "#E6EDF3"),
)  # fmt: skip


def theme(dark: bool) -> Theme:
    return DARK if dark else LIGHT


def settings() -> AbstractContextManager[Any]:
    """Fonts, and what makes a file the same every time; global settings stay as they are."""
    return matplotlib.rc_context(
        {
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans"],
            "font.size": 8.0,
            "mathtext.fontset": "cm",
            "axes.titlesize": 9.0,
            "axes.linewidth": 0.6,
            "hatch.linewidth": 0.6,
            "pdf.fonttype": 42,
            "svg.fonttype": "path",
            "svg.hashsalt": "pivotree",
            "path.simplify": True,
        }
    )


def new_figure(width: str, height: float, dark: bool) -> Figure:
    """An empty figure [in]; never pyplot's, so that none is kept alive."""
    if width not in WIDTHS:
        raise ValueError(f"width {width!r}: use {' or '.join(WIDTHS)}")
    return Figure(figsize=(WIDTHS[width], height), facecolor=theme(dark).page)


def style_axes(ax: Any, look: Theme, *, grid: str = "") -> None:
    """Thin frame and ticks in the theme's ink; a faint grid along one axis."""
    ax.set_facecolor(look.page)
    for side, spine in ax.spines.items():
        spine.set_color(look.ink)
        spine.set_visible(side in ("left", "bottom"))
    ax.tick_params(colors=look.ink, which="both", width=0.6, labelsize=8)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set_color(look.ink)
    if grid:
        ax.grid(axis=grid, color=look.faint, linewidth=0.4, alpha=0.4)
    ax.set_axisbelow(True)
