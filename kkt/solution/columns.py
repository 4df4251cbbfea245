"""Further right-hand sides in any number type: K^-1 B by the pivots of an order, and derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arithmetic import Format, get_format
from ..arithmetic.objects import each
from ..base.errors import CertificationError, FormatError, ModelError, SingularError
from ..base.shown import Shown
from ..matrix.entries import UNIT, Entries, size_of, weight_of
from ..matrix.system import System, require_system
from ..model.fields import checked, shape_of
from ..order.sequence import OrderLike
from ..program.columns import ContinuedProgram, solve
from ..program.tracer import require_general
from ..proof.certify import BITS_PER_DIGIT, bits_for, entries_in_balls, proved_bits
from ..proof.idle import beyond_range, wider
from ..proof.soundness import by_chance, named, refusal
from ..proof.trust import ball_of, bound, longer, mark
from ..tape.derivatives import BY, differentiated, inertia_slots, inverse_rights, inverse_slots
from ..tape.inputs import Given, codes_of
from ..tape.player import first_bad, read_in, rounded_entries, run, signed
from ..tape.tape import Columns, Solved, Tape, lower
from ..tape.trace import tape_for


def solved(system: System, tape: Tape, format: Format, rhs: ArrayLike) -> Columns:
    """K^-1 B for B (unknowns, m), rows in the order of (4)'s, by the pivots of a traced order.

    Columns with the same zero blocks are solved for together.  Accelerations are judged by the
    largest of them, and forces by the largest force.  Raises ModelError for a B of another shape or
    with entries that are not finite, and what :func:`worth` raises.
    """
    B, codes = _checked(system, rhs)
    columns = ContinuedProgram(tape.program)
    blocks = {block: where for block, where in system.blocks.items() if where.stop > where.start}
    there = np.array([codes[where].any(axis=0) for where in blocks.values()])
    sets, member = np.unique(there, axis=1, return_inverse=True)
    given = Given(columns.write)
    own = [np.flatnonzero(member.ravel() == i) for i in range(sets.shape[1])]
    for touched, at in zip(sets.T, own, strict=True):
        right = {}
        for block, where in (x for x, here in zip(blocks.items(), touched, strict=True) if here):
            right[block] = given.block(B[where][:, at], codes[where][:, at])
        columns.solve(right)
    longer = lower(columns.program(), system, given.patterns)
    slots = np.zeros(B.shape, dtype=np.int64)
    for found, at in zip(longer.columns, own, strict=True):
        for block, x in found.items():
            slots[np.ix_(np.arange(system.size)[blocks[block]], at)] = x
    moves = np.zeros(system.size, dtype=bool)  # rows whose unknowns are accelerations
    for block, where in blocks.items():
        moves[where] = block.kind in ("pdd", "qdd")
    asked, pushed = (float(np.abs(B[rows]).max(initial=0.0)) for rows in (~moves, moves))
    parts = [
        Part(slots[moves].ravel(), asked),
        Part(slots[~moves].ravel(), max(pushed, size_of(system.entries.M) * asked)),
    ]
    told = worth(system, longer, format, parts, given.numbers)
    values = np.empty(B.shape, dtype=told.parts[0].dtype)
    for rows, part in zip((moves, ~moves), told.parts, strict=True):
        values[rows] = part.reshape(values[rows].shape)
    return Columns(
        values=values,
        error_estimate=told.error,
        marked=told.marked,
        nonzeros=int(np.count_nonzero(slots)),
        operations=longer.length - tape.length,
    )


def joint_space_inertia(
    system: System, order: OrderLike | Tape, format: str | Format = "float64"
) -> NDArray[Any]:
    """The N x N matrix H Phi M Phi* H* of equation (3) [kg m^2, kg m, kg], in the tree's order.

    It is the Schur complement that remains when an order eliminates all pdd and f before any qdd,
    as crbm does.  Raises OrderError for other orders, FormatError for formats that are no floats.

    >>> M = pt.joint_space_inertia(pt.build(pt.chain(3)), pt.orderings.get("crbm"))
    >>> M.shape, np.allclose(M, M.T)
    ((3, 3), True)
    """
    require_system(system)
    chosen = get_format(format)
    tape = tape_for(system, order)
    slots = inertia_slots(system, tape)
    if not chosen.on_arrays:
        raise FormatError(f"format {chosen.name!r}", "joint_space_inertia needs a floating-point format")
    _, _, v = run(tape, system.entries, chosen)
    return chosen.shown(signed(v, slots))


def joint_space_inverse(system: System, order: OrderLike | Tape, format: str | Format = "float64") -> Solved:
    """The (N, N) matrix d qdd / d tau, symmetric, in the tree's order [1/(kg m^2), 1/(kg m), 1/kg].

    It is the block (qdd, qdd) of K^-1: the inverse of the joint-space inertia H Phi M Phi* H* of
    equation (3) of Ascher, Pai & Cloutier 1996, which itself is not formed.  With loops it is that
    inverse on the motions that they allow.  One triangle is computed, and mirrored.  Any order of
    pivots will do.  ``marked`` of what is returned says why it should not be relied on, by the rule
    of :func:`kkt.eliminate`.  Raises SingularError where that refuses: a pivot is zero but for
    rounding, or (4) itself is singular.  Raises OrderError for an order by rotations, FormatError
    and CertificationError as :func:`kkt.eliminate` does.

    >>> system = pt.build(pt.chain(3))
    >>> inverse = pt.joint_space_inverse(system, pt.orderings.get("abm")).values
    >>> M = pt.joint_space_inertia(system, pt.orderings.get("crbm"))
    >>> np.allclose(inverse @ M, np.eye(3)), np.array_equal(inverse, inverse.T)
    (True, True)
    """
    require_system(system)
    columns = ContinuedProgram(tape_for(system, order).program)
    solve(columns, inverse_rights(columns))
    tape = lower(columns.program(), system)
    slots = inverse_slots(system, tape.columns)
    part = Part(slots.ravel(), floor_of(system, "dqdd_dtau"))
    found = worth(system, tape, get_format(format), [part])
    return Solved(found.parts[0].reshape(slots.shape), found.error, found.marked)


class Part(NamedTuple):
    """Numbers that are judged together, by the largest of them."""

    slots: NDArray[np.int64]  # signed, flat
    floor: float  # what they are judged by where all are zero but for rounding; infinite: by nothing


class Worth(NamedTuple):
    """Numbers of a run, part by part and flat, and the rule's judgement of them."""

    parts: list[NDArray[Any]]
    error: float | None
    marked: str | None


