"""Solve (4) by an order in a number format: :func:`eliminate`, and a record for each pivot."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ..arithmetic import Format, get_format
from ..arithmetic.formats import precision
from ..arithmetic.shadows import DoublePairs
from ..base.errors import FormatError, LoopError, ModelError, OrderError, SingularError
from ..base.foreign import is_whole
from ..matrix.blocks import Block
from ..matrix.entries import UNIT, Entries, assemble
from ..matrix.system import System
from ..order.sequence import OrderLike
from ..program.tracer import require_general
from ..proof.certify import certify
from ..proof.soundness import at_fault, in_balls, judged
from ..proof.trust import longer, of_slots
from ..rounding.observe import Observation, seen
from ..tape.player import elimination_of, first_bad, number_of, read_in, run
from ..tape.tape import Elimination, StepRecord, Tape
from ..tape.trace import tape_for

RESIDUALS = ("dynamics", "equations")  # of refinement
CORRECTIONS = 100  # at most, of a refinement or a proximal iteration


@runtime_checkable
class Eliminating(Protocol):
    """What eliminates itself in a format: a matrix of one's own, or a robot in letters."""

    @property
    def name(self) -> str: ...

    def eliminated(self, order: Any, chosen: Format) -> Elimination: ...


def eliminate(
    system: System | Eliminating,
    order: OrderLike | Tape | None,
    format: str | Format = "float64",
    *,
    records: bool = True,
    reach: bool = False,
    reference: Any = None,
    refine: int = 0,
    residual: str = "dynamics",
    proximal: int = 0,
    rhs: ArrayLike | None = None,
) -> Elimination:
    """Solve (4) by an order in a number format.

    Floating-point formats (docs/formats.md) start from the entries of (4), rounded to the format,
    and raise FormatError where one overflows it; exact, sympy, mp:D and ball:D run the spatial algebra,
    bias and assembly too, from the model's doubles.  ``failed_at`` names a pivot that is zero, not
    a number, or zero but for rounding, and the joints at fault where (4) itself is singular;
    ``marked`` says why an answer should not be relied on, and ``backward_error`` by how much (4)
    must change for the answer to solve it (:mod:`kkt.proof.soundness`).

    A call plays the tape twice: in the format, and in more digits, by which the answer is judged.

    With ``records`` False, rounding is not observed, which is faster.  With ``reach`` True, what
    each pivot's rounding leaves in qdd is recorded (``StepRecord.reached``,
    :mod:`kkt.rounding.reached`).  ``reference`` is the certified solution (:func:`kkt.certify`)
    from which the errors of records are measured.

    ``refine`` is a number of corrections in the same format, whose ``residual`` is that of inverse
    dynamics or of (4) (:mod:`kkt.solution.refine`); the records are those of the first answer.
    ``proximal`` is the most iterations that remove the compliance of :func:`softened` loops and
    contacts again: rows become rigid, also redundant ones, and lambda is the least
    (:mod:`kkt.solution.refine`).  ``rhs`` (unknowns, m) [the units of (4)'s rows] are further
    right-hand sides for the same pivots: ``columns`` of the answer, whose other numbers stay the
    same (:mod:`kkt.solution.columns`); None where there is no answer.

    Raises SingularError where a number type of objects meets a zero pivot, or where ``rhs`` is
    given and its solution, by the same rule, is none; ModelError for a ``rhs``
    of another shape, OrderError where the order has rotations and ``rhs`` is given, and LoopError
    where ``proximal`` finds a row without compliance.

    >>> system = pt.build(pt.chain(30))
    >>> exact = pt.certify(system, rounded_to="float32")
    >>> for name in ("crbm", "abm"):
    ...     result = pt.eliminate(system, pt.orderings.get(name), "float32")
    ...     print(name, result.fill, result.flops, f"{exact.error(result.qdd):.0e}")
    crbm 870 31585 1e-03
    abm 29 11256 2e-07
    """
    chosen = get_format(format)
    if isinstance(system, Eliminating):
        if refine or proximal or rhs is not None:
            raise ModelError("eliminate", f"{system.name} takes an order and a format", "leave the rest out")
        return system.eliminated(order, chosen)
    require_refinable(chosen, refine, residual)
    require_iterable(system, chosen, proximal, bool(refine) or rhs is not None)
    if reference is not None and not hasattr(reference, "block_error"):
        raise ModelError("eliminate", f"reference is {reference!r}", "give what kkt.certify returns")
    tape = tape_for(system, order)
    if chosen.unit < UNIT or not chosen.on_arrays:
        require_general(tape.program, chosen.name)
    solve = _in_balls if chosen.kind == "ball" else _first
    found = solve(system, tape, chosen, records, reference, reach)
    if proximal:
        from .refine import iterated

        found = iterated(system, tape, chosen, found, proximal)
    if refine:
        from .refine import refined

        found = refined(system, tape, chosen, found, refine, residual)
    if rhs is None or found.failed_at is not None:
        return found
    from .columns import solved

    return replace(found, columns=solved(system, tape, chosen, rhs))


def require_refinable(chosen: Format, count: int, residual: str) -> None:
    """Raise OrderError or FormatError where refinement was asked for wrongly."""
    if residual not in RESIDUALS:
        raise OrderError(f"residual {residual!r}", "is unknown", f"use {' or '.join(RESIDUALS)}")
    _require_count(chosen, "refine", count, "corrections", "refined")


