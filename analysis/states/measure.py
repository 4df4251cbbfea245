"""One state measured: every order in every format against its reference.

The reference is the leaf-to-root (articulated body) program run in double-double on the data
rounded to the format, some 30 digits; :mod:`pivotree.analysis.report.worst` holds it against
certified balls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pivotree import orderings
from pivotree.kkt import OrderError, System, trace
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.proof.many_residuals import Equations
from pivotree.kkt.tape.run import entered, played, signed
from pivotree.kkt.tape.tape import Tape

from .sample import Ranges, system_at
from .traced import Order, qdd_slots

Floats = NDArray[np.float64]
ONE = np.zeros(1, dtype=np.int64)  # the only state

# why a state has no answer: it counts as 0 digits, and is counted apart
OK, ZERO, NUMBER, OVERFLOW, SINGULAR = range(5)
WHY = {
    ZERO: "a pivot becomes zero, or nothing but rounding",
    NUMBER: "the result overflows or is not a number",
    OVERFLOW: "the data of equation (4) overflow the format",
    SINGULAR: "for the data rounded to the format equation (4) is singular, or its reference in "
    "double-double overflows",
}


@dataclass(frozen=True)
class Setup:
    """All that measuring a state needs; made once, sent to every process."""

    system: System
    ranges: Ranges
    seed: int
    tapes: dict[str, Tape]  # the orders that this robot admits
    proof: Tape  # of the reference
    format_names: tuple[str, ...]

    @cached_property
    def orders(self) -> dict[str, Order]:
        return {name: Order(tape, self.system) for name, tape in self.tapes.items()}

    @cached_property
    def formats(self) -> tuple[Format, ...]:
        return tuple(get_format(name) for name in self.format_names)

    def system_at(self, number: int) -> System:
        return system_at(self.system, self.ranges, self.seed, number)


class Measured(NamedTuple):
    """Errors of one state: relative to the largest joint acceleration, NaN where it failed."""

    number: int
    error: Floats  # (orders, formats) against the exact answer for the rounded data
    total: Floats  # (orders, formats) against the exact answer for the data in float64
    data: Floats  # (formats,) of the exact answer, by rounding the data alone
    failed: NDArray[np.int8]  # (orders, formats) OK or why there is no answer
    joints: NDArray[np.float32]  # (orders, formats, N) error of each joint, relative as above
    left: Floats  # (orders, formats) backward error in (4), normwise
    marked: NDArray[np.bool_]  # (orders, formats) answers that should not be relied on


class Pair(NamedTuple):
    """Double-double numbers."""

    high: Floats
    low: Floats

    def error(self, x: NDArray, low: NDArray | float = 0.0) -> Floats:
        """|x + low - this|, relative to the largest of these numbers."""
        with np.errstate(all="ignore"):
            off = np.abs((np.asarray(x, dtype=float) - self.high) + (low - self.low))
            size = np.abs(self.high).max(initial=0.0)
            return off / size if size > 0.0 else np.where(off == 0.0, 0.0, np.inf)

    def errors(self, answers: NDArray) -> Floats:
        """(k,) the largest error of each of (k, N) answers."""
        return np.array([_largest(self.error(x)) for x in answers])


def measure(setup: Setup, number: int) -> Measured:
    """Every order in every format at one state."""
    system = setup.system_at(number)
    proof = fitting(setup.proof, "abm", system)
    truth = reference(proof, system, None)
    N = len(truth.high)
    shape = (len(setup.tapes), len(setup.formats))
    error, total = np.full(shape, np.nan), np.full(shape, np.nan)
    failed, data = np.zeros(shape, dtype=np.int8), np.full(shape[1], np.nan)
    joints = np.full((*shape, N), np.nan, dtype=np.float32)
    left, marked = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    entries = Entries(*(getattr(system.entries, letter)[None] for letter in LETTERS))
    equations = [Equations.of(system.tree, entries, chosen) for chosen in setup.formats]
    exact: list[Pair | int] = []
    for j, chosen in enumerate(setup.formats):
        found = rounded_reference(proof, system, chosen)
        exact.append(found)
        if isinstance(found, Pair):
            data[j] = _largest(truth.error(found.high, found.low))
    for i, (name, order) in enumerate(setup.orders.items()):
        tape = fitting(order.tape, name, system)
        order = order if tape is order.tape else Order(tape, system)
        values = order.values(system)[None]
        for j, chosen in enumerate(setup.formats):
            found = exact[j]
            if not isinstance(found, Pair):
                failed[i, j] = found
                continue
            answers = order.answers(chosen, values, equations[j], ONE, found.errors)
            (qdd,), (said,) = answers.qdd, answers.said
            if said.failed_at is not None:
                finite = np.isfinite(qdd).all() and np.isfinite(answers.pivots).all()
                failed[i, j] = ZERO if finite or (answers.pivots == 0).any() else NUMBER
                continue
            joints[i, j], error[i, j] = found.error(qdd), answers.errors[0]
            left[i, j], marked[i, j] = answers.left[0], said.marked is not None
            total[i, j] = _largest(truth.error(qdd))
    return Measured(number, error, total, data, failed, joints, left, marked)


def _largest(off: Floats) -> float:
    return float(np.max(off, initial=0.0))


def fitting(tape: Tape, name: str, system: System) -> Tape:
    """The tape, or where a joint has turned too far for it, one that is traced here."""
    try:
        tape.require(system)
    except OrderError:
        return trace(system, orderings.get(name))
    return tape


def answer(tape: Tape, system: System, chosen: Format) -> tuple[NDArray, NDArray]:
    """qdd (N,) and all pivots of one order in one format."""
    v = run(tape, system, chosen, chosen.cast(tape.inputs.values(system.entries)[1]))
    return signed(v, qdd_slots(tape, system)), signed(v, pivot_slots(tape))


def pivot_slots(tape: Tape) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *map(np.ravel, tape.pivots.values())])


def rounded_reference(tape: Tape, system: System, chosen: Format) -> Pair | int:
    """The answer for the data rounded to a format; OVERFLOW or SINGULAR where there is none."""
    values = chosen.cast(tape.inputs.values(system.entries)[1])
    if not np.isfinite(values).all():
        return OVERFLOW
    found = reference(tape, system, values)
    return found if np.isfinite(found.high).all() else SINGULAR


def reference(tape: Tape, system: System, values: NDArray | None) -> Pair:
    """qdd in double-double, from the entries of (4), or from values that were rounded."""
    if values is None:
        values = tape.inputs.values(system.entries)[1]
    high, low = shadow(tape, system, values)
    slots = qdd_slots(tape, system)
    return Pair(signed(high, slots), signed(low, slots))


def shadow(tape: Tape, system: System, values: NDArray) -> tuple[Floats, Floats]:
    """All slots after a run in double-double: their high and low parts."""
    v = run(tape, system, get_format("dd"), values)
    return v.real.copy(), v.imag.copy()


def run(tape: Tape, system: System, chosen: Format, values: NDArray) -> NDArray:
    """All slots after a run of the tape on values that were rounded already."""
    places, _ = tape.inputs.values(system.entries)
    return played(tape, chosen, entered(tape, chosen, places, values))
