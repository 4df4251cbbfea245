"""Where (4) is singular in a number format, and answers that are lost because products leave its range.

A motion without energy (:mod:`kkt.tape.idle`) makes (4) singular only where rounding the entries moves
a pivot of (4), bodies leaf to root, by half of itself: an inertia may be small beside others and have
all its digits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, Mixed, get_format
from ..arithmetic.binary import EXPONENT_BITS, MAX_PRECISION, Fixed
from ..arithmetic.formats import ARITHMETIC, DIV, SQRT
from ..base.errors import Refusal, SingularError
from ..matrix.entries import LETTERS, ROUNDINGS, UNIT, Entries
from ..matrix.system import System, least_size
from ..tape.idle import Idle, doubles, unresisted
from ..tape.player import rounded_entries, run, started, watched
from ..tape.tape import Tape
from ..tape.trace import tape_for
from .trust import NO_BIT, SHORT, bound, longer, of_slots

COARSE = 2.0**-4  # change of an entry that no format of few bits exceeds here
SHAKES = 5  # of all entries
FAR = 1e3  # of a robot's mass or size from 1 kg and 1 m, from which other units may help


def idle_motion(system: System, entries: Entries, unit: float) -> Idle | None:
    """The motion, or None where all motions have an energy.

    ``unit`` is the unit roundoff of the entries.  Found once for a system, and kept with it.
    """
    kept: dict[float, Idle | None] = system.__dict__.setdefault("_idle", {})
    if unit not in kept:
        e = doubles(entries)
        found = unresisted(system, e, unit)
        kept[unit] = found if found is not None and _shaken(system, e, unit) else None
    return kept[unit]


def pivots_leaf_to_root(system: System, entries: Entries) -> NDArray[np.float64]:
    """(P,) pivots of (4), body by body, in double-double and rounded to float64.

    Raises SingularError where a pivot is zero whatever the numbers.
    """
    tape = system.__dict__.get("_leaf_to_root")
    if tape is None:
        tape = system.__dict__["_leaf_to_root"] = tape_for(system)
    found = longer(system, tape, get_format("float64"), entries)
    return np.asarray(found.pivots[0], dtype=float)


def _shaken(system: System, e: Entries, unit: float) -> bool:
    """Whether changes of ROUNDINGS units move a pivot by half of itself, in one of SHAKES."""
    most = min(ROUNDINGS * unit, COARSE)
    try:
        still = pivots_leaf_to_root(system, e)
    except SingularError:
        return True
    for times in range(SHAKES):
        off = np.abs(pivots_leaf_to_root(system, shaken(e, most, times)) - still)
        if not (off < NO_BIT * np.abs(still)).all():
            return True
    return False


def span(chosen: Format) -> tuple[float, float]:
    """The least positive power of two of a format, and the largest: of all parts, by role."""
    if isinstance(chosen, Mixed):
        least, largest = zip(*(span(part) for part in chosen.parts), strict=True)
        return max(least), min(largest)
    powers = 2.0 ** np.arange(-1074, 1024)
    with np.errstate(all="ignore"):
        kept = np.asarray(chosen.cast(powers).real, dtype=float)
    inside = powers[(kept > 0.0) & np.isfinite(kept)]
    return float(inside.min()), float(inside.max())


def lost_to_range(system: System, tape: Tape, chosen: Format) -> str:
    """Why a short format has no qdd that the same digits with more exponents have, or "".

    Names what does: such a format, and units in which the largest mass and distance are near 1, if they
    are not.
    """
    wide = wider(system, chosen)
    if wide is None:
        return ""
    entries = rounded_entries(system, wide)
    found = of_slots(system, tape, np.asarray(run(tape, entries, wide)[2])).qdd[0]
    off = longer(system, tape, wide, entries).error(found, least_size(system))
    return beyond_range(system, chosen, wide) if off <= bound(chosen.unit) else ""


def wider(system: System, chosen: Format) -> Format | None:
    """The digits of a short format with more exponents, where products of (4)'s entries may need them."""
    to_nearest = chosen.kind == "float" and getattr(chosen, "rounding", "nearest") == "nearest"
    if not to_nearest or isinstance(chosen, Mixed) or not SHORT < chosen.unit < 0.25:
        return None
    wide = get_format(f"p{min(round(-np.log2(chosen.unit)), MAX_PRECISION)}e{EXPONENT_BITS[1]}")
    least, largest = span(chosen)
    sizes = np.abs(np.concatenate([np.ravel(x).astype(float) for x in system.entries]))
    small, large = (float(f(sizes[sizes > 0.0], initial=1.0)) for f in (np.min, np.max))
    # products of Python's floats become infinite where their powers would raise OverflowError
    inside = small * small * small > least / chosen.unit and large * large * large < largest * chosen.unit
    return None if inside or large > span(wide)[1] or wide.name == chosen.name else wide


