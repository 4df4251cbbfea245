"""Which operations, pivots and bodies lost the digits: rounding errors times adjoints."""

from pivotree.kkt.rounding.contributions import linearised

from .blame import blame
from .text import Blame

__all__ = ["Blame", "blame", "linearised"]
