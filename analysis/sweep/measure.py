"""A piece of work done: one model in some states, every order in every format, row by row."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import CertificationError, Certified, PivotreeError, System, certify
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.matrix.system import least_size
from pivotree.kkt.proof.many_residuals import Equations

from ..comparison.row import REFERENCE_DIGITS, finite, known_conditioning
from ..states.sample import drawn_again, system_at
from ..states.traced import TracedOrder
from .cases import Task
from .motions import moved
from .prepared import Prepared, prepare
from .settings import Settings
from .together import measured, together, why

Row = tuple[Any, ...]
Errors = Callable[[NDArray], NDArray]  # of k answers: (k,), or of derivatives (k, fields)
ONE = np.zeros(1, dtype=np.int64)  # the only state


def measure(task: Task) -> list[Row]:
    """The rows of a piece of work, in the sequence of its cases; the columns are the settings'."""
    settings = task.settings
    try:
        prepared: Prepared | str = prepare(settings, task.model)
    except PivotreeError as error:  # of a model that cannot be: every case says so
        prepared = " ".join(str(error).split())
    each = len(settings.orders) * len(settings.formats)
    states = {
        task.first + i: keys
        for i in range(len(task.keys) // each)
        if any(keys := task.keys[i * each : (i + 1) * each])
    }
    if isinstance(prepared, str):
        found = {number: [{"failed_at": prepared}] * each for number in states}
    else:
        found = _found(settings, prepared, states)
    return [row for number, keys in states.items() for row in _rows(task, number, keys, found[number])]


def _found(
    settings: Settings, prepared: Prepared, states: dict[int, tuple[str | None, ...]]
) -> dict[int, list[dict[str, Any]]]:
    """What is measured of each case, orders x formats, by number of the state."""
    each = len(settings.orders) * len(settings.formats)
    missing = np.array([[key is not None for key in keys] for keys in states.values()])
    missing = missing.reshape(-1, len(settings.orders), len(settings.formats))
    found: dict[int, list[dict[str, Any]]] = {}
    if not settings.eliminates:
        found = {number: [prepared.sizes for _ in range(each)] for number in states}
    elif settings.together and prepared.model.frames != "aligned":
        found = together(settings, prepared, list(states), missing)
    for number, keys in states.items():
        if number not in found:
            found[number] = one(settings, prepared, number, keys)
    if "drawn_again" in settings.measures and prepared.ranges is not None:
        for number, cases in found.items():
            again = drawn_again(prepared.ranges, settings.seed, number)
            for case in cases:
                case["drawn_again"] = again
    if settings.simulate is not None:
        for number, cases in moved(settings, prepared, list(states), missing).items():
            for own, case in zip(found[number], cases, strict=True):
                failed = own.get("failed_at") or case.get("failed_at")
                own |= case | {"failed_at": failed}
    return found


def _rows(task: Task, number: int, keys: tuple[str | None, ...], found: list[dict]) -> list[Row]:
    settings, values = task.settings, dict(task.model.values)
    cases = [(order, format) for order in settings.orders for format in settings.formats]
    rows = []
    for key, case, own in zip(keys, cases, found, strict=True):
        if key is None:
            continue
        head = (key, task.model.label, *map(values.get, settings.ranges), *case)
        tail = (number, settings.seed, *map(own.get, settings.measures))
        rows.append(head + tail)
    return rows


def one(
    settings: Settings, prepared: Prepared, number: int, keys: tuple[str | None, ...]
) -> list[dict[str, Any]]:
    """What is measured of each case of one state, orders x formats; nothing where it is done."""
    system = prepared.system
    if prepared.ranges is not None:
        system = system_at(system, prepared.ranges, settings.seed, number)
    system = prepared.model.written(system)
    proof = prepared.proof.fitting("abm", system)
    shared = prepared.sizes | _of_state(settings, system, proof)
    exact: dict[str, Errors | str] = {}
    equations: dict[str, Equations] = {}
    found: list[dict[str, Any]] = [{} for _ in keys]
    place = -1
    for name in settings.orders:
        order = prepared.orders[name]
        if not isinstance(order, str):
            order = order.fitting(name, system)
            values, costs = order.values(system), order.costs
        for format in settings.formats:
            place += 1
            if keys[place] is None:
                continue
            found[place] = here = dict(shared)
            if isinstance(order, str):
                here["failed_at"] = order
                continue
            here |= costs
            if not settings.runs:
                continue
            chosen = get_format(format)
            if format not in exact:
                exact[format] = reference(settings.reference, system, proof, chosen)
            truth = exact[format]
            if isinstance(truth, str):
                here["failed_at"] = truth
                continue
            if format not in equations:
                given = Entries(*(getattr(system.entries, x)[None] for x in LETTERS))
                equations[format] = Equations.of(system.tree, given, chosen, system.structure.ties)
            (told,) = measured(order, chosen, values[None], equations[format], ONE, truth, lambda _: system)
            here |= told
    return found


def _each(truth: Certified) -> Errors:
    """Errors of (k, N) answers; not a number where one holds none."""

    def errors(qdd: NDArray) -> NDArray:
        found = [truth.error(x) if np.isfinite(x).all() else None for x in qdd]
        return np.array([np.nan if error is None else error for error in found])

    return errors


def reference(kind: str, system: System, proof: TracedOrder, chosen: Format) -> Errors | str:
    """Errors against the answer for the data rounded to a format, proved or in double-double.

    Or why there is none.
    """
    if kind == "certified":
        digits = max(REFERENCE_DIGITS, 10 - round(math.log10(chosen.unit)))
        try:
            if proof.quantity != "qdd":
                return proof.certified(system, digits, chosen).largest
            return _each(certify(system, digits, rounded_to=chosen, tape=proof.tape))
        except CertificationError as error:
            return " ".join(str(error).split())
    truth = proof.truth(chosen, proof.values(system)[None], np.array([least_size(system)]))
    return truth.pair.at(0).largest if truth.known[0] else why(truth, 0, chosen)


def _of_state(settings: Settings, system: System, proof: TracedOrder) -> dict[str, Any]:
    """Condition numbers, which depend neither on the order nor on the format."""
    found: dict[str, Any] = {}
    if {"kappa", "kappa_inertia"} & set(settings.measures):
        condition = known_conditioning(system, proof.tape if proof.quantity == "qdd" else None)
        if condition is not None:
            kappas = {"kappa": condition.kappa, "kappa_inertia": condition.kappa_inertia}
            found |= {name: finite(x) for name, x in kappas.items()}
    return found
