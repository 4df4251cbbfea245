"""The remaining matrix during elimination: fronts of the multifrontal method.

Updates of a group wait apart from the matrix's own entries, in the group's update matrix, until a
group that they touch is opened; children's updates are summed first, and the matrix's own entry is
added last (Duff & Reid 1983).  With ``right_looking`` every update goes to the matrix at once.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from ..order.pivots import Plan
from .program import Ref, Writer


class Passed(NamedTuple):
    """An update -c^T N c of a diagonal block, passed on by one force f whose joint is gone."""

    c: Ref  # coupling of f with the block: -Phi^T
    N: Ref  # block (f, f) of the bracket's inverse: -Mbar
    joint: Ref  # H^T of the joint, which N maps to zero
    force: int  # block of f


Key = tuple[int, int]
Updates = dict[int, dict[Key, Ref]]  # an update matrix, by the block that is eliminated first
RHS = -1  # the right-hand side, as one more column


class Fronts:
    def __init__(self, write: Writer, plan: Plan, right_looking: bool) -> None:
        self.write = write
        self.right_looking = right_looking
        self.position = {int(b): t for t, b in enumerate(plan.blocks)}
        self.group = plan.group
        self.matrix: dict[Key, Ref] = {}
        self.near: dict[int, set[int]] = defaultdict(set)  # coupled blocks not yet eliminated
        self.waiting: dict[int, list[Updates]] = defaultdict(list)  # by opening group
        self.here: Updates = {}  # update matrix of the open group
        self.rows: list[int] = []
        self.inside: set[int] = set()
        self.outside: list[int] = []
        self.passed: dict[int, Passed] = {}  # where an update comes from, by its value
        self._parts: dict[int, list[Ref]] = {}  # children's updates of diagonal blocks, apart
        self._terms: dict[int, list[Ref]] = {}

    # -- entries ------------------------------------------------------------------------------

    def set(self, i: int, j: int, ref: Ref | None) -> None:
        """Enter block (i, j) of the matrix, i and j in any order."""
        if ref is None:
            return
        key = (min(i, j), max(i, j))
        self.matrix[key] = ref if i <= j else ref.T
        if i != j:
            self.near[i].add(j)
            self.near[j].add(i)

    def set_rhs(self, i: int, ref: Ref | None) -> None:
        if ref is not None:
            self.matrix[i, RHS] = ref

    def get(self, i: int, j: int) -> Ref | None:
        """Block (i, j) as it stands, children's updates included; i or j in the open group."""
        ref = self._assembled((min(i, j), max(i, j)))
        return ref if i <= j else self.write.t(ref)

    def rhs(self, i: int) -> Ref | None:
        return self._assembled((i, RHS))

    def left(self, i: int, j: int) -> Ref | None:
        """Block (i, j), i <= j or j = RHS, of the remaining matrix: its own entry, updates last."""
        key = (i, j)
        total = self.matrix.get(key)
        for updates in (u for waiting in self.waiting.values() for u in waiting):
            total = self.write.add(total, updates.get(self._earlier(key), {}).get(key))
        return total

    def terms(self, i: int, apart: bool = False) -> list[Ref]:
        """Diagonal block i as the terms of its sum: the matrix's own, the children's.

        ``apart`` keeps the children's updates from each other as well.
        """
        terms = self._terms.get(i) or [ref for ref in [self.get(i, i)] if ref]
        return [*terms[:-1], *self._parts[i]] if apart and i in self._parts else terms

    def neighbours(self, b: int, among: list[int]) -> list[int]:
        return [c for c in among if c in self.near[b]]

    def _earlier(self, key: Key) -> int:
        i, j = key
        return i if j == RHS or self.position[i] < self.position[j] else j

    def _assembled(self, key: Key) -> Ref | None:
        update = self.here.get(self._earlier(key), {}).pop(key, None)
        own = self.matrix.get(key)
        self.write.at("entry", *key)
        if update is None:
            return own
        if own is not None and key[0] == key[1]:
            update = self.write.named(update, "children", *key) or update
            self._terms[key[0]] = [own, update]
        total = self.write.add(own, update)
        if total is not None:
            self.matrix[key] = total
        return total

    # -- groups -------------------------------------------------------------------------------

    def open(self, rows: list[int]) -> None:
        self.rows, self.inside = rows, set(rows)
        outside = {o for b in rows for o in self.near[b]} - self.inside
        self.outside = sorted(outside, key=self.position.__getitem__)
        steps = {int(self.group[self.position[b]]) for b in rows}
        updates = [u for s in sorted(steps) for u in self.waiting.pop(s, [])]
        self._parts = {}
        for b in rows:
            parts = [ref for u in updates if (ref := u.get(b, {}).get((b, b))) is not None]
            if parts:
                self._parts[b] = parts
        self.here = self._sum(updates)
        for b in rows:
            for c in self.near[b]:
                self._assembled((min(b, c), max(b, c)))
            self._assembled((b, b))
            self._assembled((b, RHS))
        if self.write.apart:
            self._name_entries(rows)

    def _name_entries(self, rows: list[int]) -> None:
        """Every entry that a group reads becomes a value of its own, updated or not."""
        keys = {(min(b, c), max(b, c)): None for b in rows for c in [*self.near[b], b]}
        for key in [*keys, *((b, RHS) for b in rows)]:
            named = self.write.named(self.matrix.get(key), "entry", *key)
            if named is not None:
                self.matrix[key] = named

    def _sum(self, updates: list[Updates]) -> Updates:
        """Children's update matrices, summed in the children's order into the largest of them."""
        if not updates:
            return {}
        largest = max(range(len(updates)), key=lambda i: sum(map(len, updates[i].values())))
        total = updates[largest]
        others = [u for i, u in enumerate(updates) if i != largest]
        for key in dict.fromkeys(key for u in others for row in u.values() for key in row):
            first = self._earlier(key)
            self.write.at("entry", *key)
            ref: Ref | None = None
            for u in updates:
                ref = self.write.add(ref, u.get(first, {}).get(key))
            total.setdefault(first, {})[key] = ref  # type: ignore[assignment]
        return total

    def update(self, i: int, j: int, ref: Ref | None) -> None:
        """Add to block (i, j) of the remaining matrix."""
        if ref is None:
            return
        key = (min(i, j), max(i, j))
        if i > j:
            ref = self.write.t(ref)
        self._add(key, ref)
        if i != j:
            self.near[i].add(j)
            self.near[j].add(i)

    def update_rhs(self, i: int, ref: Ref | None) -> None:
        if ref is not None:
            self._add((i, RHS), ref)

    def _add(self, key: Key, ref: Ref | None) -> None:
        inside = key[0] in self.inside or key[1] in self.inside
        if self.right_looking or inside:
            place = self.matrix
        else:
            place = self.here.setdefault(self._earlier(key), {})
        place[key] = self.write.add(place.get(key), ref)  # type: ignore[assignment]

    def close(self) -> None:
        for b in self.rows:
            for c in self.near.pop(b, ()):
                self.near[c].discard(b)
        first = min((self.position[o] for o in self.outside), default=-1)
        passed: Updates = {}
        for block, row in self.here.items():
            if not row:
                continue
            group = int(self.group[self.position[block]])
            # the neighbours of a pair are no clique, and a block may come before the first of them
            if first < 0 or self.position[block] < first:
                self.waiting[group].append({block: row})
            else:
                passed[block] = row
        if passed:
            self.waiting[int(self.group[first])].append(passed)
        self.here, self.rows, self.inside = {}, [], set()
