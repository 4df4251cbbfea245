"""Figures: block sparsity, fill, digits kept, and where digits are lost.

Every function returns a matplotlib Figure; :func:`save` writes it.  matplotlib is loaded when
this package is, and by nothing else in the project.
"""

from .charts import error_bars, fill_cost
from .files import save, save_spy, write_all
from .spy import before_after, compare_orders, filmstrip, spy
from .state import BlockState, block_state
from .steps import pivot_errors
from .tex import tikz

__all__ = [
    "BlockState",
    "before_after",
    "block_state",
    "compare_orders",
    "error_bars",
    "fill_cost",
    "filmstrip",
    "pivot_errors",
    "save",
    "save_spy",
    "spy",
    "tikz",
    "write_all",
]
