"""Digits of qdd by where multipliers stand: the same loops and contacts at several compliances."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt import LoopError, Structure, System
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.model.loops import LoopWarning

from ..study.measure import States, measure, traced_orders
from .row import reference_digits

ORDERS = ("lambda_first", "lambda_first_abm", "crbm", "abm", "square_root_abm")
COMPLIANCES = (1e-2, 1e-4, 1e-6, 1e-8, 0.0)  # [1/kg] or [1/(kg m^2)]
STATES = 8


@dataclass(frozen=True)
class Placement:
    """One order with all rows at one compliance.

    >>> from pivotree.analysis import comparison
    >>> found = comparison.Placement("abm", 1e-2, (2e-6, None, 1e-6))
    >>> found.answers
    [1e-06, 2e-06]
    """

    order: str
    compliance: float
    #: relative error of qdd, one a state; None where there is no answer, and no state where the
    #: order places soft multipliers and these rows are rigid
    errors: tuple[float | None, ...]
    marked: tuple[str | None, ...] = ()  # of these, why they should not be relied on

    @property
    def answers(self) -> list[float]:
        """Errors of the states that have an answer, the smallest first."""
        return sorted(error for error in self.errors if error is not None)

    @property
    def unanswered(self) -> int:
        return len(self.errors) - len(self.answers)


def placements(
    system: System,
    orders: Sequence[str] = ORDERS,
    format: str = "float32",
    *,
    compliances: Sequence[float] = COMPLIANCES,
    states: int = STATES,
    seed: int = 0,
    progress: Callable[[str], None] = lambda step: None,
) -> list[Placement]:
    """Errors of orders against certified solutions, all rows of all loops given one compliance.

    Contacts hold in random states (:mod:`analysis.states`), efforts being the system's own; closed
    loops in the model's own state alone.  Raises LoopError for a system without either, and OrderError
    where abm, the order of the reference, takes none.

    >>> from pivotree.analysis import comparison
    >>> system = pt.build(pt.load("quadruped:feet=4"))
    >>> found = comparison.placements(system, ["abm"], compliances=[1e-2], states=2)
    >>> [(one.order, one.compliance, len(one.errors)) for one in found]
    [('abm', 0.01, 2)]
    """
    if not system.loops:
        raise LoopError(
            "multipliers: closed loops and contacts have some, and this model has neither; hold "
            "bodies with --contact BODY,BODY"
        )
    chosen, found = get_format(format), []
    for compliance in compliances:
        progress(f"compliance {compliance:g}")
        loops = [replace(x, compliance=np.full(x.rows, compliance)) for x in system.loops]
        systems = _states(system, loops, states, seed)
        placed = [o for o in orders if compliance or not _places_soft(o, systems[0].structure)]
        traced = traced_orders(systems[0], dict.fromkeys((*placed, "abm")))
        proof = traced["abm"]
        if isinstance(proof, str):
            raise kkt.OrderError(proof)
        asked = {name: traced[name] for name in placed}
        columns = measure(States.of(systems), asked, proof, [chosen], digits=reference_digits)
        errors = {name: columns.error[:, o, 0].tolist() for o, name in enumerate(placed)}
        marked = {name: tuple(columns.marked[:, o, 0]) for o, name in enumerate(placed)}
        for name in orders:
            own = tuple(None if np.isnan(x) else x for x in errors.get(name, ()))
            found.append(Placement(name, compliance, own, marked.get(name, ())))
    return found


def _states(system: System, loops: list[kkt.Loop], states: int, seed: int) -> list[System]:
    """The model with these loops in random states, or in its own where one of them must close."""
    from ..states import draw, ranges_of

    tau = system.state.tau
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LoopWarning)  # told where the system was built
        if not all(loop.point for loop in loops):
            return [kkt.build(system.graph, loops=loops)]
        ranges = ranges_of(kkt.build(system.graph, loops=()))
        drawn = [draw(ranges, seed, number) for number in range(states)]
        return [kkt.build(system.graph, q, qd, tau, loops=loops) for q, qd, _ in drawn]


def _places_soft(order: str, rigid: Structure) -> bool:
    """Whether an order names multipliers where rows are soft, and none where they are rigid."""
    soft = replace(rigid, ties=tuple(tie._replace(compliant=True) for tie in rigid.ties))
    function = orderings.get(order)

    def named(structure: Structure) -> bool:
        return any(block[0] == "lam" for group in function(structure) for block in group)

    return named(soft) and not named(rigid)
