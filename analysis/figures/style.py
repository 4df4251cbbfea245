"""Widths, fonts and matplotlib settings of every figure, light and dark."""

from __future__ import annotations

import io
import re
import textwrap
from contextlib import AbstractContextManager
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from ..colours import DARK, LIGHT, SMALL, TEXT, Theme, plain

WIDTHS = {"single": 3.4, "double": 7.0}  # [in], one and two columns of a journal
MARKERS = "osD^vP*X"
"""matplotlib's markers of orders, in the order of ``Theme.series``.

>>> from pivotree.analysis.figures import LIGHT, MARKERS
>>> MARKERS[0], LIGHT.series[0]  # the first order of a figure: a circle, blue
('o', '#0072B2')
"""
RASTER_DPI = 300
SCREEN = 96  # pixels of an inch on a screen
LEAST = 6.0  # [pt] of any text; what needs smaller letters is left out
# Text and symbols of one design.  STIX is drawn after Times, as most journals are set; DejaVu Sans
# has what a user's names may hold beyond it.
FONTS: dict[str, dict[str, Any]] = {
    "stix": {"font.family": ["STIXGeneral", "DejaVu Sans"], "mathtext.fontset": "stix"},
    "sans": {"font.family": ["DejaVu Sans"], "mathtext.fontset": "dejavusans"},
}
STYLES = {"light": LIGHT, "dark": DARK}


def theme(style: str | Theme | None = None) -> Theme:
    """The colours of a style by its name, light where it is None.

    >>> from pivotree.analysis.figures import DARK, LIGHT, theme
    >>> theme("dark") is DARK, theme() is LIGHT
    (True, True)
    """
    if style is None or isinstance(style, Theme):
        return style or LIGHT
    if style not in STYLES:
        raise ValueError(f"style {style!r} is unknown; use {', '.join(STYLES)}")
    return STYLES[style]


def settings(font: str = "stix") -> AbstractContextManager[Any]:
    """Fonts, and what makes a file the same every time; global settings stay as they are.

    >>> from pivotree.analysis.figures import new_figure, save, settings
    >>> with settings("sans"):
    ...     figure = new_figure("single", 2.0)
    ...     figure.add_subplot().set_title("mine")
    Text(0.5, 1.0, 'mine')
    """
    if font not in FONTS:
        raise ValueError(f"font {font!r} is unknown; use {' or '.join(FONTS)}")
    settings: Any = {
        **FONTS[font],
        "font.size": TEXT,
        "axes.titlesize": TEXT,
        "axes.linewidth": 0.6,
        "hatch.linewidth": 0.6,
        "pdf.fonttype": 42,
        "svg.fonttype": "path",
        "svg.hashsalt": "pivotree",
        "path.simplify": True,
    }
    return matplotlib.rc_context(settings)


class PaperFigure(Figure):
    """A figure that is drawn with its own settings, by whom and whenever it is drawn.

    matplotlib makes the labels of ticks when it draws, with the font of that moment.
    """

    font: str = "stix"

    def draw(self, renderer: Any) -> None:
        with settings(self.font):
            super().draw(renderer)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """In Jupyter, at two pixels for one; without this it shows figures of pyplot alone."""
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=2 * SCREEN)
        wide, high = (round(SCREEN * inches) for inches in self.get_size_inches())
        return stream.getvalue(), {"width": wide, "height": high}


def inches(width: str) -> float:
    """One of WIDTHS by its name."""
    if width not in WIDTHS:
        raise ValueError(f"width {width!r} is unknown; use {' or '.join(WIDTHS)}")
    return WIDTHS[width]


def new_figure(width: str, height: float, look: Theme = LIGHT) -> Figure:
    """An empty figure [in]; never pyplot's, so that none is kept alive.

    >>> from pivotree.analysis.figures import DARK, new_figure
    >>> new_figure("single", 2.0, DARK).get_size_inches()
    array([3.4, 2. ])
    """
    height = round(SCREEN * height) / SCREEN  # whole pixels of a notebook
    figure = PaperFigure(figsize=(inches(width), height), facecolor=look.page)
    figure.font = look.font
    return figure


def wrapped(title: str, inches: float) -> str:
    """A title in lines that fit a figure's width."""
    return plain("\n".join(textwrap.wrap(title, max(12, int((inches - 0.3) * 72 / (0.52 * TEXT))))))


def even(text: str, side: float, size: float) -> str:
    """As few lines as fit, and these as even as may be; a number stays with what it counts."""
    text = re.sub(r"([\d+]) ", "\\1\xa0", text)
    most = max(12, int(side * 72 / (0.5 * size)), *map(len, text.split()))
    lines = len(textwrap.wrap(text, most))
    tries = (
        textwrap.wrap(text, width, break_long_words=False)
        for width in range(max(1, len(text) // max(lines, 2)), most + 1)
    )
    return "\n".join(next((found for found in tries if len(found) == lines), [text])).replace("\xa0", " ")


def style_axes(ax: Any, look: Theme, *, grid: str = "") -> None:
    """Thin frame and ticks in the theme's ink; a faint grid along one axis.

    >>> from pivotree.analysis.figures import LIGHT, new_figure, style_axes
    >>> axes = new_figure("single", 2.0, LIGHT).add_subplot()
    >>> style_axes(axes, LIGHT, grid="y")
    >>> axes.spines["top"].get_visible()
    False
    """
    ax.set_facecolor(look.page)
    for side, spine in ax.spines.items():
        spine.set_color(look.ink)
        spine.set_visible(side in ("left", "bottom"))
    ax.tick_params(colors=look.ink, which="both", width=0.6, labelsize=SMALL)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set(color=look.ink, fontsize=TEXT)
    if grid:
        ax.grid(axis=grid, color=look.faint, linewidth=0.4, alpha=0.4)
    ax.set_axisbelow(True)
