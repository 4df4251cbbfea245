"""Bits that operations of a run cancel and absorb, and errors of its pivots, in any number type.

:class:`Watch` sees every operation.  Only the largest figures of each group of pivots are kept.

The tape is run piece by piece.  Operands and results of a piece are recorded, and figures such as
cancelled bits are computed from them, by compiled loops where numbers are in arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import flint
import numpy as np
from numpy.typing import NDArray

from ..arithmetic import shadows
from ..arithmetic.formats import Chunk, Format, Runner, precision
from ..arithmetic.objects import InObjects
from ..arithmetic.shadows import Shadow, residue, shadow_of
from ..matrix.blocks import Block
from ..matrix.entries import Entries, assemble
from ..matrix.system import System
from ..tape.player import PIECE, Values, answered, number_of, read_in, signed, started, watched
from ..tape.tape import Tape

Floats = NDArray[np.float64]


def traceable(format: Format) -> bool:
    """Whether a format's numbers are carried by float32 or float64."""
    return format.kind == "float" and format.dtype in (np.float32, np.float64)


class Operations(NamedTuple):
    """Consecutive operations r = x op y as a format rounds them; arrays are (m,).

    The next piece is written into the same arrays, so that a user must copy what is to be kept.
    """

    at: int  # operations before the first of these
    chunk: Chunk  # what they are: op (add 0, sub 1, mul 2, div 3), slots, and the group of pivots, step
    x: NDArray[Any]  # in the type that carries the format
    y: NDArray[Any]
    r: NDArray[Any]
    cancelled: NDArray[Any]  # bits; -1 for a sum that is exactly zero
    absorbed: NDArray[Any]  # error of a sum over its smaller operand; for objects log2 of that / u
    size: NDArray[Any]  # |r|


class Watch:
    """One run of a tape in a number format, observed operation by operation.

    A ``shadow``, a run in more digits (:func:`kkt.arithmetic.shadows.shadow_of`), goes beside it on the
    data as the format rounds them, so that it shows only errors of the arithmetic.  ``residues`` are
    the data modulo a prime (:mod:`kkt.arithmetic.shadows`): with them, a result that is zero in exact
    arithmetic counts as zero, whatever rounding makes of it.  ``number`` makes objects, and ``bits``
    is the precision of balls, 0 of others.  A watch is iterated once; then ``v`` and ``shadow`` hold
    the last values of all slots.
    """

    def __init__(
        self,
        tape: Tape,
        entries: Entries,
        format: Format,
        *,
        residues: NDArray[np.int64] | None = None,
        number: Callable[[float], Any] | None = None,
        bits: int = 0,
    ) -> None:
        self.tape: Tape = tape
        self.bits: int = bits
        self.residues: NDArray[np.int64] | None = residues
        self.arrays: bool = format.on_arrays  # else numbers are objects
        self.read: Any = None  # takes objects apart, by a function of :mod:`kkt.arithmetic.parts`
        if self.arrays:
            number = None
            self.runner: Runner = format.runner(tape)
            self.log_unit: float = math.log2(format.unit)  # of what runs
            self.looked: Callable[..., None] = shadows.looked
        else:
            from ..arithmetic import parts

            number = number or number_of(format)
            self.runner = InObjects(bits)
            self.read, self.log_unit = parts.of_any, math.log2(format.unit) if format.unit else -math.inf
            if format.kind == "mp":
                self.read, self.log_unit = parts.of_mpf, -float(number.context.prec)  # type: ignore[attr-defined]
            if format.kind == "ball":
                self.read, self.log_unit = parts.of_ball, -float(bits)
            self.looked = partial(parts.looked, self.read, -self.log_unit)
        with precision(bits):
            self.v: Values = started(tape, entries, number or format)
        self.room: int = min(PIECE if self.arrays else 1 << 13, tape.length)  # operations of a piece, at most
        self.largest: float = _largest(self.v)  # magnitude of the entries of (4)
        self.shadow: Shadow = shadow_of(format, self.v)

    def __iter__(self) -> Iterator[Operations]:
        columns: list[NDArray[Any]] = [np.zeros(self.room, dtype=of) for of in (np.int64, float, float)]
        zero = np.zeros(self.room if self.residues is not None else 0, dtype=np.int8)
        for at, chunk, x, y, r in watched(self.tape, self.runner, self.v, self.room):
            here = [column[: len(chunk)] for column in columns]
            cancelled, absorbed, _ = here
            self.shadow.follow(chunk)
            self.looked(chunk.op, x, y, r, *here)
            if self.residues is not None:
                shadows.follow(chunk, self.residues, zero)
                # results and terms that are zero in exact arithmetic count as zero, in the figures of sums
                sums, told = chunk.op < 2, zero[: len(chunk)]
                cancelled[sums & (told == 1)] = -1
                cancelled[sums & (told == 2)] = 0
                absorbed[sums & (told == 2)] = 0.0
            yield Operations(at, chunk, x, y, r, *here)

    def shares(self, absorbed: Floats) -> tuple[Floats, Floats]:
        """The parts of smaller operands that sums do not keep: as fractions and in bits.

        Those of objects are in bits already; fractions below 1e-308 underflow to 0.
        """
        if not self.arrays:
            return np.where(absorbed > 0.0, np.exp2(absorbed + self.log_unit), 0.0), absorbed
        with np.errstate(divide="ignore"):
            return absorbed, np.maximum(0.0, np.log2(absorbed) - self.log_unit)


