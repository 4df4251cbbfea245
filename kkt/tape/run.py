"""Enter numbers into a tape, play it, and gather its results.

A float format plays in a numpy array (:func:`entered`, :func:`played`), every other kind of number
in a list (:func:`entered_objects`, :func:`run_objects`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import objects
from ..arithmetic.formats import Format
from ..base.errors import FormatError, SingularError
from ..matrix.blocks import Block
from ..matrix.entries import LETTERS, Entries
from ..matrix.system import System
from .record import Elimination, StepRecord, Unknowns
from .tape import Tape
from .trust import NO_NUMBER

Values = NDArray | list[Any]  # of the slots, in the carrier of a format
GUARD_DIGITS = 20  # digits that mp:D carries beyond the D that it gives


# -- floats ---------------------------------------------------------------------------------------


def run_floats(
    tape: Tape, entries: Entries, chosen: Format, given: Mapping[str, NDArray] | None = None
) -> tuple[dict[Block, NDArray], dict[int, NDArray], NDArray]:
    """Solution blocks, pivots and the values of all slots after a run, in a float format.

    ``given`` holds unknowns that are inputs, and replacements of a, b or tau, by letter, in the
    format already.
    """
    v = rounded_into(tape, entries, chosen)
    give(tape, v, given)
    played(tape, chosen, v)
    values = signed(v, tape.found)
    solution, pivots, at = {}, {}, 0
    for block, slots in tape.solution.items():
        solution[block] = values[at : at + len(slots)]
        at += len(slots)
    for i, slots in tape.pivots.items():
        pivots[i] = values[at : at + slots.size].reshape(slots.shape)
        at += slots.size
    return solution, pivots, v


def signed(v: Values, slots: NDArray[np.int64]) -> NDArray:
    """Values of signed slots: of an array, or of a list of objects."""
    if isinstance(v, list):
        out = np.empty(slots.size, dtype=object)
        out[:] = [v[s] if s >= 0 else -v[-s] for s in slots.ravel().tolist()]
        return out.reshape(slots.shape)
    return (np.sign(slots) * v[np.abs(slots)]).astype(v.dtype)


def rounded_into(tape: Tape, entries: Entries, chosen: Format) -> NDArray:
    """(slots,) the values that a run starts from: (4)'s entries, rounded to a float format."""
    places, values = tape.inputs.values(entries)
    return entered(tape, chosen, places, chosen.cast(values))


def entered(tape: Tape, chosen: Format, places: NDArray[np.int64], values: NDArray) -> NDArray:
    """(slots, ...) the values that a run starts from: one, whole numbers, ``values``, else zero.

    ``values`` (p,), or (p, states), are entries of (4) in ``places``, rounded already.
    """
    v = np.zeros((tape.slots, *values.shape[1:]), dtype=chosen.dtype)
    v[1] = 1
    v[places] = values
    for number, slot in tape.inputs.whole.items():
        v[slot] = chosen.cast(np.array([float(number)]))[0]
    return v


def played(tape: Tape, chosen: Format, v: NDArray) -> NDArray:
    """``v`` (slots,) after all operations of the tape, in a float format."""
    runner = chosen.runner(tape)
    with np.errstate(all="ignore"):
        for chunk in tape.chunks():
            runner.run(chunk, v)
    return v


def give(tape: Tape, v: Any, given: Mapping[str, NDArray] | None) -> None:
    """Enter values of unknowns that are inputs, or replacements of the system's a, b or tau."""
    for letter, values in (given or {}).items():
        slots = tape.inputs.slots(letter)
        v[slots[slots > 1]] = values[slots > 1]


def first_bad(tape: Tape, pivots: dict[int, NDArray]) -> str | None:
    records = tape.pivot_places[0]
    every = np.concatenate([np.zeros(0), *(pivots[i].ravel() for i in records)])
    if np.isfinite(every).all() and every.all():
        return None
    for i, d in sorted(pivots.items()):
        if not np.isfinite(d).all() or (d == 0).any():
            record = tape.program.pivots[i]
            what = "zero" if np.isfinite(d).all() else "not a number"
            return f"pivot {record.blocks[0]}, step {record.step + 1}: {what}"
    return None


def elimination_of(
    system: System,
    tape: Tape,
    chosen: Format,
    solution: dict[Block, Any],
    steps: tuple[StepRecord, ...],
    failed: str | None,
) -> Elimination:
    pdd, qdd, f, lam = Unknowns.of(system, solution, chosen.dtype or object)
    if chosen.on_arrays:
        for kind, values in (("qdd", qdd), ("pdd", pdd), ("f", f), ("lam", lam)):
            if failed is None and not np.isfinite(values).all():
                failed = NO_NUMBER.format(kind)
        qdd, pdd, f, lam = (chosen.shown(values) for values in (qdd, pdd, f, lam))
    factor = tape.program.symbolic
    assert factor is not None
    name = tape.program.name
    return Elimination(name, chosen.name, qdd, pdd, f, steps, factor, tape.flops, failed, lam=lam)


