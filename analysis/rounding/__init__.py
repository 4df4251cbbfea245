"""Which operations, pivots and bodies lost the digits: rounding errors times adjoints."""

from .blame import blame
from .contributions import linearised
from .text import Blame

__all__ = ["Blame", "blame", "linearised"]