def worth(
    system: System, tape: Tape, chosen: Format, parts: Sequence[Part], numbers: NDArray[Any] | None = None
) -> Worth:
    """The numbers of a tape's parts, and what the rule of :mod:`kkt.proof.trust` says of them.

    Each part is relative to its own largest entry.  ``numbers`` are the doubles of inputs beside (4).
    Raises SingularError where it refuses them or a pivot is zero, FormatError where an input overflows
    the format, and CertificationError where no precision of balls suffices.
    """
    slots = np.concatenate([part.slots for part in parts])
    run = _run(system, tape, chosen, slots, numbers)
    ends = np.cumsum([0, *(len(part.slots) for part in parts)])
    places = list(starmap(slice, pairwise(ends.tolist())))
    values = [run.values[here] for here in places]

    # the largest error, beside a run in more digits
    error, lost = 0.0, None
    if chosen.kind not in ("exact", "ball"):
        beyond = longer(system, tape, chosen, run.entries, slots, numbers)
        for part, own, here in zip(parts, values, places, strict=True):
            right = beyond.among(here)
            error = max(error, beyond.error_of(np.ravel(own), right, 0.0, part.floor, chosen.unit))
        lost = beyond.against(tape, run.pivots, chosen)

    # whether there is an answer, by the rule for qdd, and whether to rely on it
    failed = refusal(system, tape, chosen, run.entries, error, lost)
    chance = by_chance(system)
    if chosen.kind == "ball":
        return Worth(values, None, chance)  # its digits are proved, for the model's own doubles
    if failed or chance:
        raise SingularError(f"order {tape.program.name!r}", failed or chance)
    marked = mark(error, 0.0, chosen.name, chosen.unit)
    if marked is None and lost is not None and lost.zero:
        marked = f"{named(tape, chosen, lost)}, though the answer is right"
    if not error <= bound(chosen.unit) and (wide := wider(system, chosen)):
        with suppress(SingularError):
            if worth(system, tape, wide, parts, numbers).marked is None:
                marked = f"{marked}: {beyond_range(system, chosen, wide)}"
    return Worth(values, error, marked)


class _Run(NamedTuple):
    values: NDArray[Any]
    entries: Entries  # that it started from
    pivots: Mapping[int, Any]  # as the format shows them; none of balls


