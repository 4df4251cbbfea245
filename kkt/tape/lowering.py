"""Lower a block program to scalar operations, chunk by chunk.

Templates say what a block operation becomes in scalars, by the patterns of its operands alone.  A
pattern says of each entry of a block whether it is zero, one, minus one, or plus or minus a slot.
An operation on blocks of known patterns is written once, on local slots, and copied ever after.
Patterns are found without a slot, so that counts need nothing more.

What an instruction of a block program means in scalars is defined here alone, by :func:`arranged` and
:func:`emitted`; :mod:`kkt.scale.template` lowers the bracket of one body with them.

Instructions are met one by one, which finds their templates; the templates of a chunk are copied at
once, in a compiled loop that hands out slots.  Slots of values that are no longer needed are handed
out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arithmetic.formats import Chunk
from ..base.compiled import interpreted
from ..base.errors import SizeError
from ..matrix.blocks import Block
from ..matrix.entries import LETTERS
from ..model.spatial import skew
from ..program.program import Instruction, Program, Ref
from . import emit, rigid, rotations
from . import lowering_kernels as kernels
from .emit import Emitter, Scalars, large_factor
from .inputs import InputSlots

SMALL = 128  # entries of operands up to which templates are kept for all tapes of a process
PLAIN = ("mul", "add", "inner", "forward", "solve", "mirror")  # whose operands say all
BLOCKS = {*LETTERS, "H"}  # of (4), whose slots are the same in all programs of a robot
NONE = -3  # a state that is not known yet
LARGEST = 24  # rows of a factor that is a template; a larger one is written in place

# operations of joints, rotations and rigid inertias, which take what ``info`` holds behind their blocks
WITH_INFO: dict[str, emit.Operation] = {**emit.SPLITS, **rotations.ROTATIONS, **rigid.OPERATIONS}

# operations whose ``info`` holds sizes, and nothing of the robot
SIZED = ("eye", "cross", "rows", "stack", "square")


def arranged(i: Instruction, take: Callable[[Ref | None], Scalars], columns: int) -> Scalars | None:
    """The result of an instruction that only renames scalars; None for one that is arithmetic.

    ``take`` gives the scalars of a reference; ``columns`` are those of the result.
    """
    if i.op == "eye":
        return np.eye(i.info[0], dtype=np.int64)
    if i.op == "cross":
        return crossing(take(i.args[0])[:, 0], *i.info)
    if i.op == "mirror":
        return emit.mirrored(take(i.args[0]))
    if i.op == "rows":
        return take(i.args[0])[i.info[0] : i.info[1]]
    if i.op == "stack":
        parts = [
            np.zeros((rows, columns), dtype=np.int64) if ref is None else take(ref)
            for ref, rows in zip(i.args, i.info[0], strict=True)
        ]
        return np.concatenate(parts)
    if i.op == "square":
        (sizes,) = i.info
        at = np.concatenate([[0], np.cumsum(sizes)])
        out = np.zeros((int(at[-1]),) * 2, dtype=np.int64)
        blocks = iter(i.args)
        for r in range(len(sizes)):
            for c in range(r, len(sizes)):
                ref = next(blocks)
                if ref is not None:
                    out[at[r] : at[r + 1], at[c] : at[c + 1]] = take(ref)
        return emit.mirrored(out)
    return None


def crossing(u: Scalars, kind: str = "motion") -> Scalars:
    """The matrix (6, 6) u x for motions; of a force u (6,), the matrix from v to v x* u."""
    first, last, none = skew(u[:3]), skew(u[3:]), np.zeros((3, 3), dtype=np.int64)
    if kind == "motion":
        return np.block([[first, none], [last, first]])
    return -np.block([[first, last], [last, none]])


def emitted(
    e: Emitter, name: str, symmetric: bool, blocks: list[Scalars], info: tuple[Any, ...], gain: bool
) -> Scalars:
    """The result of an operation that is arithmetic, which an emitter writes down.

    ``info`` holds what the operation takes from the robot: rows of S, columns of rotations.
    """
    if name in emit.FACTORS:
        return emit.FACTORS[name](e, *blocks, gain)
    if (name, symmetric) in emit.OPERATIONS:
        return emit.OPERATIONS[name, symmetric](e, *blocks)
    return WITH_INFO[name](e, *blocks, *info)


class Template(NamedTuple):
    """One block operation on local slots: 0, 1, then the operands' entries, then results."""

    op: NDArray[np.int8]
    a: Scalars
    b: Scalars
    out: Scalars  # signed local slot of each entry of the result
    first: int  # local slot of the first operation's result
    passed: Scalars  # local slots of operands' entries that the result holds unchanged
    renames: bool  # whether the result only renames operands' entries


