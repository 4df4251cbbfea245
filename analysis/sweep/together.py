"""Many states of one model measured at a time, with the bits of one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.matrix.entries import Entries
from pivotree.kkt.matrix.many import held, least_sizes
from pivotree.kkt.proof.idle import DOUBLE, all_resist
from pivotree.kkt.proof.many_residuals import Equations

from ..comparison import digits_of
from ..states.measure import SINGULAR, WHY
from ..states.sample import entries_at, system_at
from ..states.traced import FIELDS, TracedOrder, Truth
from .prepared import Prepared
from .settings import Settings

BODIES = 4096  # of all states that are built at a time
Floats = NDArray[np.float64]


def together(
    settings: Settings, prepared: Prepared, numbers: Sequence[int], wanted: NDArray[np.bool_]
) -> dict[int, list[dict[str, Any]]]:
    """What is measured of each case, orders x formats, by number of the state.

    ``wanted`` (m, orders, formats) are the cases that are not done.  States whose matrix has other
    zeros are left out.
    """
    found: dict[int, list[dict[str, Any]]] = {}
    block = max(1, BODIES // prepared.system.tree.n)
    for at in range(0, len(numbers), block):
        part = slice(at, at + block)
        found |= _together(settings, prepared, numbers[part], wanted[part])
    return found


def _together(
    settings: Settings, prepared: Prepared, numbers: Sequence[int], wanted: NDArray[np.bool_]
) -> dict[int, list[dict[str, Any]]]:
    assert prepared.ranges is not None
    entries = entries_at(prepared.system, prepared.ranges, settings.seed, numbers)
    fit = held(prepared.system.pattern, entries)
    entries = Entries(*(getattr(entries, entry.name)[fit] for entry in fields(entries)))
    numbers, wanted = np.asarray(numbers)[fit].tolist(), wanted[fit]
    shared = prepared.sizes
    chosen = [get_format(name) for name in settings.formats]
    found: list[list[dict[str, Any]]] = [
        [dict(shared) for _ in settings.orders for _ in chosen] for _ in numbers
    ]
    truths, equations = {}, {}

    @cache
    def system_of(i: int) -> System:
        assert prepared.ranges is not None
        return system_at(prepared.system, prepared.ranges, settings.seed, numbers[i])

    asked = None if all_resist(prepared.system.tree, DOUBLE) else system_of
    if settings.runs:
        traced = [isinstance(prepared.orders[name], TracedOrder) for name in settings.orders]
        needed = np.asarray(wanted[:, traced].any(axis=1))
        proof = prepared.proof.values_of(entries)
        least = least_sizes(prepared.system, entries)
        for f, format in enumerate(chosen):
            equations[f] = Equations.of(prepared.system.tree, entries, format, prepared.system.structure.ties)
            truths[f] = prepared.proof.truth(format, proof, least, needed[:, f])
    for o, name in enumerate(settings.orders):
        places = slice(o * len(chosen), (o + 1) * len(chosen))
        at = prepared.orders[name]
        if isinstance(at, str):
            for own in found:
                for case in own[places]:
                    case["failed_at"] = at
            continue
        for order, states in _tapes(settings, prepared, at, name, entries, numbers):
            values = order.values_of(entries)
            for f, format in enumerate(chosen):
                cases = [own[places][f] for own in found]
                for i in states:
                    cases[i] |= order.costs
                if settings.runs:
                    here = states[wanted[states, o, f]]
                    _answers(order, format, values, truths[f], equations[f], here, cases, asked)
    return dict(zip(numbers, found, strict=True))


def _tapes(
    settings: Settings,
    prepared: Prepared,
    order: TracedOrder,
    name: str,
    entries: Entries,
    numbers: Sequence[int],
) -> Iterator[tuple[TracedOrder, NDArray[np.int64]]]:
    """The tapes that the states take, and the states that take each."""
    states: dict[Any, list[int]] = {}
    for i, rows in enumerate(order.turned(entries.S)):
        states.setdefault(rows, []).append(i)
    for rows, here in states.items():
        at = order
        if rows and prepared.ranges is not None:
            system = system_at(prepared.system, prepared.ranges, settings.seed, numbers[here[0]])
            at = order.fitting(name, system)
        yield at, np.array(here, dtype=np.int64)


def _answers(
    order: TracedOrder,
    format: Format,
    values: NDArray,
    truth: Truth,
    equations: Equations,
    wanted: NDArray[np.int64],
    cases: list[dict[str, Any]],
    system_of: Callable[[int], System] | None,
) -> None:
    """What is measured of an order in a format goes into the cases of the states wanted."""
    for i in wanted[~truth.known[wanted]]:
        cases[i]["failed_at"] = why(truth, i, format)
    here = wanted[truth.known[wanted]]
    if len(here):
        errors_of = partial(truth.errors, here)
        told = measured(order, format, values[here], equations, here, errors_of, system_of)
        for i, one in zip(here, told, strict=True):
            cases[i] |= one


def why(truth: Truth, i: int, chosen: Format) -> str:
    """Why the i-th state has no reference."""
    return WHY[SINGULAR] if truth.whole[i] else f"the data of equation (4) overflow {chosen.name}"


def measured(
    order: TracedOrder,
    chosen: Format,
    values: NDArray,
    equations: Equations,
    here: NDArray[np.int64],
    errors_of: Callable[[NDArray], NDArray],
    system_of: Callable[[int], System] | None,
) -> list[dict[str, Any]]:
    """What is measured of an order's answers in k states (:meth:`..traced.TracedOrder.answers`).

    ``errors_of`` gives their errors (k,), of derivatives those of each field (k, fields), and
    ``system_of`` (4) in one of the states ``here``, None where it is singular in none.
    """
    found = order.answers(chosen, values, equations, here, lambda x: order.judged(errors_of(x)), system_of)
    each: list[dict[str, Any]] = [{} for _ in here]
    if order.quantity == "derivatives":
        each = [
            {
                f"digits_{name}": digits_of(x, chosen)
                for name, x in zip(FIELDS[order.quantity], own, strict=True)
            }
            for own in errors_of(found.found).tolist()
        ]
    return [
        {"failed_at": said.failed_at}
        if said.failed_at is not None
        else {
            "failed_at": None,
            "error": error,
            "digits": digits_of(error, chosen),
            "backward_error": left,
            "marked": said.marked,
            **own,
        }
        for error, left, said, own in zip(
            found.errors.tolist(), found.left.tolist(), found.said, each, strict=True
        )
    ]
