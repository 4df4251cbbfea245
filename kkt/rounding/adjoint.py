"""Adjoints on the tape: the derivatives of outputs by all data, in one reverse sweep.

:mod:`kkt.rounding.contributions` finds how far the rounding of each operation moves an output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Format
from ..base.errors import SizeError
from ..matrix.entries import Entries
from ..tape.player import started, watched
from ..tape.tape import Tape

MOST = 40_000_000  # operations of a recording at most

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Recording:
    """The operands and results of every operation of one run of a tape."""

    tape: Tape
    x: NDArray[Any]  # (length,) first operands, at the time of the operation
    y: NDArray[Any]  # (length,) second operands
    r: NDArray[Any]  # (length,) results
    start: NDArray[Any]  # (slots,) values before the first operation
    v: NDArray[Any]  # (slots,) values after the last


def record(tape: Tape, entries: Entries, format: Format) -> Recording:
    """Run a tape and keep all operands and results.

    Raises SizeError for a tape of more than 4e7 operations.
    """
    if tape.length > MOST:
        raise SizeError(
            f"order {tape.program.name!r}: {tape.length:.1e} operations are too many to record; "
            f"use an order with less fill, or a smaller tree (at most {MOST:.0e} operations)"
        )
    v = started(tape, entries, format)
    assert isinstance(v, np.ndarray)
    start = v.copy()
    x, y, r = (np.empty(tape.length, dtype=format.dtype) for _ in range(3))
    for piece in watched(tape, format.runner(tape), v):
        here = slice(piece.at, piece.at + len(piece.r))
        x[here], y[here], r[here] = piece.x, piece.y, piece.r
    return Recording(tape, x, y, r, start, v)


@dataclass(frozen=True)
class Gradient:
    """Partial derivatives of every operation of a run."""

    tape: Tape
    pa: Floats  # (length,) of the result with respect to the first operand
    pb: Floats  # (length,)

    def inputs(self, slots: NDArray[np.int64]) -> Floats:
        """(slots, outputs) derivatives of outputs, signed slots, by the datum in each slot."""
        from ..arithmetic import shadows

        count = len(slots)
        adjoint = np.zeros((self.tape.slots, count))
        adjoint[np.abs(slots), np.arange(count)] = np.sign(slots)
        bar = np.empty(count)
        end = self.tape.length
        for chunk in reversed(tuple(self.tape.chunks())):
            here = slice(end - len(chunk), end)
            shadows.sweep(chunk.dst, chunk.a, chunk.b, self.pa[here], self.pb[here], adjoint, bar)
            end -= len(chunk)
        return adjoint


def gradient(run: Recording) -> Gradient:
    """The partial derivatives of every operation, at the values of a run."""
    from ..arithmetic import shadows

    tape = run.tape
    pa, pb = np.empty(tape.length), np.empty(tape.length)
    at = 0
    for chunk in tape.chunks():
        here = slice(at, at + len(chunk))
        shadows.partials(chunk.op, run.x[here], run.y[here], run.r[here], pa[here], pb[here])
        at += len(chunk)
    return Gradient(tape, pa, pb)
