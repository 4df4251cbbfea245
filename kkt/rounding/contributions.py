"""The contribution of each operation's rounding to an error: its adjoint times its local error.

A run and a shadow with at least twice its digits go through the tape side by side, on the same
rounded data.  At each operation they differ by

    r - rs = pa (x - xs) + pb (y - ys) + local rounding error,

with the derivatives pa, pb taken halfway between the two (a discrete gradient).  This is an
identity, not a first-order expansion.  A reverse sweep gives the adjoints; local errors times
adjoints, the contributions, add up to the run's value minus the shadow's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format, shadows
from ..arithmetic.formats import Chunk
from ..base.errors import FormatError, SizeError
from ..matrix.entries import Entries
from ..tape.player import started, watched
from ..tape.tape import Tape
from .observe import traceable

Floats = NDArray[np.float64]
ENOUGH = 2.0**-26  # least unit roundoff for which float64 has twice the digits
MOST_OPERATIONS = 100_000_000  # operations at most: they take some 2 GB


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
    settled: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))  # right to a rounding

    def output(self, slot: int) -> float:
        """The run's value of a signed slot."""
        return float(np.sign(slot) * self.v[abs(slot)])

    def shadowed(self, slot: int) -> float:
        """The shadow's value of a signed slot."""
        return float(np.sign(slot) * self.exact[abs(slot)])

    def swept(self, seeds: Mapping[int, float], keep: bool = True) -> tuple[Floats, Floats]:
        """Contributions of the operations to an output's error, in its unit, and the output's derivatives.

        The output is a weighted sum of slots, {slot: weight}; (length,) are the contributions, and
        (slots,) the derivatives by what the slots held at first.  ``keep`` False overwrites ``errors``
        with the contributions, so that a last sweep takes no more memory.
        """
        end, adjoint = self.tape.length, np.zeros(self.tape.slots)
        out = np.empty(end) if keep else self.errors
        for slot, weight in seeds.items():
            adjoint[abs(slot)] += np.sign(slot) * weight
        bent = len(self.slopes)
        for piece in reversed(tuple(self.tape.chunks())):
            m, k = len(piece), int(np.count_nonzero(piece.op > 1))
            here = slice(end - m, end)
            told = self.errors[here], self.slopes[bent - k : bent], self.settled[here]
            shadows.contribute(piece.op, piece.dst, piece.a, piece.b, *told, adjoint, out[here])
            end, bent = end - m, bent - k
        return out, adjoint


def linearised(
    tape: Tape,
    entries: Entries,
    format: Format,
    shadow: str | None = None,
    given: Mapping[str, NDArray[Any]] | None = None,
    settled: Callable[[int, Chunk, Floats, Floats, Floats], None] | None = None,
) -> Linearised:
    """Run a tape in a format of kind "float" beside a shadow in float64 or dd.

    The shadow is float64 where that has twice the format's digits, else dd, if ``shadow`` is None.
    ``given`` has doubles that are inputs beside (4), by letter; they are rounded as (4) is.  ``settled``
    is told of each piece: operations before it, the piece, sizes of its results' roundings, errors, slopes.
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
        told = "use float32, float64 or a format that rounds on them"
        raise FormatError(f"format {format.name!r}", "its rounding errors cannot be blamed", told)
    if tape.length > MOST_OPERATIONS:
        raise SizeError(
            f"order {tape.program.name!r}",
            f"{tape.length:.1e} operations are too many to look back over",
            f"use an order with less fill, or a smaller tree (at most {MOST_OPERATIONS:.0e} operations)",
        )
    longer = get_format(shadow or ("float64" if format.unit >= ENOUGH else "dd"))
    cast = {letter: format.cast(values) for letter, values in (given or {}).items()}
    v = started(tape, entries, format, cast)
    exact = np.array(longer.cast(np.asarray(v)))
    runner = longer.runner(tape)
    errors, slopes = room(tape)
    overflow, bent = None, 0
    for at, chunk, x, y, r in watched(tape, format.runner(tape), v):
        m, k = len(chunk), int(np.count_nonzero(chunk.op > 1))
        others = [np.empty(m, dtype=longer.dtype) for _ in range(3)]
        runner.record(chunk, exact, *others)
        # derivatives need only the high part of a pair high + low i
        highs = (np.ascontiguousarray(column.real) for column in others)
        here = errors[at : at + m], slopes[bent : bent + k]
        shadows.linearise(chunk.op, *np.asarray((x, y, r), dtype=float), *highs, *here)
        if settled is not None:
            size = np.abs(r, dtype=float) if format.relative else np.ones(m)
            settled(at, chunk, format.unit * size, *here)
        bad = np.flatnonzero(~np.isfinite(r))
        if overflow is None and len(bad):
            overflow = at + int(bad[0])
        bent += k
    high, low = (np.ascontiguousarray(part) for part in (exact.real, exact.imag))
    return Linearised(tape, longer.name, np.asarray(v), high, errors, slopes, overflow, low)


def room(tape: Tape) -> tuple[Floats, Floats]:
    """Room for the errors (length,) of a tape, and for the slopes of its products and quotients."""
    bent = sum(int(np.count_nonzero(chunk.op > 1)) for chunk in tape.chunks())
    return np.empty(tape.length), np.empty((bent, 2))