@lru_cache(maxsize=4096)
def _template(
    op: str,
    symmetric: bool,
    info: tuple[Any, ...],
    gain: bool,
    present: tuple[bool, ...],
    blocks: tuple[tuple[tuple[Any, ...], bytes], ...],
) -> Template:
    """An operation on blocks, each given as the shape and bytes of its pattern.

    ``present`` are the arguments that are no blocks of zeros.
    """
    whole, local, start = _local(np.frombuffer(b"".join([x for _, x in blocks]), np.int8)), [], 2
    for (rows, columns), _ in blocks:
        local.append(whole[start - 2 : start - 2 + rows * columns].reshape(rows, columns))
        start += rows * columns
    numbers = iter(range(len(blocks)))
    args = tuple(Ref(4 * next(numbers)) if there else None for there in present)
    wide = blocks[0][0][1] if blocks else 0

    def take(ref: Ref | None) -> Scalars:
        assert ref is not None
        return local[ref.value]

    emitter = Emitter(start)
    renamed = arranged(Instruction(op, -1, args, -1, symmetric, info), take, wide)
    out = emitted(emitter, op, symmetric, local, info, gain) if renamed is None else renamed
    passed = np.array(sorted({x for x in map(abs, out.ravel().tolist()) if 1 < x < start}), dtype=np.int64)
    return Template(*emitter.written(), out, start, passed, renamed is not None)


def _table(size: int) -> kernels.Table:
    """Room for as many entries, and states."""
    return kernels.Table(np.full((size, 2), -1), np.zeros(size, dtype=np.int64), np.full((size, 3), -1))


def _local(codes: NDArray[np.int8]) -> Scalars:
    """A pattern as signed scalars, whose slots follow each other from 2 on."""
    whole = codes.astype(np.int64)
    slots = 2 + np.arange(codes.size).reshape(codes.shape)
    return np.where(np.abs(whole) <= 1, whole, np.sign(whole) * slots)


