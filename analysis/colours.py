"""Colours of figures and of the explorer's page, light and dark, for which nothing need be drawn.

They are those of Okabe & Ito (2008), which readers with any kind of colour vision tell apart;
hatching, plus signs and markers say the same again, for a page printed in grey.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

TEXT, SMALL = 9.0, 8.0  # [pt] axes and titles; ticks, legends and what stands beside a point
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


def plain(name: str) -> str:
    """A name of a user's as it is: a $ in it begins no formula."""
    return re.sub(r"(?<!\\)\$", r"\\$", name)
