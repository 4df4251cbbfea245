"""The operations of one kind of group, traced on the blocks around it.

The group's blocks, the blocks that they are coupled with, and the updates that wait for it are put
into a small structure of their own, without the rest of the tree.  The group is traced there as it
is in any tree (:class:`kkt.program.tracer.Tracer`), so that a bracket is defined in the tracer and
nowhere else.  The result is two lists of block operations, one for the elimination (the way there)
and one for the unknowns (the way back).  Both work on one array of numbers, called the room.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..matrix.blocks import Structure
from ..order.pivots import BlockGraph, Plan
from ..order.sequence import PivotSequence, Rules
from ..program.fronts import RHS, Updates
from ..program.program import Instruction, Ref
from ..program.tracer import Tracer
from ..structure.symbolic import SymbolicFactor
from . import block_kernels as kernels

LETTERS = ("M", "Phi", "H", "a", "b", "tau", "A")
Integers = NDArray[np.int64]


class UpdateBlock(NamedTuple):
    """One block of an update: row and column number its support, or RHS the right-hand side."""

    row: int
    column: int
    shape: tuple[int, int]
    symmetric: bool

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]


Form = tuple[UpdateBlock, ...]  # of an update: its blocks, whose numbers follow one another


class Update(NamedTuple):
    """An update that a group hands to one later group."""

    anchor: int  # a block of the group for which it waits
    support: tuple[int, ...]  # blocks in which it has a row or column
    form: Form

    @property
    def size(self) -> int:
        return sum(part.size for part in self.form)


@dataclass(frozen=True)
class FrontTemplate:
    """Block operations of one kind of group; see :mod:`.block_kernels` for their form."""

    there: Integers  # (operations, kernels.WIDTH)
    back: Integers
    updates: tuple[Update, ...]
    kept: int  # numbers of the way there that the way back reads
    room: int  # length of the room


class Words:
    """The words of a group (:mod:`.fronts`), taken one after another."""

    def __init__(self, words: Integers) -> None:
        self.left = words.tolist()[::-1]

    def take(self, count: int) -> tuple[int, ...]:
        return tuple(self.left.pop() for _ in range(count))


class Surroundings(NamedTuple):
    """A group, the blocks around it and the updates that wait for it, as its words say."""

    own: int
    blocks: tuple[tuple[int, ...], ...]  # kind, body, 1 where a later group begins
    pivot: tuple[int, ...]  # of the group's own blocks
    bodies: tuple[tuple[int, ...], ...]  # freedoms, parent, copied body, pieces, carrier, armature
    arrivals: tuple[tuple[Form, tuple[int, ...]], ...]  # updates that wait, and their blocks


def front_template(plan: Plan, words: Integers, forms: list[Form]) -> FrontTemplate:
    """The template of a group given by its words, in which updates have numbers of ``forms``."""
    read = Words(words)
    own, count, many, waiting = read.take(4)
    blocks = tuple(read.take(3) for _ in range(count))
    pivot = read.take(own)
    bodies = tuple(read.take(6) for _ in range(many))
    for _ in range(own):
        read.take(read.take(1)[0])  # couplings by (4), which follow from the blocks
    arrivals = []
    for _ in range(waiting):
        form = forms[read.take(1)[0]]
        support = 1 + max(max(part.row, part.column) for part in form)
        arrivals.append((form, read.take(support)))
    structure = plan.graph.structure
    copies = structure.copy_of is not None, structure.pieces is not None
    around = Surroundings(own, blocks, pivot, bodies, tuple(arrivals))
    massless = structure.carrier is not None
    return _traced(plan.sequence.rules, plan.graph.split, *copies, massless, around)


@lru_cache(maxsize=2048)
def _traced(
    rules: Rules, split: bool, copies: bool, pieces: bool, massless: bool, around: Surroundings
) -> FrontTemplate:
    """The template, which depends on no more than these arguments: one trace serves all trees."""
    own, count, many = around.own, len(around.blocks), len(around.bodies)
    bodies = np.array(around.bodies, dtype=np.int64).reshape(many, 6)
    own_inertia = bodies[:, 5] > 0
    structure = Structure(
        tuple(range(many)), bodies[:, 1], bodies[:, 0], armature=own_inertia if own_inertia.any() else None
    )
    if copies:
        structure = replace(
            structure,
            copy_of=bodies[:, 2],
            pieces=bodies[:, 3] if pieces else None,
            carrier=bodies[:, 4] > 0 if massless else None,
        )
    graph = BlockGraph(structure, split)
    numbers = np.array([kind * many + body for kind, body, _ in around.blocks], dtype=np.int64)
    changes = np.array([change for _, _, change in around.blocks])
    group = np.where(np.arange(count) < own, 0, 1 + np.cumsum(changes))
    sequence = PivotSequence((), "a group", rules=rules)
    local = Plan(sequence, graph, numbers, group, np.zeros(count, dtype=bool))
    none = np.zeros(count, dtype=np.int64)
    pivots = np.array([*around.pivot, *([0] * (count - own))], dtype=np.int8)
    factor = SymbolicFactor(local, pivots, none, np.zeros(count + 1, dtype=np.int64), none, 0)
    return _Group(factor, own, around.arrivals).template()


class _Group(Tracer):
    """Traces one group on the blocks and updates around it."""

    def __init__(
        self, factor: SymbolicFactor, own: int, arrivals: tuple[tuple[Form, tuple[int, ...]], ...]
    ) -> None:
        super().__init__(factor)
        self.blocks: list[int] = self.plan.blocks.tolist()
        self.own = self.blocks[:own]
        self.enter_matrix()
        self._forget()
        self.fronts.waiting[0] = [self._received(i, *it) for i, it in enumerate(arrivals)]

    def _forget(self) -> None:
        """Drop the entries of (4) in which no block of the group takes part: others enter them."""
        fronts, here, mine = self.fronts, set(self.blocks), set(self.own)
        kept = {
            key: ref
            for key, ref in fronts.matrix.items()
            if (key[0] in mine and (key[1] == RHS or key[1] in here)) or (key[1] in mine and key[0] in here)
        }
        fronts.matrix = kept
        fronts.near.clear()
        for i, j in kept:
            if j not in (RHS, i):
                fronts.near[i].add(j)
                fronts.near[j].add(i)

    def _received(self, number: int, form: Form, places: tuple[int, ...]) -> Updates:
        """An update that waits, as inputs of the group's program."""
        found: Updates = {}
        fronts, offset = self.fronts, 0
        for part in form:
            info = ("update", number, offset)
            ref = self.write.emit("input", (), part.shape, part.symmetric, info)
            offset += part.size
            i = self.blocks[places[part.row]]
            key = (i, RHS)
            if part.column != RHS:
                j = self.blocks[places[part.column]]
                key, ref = (min(i, j), max(i, j)), ref if i <= j else self.write.t_of(ref)
                if i != j:
                    fronts.near[i].add(j)
                    fronts.near[j].add(i)
            found.setdefault(fronts._earlier(key), {})[key] = ref
        return found

    def template(self) -> FrontTemplate:
        own = len(self.own)
        members = self.base_groups(merge=False)[0] if own else []
        self.group(members)
        updates = self._made()
        middle = len(self.write.instructions)
        for place, block in enumerate(self.blocks[own:], own):
            size = int(self.graph.size[block])
            self.x[block] = self.write.emit("input", (), (size, 1), False, ("x", place))
        for finish in reversed(self.backward):
            finish()
        return _Writer(self, middle, updates).template()

    def _made(self) -> list[tuple[Update, list[Ref]]]:
        """The updates that the group hands on, in order, with the values of their blocks."""
        place = {block: i for i, block in enumerate(self.blocks)}
        group, made = self.plan.group, []
        for target, updates in self.fronts.waiting.items():
            anchor = int(np.searchsorted(group, target))
            for update in updates:
                refs = {
                    (place[i], RHS if j == RHS else place[j]): ref
                    for row in update.values()
                    for (i, j), ref in row.items()
                    if ref is not None
                }
                support = sorted({block for key in refs for block in key} - {RHS})
                at = {block: i for i, block in enumerate(support)} | {RHS: RHS}
                keys = sorted(refs)
                form = tuple(
                    UpdateBlock(at[i], at[j], self.write.shape(refs[i, j]), self._symmetric(refs[i, j]))
                    for i, j in keys
                )
                made.append((Update(anchor, tuple(support), form), [refs[key] for key in keys]))
        return made

    def _symmetric(self, ref: Ref) -> bool:
        return ref.value in self.write._symmetric


