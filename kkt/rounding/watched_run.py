"""A run of a tape in a number format, observed operation by operation.

The tape is run piece by piece.  Operands and results of a piece are recorded, and figures such as
cancelled bits are computed from them, by compiled loops where numbers are in arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Format, Hardware, Runner
from ..matrix.entries import Entries
from ..tape.player import PIECE, Values, watched
from ..tape.tape import Tape
from .numbers import reader_of

Floats = NDArray[np.float64]


def traceable(format: Format) -> bool:
    """Whether a format's numbers are carried by float32 or float64."""
    return format.kind == "float" and format.dtype in (np.float32, np.float64)


class Operations(NamedTuple):
    """Consecutive operations r = x op y as a format rounds them; arrays are (m,).

    The next piece is written into the same arrays, so that a user must copy what is to be kept.
    The exponent of an object is that of the nearest double of unbounded range.
    """

    at: int  # operations before the first of these
    op: NDArray[np.int8]  # add 0, sub 1, mul 2, div 3
    step: NDArray[np.int32]  # group of pivots, -1 before the first
    x: NDArray  # in the type that carries the format
    y: NDArray
    r: NDArray
    cancelled: NDArray  # bits; -1 for a sum that is exactly zero
    absorbed: NDArray  # error of a sum over its smaller operand; for objects log2 of that / u
    size: NDArray  # |r|
    high: Floats  # the shadow's result is high + low; (0,) where errors are not asked for
    low: Floats
    off: Floats  # |r - shadow|
    owed: NDArray  # bits that exact arithmetic cancels; -1 for zero, -2 for no sum of nonzeros


class Watch:
    """One run of a tape in a number format, observed operation by operation.

    ``shadow`` (:func:`kkt.arithmetic.shadows.shadow_of`) runs beside it on the data as the format
    rounds them, so that it shows only errors of the arithmetic.  ``residues`` are the data modulo a
    prime (:mod:`kkt.arithmetic.modular`): with them, a result that is zero in exact arithmetic
    counts as zero, whatever rounding makes of it.  ``sums`` False leaves cancelled, absorbed and
    size at 0; ``errors`` False leaves out high, low and off.  ``number`` and ``bits`` are those of
    :func:`kkt.rounding.numbers.reader_of`.  A watch is iterated once; then ``v`` and ``shadow``
    hold the last values of all slots.
    """

    def __init__(
        self,
        tape: Tape,
        entries: Entries,
        format: Format,
        shadow: str | None = None,
        sums: bool = True,
        *,
        errors: bool = True,
        residues: NDArray[np.int64] | None = None,
        number: Callable[[float], Any] | None = None,
        bits: int = 0,
    ) -> None:
        from ..arithmetic.shadows import shadow_of

        self.tape, self.format, self.sums = tape, format, sums
        self.reader = reader_of(tape, entries, format, number, bits)
        self.v = self.reader.v
        self.room = min(PIECE, self.reader.room, tape.length)  # operations of a piece, at most
        self.largest = _largest(self.v)  # magnitude of the entries of (4)
        self.shadow = None if shadow is None else shadow_of(shadow, self.v)
        self.errors = errors and shadow is not None
        self.residues = residues

    def __iter__(self) -> Iterator[Operations]:
        from ..arithmetic import modular, watch

        reader = self.reader
        figure = watch.statistic(reader.dtype)
        whole = watch.LAYOUT[figure].whole
        kinds = (whole, figure, figure)
        room = self.room
        columns = [np.zeros(room, dtype=kind) for kind in kinds]
        columns += [np.zeros(room if self.errors else 0) for _ in range(3)]
        owing = self.shadow is not None and self.shadow.owing
        columns.append(np.zeros(room if owing else 0, dtype=whole))
        zero = np.zeros(room if self.residues is not None else 0, dtype=np.int8)
        both = self._in_one_loop(columns[3], columns[5])
        for at, chunk, x, y, r in watched(self.tape, both or reader.runner, self.v, room):
            here = [column[: len(chunk)] for column in columns]
            cancelled, absorbed, size, high, low, off, owed = here
            if self.shadow is not None and both is None:
                self.shadow.follow(chunk, r, high, low, off, owed)
            if self.sums:
                reader.look(chunk.op, x, y, r, cancelled, absorbed, size)
            if owing:
                _compared_alone(reader.zero(x) | reader.zero(y), owed)
            if self.residues is not None:
                modular.follow(chunk, self.residues, zero)
                _zeros_told(chunk.op < 2, zero[: len(chunk)], cancelled, absorbed)
            yield Operations(at, chunk.op, chunk.step, x, y, r, *here)

    def _in_one_loop(self, high: Floats, off: Floats) -> Runner | None:
        """What runs a hardware format and a float64 shadow in one loop; None for others."""
        from ..arithmetic.shadows import Both, Float64

        shadow = self.shadow
        if not (isinstance(self.format, Hardware) and isinstance(shadow, Float64) and self.errors):
            return None
        return Both(shadow, high, off)


def _zeros_told(
    sums: NDArray[np.bool_], zero: NDArray[np.int8], cancelled: NDArray, absorbed: NDArray
) -> None:
    """Count results and terms that are zero in exact arithmetic as zero, in the figures of sums."""
    cancelled[sums & (zero == 1)] = -1
    cancelled[sums & (zero == 2)] = 0
    absorbed[sums & (zero == 2)] = 0.0


def _compared_alone(gone: NDArray[np.bool_], owed: NDArray) -> None:
    """Mark ``owed`` for sums with an operand that is zero in the format.

    The bits that exact arithmetic cancels still count; the format's are not compared with them.
    """
    from ..arithmetic.watch import APART

    owed[gone & (owed >= 0)] += APART
    owed[gone & (owed == -1)] = -2


def _largest(v: Values) -> float:
    if not isinstance(v, list):
        return float(np.abs(v).max())
    from ..arithmetic.looks import leading, of_any, read_once, size

    parts = read_once(of_any, v)
    return max((size(*leading(part)) for part in parts if part and part.numerator), default=0.0)
