"""What rounding reaches the answer: of every pivot, the error that its operations leave in qdd.

A sum that cancels loses nothing by itself.  It makes errors large that its operands had before, and
harms only what depends on it.  So the bits that matter are counted where they were rounded away: the
local error of an operation, times the derivative of qdd by its result, which holds every cancellation
on the way (:mod:`kkt.rounding.contributions`).  Within a pivot errors that undo each other are
added with their signs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import objects
from ..arithmetic.formats import Format
from ..arithmetic.objects import precision
from ..matrix.entries import Entries
from ..tape.player import signed, watched
from ..tape.tape import Tape
from .contributions import Linearised, linearised
from .observe import Objects, reader_of, shadow_for, traceable

Floats = NDArray[np.float64]
MOST = 40_000_000  # operations of a tape at most


def reached(
    tape: Tape, entries: Entries, format: Format, number: Callable[[float], Any] | None = None, bits: int = 0
) -> Floats | None:
    """(steps,) error of the worst joint acceleration by each pivot's operations, over max |qdd|.

    In units of rounding: the unit roundoff of what runs, 2^-24 of float32.  Operations before the
    first pivot count to it.  ``entries``, ``number`` and ``bits`` are those of
    :class:`kkt.rounding.observe.Watch`.  None for a tape of more than 4e7 operations, and where a
    result is not a number.
    """
    found = np.zeros(tape.program.groups)
    slots = [place.ravel() for block, place in tape.solution.items() if block.kind == "qdd"]
    if not slots or not format.unit:  # fractions lose nothing
        return found
    if tape.length > MOST:
        return None
    joints = np.concatenate(slots)
    if traceable(format):
        run = linearised(tape, entries, format)
        size, unit = np.abs(run.exact[np.abs(joints)]), format.unit
        off = np.abs((run.v - run.exact) - run.rest)[np.abs(joints)]
    else:
        run, off, size = _of_objects(tape, entries, format, joints, number, bits)
        unit = 1.0  # their errors are in units already
    scale = size.max() * unit if format.relative else unit
    if not scale > 0.0:
        return found
    worst = int(joints[np.argmax(np.nan_to_num(off, nan=np.inf))])
    errors = run.contributions({worst: 1.0}, keep=False) / scale
    if not np.isfinite(errors).all():
        return None
    at = 0
    for chunk in tape.chunks():
        here = slice(at, at + len(chunk))
        found += np.bincount(np.maximum(chunk.step, 0), weights=errors[here], minlength=len(found))
        at += len(chunk)
    return np.abs(found)


def _of_objects(
    tape: Tape,
    entries: Entries,
    format: Format,
    joints: NDArray[np.int64],
    number: Callable[[float], Any] | None,
    bits: int,
) -> tuple[Linearised, Floats, Floats]:
    """A run in numbers of any type, and its joints' distances to a run in more digits, and sizes."""
    from ..arithmetic import shadows

    reader = reader_of(tape, entries, format, number, bits)
    read = reader.read if isinstance(reader, Objects) else objects.of_any
    beside = shadows.shadow_of(shadow_for(format), reader.v)
    errors = np.empty(tape.length)
    slopes = np.empty((sum(int(np.count_nonzero(chunk.op > 1)) for chunk in tape.chunks()), 2))
    bent = 0
    for at, chunk, x, y, r in watched(tape, reader.runner, reader.v, reader.room):
        m, k = len(chunk), int(np.count_nonzero(chunk.op > 1))
        columns = (x.tolist(), y.tolist(), r.tolist())
        here = errors[at : at + m], slopes[bent : bent + k]
        shadows.linearise_objects(read, round(-reader.log_unit), chunk.op, *columns, *here)
        beside.follow(chunk)
        bent += k
    with precision(bits):
        off, size = beside.distances(signed(reader.v, joints), joints)
    run = Linearised(tape, format.name, np.zeros(0), np.zeros(0), errors, slopes, None)
    return run, off, size
