"""Named values of a block program, in families.

The family of a value is its place in the elimination without the bodies, its index the bodies.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from pivotree.kkt.program.program import Place

from .choice import ALWAYS, FORE, Choice, number_of, operand
from .nodes import Family


class Member(NamedTuple):
    """One named value."""

    value: int
    family: Family
    index: tuple[int, ...]  # type: ignore[assignment]
    event: tuple[int, int]  # the pass and the base pivot; -1 before all pivots
    sign: int  # the family's: the value is sign times what is listed
    turned: bool = False  # what is listed is the transposed value


class Members(Choice):
    """Which values are named, by family and index; their signs are still open."""

    def _members(self) -> dict[int, Member]:
        at: dict[Place, list[int]] = defaultdict(list)
        for value in sorted(self.names):
            at[self.place[value]].append(value)
        raw: dict[int, tuple[tuple[Any, ...], tuple[int, ...], tuple[int, int]]] = {}
        pushed = self._pushed()
        for place, values in at.items():
            for later, value in enumerate(reversed(values)):
                made = self.made[value]
                if made.op in ALWAYS:  # belongs to the joint, whoever forms it
                    letter, body = self.made[operand(made, 0).value].info
                    raw[value] = ((made.op, (letter,), False, 0), (body,), (FORE, -1))
                    continue
                event = self._event(place)
                if self._label(place) in pushed:
                    event = self._event(self.place[self._source(value)])
                index = self._bodies(place)
                index = index[::-1] if self._turned(value) else index
                raw[value] = ((*self._label(place), later), index, event)
        return self._distinct(raw)

    def _source(self, value: int) -> int:
        """The value that a copy copies."""
        return self._below(operand(self.made[value], 0).value) if self.made[value].op == "same" else -1

    def _pushed(self) -> set[tuple[Any, ...]]:
        """Labels of entries that one pivot makes whole: they are listed at that pivot."""
        kinds: dict[tuple[Any, ...], bool] = {}
        for value in self.names:
            place = self.place[value]
            if self._label(place)[0] == "entry" and place.blocks[-1] >= 0:
                source = self.place.get(self._source(value))
                one = source is not None and source.label == "update"
                label = self._label(place)
                kinds[label] = kinds.get(label, True) and one and self._single(value)
        return {label for label, one in kinds.items() if one}

    def _single(self, value: int) -> bool:
        """Whether one pivot makes an entry: it is no sum over several."""
        source = self.made[self._source(value)]
        pivot = self.place[source.out].pivot
        return source.op != "add" or all(
            ref is None or self.place[ref.value].pivot == pivot for ref in source.args
        )

    def _turned(self, value: int) -> bool:
        """Whether an entry is listed transposed: of two alike blocks the earlier comes first."""
        place = self.place[value]
        if place.label != "entry" or len(place.blocks) != 2 or place.blocks[1] < 0:
            return False
        i, j = place.blocks
        same = self.kind(i) == self.kind(j)
        return same and self.position[i] > self.position[j]

    def _pivot_body(self, number: int) -> int:
        return number_of(self.structure, self.program.pivots[number].blocks[0])

    def _distinct(self, raw: dict[Any, Any]) -> dict[int, Member]:
        families: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for value, (family, _, _) in raw.items():
            families[family].append(value)
        result: dict[int, Member] = {}
        for family, values in families.items():
            index = {v: raw[v][1] for v in values}
            if len(set(index.values())) < len(values):  # several stages: their pivot tells apart
                index = {v: (*i, self._pivot_body(raw[v][2][1])) for v, i in index.items()}
            times: Counter[tuple[int, ...]] = Counter()
            turn = {}  # how often a place has been before
            for v in sorted(values):
                turn[v] = times[index[v]]
                times[index[v]] += 1
            keep = independent(list(index.values()))
            for v in values:
                short = tuple(index[v][p] for p in keep)
                name = (*family, turn[v]) if turn[v] else family
                result[v] = Member(v, name, short, raw[v][2], 1, self._turned(v))
        return result


def independent(indices: list[tuple[int, ...]]) -> list[int]:
    """Positions of an index that do not always repeat an earlier one."""
    keep: list[int] = []
    for p in range(len(indices[0])):
        if not any(all(i[p] == i[q] for i in indices) for q in keep):
            keep.append(p)
    return keep
