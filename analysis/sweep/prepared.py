"""A model of a sweep, built and traced once for all of its states."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

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

if TYPE_CHECKING:
    from ..simulation import Motion

REFUSED = (LoopError, OrderError, SingularError, SizeError)


class Tapes:
    """Traces orders and keeps them, as long as they need little memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], TracedOrder] = {}

    def orders(
        self, system: System, names: tuple[str, ...], quantity: str = "qdd"
    ) -> dict[str, TracedOrder | str]:
        """An order by its name, or the sentence that refuses it on this model."""
        pattern = fingerprint(system, quantity)
        return {name: self._order(system, name, pattern, quantity) for name in names}

    def _order(self, system: System, name: str, pattern: str, quantity: str) -> TracedOrder | str:
        known = self.kept.get((name, pattern))
        try:
            if known is None:
                known = TracedOrder(trace(system, orderings.get(name)), system, quantity)
                self._keep((name, pattern), known)
            else:  # what a trace refuses for the sake of the model's numbers
                unphysical(known.tape.program, system)
                structurally_singular(known.tape, system)
        except REFUSED as error:
            return error.why
        return known

    def _keep(self, key: tuple[str, str], order: TracedOrder) -> None:
        size = sum(o.size for o in [order, *self.kept.values()])
        if size > KEPT:
            self.kept.clear()
        self.kept[key] = order


@lru_cache(maxsize=1)
def kept_tapes() -> Tapes:
    """The tapes that this process keeps."""
    return Tapes()


def fingerprint(system: System, quantity: str = "qdd") -> str:
    """Everything that a tape is made from: equal for systems whose tapes are equal."""
    tree, pattern = system.tree, system.pattern
    parts: list[Any] = [tree.parent, tree.dof, near_centres(tree, pattern), *system.state.S]
    parts += list(vars(pattern).values())
    found = sha256(repr((tree.names, system.structure.ties)).encode())
    if quantity != "qdd":  # derivatives take more of a model than (4) does
        found.update(repr((quantity, tree.joint, system.loops)).encode())
        parts += [tree.gravity, *(() if tree.terms is None else vars(tree.terms).values())]
    for array in map(np.ascontiguousarray, parts):
        found.update(f"{array.shape} {array.dtype}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


class Prepared(NamedTuple):
    """A model ready to be measured in any state."""

    model: Model
    system: System
    ranges: Ranges | None  # None where the state is the model's own
    orders: dict[str, TracedOrder | str]  # or why the model rules it out; {} if none is asked
    motions: dict[tuple[str, str], Motion | str]  # kernels by order and format, as they are made

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
    orders: dict[str, TracedOrder | str] = {}
    if settings.eliminates:
        orders = kept_tapes().orders(
            model.written(system), tuple(dict.fromkeys((*settings.orders, "abm"))), settings.quantity
        )
        if isinstance(refused := orders["abm"], str):
            raise PivotreeError(refused)
    return Prepared(model, system, ranges, orders, {})