def _largest(v: Values) -> float:
    if not isinstance(v, list):
        return float(np.abs(v).max())
    from ..arithmetic.parts import leading, of_any, read_once, size

    parts = read_once(of_any, v)
    return max((size(*leading(part)) for part in parts if part and part.numerator), default=0.0)


class Gathered(NamedTuple):
    """Largest figures of the operations of each group of pivots; arrays (groups,)."""

    operations: NDArray[np.int64]
    cancelled: NDArray[np.int64]  # bits, in one sum that is not zero
    zeros: NDArray[np.int64]  # sums of nonzeros that are exactly zero
    absorbed: Floats  # of the smaller operand, the fraction that one sum does not keep
    absorbed_bits: Floats  # of the smaller operand, the bits that one sum does not keep
    size: Floats  # largest magnitude of a result


@dataclass(frozen=True)
class Observation:
    """The figures of one run of a tape."""

    tape: Tape
    v: Values  # (slots,) last values
    largest: float  # magnitude of the entries of (4)
    steps: Gathered  # by group of pivots, forward and backward
    shadow: Shadow
    log_unit: float  # log2 of the unit roundoff of what ran; -infinity where nothing is rounded
    ball_bits: int  # precision of a run in balls, 0 of others

    @cached_property
    def pivot_errors(self) -> Floats:
        """(steps,) largest relative error of each step's pivots, against the shadow.

        The error is infinite for a pivot that is not a number, or that should be zero and is not.
        """
        errors = np.zeros(self.tape.program.groups)
        off, size = self.distances(self.tape.pivot_slots)
        with np.errstate(all="ignore"):
            apart = np.where(off == 0.0, 0.0, off / size)
        steps = np.array([record.step for record in self.tape.program.pivots], dtype=np.int64)
        np.maximum.at(errors, steps[self.tape.pivot_records], np.nan_to_num(apart, nan=np.inf, posinf=np.inf))
        return errors

    def distances(self, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """|value - shadow| and |shadow| at signed slots."""
        with precision(self.ball_bits):
            values = signed(self.v, slots)
        return self.shadow.distances(values, slots)

    @cached_property
    def answer(self) -> tuple[dict[Block, NDArray[Any]], dict[int, NDArray[Any]]]:
        """Unknowns of every block, and pivots by the number of their record."""
        with precision(self.ball_bits):
            return answered(self.tape, self.v)


def observe(tape: Tape, entries: Entries, format: Format, **options: Any) -> Observation:
    """Run a tape in a number format and gather the bits that its operations cancel and absorb.

    ``entries`` are in float64, or in the number type of a format of objects
    (:func:`kkt.rounding.observe.seen` finds them); options are those of :class:`Watch`.  Beyond the
    tape's own memory this takes that of one chunk and some numbers for each step.
    """
    seen = Watch(tape, entries, format, **options)
    count = tape.program.groups + 1  # the last one is for operations before the first step, which is -1
    operations, cancelled, zeros = (np.zeros(count, dtype=np.int64) for _ in range(3))
    absorbed, size = np.zeros(count), np.zeros(count)
    for piece in seen:
        of = piece.chunk.step
        starts = np.append(0, 1 + np.flatnonzero(of[1:] != of[:-1]))
        step = of[starts]  # of consecutive operations that belong to one
        np.add.at(operations, step, np.diff(starts, append=len(of)))
        np.add.at(zeros, of[piece.cancelled < 0], 1)
        for most, column in ((cancelled, piece.cancelled), (absorbed, piece.absorbed), (size, piece.size)):
            np.maximum.at(most, step, np.maximum.reduceat(column, starts).astype(most.dtype))
    shares = seen.shares(absorbed[:-1])
    steps = Gathered(operations[:-1], cancelled[:-1], zeros[:-1], *shares, size[:-1])
    return Observation(tape, seen.v, seen.largest, steps, seen.shadow, seen.log_unit, seen.bits)


# -- in any number format -------------------------------------------------------------------------


def seen(system: System, tape: Tape, format: Format, bits: int = 0) -> Observation:
    """Run a tape beside its shadow on a system in any number format, and gather the operations' figures.

    Formats that round start from the entries of (4) rounded to them; exact, mp:D and ball:D run the
    spatial algebra, bias and assembly too.  In these three, a result that is zero in exact
    arithmetic on the model's doubles counts as zero.  ``bits`` is the precision of balls, found by
    :func:`kkt.certify` where it is 0.
    """
    if format.on_arrays:
        return observe(tape, system.entries, format)
    if format.kind == "ball":
        from ..proof.certify import certify

        bits = bits or certify(system, format.digits, order=tape).bits
    with precision(bits):
        number, entries = read_in(system, format)
        zeros = residues_of(system, tape) if format.kind in ("mp", "ball") else None
        return observe(tape, entries, format, bits=bits, number=number, residues=zeros)


def residues_of(system: System, tape: Tape) -> NDArray[np.int64]:
    """(slots,) the data of a tape modulo a prime, computed exactly from the model's doubles."""
    v = started(tape, assemble(system.state, residue), residue)
    return np.array([int(x if isinstance(x, flint.nmod) else residue(float(x))) for x in v], dtype=np.int64)
