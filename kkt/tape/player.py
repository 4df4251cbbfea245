"""Enter numbers into a tape, play it, and gather its results.

A float format plays in a numpy array, every other kind of number in a list of objects.
:func:`played` is the one place that plays a tape: whoever looks at each operation asks
:func:`watched`, and whoever computes beside each gives it a runner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Chunk, Format, Runner
from ..arithmetic.objects import InObjects, ZeroDivisor, column, each
from ..base.errors import FormatError, Refusal, SingularError
from ..matrix.blocks import Block
from ..matrix.entries import LETTERS, Entries, assemble
from ..matrix.system import System
from .tape import Elimination, StepRecord, Tape, Unknowns

Values = NDArray[Any] | list[Any]  # of the slots, in the carrier of a format
Number = Callable[[float], Any]  # makes a number of a type of Python objects
ByLetter = Mapping[str, NDArray[Any]]  # inputs beside (4), or what replaces its a, b or tau
GUARD_DIGITS = 20  # digits that mp:D carries beyond the D that it gives
NO_NUMBER = "{}: overflow or not a number"  # of a kind of unknowns
PIECE = 1 << 18  # operations that are recorded together at most


# -- play -----------------------------------------------------------------------------------------


def run(
    tape: Tape, entries: Entries, numbers: Format | Number, given: ByLetter | None = None
) -> tuple[dict[Block, NDArray[Any]], dict[int, NDArray[Any]], Values]:
    """Solution blocks, pivots and the values of all slots after a run on the entries of (4).

    ``numbers`` is a float format, to which entries are rounded, or the function that makes objects
    (:func:`number_of`), whose entries are objects already; ``given`` are such numbers, too.  Raises
    SingularError where objects are divided by zero.
    """
    # the entries of (4) into the first slots, then every operation in turn
    v = started(tape, entries, numbers, given)
    played(tape, numbers.runner(tape) if isinstance(numbers, Format) else InObjects(), v)
    return *answered(tape, v), v


def answered(tape: Tape, v: Values) -> tuple[dict[Block, NDArray[Any]], dict[int, NDArray[Any]]]:
    """Out of the values of all slots: the unknowns by their blocks, and the pivots by their records."""
    # one look-up finds all numbers; they are cut into blocks, then into pivots
    values = signed(v, tape.found)
    solution, pivots, at = {}, {}, 0
    for block, slots in tape.solution.items():
        solution[block] = values[at : at + len(slots)]
        at += len(slots)
    for i, slots in tape.pivots.items():
        pivots[i] = values[at : at + len(slots)]
        at += len(slots)
    return solution, pivots


class Piece(NamedTuple):
    """Consecutive operations that were played; the next piece is written into the same arrays."""

    at: int  # operations before the first of these
    chunk: Chunk
    x: NDArray[Any]  # (m,) operands
    y: NDArray[Any]
    r: NDArray[Any]  # results


def played(tape: Tape, runner: Runner, v: Any) -> Any:
    """``v`` (slots,) after all operations of the tape, in place."""
    for _ in _pieces(tape, runner, v, 0):
        pass
    return v


def watched(tape: Tape, runner: Runner, v: Values, room: int = PIECE) -> Iterator[Piece]:
    """As :func:`played`, with operands and results, at most ``room`` operations at a time."""
    return _pieces(tape, runner, v, max(1, min(room, tape.length)))


def _pieces(tape: Tape, runner: Runner, v: Any, room: int) -> Iterator[Piece]:
    """Play the tape; operands and results are kept where there is ``room`` for them."""
    dtype = object if isinstance(v, list) else getattr(v, "dtype", None)
    columns, at = [np.zeros(room, dtype=dtype) for _ in range(3)], 0
    try:
        for chunk in tape.chunks():
            for start in range(0, len(chunk), room or PIECE):
                piece = chunk.part(slice(start, start + (room or PIECE)))
                here = [column[: len(piece)] for column in columns]
                with np.errstate(all="ignore"):
                    if room:
                        runner.record(piece, v, *here)
                    else:
                        runner.run(piece, v)
                yield Piece(at, piece, *here)
                at += len(piece)
    except ZeroDivisor as zero:
        raise SingularError(zero_pivot(tape, zero.step)) from None


def signed(v: Values, slots: NDArray[np.int64]) -> NDArray[Any]:
    """Values of signed slots: of an array, or of a list of objects."""
    if isinstance(v, list):
        return each(lambda s: v[s] if s >= 0 else -v[-s], slots)
    return (np.sign(slots) * v[np.abs(slots)]).astype(v.dtype)


def zero_pivot(tape: Tape, step: int) -> Refusal:
    """The sentence for a division by zero in a step."""
    blocks = [b for r in tape.program.pivots if r.step == step and r.factor >= 0 for b in r.blocks]
    name = tape.program.name
    where = str(blocks[0]) if blocks else "of the joint axes"
    of_matrix = bool(blocks) and blocks[0].kind == "x"
    return Refusal(
        f"order {name!r}",
        f"pivot {where} at step {step + 1} is zero for these numbers",
        f"use another order, or {'a regular matrix' if of_matrix else 'give the massless links an inertia'}",
    )


# -- what a run starts from -----------------------------------------------------------------------


def started(tape: Tape, entries: Entries, numbers: Format | Number, given: ByLetter | None = None) -> Values:
    """The values that a run starts from, as :func:`run` takes them."""
    places, values = tape.inputs.values(entries)
    if isinstance(numbers, Format):
        v: Any = entered(tape, numbers, places, numbers.cast(values))
    else:
        v = column([numbers(0.0)] * tape.slots)
        v[places] = values
    for letter, replaced in (given or {}).items():
        slots = tape.inputs.slots(letter)
        v[slots[slots > 1]] = replaced[slots > 1]
    if isinstance(numbers, Format):
        return v
    v = v.tolist()
    for whole, slot in {1: 1, **tape.inputs.whole}.items():
        v[slot] = numbers(float(whole))
    return v


def entered(tape: Tape, chosen: Format, places: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    """(slots, ...) the values that a run starts from: one, whole numbers, ``values``, else zero.

    ``values`` (p,), or (p, states), are entries of (4) in ``places``, rounded already.
    """
    v = np.zeros((tape.slots, *values.shape[1:]), dtype=chosen.dtype)
    v[1] = 1
    v[places] = values
    for number, slot in tape.inputs.whole.items():
        v[slot] = chosen.cast(np.array([float(number)]))[0]
    return v


def number_of(chosen: Format) -> Callable[[float], Any]:
    """The function that turns a double into a number of a format of objects.

    Balls have the precision that is set when it is called.
    """
    if chosen.kind == "object":
        return chosen.operate  # type: ignore[attr-defined]
    if chosen.kind == "exact":
        return Fraction
    if chosen.kind == "ball":
        import flint

        return flint.arb
    import mpmath

    context = mpmath.MPContext()  # a context of its own: no global precision is touched
    context.dps = chosen.digits + GUARD_DIGITS
    return context.mpf


# -- what it leaves -------------------------------------------------------------------------------


def first_bad(tape: Tape, pivots: dict[int, NDArray[Any]]) -> str | None:
    """The first pivot by which nothing can be divided, and its step; None where there is none."""
    every = np.concatenate([np.zeros(0), *pivots.values()])
    bad = ~np.isfinite(every) | (every == 0)
    if not bad.any():
        return None
    number = int(tape.pivot_records[bad.argmax()])
    what = "zero" if np.isfinite(pivots[number]).all() else "not a number"
    record = tape.program.pivots[number]
    return f"pivot {record.blocks[0]}, step {record.step + 1}: {what}"


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
    program = tape.program
    parts = (program.name, chosen.name, qdd, pdd, f, steps, program.factor, tape.flops, failed)
    return Elimination(*parts, lam=lam)


# -- the data as a format sees them ---------------------------------------------------------------


class RangeError(FormatError):
    """An entry of (4) that a format cannot hold."""


def read_in(system: System, chosen: Format) -> tuple[Any, Entries]:
    """What makes a format's numbers, as :func:`run` takes it, and its data: of the model, or rounded.

    Raises RangeError as :func:`rounded_entries` does.
    """
    number: Any = chosen if chosen.on_arrays else number_of(chosen)
    return number, assemble(system.state, number) if chosen.from_model else rounded_entries(system, chosen)


def rounded_entries(system: System, format: Format) -> Entries:
    """The entries of (4) rounded to a format, in the type that carries it.

    Raises RangeError, naming the body and the field, where one overflows.
    """
    return Entries(*(_rounded(system, letter, format) for letter in LETTERS))


def _rounded(system: System, letter: str, format: Format) -> NDArray[Any]:
    rounded = format.cast(getattr(system.entries, letter))
    if rounded.dtype == object or np.isfinite(rounded).all():
        return rounded
    raise RangeError(
        _owner(system, letter, int(np.argwhere(~np.isfinite(rounded))[0][0])),
        f"field {letter!r} of equation (4) overflows {format.name}",
        "use a format with a larger range, such as float64, or other units",
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
