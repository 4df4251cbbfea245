"""The one measurement: orders in formats at states of a robot, each answer held against a reference.

A sweep calls it, and through it a report; a check has its states alone.  An answer is one by the rule
of :mod:`kkt.proof.soundness`: it is refused, or marked as not to be relied on, or neither.

:mod:`pivotree.analysis.report.worst` holds the reference against certified balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pivotree.analysis.states.traced import Equations
from pivotree.kkt import OrderError, PivotreeError, System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.matrix.system import least_size
from pivotree.kkt.tape.idle import all_resist
from pivotree.kkt.theorem.ranges import Ranges

from ..states.sample import entries_at, held, least_sizes, system_at
from ..states.traced import Answers, Pair, TracedOrder
from . import cells

Floats = NDArray[np.float64]
Places = NDArray[np.int64]  # of states
BODIES = 4096  # of all states that are built at a time

# why a case has no answer: it counts as 0 digits, and is counted apart
OK, ZERO, NUMBER, OVERFLOW, SINGULAR, REFUSED = range(6)
WHY = {
    ZERO: "a pivot becomes zero, or nothing but rounding",
    NUMBER: "the result overflows or is not a number",
    OVERFLOW: "the data of equation (4) overflow the format",
    SINGULAR: "equation (4) is singular, but for rounding of the model or for its data rounded to the "
    "format, or its reference in double-double overflows",
    REFUSED: "the order does not take this state",
}


def blocks(numbers: Sequence[int], bodies: int) -> Iterator[Sequence[int]]:
    """States by their numbers, as many at a time as fit in memory."""
    size = max(1, BODIES // bodies)
    for at in range(0, len(numbers), size):
        yield numbers[at : at + size]


@dataclass(frozen=True)
class States:
    """States of one robot; m is in front."""

    base: System  # whose tree and loops they have
    entries: Entries
    least: Floats  # (m,) sizes that errors of qdd are at least relative to
    system_of: Callable[[int], System]
    fit: NDArray[np.bool_]  # (m,) whose matrix has the zeros of the system that orders are traced on

    def __len__(self) -> int:
        return len(self.fit)

    @staticmethod
    def drawn(system: System, ranges: Ranges, seed: int, numbers: Sequence[int]) -> States:
        """Random states (:func:`..states.draw`) by their numbers; orders are traced on ``system``."""
        entries = entries_at(system, ranges, seed, numbers)
        known: dict[int, System] = {}

        def system_of(i: int) -> System:
            if i not in known:
                known[i] = system_at(system, ranges, seed, numbers[i])
            return known[i]

        return States(system, entries, least_sizes(system, entries), system_of, held(system.pattern, entries))

    @staticmethod
    def of(systems: Sequence[System]) -> States:
        """The states that these systems are in."""
        each = (np.array([getattr(system.entries, x) for system in systems]) for x in LETTERS)
        least = np.array([least_size(system) for system in systems])
        none = np.zeros(len(systems), dtype=bool)
        return States(systems[0], Entries(*each), least, systems.__getitem__, none)

    def tapes(self, order: TracedOrder, refuse: Callable[[int, PivotreeError], None]) -> list[_Part]:
        """The tapes that the states take, each with its states and their values.

        ``refuse`` is told of a state that no tape of the order takes.
        """
        groups: dict[Any, list[int]] = {}
        for i, rows in enumerate(order.turned(self.entries.S)):
            groups.setdefault((rows, None if self.fit[i] else i), []).append(i)
        parts = []
        for (rows, alone), here in groups.items():
            try:
                fits = alone is None and not rows
                at = order if fits else order.fitting(self.system_of(here[0]))
                parts.append(_Part(at, np.array(here, dtype=np.int64), self._values(at, here)))
            except PivotreeError as error:
                for i in here:
                    refuse(i, error)
        return parts

    def _values(self, order: TracedOrder, here: list[int]) -> NDArray[Any]:
        """(k, p) what a tape reads in some of the states, in float64."""
        return order.values_of(Entries(*(x[here] for x in self.entries)))

    def equations(self, format: Format) -> Equations:
        return Equations.of(self.base, self.entries, format)


class _Part(NamedTuple):
    """States that one tape takes."""

    order: TracedOrder
    here: Places  # (k,)
    values: NDArray[Any]  # (k, p) that it reads, in float64


Case = dict[str, Any]  # what is measured of one order in one format and state, by the columns of a sweep
Cases = list[list[list[Case]]]  # of states, orders and formats
ANSWER = ("error", "backward_error", "marked", "error_with_data")  # what a case without an answer lacks


def refused(code: int, why: str) -> Case:
    """A case without an answer: why there is none, in a sentence and in the words of WHY."""
    return dict.fromkeys(ANSWER) | {"failed_at": why, "failed_as": WHY[code]}


def measure(
    states: States,
    orders: Mapping[str, TracedOrder | str],
    proof: TracedOrder,
    formats: Sequence[Format],
    *,
    wanted: NDArray[np.bool_] | None = None,
    whole: bool = False,
    condition: Callable[[System, Any], Case] | None = None,
) -> Cases:
    """Every order, or why there is none, in every format and state.

    Errors are relative to the largest joint acceleration of a state, and against the exact answer for
    the rounded data.  ``proof`` is the order of the reference, in double-double; ``wanted`` (m, orders,
    formats) are the cases that are asked for.  With ``whole`` errors against the answer for the data in
    float64, and of that answer by rounding the data alone, are there too; ``condition`` gives condition
    numbers of a system by the proof's tape.
    """
    names = list(orders)
    cases: Cases = [[[{} for _ in formats] for _ in names] for _ in range(len(states))]
    shape = len(states), len(names), len(formats)
    wanted = np.ones(shape, dtype=bool) if wanted is None else wanted
    traceable = [isinstance(order, TracedOrder) for order in orders.values()]  # a text says why one is not
    reference = _Reference(states, proof, formats, np.asarray(wanted[:, traceable].any(axis=1)))
    system_of = None if all_resist(states.base.tree) else states.system_of
    unrounded = reference.unrounded() if whole else None
    if unrounded is not None:
        reference.of_the_data(cases, unrounded)
    if condition is not None:
        reference.conditions(cases, condition)
    equations = [states.equations(format) for format in formats]

    def traced(name: str, order: TracedOrder | str) -> list[_Part]:
        if isinstance(order, str):
            raise OrderError(order)
        o = names.index(name)
        parts = states.tapes(order, lambda i, error: _refuse(cases[i][o], error))
        for part in parts:
            for case in chain(*(cases[i][o] for i in part.here.tolist())):
                case |= part.order.costs
        return parts

    def answer(name: str, parts: list[_Part], format: Format) -> None:
        o, f = names.index(name), formats.index(format)
        truth = reference.truths[f]
        for part in parts:
            asked = wanted[part.here, o, f]
            known = asked & truth.known[part.here]
            for i in part.here[asked & ~known].tolist():
                cases[i][o][f] |= refused(*reference.missing(f, i))
            if known.any():
                here, values = part.here[known], part.values[known]
                errors = truth.at(here).largest
                got = part.order.answers(format, values, equations[f], here, errors, system_of)
                total = None if unrounded is None else unrounded.at(here).largest(got.found)
                for k, i in enumerate(here.tolist()):
                    cases[i][o][f] |= _told(got, k, total)

    for name, format, said in cells(orders, formats, traced, answer):
        if isinstance(said, PivotreeError):
            _refuse((state[names.index(name)][formats.index(format)] for state in cases), said)
    return cases


def _refuse(cases: Iterable[Case], error: PivotreeError) -> None:
    for case in cases:
        case |= refused(REFUSED, error.why)


def _told(got: Answers, k: int, total: Floats | None) -> Case:
    """What is said of the k-th of some answers; ``total`` are their errors for the data in float64."""
    said = got.said[k]
    if said.failed_at is not None:
        finite = np.isfinite(got.found[k]).all() and np.isfinite(got.pivots[k]).all()
        code = ZERO if finite or (got.pivots[k] == 0).any() else NUMBER
        return refused(SINGULAR if said.singular else code, said.failed_at)
    whole = {} if total is None else {"error_with_data": float(total[k])}
    errors = {"error": float(got.errors[k]), "backward_error": float(got.left[k])}
    return whole | errors | {"marked": said.marked}


class _Reference:
    """The answers that others are held against, in every state and format."""

    def __init__(
        self, states: States, proof: TracedOrder, formats: Sequence[Format], needed: NDArray[np.bool_]
    ) -> None:
        self.states, self.proof, self.formats = states, proof, formats
        self.refused: dict[int, str] = {}  # states that the proof does not take
        self.parts = states.tapes(proof, lambda i, error: self.refused.update({i: error.why}))
        self.truths = [self._truth(format, needed[:, f]) for f, format in enumerate(formats)]

    def _truth(self, format: Format, needed: NDArray[np.bool_]) -> Pair:
        found = Pair.none(len(self.states), self.proof)
        for own, here, values in self.parts:
            asked = needed[here]
            least = self.states.least[here[asked]]
            found.put(here[asked], own.truth(format, values[asked], least))
        return found

    def missing(self, f: int, i: int) -> tuple[int, str]:
        """Why the i-th state has no reference."""
        if i in self.refused:
            return SINGULAR, self.refused[i]
        (values,) = (part.values[part.here == i] for part in self.parts if i in part.here)
        if np.isfinite(self.formats[f].cast(values).real).all():
            return SINGULAR, WHY[SINGULAR]
        return OVERFLOW, f"the data of equation (4) overflow {self.formats[f].name}"

    def unrounded(self) -> Pair:
        """Answers for the data in float64."""
        return self._truth(get_format("float64"), np.ones(len(self.states), dtype=bool))

    def conditions(self, cases: Cases, condition: Callable[[System, Any], Case]) -> None:
        for own, here, _ in self.parts:
            for i in here.tolist():
                numbers = condition(self.states.system_of(i), own.tape)
                for case in chain(*cases[i]):
                    case |= numbers

    def of_the_data(self, cases: Cases, unrounded: Pair) -> None:
        """What rounding the data alone takes."""
        for f, truth in enumerate(self.truths):
            (here,) = np.nonzero(truth.known)
            exact = truth.at(here)
            off = unrounded.at(here).largest(exact.high, exact.low)
            for i, error in zip(here.tolist(), off.tolist(), strict=True):
                for order in cases[i]:
                    order[f]["error_of_data"] = error
