"""A piece of work done: one model in some states, every order in every format, row by row."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kkt import (
    CertificationError,
    PivotreeError,
    SizeError,
    System,
    build,
    certify,
    conditioning,
)
from kkt.arithmetic import Format, get_format
from kkt.elimination.run import signed

from ..comparison import REFERENCE_DIGITS, digits_of
from ..report.measure import SINGULAR, WHY, Pair
from ..report.sample import Ranges, draw, ranges_of, system_at
from .cases import Task
from .config import Settings
from .models import Model
from .tapes import Order, Tracer, tracer
from .together import together

Row = tuple[Any, ...]


class Exact(Protocol):
    """What errors are held against."""

    def error(self, qdd: NDArray) -> Any: ...


class Bench(NamedTuple):
    """A model ready to be measured in any state."""

    system: System
    ranges: Ranges | None  # None where the state is the model's own
    proof: Order  # of the reference: leaf to root
    orders: dict[str, Order | str]  # or why the model rules it out
    tracer: Tracer


def measure(task: Task) -> list[Row]:
    """The rows of a piece of work, in the sequence of its cases; the columns are the settings'."""
    settings = task.settings
    try:
        bench: Bench | str = bench_of(settings, task.model)
    except PivotreeError as error:  # of a model that cannot be: every case says so
        bench = " ".join(str(error).split())
    each = len(settings.orders) * len(settings.formats)
    states = {
        task.first + i: keys
        for i in range(len(task.keys) // each)
        if any(keys := task.keys[i * each : (i + 1) * each])
    }
    known: dict[int, list[dict[str, Any]]] = {}
    if not isinstance(bench, str) and settings.together:
        missing = np.array([[key is not None for key in keys] for keys in states.values()])
        shape = (-1, len(settings.orders), len(settings.formats))
        known = together(settings, bench, list(states), missing.reshape(shape))
    rows: list[Row] = []
    for number, keys in states.items():
        if isinstance(bench, str):
            found = [{"failed_at": bench}] * each
        else:
            found = known.get(number) or one(settings, bench, number, keys)
        rows += _rows(task, number, keys, found)
    return rows


def _rows(task: Task, number: int, keys: tuple[str | None, ...], found: list[dict]) -> list[Row]:
    settings, values = task.settings, dict(task.model.values)
    cases = [(order, format) for order in settings.orders for format in settings.formats]
    rows = []
    for key, case, measured in zip(keys, cases, found, strict=True):
        if key is None:
            continue
        head = (key, task.model.text, *map(values.get, settings.ranges), *case)
        tail = (number, settings.seed, *map(measured.get, settings.measures))
        rows.append(head + tail)
    return rows


@lru_cache(maxsize=1)
def bench_of(settings: Settings, model: Model) -> Bench:
    """Built and traced once for all of a model's pieces that this process meets.

    Traced in a random state where states are drawn: no coordinate makes a zero of the matrix.
    """
    tree = model.tree()
    system, ranges = build(tree), None
    if settings.random:
        system.structure.require_tree("a sweep over random states, in which loops would be open,")
        ranges = ranges_of(system)
        system = build(tree, *draw(ranges, settings.seed, 0)[:2])
    orders = tracer().orders(system, tuple(dict.fromkeys((*settings.orders, "abm"))))
    proof = orders["abm"]
    if isinstance(proof, str):
        raise PivotreeError(proof)
    return Bench(system, ranges, proof, orders, tracer())


def one(
    settings: Settings, bench: Bench, number: int, keys: tuple[str | None, ...]
) -> list[dict[str, Any]]:
    """What is measured of each case of one state, orders x formats; nothing where it is done."""
    system = bench.system
    if bench.ranges is not None:
        system = system_at(system, bench.ranges, settings.seed, number)
    proof = bench.tracer.fitting(bench.proof, "abm", system)
    shared = _of_state(settings, system, proof)
    exact: dict[str, Exact | str] = {}
    found: list[dict[str, Any]] = [{} for _ in keys]
    place = -1
    for name in settings.orders:
        order = bench.orders[name]
        if not isinstance(order, str):
            order = bench.tracer.fitting(order, name, system)
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
            qdd, here["failed_at"] = order.answer(chosen, chosen.cast(values))
            if here["failed_at"] is None:
                error = float(np.max(truth.error(qdd), initial=0.0))
                here |= {"error": error, "digits": digits_of(error, chosen)}
    return found


def reference(kind: str, system: System, proof: Order, chosen: Format) -> Exact | str:
    """The answer for the data rounded to a format, proved or in double-double, or why none is."""
    if kind == "certified":
        digits = max(REFERENCE_DIGITS, 10 - round(math.log10(chosen.unit)))
        try:
            return certify(system, digits, rounded_to=chosen, tape=proof.tape)
        except CertificationError as error:
            return " ".join(str(error).split())
    values = chosen.cast(proof.values(system))
    if not np.isfinite(values).all():
        return f"the data of equation (4) overflow {chosen.name}"
    v = proof.run(get_format("dd"), values)
    found = Pair(signed(v.real, proof.qdd), signed(v.imag, proof.qdd))
    return found if np.isfinite(found.high).all() else WHY[SINGULAR]


def _of_state(settings: Settings, system: System, proof: Order) -> dict[str, Any]:
    """What does not depend on the order nor on the format."""
    found: dict[str, Any] = {"bodies": system.tree.n, "dof": int(system.tree.offset[-1])}
    if {"kappa", "kappa_inertia"} & set(settings.measures):
        try:
            condition = conditioning(system, proof.tape)
        except (SizeError, CertificationError):  # too large for it, or float64 too short
            return found
        kappas = {"kappa": condition.kappa, "kappa_inertia": condition.kappa_inertia}
        found |= {name: x if math.isfinite(x) else None for name, x in kappas.items()}
    return found