def _require_count(chosen: Format, name: str, count: int, of: str, done: str) -> None:
    if not is_whole(count, 0, CORRECTIONS):
        raise OrderError(f"{name} {count!r}", f"is no number of {of}", f"use 0 to {CORRECTIONS}")
    if count and chosen.kind != "float":
        raise FormatError(
            f"format {chosen.name!r}", f"is not {done}", "use float64, float32 or a shorter format"
        )


def require_iterable(system: System, chosen: Format, count: int, more: bool) -> None:
    """Raise LoopError, OrderError or FormatError where proximal iteration was asked for wrongly.

    ``more``: refinement or further right-hand sides were asked for as well.
    """
    _require_count(chosen, "proximal", count, "iterations", "iterated")
    if not count:
        return
    if more:
        raise OrderError("proximal", "iterates by itself, and not with refine or rhs", "leave one out")
    compliance = np.concatenate([np.zeros(0), *(loop.compliance for loop in system.loops)])
    if not compliance.size or not (compliance > 0.0).all():
        raise LoopError(
            "proximal",
            "every row of loops and contacts needs mu as its compliance, and "
            f"{'there are none' if not compliance.size else 'some row has none'}",
            "build the system with loops=kkt.softened(loops, 1e-4)",
        )


def _first(
    system: System, tape: Tape, chosen: Format, records: bool, reference: Any, reach: bool
) -> Elimination:
    """:func:`eliminate` without corrections: a run, its records, and how far it can be trusted."""
    # the data, as the format sees them
    number, entries = read_in(system, chosen)
    given = system.entries if chosen.on_arrays else entries

    # play the tape, observed where records are wanted
    watched = None
    try:
        if records:
            watched = seen(system, tape, chosen)
            solution, pivots = watched.answer
        else:
            solution, pivots, _ = run(tape, given, number)
    except SingularError as error:
        raise SingularError(at_fault(system, chosen, entries, error.why)) from None

    # gather the answer and its records
    failed = first_bad(tape, pivots) if chosen.on_arrays else None
    steps = _steps(tape, chosen, watched, reference, reach, given, number)
    found = elimination_of(system, tape, chosen, solution, steps, failed)

    # judge it, beside a run in more digits
    if chosen.kind == "exact":
        found = judged(system, tape, chosen, entries, found, None)
        pdd, qdd, f, lam = map(chosen.shown, found.unknowns)
        return replace(found, pdd=pdd, qdd=qdd, f=f, lam=lam)
    if found.failed_at is not None:
        return replace(found, failed_at=at_fault(system, chosen, entries, found.failed_at, tape))
    if chosen.kind == "dd":
        pivots = {i: chosen.shown(d) for i, d in pivots.items()}
    shadow = watched and watched.shadow
    try:
        if isinstance(shadow, DoublePairs):  # it has been run already
            beside = of_slots(system, tape, shadow.v)
        else:
            beside = longer(system, tape, chosen, entries)
    except SingularError as error:  # in balls a pivot is exactly zero
        return replace(found, failed_at=error.why)
    return judged(system, tape, chosen, entries, found, beside, pivots)


def _in_balls(
    system: System, tape: Tape, chosen: Format, records: bool, reference: Any, reach: bool
) -> Elimination:
    """:func:`eliminate` in balls, of the precision that a certificate needs."""
    proved = certify(system, chosen.digits, order=tape)
    watched, solution = None, proved.solution
    if records:
        watched = seen(system, tape, chosen, bits=proved.bits)
        solution = watched.answer[0]
    with precision(proved.bits):
        entries = assemble(system.state, number_of(chosen)) if reach else system.entries
    steps = _steps(tape, chosen, watched, reference, reach, entries)
    found = elimination_of(system, tape, chosen, solution, steps, None)
    return in_balls(system, found, proved.bits)


# -- a record for each pivot ----------------------------------------------------------------------


def _steps(
    tape: Tape,
    chosen: Format,
    watched: Observation | None,
    reference: Any,
    reach: bool,
    entries: Entries,
    number: Any = None,
) -> tuple[StepRecord, ...]:
    """A record for each group of pivots of an observed run; () where none was observed.

    With ``reach`` also what each pivot's rounding leaves in qdd, where that is known, of a run on
    ``entries``, whose numbers ``number`` makes.
    """
    if watched is None:
        return ()
    solution, pivots = watched.answer
    bits = watched.ball_bits
    units = None
    if reach:
        from ..rounding.reached import reached

        with precision(bits):
            units = reached(tape, entries, chosen, number, bits)
    factor = tape.program.factor
    count = factor.plan.groups
    fill = np.bincount(factor.fill_step, minlength=count)
    entries_of = np.bincount(factor.fill_step, weights=factor.size[factor.fill].prod(axis=0), minlength=count)
    blocks: dict[int, list[Block]] = defaultdict(list)
    values: dict[int, list[Any]] = defaultdict(list)
    for i, record in enumerate(tape.program.pivots):
        blocks[record.step] += record.blocks
        values[record.step] += list(pivots.get(i, ()))
    steps = watched.steps
    return tuple(
        StepRecord(
            step=g + 1,
            blocks=tuple(blocks[g]),
            fill_blocks=int(fill[g]),
            fill_entries=int(entries_of[g]),
            flops=int(steps.operations[g]),
            error=None if reference is None else reference.block_error(blocks[g], solution),
            pivots=tuple(values[g]),
            growth=float(steps.size[g] / watched.largest),
            cancelled_bits=int(steps.cancelled[g]),
            absorbed_bits=float(steps.absorbed_bits[g]),
            pivot_error=float(watched.pivot_errors[g]),
            absorbed=float(steps.absorbed[g]),
            exact_zeros=int(steps.zeros[g]),
            reached=None if units is None else float(units[g]),
        )
        for g in range(count)
    )
