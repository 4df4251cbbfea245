"""Proof that counts grow as a polynomial: what one more link inserts, instruction by instruction.

Elimination and lowering read nothing but what is near: an instruction is issued for blocks that
exist, and costs what the patterns of its operands say.  So a step that finds the same blocks with
the same patterns as the step before it, relative to its own link, does the same, leaves the same
behind, and all further steps repeat it.  Two things are checked on programs of growing n:

*repeats*: the links between tip and base are isomorphic segments.  The instructions of a link,
operands given as (links away, place in that link's segment, sign, transposed, pattern), are the
same list from link to link, and programs of n and n + 1 links differ by one such segment.

*grows*: instructions described without their place make a multiset P(n) whose d-th difference
is the same for three n in a row, and what is inserted reads only what it makes itself, inputs, and
what earlier differences made.  For CRBM d = 2: the segment of a link grows by one template for each
link beyond it.  What joins all joints at the end, a dense factor and its solves, is left out of
P(n): where its operands have no zero and no one, its loops cost a polynomial of degree 3 in their
order, which grows by the joints of one link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .counting import Counted
from .families import Family, link_of

OPERATIONS = 5  # place of the operations in a description
ROOM = 3  # segments in a row, or differences in a row, that must be the same


@dataclass(frozen=True)
class Repetition:
    """Whether, and from which n on, a count is proved to be a polynomial."""

    kind: str  # "repeats", "grows", or "" where there is none
    degree: int = 0  # of the polynomial, at most
    start: int | None = None  # for all n from here on
    segment: tuple[int, ...] | None = None  # operations of the segment that repeats
    why_not: str = ""

    @property
    def proved(self) -> bool:
        return bool(self.kind)


def prove(family: Family, counted: Mapping[int, Counted]) -> Repetition:
    """The proof that the programs of increasing n give; it reads the largest ones."""
    sizes = sorted(counted)
    if family.chain:
        repeated = _repeats(counted[sizes[-2]], counted[sizes[-1]])
        if repeated is not None:
            return repeated
    return _grows(family, counted)


# -- descriptions ---------------------------------------------------------------------------------


class _Described:
    """Instructions of a program in words that do not depend on n."""

    def __init__(self, counted: Counted) -> None:
        self.counted = counted
        self.program = counted.program
        links = [link_of(name) for name in counted.names]
        self.up = {
            links[k]: links[p]
            for k, p in enumerate(counted.parent.tolist())
            if p >= 0 and links[p] != links[k]
        }
        roles = [name[1] if isinstance(name, tuple) else "" for name in counted.names]
        bodies = counted.bodies.tolist()
        self.link = [links[b] if b >= 0 else None for b in bodies]  # of each instruction
        self.role = [roles[b] if b >= 0 else "" for b in bodies]
        self.made_by = {i.out: at for at, i in enumerate(self.program.instructions)}
        # instructions that are no input and that the answer needs
        self.costed = [
            at
            for at, i in enumerate(self.program.instructions)
            if counted.live[at] and i.op not in ("input", "eye")
        ]

    def head(self, at: int) -> tuple[Any, ...]:
        """What an instruction is and makes, its operands left out."""
        i = self.program.instructions[at]
        met = self.counted.met[i.out]
        info = i.info[:1] if i.op in ("weigh", "rotate") else i.info
        info = () if i.op == "factor" else info
        operations = tuple(self.counted.operations[at].tolist())
        return i.op, i.symmetric, info, self.role[at], met.out, operations

    def relation(self, mine: int | None, other: int | None) -> str:
        if mine is None or other is None:
            return "none"
        if mine == other:
            return "own"
        if self.up.get(mine) == other:
            return "parent"
        if self.up.get(other) == mine:
            return "child"
        return "sibling" if self.up.get(mine) == self.up.get(other) else "other"

    def loose(self, at: int) -> tuple[Any, ...]:
        """An instruction without places: its operands by what made them, and how near."""
        i = self.program.instructions[at]
        args = []
        for ref, code in zip(i.present, self.counted.met[i.out].args, strict=True):
            source = self.made_by[ref.value]
            relation = self.relation(self.link[at], self.link[source])
            made = self.program.instructions[source]
            letter = made.info[0] if made.op == "input" else ""
            role = self.role[source]
            args.append((made.op, letter, relation, role, ref.transposed, ref.sign, code))
        return (*self.head(at), tuple(args))

    def segments(self) -> dict[int | None, list[tuple[Any, ...]]]:
        """Of every link, its instructions in order, operands by links away and place."""
        own: dict[int | None, list[int]] = {}
        place: dict[int, int] = {}
        for at in self.costed:
            members = own.setdefault(self.link[at], [])
            place[at] = len(members)
            members.append(at)
        return {link: [self.strict(at, place) for at in members] for link, members in own.items()}

    def strict(self, at: int, place: Mapping[int, int]) -> tuple[Any, ...]:
        i = self.program.instructions[at]
        mine = self.link[at]
        args: list[tuple[Any, ...]] = []
        for ref, code in zip(i.present, self.counted.met[i.out].args, strict=True):
            source = self.made_by[ref.value]
            made, other = self.program.instructions[source], self.link[source]
            away = None if mine is None or other is None else other - mine
            where: Hashable = place.get(source)
            if made.op == "input":
                where = made.info[0], self.role[source]
            args.append((away, where, ref.transposed, ref.sign, code))
        return (*self.head(at), tuple(args))


# -- a segment that repeats -----------------------------------------------------------------------


def _repeats(fewer: Counted, more: Counted) -> Repetition | None:
    """The proof that each link inserts the same segment; None where it does not."""
    if fewer.tail.any():
        return None
    first, second = (_run(_Described(counted).segments()) for counted in (fewer, more))
    if first is None or second is None:
        return None
    grown = first._replace(length=first.length + 1)
    if grown != second:
        return None
    operations = np.sum([line[OPERATIONS] for line in first.middle], axis=0).tolist()
    return Repetition("repeats", 1, len(first.head) + len(first.tail) + 1, tuple(operations))


Segment = tuple[tuple[Any, ...], ...]


class _Run(NamedTuple):
    """The longest run of equal segments, and what stands before and after it."""

    head: tuple[Segment, ...]
    middle: Segment
    tail: tuple[Segment, ...]
    length: int


def _run(segments: Mapping[int | None, list[tuple[Any, ...]]]) -> _Run | None:
    """None where fewer than ROOM are equal, or where instructions belong to no link."""
    if segments.get(None):
        return None
    ordered = [tuple(segments[k]) for k in sorted(k for k in segments if k is not None)]
    runs: list[tuple[int, int]] = []  # length and minus the start
    start = 0
    for at in range(1, len(ordered) + 1):
        if at == len(ordered) or ordered[at] != ordered[start]:
            runs.append((at - start, -start))
            start = at
    length, first = max(runs)
    if length < ROOM:
        return None
    return _Run(tuple(ordered[:-first]), ordered[-first], tuple(ordered[-first + length :]), length)


# -- a program that grows evenly ------------------------------------------------------------------


def _grows(family: Family, counted: Mapping[int, Counted]) -> Repetition:
    sizes = sorted(counted)
    described = {n: _Described(counted[n]) for n in sizes}
    bags: list[dict[Any, int]] = []
    for n in sizes:
        at_end = counted[n].tail
        bags.append(Counter(described[n].loose(at) for at in described[n].costed if not at_end[at]))
    grown = bags
    inserted: set[Any] = set()
    for degree in range(4):
        last = grown[-ROOM:]
        if len(last) == ROOM and all(bag == last[0] for bag in last):
            break
        times = 2 if family.doubles and degree == 0 else 1
        grown = [_minus(b, a, times) for a, b in pairwise(grown)]
        inserted |= set().union(*(set(bag) for bag in grown[-ROOM:]))
    else:
        return Repetition("", why_not="what one more link inserts changes with n")
    if not _closed(inserted):
        return Repetition("", why_not="what one more link inserts reads what it does not make")
    tail = any(c.tail.any() for c in counted.values())
    if tail and not all(_full(counted[n]) for n in sizes[-ROOM:]):
        return Repetition("", why_not="the joint-space inertia has entries that are zero or one")
    # the first size from which the differences are those at the end
    start = sizes[-ROOM - degree]
    return Repetition("grows", max(degree, 3 if tail else 0), start)


def _minus(b: Mapping[Any, int], a: Mapping[Any, int], times: int = 1) -> dict[Any, int]:
    keys = {**a, **b}
    return {k: d for k in keys if (d := b.get(k, 0) - times * a.get(k, 0))}


def _closed(inserted: set[Any]) -> bool:
    """Whether every operand of what is inserted is an input or made by it."""
    made = {(op, out) for op, _, _, _, out, _, _ in inserted}
    for *_, args in inserted:
        for op, letter, _, _, transposed, sign, code in args:
            if letter or op == "eye":
                continue
            if (op, _as_made(code, transposed, sign)) not in made:
                return False
    return True


def _as_made(code: tuple[tuple[int, ...], bytes], transposed: bool, sign: int) -> Any:
    """The pattern of the value behind a reference."""
    array = np.frombuffer(code[1], dtype=np.int8).reshape(code[0])
    array = np.where(array == 2, array, array * np.int8(sign))
    array = np.ascontiguousarray(array.T if transposed else array)
    return array.shape, array.tobytes()


def _full(counted: Counted) -> bool:
    """Whether no operand of the factor at the end, and of its solves, holds a zero or a one."""
    for at, i in enumerate(counted.program.instructions):
        if counted.tail[at] and counted.live[at] and i.op in ("factor", "forward", "solve"):
            for place, (shape, code) in enumerate(counted.met[i.out].args):
                array = np.frombuffer(code, dtype=np.int8).reshape(shape)
                if i.op != "factor" and place == 0:  # the factor itself is lower triangular
                    array = array[np.tril_indices(len(array))]
                if (np.abs(array) <= 1).any():
                    return False
    return True
