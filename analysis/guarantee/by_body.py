"""Formats by proof, body by body: shorter ones wherever the promise is kept.

The bound of pivots is the largest of what bodies round, and that of qdd their sum: most bodies
round far less than they might.  From an assignment that keeps the digits everywhere, bodies are
given the cheapest format that still keeps them, one after another: first those that save many bits
for what they add to the error.  It ends where no body alone can be given a cheaper one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pivotree.kkt.arithmetic import Format, Mixed

from .promises import PARTS, Cheapest, Keeps, OfBody, Promises, bits_of, by_role

Parts = tuple[Format, ...]  # as PARTS; of a body data do not count


class Search:
    """Assignments of kinds of formats, the cheapest first, to n bodies; data have one format."""

    def __init__(
        self,
        promises: Promises,
        kinds: Sequence[Parts],
        data: Format,
        digits: float,
        progress: Callable[[str], None],
    ) -> None:
        self.promises, self.data, self.digits, self.progress = promises, data, digits, progress
        work, self.names = promises.work, [str(x) for x in promises.tape.inputs.names]
        whole = [(sum(work.of_body(kind, k) for k in range(-1, self.n)), kind) for kind in kinds]
        self.kinds = [kind for _, kind in sorted(whole, key=lambda x: x[0])]
        self.bits = [[work.of_body(kind, k) for kind in self.kinds] for k in range(self.n)]
        self.known: dict[tuple[int, ...], Keeps] = {}

    @property
    def n(self) -> int:
        return len(self.names)

    def format(self, numbers: Sequence[int]) -> Format:
        """The mixed format of the bodies' kinds: the most frequent is the rule."""
        most = max(range(len(self.kinds)), key=lambda x: (numbers.count(x), x))
        rule = by_role((self.data, *self.kinds[most][1:]))
        others = tuple(
            (name, own(self.kinds[i])) for name, i in zip(self.names, numbers, strict=True) if i != most
        )
        if not others:
            return rule
        name = "".join([rule.name, *(f"@{body}={x.name}" for body, x in others)])
        if isinstance(rule, Mixed):
            return replace(rule, name=name, bodies=others)
        return Mixed(name, rule, bodies=others)

    def of(self, numbers: Sequence[int]) -> Keeps:
        key = tuple(numbers)
        if key not in self.known:
            self.progress(f"looking at formats body by body, {len(self.known) + 1}")
            work = self.promises.work
            cost = sum(self.bits[k][i] for k, i in enumerate(key))
            cost += work.data * bits_of(self.data) + work.of_body(self.kinds[-1], -1)
            self.known[key] = self.promises.of(self.format(list(key)), cost)
        return self.known[key]

    def keeps(self, numbers: Sequence[int]) -> bool:
        found = self.of(numbers)
        return not found.why and found.digits >= self.digits

    def lowered(self, numbers: list[int]) -> list[int]:
        """No body alone can be given a cheaper kind then; ``numbers`` keeps the digits."""
        start = 10.0 ** -self.of(numbers).digits
        gains = {}
        for k, i in enumerate(numbers):
            if i:
                added = 10.0 ** -self.of(_with(numbers, k, 0)).digits - start
                gains[k] = (self.bits[k][i] - self.bits[k][0]) / max(added, 1e-6 * start)
        turn = sorted(gains, key=gains.__getitem__, reverse=True)
        before: list[int] = []
        while before != numbers:
            before = numbers
            for k in turn:
                fits = (i for i in range(numbers[k]) if self.keeps(_with(numbers, k, i)))
                numbers = _with(numbers, k, next(fits, numbers[k]))
        return numbers

    def told(self, numbers: list[int]) -> tuple[OfBody, ...]:
        """Each body's format, and what would be kept one step below."""
        found = []
        for k, i in enumerate(numbers):
            below = self.of(_with(numbers, k, i - 1)).digits if i else 0.0
            name = own(self.kinds[i - 1]).name if i else ""
            found.append(OfBody(self.names[k], own(self.kinds[i]).name, self.bits[k][i], name, below))
        return tuple(found)


def _with(numbers: Sequence[int], k: int, i: int) -> list[int]:
    return [*numbers[:k], i, *numbers[k + 1 :]]


def own(kind: Parts) -> Format:
    """The format of one body's operations."""
    roles = dict(zip(PARTS[1:], kind[1:], strict=True))
    alone = len(set(kind[1:])) == 1
    return kind[1] if alone else by_role((roles["add"], *kind[1:]))


def lowered(
    promises: Promises,
    before: Cheapest,
    parts: Parts,
    chosen: Sequence[Format],
    progress: Callable[[str], None],
) -> Cheapest:
    """The cheaper result of two searches: from the cheapest by role, and from the longest."""
    alike = [(x,) * len(PARTS) for x in chosen]
    kinds = [*alike, *([parts] if len(set(parts[1:])) > 1 else [])]
    search = Search(promises, kinds, parts[0], before.digits, progress)
    by_role_alone = next(i for i, kind in enumerate(search.kinds) if kind[1:] == parts[1:])
    starts = [[i] * search.n for i in dict.fromkeys((by_role_alone, len(search.kinds) - 1))]
    ends = [search.lowered(start) for start in starts if search.keeps(start)]
    numbers = min(ends, key=lambda x: search.of(x).cost)
    found, told = search.of(numbers), search.told(numbers)
    looked = before.looked + len(search.known)
    return replace(before, found=found, looked=looked, by_role=before.found, bodies=told)
