"""The cheapest order for a robot, by operations or digits.

The search covers the orders of :mod:`analysis.cheapest.places`, with rank updates (c c^T)/d and
(c/d) c^T, and all registered orders, so that the result is never worse than the best of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pivotree import kkt
from pivotree.kkt import LoopError, OrderError, PivotreeError, PivotSequence, Rules, System
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.base.errors import nearest
from pivotree.kkt.order.sequence import as_sequence
from pivotree.orderings.catalogue import ORDERS, names

from ..states import ranges_of
from ..states.traced import TracedOrder
from ..study.measure import OK, States, measure
from .dynamic import Dynamic
from .operations import Meter
from .places import count, every

COSTS = ("flops", "digits")
FEW = 400  # orders of the family that are all counted, for each of the two rank updates
SUBSETS = 6  # joints up to which the dynamic program eliminates any subset of those that wait
WIDTH = 6  # joints that may wait in a larger tree
UPDATES = ("gain", "outer")


@dataclass(frozen=True)
class Ranked:
    """One order and what it costs."""

    name: str
    sequence: PivotSequence
    cost: float  # in the unit of the search
    flops: int  # operations


@dataclass(frozen=True)
class SearchResult:
    """The cheapest order that was found.

    >>> found = pt.search(pt.chain(2))
    >>> found.best.cost, found.exact
    (119, True)
    """

    cost_is: str  # flops or digits
    composites: str  # how composite inertias are formed and counted, as in kkt.PivotSequence
    best: Ranked
    exact: bool  # all orders of the family were counted
    searched: str  # what was searched, in words
    counted: int  # orders whose cost was counted
    ranking: tuple[Ranked, ...]  # cheapest first: the winner, the registered orders, the runners-up

    @property
    def sequence(self) -> PivotSequence:
        """The winner, usable wherever an order is."""
        return self.best.sequence

    @property
    def cost(self) -> float:
        return self.best.cost

    def as_json(self) -> dict[str, Any]:
        """The winner as an order file, for ``--order FILE.json`` and :func:`orderings.get`."""
        return exported(self.sequence) | {
            "cost": self.cost_is,
            "value": self.cost,
            "composites": self.composites,
        }


def exported(sequence: PivotSequence) -> dict[str, Any]:
    """A sequence as the JSON object that :func:`orderings.get` reads."""
    groups = [
        [[block[0], _text(block[1])] if isinstance(block, tuple) else block for block in group]
        for group in sequence.groups
    ]
    rules = {k: v for k, v in vars(sequence.rules).items() if v != getattr(Rules(), k)}
    return {"name": sequence.name, "links": sequence.links, "rules": rules, "groups": groups}


def _text(body: Any) -> Any:
    """A body's name as JSON has it; numbers stay numbers, pairs are their text."""
    return body if isinstance(body, str | int) else str(body)


def search(
    model: Any,
    cost: str = "flops",
    *,
    composites: str = "counted",
    format: str = "float32",
    states: int = 5,
    most: int = 60,
    tick: Callable[[str], None] = lambda text: None,
) -> SearchResult:
    """The cheapest order for a tree (or a :class:`kkt.System`).

    ``cost`` is "flops", operations from the entries of (4) to qdd with this robot's zeros and ones
    folded away; or "digits", the largest error of qdd in ``format`` over ``states`` random states,
    which is measured on the cheapest by operations and on the registered orders.

    Inertias behind which no joint is eliminated are counted as ten numbers, and with ``composites``
    "rigid" formed so; the costs are those of ``kkt.trace(system, order, composites)``.  At most
    ``most`` orders are counted for each form of the rank updates where there are too many to count
    all.  Multipliers of loops and contacts stand last, and soft ones before all bodies, too.  Raises
    OrderError for an unknown cost.

    >>> found = pt.search(pt.chain(3), "flops")
    >>> found.best.cost, min(row.cost for row in found.ranking if row.name == "abm")
    (277, 456)
    """
    if cost not in COSTS:
        raise OrderError(f"search: cost is {cost!r}; {nearest(str(cost), COSTS)}")
    for name, number in (("states", states), ("most", most)):
        if not (isinstance(number, int) and number >= 1):
            raise OrderError(f"search: {name} is {number!r}; give a whole number, at least 1")
    if composites not in ("counted", "general", "rigid"):
        raise OrderError(f"search: composites is {composites!r}; use counted, general or rigid")
    get_format(format)  # or refused
    system = model if isinstance(model, System) else kkt.build(model)
    meter = Meter(system, composites)
    family = _family(system, meter, most, tick)
    registered = _registered(system, meter, tick)
    tried = [*family.tried, *registered]
    ranked = _ranked(tried, cost, system, composites, format, states, tick)
    ranked = [replace(r, sequence=replace(r.sequence, composites=composites)) for r in ranked]
    ranked = _from_the_first_that_runs(ranked, system)
    return SearchResult(
        cost, composites, ranked[0], family.exact and cost == "flops", family.words, len(tried), tuple(ranked)
    )


@dataclass(frozen=True)
class _Family:
    tried: list[Ranked]
    exact: bool
    words: str