def beyond_range(system: System, chosen: Format, wide: Format) -> str:
    """That products leave the range of a format, and what helps: the wider one, or other units."""
    tree = system.tree
    mass, distance = (
        10.0 ** round(float(np.log10(np.abs(x).max(initial=0.0) or 1.0)))
        for x in (tree.mass, np.concatenate([tree.com, tree.p]))
    )
    least, largest = span(chosen)
    far = max(mass, 1.0 / mass, distance, 1.0 / distance) >= FAR
    units = f", or units of {mass:g} kg and {distance:g} m" if far else ""
    more = "a format with as many exponent bits"
    more = more if chosen.relative else "more bits before the point, or behind it for more digits"
    return (
        f"products leave the range of {chosen.name}, {least:.1g} to {largest:.1g}, and {wide.name} answers; "
        f"use {more}{units}"
    )


def shaken(entries: Entries, most: float, times: int) -> Entries:
    """Entries in float64, each perturbed by up to ``most`` of itself, and anew for each ``times``.

    Equal numbers are perturbed alike, as rounding does, and 0 and 1 stay: they are exact in every
    format.  What is no larger than a rounding of the numbers beside it, as the cosine of pi/2 in
    float64, may stand for an exact zero: it is changed by a rounding of these.
    """
    blocks = ("M", "S", "Phi")
    return Entries(*(_perturbed(np.asarray(getattr(entries, x)), most, times, x in blocks) for x in LETTERS))


def _perturbed(x: NDArray[Any], most: float, times: int, blocks: bool) -> NDArray[np.float64]:
    size = np.abs(np.ascontiguousarray(x, dtype=float))
    beside = _largest_beside(size) if blocks else size
    bits = size.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15 * (times + 1) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    change = (bits >> np.uint64(11)).astype(float) * 2.0**-52 - 1.0
    moved = np.asarray(x * np.where(size == 1.0, 1.0, 1.0 + most * change))
    chance = (size > 0.0) & (size <= ROUNDINGS * UNIT * beside)
    return np.where(chance, most * change * beside, moved)


def _largest_beside(size: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest number of each half (3,) of a row of S, or of each (3, 3) of M and Phi."""
    if size.ndim == 2:
        return np.repeat(size.reshape(-1, 2, 3).max(axis=2), 3, axis=1)
    quarters = size.reshape(-1, 2, 3, 2, 3).max(axis=(2, 4))
    return np.repeat(np.repeat(quarters, 3, axis=1), 3, axis=2)


def beyond_words(system: System, tape: Tape, chosen: Fixed, entries: Entries) -> Refusal | None:
    """The first operation whose result no word of a fixed-point format holds; None where there is none.

    The tape is read once more.  ``entries`` are rounded to the format already.
    """
    for piece in watched(tape, chosen.runner(tape), started(tape, entries, chosen)):
        for i in np.flatnonzero(~np.isfinite(piece.r))[:1].tolist():
            op, x, y = int(piece.chunk.op[i]), float(piece.x[i]), float(piece.y[i])
            if op == SQRT or (op == DIV and not y):  # a pivot that is not positive, which is named as such
                return None
            exact = ARITHMETIC[op](x, y)
            step, whole = int(piece.chunk.step[i]), math.floor(math.log2(abs(exact))) + 2
            body = int(tape.bodies(piece.at + i, piece.at + i + 1, piece.chunk.step[i : i + 1])[0])
            owner = f"body {system.tree.names[body]!r}, " if body >= 0 else ""
            what = f"{x:.6g} {'+-*/'[op]} {y:.6g} is {exact:.6g}, beyond {chosen.name}, which ends at"
            such = f", as in q{whole}.{chosen.bits - whole}" if whole < chosen.bits else ""
            return Refusal(
                f"{owner}step {step + 1}",
                f"{what} {chosen.largest:.6g}",
                f"use at least {whole} bits before the point{such}",
            )
    return None
