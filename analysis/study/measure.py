"""The one measurement: orders in formats at states of a robot, held against a reference, as columns.

A report and a sweep of many models are its callers.  An answer is one by the rule of
:mod:`kkt.proof.soundness`: it is refused, or marked as not to be relied on, or neither.

:mod:`pivotree.analysis.report.worst` holds the reference against certified balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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

# why a state has no answer: it counts as 0 digits, and is counted apart
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


@dataclass(frozen=True)
class Columns:
    """What is measured in m states of orders in formats; NaN or None where there is no answer.

    Errors are relative to the largest joint acceleration of a state.
    """

    failed: NDArray[np.int8]  # (m, orders, formats) OK, or a key of WHY
    failed_at: NDArray[Any]  # the same in a sentence, or None
    error: Floats  # (m, orders, formats) against the exact answer for the rounded data
    left: Floats  # (m, orders, formats) backward error in (4), normwise
    marked: NDArray[Any]  # (m, orders, formats) why an answer should not be relied on, or None
    total: Floats  # (m, orders, formats) against the exact answer for the data in float64
    data: Floats  # (m, formats) of the exact answer, by rounding the data alone
    costs: list[list[dict[str, int]]]  # of each state and order, whatever the format
    conditions: list[Any]  # of each state, where they are asked for

    @staticmethod
    def none(m: int, orders: int, formats: int) -> Columns:
        """Nothing measured yet."""
        shape = m, orders, formats
        error, left, total = (np.full(shape, np.nan) for _ in range(3))
        failed_at, marked = np.full(shape, None), np.full(shape, None)
        costs: list[list[dict[str, int]]] = [[{} for _ in range(orders)] for _ in range(m)]
        failed, data = np.zeros(shape, dtype=np.int8), np.full((m, formats), np.nan)
        return Columns(failed, failed_at, error, left, marked, total, data, costs, [None] * m)

    def refuse(self, place: Any, code: int, why: str) -> None:
        """No answer at a place, (states, orders, formats)."""
        self.failed[place], self.failed_at[place] = code, why


def measure(
    states: States,
    orders: Mapping[str, TracedOrder | str],
    proof: TracedOrder,
    formats: Sequence[Format],
    *,
    wanted: NDArray[np.bool_] | None = None,
    whole: bool = False,
    condition: Callable[[System, Any], Any] | None = None,
) -> Columns:
    """Every order, or why there is none, in every format and state.

    ``proof`` is the order of the reference, in double-double; ``wanted`` (m, orders,
    formats) are the cases that are asked for.  ``whole`` also has ``total`` and ``data``;
    ``condition`` gives condition numbers of a system by the proof's tape.
    """
    names = list(orders)
    found = Columns.none(len(states), len(names), len(formats))
    wanted = np.ones(found.failed.shape, dtype=bool) if wanted is None else wanted
    traceable = [isinstance(order, TracedOrder) for order in orders.values()]  # a text says why one is not
    reference = _Reference(states, proof, formats, np.asarray(wanted[:, traceable].any(axis=1)))
    system_of = None if all_resist(states.base.tree) else states.system_of
    if whole:
        reference.of_the_data(found)
    if condition is not None:
        reference.conditions(found, condition)
    equations = [states.equations(format) for format in formats]

    def traced(name: str, order: TracedOrder | str) -> list[_Part]:
        if isinstance(order, str):
            raise OrderError(order)
        o = names.index(name)
        parts = states.tapes(order, lambda i, error: found.refuse((i, o), REFUSED, error.why))
        for part in parts:
            for i in part.here.tolist():
                found.costs[i][o] = part.order.costs
        return parts

    def answer(name: str, parts: list[_Part], format: Format) -> None:
        o, f = names.index(name), formats.index(format)
        truth = reference.truths[f]
        for part in parts:
            asked = wanted[part.here, o, f]
            known = asked & truth.known[part.here]
            for i in part.here[asked & ~known].tolist():
                found.refuse((i, o, f), *reference.missing(f, i))
            if known.any():
                here, values = part.here[known], part.values[known]
                errors = truth.at(here).largest
                got = part.order.answers(format, values, equations[f], here, errors, system_of)
                _keep(found, (here, o, f), got)
                if whole:
                    reference.beside(found, (here, o, f), got)

    for name, format, said in cells(orders, formats, traced, answer):
        if isinstance(said, PivotreeError):
            found.refuse((slice(None), names.index(name), formats.index(format)), REFUSED, said.why)
    return found


def _keep(found: Columns, place: tuple[Places, int, int], got: Answers) -> None:
    """What is said of answers in some states."""
    here, o, f = place
    for k, (i, said) in enumerate(zip(here.tolist(), got.said, strict=True)):
        if said.failed_at is not None:
            finite = np.isfinite(got.found[k]).all() and np.isfinite(got.pivots[k]).all()
            code = ZERO if finite or (got.pivots[k] == 0).any() else NUMBER
            found.refuse((i, o, f), SINGULAR if said.singular else code, said.failed_at)
            continue
        found.error[i, o, f], found.left[i, o, f] = got.errors[k], got.left[k]
        found.marked[i, o, f] = said.marked


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

    @cached_property
    def unrounded(self) -> Pair:
        """Answers for the data in float64."""
        return self._truth(get_format("float64"), np.ones(len(self.states), dtype=bool))

    def of_the_data(self, found: Columns) -> None:
        """What rounding the data alone takes."""
        for f, truth in enumerate(self.truths):
            (here,) = np.nonzero(truth.known)
            exact = truth.at(here)
            found.data[here, f] = self.unrounded.at(here).largest(exact.high, exact.low)

    def conditions(self, found: Columns, condition: Callable[[System, Any], Any]) -> None:
        for own, here, _ in self.parts:
            for i in here.tolist():
                found.conditions[i] = condition(self.states.system_of(i), own.tape)

    def beside(self, found: Columns, place: tuple[Places, int, int], got: Answers) -> None:
        """Errors of answers for the data in float64."""
        here, o, f = place
        total, held = self.unrounded.at(here).largest(got.found), found.failed[here, o, f] == OK
        found.total[here[held], o, f] = total[held]
