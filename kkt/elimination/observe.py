"""Tracing: what every operation of a run cancels, absorbs, and is off by.

A tape is run chunk by chunk with operands and results recorded, and the recorded arrays are
looked at by compiled loops; nothing is kept but the largest figures of every run of consecutive
operations that belong to one step and one block instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Format, Hardware
from ..blocks import Block
from ..errors import FormatError
from ..system import Entries
from .owners import run_bodies
from .run import enter, signed
from .tape import Tape

if TYPE_CHECKING:
    from ..arithmetic.shadows import Shadow

PIECE = 1 << 18  # operations that are looked at together

Floats = NDArray[np.float64]


def traceable(format: Format) -> bool:
    """Whether a format's operations are those of a float32 or float64, or rounded on one."""
    return format.kind == "float" and format.dtype in (np.float32, np.float64)


class Operations(NamedTuple):
    """Consecutive operations r = x op y as a format rounds them; arrays (m,) are lent, not given.

    The next piece is written into the same arrays: copy what should stay.
    """

    at: int  # operations before the first of these
    op: NDArray[np.int8]  # add 0, sub 1, mul 2, div 3, sqrt 4
    step: NDArray[np.int32]  # group of pivots, -1 before the first
    x: NDArray  # in the format's carrier
    y: NDArray
    r: NDArray
    cancelled: NDArray  # bits; -1 for a sum that is exactly zero
    absorbed: NDArray  # error of a sum over its smaller operand
    size: NDArray  # |r|
    high: Floats  # the shadow's result is high + low; (0,) without a shadow
    low: Floats
    off: Floats  # |r - shadow|


class Gathered(NamedTuple):
    """Largest figures in each of several groups of operations; arrays (groups,)."""

    operations: NDArray[np.int64]
    cancelled: NDArray[np.int64]  # bits, in one sum that is not zero
    zeros: NDArray[np.int64]  # sums of nonzeros that are exactly zero
    absorbed: Floats  # fraction of the smaller operand that one sum does not keep
    size: Floats  # largest magnitude of a result
    off: Floats | None  # largest distance of a result to its shadow, in its own unit
    scale: Floats | None  # largest magnitude of a shadow's result

    @property
    def error(self) -> Floats | None:
        """Largest distance over the largest shadow in the group; None without a shadow."""
        if self.off is None or self.scale is None:
            return None
        with np.errstate(all="ignore"):
            return np.where(self.off == 0.0, 0.0, self.off / self.scale)


class Watch:
    """One run of a tape in a format of kind "float", seen operation by operation.

    ``shadow`` "float64", "dd" or "ball:DIGITS" runs beside it on the data as the format rounds
    them, so that it sees errors of arithmetic alone.  ``sums`` False leaves cancelled, absorbed
    and size at 0.  Iterate once; then ``v`` and ``shadow`` hold the last values of all slots.
    """

    def __init__(
        self,
        tape: Tape,
        entries: Entries,
        format: Format,
        shadow: str | None = None,
        sums: bool = True,
    ) -> None:
        from ..arithmetic.shadows import shadow_of

        if not traceable(format):
            raise FormatError(
                f"format {format.name!r}: its operations cannot be traced; use float32, float64 "
                "or a format that rounds on them"
            )
        self.tape, self.format, self.sums = tape, format, sums
        self.v = np.zeros(tape.slots, dtype=format.dtype)
        enter(tape, entries, self.v, format.cast)
        self.largest = float(np.abs(self.v).max())  # entry of (4)
        self.shadow = None if shadow is None else shadow_of(shadow, self.v)

    def __iter__(self) -> Iterator[Operations]:
        from ..arithmetic import watch

        runner, at = self.format.runner(self.tape), 0
        beside = self._in_one_loop()
        kinds = (self.format.dtype, watch.LAYOUT[self.v.dtype].whole, np.float64)
        room = min(PIECE, self.tape.length)
        columns = [np.zeros(room, dtype=kinds[k]) for k in (0, 0, 0, 1, 0, 0)]
        columns += [np.zeros(room if self.shadow else 0) for _ in range(3)]
        for chunk in self.tape.chunks():
            for start in range(0, len(chunk), room):
                piece = chunk.part(slice(start, start + room))
                here = [column[: len(piece)] for column in columns]
                x, y, r, cancelled, absorbed, size, high, low, off = here
                if beside is not None:
                    beside(piece, self.v, x, y, r, high, off)
                else:
                    with np.errstate(all="ignore"):
                        runner.record(piece, self.v, x, y, r)
                    if self.shadow is not None:
                        self.shadow.follow(piece, r, high, low, off)
                if self.sums:
                    watch.looked(piece.op, x, y, r, cancelled, absorbed, size)
                yield Operations(at, piece.op, piece.step, *here)
                at += len(piece)

    def _in_one_loop(self) -> Callable[..., None] | None:
        """How the hardware's own format and a float64 shadow share a loop, the common case."""
        from ..arithmetic.shadows import Float64

        shared = isinstance(self.format, Hardware) and isinstance(self.shadow, Float64)
        return self.shadow.beside if shared else None  # type: ignore[union-attr]


