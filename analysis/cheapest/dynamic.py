"""Dynamic programming over the tree: which joints wait at each body, and what a body's step costs.

The cost of a body's groups depends on the joints that wait when it is reached, on those that it
eliminates, and on the bracket; not on how they came to wait.  The cheapest order is therefore found
from the tips down, one state for each set of waiting joints.  Costs come from the engine: an order
that is counted gives the cost of one step of every body at once.  A step that is not known yet is
taken to cost as much as the cheapest known step of its body, and by turns nothing at all, so that
the program asks for it where it might win.  The zeros that a step meets may depend on more than the
joints that wait, so that this is a search and no proof.

Bodies go tip to base, each as the pair (pdd_k, f_k).  The joint of body k is eliminated at its
place, which is body k or any of its ancestors; the root comes at the end.  The joints of one place
go together, inside the bracket of that body or in a bracket of their own after it.  ABM has
every joint at its own body, in the bracket; CRBM every joint at the root, after it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import PivotSequence, Rules, Structure, System, plan, symbolic
from pivotree.kkt.program.tracer import as_counted, program_of
from pivotree.kkt.tape.inputs import InputSlots
from pivotree.kkt.tape.lowering import Known, Patterns


class Meter:
    """Counts operations of sequences on one system, as ``kkt.trace(system, order, composites).flops``.

    No tape is written, and operations are counted by group, so that counts of one order serve the next.
    """

    def __init__(self, system: System, composites: str) -> None:
        self.system = system
        self.composites = composites
        tree = system.tree
        self.inputs: InputSlots = InputSlots(
            system.pattern, tree.names, tree.parent, tree.dof, system.state.S, ties=system.structure.ties
        )
        self._known = {gain: Known() for gain in (False, True)}  # templates, by the way of rank updates

    def groups(self, sequence: PivotSequence) -> NDArray[np.int64]:
        """(groups,) operations of each group, forward and backward."""
        sequence = replace(sequence, composites=self.composites)
        program = as_counted(program_of(symbolic(plan(sequence, self.system.structure))))
        return Patterns(program, self.inputs, self._known[program.gain]).work()[:-1]


@dataclass(frozen=True)
class Places:
    """One order of the family."""

    at: tuple[int, ...]  # (n,) body at which the joint of each body is eliminated; -1: no joint
    after: tuple[bool, ...]  # (n,) the joints at this body follow its bracket

    def joints(self, structure: Structure) -> dict[int, list[int]]:
        """Joints that are eliminated at each body, tip to base."""
        result: dict[int, list[int]] = {int(k): [] for k in structure.order}
        for k in structure.order.tolist():
            if self.at[k] >= 0:
                result[self.at[k]].append(k)
        return result

    def sequence(
        self, structure: Structure, rules: Rules, name: str = "search"
    ) -> tuple[PivotSequence, list[int]]:
        """The sequence of pivots, and the body that each of its groups belongs to."""
        groups: list[list[tuple[str, Hashable]]] = []
        owner: list[int] = []
        names = structure.names
        for k, joints in self.joints(structure).items():
            pair = [("pdd", names[k]), ("f", names[k])]
            eliminated = [("qdd", names[j]) for j in joints]
            parts = [pair, eliminated] if self.after[k] else [pair + eliminated]
            parts = [part for part in parts if part]
            groups += parts
            owner += [k] * len(parts)
        source = "the cheapest of a search over places of joints"
        return PivotSequence(groups, name=name, source=source, rules=rules), owner


def uniform(structure: Structure, height: int, after: bool, rest: bool = False) -> Places:
    """Composites of ``height`` joints from the tips, their joints eliminated there, then ABM.

    With ``rest`` the joints above are eliminated after their bodies' brackets, not inside them.
    """
    n, parent, dof = structure.n, structure.parent, structure.dof
    high = [0] * n
    waiting: dict[int, list[int]] = {k: [] for k in range(n)}
    at, follows = [-1] * n, [False] * n
    for k in structure.order.tolist():
        if dof[k]:
            high[k] += 1
            waiting[k].append(k)
        up = int(parent[k])
        if high[k] >= height or up < 0:
            follows[k] = after if len(waiting[k]) > 1 or up < 0 else rest
            for j in waiting[k]:
                at[j] = k
        else:
            waiting[up] += waiting[k]
        if up >= 0:
            high[up] = max(high[up], high[k])
    return Places(tuple(at), tuple(follows))


TRUST = (1.0, 0.0)  # factors of the cost that is assumed for a step that is not known
Joints = frozenset[int]
Step = tuple[int, Joints, Joints, bool]  # body, waiting, eliminated, after the bracket


class _Best(NamedTuple):
    """The cheapest way to leave a set of joints waiting."""

    cost: int
    eliminated: Joints
    after: bool
    children: tuple[Joints, ...]  # joints that wait behind each child


@dataclass
class Dynamic:
    """The search for one rule of rank updates; ``width`` joints may wait at most.

    With ``subsets`` any of the joints that wait may be eliminated, else all of them or none.
    """

    structure: Structure
    meter: Meter
    rules: Rules
    width: int
    subsets: bool
    known: dict[Step, int] = field(default_factory=dict)
    least: dict[int, int] = field(default_factory=dict)  # known of each body
    tried: list[tuple[int, PivotSequence]] = field(default_factory=list)

    def run(self, most: int, tick: Callable[[str], None]) -> bool:
        """Count at most ``most`` orders, those that look cheapest first.

        Returns True if the search came to its end: even if unknown steps cost nothing, no order
        looks cheaper than those that were counted.
        """
        heights = [1, 2, 3, 4, self.structure.n + 1]
        for height in heights:
            for after, rest in ((True, False), (False, False), (True, True)):
                if len(self.tried) < most:
                    self.measure(uniform(self.structure, height, after, rest))
        seen: set[Places] = set()
        while len(self.tried) < most:
            fresh = False
            for trust in TRUST:
                places = self.cheapest(trust)
                if places not in seen and len(self.tried) < most:
                    fresh = True
                    seen.add(places)
                    self.measure(places)
                    tick(f"{len(self.tried)} orders counted")
            if not fresh:
                return True
        return False

    def measure(self, places: Places) -> int:
        """Count an order of the family, and keep what its steps cost."""
        sequence, owner = places.sequence(self.structure, self.rules)
        counts = self.meter.groups(sequence)
        cost = np.zeros(self.structure.n, dtype=np.int64)
        np.add.at(cost, owner, counts)
        for k, waiting, eliminated in self._walk(places):
            step = (k, waiting, eliminated, places.after[k] and bool(eliminated))
            own = int(cost[k])
            self.least[k] = min(own, self.least.get(k, own))
            self.known[step] = own  # the zeros behind k may depend on more than the step
        total = int(counts.sum())
        self.tried.append((total, sequence))
        return total

    def _walk(self, places: Places) -> Iterator[tuple[int, Joints, Joints]]:
        waiting: dict[int, Joints] = dict.fromkeys(range(self.structure.n), frozenset())
        for k, joints in places.joints(self.structure).items():
            eliminated = frozenset(joints)
            yield k, waiting[k], eliminated
            up, own = int(self.structure.parent[k]), self._own(k)
            if up >= 0:
                waiting[up] |= (waiting[k] | own) - eliminated

    def _own(self, k: int) -> Joints:
        return frozenset([k]) if self.structure.dof[k] else frozenset()

    def cheapest(self, trust: float = 1.0) -> Places:
        """The cheapest order by what is known."""
        tables: dict[int, dict[Joints, _Best]] = {}
        children: dict[int, list[int]] = {k: [] for k in range(self.structure.n)}
        for k in self.structure.order.tolist():
            tables[k] = self._table(k, [tables[c] for c in children[k]], trust)
            up = int(self.structure.parent[k])
            if up >= 0:
                children[up].append(k)
        at, after = [-1] * self.structure.n, [False] * self.structure.n
        roots = [k for k in range(self.structure.n) if self.structure.parent[k] < 0]
        todo = [(k, Joints()) for k in roots]
        while todo:
            k, left = todo.pop()
            best = tables[k][left]
            for j in best.eliminated:
                at[j] = k
            after[k] = best.after
            todo += zip(children[k], best.children, strict=True)
        return Places(tuple(at), tuple(after))

    def _table(self, k: int, below: list[dict[Joints, _Best]], trust: float) -> dict[Joints, _Best]:
        """The cheapest way to leave each set of joints waiting behind body k."""
        met: dict[Joints, tuple[int, tuple[Joints, ...]]] = {Joints(): (0, ())}
        for table in below:
            more: dict[Joints, tuple[int, tuple[Joints, ...]]] = {}
            for waiting, (cost, parts) in met.items():
                for left, best in table.items():
                    both = waiting | left
                    if len(both) <= self.width and (both not in more or cost + best.cost < more[both][0]):
                        more[both] = (cost + best.cost, (*parts, left))
            met = more
        result: dict[Joints, _Best] = {}
        least = int(trust * self.least.get(k, 0))
        for waiting, (cost, parts) in met.items():
            for eliminated in self._choices(k, waiting):
                left = (waiting | self._own(k)) - eliminated
                for after in (False, True) if eliminated else (False,):
                    step = (k, waiting, eliminated, after)
                    total = cost + self.known.get(step, least)
                    if left not in result or total < result[left].cost:
                        result[left] = _Best(total, eliminated, after, parts)
        return result

    def _choices(self, k: int, waiting: Joints) -> Iterator[Joints]:
        every = waiting | self._own(k)
        if self.structure.parent[k] < 0:
            yield every
        elif self.subsets:
            for size in range(len(every) + 1):
                if len(every) - size <= self.width:
                    yield from map(frozenset, combinations(sorted(every), size))
        else:
            yield every
            if every and len(every) <= self.width:
                yield Joints()
