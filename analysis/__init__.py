"""What is learnt from orders: comparison, verdict, figures, and the command line.

>>> analysis.compare(system, ["crbm", "abm"], ["float32", "float64"]).verdict
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparison import Comparison, Row, compare

__all__ = ["Comparison", "Row", "compare"]


def __getattr__(name: str) -> Any:
    """Load the comparison when it is asked for: the command line starts without it."""
    if name in __all__:
        from . import comparison

        return getattr(comparison, name)
    raise AttributeError(f"module 'analysis' has no attribute {name!r}")