@dataclass(frozen=True)
class Observation:
    """What was seen, run by run: consecutive operations of one step and, if asked, one block."""

    tape: Tape
    v: NDArray  # (slots,) last values
    largest: float  # magnitude of the entries of (4)
    step: NDArray[np.int32]  # (runs,)
    instruction: NDArray[np.int32]  # (runs,) of the program; the first one where blocks is False
    runs: Gathered
    blocks_told_apart: bool
    shadow: Shadow | None

    def by(self, group: NDArray[np.int64], count: int) -> Gathered:
        """Largest figures by a group number for each run, -1 for none."""
        keep = group >= 0
        at = group[keep]

        def most(column: NDArray) -> NDArray:
            out = np.zeros(count, dtype=column.dtype)
            np.maximum.at(out, at, column[keep])
            return out

        def total(column: NDArray) -> NDArray:
            out = np.zeros(count, dtype=np.int64)
            np.add.at(out, at, column[keep])
            return out

        runs = self.runs
        return Gathered(
            total(runs.operations),
            most(runs.cancelled),
            total(runs.zeros),
            most(runs.absorbed),
            most(runs.size),
            None if runs.off is None else most(runs.off),
            None if runs.scale is None else most(runs.scale),
        )

    @cached_property
    def steps(self) -> Gathered:
        """By group of pivots, forward and backward (steps,)."""
        return self.by(self.step.astype(np.int64), self.tape.program.groups)

    @cached_property
    def blocks(self) -> Gathered:
        """By block instruction of ``tape.program`` (instructions,)."""
        self._need_blocks()
        return self.by(self.instruction.astype(np.int64), len(self.tape.program.instructions))

    @cached_property
    def bodies(self) -> Gathered:
        """By body, in the tree's order (n,)."""
        self._need_blocks()
        parent = self.tape.inputs.parent
        bodies = run_bodies(self.tape.program, parent, self.instruction, self.step)
        return self.by(bodies, len(parent))

    @cached_property
    def pivot_errors(self) -> Floats:
        """(steps,) largest relative error of each step's pivots against the shadow, which it needs.

        A pivot that is not a number, or should be zero and is not, is infinitely far off.
        """
        if self.shadow is None:
            raise FormatError("trace: ran without a shadow; ask for it with shadow='dd'")
        errors = np.zeros(self.tape.program.groups)
        if self.tape.pivots:
            slots = np.concatenate(list(self.tape.pivots.values()))
            high, low = self.shadow.values(slots)
            with np.errstate(all="ignore"):
                off = np.abs((signed(self.v, slots).astype(float) - high) - low) / np.abs(high)
            steps = [
                self.tape.program.pivots[i].step
                for i, own in self.tape.pivots.items()
                for _ in range(len(own))
            ]
            np.maximum.at(errors, steps, np.nan_to_num(off, nan=np.inf, posinf=np.inf))
        return errors

    def _need_blocks(self) -> None:
        if not self.blocks_told_apart:
            raise FormatError("trace: was gathered by steps alone; ask for it with blocks=True")

    def solution(self) -> dict[Block, NDArray]:
        """Unknowns of every block."""
        return {b: signed(self.v, slots)[:, 0] for b, slots in self.tape.solution.items()}

    def pivots(self) -> dict[int, NDArray]:
        """Pivots by the number of their record."""
        return {i: signed(self.v, slots) for i, slots in self.tape.pivots.items()}