class _Writer:
    """Writes a group's operations as rows of integers, as in :mod:`.block_kernels`."""

    def __init__(self, group: _Group, middle: int, made: list[tuple[Update, list[Ref]]]) -> None:
        self.group, self.made, self.shapes = group, made, group.write.shapes
        self.gain = group.rules.rank_update == "gain"
        self.instructions = group.write.instructions
        self.there, self.back = self.instructions[:middle], self.instructions[middle:]
        self.rows: list[list[int]] = []
        self.place: dict[int, int] = {}  # of a value in the room
        self.free: dict[int, list[int]] = {}
        self.top = 0

    def template(self) -> FrontTemplate:
        group = self.group
        wanted = {ref.value for block in group.own for ref in [group.x[block]]}
        back = self._live(self.back, wanted)
        kept = sorted(v for v in wanted if v < (self.back[0].out if self.back else len(self.shapes)))
        given = {i.out: i for i in self.there if i.op == "input" and i.info[0] != "update"}
        given |= {i.out: i for i in self.there if i.op == "eye"}
        again = [given[v] for v in kept if v in given]
        kept = [v for v in kept if v not in given]
        offset = dict(zip(kept, np.cumsum([0, *map(self._size, kept)]).tolist(), strict=False))
        wanted = set(kept) | {ref.value for _, refs in self.made for ref in refs}
        wanted |= {i.out for i in self.there if i.op == "factor"}
        there = self._live(self.there, wanted)
        end = set(kept) | {ref.value for _, refs in self.made for ref in refs}
        self._code(there, end)
        for v in kept:
            self._row(kernels.KEEP, self.place[v], *self.shapes[v], offset[v])
        for number, (update, refs) in enumerate(self.made):
            at = 0
            for part, ref in zip(update.form, refs, strict=True):
                self._row(kernels.HAND, at, *part.shape, *self._operand(ref), number)
                at += part.size
        forward, self.rows, self.place, self.free = self.rows, [], {}, {}
        for v in kept:
            self._row(kernels.KEPT, self._new(v), *self.shapes[v], offset[v])
        self._code([*again, *back], {ref.value for b in group.own for ref in [group.x[b]]})
        for place, block in enumerate(group.own):
            ref = group.x[block]
            self._row(kernels.FOUND, place, *group.write.shape(ref), *self._operand(ref))
        total = sum(map(self._size, kept))
        updates = tuple(update for update, _ in self.made)
        return FrontTemplate(_array(forward), _array(self.rows), updates, total, self.top)

    def _live(self, instructions: list[Instruction], wanted: set[int]) -> list[Instruction]:
        """The instructions that the values ``wanted`` need; ``wanted`` grows by what they read."""
        live = []
        for i in reversed(instructions):
            if i.out in wanted:
                live.append(i)
                wanted |= {ref.value for ref in i.present}
        return live[::-1]

    def _code(self, instructions: list[Instruction], end: set[int]) -> None:
        last = {ref.value: at for at, i in enumerate(instructions) for ref in i.present}
        for at, i in enumerate(instructions):
            self._write(i)
            for value in {ref.value for ref in i.present} | {i.out}:
                if last.get(value, at) == at and value not in end and value in self.place:
                    self.free.setdefault(self._size(value), []).append(self.place[value])

    def _size(self, value: int) -> int:
        rows, columns = self.shapes[value]
        return rows * columns

    def _new(self, value: int) -> int:
        spare = self.free.get(self._size(value))
        if spare:
            self.place[value] = spare.pop()
        else:
            self.place[value], self.top = self.top, self.top + self._size(value)
        return self.place[value]

    def _operand(self, ref: Ref) -> tuple[int, int, int]:
        """An operand: twice the block's place, plus 1 if negative; steps to next row and column."""
        columns = self.shapes[ref.value][1]
        steps = (1, columns) if ref.transposed else (columns, 1)
        return (self.place[ref.value] * 2 + (ref.sign < 0), *steps)

    def _row(self, op: int, *numbers: int) -> None:
        self.rows.append([op, *(int(x) for x in numbers)])

    def _write(self, i: Instruction) -> None:
        rows, columns = self.shapes[i.out]
        if i.op == "input":
            letter, number, *more = i.info
            out = self._new(i.out)
            if letter == "update":
                self._row(kernels.ARRIVED, out, rows, columns, number, *more)
            elif letter == "x":
                self._row(kernels.OTHER, out, rows, columns, number)
            else:
                self._row(kernels.ENTRY + LETTERS.index(letter), out, rows, columns, number)
            return
        operands = [self._operand(ref) for ref in i.present]
        out = self._new(i.out)
        if i.op == "eye":
            self._row(kernels.EYE, out, rows, columns)
        elif i.op in ("add", "mirror", "divide"):
            op = {"add": kernels.ADD, "mirror": kernels.MIRROR, "divide": kernels.DIVIDE}[i.op]
            flat = [x for operand in operands for x in operand]
            self._row(op, out, rows, columns, *flat, *(i.info if i.op == "divide" else ()))
        elif i.op == "mul":
            op = kernels.MUL_SYMMETRIC if i.symmetric else kernels.MUL
            inner = self._shape(i.present[0])[1]
            self._row(op, out, rows, columns, *operands[0], *operands[1], inner)
        elif i.op == "rows":
            self._row(kernels.ROWS, out, rows, columns, *operands[0], i.info[0])
        elif i.op in ("stack", "square"):
            self._assemble(i, out, rows, columns)
        elif i.op == "factor":
            op = kernels.FACTOR_GAIN if self.gain else kernels.FACTOR
            first = self._pivot_place(i.out)
            self._row(op, out, rows, columns, *operands[0], first)
        elif i.op in ("forward", "solve"):
            op = kernels.FORWARD if i.op == "forward" else kernels.SOLVE
            self._row(op, out, rows, columns, *operands[0], *operands[1], int(self.gain))
        elif i.op == "inner":
            op = kernels.INNER_SYMMETRIC if i.symmetric else kernels.INNER
            size = self._shape(i.present[0])[0]
            self._row(op, out, rows, columns, *operands[0], *operands[1], *operands[2], size)
        elif i.op in ("along", "across"):
            body = self._input_of(i.present[0]).info[1]
            op = kernels.ALONG if i.op == "along" else kernels.ACROSS
            self._row(op, out, rows, columns, *operands[0], body)
        else:
            raise AssertionError(f"operation {i.op!r}: no order that takes() lets through has it")

    def _shape(self, ref: Ref) -> tuple[int, int]:
        return self.group.write.shape(ref)

    def _input_of(self, ref: Ref) -> Instruction:
        return self.instructions[ref.value]

    def _pivot_place(self, factor: int) -> int:
        """Which of the group's blocks comes first on the diagonal of a factor."""
        record = next(r for r in self.group.records if r.factor == factor)
        names = [self.group.graph.block(b) for b in self.group.own]
        return names.index(record.blocks[0])

    def _assemble(self, i: Instruction, out: int, rows: int, columns: int) -> None:
        """Rows that set zeros, copy every block to its place and, for a square, mirror it."""
        self._row(kernels.ZERO, out, rows, columns)
        at = np.concatenate([[0], np.cumsum(i.info[0])]).tolist()
        many = len(i.info[0])
        if i.op == "stack":
            cells = [(r, 0) for r in range(many)]
        else:
            cells = [(r, c) for r in range(many) for c in range(r, many)]
        for (r, c), ref in zip(cells, i.args, strict=True):
            if ref is not None:
                here = out + at[r] * columns + at[c]
                self._row(kernels.PUT, here, *self._shape(ref), *self._operand(ref), columns)
        if i.op == "square":
            self._row(kernels.MIRROR, out, rows, columns, 2 * out, columns, 1)


def _array(rows: list[list[int]]) -> Integers:
    code = np.zeros((len(rows), kernels.WIDTH), dtype=np.int64)
    for at, row in enumerate(rows):
        code[at, : len(row)] = row
    return code
