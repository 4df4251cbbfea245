"""A piece of work done: one model in some states, every order in every format, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import PivotreeError
from pivotree.kkt.arithmetic import Format, get_format

from ..comparison.row import digits_of, finite, known_conditioning
from ..states.sample import drawn_again
from ..study import measure as core
from ..study.measure import WHY, Columns, States
from .cases import Task
from .prepared import Prepared, prepare
from .settings import WHOLE, Settings

Row = tuple[Any, ...]
Cases = dict[int, list[dict[str, Any]]]  # by number of the state: orders x formats


def measure(task: Task) -> list[Row]:
    """The rows of a piece of work, in the sequence of its cases; the columns are the settings'."""
    settings = task.settings
    try:
        prepared: Prepared | str = prepare(settings, task.model)
    except PivotreeError as error:  # of a model that cannot be: every case says so
        prepared = error.why
    each = len(settings.orders) * len(settings.formats)
    states = {
        task.first + i: keys
        for i in range(len(task.keys) // each)
        if any(keys := task.keys[i * each : (i + 1) * each])
    }
    if isinstance(prepared, str):
        found: Cases = {number: [{"failed_at": prepared}] * each for number in states}
    else:
        found = _found(settings, prepared, states)
    return [row for number, keys in states.items() for row in _rows(task, number, keys, found[number])]


def _found(settings: Settings, prepared: Prepared, states: Mapping[int, Sequence[str | None]]) -> Cases:
    """What is measured of each case."""
    shape = len(states), len(settings.orders), len(settings.formats)
    missing = np.array([[key is not None for key in keys] for keys in states.values()]).reshape(shape)
    numbers = list(states)
    found: Cases = {number: [dict(prepared.sizes) for _ in keys] for number, keys in states.items()}
    for some in core.blocks(numbers, prepared.system.tree.n):
        here = [numbers.index(number) for number in some]
        _eliminated(settings, prepared, list(some), missing[here], found)
    if "drawn_again" in settings.measures and prepared.ranges is not None:
        for number, cases in found.items():
            again = drawn_again(prepared.ranges, settings.seed, number)
            for case in cases:
                case["drawn_again"] = again
    return found


def _eliminated(
    settings: Settings, prepared: Prepared, numbers: list[int], missing: NDArray[np.bool_], found: Cases
) -> None:
    """What eliminations give in some states goes into their cases."""
    formats = [get_format(name) for name in settings.formats]
    if prepared.ranges is None:
        states = States.of([prepared.system for _ in numbers])
    else:
        states = States.drawn(prepared.system, prepared.ranges, settings.seed, numbers)
    columns = core.measure(
        states,
        {name: prepared.orders[name] for name in settings.orders},
        prepared.proof,
        formats,
        wanted=missing & settings.runs,
        whole=bool({*WHOLE} & set(settings.measures)),
        condition=known_conditioning if {"kappa", "kappa_inertia"} & set(settings.measures) else None,
    )
    for i, number in enumerate(numbers):
        condition = columns.conditions[i]
        shared = {} if condition is None else {x: finite(getattr(condition, x)) for x in KAPPAS}
        places = ((o, f) for o in range(len(settings.orders)) for f in range(len(formats)))
        for (o, f), case in zip(places, found[number], strict=True):
            case |= shared | columns.costs[i][o]
            if missing[i, o, f] and (settings.runs or columns.failed[i, o, f]):
                case |= _case(columns, (i, o, f), formats[f])


KAPPAS = ("kappa", "kappa_inertia")


def _case(columns: Columns, place: tuple[int, int, int], format: Format) -> dict[str, Any]:
    """The answer of one order in one format and state."""
    whole = {"error_of_data": float(columns.data[place[0], place[2]])}
    if columns.failed[place]:
        why = {"failed_at": columns.failed_at[place], "failed_as": WHY[columns.failed[place]]}
        return why | (whole if whole["error_of_data"] >= 0.0 else {})
    error, total = float(columns.error[place]), float(columns.total[place])
    return {
        **whole,
        "error_with_data": total,
        "digits_with_data": digits_of(total, format),
        "failed_at": None,
        "error": error,
        "digits": digits_of(error, format),
        "backward_error": float(columns.left[place]),
        "marked": columns.marked[place],
    }


def _rows(
    task: Task, number: int, keys: Sequence[str | None], found: Sequence[Mapping[str, Any]]
) -> list[Row]:
    settings, values = task.settings, dict(task.model.values)
    cases = [(order, format) for order in settings.orders for format in settings.formats]
    rows = []
    for key, case, own in zip(keys, cases, found, strict=True):
        if key is None:
            continue
        head = (key, task.model.text, *map(values.get, settings.ranges), *case)
        tail = (number, settings.seed, *map(own.get, settings.measures))
        rows.append(head + tail)
    return rows