def observe(
    tape: Tape,
    entries: Entries,
    format: Format,
    shadow: str | None = None,
    *,
    blocks: bool = True,
    sums: bool = True,
) -> Observation:
    """Run a tape in a format of kind "float" and gather what each operation cancels and absorbs.

    ``shadow``: see :class:`Watch`; with one, true errors too, and with ``sums`` False these alone.
    ``blocks`` False gathers by step only.  Both are faster.  Memory beyond the tape's is a chunk's
    and some numbers a block.
    """
    from ..arithmetic import watch

    seen = Watch(tape, entries, format, shadow, sums)
    whole = watch.LAYOUT[seen.v.dtype].whole
    zero, one = np.array([0, 1]).astype(whole)
    doubles = watch.LAYOUT[np.dtype(np.float64)]
    room = min(PIECE, tape.length)
    starts = np.empty(room + 1, dtype=np.int64)
    owner, group = (np.empty(room, dtype=np.int32) for _ in range(2))
    parts = [_Part.empty(whole)]
    instruction = 0
    for piece in seen:
        count, instruction = watch.cut(
            tape.first, piece.step, piece.at, instruction, blocks, starts, owner, group
        )
        cuts = starts[: count + 1]
        most = np.zeros((count, 4), dtype=whole)
        if sums:
            statistics = (piece.cancelled, piece.absorbed.view(whole), piece.size.view(whole))
            watch.gather(cuts, *statistics, zero, one, most)
        far = np.zeros((0 if shadow is None else count, 2), dtype=np.int64)
        if shadow is not None:
            bits = (piece.off.view(np.int64), piece.high.view(np.int64))
            watch.farthest(cuts, *bits, doubles.magnitude, far)
        parts.append(
            _Part(group[:count].copy(), owner[:count].copy(), cuts[1:] - cuts[:-1], most, far)
        )
    kept = _Part(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    runs = kept.gathered(seen.v.dtype, shadow is not None)
    return Observation(tape, seen.v, seen.largest, kept.step, kept.owner, runs, blocks, seen.shadow)


class _Part(NamedTuple):
    """What is kept of one piece, a row for each run; floats as their bits."""

    step: NDArray[np.int32]
    owner: NDArray[np.int32]  # instruction
    operations: NDArray[np.int64]
    most: NDArray  # (runs, 4) cancelled, absorbed, size, exact zeros
    far: NDArray[np.int64]  # (runs, 2) distance to the shadow, and its magnitude

    @classmethod
    def empty(cls, whole: np.dtype) -> _Part:
        none = np.zeros(0, dtype=np.int32)
        return cls(
            none, none, none.astype(int), np.zeros((0, 4), dtype=whole), np.zeros((0, 2), dtype=int)
        )

    def gathered(self, carrier: np.dtype, shadowed: bool) -> Gathered:
        cancelled, absorbed, size, zeros = (np.ascontiguousarray(c) for c in self.most.T)
        off, scale = (np.ascontiguousarray(c).view(np.float64) for c in self.far.T)
        return Gathered(
            self.operations,
            cancelled.astype(np.int64),
            zeros.astype(np.int64),
            absorbed.view(carrier).astype(np.float64),
            size.view(carrier).astype(np.float64),
            np.nan_to_num(off, nan=np.inf, posinf=np.inf) if shadowed else None,
            np.nan_to_num(scale, nan=np.inf, posinf=np.inf) if shadowed else None,
        )
