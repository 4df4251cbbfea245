"""What each operation's rounding contributes to an error: adjoints times local rounding errors.

A run and a shadow of at least twice its digits, on the same rounded data, are both recorded; the
contributions of all operations add up to the run's value minus the shadow's (see
:mod:`kkt.elimination.adjoint`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Format, get_format
from ..errors import FormatError
from ..system import Entries
from .adjoint import Recording, gradient, local_errors, record
from .observe import traceable
from .tape import Tape

Floats = NDArray[np.float64]
ENOUGH = 2.0**-26  # unit roundoff from which float64 has twice the digits


@dataclass(frozen=True)
class Pair:
    """A run in a format and its shadow, operation by operation."""

    run: Recording
    shadow: Recording  # midpoints of the shadow's numbers in float64
    digits: str  # "float64" or "dd"

    @property
    def tape(self) -> Tape:
        return self.run.tape

    def error(self, slot: int) -> float:
        """Value of a signed slot minus the shadow's."""
        return self.run.output(slot) - self.shadow.output(slot)

    def contributions(self, seeds: Mapping[int, float]) -> Floats:
        """(length,) of each operation to the error of one output {slot: weight}, in its unit."""
        bars, _ = gradient(self.run, self.shadow).sweep(seeds)
        with np.errstate(all="ignore"):
            return np.where(bars == 0.0, 0.0, bars * local_errors(self.run))


def recorded_pair(tape: Tape, entries: Entries, format: Format, shadow: str | None = None) -> Pair:
    """Record a tape in a format of kind "float" and in a shadow: float64 or dd, by the digits.

    Raises FormatError for formats that are no rounding to a float, SizeError for long tapes.
    """
    if not traceable(format):
        raise FormatError(
            f"format {format.name!r}: its rounding errors cannot be blamed; use float32, float64 "
            "or a format that rounds on them"
        )
    name = shadow or ("float64" if format.unit >= ENOUGH else "dd")
    run = record(tape, entries, format)
    other = record(tape, entries, get_format(name), cast=format)
    if np.iscomplexobj(other.r):  # pairs high + low i: a derivative needs no more than high
        x, y, r, v = (np.ascontiguousarray(z.real) for z in (other.x, other.y, other.r, other.v))
        other = replace(other, x=x, y=y, r=r, v=v)
    return Pair(run, other, name)