def _run(
    system: System, tape: Tape, chosen: Format, slots: NDArray[np.int64], numbers: NDArray[Any] | None
) -> _Run:
    if chosen.unit < UNIT or not chosen.on_arrays:
        require_general(tape.program, chosen.name)
    given = {"beside": numbers} if numbers is not None and numbers.size else None
    if chosen.kind == "ball":
        return _Run(enclosed(system, tape, slots, numbers, chosen.digits)[0], system.entries, {})
    if chosen.on_arrays:
        entries = rounded_entries(system, chosen)  # raises where an entry overflows
        data = {letter: chosen.cast(values) for letter, values in (given or {}).items()}
        if not all(np.isfinite(values).all() for values in data.values()):
            told = "use a format with a larger range, such as float64"
            raise FormatError(f"format {chosen.name!r}", "overflows in a right-hand side", told)
        _, pivots, v = run(tape, system.entries, chosen, data)
        if (failed := first_bad(tape, pivots)) is not None:
            raise SingularError(f"order {tape.program.name!r}", failed, "use another order")
        shown = {i: chosen.shown(d) for i, d in pivots.items()} if chosen.kind == "dd" else pivots
        return _Run(chosen.shown(signed(v, slots)), entries, shown)
    number, entries = read_in(system, chosen)
    data = {letter: each(number, values) for letter, values in (given or {}).items()}
    _, _, values = run(tape, entries, number, data)
    return _Run(signed(values, slots), entries, {i: signed(values, d) for i, d in tape.pivots.items()})


def enclosed(
    system: System,
    tape: Tape,
    slots: NDArray[np.int64],
    numbers: NDArray[Any] | None,
    digits: int,
    rounded_to: Format | None = None,
) -> tuple[NDArray[Any], int]:
    """Balls of signed slots, with ``digits`` proved digits of each, and their precision in bits.

    The data are the model's doubles, or, with ``rounded_to``, (4)'s entries and ``numbers`` rounded
    to that format.  Raises CertificationError where no precision suffices, or data overflow it.
    """
    import flint

    (wanted, precisions), least = bits_for(digits), 0.0
    beside = np.zeros(0) if numbers is None else numbers
    for bits in precisions:
        with flint.ctx.workprec(bits):
            entries = entries_in_balls(system, rounded_to)
            data = beside if rounded_to is None else rounded_to.shown(rounded_to.cast(beside))
            given = {"beside": each(ball_of, data)} if data.size else None
            values = signed(run(tape, entries, flint.arb, given)[2], slots)
            balls = values.ravel().tolist()
            least = proved_bits(balls) if all(x.is_finite() for x in balls) else 0.0
        if least >= wanted:
            return values, bits
    few = f"only {max(0, int(least / BITS_PER_DIGIT))} digits of K^-1 B are certified at {bits} bits"
    raise CertificationError(system.name, few, "equation (4) is singular or nearly so")


