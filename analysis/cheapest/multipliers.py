"""Where multipliers stand in orders of the family: before all bodies, at their loop's end, or last.

An order that does not name multipliers has them last; a loop's end is after the last bracket of the
bodies on its path, where the multipliers can be eliminated whatever their compliance; soft ones may
come before all bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

from pivotree.kkt import PivotreeError, PivotSequence, Rules, Structure
from pivotree.kkt.model.spatial import paths

from .operations import Meter
from .places import uniform

TREES = 4  # cheapest orders of the tree whose multipliers are placed
FIRST, CLOSED, LAST = "before all bodies", "at its loop's end", "last"
Counted = tuple[int, PivotSequence]


def with_multipliers(
    tree: Sequence[Counted],
    structure: Structure,
    meter: Meter,
    updates: Sequence[str],
    tick: Callable[[str], None],
) -> list[Counted]:
    """Orders of the tree, cheapest first, ABM and CRBM, with the multipliers of each loop placed.

    One loop after another goes to its cheapest place, while the others stay where they are.  The
    search starts with all multipliers last, and again with all at their loops' ends.
    """
    starts = [sequence for _, sequence in tree[:TREES]]
    for update in updates:
        rules = Rules(rank_update=update)
        for height, after in ((1, False), (structure.n + 1, True)):
            starts.append(uniform(structure, height, after).sequence(structure, rules)[0])
    found: dict[int, Counted] = {}
    for i, sequence in enumerate(starts):
        tick(f"placing multipliers, {i + 1} of {len(starts)}")
        for place in (LAST, CLOSED):
            where = dict.fromkeys(structure.constraints, place)
            best = _counted(sequence, structure, meter, where, found)
            for name in structure.constraints:
                for other in _places(structure, name):
                    moved = where | {name: other}
                    flops = _counted(sequence, structure, meter, moved, found)
                    if flops < best:
                        best, where = flops, moved
    return list(found.values())


def placed(sequence: PivotSequence, structure: Structure, where: Mapping[Hashable, str]) -> PivotSequence:
    """The order of a tree with its multipliers where they are said to stand."""
    at: dict[int, list[list[tuple[str, Hashable]]]] = {}
    for name, place in where.items():
        if place != LAST:
            at.setdefault(_after(sequence, structure, name, place), []).append([("lam", name)])
    groups = list(at.get(-1, ()))
    for i, group in enumerate(sequence.groups):
        groups += [list(group), *at.get(i, ())]
    return replace(sequence, groups=groups)


def _after(sequence: PivotSequence, structure: Structure, name: Hashable, place: str) -> int:
    """The group that the multipliers follow; -1 where they come first."""
    if place == FIRST:
        return -1
    tie = structure.ties[structure.tie_index[name]]
    loop = {structure.names[k] for k in paths(tie.bodies, structure.parent)}
    return max(i for i, group in enumerate(sequence.groups) if any(b in loop for _, b in group))


def _places(structure: Structure, name: Hashable) -> tuple[str, ...]:
    return (FIRST, CLOSED, LAST) if structure.compliant(name) else (CLOSED, LAST)


def _counted(
    sequence: PivotSequence,
    structure: Structure,
    meter: Meter,
    where: Mapping[Hashable, str],
    found: dict[int, Counted],
) -> float:
    """Operations, counted once; infinite where this robot refuses the order."""
    order = placed(sequence, structure, where)
    key = hash((order.rules, tuple(tuple(map(tuple, group)) for group in order.groups)))
    if key not in found:
        try:
            found[key] = int(meter.groups(order).sum()), order
        except PivotreeError:
            return float("inf")
    return found[key][0]
