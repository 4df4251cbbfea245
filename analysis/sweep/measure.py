"""Cases of a sweep and their keys, and a piece of work: one model in some states, row by row."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from pivotree import orderings
from pivotree.kkt import LoopError, OrderError, PivotreeError, SingularError, SizeError, System, build, trace
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.tape.inputs import near_centres
from pivotree.kkt.tape.trace import structurally_singular, unphysical
from pivotree.kkt.theorem.ranges import Ranges

from ..comparison.row import digits_of, finite, known_conditioning
from ..states.sample import drawn_again, drawn_system
from ..states.traced import KEPT, TracedOrder
from ..study import measure as core
from ..study.measure import States
from .config import WHOLE, Config, Settings
from .models import Model

# The edition of Pivotree's arithmetic: rows of two editions never stand in one table.  It is raised by
# one when a change gives any case other bits, operations or fill, or refuses it for another reason:
# another rounding, another program of an order, another reference, another rule on what is an answer,
# other random states; not when a release leaves the numbers alone.  A test holds the numbers of an
# edition against those that were printed with it.
EDITION = 6

ROWS, STATES = 240, 64  # of a piece of work: handing it over costs nothing, and vectors are full


@dataclass(frozen=True)
class Task:
    """One model in some of its states, in all orders and formats but the cases that are done."""

    settings: Settings
    model: Model
    first: int  # state
    keys: tuple[str | None, ...]  # states x orders x formats; None where the case is done


def keys_of(config: Config, model: Model, first: int, states: int) -> list[str]:
    """Keys of a model's cases, states x orders x formats: hashes of what a case is.

    A key says nothing of the place of the case in its sweep, nor of what is measured; before its
    dot stands the edition of Pivotree's arithmetic.
    """
    settings = config.settings
    state = f"random {settings.seed}" if settings.random else "given"
    base = sha256(f"{state}\n{model.digest}\n".encode())
    keys = []
    for number in range(first, first + states):
        for order in config.order_digests:
            for format in settings.formats:
                case = base.copy()
                case.update(f"{number}\n{order}\n{format}".encode())
                keys.append(f"{EDITION}.{case.hexdigest()[:32]}")
    return keys


def positions(config: Config) -> dict[str, int]:
    """Where the row of each key stands in the finished table."""
    at: dict[str, int] = {}
    for model in config.models:
        for key in keys_of(config, model, 0, config.states):
            at[key] = len(at)
    return at


def tasks(config: Config, done: Container[str]) -> Iterator[Task]:
    """What is left to do, in the sequence of the cases."""
    settings = config.settings
    block = max(STATES, ROWS // (len(settings.orders) * len(settings.formats)))
    for model in config.models:
        for first in range(0, config.states, block):
            keys = keys_of(config, model, first, min(block, config.states - first))
            left = tuple(None if key in done else key for key in keys)
            if any(left):
                yield Task(settings, model, first, left)


REFUSED = (LoopError, OrderError, SingularError, SizeError)


@lru_cache(maxsize=1)
def kept_tapes() -> dict[tuple[str, str], TracedOrder]:
    """The tapes that this process keeps, by order and pattern, as long as they need little memory."""
    return {}


def traced(system: System, name: str, pattern: str) -> TracedOrder | str:
    """An order by its name, or the sentence that refuses it on this model, of this :func:`fingerprint`."""
    tapes = kept_tapes()
    try:
        if (known := tapes.get((name, pattern))) is None:
            known = TracedOrder(trace(system, orderings.get(name)), system)
            if sum(order.size for order in (known, *tapes.values())) > KEPT:
                tapes.clear()
            tapes[name, pattern] = known
        else:  # what a trace refuses for the sake of the model's numbers
            unphysical(known.tape.program, system)
            structurally_singular(known.tape, system)
    except REFUSED as error:
        return error.why
    return known


def fingerprint(system: System) -> str:
    """Everything that a tape is made from: equal for systems whose tapes are equal."""
    tree, pattern = system.tree, system.pattern
    parts: list[Any] = [tree.parent, tree.dof, near_centres(tree, pattern), *system.state.S]
    parts += list(vars(pattern).values())
    found = sha256(repr((tree.names, system.structure.ties)).encode())
    for array in map(np.ascontiguousarray, parts):
        found.update(f"{array.shape} {array.dtype}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


class Prepared(NamedTuple):
    """A model ready to be measured in any state."""

    system: System
    ranges: Ranges | None  # None where the state is the model's own
    orders: dict[str, TracedOrder | str]  # or why the model rules it out

    @property
    def proof(self) -> TracedOrder:
        """The order of the reference: abm, leaf to root."""
        proof = self.orders["abm"]
        assert isinstance(proof, TracedOrder)
        return proof

    @property
    def sizes(self) -> dict[str, int]:
        return {"bodies": self.system.tree.n, "dof": self.system.tree.N}


@lru_cache(maxsize=1)
def prepare(settings: Settings, model: Model) -> Prepared:
    """Built and traced once for all of a model's pieces that this process meets.

    Traced in a random state where states are drawn: no coordinate makes a zero of the matrix.
    """
    tree = model.tree()
    system, ranges = drawn_system(tree, settings.seed) if settings.random else (build(tree), None)
    pattern = fingerprint(system)
    names = (*settings.orders, "abm")
    orders = {name: traced(system, name, pattern) for name in names}
    if isinstance(refused := orders["abm"], str):
        raise SingularError(refused)
    return Prepared(system, ranges, orders)


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
    formats, ranges = [get_format(name) for name in settings.formats], prepared.ranges
    orders = {name: prepared.orders[name] for name in settings.orders}
    asked = set(settings.measures)
    found: Cases = {}
    for some in core.blocks(list(states), prepared.system.tree.n):
        if ranges is None:
            here = States.of([prepared.system] * len(some))
        else:
            here = States.drawn(prepared.system, ranges, settings.seed, some)
        missing = np.array([[key is not None for key in states[number]] for number in some])
        cases = core.measure(
            here,
            orders,
            prepared.proof,
            formats,
            wanted=missing.reshape(len(some), len(orders), len(formats)) & settings.runs,
            whole=bool({*WHOLE} & asked),
            condition=_conditions if {*KAPPAS} & asked else None,
        )
        for number, each in zip(some, cases, strict=True):
            shared = dict(prepared.sizes)
            if "drawn_again" in asked and ranges is not None:
                shared["drawn_again"] = drawn_again(ranges, settings.seed, number)
            own = (pair for order in each for pair in zip(order, formats, strict=True))
            found[number] = [shared | case | _digits(case, format) for case, format in own]
    return found


KAPPAS = ("kappa", "kappa_inertia")


def _conditions(system: System, tape: Any) -> dict[str, Any]:
    found = known_conditioning(system, tape)
    return {} if found is None else {x: finite(getattr(found, x)) for x in KAPPAS}


def _digits(case: Mapping[str, Any], format: Format) -> dict[str, Any]:
    """Digits that the errors of a case leave."""
    pairs = (("digits", "error"), ("digits_with_data", "error_with_data"))
    return {digits: digits_of(case.get(error), format) for digits, error in pairs}


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
