"""Readers of the operations of a run: one for arrays, one for Python objects."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, looks
from ..arithmetic.formats import Runner
from ..arithmetic.objects import InObjects, precision
from ..matrix.entries import Entries
from ..tape.player import Values, number_of, started
from ..tape.tape import Tape

Column = NDArray


class Reader(Protocol):
    """The values of one run of a tape in one number type, and what its operations look like."""

    dtype: np.dtype  # of operands and results
    room: int  # operations that are recorded together at most
    log_unit: float  # log2 of the unit roundoff of what runs; -infinity where nothing is rounded
    bits: int  # precision of balls, 0 of others

    runner: Runner  # what plays the tape

    @property
    def v(self) -> Values:
        """(slots,) values; after a run, the last value of every slot."""

    def look(
        self, op: Column, x: Column, y: Column, r: Column, cancelled: Column, absorbed: Column, size: Column
    ) -> None:
        """Fill the figures of recorded operations: see :func:`kkt.arithmetic.watch.looked`."""

    def zero(self, x: Column) -> NDArray[np.bool_]:
        """Which of some numbers are zero."""

    def shares(self, absorbed: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
        """The parts of smaller operands that sums do not keep: as fractions and in bits."""


class Arrays:
    """Numbers in a numpy array, operations in compiled loops."""

    room, bits = 1 << 18, 0

    def __init__(self, tape: Tape, entries: Entries, format: Format) -> None:
        self.v: Values = started(tape, entries, format)
        self.dtype, self.log_unit = np.dtype(format.dtype), math.log2(format.unit)
        self.runner = format.runner(tape)

    def look(
        self, op: Column, x: Column, y: Column, r: Column, cancelled: Column, absorbed: Column, size: Column
    ) -> None:
        from ..arithmetic import watch

        watch.looked(op, x, y, r, cancelled, absorbed, size)

    def zero(self, x: Column) -> NDArray[np.bool_]:
        return x == 0

    def shares(self, absorbed: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
        with np.errstate(divide="ignore"):
            return absorbed, np.maximum(0.0, np.log2(absorbed) - self.log_unit)


class Objects:
    """Python objects: fractions, mpmath numbers, balls, and numbers of a user's class."""

    room = 1 << 13
    dtype = np.dtype(object)

    def __init__(
        self,
        tape: Tape,
        entries: Entries,
        format: Format,
        number: Callable[[float], Any] | None = None,
        bits: int = 0,
    ) -> None:
        self.bits = bits
        self.runner: Runner = InObjects(bits)
        number = number or number_of(format)
        with precision(bits):
            self.v: Values = started(tape, entries, number)
        self.read: looks.Read = looks.of_any
        self.log_unit = math.log2(format.unit) if format.unit else -math.inf
        if format.kind == "mp":
            self.read = looks.of_mpf
            self.log_unit = -float(number.context.prec)  # type: ignore[attr-defined]
        if format.kind == "ball":
            self.read, self.log_unit = looks.of_ball, -float(bits)

    def look(
        self, op: Column, x: Column, y: Column, r: Column, cancelled: Column, absorbed: Column, size: Column
    ) -> None:
        looks.looked(self.read, -self.log_unit, op, x, y, r, cancelled, absorbed, size)

    def zero(self, x: Column) -> NDArray[np.bool_]:
        parts = map(self.read, x.tolist())
        return np.array([part is not None and part.numerator == 0 for part in parts], dtype=bool)

    def shares(self, absorbed: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
        """Here ``absorbed`` is in bits; fractions below 1e-308 underflow to 0."""
        return np.where(absorbed > 0.0, np.exp2(absorbed + self.log_unit), 0.0), absorbed


def reader_of(
    tape: Tape, entries: Entries, format: Format, number: Callable[[float], Any] | None = None, bits: int = 0
) -> Reader:
    """The reader of a format; ``bits`` is the precision of balls, ``number`` makes objects."""
    if format.on_arrays:
        return Arrays(tape, entries, format)
    return Objects(tape, entries, format, number, bits)
