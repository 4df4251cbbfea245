"""Where each joint is eliminated: the family of orders that a search goes through.

Bodies go tip to base, each as the pair (pdd_k, f_k).  The joint of body k is eliminated at its
place, which is body k or any of its ancestors; the root comes at the end.  The joints of one place
go together, inside the bracket of that body or in a bracket of their own after it.  ABM has
every joint at its own body, in the bracket; CRBM every joint at the root, after it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import product

from pivotree.kkt import PivotSequence, Rules, Structure


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


def count(structure: Structure) -> int:
    """How many orders there are in the family, two brackets at every body that eliminates."""
    total = 1
    for k in range(structure.n):
        if structure.dof[k]:
            total *= int(structure.depth[k]) + 1
    return total


def every(structure: Structure) -> Iterator[Places]:
    """All orders of the family: joints at any ancestor, each body's joints in both brackets."""
    parent, n = structure.parent, structure.n
    choices: list[list[int]] = []
    for k in range(n):
        line, above = [], k
        while above >= 0:
            line.append(above)
            above = int(parent[above])
        choices.append(line if structure.dof[k] else [-1])
    for at in product(*choices):
        used = sorted(set(at) - {-1})
        for after in product((False, True), repeat=len(used)):
            follows = dict(zip(used, after, strict=True))
            yield Places(at, tuple(follows.get(k, False) for k in range(n)))
