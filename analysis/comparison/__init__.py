"""Orders beside each other on one system: rows, what they are held against, and a verdict."""

from .comparison import Comparison, compare
from .gradients import Gradients, compare_derivatives
from .multipliers import Placement, placements
from .row import REFERENCE_DIGITS, Row, digits_of, full_digits, known_conditioning, marked, reference

__all__ = [
    "REFERENCE_DIGITS",
    "Comparison",
    "Gradients",
    "Placement",
    "Row",
    "compare",
    "compare_derivatives",
    "digits_of",
    "full_digits",
    "known_conditioning",
    "marked",
    "placements",
    "reference",
]