# -- fractions and mpmath -------------------------------------------------------------------------


def number_of(chosen: Format) -> Callable[[float], Any]:
    """The function that turns a double into a number of a format of objects.

    Balls have the precision that is set when it is called.
    """
    if chosen.kind == "object":
        return chosen.operate  # type: ignore[attr-defined]
    if chosen.kind == "exact":
        from fractions import Fraction

        return Fraction
    if chosen.kind == "ball":
        import flint

        return flint.arb
    import mpmath

    context = mpmath.MPContext()  # a context of its own: no global precision is touched
    context.dps = chosen.digits + GUARD_DIGITS
    return context.mpf


def entered_objects(
    tape: Tape, entries: Entries, number: Callable[[float], Any], given: Mapping[str, NDArray] | None = None
) -> list[Any]:
    """The values that a tape starts from, in a type of Python objects: zero, one, and inputs."""
    holder = np.array([*([number(0.0)] * tape.slots), None], dtype=object)[:-1]
    places, values = tape.inputs.values(entries)
    holder[places] = values
    give(tape, holder, given)
    v: list[Any] = holder.tolist()
    for whole, slot in {1: 1, **tape.inputs.whole}.items():
        v[slot] = number(float(whole))
    return v


def run_objects(
    tape: Tape, entries: Entries, number: Callable[[float], Any], given: Mapping[str, NDArray] | None = None
) -> tuple[dict[Block, NDArray], dict[int, NDArray], NDArray[np.int64]]:
    """Solution blocks, pivots and operations of each step, in a type of Python objects."""
    v, operations = played_objects(tape, entries, number, given)
    solution = {block: signed(v, slots)[:, 0] for block, slots in tape.solution.items()}
    pivots = {i: signed(v, slots) for i, slots in tape.pivots.items()}
    return solution, pivots, operations


def played_objects(
    tape: Tape, entries: Entries, number: Callable[[float], Any], given: Mapping[str, NDArray] | None = None
) -> tuple[list[Any], NDArray[np.int64]]:
    """All values after a run, and operations of each step.  Raises SingularError at a zero."""
    v = entered_objects(tape, entries, number, given)
    operations = np.zeros(tape.program.groups + 1, dtype=np.int64)
    try:
        for chunk in tape.chunks():
            operations += np.bincount(chunk.step + 1, minlength=len(operations))
            objects.run(chunk, v)
    except objects.ZeroDivisor as zero:
        raise SingularError(zero_pivot(tape, zero.step)) from None
    return v, operations


def zero_pivot(tape: Tape, step: int) -> str:
    """The sentence for a division by zero in a step."""
    blocks = [b for r in tape.program.pivots if r.step == step and not r.pair for b in r.blocks]
    name = tape.program.name
    where = str(blocks[0]) if blocks else "of the joint axes"
    return (
        f"order {name!r}: pivot {where} at step {step + 1} is zero for these numbers; "
        "use another order, or give the massless links an inertia"
    )


# -- the data as a format sees them ---------------------------------------------------------------


class RangeError(FormatError):
    """An entry of (4) that a format cannot hold."""


def rounded_entries(system: System, format: Format) -> Entries:
    """The entries of (4) rounded to a format, in the type that carries it.

    Raises RangeError, naming the body and the field, where one overflows.
    """
    return Entries(*(_rounded(system, letter, format) for letter in LETTERS))


def _rounded(system: System, letter: str, format: Format) -> NDArray:
    rounded = format.cast(getattr(system.entries, letter))
    if rounded.dtype == object or np.isfinite(rounded).all():
        return rounded
    raise RangeError(
        f"{_owner(system, letter, int(np.argwhere(~np.isfinite(rounded))[0][0]))}: "
        f"field {letter!r} of equation (4) overflows {format.name}; "
        "use a format with a larger range, such as float64, or other units"
    )


def _owner(system: System, letter: str, row: int) -> str:
    """The body or loop that a row of one letter belongs to."""
    names, ties = system.tree.names, system.structure.ties
    if letter in ("G", "gamma", "compliance"):
        sides = [len(tie.bodies) if letter == "G" else 1 for tie in ties]
        rows = [tie.rows * count for tie, count in zip(ties, sides, strict=True)]
        return f"loop {ties[int(np.searchsorted(np.cumsum(rows), row, side='right'))].name!r}"
    if letter in ("S", "tau", "A"):
        row = int(np.searchsorted(system.tree.offset, row, side="right")) - 1
    return f"body {names[row]!r}"
