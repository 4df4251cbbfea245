"""A model of a sweep, built and traced once for all of its states."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pivotree.kkt import PivotreeError, System, build
from pivotree.kkt.theorem.ranges import Ranges

from ..states.sample import drawn_system
from ..states.traced import TracedOrder
from .models import Model
from .settings import Settings
from .tapes import kept_tapes

if TYPE_CHECKING:
    from ..simulation import Motion


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
