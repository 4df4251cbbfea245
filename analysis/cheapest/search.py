"""The cheapest order for a robot, by operations.

The search covers the orders of :mod:`analysis.cheapest.dynamic`, with rank updates (c c^T)/d and
(c/d) c^T, and all registered orders, so that the result is never worse than the best of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pivotree import kkt
from pivotree.kkt import Matrix, OrderError, PivotreeError, PivotSequence, Rules, System
from pivotree.kkt.base.shown import Tabled
from pivotree.kkt.order.sequence import as_sequence
from pivotree.orderings.catalogue import ORDERS, names

from .dynamic import Dynamic, Meter
from .matrices import cheapest

SUBSETS = 6  # joints up to which the dynamic program eliminates any subset of those that wait
WIDTH = 6  # joints that may wait in a larger tree
UPDATES = ("gain", "outer")


@dataclass(frozen=True)
class Ranked:
    """One order and what it costs."""

    name: str
    sequence: PivotSequence
    flops: int  # operations


@dataclass(frozen=True, repr=False)
class SearchResult(Tabled):
    """The cheapest order that was found.

    >>> found = pt.search(pt.chain(2))
    >>> found.cost, found.best.name
    (119, 'crbm')
    """

    composites: str  # how composite inertias are formed and counted, as in kkt.PivotSequence
    best: Ranked
    searched: str  # what was searched, in words
    counted: int  # orders whose cost was counted
    ranking: tuple[Ranked, ...]  # cheapest first: the winner, the registered orders, the runners-up
    shown: ClassVar[tuple[str, ...]] = ("order", "flops")

    def facts(self) -> dict[str, Any]:
        return {"name": self.best.name, "operations": self.cost, "orders": self.counted}

    def records(self) -> list[dict[str, Any]]:
        return [{"order": one.name, "flops": one.flops} for one in self.ranking]

    @property
    def sequence(self) -> PivotSequence:
        """The winner, usable wherever an order is."""
        return self.best.sequence

    @property
    def cost(self) -> int:
        """Operations of the winner."""
        return self.best.flops

    def as_json(self) -> dict[str, Any]:
        """The winner as an order file, for ``--order FILE.json`` and :func:`orderings.get`."""
        return exported(self.sequence) | {"cost": "flops", "value": self.cost, "composites": self.composites}


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
    *,
    composites: str = "counted",
    most: int = 60,
    progress: Callable[[str], None] = lambda text: None,
) -> SearchResult:
    """The cheapest order for a tree (or a :class:`kkt.System`), or for a matrix of one's own.

    Costs are operations from the entries of (4) to qdd with this robot's zeros and ones folded away.

    Inertias behind which no joint is eliminated are counted as ten numbers, and with ``composites``
    "rigid" formed so; the costs are those of ``kkt.trace(system, order, composites)``.  At most
    ``most`` orders are counted for each form of the rank updates.  Multipliers of loops and contacts
    stand last, and soft ones before all bodies, too.  Raises OrderError for other numbers and
    composites, and where no order is for this robot.

    >>> found = pt.search(pt.chain(3))
    >>> found.cost, min(row.flops for row in found.ranking if row.name == "abm")
    (277, 456)
    """
    if not (isinstance(most, int) and most >= 1):
        raise OrderError("search", f"most is {most!r}", "give a whole number, at least 1")
    if composites not in ("counted", "general", "rigid"):
        raise OrderError("search", f"composites is {composites!r}", "use counted, general or rigid")
    if isinstance(model, Matrix):
        rows, words = cheapest(model, most, progress)
        ranked = _ranked([Ranked(*row) for row in rows])
        return SearchResult("counted", ranked[0], words, len(rows), tuple(ranked))
    system = model if isinstance(model, System) else kkt.build(model)
    meter = Meter(system, composites)
    found, words = _family(system, meter, most, progress)
    tried = [*found, *_registered(system, meter, progress)]
    ranked = [replace(r, sequence=replace(r.sequence, composites=composites)) for r in _ranked(tried)]
    ranked = _from_the_first_that_runs(ranked, system)
    return SearchResult(composites, ranked[0], words, len(tried), tuple(ranked))


def _family(system: System, meter: Meter, most: int, tick: Callable[[str], None]) -> tuple[list[Ranked], str]:
    """Orders of the tree's family; multipliers of loops come last, or first where they are soft."""
    if not system.loops:
        return _of_tree(system, meter, most, tick)
    bare = kkt.build(system.graph, loops=(), implicit=system.state.step or None)
    tree, words = _of_tree(bare, Meter(bare, meter.composites), most, tick)
    structure, found = system.structure, []
    soft = [[("lam", name)] for name in structure.constraints if structure.compliant(name)]
    for ranked in tree:
        for first in ([], soft) if soft else ([],):
            sequence = replace(ranked.sequence, groups=[*first, *ranked.sequence.groups])
            try:
                flops = int(meter.groups(sequence).sum())
            except PivotreeError:  # an order that these loops do not allow is no rival
                continue
            found.append(Ranked("search", sequence, flops))
    return found, f"{words}; multipliers last" + ", or the soft ones before all bodies" * bool(soft)


def _of_tree(
    system: System, meter: Meter, most: int, tick: Callable[[str], None]
) -> tuple[list[Ranked], str]:
    """Orders of the family that look cheapest, with their operations, and what was searched."""
    structure, tried = system.structure, []
    joints, closed = int((structure.dof > 0).sum()), True
    small = joints <= SUBSETS
    for update in UPDATES:
        rules = Rules(rank_update=update)
        dynamic = Dynamic(structure, meter, rules, joints if small else WIDTH, small)
        closed &= dynamic.run(most, tick) and small
        tried += [Ranked("search", sequence, flops) for flops, sequence in dynamic.tried]
    words = "registered ones and those that dynamic programming proposes: bodies from tip to base, each "
    words += "joint in the bracket of its body or of an ancestor, or after it"
    if closed:
        words += "; it ran to its end: none of the others is cheaper if a step costs what its joints say"
    return tried, words


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
        result.append(Ranked(name, sequence, flops))
    return result


def _ranked(tried: list[Ranked]) -> list[Ranked]:
    """Cheapest first, without repeats."""
    seen: dict[tuple[Any, ...], Ranked] = {}
    for ranked in sorted(tried, key=lambda r: (r.flops, r.name == "search")):
        blocks = tuple(tuple(map(tuple, group)) for group in ranked.sequence.groups)
        seen.setdefault((blocks, ranked.sequence.rules, ranked.sequence.links), ranked)
    return list(seen.values())


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
