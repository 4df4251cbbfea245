"""What an integrator takes: the columns of ``pivotree simulate``, many starts side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import PivotreeError

from .prepared import Prepared
from .settings import Settings

if TYPE_CHECKING:
    from ..simulation import Motion

TOGETHER = 16  # starts that are integrated side by side


def moved(
    settings: Settings, prepared: Prepared, numbers: Sequence[int], wanted: NDArray[np.bool_]
) -> dict[int, list[dict[str, Any]]]:
    """What the integrator takes of each case, orders x formats, by number of the state.

    ``wanted`` (m, orders, formats) are the cases that are not done.  Random states give positions
    and rates; a model's own state is at rest, but where a model file says otherwise.  Contacts hold
    their points where a motion starts, and coupled joints their positions; rates lose what breaks
    them.  Efforts are those of a model file, or none.
    """
    each = [(order, format) for order in settings.orders for format in settings.formats]
    found: dict[int, list[dict[str, Any]]] = {number: [{} for _ in each] for number in numbers}
    for i, (order, format) in enumerate(each):
        here = np.flatnonzero(wanted.reshape(len(numbers), -1)[:, i])
        for at in range(0, len(here), TOGETHER):
            chosen = [numbers[k] for k in here[at : at + TOGETHER]]
            for number, case in zip(chosen, _cases(settings, prepared, order, format, chosen), strict=True):
                found[number][i] = case
    return found


def _cases(
    settings: Settings, prepared: Prepared, order: str, format: str, numbers: Sequence[int]
) -> list[dict[str, Any]]:
    from ..simulation.run import drift

    asked = settings.simulate
    assert asked is not None
    motion = _motion(settings, prepared, order, format)
    if isinstance(motion, str):
        return [{"failed_at": motion} for _ in numbers]
    try:
        method = asked.method(motion)
        y = _starts(settings, prepared, motion, numbers)
        held = any(loop.anywhere for loop in prepared.system.loops)
        each = [motion] * len(y)
        if held and prepared.ranges is not None:  # every start has its own anchors
            each = [motion.begun_at(row) for row in y]
            y = np.concatenate([one.settle(row[None]) for one, row in zip(each, y, strict=True)])
            records = [
                method(one.rates, row[None].astype(asked.state), asked.seconds, one.settle)[0]
                for one, row in zip(each, y, strict=True)
            ]
        else:
            records = method(motion.rates, y.astype(asked.state), asked.seconds, motion.settle)
    except PivotreeError as error:  # joints that an integrator cannot take
        return [{"failed_at": error.why} for _ in numbers]
    cases: list[dict[str, Any]] = []
    for one, record in zip(each, records, strict=True):
        case: dict[str, Any] = {"operations": motion.operations, "failed_at": record.failed}
        if record.failed is None:
            case |= {"evaluations": record.evaluations, "steps": record.accepted}
            case["rejected"] = record.rejected
            if "energy_drift" in settings.measures:
                case["energy_drift"] = drift(one, record)
        cases.append(case)
    return cases


def _starts(
    settings: Settings, prepared: Prepared, motion: Motion, numbers: Sequence[int]
) -> NDArray[np.float64]:
    """(m, nx + N)"""
    from ..states.sample import draw

    if prepared.ranges is None:
        return np.array([motion.start() for _ in numbers])
    drawn = [draw(prepared.ranges, settings.seed, number)[:2] for number in numbers]
    return np.array([motion.start(q, qd) for q, qd in drawn])


def _motion(settings: Settings, prepared: Prepared, order: str, format: str) -> Motion | str:
    """The kernel of a case, compiled once, or why there is none."""
    from ..simulation import Motion, closed
    from ..simulation.run import order_of
    from ..states.sample import draw

    key = order, format
    if key not in prepared.motions:
        tree = prepared.system.graph.copy()
        if prepared.ranges is not None or not prepared.model.text.endswith(".json"):
            for name in ("qd", "tau"):
                tree.graph.pop(name, None)
        try:
            function, solver = order_of(order)
            if prepared.ranges is None:
                tree = closed(tree)
            else:  # one of the states that are drawn
                tree = closed(tree, *draw(prepared.ranges, settings.seed, 0)[:2], project=True)
            prepared.motions[key] = Motion.of(tree, function, format, solver=solver)
        except PivotreeError as error:
            prepared.motions[key] = error.why
    return prepared.motions[key]