def _checked(system: System, rhs: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """B as doubles, and its codes: 0 for zero, 1 for one, 2 for any other number."""
    told = (
        f"{system.size} rows of finite numbers, one for each unknown of equation (4), and a column for "
        "each right-hand side"
    )
    B = checked("eliminate", "rhs", rhs, (system.size, *shape_of(rhs)[1:2]), told)
    if B.ndim != 2:
        raise ModelError("eliminate", f"field 'rhs' has shape {B.shape}", f"give {told}")
    return B, codes_of(B)


@dataclass(frozen=True, eq=False)
class Jacobians:
    """Derivatives of m unknowns by q, qd and tau; columns are the N freedoms in the tree's order.

    >>> found = pt.derivatives(pt.build(pt.four_bar()), pt.orderings.get("abm"))
    >>> found.dlam.dtau.shape
    (2, 3)
    """

    dq: NDArray[Any]  # (m, N)
    dqd: NDArray[Any]  # (m, N)
    dtau: NDArray[Any]  # (m, N)


@dataclass(frozen=True, repr=False, eq=False)
class Derivatives(Shown, Jacobians):
    """Derivatives of qdd by q, qd and tau: row i is qdd_i, column j a freedom, in the tree's order.

    ``dq`` (N, N) [1/s^2] and, where lengths and angles meet, [m/s^2] or [1/(m s^2)]; ``dqd``
    (N, N) [1/s] and so on; ``dtau`` (N, N) [1/(kg m^2), 1/(kg m), 1/kg], symmetric: M^-1, and with
    loops that of the motions that they allow.
    Columns of dq are motions of a joint in its tangent space: along S_k in the frame of the body
    that it carries, as its rates qd are.  Where q are angles and lengths that is q itself.
    ``dlam`` has the same derivatives of the multipliers; None where there are no loops.

    >>> system = pt.build(pt.chain(3))
    >>> found = pt.derivatives(system, pt.orderings.get("abm"))
    >>> found.dq.shape, np.array_equal(found.dtau, found.dtau.T)
    ((3, 3), True)
    >>> closed = pt.derivatives(pt.build(pt.four_bar()), pt.orderings.get("abm"))
    >>> closed.dq.shape, closed.dlam.dq.shape
    ((3, 3), (2, 3))
    """

    order: str
    format: str
    qdd: NDArray[Any]  # (N,) [rad/s^2, m/s^2]
    operations: int  # scalar operations, those of qdd included
    dlam: Jacobians | None = None  # of lambda, m rows of loops and contacts
    error_estimate: float | None = None  # of the worst matrix: its distance to itself in twice the digits
    marked: str | None = None  # why the matrices should not be relied on, though there are some

    def facts(self) -> dict[str, Any]:
        return {
            "name": f"{self.order} in {self.format}",
            "freedoms": len(self.qdd),
            "operations": self.operations,
            "marked:": self.marked,
        }


def derivatives(system: System, order: OrderLike | Tape, format: str | Format = "float64") -> Derivatives:
    """d qdd / dq, dqd and dtau (N, N) of forward dynamics, by the same pivots as qdd.

    Equation (4) of Ascher, Pai & Cloutier 1996 is K x = r, so that dx = K^-1 (dr - dK x): further
    right-hand sides, which follow from the model's formulas (:mod:`kkt.program.columns`).
    Number types are those of :func:`kkt.eliminate`; the digits of ``ball:D`` are proved.  Armature,
    damping, springs and implicit steps count; dry friction is constant but for its jump at rest.
    External wrenches keep their components in the frames of their bodies.

    With closed loops and contacts (4) has rows of lambda, and ``dlam`` their derivatives
    (:mod:`kkt.program.columns`).  The rows are differentiated as functions of any state: q and qd
    vary freely, whether the loop stays closed or not.  Rows are those of the loop's frame c, whose
    compliance and gains are constant.

    Tracing takes time and memory in proportion to joints times bodies, each with the blocks of its
    column of the factor: O(n^2) for n bodies by abm, O(n^3) by crbm on a chain.

    ``marked`` says why the matrices should not be relied on, by the rule of :func:`kkt.eliminate`,
    each judged by its own largest entry, and ``error_estimate`` the error of the worst.

    Raises OrderError for an order by rotations, ModelError for a general joint whose motions S are
    no tangent space, SizeError for trees of more than about 300 joints, SingularError where a pivot is
    zero or rounding alone, or (4) is singular, FormatError and CertificationError as :func:`eliminate`.

    >>> system = pt.build(pt.rr_arm(), q=[0.3, 0.5], qd=[1.0, -1.0])
    >>> found = pt.derivatives(system, pt.orderings.get("abm"))
    >>> moved = system.refresh(q=[0.3 + 1e-7, 0.5], qd=[1.0, -1.0])
    >>> difference = (pt.eliminate(moved, pt.orderings.get("abm")).qdd - found.qdd) / 1e-7
    >>> np.allclose(difference, found.dq[:, 0], rtol=1e-4)
    True
    """
    chosen = get_format(format)
    return traced_derivatives(system, order)(chosen)


def traced_derivatives(system: System, order: OrderLike | Tape) -> Callable[[Format], Derivatives]:
    """:func:`derivatives`, traced once: the function returned runs them in any format."""
    base = tape_for(system, order)
    kinds = ("qdd", "lambda") if system.loops else ("qdd",)
    wanted = [f"d{of}_d{by}" for of in kinds for by in BY]
    found = differentiated(base, system, wanted)
    tape, slots, numbers = found.tape, found.slots, found.numbers

    def played_in(chosen: Format) -> Derivatives:
        values, told = _values(system, tape, chosen, slots, numbers)
        own, *more = ({f"d{by}": values[f"d{of}_d{by}"] for by in BY} for of in kinds)
        return Derivatives(
            order=base.program.name,
            format=chosen.name,
            qdd=values["qdd"],
            operations=found.operations(base),
            dlam=Jacobians(**more[0]) if more else None,
            error_estimate=told.error,
            marked=told.marked,
            **own,
        )

    return played_in


def _values(
    system: System, tape: Tape, chosen: Format, slots: Mapping[str, NDArray[Any]], numbers: NDArray[Any]
) -> tuple[dict[str, NDArray[Any]], Worth]:
    """The values of these slots, and qdd (N,), of one run; and what they are worth, qdd apart."""
    parts = {"qdd": Part(tape.unknowns(system).qdd, np.inf)}  # kkt.eliminate judges it
    parts |= {name: Part(x.ravel(), floor_of(system, name)) for name, x in slots.items()}
    found = worth(system, tape, chosen, list(parts.values()), numbers)
    shapes = {"qdd": (-1,), **{name: x.shape for name, x in slots.items()}}
    pairs = zip(found.parts, shapes.items(), strict=True)
    return {name: part.reshape(shape) for part, (name, shape) in pairs}, found


def floor_of(system: System, name: str) -> float:
    """What derivatives are judged by where they are zero but for rounding: gravity and rates."""
    of = weight_of(system.entries) if name.startswith("dlambda") else size_of(system.entries.a)
    return 1.0 / size_of(system.entries.M) if name == "dqdd_dtau" else of