class Known:
    """Templates of one way of rank updates, found by an operation and its operands' patterns.

    An operation is a state; with the pattern of each operand it goes over to another one, the last of
    which has the template.  A compiled loop follows the same table.
    """

    def __init__(self) -> None:
        self.templates: list[Template] = []
        self.codes: list[NDArray[np.int8]] = []  # patterns: 0, +-1, and +-2 for slots
        self.blocks: list[tuple[tuple[Any, ...], bytes]] = []  # their shapes and bytes
        self.variants: NDArray[np.int64] = np.full((64, 4), -1, dtype=np.int64)  # of each pattern, by its use
        self.table: kernels.Table = _table(64)
        none, zero = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self._packed = kernels.Packed(
            *(zero, none.astype(np.int8), none, none, none, zero, none),
            *(np.zeros((2, 0), dtype=np.int64), zero, none, none.astype(bool)),
        )
        self.inputs: dict[tuple[Any, ...], tuple[Scalars, int]] = {}  # blocks of (4), and their patterns
        self.sizes: dict[int, int] = {}  # of templates' operations and of large factors: their numbers
        self._operations: dict[tuple[Any, ...], int] = {}  # first states
        self._count = np.zeros(1, dtype=np.int64)  # of states
        self._known: dict[tuple[Any, ...], int] = {}

    def operation(self, *key: Any) -> int:
        """The first state of an operation."""
        if key not in self._operations:
            self._operations[key] = int(self._count[0])
            self._count += 1
            self._require(0)
        return self._operations[key]

    def follow(self, state: int, patterns: list[int]) -> int:
        """The last state, which is made where it is new."""
        self._require(len(patterns))
        return int(kernels.follow(self.table, self._count, state, np.array(patterns, dtype=np.int64)))

    def _require(self, states: int) -> None:
        """Room for more states, with half of the places free."""
        old, size = self.table, len(self.table.keys)
        while 2 * (int(self._count[0]) + states) >= size:
            size *= 2
        if size > len(old.keys):
            self.table = _table(size)
            kernels.enter(old, self.table)

    def packed(self) -> kernels.Packed:
        """All templates so far, one after another."""
        old = self._packed
        made = self.templates[len(old.kind) :]
        if not made:
            return old

        def joined(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(old, name), *(getattr(t, name).ravel() for t in made)])

        def begins(before: Scalars, name: str) -> Scalars:
            return np.concatenate([before[:-1], before[-1] + starts([getattr(t, name).size for t in made])])

        kinds = [self.sizes.setdefault(len(t.op), len(self.sizes)) for t in made]
        shape = np.array([t.out.shape for t in made], dtype=np.int64).T
        self._packed = kernels.Packed(
            *(begins(old.first, "op"), joined("op"), joined("a"), joined("b")),
            *(np.append(old.kind, kinds), begins(old.outs, "out"), joined("out")),
            *(np.concatenate([old.shape, shape], axis=1), begins(old.kept, "passed"), joined("passed")),
            np.append(old.renames, [t.renames for t in made]),
        )
        return self._packed

    def number(self, scalars: Scalars) -> int:
        """The pattern of zeros, ones and signs of a block, as a number."""
        codes = np.minimum(np.maximum(scalars, -2), 2).astype(np.int8)
        key = (codes.shape, codes.tobytes())
        if key not in self._known:
            self._known[key] = len(self.codes)
            self.codes.append(codes)
            self.blocks.append(key)
            if len(self.codes) > len(self.variants):
                self.variants = np.concatenate([self.variants, np.full_like(self.variants, -1)])
            self.variants[len(self.codes) - 1, 0] = len(self.codes) - 1
        return self._known[key]

    def variant(self, pattern: NDArray[np.int64], ref: Ref) -> int:
        """The pattern of a reference, by those of all values: transposed, negated."""
        own, kind = int(pattern[ref.value]), ref & 3
        if self.variants[own, kind] < 0:
            codes = self.codes[own].T if ref.transposed else self.codes[own]
            self.variants[own, kind] = self.number(codes.astype(np.int64) * ref.sign)
        return int(self.variants[own, kind])


