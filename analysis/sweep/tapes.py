"""The orders of a model, traced once; models of one pattern share their tapes."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np

from pivotree import orderings
from pivotree.kkt import LoopError, OrderError, SingularError, SizeError, System, trace
from pivotree.kkt.tape.inputs import near_centres
from pivotree.kkt.tape.trace import structurally_singular, unphysical

from ..states.traced import KEPT, TracedOrder

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
