"""Unit roundoffs of formats that figures know by name only."""

from __future__ import annotations

import math

from pivotree.kkt import FormatError
from pivotree.kkt.arithmetic import get_format


def unit_of(format: str) -> float | None:
    """The unit roundoff of a format's name; None for exact numbers and a user's own formats."""
    try:
        found = get_format(format)
    except FormatError:
        return None
    return None if found.from_model else found.unit


def capacity_of(format: str) -> float | None:
    """-log10 of the unit roundoff: the decimal digits of a format."""
    unit = unit_of(format)
    return None if unit is None else -math.log10(unit)