class Patterns:
    """The pattern of each value of a program, and the template of each instruction.

    ``known`` are the templates of other programs of the same robot, with the same rank updates.
    """

    def __init__(self, program: Program, inputs: InputSlots, known: Known | None = None) -> None:
        self.program = program
        self.inputs = inputs
        self.known: Known = known or Known()
        # whole numbers that instructions divide by are values beyond the program's own
        self.wholes: dict[int, int] = {
            number: len(program.shapes) + k for k, number in enumerate(inputs.whole)
        }
        # scalars of the inputs, by their values
        self.blocks: dict[int, NDArray[Any]] = {
            value: np.array([[inputs.whole[number]]]) for number, value in self.wholes.items()
        }
        self.pattern: NDArray[np.int64] = np.full(len(program.shapes) + len(self.wholes), -1, dtype=np.int64)
        self.pattern[len(program.shapes) :] = self.known.number(np.full((1, 1), 2))
        self.steps: kernels.Steps = self._read()
        self._first = self._states()

    @property
    def large(self) -> NDArray[np.bool_]:
        """(instructions,) those that are factors that :func:`large_factor` writes."""
        return self._first == kernels.LARGE

    def runs(self, keep: NDArray[np.bool_], most: int) -> Iterator[tuple[Scalars, Scalars]]:
        """The instructions to ``keep``, without inputs: their places, and numbers of their templates.

        They come in runs of ``most`` operations or a few more.  A large factor, whose number is
        LARGE, is a run by itself; who reads it keeps the pattern of its result.
        """
        known, done, first = self.known, np.zeros(2, dtype=np.int64), 0
        places = np.flatnonzero(keep & (self._first != kernels.INPUT))
        numbers = np.full(len(places), kernels.LARGE, dtype=np.int64)
        while first < len(places):
            enough = kernels.meet(
                *(places, done, most, self.steps, self._first, self.pattern),
                *(known.table, known.variants, numbers),
            )
            at = int(done[0])
            large = at < len(places) and self._first[places[at]] == kernels.LARGE
            if at < len(places) and not large and not enough:
                self._meet(int(places[at]))
                continue
            for run in (slice(first, at), slice(at, at + large)):
                if run.stop > run.start:
                    yield places[run], numbers[run]
            first = at + large
            done[:] = first, 0

    def walk(self, keep: NDArray[np.bool_]) -> Iterator[tuple[int, Template | None]]:
        """The places of instructions to ``keep``, with their templates; large factors have none."""
        for places, numbers in self.runs(keep, 1 << 18):
            if numbers[0] == kernels.LARGE:
                self._meet_large(self.program.instructions[places[0]])
            for place, number in zip(places.tolist(), numbers.tolist(), strict=True):
                yield place, None if number == kernels.LARGE else self.known.templates[number]

    def work(self) -> NDArray[np.int64]:
        """(groups + 1,) operations that qdd needs of each group, both ways; the last: before any."""
        program = self.program
        counts = np.zeros(program.groups + 1, dtype=np.int64)
        for places, numbers in self.runs(program.live(("qdd", "x")), 1 << 18):
            i = program.instructions[places[0]]
            if numbers[0] == kernels.LARGE:
                operations = self._meet_large(i)
                np.add.at(counts, list(i.info) or [i.step] * len(operations), operations)
            else:
                np.add.at(counts, self.steps.step[places], np.diff(self.known.packed().first)[numbers])
        return counts

    def _read(self) -> kernels.Steps:
        """Arguments of all instructions."""
        out, first, args = self.program.operands
        step = np.fromiter(map(attrgetter("step"), self.program.instructions), np.int64, len(out))
        for place, i in enumerate(self.program.instructions if self.wholes else ()):
            if i.op == "divide":
                args = np.insert(args, first[place + 1], 4 * self.wholes[i.info[0]])
                first = first + (np.arange(len(first)) > place)
        none = np.zeros(0, dtype=np.int64)
        return kernels.Steps(out, step, first, args, none, none)

    def _states(self) -> Scalars:
        """Where each instruction begins to look for its template; LARGE for a large factor, or INPUT."""
        ops = [*map(attrgetter("op"), self.program.instructions)]
        mirrored = np.fromiter(map(attrgetter("symmetric"), self.program.instructions), np.bool_, len(ops))
        rows = dict.fromkeys(set(ops), len(PLAIN)) | {op: row for row, op in enumerate(PLAIN)}
        states = [[self.known.operation(op, symmetric, ()) for symmetric in (False, True)] for op in PLAIN]
        chosen = np.fromiter(map(rows.__getitem__, ops), np.int64, len(ops))
        found = np.array([*states, [NONE, NONE]])[chosen, mirrored.astype(np.int64)]
        for place in np.flatnonzero(found == NONE).tolist():
            found[place] = self._state(self.program.instructions[place])
        return found

    def _state(self, i: Instruction) -> int:
        """The first state of an instruction; keeps the pattern of an input."""
        if i.op == "input":
            found = self.known.inputs.get(i.info)
            if found is None:
                block = self.inputs.block(*i.info)
                found = block, self.known.number(block)
                if i.info[0] in BLOCKS:
                    self.known.inputs[i.info] = found
            self.blocks[i.out], self.pattern[i.out] = found
            return kernels.INPUT
        if i.op == "factor" and (i.info or self.program.shapes[i.out][0] > LARGEST):
            return kernels.LARGE
        # a stack or a square has another template where other blocks of it are zero
        there = tuple([ref is None for ref in i.args]) if i.op in ("stack", "square") else ()
        return self.known.operation(i.op, i.symmetric, self._info(i), *there)

    def _meet(self, place: int) -> None:
        """Write a template, which tapes share where its blocks are small, and keep its result's pattern."""
        i, known = self.program.instructions[place], self.known
        patterns = [known.variant(self.pattern, ref) for ref in i.args if ref is not None]
        if i.op == "divide":
            patterns.append(int(self.pattern[self.wholes[i.info[0]]]))
        state = known.follow(int(self._first[place]), patterns)
        if known.table.found[state, 0] >= 0:
            return
        blocks = tuple([known.blocks[pattern] for pattern in patterns])
        write = _template if sum(len(content) for _, content in blocks) <= SMALL else _template.__wrapped__
        present = tuple(ref is not None for ref in i.args)
        template = write(i.op, i.symmetric, self._info(i), self.program.gain, present, blocks)
        known.templates.append(template)
        known.table.found[state] = len(known.templates) - 1, known.number(template.out), len(template.op)

    def _meet_large(self, i: Instruction) -> list[int]:
        (ref,) = i.args
        assert ref is not None
        A = np.tril(_local(self.known.codes[self.known.variant(self.pattern, ref)]))
        place = 2 + A.size + np.arange(A.size).reshape(A.shape)
        gain, counts = self.program.gain, [0] * len(A)
        for k, op, *_ in large_factor(A, place, place + A.size, 2 + 3 * A.size, gain):
            counts[k] = len(op)
        self.pattern[i.out] = self.known.number(A)
        return counts

    def _info(self, i: Instruction) -> tuple[Any, ...]:
        """What an operation takes beside its blocks: its own sizes, or rows and columns of a joint."""
        if i.op in ("along", "across", "basis"):
            assert i.args[0] is not None
            return (self.inputs.pivot_rows(self._input_body[i.args[0].value]),)
        if i.op in ("weigh", "rotate"):
            dof, k = i.info
            return (dof, self.inputs.concentric(k), self.inputs.linear_columns(k))
        return i.info if i.op in SIZED else ()

    @cached_property
    def _input_body(self) -> dict[int, int]:
        return {i.out: int(i.info[1]) for i in self.program.instructions if i.op == "input"}


