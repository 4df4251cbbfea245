"""Colours, widths, fonts and matplotlib settings of every figure, light and dark.

Colours are those of Okabe & Ito (2008), which readers with any kind of colour vision tell apart;
hatching, plus signs and markers say the same again, for a page printed in grey.
"""

from __future__ import annotations

import io
import re
import textwrap
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.figure import Figure

WIDTHS = {"single": 3.4, "double": 7.0}  # [in], one and two columns of a journal
MARKERS = "osD^vP*X"
"""matplotlib's markers of orders, in the order of ``Theme.series``.

>>> from pivotree.analysis.figures import LIGHT, MARKERS
>>> MARKERS[0], LIGHT.series[0]  # the first order of a figure: a circle, blue
('o', '#0072B2')
"""
RASTER_DPI = 300
SCREEN = 96  # pixels of an inch on a screen
TEXT, SMALL = 9.0, 8.0  # [pt] axes and titles; ticks, legends and what stands beside a point
LEAST = 6.0  # [pt] of any text; what needs smaller letters is left out
# Text and symbols of one design.  STIX is drawn after Times, as most journals are set; DejaVu Sans
# has what a user's names may hold beyond it.
FONTS: dict[str, dict[str, Any]] = {
    "stix": {"font.family": ["STIXGeneral", "DejaVu Sans"], "mathtext.fontset": "stix"},
    "sans": {"font.family": ["DejaVu Sans"], "mathtext.fontset": "dejavusans"},
}


_SPELT = {"abm": "ABM", "crbm": "CRBM", "lcaba": "LCABA", "lagrange": "Lagrange", "cholesky": "Cholesky"}


@dataclass(frozen=True)
class Theme:
    """Named colours of one variant, and the font that it is written in.

    >>> from dataclasses import replace
    >>> from pivotree.analysis.figures import LIGHT
    >>> slides = replace(LIGHT, page="#FFF8E7", font="sans")
    >>> slides.page, slides.ink
    ('#FFF8E7', '#1A1A1A')
    """

    page: str
    ink: str
    faint: str  # grid, frames of brackets
    shade: str  # rows and columns that are eliminated
    entry: str  # blocks of the matrix, under text
    fill: str
    fill_hatch: str
    new: str
    zero: str  # rings where the elimination has made a zero
    # where blocks are too small for glyphs, told apart by lightness alone
    entry_strong: str
    fill_strong: str
    new_strong: str
    zero_strong: str
    series: tuple[str, ...]  # lines and markers
    font: str = "stix"  # of FONTS
    labels: tuple[tuple[str, str], ...] = ()  # names of orders, and what a reader is told

    @property
    def legend(self) -> dict[str, Any]:
        """What every legend of a figure is drawn with."""
        return {"frameon": False, "fontsize": SMALL, "labelcolor": self.ink, "columnspacing": 1.4}

    def named(self, order: str) -> str:
        """An order's name as text: ABM, virtual work, or what ``labels`` call it.

        >>> from dataclasses import replace
        >>> from pivotree.analysis.figures import LIGHT
        >>> LIGHT.named("lambda_first_abm"), replace(LIGHT, labels=(("abm", "ours"),)).named("abm")
        ('lambda first ABM', 'ours')
        """
        usual = [_SPELT.get(word, word) for word in order.replace("_", " ").split(" ")]
        return plain(dict(self.labels).get(order, " ".join(usual)))


_OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

LIGHT = Theme(
    page="#FFFFFF",
    ink="#1A1A1A",
    faint="#8A8A8A",
    shade="#ECECEC",
    entry="#A9D0EC",
    fill="#E69F00",
    fill_hatch="#7A4A00",
    new="#D55E00",
    zero="#5A5A5A",
    entry_strong="#0072B2",
    fill_strong="#DB9600",
    new_strong="#7A1F00",
    zero_strong="#D0D0D0",
    series=_OKABE_ITO,
)
"""The colours of figures on white paper, those of Okabe & Ito (2008).

>>> from pivotree.analysis.figures import LIGHT
>>> LIGHT.page, LIGHT.ink
('#FFFFFF', '#1A1A1A')
"""
DARK = Theme(
    page="#0D1117",
    ink="#E6EDF3",
    faint="#8B949E",
    shade="#212832",
    entry="#1F5F8B",
    fill="#B87A00",
    fill_hatch="#FFD98A",
    new="#D55E00",
    zero="#A9B4C0",
    entry_strong="#56B4E9",
    fill_strong="#B87A00",
    new_strong="#FFE3A3",
    zero_strong="#4A5665",
    series=("#56B4E9", "#FF8A3D", "#2BC48F", "#E39AC4", "#E69F00", "#F0E442", "#E6EDF3"),
)
"""The same colours as they are told apart on a dark page.

>>> from pivotree.analysis.figures import DARK
>>> DARK.page, DARK.ink
('#0D1117', '#E6EDF3')
"""


STYLES = {"light": LIGHT, "dark": DARK}


def theme(dark: bool = False, style: str | Theme | None = None) -> Theme:
    """The colours of a style by its name, or where that is None, by whether it is dark.

    >>> from pivotree.analysis.figures import DARK, theme
    >>> theme(style="dark") is theme(dark=True) is DARK
    True
    """
    if isinstance(style, Theme):
        return style
    if style is None:
        return DARK if dark else LIGHT
    if style not in STYLES:
        raise ValueError(f"style {style!r} is unknown; use {', '.join(STYLES)}")
    return STYLES[style]


def settings(font: str = "stix") -> AbstractContextManager[Any]:
    """Fonts, and what makes a file the same every time; global settings stay as they are.

    >>> from pivotree.analysis.figures import new_figure, save, settings
    >>> with settings("sans"):
    ...     figure = new_figure("single", 2.0, False)
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


def new_figure(width: str, height: float, dark: bool | Theme) -> Figure:
    """An empty figure [in]; never pyplot's, so that none is kept alive.

    >>> from pivotree.analysis.figures import new_figure
    >>> new_figure("single", 2.0, dark=True).get_size_inches()
    array([3.4, 2. ])
    """
    if width not in WIDTHS:
        raise ValueError(f"width {width!r} is unknown; use {' or '.join(WIDTHS)}")
    look = dark if isinstance(dark, Theme) else theme(dark)
    figure = PaperFigure(figsize=(WIDTHS[width], height), facecolor=look.page)
    figure.font = look.font
    return figure


def wrapped(title: str, inches: float) -> str:
    """A title in lines that fit a figure's width."""
    return plain("\n".join(textwrap.wrap(title, max(12, int((inches - 0.3) * 72 / (0.52 * TEXT))))))


def even(text: str, side: float, size: float) -> str:
    """As few lines as fit, and these as even as may be."""
    most = max(12, int(side * 72 / (0.5 * size)))
    most = max(most, *map(len, text.split()), 1)
    lines = len(textwrap.wrap(text, most))
    tries = (
        textwrap.wrap(text, width, break_long_words=False)
        for width in range(max(1, len(text) // max(lines, 2)), most + 1)
    )
    return "\n".join(next((found for found in tries if len(found) == lines), [text]))


def plain(name: str) -> str:
    """A name of a user's as it is: a $ in it begins no formula."""
    return re.sub(r"(?<!\\)\$", r"\\$", name)


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
