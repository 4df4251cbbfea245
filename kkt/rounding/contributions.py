"""The contribution of each operation's rounding to an error: its adjoint times its local error.

A run and a shadow with at least twice its digits go through the tape side by side, on the same
rounded data.  At each operation they differ by

    r - rs = pa (x - xs) + pb (y - ys) + local rounding error,

with the derivatives pa, pb taken halfway between the two (a discrete gradient).  This is an
identity, not a first-order expansion.  A reverse sweep gives the adjoints; local errors times
adjoints, the contributions, add up to the run's value minus the shadow's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..arithmetic.chunk import Chunk
from ..arithmetic.formats import Hardware, Runner
from ..base.errors import FormatError, SizeError
from ..matrix.entries import Entries
from ..tape.player import PIECE, started, watched
from ..tape.tape import Tape
from .observe import traceable

Floats = NDArray[np.float64]
ENOUGH = 2.0**-26  # least unit roundoff for which float64 has twice the digits
MOST = 100_000_000  # operations at most: they take some 2 GB


@dataclass(frozen=True)
class Linearised:
    """A run in a format beside its shadow, ready for reverse sweeps."""

    tape: Tape
    shadow: str  # "float64" or "dd"
    v: NDArray[Any]  # (slots,) last values of the run
    exact: Floats  # (slots,) of the shadow
    errors: Floats  # (length,) local rounding errors
    slopes: Floats  # (products and quotients, 2) derivatives by both operands
    overflow: int | None  # the first operation whose result is not a number
    rest: Floats | float = 0.0  # (slots,) what a shadow of two doubles holds beyond ``exact``

    def output(self, slot: int) -> float:
        """The run's value of a signed slot."""
        return float(np.sign(slot) * self.v[abs(slot)])

    def shadowed(self, slot: int) -> float:
        """The shadow's value of a signed slot."""
        return float(np.sign(slot) * self.exact[abs(slot)])

    def contributions(self, seeds: Mapping[int, float], keep: bool = True) -> Floats:
        """(length,) contributions of the operations to the error of one output, in its unit.

        The output is a weighted sum of slots, {slot: weight}.  ``keep`` False overwrites ``errors``
        with them, so that a last sweep takes no more memory.
        """
        return self.swept(seeds, keep)[0]

    def swept(self, seeds: Mapping[int, float], keep: bool = True) -> tuple[Floats, Floats]:
        """The same, and (slots,) the derivatives of the output by what the slots held at first."""
        from ..arithmetic import shadows

        end, adjoint = self.tape.length, np.zeros(self.tape.slots)
        out = np.empty(end) if keep else self.errors
        for slot, weight in seeds.items():
            adjoint[abs(slot)] += np.sign(slot) * weight
        bent = len(self.slopes)
        for piece in reversed(tuple(_pieces(self.tape))):
            m, k = len(piece), int(np.count_nonzero(piece.op > 1))
            here = slice(end - m, end)
            shadows.contribute(
                piece.op,
                piece.dst,
                piece.a,
                piece.b,
                self.errors[here],
                self.slopes[bent - k : bent],
                adjoint,
                out[here],
            )
            end, bent = end - m, bent - k
        return out, adjoint


def linearised(
    tape: Tape,
    entries: Entries,
    format: Format,
    shadow: str | None = None,
    given: Mapping[str, NDArray[Any]] | None = None,
) -> Linearised:
    """Run a tape in a format of kind "float" beside a shadow in float64 or dd.

    The shadow is float64 where that has twice the format's digits, else dd, if ``shadow`` is None.
    ``given`` has doubles that are inputs beside (4), by letter; they are rounded as (4) is.
    Raises FormatError for formats that do not round to a float, SizeError for a tape of more than
    1e8 operations.

    >>> from pivotree.analysis.rounding import linearised
    >>> from pivotree.kkt.arithmetic import get_format
    >>> system = pt.build(pt.chain(3))
    >>> tape = pt.trace(system, pt.orderings.get("abm"))
    >>> linearised(tape, system.entries, get_format("float32")).shadow
    'float64'
    """
    if not traceable(format):
        raise FormatError(
            f"format {format.name!r}: its rounding errors cannot be blamed; use float32, float64 "
            "or a format that rounds on them"
        )
    if tape.length > MOST:
        raise SizeError(
            f"order {tape.program.name!r}: {tape.length:.1e} operations are too many to look back over; "
            f"use an order with less fill, or a smaller tree (at most {MOST:.0e} operations)"
        )
    longer = get_format(shadow or ("float64" if format.unit >= ENOUGH else "dd"))
    cast = {letter: format.cast(values) for letter, values in (given or {}).items()}
    v = started(tape, entries, format, cast)
    exact = np.array(longer.cast(np.asarray(v)))
    beside = _Beside(tape, format, longer, exact)
    for _ in watched(tape, beside, v):
        pass
    high, low = (np.ascontiguousarray(part) for part in (exact.real, exact.imag))
    return Linearised(
        tape, longer.name, np.asarray(v), high, beside.errors, beside.slopes, beside.overflow, low
    )


class _Beside(Runner):
    """Runs a format beside its shadow ``exact`` (slots,), and keeps local errors and slopes."""

    def __init__(self, tape: Tape, format: Format, longer: Format, exact: NDArray[Any]) -> None:
        self.runners = (format.runner(tape), longer.runner(tape))
        self.exact, self.longer = exact, longer
        self.native = isinstance(format, Hardware) and longer.dtype is np.float64
        self.errors = np.empty(tape.length)
        self.slopes = np.empty((sum(int(np.count_nonzero(c.op > 1)) for c in tape.chunks()), 2))
        self.overflow: int | None = None
        self.at = self.bent = 0

    def record(
        self, chunk: Chunk, v: NDArray[Any], x: NDArray[Any], y: NDArray[Any], r: NDArray[Any]
    ) -> None:
        m, k = len(chunk), int(np.count_nonzero(chunk.op > 1))
        errors, slopes = self.errors[self.at : self.at + m], self.slopes[self.bent : self.bent + k]
        bad = self.side_by_side(chunk, v, x, y, r, errors, slopes)
        if self.overflow is None and bad < m:
            self.overflow = self.at + bad
        self.at, self.bent = self.at + m, self.bent + k

    def side_by_side(
        self,
        chunk: Chunk,
        v: NDArray[Any],
        x: NDArray[Any],
        y: NDArray[Any],
        r: NDArray[Any],
        errors: Floats,
        slopes: Floats,
    ) -> int:
        """Run a chunk in both; the number of its first operation that gives no number."""
        from ..arithmetic import shadows

        op, dst, a, b, _ = chunk
        if self.native:  # float32 beside float64, in one compiled loop
            return shadows.side_by_side(op, dst, a, b, v, self.exact, errors, slopes)
        others = [np.empty(len(chunk), dtype=self.longer.dtype) for _ in range(3)]
        self.runners[0].record(chunk, v, x, y, r)
        self.runners[1].record(chunk, self.exact, *others)
        # derivatives need only the high part of a pair high + low i
        xs, ys, rs = (np.ascontiguousarray(column.real) for column in others)
        shadows.linearise(op, x, y, r, xs, ys, rs, errors, slopes)
        bad = np.flatnonzero(~np.isfinite(r))
        return int(bad[0]) if bad.size else len(chunk)


def _pieces(tape: Tape) -> Iterator[Chunk]:
    """The tape in pieces of bounded length."""
    for chunk in tape.chunks():
        for start in range(0, len(chunk), PIECE):
            yield chunk.part(slice(start, start + PIECE))