def starts(counts: ArrayLike) -> Scalars:
    """(n + 1,) where each of n parts begins, and the end."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


CHUNK = 1 << 18  # operations in a chunk
LIMIT = 2_000_000_000  # a longer tape is refused
SLOTS = 2**31 - 1  # 32 bits number so many


class Lowering(Patterns):
    """One pass over the program that writes chunks and hands out slots."""

    def __init__(self, program: Program, inputs: InputSlots, known: Known | None = None) -> None:
        super().__init__(program, inputs, known)
        count = len(program.instructions)
        # operations written before each instruction, and in all
        self.first: NDArray[np.int64] = np.zeros(count + 1, dtype=np.int64)
        self.played: int = 0  # operations that qdd needs
        self.written: int = 0
        first, rows, columns, held, holds = np.zeros((5, len(self.pattern)), dtype=np.int64)
        entries = np.zeros(36 * count + 16, dtype=np.int32)
        self._values = kernels.Values(first, rows, columns, held, holds, entries)
        self._entries = 0  # that are taken
        self._put(self.blocks)
        room = count + 3 * np.count_nonzero(self.large)
        start, stop, kind, users, after, free, seen = np.zeros((7, room), dtype=np.int64)
        free[:] = -1
        counts = np.array([0, inputs.count])
        self._regions = kernels.Regions(start, stop, kind, users, after, free, seen, counts)
        self._listed = np.zeros(2 * count + 16, dtype=np.int64)
        end, ends = self._last_uses()
        self.steps = self.steps._replace(end=end, ends=ends)
        self._parts: list[Chunk] = []  # written, and not a whole chunk yet
        self._done = np.zeros(4, dtype=np.int64)

    @property
    def top(self) -> int:
        """How many slots have been handed out."""
        return int(self._regions.counts[1])

    def run(self) -> Iterator[Chunk]:
        program = self.program
        operations = np.zeros(len(program.instructions), dtype=np.int64)
        # a large factor is written in pieces, the others a chunk at a time
        for places, numbers in self.runs(program.kept, CHUNK):
            if numbers[0] == kernels.LARGE:
                before = self.written
                yield from self._large(int(places[0]), program.instructions[places[0]])
                operations[places] = self.written - before
                continue
            packed = self.known.packed()
            operations[places] = np.diff(packed.first)[numbers]
            count = int(operations[places].sum())
            self._write(count)
            self._copy(places, numbers, count, packed)
            if count >= CHUNK:
                yield from self._full(CHUNK)
        yield from self._full(1)
        np.cumsum(operations, out=self.first[1:])
        self.played = int(operations[program.live(("qdd", "x"))].sum())

    # -- results ------------------------------------------------------------------------------

    def value(self, number: int) -> Scalars:
        """Signed slots of a value; they are told even when they have been handed out again."""
        values = self._values
        shape = values.rows[number], values.columns[number]
        first = values.first[number]
        return values.entries[first : first + shape[0] * shape[1]].astype(np.int64).reshape(shape)

    def take(self, ref: Ref) -> Scalars:
        array = ref.sign * self.value(ref.value)
        return array.T if ref.transposed else array

    def solved(self, found: Mapping[Block, Ref]) -> dict[Block, Scalars]:
        """Scalars of unknowns, once the program has been written."""
        return {block: self.take(ref) for block, ref in found.items()}

    def pivots(self) -> dict[int, Scalars]:
        """Scalars on the factor's diagonal, by the number of the pivot's record."""
        return {
            number: self.value(record.factor).diagonal()[slice(*record.rows)].copy()
            for number, record in enumerate(self.program.pivots)
            if record.factor >= 0
        }

    # -- before ------------------------------------------------------------------------------

    def _last_uses(self) -> tuple[Scalars, Scalars]:
        """Values to release after each instruction, those made first first; results stay."""
        out, counts, used = self.steps.out, np.diff(self.steps.arg), self.steps.args >> 2
        program, total = self.program, len(self._values.first)
        owner = np.repeat(np.arange(len(out)), counts)
        last, made = np.full((2, total), -1, dtype=np.int64)
        made[out] = np.arange(len(out))
        last[out[program.kept]] = made[out[program.kept]]
        here = program.kept[owner]
        np.maximum.at(last, used[here], owner[here])
        results = [ref.value for found in (program.solution, *program.columns) for ref in found.values()]
        results += [record.factor for record in program.pivots if record.factor >= 0]
        results += [] if program.inertia is None else [program.inertia.value]
        last[[*results, *self.wholes.values()]] = -1
        ended = np.flatnonzero(last >= 0)
        ended = ended[np.lexsort((made[ended], last[ended]))]
        return starts(np.bincount(last[ended], minlength=len(out))), ended

    # -- chunks ------------------------------------------------------------------------------

    def _full(self, least: int) -> Iterator[Chunk]:
        """What is written, as one chunk, where that has so many operations."""
        if sum(len(part) for part in self._parts) >= least:
            columns = zip(*self._parts, strict=True)
            self._parts, whole = [], self._parts
            yield whole[0] if len(whole) == 1 else Chunk(*map(np.concatenate, columns))

    def _copy(self, places: Scalars, numbers: Scalars, operations: int, packed: kernels.Packed) -> None:
        """Write instructions, by the numbers of their templates."""
        most = max(t.first + len(t.op) for t in map(self.known.templates.__getitem__, set(numbers.tolist())))
        lookup = np.zeros(max(2, most), dtype=np.int64)
        lookup[1] = 1
        self._require_lists()
        self._place(self.steps.out[places], *(x[numbers] for x in packed.shape))
        chunk = Chunk(np.empty(operations, np.int8), *np.empty((4, operations), dtype=np.int32))
        self._done[:2] = 0
        while self._done[0] < len(places):
            kernels.copy(
                *(places, numbers, self.steps, packed, self._regions),
                *(self._values, self._listed, lookup, tuple(chunk), self._done),
            )
            if self._done[0] < len(places):
                self._listed = np.concatenate([self._listed, np.zeros_like(self._listed)])
        self._require_slots()
        if operations:
            self._parts.append(chunk)

    def _large(self, place: int, i: Instruction) -> Iterator[Chunk]:
        """L D L^T of a large matrix in place, with a scratch for the results of a column."""
        (ref,) = i.args
        assert ref is not None
        A, gain = np.tril(self.take(ref)), self.program.gain
        n = len(A)
        size = n * (n + 1) // 2
        # an entry of an update takes a product, a quotient, and a difference or a copy
        own, scratch = self._allocate(size), self._allocate(3 * size)
        row, col = np.tril_indices(n)
        home = np.zeros((n, n), dtype=np.int64)
        home[row, col] = self._regions.start[own] + np.arange(size)
        columns, owned = home, [own]
        if gain:
            owned.append(self._allocate(size))
            columns = home + (self._regions.start[owned[1]] - self._regions.start[own])
        self._require_slots()
        first = self._regions.start[scratch]
        # column by column, so that no more than a chunk waits to be handed on
        for k, op, dst, a, b in large_factor(A, home, columns, int(first), gain):
            self._write(len(op))
            step = np.full(len(op), i.info[k] if i.info else i.step)
            self._parts.append(Chunk(op, *(x.astype(np.int32) for x in (dst, a, b, step))))
            yield from self._full(CHUNK)
        # the factor has its own slots; those of the scratch, and of what was used last, are free again
        self.pattern[i.out] = self.known.number(A)
        self._put({i.out: A})
        self._own(i.out, owned, ref.value)
        interpreted(kernels.given_back)(self._regions, scratch)
        for value in self.steps.ends[self.steps.end[place] : self.steps.end[place + 1]]:
            interpreted(kernels.release)(self._regions, self._values, self._listed, value)

    def _allocate(self, size: int) -> int:
        kind = self.known.sizes.setdefault(size, len(self.known.sizes))
        self._require_lists()
        return int(interpreted(kernels.allocated)(self._regions, kind, size))

    def _require_lists(self) -> None:
        """A list of free regions for each size."""
        missing = len(self.known.sizes) - len(self._regions.free)
        if missing > 0:
            free = np.append(self._regions.free, np.full(missing, -1))
            self._regions = self._regions._replace(free=free)

    def _own(self, value: int, regions: list[int], operand: int) -> None:
        """Keep the regions of a value: its own, and its operand's."""
        first, count = self._values.held[operand], self._values.holds[operand]
        held = [*regions, *self._listed[first : first + count]]
        used = int(self._done[2])
        if used + len(held) > len(self._listed):
            self._listed = np.concatenate([self._listed, np.zeros(used + len(held), dtype=np.int64)])
        self._listed[used : used + len(held)] = held
        self._values.held[value], self._values.holds[value] = used, len(held)
        self._regions.users[held] += 1
        self._done[2] += len(held)

    def _place(self, value: Scalars, rows: Scalars, columns: Scalars) -> None:
        """Room for values of these shapes."""
        values, ends = self._values, self._entries + np.cumsum(rows * columns)
        values.first[value], values.rows[value], values.columns[value] = ends - rows * columns, rows, columns
        self._entries = int(ends[-1]) if len(ends) else self._entries
        missing = self._entries - len(values.entries)
        if missing > 0:
            more = np.zeros(missing + len(values.entries), dtype=np.int32)
            self._values = values._replace(entries=np.concatenate([values.entries, more]))

    def _put(self, blocks: dict[int, Scalars]) -> None:
        """The scalars of some values."""
        first = self._entries
        self._place(np.array([*blocks], dtype=np.int64), *np.array([x.shape for x in blocks.values()]).T)
        self._values.entries[first : self._entries] = np.concatenate([x.ravel() for x in blocks.values()])

    def _require_slots(self) -> None:
        if self.top > SLOTS:
            raise SizeError("tape", f"needs more than {SLOTS:,} slots", "use an order with less fill")

    def _write(self, count: int) -> None:
        self.written += count
        if self.written > LIMIT:
            what = f"needs more than {LIMIT:.0e} operations on this tree"
            raise SizeError(f"order {self.program.name!r}", what, "use an order with less fill, such as abm")
