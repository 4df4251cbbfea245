"""What reaches the answer: the error that the operations of each pivot leave in qdd."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format
from ..arithmetic.formats import Chunk, precision
from ..base.compiled import njit
from ..matrix.entries import Entries
from ..tape.player import signed
from ..tape.tape import Tape
from .contributions import Floats, Linearised, linearised, room
from .observe import Watch, traceable

MOST_REACHED = 40_000_000  # operations at most of which it is known what they leave in qdd


@njit(cache=True, error_model="numpy")
def settle(op, dst, a, b, size, error, slopes, lost, settled, whole):  # pragma: no cover
    """Mark results (m,) that are right to a rounding: what operands had lost is rounded away there.

    ``whole`` is the whole error of such a result, and the error of its rounding of any other; size (m,)
    is that of a rounding, and lost (slots,) the whole errors of what slots hold, in place.
    """
    k = 0
    for i in range(len(op)):
        x, y = lost[a[i]], lost[b[i]]
        if op[i] > 1:
            x, y = slopes[k, 0] * x, slopes[k, 1] * y
            k += 1
        total = error[i] + x + (-y if op[i] == 1 else y)
        settled[i] = abs(total) <= size[i]
        whole[i] = total if settled[i] else error[i]
        lost[dst[i]] = total


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
        settle(op, dst, a, b, size, error, slopes, self.lost, self.settled[here], self.whole[here])


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
        run = linearised(tape, entries, format, settled=settled.add)
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
    parts = [each.swept({worst: 1.0}, keep=False)[0] for each in accounts]
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
    from ..arithmetic.parts import linearise_objects, of_any

    seen = Watch(tape, entries, format, number=number, bits=bits)
    (errors, slopes), bent = room(tape), 0
    for piece in seen:
        op, k = piece.chunk.op, int(np.count_nonzero(piece.chunk.op > 1))
        columns = (piece.x.tolist(), piece.y.tolist(), piece.r.tolist())
        here = errors[piece.at : piece.at + len(op)], slopes[bent : bent + k]
        linearise_objects(seen.read or of_any, round(-seen.log_unit), op, *columns, *here)
        settled.add(piece.at, piece.chunk, piece.size if format.relative else np.ones(len(op)), *here)
        bent += k
    with precision(bits):
        off, size = seen.shadow.distances(signed(seen.v, joints), joints)
    run = Linearised(tape, format.name, np.zeros(0), np.zeros(0), errors, slopes, None)
    return run, off, size
