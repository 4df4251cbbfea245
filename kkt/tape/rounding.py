"""The data of (4) as a number format sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Format
from ..base.errors import FormatError
from ..matrix.entries import LETTERS, Entries
from ..matrix.system import System


class RangeError(FormatError):
    """An entry of (4) that a format cannot hold."""


def rounded_entries(system: System, format: Format) -> Entries:
    """The entries of (4) rounded to a format, in the type that carries it.

    Raises RangeError, naming the body and the field, where one overflows.
    """
    return Entries(*(_rounded(system, letter, format) for letter in LETTERS))


def _rounded(system: System, letter: str, format: Format) -> NDArray:
    rounded = format.cast(getattr(system.entries, letter))
    if rounded.dtype == object or np.isfinite(rounded).all():
        return rounded
    raise RangeError(
        f"{_owner(system, letter, int(np.argwhere(~np.isfinite(rounded))[0][0]))}: "
        f"field {letter!r} of equation (4) overflows {format.name}; "
        "use a format with a larger range, such as float64, or other units"
    )


def _owner(system: System, letter: str, row: int) -> str:
    """The body or loop that a row of one letter belongs to."""
    names, ties = system.tree.names, system.structure.ties
    if letter in ("G", "gamma", "compliance"):
        sides = [len(tie.bodies) if letter == "G" else 1 for tie in ties]
        rows = [tie.rows * count for tie, count in zip(ties, sides, strict=True)]
        return f"loop {ties[int(np.searchsorted(np.cumsum(rows), row, side='right'))].name!r}"
    if letter in ("S", "tau", "A"):
        row = int(np.searchsorted(system.tree.offset, row, side="right")) - 1
    return f"body {names[row]!r}"
