"""Solve (4) by an order in a number format: what a user calls."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..errors import FormatError
from ..system import System, assemble
from .certify import certify
from .composites import require_general
from .pivots import OrderFunction, PivotSequence
from .record import Elimination
from .refine import refined, require_refinable
from .rounding import rounded_entries
from .run import elimination_of, first_bad, number_of, run_floats, run_objects, signed
from .seen import seen
from .step_records import step_records
from .tape import Tape
from .trace import tape_for


def eliminate(
    system: System,
    order: PivotSequence | OrderFunction | Tape | Any,
    format: str | Format = "float64",
    *,
    records: bool = True,
    exact: bool = False,
    reference: Any = None,
    refine: int = 0,
    residual: str = "dynamics",
) -> Elimination:
    """Solve (4) by an order in a number format.

    Floating-point formats (docs/formats.md) start from the entries of (4), rounded to the format,
    and raise FormatError where one overflows it; exact, mp:D and ball:D run the spatial algebra,
    bias and assembly too, from the model's doubles.  A pivot that is zero or not a number stops
    nothing in floats: ``failed_at`` names it.  With ``records`` False, rounding is not observed
    (faster).  With ``exact`` True, the sums of a format that rounds (4) are held against exact
    arithmetic on the same rounded entries (``StepRecord.against``).  ``reference`` is the certified
    solution (:func:`kkt.certify`) that the records' errors are measured against.  ``refine``
    corrections follow in the same format, their ``residual`` that of inverse dynamics or of (4)
    (:mod:`kkt.elimination.refine`); the records are those of the first answer.
    """
    chosen = get_format(format)
    require_refinable(chosen, refine, residual)
    tape = tape_for(system, order)
    if chosen.on_arrays:
        first = _eliminate_floats(system, tape, chosen, records, reference, exact)
        return refined(system, tape, chosen, first, refine, residual) if refine else first
    require_general(tape.program, chosen.name)
    return _run_objects(system, tape, chosen, records, reference, exact)


def _eliminate_floats(
    system: System, tape: Tape, chosen: Format, records: bool, reference: Any, exact: bool
) -> Elimination:
    rounded_entries(system, chosen)  # or refused
    if not records:
        solution, pivots, _ = run_floats(tape, system.entries, chosen)
        return elimination_of(system, tape, chosen, solution, (), first_bad(tape, pivots))
    return _watched(system, tape, chosen, reference, exact=exact)


def _watched(
    system: System, tape: Tape, chosen: Format, reference: Any, **options: Any
) -> Elimination:
    """A run that is seen operation by operation."""
    found = seen(system, tape, chosen, blocks=False, errors=False, **options)
    solution, pivots = found.solution(), found.pivots()
    steps = step_records(tape, pivots, found.steps.operations, solution, reference, found)
    failed = first_bad(tape, pivots) if chosen.on_arrays else None
    return elimination_of(system, tape, chosen, solution, steps, failed)


def _run_objects(
    system: System, tape: Tape, chosen: Format, records: bool, reference: Any, exact: bool
) -> Elimination:
    if chosen.kind == "ball":
        proved = certify(system, chosen.digits, tape=tape)
        if not records:
            return elimination_of(system, tape, chosen, proved.solution, (), None)
        return _watched(system, tape, chosen, reference, bits=proved.bits)
    if records:
        return _watched(system, tape, chosen, reference, exact=exact)
    number = number_of(chosen)
    if chosen.from_model:
        entries = assemble(system.state, number)
    else:
        entries = rounded_entries(system, chosen)
    solution, _, _ = run_objects(tape, entries, number)
    return elimination_of(system, tape, chosen, solution, (), None)


def joint_space_inertia(
    system: System, order: PivotSequence | OrderFunction | Tape, format: str | Format = "float64"
) -> NDArray:
    """The N x N matrix H Phi M Phi* H* of equation (3), bodies in the tree's order.

    It is the Schur complement that an order leaves when it eliminates all pdd and f before any
    qdd (crbm).  Raises OrderError for other orders, FormatError for formats that are no floats.
    """
    chosen = get_format(format)
    slots = (tape := tape_for(system, order)).joint_space_inertia(system)
    if not chosen.on_arrays:
        raise FormatError(
            f"format {chosen.name!r}: joint_space_inertia needs a floating-point format"
        )
    _, _, v = run_floats(tape, system.entries, chosen)
    return chosen.shown(signed(v, slots))
