"""A model of a sweep, built and traced once for all of its states."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from pivotree import orderings
from pivotree.kkt import LoopError, OrderError, PivotreeError, SingularError, SizeError, System, build, trace
from pivotree.kkt.tape.inputs import near_centres
from pivotree.kkt.tape.trace import structurally_singular, unphysical
from pivotree.kkt.theorem.ranges import Ranges

from ..states.sample import drawn_system
from ..states.traced import KEPT, TracedOrder
from .models import Model
from .settings import Settings

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
        return {"bodies": self.system.tree.n, "dof": int(self.system.tree.offset[-1])}


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
        raise PivotreeError(refused)
    return Prepared(system, ranges, orders)
