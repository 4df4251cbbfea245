"""Block elimination on booleans: who is coupled with whom.  It shares no line with the engine.

A row is a whole number whose bit j says that block j is there; block 5 k + i is the i-th kind of
body k.  What follows is all that elimination does to zeros (Parter 1961; Rose 1970), for the pair
(x z) with the inverse [[0, 1], [1, -X]] as well, whose zero at (x x) keeps neighbours of x apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pivotree.analysis.proofs.trees import Parents

KINDS = ("pdd", "qdd", "f", "fJ", "fC")
RANK = {"pdd": 0, "f": 1, "fJ": 1, "fC": 2, "qdd": 3}  # in a bracket, of what is no pair
Named = tuple[str, int]  # kind, body
Pivot = tuple[int, ...]  # one block, or a pair


def number(kind: str, body: int) -> int:
    return 5 * body + KINDS.index(kind)


def name(block: int) -> Named:
    return KINDS[block % 5], block // 5


def bits(row: int) -> Iterator[int]:
    while row:
        lowest = row & -row
        yield lowest.bit_length() - 1
        row ^= lowest


@dataclass(frozen=True)
class Matrix:
    rows: tuple[int, ...]  # symmetric; all 0 once eliminated
    units: frozenset[Pivot]  # pairs whose coupling is still the identity, and may be used as such

    def eliminate(self, pivot: Pivot) -> tuple[Matrix, int, int] | None:
        """What is left, and the blocks ``through`` and ``beside``: every one of the former is
        joined with every one of the latter.  None where the pivot is zero."""
        rows, own = list(self.rows), sum(1 << b for b in pivot)
        if len(pivot) == 2:
            x, z = pivot
            through, beside = rows[z] & ~own, (rows[x] | rows[z]) & ~own
        else:
            (x,) = pivot
            if not rows[x] >> x & 1:
                return None
            through = beside = rows[x] & ~own
        for b in pivot:
            rows[b] = 0
        for b in bits(through | beside):
            joined = beside if through >> b & 1 else through
            rows[b] = (rows[b] | joined) & ~own
        units = frozenset(
            (a, b)
            for a, b in self.units
            if a not in pivot
            and b not in pivot
            and not (through >> a & 1 and beside >> b & 1)
            and not (through >> b & 1 and beside >> a & 1)
        )
        return Matrix(tuple(rows), units), through, beside

    def usable(self, pivot: Pivot) -> bool:
        """Whether a pair has its exact inverse: coupled by the identity, nothing at (z z)."""
        return pivot in self.units and not self.rows[pivot[1]] >> pivot[1] & 1


def matrix(parents: Parents, split: bool) -> Matrix:
    """(4), joints of one freedom each; ``split``: forces along the joint and across it apart."""
    rows = [0] * (5 * len(parents))

    def join(a: int, b: int) -> None:
        rows[a] |= 1 << b
        rows[b] |= 1 << a

    units = set()
    for k, up in enumerate(parents):
        join(number("pdd", k), number("pdd", k))
        for force in ("fJ", "fC") if split else ("f",):
            join(number("pdd", k), number(force, k))
            if up >= 0:
                join(number("pdd", up), number(force, k))
        join(number("qdd", k), number("fJ" if split else "f", k))
        pair = ("fJ", "qdd") if split else ("pdd", "f")
        units.add((number(pair[0], k), number(pair[1], k)))
    return Matrix(tuple(rows), frozenset(units))


@dataclass(frozen=True)
class Outcome:
    fill: frozenset[frozenset[Named]]  # pairs of blocks, zero at first, that are zero no more
    height: int  # blocks on the longest chain of pivots each of which changes the next


def eliminate(parents: Parents, groups: Iterable[Iterable[Any]]) -> Outcome:
    """All groups of (kind, body), one after another.  Raises ValueError at a zero pivot."""
    named = [[number(kind, body) for kind, body in group] for group in groups]
    split = any(KINDS[b % 5] in ("fJ", "fC") for group in named for b in group)
    left = start = matrix(parents, split)
    ever = list(start.rows)
    done: list[tuple[Pivot, int, int]] = []
    for group in named:
        for pivot in _pivots(group, start.units):
            parts = [pivot] if len(pivot) == 1 or left.usable(pivot) else [(b,) for b in pivot]
            for part in parts:
                after = left.eliminate(part)
                if after is None:
                    raise ValueError(f"pivot {name(part[0])} is zero")
                left = after[0]
                done.append((part, after[1], after[2]))
                ever = [a | b for a, b in zip(ever, left.rows, strict=True)]
    fill = frozenset(
        frozenset((name(a), name(b)))
        for a, row in enumerate(ever)
        for b in bits(row & ~start.rows[a])
        if b > a
    )
    return Outcome(fill, _height(done))


def _pivots(group: list[int], units: frozenset[Pivot]) -> list[Pivot]:
    """Pairs in the order of their first block, then the others by kind."""
    pairs = [(x, z) for x, z in units if x in group and z in group]
    pairs.sort(key=lambda pair: min(map(group.index, pair)))
    taken = {b for pair in pairs for b in pair}
    rest = sorted((b for b in group if b not in taken), key=lambda b: RANK[KINDS[b % 5]])
    return [*pairs, *((b,) for b in rest)]


def _height(done: list[tuple[Pivot, int, int]]) -> int:
    """A block may go when the last pivot that changes its row or column among the rest is done."""
    place = {b: t for t, b in enumerate(b for pivot, _, _ in done for b in pivot)}
    ready = dict.fromkeys(place, 0)
    highest = 0
    for pivot, through, beside in done:
        at = ready[pivot[0]]
        for b in pivot:
            at = 1 + max(at, ready[b])
        highest = max(highest, at)
        for a in bits(through):
            for b in bits(beside):
                first = min(a, b, key=place.__getitem__)
                ready[first] = max(ready[first], at)
    return highest


def least_fill(parents: Parents) -> tuple[int, list[list[Named]]]:
    """The least fill of any feasible order of pdd, qdd and f, bracketed or not, and such an order.

    Every order is looked at; a branch is cut when its fill exceeds what is being tried, and when
    its matrix was met before with the same fill.
    """
    start = matrix(parents, split=False)
    allowed = 0
    while True:
        found = _within(start, start.rows, start.rows, allowed, set())
        if found is not None:
            return allowed, [[name(b) for b in pivot] for pivot in found]
        allowed += 1


def _within(
    left: Matrix, original: tuple[int, ...], ever: tuple[int, ...], allowed: int, met: set[Any]
) -> list[Pivot] | None:
    """Pivots that eliminate what is left with no more than the allowed fill, if there are such."""
    alive = [b for b, row in enumerate(left.rows) if row]
    if not alive:
        return []
    for pivot in [*(u for u in left.units if left.usable(u)), *((b,) for b in alive)]:
        after = left.eliminate(pivot)
        if after is None:
            continue
        now = tuple(a | b for a, b in zip(ever, after[0].rows, strict=True))
        fill = sum(
            (row & ~old & ~(1 << b)).bit_count()
            for b, (row, old) in enumerate(zip(now, original, strict=True))
        )
        if fill > 2 * allowed or (after[0], now) in met:
            continue
        met.add((after[0], now))
        rest = _within(after[0], original, now, allowed, met)
        if rest is not None:
            return [pivot, *rest]
    return None
