"""Adjoints on the tape: how much each operation's rounding, or each datum, moves an output.

A run and a shadow run of the same tape differ, operation by operation, by

    r - rs = pa (x - xs) + pb (y - ys) + local rounding error,

with pa, pb taken halfway between the two runs (a discrete gradient).  Swept in reverse from an
output, the local errors times their adjoints add up to its whole error: nothing is truncated, and
what is missing is the shadow's own error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Format
from ..errors import SizeError
from ..system import Entries
from .run import enter
from .tape import Tape

MOST = 40_000_000  # operations that a recording holds

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Recording:
    """Operands and results of every operation of one run of a tape."""

    tape: Tape
    x: NDArray  # (length,) first operands, as the operation saw them
    y: NDArray  # (length,) second operands; 0 for a square root
    r: NDArray  # (length,) results
    start: NDArray  # (slots,) values before the first operation
    v: NDArray  # (slots,) values after the last

    def output(self, slot: int) -> float:
        """The value of a signed slot, after the last operation."""
        return float(np.sign(slot) * self.v[abs(slot)])


def record(tape: Tape, entries: Entries, format: Format, cast: Format | None = None) -> Recording:
    """Run a tape and keep all operands and results.

    ``cast`` rounds the data to another format first: a shadow in float64 starts from the data of
    the run that it shadows.  Raises SizeError for a tape of more than 4e7 operations.
    """
    if tape.length > MOST:
        raise SizeError(
            f"order {tape.program.name!r}: {tape.length:.1e} operations are too many to record; "
            f"use an order with less fill, or a smaller tree (at most {MOST:.0e} operations)"
        )
    v = np.zeros(tape.slots, dtype=format.dtype)
    enter(tape, entries, v, (cast or format).cast)
    start = v.copy()
    x, y, r = (np.empty(tape.length, dtype=format.dtype) for _ in range(3))
    runner = format.runner(tape)
    at = 0
    with np.errstate(all="ignore"):
        for chunk in tape.chunks():
            here = slice(at, at + len(chunk))
            runner.record(chunk, v, x[here], y[here], r[here])
            at += len(chunk)
    return Recording(tape, x, y, r, start, v)


@dataclass(frozen=True)
class Gradient:
    """Partial derivatives of every operation, between a run and its shadow."""

    tape: Tape
    pa: Floats  # (length,) of the result with respect to the first operand
    pb: Floats  # (length,)

    def sweep(self, seeds: Mapping[int, float]) -> tuple[Floats, Floats]:
        """Adjoints of one output: a weighted sum of signed slots, {slot: weight}.

        Returns the adjoint of every operation's result (length,) and of every slot's first value
        (slots,), which for the slots of ``tape.inputs`` is the derivative by that datum.
        """
        from ..arithmetic import derivatives

        adjoint = np.zeros(self.tape.slots)
        for slot, weight in seeds.items():
            adjoint[abs(slot)] += np.sign(slot) * weight
        bars = np.empty(self.tape.length)
        end = self.tape.length
        for chunk in reversed(tuple(self.tape.chunks())):
            here = slice(end - len(chunk), end)
            derivatives.sweep(
                chunk.dst, chunk.a, chunk.b, self.pa[here], self.pb[here], adjoint, bars[here]
            )
            end -= len(chunk)
        return bars, adjoint

    def inputs(self, slots: NDArray[np.int64]) -> Floats:
        """(slots, outputs) derivatives of several outputs, signed slots, by every slot's datum."""
        from ..arithmetic import derivatives

        count = len(slots)
        adjoint = np.zeros((self.tape.slots, count))
        adjoint[np.abs(slots), np.arange(count)] = np.sign(slots)
        bar = np.empty(count)
        end = self.tape.length
        for chunk in reversed(tuple(self.tape.chunks())):
            here = slice(end - len(chunk), end)
            derivatives.sweep_many(
                chunk.dst, chunk.a, chunk.b, self.pa[here], self.pb[here], adjoint, bar
            )
            end -= len(chunk)
        return adjoint


def gradient(run: Recording, shadow: Recording | None = None) -> Gradient:
    """The discrete gradient between a run and its shadow; the run's own derivatives if None."""
    from ..arithmetic import derivatives

    other = run if shadow is None else shadow
    tape = run.tape
    pa, pb = np.empty(tape.length), np.empty(tape.length)
    at = 0
    for chunk in tape.chunks():
        here = slice(at, at + len(chunk))
        derivatives.partials(
            chunk.op, run.x[here], run.y[here], run.r[here],
            other.x[here], other.y[here], other.r[here], pa[here], pb[here],
        )  # fmt: skip
        at += len(chunk)
    return Gradient(tape, pa, pb)


def local_errors(run: Recording) -> Floats:
    """(length,) rounding error of each operation on the operands that it saw."""
    from ..arithmetic import derivatives

    out = np.empty(run.tape.length)
    at = 0
    for chunk in run.tape.chunks():
        here = slice(at, at + len(chunk))
        derivatives.local_errors(chunk.op, run.x[here], run.y[here], run.r[here], out[here])
        at += len(chunk)
    return out
