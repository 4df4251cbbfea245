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
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format, shadows
from ..arithmetic.formats import Chunk, precision
from ..base.errors import FormatError, SizeError
from ..matrix.entries import Entries
from ..tape.player import signed, started, watched
from ..tape.tape import Tape
from .observe import Watch, traceable

Floats = NDArray[np.float64]
ENOUGH = 2.0**-26  # least unit roundoff for which float64 has twice the digits
MOST_OPERATIONS = 100_000_000  # operations at most: they take some 2 GB
MOST_REACHED = 40_000_000  # operations at most of which it is known what they leave in qdd


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
    settled: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))  # of Settled, if any

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


class Settled:
    """The results of a run that are right to a rounding, and the errors (length,) that count with them.

    What the operands of such a result had lost is rounded away there, and its error is all its own.
    """

    def __init__(self, tape: Tape) -> None:
        self.whole: Floats = np.empty(tape.length)
        self.settled: NDArray[np.bool_] = np.zeros(tape.length, dtype=bool)
        self.lost: Floats = np.zeros(tape.slots)

    def add(self, at: int, chunk: Chunk, size: Floats, error: Floats, slopes: Floats) -> None:
        """Look at the next operations; ``size`` (m,) is that of a rounding of their results."""
        op, dst, a, b = chunk.op, chunk.dst, chunk.a, chunk.b
        here = slice(at, at + len(chunk))
        shadows.settle(op, dst, a, b, size, error, slopes, self.lost, self.settled[here], self.whole[here])


def linearised(
    tape: Tape,
    entries: Entries,
    format: Format,
    shadow: str | None = None,
    given: Mapping[str, NDArray[Any]] | None = None,
    settled: Settled | None = None,
) -> Linearised:
    """Run a tape in a format of kind "float" beside a shadow in float64 or dd.

    The shadow is float64 where that has twice the format's digits, else dd, if ``shadow`` is None.
    ``given`` has doubles that are inputs beside (4), by letter; they are rounded as (4) is.  ``settled``
    is filled.
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
            f"format {format.name!r}",
            "its rounding errors cannot be blamed",
            "use float32, float64 or a format that rounds on them",
        )
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
    errors, slopes = _room(tape)
    overflow, bent = None, 0
    for at, chunk, x, y, r in watched(tape, format.runner(tape), v):
        m, k = len(chunk), int(np.count_nonzero(chunk.op > 1))
        others = [np.empty(m, dtype=longer.dtype) for _ in range(3)]
        runner.record(chunk, exact, *others)
        # derivatives need only the high part of a pair high + low i
        xs, ys, rs = (np.ascontiguousarray(column.real) for column in others)
        here = errors[at : at + m], slopes[bent : bent + k]
        shadows.linearise(chunk.op, x, y, r, xs, ys, rs, *here)
        if settled is not None:
            size = np.abs(r, dtype=float) if format.relative else np.ones(m)
            settled.add(at, chunk, format.unit * size, *here)
        bad = np.flatnonzero(~np.isfinite(r))
        if overflow is None and len(bad):
            overflow = at + int(bad[0])
        bent += k
    high, low = (np.ascontiguousarray(part) for part in (exact.real, exact.imag))
    return Linearised(tape, longer.name, np.asarray(v), high, errors, slopes, overflow, low)


def _room(tape: Tape) -> tuple[Floats, Floats]:
    """Room for the errors (length,) of a tape, and for the slopes of its products and quotients."""
    bent = sum(int(np.count_nonzero(chunk.op > 1)) for chunk in tape.chunks())
    return np.empty(tape.length), np.empty((bent, 2))


# -- what reaches the answer ----------------------------------------------------------------------


def reached(
    tape: Tape, entries: Entries, format: Format, number: Callable[[float], Any] | None = None, bits: int = 0
) -> Floats | None:
    """(steps,) error of the worst joint acceleration by each pivot's operations, over max |qdd|.

    In units of rounding: the unit roundoff of what runs, 2^-24 of float32.  Operations before the
    first pivot count to it.  Of two accounts that both add up to the error, the one of the lesser
    squares: that of local errors, and that of :class:`Settled`.  ``entries``, ``number`` and ``bits``
    are those of :class:`kkt.rounding.observe.Watch`.  None for a tape of more than 4e7 operations, and
    where a result is not a number.
    """
    found = np.zeros(tape.program.groups)
    slots = [place.ravel() for block, place in tape.solution.items() if block.kind == "qdd"]
    if not slots or not format.unit:  # fractions lose nothing
        return found
    if tape.length > MOST_REACHED:
        return None
    joints, settled = np.concatenate(slots), Settled(tape)
    if traceable(format):
        run = linearised(tape, entries, format, settled=settled)
        size, unit = np.abs(run.exact[np.abs(joints)]), format.unit
        off = np.abs((run.v - run.exact) - run.rest)[np.abs(joints)]
    else:
        run, off, size = _of_objects(tape, entries, format, joints, settled, number, bits)
        unit = 1.0  # their errors are in units already
    scale = size.max() * unit if format.relative else unit
    if not scale > 0.0:
        return found
    worst = int(joints[np.argmax(np.nan_to_num(off, nan=np.inf))])
    accounts = run, replace(run, errors=settled.whole, settled=settled.settled)
    parts = [each.contributions({worst: 1.0}, keep=False) for each in accounts]
    pivots = np.concatenate([np.maximum(chunk.step, 0) for chunk in tape.chunks()])
    found = np.array([np.bincount(pivots, weights=part, minlength=len(found)) for part in parts])
    return np.abs(found[np.argmin(np.hypot.reduce(found, 1))]) / scale if np.isfinite(found).all() else None


def _of_objects(
    tape: Tape,
    entries: Entries,
    format: Format,
    joints: NDArray[np.int64],
    settled: Settled,
    number: Callable[[float], Any] | None,
    bits: int,
) -> tuple[Linearised, Floats, Floats]:
    """A run in numbers of any type, and its joints' distances to a run in more digits, and sizes."""
    from ..arithmetic.parts import linearise_objects

    seen = Watch(tape, entries, format, True, number=number, bits=bits)
    (errors, slopes), bent = _room(tape), 0
    for piece in seen:
        op, k = piece.chunk.op, int(np.count_nonzero(piece.chunk.op > 1))
        columns = (piece.x.tolist(), piece.y.tolist(), piece.r.tolist())
        here = errors[piece.at : piece.at + len(op)], slopes[bent : bent + k]
        linearise_objects(seen.read, round(-seen.log_unit), op, *columns, *here)
        settled.add(piece.at, piece.chunk, piece.size if format.relative else np.ones(len(op)), *here)
        bent += k
    assert seen.shadow is not None
    with precision(bits):
        off, size = seen.shadow.distances(signed(seen.v, joints), joints)
    run = Linearised(tape, format.name, np.zeros(0), np.zeros(0), errors, slopes, None)
    return run, off, size
