"""The data of (4) as a number format sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Format
from ..errors import FormatError
from ..system import Entries, System

LETTERS = ("M", "Phi", "S", "a", "b", "tau")


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
    k = int(np.argwhere(~np.isfinite(rounded))[0][0])
    names = system.tree.names
    if letter in ("S", "tau"):
        names = tuple(np.repeat(np.array(names, dtype=object), system.tree.dof))
    raise RangeError(
        f"body {names[k]!r}: field {letter!r} of equation (4) overflows {format.name}; "
        "use a format with a larger range, such as float64, or other units"
    )
