"""Which values of a block program a listing names.

A value is named where it is used twice, where a solution or a pivot is read off it, and where other
values of its kind are named; what is used once is written into its user.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import Any

from pivotree.kkt.matrix.blocks import KINDS, LAM, Block, Structure
from pivotree.kkt.program.program import Instruction, Place, Program, Ref

THROUGH = ("mirror", "forward", "same", "factor")  # named as their operand
ALWAYS = ("along", "across", "basis")  # of S alone: named even where they are used once
ASKED = ("qdd", "lam")  # unknowns that a listing finds
FORE, BACK = 0, 1  # passes
# of one body, or of one loop
ONE = (("pdd",), ("qdd",), ("f",), ("fJ",), ("fC",), ("lam",), ("pdd", "f"), ("fJ", "qdd"))


class Choice:
    """Which values of a program are named, and where each stands."""

    def __init__(self, program: Program, structure: Structure, position: dict[int, int] | None) -> None:
        """``position``: of each block in the elimination."""
        self.program, self.structure = program, structure
        self.position = position or {}
        self.kinds = program.symbolic is not None and "pivot" in {p.label for p in program.places}
        live = program.live(("qdd", "lam"))
        wanted = [ref.value for block, ref in program.solution.items() if block.kind == "pdd"]
        if any(i.out in wanted for i, keep in zip(program.instructions, live, strict=True) if keep):
            live = program.live(("qdd", "lam", "pdd"))  # of all bodies, where some are needed
        self.live: list[Instruction] = [i for i, keep in zip(program.instructions, live, strict=True) if keep]
        self.place = {i.out: place for i, place in zip(program.instructions, program.places, strict=True)}
        self.made: dict[int, Instruction] = {i.out: i for i in program.instructions}
        self.solved: dict[int, Block] = {ref.value: block for block, ref in program.solution.items()}
        self.alias: dict[int, int] = {}
        self._redirect()
        self.names: set[int] = set()
        self._choose()

    # -- which values are named ---------------------------------------------------------------

    def _redirect(self) -> None:
        """A value and its ``same`` at one pivot are one value, that of the ``same``."""
        for i in self.live:
            if i.op != "same":
                continue
            below = self._below(operand(i, 0).value)
            plain = self.made[below].op in ("input", "eye", "same", *ALWAYS)
            same = self._event(self.place[i.out]) == self._event(self.place[below])
            if not plain and below not in self.alias and same:
                self.alias[below] = i.out

    def _below(self, value: int) -> int:
        while self.made[value].op == "mirror":
            value = operand(self.made[value], 0).value
        return value

    def canonical(self, value: int) -> int:
        """The value under whose name this one goes."""
        while True:
            below = self._below(value)
            value = self.alias.get(below, below)
            if value == below:
                return value

    def _choose(self) -> None:
        uses: Counter[int] = Counter()
        for i in reversed(self.live):
            times = max(uses[i.out], 1) if i.op in ("forward", "mirror") else 1
            for ref in i.args:
                if ref is not None:
                    uses[ref.value] += times
        again: Counter[int] = Counter()
        for value, count in uses.items():
            i = self.made[value]
            if i.op in ("input", "eye", "factor", "forward"):
                continue
            target = self.canonical(value)
            # uses of a copy count as its original's; the use by the copy itself does not
            again[target] += count - (value in self.alias)
        for i in self.live:
            if i.op == "factor":
                self._name(operand(i, 0).value)
            copy = i.op == "same" and self.place[i.out].label != "children"
            if copy or i.op in ALWAYS or again[i.out] > 1:
                self._name(i.out)
        for value, block in self.solved.items():
            if block.kind in ASKED:
                self._name(value)
        self._name_kin()
        self._drop_copies()

    def _name(self, value: int) -> None:
        value = self.canonical(value)
        if self.made[value].op not in ("input", "eye", "factor", "forward", "mirror"):
            self.names.add(value)

    @cached_property
    def _results(self) -> dict[tuple[Any, ...], list[int]]:
        """The last value made at each place, by the family of the place."""
        last: dict[Place, int] = {}
        for i in self.live:
            if i.op not in ("input", "eye", *THROUGH, *ALWAYS):
                last[self.place[i.out]] = i.out
        result: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for place, value in last.items():
            result[self._label(place)].append(value)
        return result

    def _name_kin(self) -> None:
        """Where one result of a kind of place is named, all are."""
        for values in self._results.values():
            if any(value in self.names for value in values):
                for value in values:
                    self._name(value)

    def _drop_copies(self) -> None:
        """Entries and unknowns that are only other names of what has one are written as that."""
        families: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for value in self.names:
            families[self._label(self.place[value])].append(value)
        before = -1
        while before != len(self.names):
            before = len(self.names)
            for values in families.values():
                copies = all(self.made[v].op == "same" and self._known(v) for v in values)
                if copies and not any(self._asked(v) for v in values):
                    self.names.difference_update(values)

    def _known(self, same: int) -> bool:
        target = self.canonical(operand(self.made[same], 0).value)
        if target == same:
            return False
        while self.made[target].op == "same" and target not in self.names:
            target = self.canonical(operand(self.made[target], 0).value)
        return self.made[target].op in ("input", "eye") or target in self.names

    def _asked(self, value: int) -> bool:
        return any(block.kind in ASKED and self.canonical(v) == value for v, block in self.solved.items())

    # -- places ------------------------------------------------------------------------------

    def kind(self, block: int) -> int:
        """Of a block of the block graph, by its number."""
        return min(block // self.structure.n, LAM)

    def body(self, block: int) -> int:
        """The body of a block, or its loop: loops are numbered behind the bodies."""
        kind, n = self.kind(block), self.structure.n
        return block - kind * n + n * (kind == LAM)

    def _label(self, place: Place) -> tuple[Any, ...]:
        kinds: tuple[str, ...] = ()
        if self.kinds:
            kinds = tuple("rhs" if b < 0 else KINDS[self.kind(b)] for b in place.blocks)
            if place.label in ("pivot", "x", "s") and kinds not in ONE:
                kinds = (kinds[0], "and others")
        label = place.label
        if label in ("entry", "children") and place.blocks[-1] >= 0:
            i, j = (self.body(b) for b in place.blocks)
            label = "own" if i == j and label == "entry" else label
        return (label, kinds, place.back)

    def _bodies(self, place: Place) -> tuple[int, ...]:
        bodies = tuple(self.body(b) for b in place.blocks if b >= 0)
        return bodies[:1] if "and others" in self._label(place)[1] else bodies

    def _event(self, place: Place) -> tuple[int, int]:
        if place.label in ("entry", "children") and self.position:
            first = min((b for b in place.blocks if b >= 0), key=self.position.__getitem__)
            return (FORE, self._pivot_of[first])
        return (int(place.back), place.pivot)

    @cached_property
    def _pivot_of(self) -> dict[int, int]:
        """Number of the base pivot that takes each block."""
        n = self.structure.n
        return {
            KINDS.index(block.kind) * n + _within(self.structure, block): number
            for number, record in enumerate(self.program.pivots)
            for block in record.blocks
        }


def number_of(structure: Structure, block: Block) -> int:
    """The number of a block's body; of its loop, behind those of all bodies."""
    return _within(structure, block) + structure.n * (block.kind == "lam")


def _within(structure: Structure, block: Block) -> int:
    index = structure.tie_index if block.kind == "lam" else structure.index
    return index[block.body]


def operand(i: Instruction, place: int) -> Ref:
    """An operand that is no zero block."""
    ref = i.args[place]
    assert ref is not None
    return ref
