"""Which operations, pivots and bodies lost the digits: rounding errors times adjoints."""

from .blame import Blame, blame

__all__ = ["Blame", "blame"]
