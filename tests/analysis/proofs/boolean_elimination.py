"""The least fill of any order, by a search in which matrices are booleans and no line is the engine's.

A row is a whole number whose bit j says that block j is there; block 3 k + i is the i-th kind of
body k.  What follows is all that elimination does to zeros (Parter 1961; Rose 1970), for the pair
(x z) with the inverse [[0, 1], [1, -X]] as well, whose zero at (x x) keeps neighbours of x apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pivotree.analysis.proofs.induction import Parents

KINDS = ("pdd", "qdd", "f")
Named = tuple[str, int]  # kind, body
Pivot = tuple[int, ...]  # one block, or a pair


def bits(row: int) -> Iterator[int]:
    while row:
        lowest = row & -row
        yield lowest.bit_length() - 1
        row ^= lowest


@dataclass(frozen=True)
class Matrix:
    rows: tuple[int, ...]  # symmetric; all 0 once eliminated
    units: frozenset[Pivot]  # pairs whose coupling is still the identity, and may be used as such

    @staticmethod
    def of(parents: Parents) -> Matrix:
        """(4) of a tree, joints of one freedom each."""
        rows, units = [0] * (3 * len(parents)), set()
        for k, up in enumerate(parents):
            pdd, qdd, f = range(3 * k, 3 * k + 3)
            for a, b in ((pdd, pdd), (pdd, f), (qdd, f), *([(3 * up, f)] if up >= 0 else [])):
                rows[a] |= 1 << b
                rows[b] |= 1 << a
            units.add((pdd, f))
        return Matrix(tuple(rows), frozenset(units))

    def eliminate(self, pivot: Pivot) -> Matrix | None:
        """What is left: every block of ``through`` is joined with every one of ``beside``.

        None where the pivot is zero.
        """
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
        return Matrix(tuple(rows), units)

    def usable(self, pivot: Pivot) -> bool:
        """Whether a pair has its exact inverse: coupled by the identity, nothing at (z z)."""
        return pivot in self.units and not self.rows[pivot[1]] >> pivot[1] & 1


def least_fill(parents: Parents) -> tuple[int, list[list[Named]]]:
    """The least fill of any feasible order of pdd, qdd and f, bracketed or not, and such an order.

    Every order is looked at; a branch is cut when its fill exceeds what is being tried, and when
    its matrix was met before with the same fill.
    """
    start = Matrix.of(parents)
    allowed = 0
    while True:
        found = _within(start, start.rows, start.rows, allowed, set())
        if found is not None:
            return allowed, [[(KINDS[b % 3], b // 3) for b in pivot] for pivot in found]
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
        now = tuple(a | b for a, b in zip(ever, after.rows, strict=True))
        fill = sum(
            (row & ~old & ~(1 << b)).bit_count()
            for b, (row, old) in enumerate(zip(now, original, strict=True))
        )
        if fill > 2 * allowed or (after, now) in met:
            continue
        met.add((after, now))
        rest = _within(after, original, now, allowed, met)
        if rest is not None:
            return [pivot, *rest]
    return None
