"""Orders beside each other on one system: rows, what they are held against, and a verdict."""

from .comparison import Comparison, compare
from .reference import REFERENCE_DIGITS, digits_of, full_digits, reference
from .row import Row, marked

__all__ = [
    "REFERENCE_DIGITS", "Comparison", "Row", "compare", "digits_of", "full_digits", "marked",
    "reference",
]  # fmt: skip