def _family(system: System, meter: Meter, most: int, tick: Callable[[str], None]) -> _Family:
    """Orders of the tree's family; multipliers of loops come last, or first where they are soft."""
    if not system.loops:
        return _of_tree(system, meter, most, tick)
    bare = kkt.build(system.graph, loops=(), implicit=system.state.step or None)
    tree = _of_tree(bare, Meter(bare, meter.composites), most, tick)
    structure, found = system.structure, []
    soft = [[("lam", name)] for name in structure.constraints if structure.compliant(name)]
    for ranked in tree.tried:
        for first in ([], soft) if soft else ([],):
            sequence = replace(ranked.sequence, groups=[*first, *ranked.sequence.groups])
            try:
                flops = int(meter.groups(sequence).sum())
            except PivotreeError:  # an order that these loops do not allow is no rival
                continue
            found.append(Ranked("search", sequence, flops, flops))
    words = f"{tree.words}; multipliers last" + ", or the soft ones before all bodies" * bool(soft)
    return _Family(found, False, words)


def _of_tree(system: System, meter: Meter, most: int, tick: Callable[[str], None]) -> _Family:
    """Orders of the family with their operations: all of them, or those that look cheapest."""
    structure, tried = system.structure, []
    joints, closed = int((structure.dof > 0).sum()), True
    exact = count(structure) << joints <= FEW
    for update in UPDATES:
        rules = Rules(rank_update=update)
        if exact:
            counted = []
            for places in every(structure):
                sequence, _ = places.sequence(structure, rules)
                counted.append((int(meter.groups(sequence).sum()), sequence))
        else:
            small = joints <= SUBSETS
            dynamic = Dynamic(structure, meter, rules, joints if small else WIDTH, small)
            closed &= dynamic.run(most, tick) and small
            counted = dynamic.tried
        tried += [Ranked("search", s, flops, flops) for flops, s in counted]
    what = "each joint at its body or any ancestor, in or after that body's bracket, tip to base"
    if exact:
        return _Family(tried, True, f"all of {what}")
    words = f"a part of {what}, by dynamic programming"
    if closed:
        words += " to its end: none of the others is cheaper if a step costs what its joints say"
    return _Family(tried, False, words)


def _registered(system: System, meter: Meter, tick: Callable[[str], None]) -> list[Ranked]:
    """Every registered order that this robot and the counter take."""
    result = []
    for name in names():
        tick(f"counting {name}")
        try:
            sequence = as_sequence(ORDERS[name], system.structure)
            rotated = sequence.rules.elimination == "orthogonal"
            if rotated or sequence.links != "whole":
                flops = kkt.trace(system, sequence, meter.composites).flops
            else:
                flops = int(meter.groups(sequence).sum())
        except PivotreeError:  # an order that this robot does not allow is no rival
            continue
        result.append(Ranked(name, sequence, flops, flops))
    return result


def _ranked(
    tried: list[Ranked],
    cost: str,
    system: System,
    composites: str,
    format: str,
    states: int,
    tick: Callable[[str], None],
) -> list[Ranked]:
    """Cheapest first, without repeats; digits are measured on those that may win."""
    seen: dict[tuple[Any, ...], Ranked] = {}
    for ranked in sorted(tried, key=lambda r: (r.flops, r.name == "search")):
        blocks = tuple(tuple(map(tuple, group)) for group in ranked.sequence.groups)
        seen.setdefault((blocks, ranked.sequence.rules, ranked.sequence.links), ranked)
    found = list(seen.values())
    if cost == "flops":
        return found
    several = [r for r in found if r.name == "search"][:6]
    several += [r for r in found if r.name != "search"]
    tapes = []
    for r in tuple(several):
        try:
            tapes.append(kkt.trace(system, r.sequence, composites))
        except PivotreeError:
            several.remove(r)
    costs = errors(system, tapes, format, states, tick)
    measured = [
        Ranked(r.name, r.sequence, c, r.flops) for r, c in zip(several, costs, strict=True) if np.isfinite(c)
    ]
    if not measured:
        raise OrderError(f"search: no order solves this robot in {format}; use a longer format")
    return sorted(measured, key=lambda r: (r.cost, r.flops))


def _from_the_first_that_runs(ranked: list[Ranked], system: System) -> list[Ranked]:
    """The ranking from its first order on whose pivots this robot's inertias allow."""
    refused = []
    for i, first in enumerate(ranked):
        try:
            kkt.trace(system, first.sequence)
        except PivotreeError as error:
            refused.append(error)
        else:
            return ranked[i:]
    raise refused[0]


def errors(
    system: System,
    tapes: list[Any],
    format: str,
    states: int,
    tick: Callable[[str], None] = lambda text: None,
) -> list[float]:
    """Largest error of qdd of each tape over random states; infinite where one fails.

    States are those of a report, seed 0; a robot whose loops close in no random state is measured
    in its own.
    """
    tick(f"digits in {states} states")
    try:
        ranges = ranges_of(system)
        here = States.drawn(system, ranges, 0, range(states))
    except LoopError:
        here = States.of([system])
    orders = {f"{i}": TracedOrder(tape, system) for i, tape in enumerate(tapes)}
    proof = TracedOrder(kkt.trace(system, ORDERS["abm"]), system)
    found = measure(here, orders, proof, [get_format(format)])
    return np.where(found.failed == OK, found.error, np.inf)[..., 0].max(axis=0).tolist()
