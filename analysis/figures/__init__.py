"""Figures: block sparsity, fill, digits kept, and where pivots lose them.

Every function returns a matplotlib Figure; :func:`save` writes it.  matplotlib is loaded when
this package is, and by nothing else in the project.
"""

from ..colours import DARK, LIGHT, Theme
from .charts import error_bars, pivot_errors
from .kinds import KINDS, Kind, Request, caption, save, write, write_all
from .spy import before_after, compare_orders, filmstrip, spy
from .state import NEW, BlockState, block_state
from .style import MARKERS, new_figure, settings, style_axes, theme
from .tex import pmatrix

__all__ = [
    "DARK",
    "KINDS",
    "LIGHT",
    "MARKERS",
    "NEW",
    "BlockState",
    "Kind",
    "Request",
    "Theme",
    "before_after",
    "block_state",
    "caption",
    "compare_orders",
    "error_bars",
    "filmstrip",
    "new_figure",
    "pivot_errors",
    "pmatrix",
    "save",
    "settings",
    "spy",
    "style_axes",
    "theme",
    "write",
    "write_all",
]
