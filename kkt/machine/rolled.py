"""A program rolled up: equal segments become one function, each call of which has a table row.

Operands of a function are its own results, or are read from outside: rows of the work array or
constants.  The places of these differ from call to call and are given by the table.  Places whose
distance is the same in all calls share one entry, and a place that never changes has none.

A program is cut into segments, so that operations repeated for body after body are cut alike.  Bodies
are not known here: cuts follow from the operations around them, so that equal sequences of operations
are cut at equal places.  First each operation becomes a token: its kind, and how many operations
before it its operands were made.  A cut is made where a hash of the next few tokens is smaller than
the hashes near it (content-defined chunking).  Then neighbours that nearly always occur together are
joined, until a segment holds all operations for a body at one time, or those between two repeated
parts.

Results whose last reader is the same segment get consecutive rows of the work array, and the
constants of a call are consecutive too, so that distances between places are the same in all calls.

In LLVM's intermediate language runs of calls, their table, and constants are data, one after another
in one array.  So trees of one kind differ in data only, and the text grows with the number of
functions alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.chunk import SQRT
from .driver import Shape
from .emission import Source, broadcast, operation
from .scalar_program import ScalarProgram


def rolled_source(program: Rolled, shape: Shape) -> Source:
    """The functions of a rolled program, which takes the array of :func:`data` as its constants."""
    lines: list[str] = []
    for number, function in enumerate(program.functions):
        lines += _function(function, number, shape)
    lines += _calls(program, shape)
    return Source("\n".join(lines), program.rows, 1)


def data(program: Rolled, dtype: Any) -> tuple[NDArray, tuple[int, int, int, int]]:
    """Constants, runs, table and the two lists of outputs in one array of a number type.

    Returns it, and where the last four start, in bytes.
    """
    parts = [
        program.constants.astype(dtype),
        program.runs,
        program.table,
        program.row_outputs,
        program.constant_outputs,
    ]
    whole, starts, top = [], [], 0
    for part in parts:
        raw = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
        starts.append(top)
        whole += [raw, np.zeros(-len(raw) % 8, dtype=np.uint8)]
        top += len(raw) + -len(raw) % 8
    return np.concatenate(whole).view(dtype), (starts[1], starts[2], starts[3], starts[4])


def _function(function: Function, number: int, shape: Shape) -> Iterator[str]:
    """One function; arguments are its row of the table, constants, and the work array twice.

    The work array is one argument for reading and one for writing.  Both may be noalias, since a
    call never reads the rows that it writes.
    """
    T = shape.type
    yield (
        f"define internal void @f{shape.stage}{number}(ptr noalias readonly %t, ptr noalias readonly %c, "
        "ptr noalias readonly %r, ptr noalias %w) noinline {"
    )
    for column in range(function.columns):
        yield f"%t{column} = getelementptr i32, ptr %t, i64 {column}"
        yield f"%i{column} = load i32, ptr %t{column}"
        yield f"%e{column} = sext i32 %i{column} to i64"
    bases: set[str] = set()

    def address(place: Address, array: str, name: str) -> Iterator[str]:
        kind = shape.number if place.constant else T
        start = f"%{array}"
        if place.column >= 0:
            start = f"%{array}{place.column}"
            if start not in bases:
                bases.add(start)
                yield f"{start} = getelementptr {kind}, ptr %{array}, i64 %e{place.column}"
        yield f"%{name} = getelementptr {kind}, ptr {start}, i64 {place.offset}"

    met: set[int] = set()

    def read(code: int) -> Iterator[str]:
        if code >= 0 or code in met:
            return
        met.add(code)
        place, name = function.reads[-1 - code], f"x{-1 - code}"
        yield from address(place, "c" if place.constant else "r", f"p{name}")
        if place.constant:
            yield from broadcast(shape, f"p{name}", name)
        else:
            yield f"%{name} = load {T}, ptr %p{name}"

    def named(code: int) -> str:
        return f"%v{code}" if code >= 0 else f"%x{-1 - code}"

    operations = zip(function.op.tolist(), function.a.tolist(), function.b.tolist(), strict=True)
    for i, (op, a, b) in enumerate(operations):
        yield from read(a)
        if op != SQRT:
            yield from read(b)
        yield f"%v{i} = {operation(shape, op, named(a), named(b))}"
        if i in function.writes:
            yield from address(function.writes[i], "w", f"q{i}")
            yield f"store {T} %v{i}, ptr %q{i}"
    yield "ret void"
    yield "}"


def _calls(program: Rolled, shape: Shape) -> Iterator[str]:
    """The loop over runs of calls, and copies of outputs to their rows."""
    starts = data(program, np.float64 if shape.number == "double" else np.float32)[1]
    count = len(program.functions)
    names = ", ".join(f"ptr @f{shape.stage}{f}" for f in range(count))
    yield f"""\
@functions{shape.stage} = internal constant [{count} x ptr] [{names}]
define internal void @piece{shape.stage}0(ptr %c, ptr %w) noinline {{
entry:
  %runs = getelementptr i8, ptr %c, i64 {starts[0]}
  %table = getelementptr i8, ptr %c, i64 {starts[1]}
  br label %run
run:
  %r = phi i64 [0, %entry], [%rnext, %next]
  %t = phi ptr [%table, %entry], [%tnext, %next]
  %more = icmp ult i64 %r, {len(program.runs)}
  br i1 %more, label %begin, label %out0
begin:
  %which = getelementptr [3 x i32], ptr %runs, i64 %r
  %often = getelementptr i32, ptr %which, i64 1
  %wide = getelementptr i32, ptr %which, i64 2
  %f = load i32, ptr %which
  %n = load i32, ptr %often
  %columns = load i32, ptr %wide
  %at = getelementptr ptr, ptr @functions{shape.stage}, i32 %f
  %function = load ptr, ptr %at
  br label %call
call:
  %k = phi i32 [0, %begin], [%knext, %call]
  %row = phi ptr [%t, %begin], [%tnext, %call]
  call void %function(ptr %row, ptr %c, ptr %w, ptr %w)
  %tnext = getelementptr i32, ptr %row, i32 %columns
  %knext = add i32 %k, 1
  %again = icmp ult i32 %knext, %n
  br i1 %again, label %call, label %next
next:
  %rnext = add i64 %r, 1
  br label %run
out0:
  br label %row0"""
    yield from _outputs(program, shape, 0, starts[2], len(program.row_outputs))
    yield from _outputs(program, shape, 1, starts[3], len(program.constant_outputs))
    yield "out2:\n  ret void\n}"


def _outputs(program: Rolled, shape: Shape, kind: int, start: int, count: int) -> Iterator[str]:
    """Copy rows (kind 0) or constants (kind 1) to the rows of outputs, with their signs."""
    T, after = shape.type, "row1" if kind == 0 else "out2"
    yield f"""\
row{kind}:
  %o{kind} = phi i64 [0, %{"out0" if kind == 0 else "row0"}], [%onext{kind}, %copy{kind}]
  %omore{kind} = icmp ult i64 %o{kind}, {count}
  br i1 %omore{kind}, label %copy{kind}, label %{after}
copy{kind}:
  %list{kind} = getelementptr i8, ptr %c, i64 {start}
  %entry{kind} = getelementptr [3 x i32], ptr %list{kind}, i64 %o{kind}
  %to{kind} = load i32, ptr %entry{kind}
  %second{kind} = getelementptr i32, ptr %entry{kind}, i64 1
  %from{kind} = load i32, ptr %second{kind}
  %third{kind} = getelementptr i32, ptr %entry{kind}, i64 2
  %sign{kind} = load i32, ptr %third{kind}
  %minus{kind} = icmp ne i32 %sign{kind}, 0
  %long{kind} = sext i32 %from{kind} to i64"""
    if kind == 0:
        yield f"%at0 = getelementptr {T}, ptr %w, i64 %long0"
        yield f"%y0 = load {T}, ptr %at0"
    else:
        yield f"%at1 = getelementptr {shape.number}, ptr %c, i64 %long1"
        yield from broadcast(shape, "at1", "y1")
    yield f"""\
  %n{kind}_ = fneg {T} %y{kind}
  %z{kind} = select i1 %minus{kind}, {T} %n{kind}_, {T} %y{kind}
  %there{kind} = sext i32 %to{kind} to i64
  %target{kind} = getelementptr {T}, ptr %w, i64 {program.inputs}
  %place{kind} = getelementptr {T}, ptr %target{kind}, i64 %there{kind}
  store {T} %z{kind}, ptr %place{kind}
  %onext{kind} = add i64 %o{kind}, 1
  br label %row{kind}"""


Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Address:
    """A row of the work array, or a constant: ``offset`` beyond an entry of the table."""

    constant: bool
    column: int  # of the table's row for a call; -1: no entry, ``offset`` alone
    offset: int


@dataclass(frozen=True)
class Function:
    """Operations on the function's own results (0, 1, ...) and on values read (-1, -2, ...)."""

    op: NDArray[np.int8]  # (L,)
    a: Ints  # (L,)
    b: Ints  # (L,)
    reads: tuple[Address, ...]
    writes: dict[int, Address]  # by the number of a result
    columns: int  # entries of the table for one call


@dataclass(frozen=True)
class Rolled:
    """A program as functions and their calls."""

    inputs: int
    length: int  # operations of the program
    functions: tuple[Function, ...]
    runs: NDArray[np.int32]  # (R, 3) function, number of consecutive calls, its columns
    table: NDArray[np.int32]  # entries of all calls, one after another
    constants: NDArray[np.float64]  # one, and all constants that are read
    rows: int  # of the work array: inputs, outputs, and results that other calls read
    row_outputs: NDArray[np.int32]  # (., 3) output, row, and whether its sign changes
    constant_outputs: NDArray[np.int32]  # (., 3) output, constant, and the same

    def __len__(self) -> int:
        return self.length

    @property
    def code(self) -> int:
        """The number of operations in all functions, each counted once."""
        return sum(len(f.op) for f in self.functions)

    @property
    def calls(self) -> int:
        return int(self.runs[:, 1].sum())

    @property
    def outputs(self) -> int:
        return len(self.row_outputs) + len(self.constant_outputs)

    def arrays(self) -> dict[str, NDArray]:
        """The program as arrays to be stored, for :meth:`from_arrays`."""
        functions = self.functions
        reads = [(p.constant, p.column, p.offset) for f in functions for p in f.reads]
        writes = [(j, p.column, p.offset) for f in functions for j, p in f.writes.items()]
        sizes = [(len(f.op), len(f.reads), len(f.writes), f.columns) for f in functions]
        whole = {name: np.array(getattr(self, name)) for name in _PARTS}
        for name in ("op", "a", "b"):
            whole[name] = np.concatenate([np.zeros(0, int), *(getattr(f, name) for f in functions)])
        whole["sizes"] = np.array(sizes, dtype=np.int64).reshape(-1, 4)
        whole["reads"] = np.array(reads, dtype=np.int64).reshape(-1, 3)
        whole["writes"] = np.array(writes, dtype=np.int64).reshape(-1, 3)
        return whole

    @classmethod
    def from_arrays(cls, kept: Mapping[str, NDArray]) -> Rolled:
        functions = []
        at = np.zeros(4, dtype=np.int64)
        for size in kept["sizes"]:
            i, r, w, _ = at.tolist()
            at += size
            j, s, x, _ = at.tolist()
            functions.append(
                Function(
                    kept["op"][i:j].astype(np.int8),
                    kept["a"][i:j],
                    kept["b"][i:j],
                    tuple(Address(bool(c), p, o) for c, p, o in kept["reads"][r:s].tolist()),
                    {k: Address(False, p, o) for k, p, o in kept["writes"][w:x].tolist()},
                    int(size[3]),
                )
            )
        numbers = {name: int(kept[name]) for name in ("inputs", "length", "rows")}
        rest = {name: kept[name] for name in _PARTS if name not in numbers}
        return cls(functions=tuple(functions), **numbers, **rest)  # type: ignore[arg-type]


_PARTS = ("inputs", "length", "runs", "table", "constants", "rows", "row_outputs", "constant_outputs")


# -- segments -------------------------------------------------------------------------------------


NEAR = 64  # operands made fewer operations before are told apart by their distance
WINDOW = 8  # tokens that decide on a cut
APART = 32  # operations between cuts at least
RUN = 192  # operations between cuts at most: longer chunks, of equal tokens, are cut evenly
LONGEST = 2000  # operations of a segment at most
TOGETHER = 0.7  # share of both kinds' occurrences in which they must be neighbours to be joined


@dataclass(frozen=True)
class Segments:
    """Consecutive parts of a program; segments of one kind have the same tokens."""

    start: Ints  # (S + 1,) first operation of each, and the end
    kind: Ints  # (S,)


def segments_of(program: ScalarProgram, longest: int = LONGEST) -> Segments:
    """A program's segments, each of at most ``longest`` operations."""
    hashes = _hashed(_tokens(program))
    start = _chunks(hashes, len(program))
    length = np.diff(start)
    # a chunk's kind is its length and a sum of its tokens' hashes, weighted by place
    at = np.arange(len(program), dtype=np.uint64) - np.repeat(start[:-1], length).astype(np.uint64)
    weighed = hashes * (2 * _hashed(at) + np.uint64(1))
    total = np.add.reduceat(weighed, start[:-1]) if len(program) else weighed
    kind = np.unique(np.stack([total, length.astype(np.uint64)], 1), axis=0, return_inverse=True)[1]
    return _joined(Segments(start, kind.reshape(-1).astype(np.int64)), longest)


def _tokens(program: ScalarProgram) -> NDArray[np.uint64]:
    """(T,) kind of an operation and, for both operands, distance if near, else constant or far."""
    here = program.first + np.arange(len(program), dtype=np.int64)
    token = program.op.astype(np.int64)
    for operand in (program.a, program.b):
        back = here - operand
        constant = (operand <= 1) | ((operand >= 2 + program.inputs) & (operand < program.first))
        near = (operand >= program.first) & (back < NEAR)
        token = token * (NEAR + 2) + np.where(near, back, np.where(constant, 0, NEAR + 1))
    return token.astype(np.uint64)


def _hashed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of splitmix64 (Steele, Lea & Flood 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _chunks(hashes: NDArray[np.uint64], T: int) -> Ints:
    """(S + 1,) cuts where a window's hash is less than those before, at most those after it."""
    if T <= 2 * APART:
        return np.array([0, T] if T else [0], dtype=np.int64)
    window = np.zeros(T, dtype=np.uint64)
    factor = np.uint64(0x9E3779B97F4A7C15)
    for i in range(WINDOW):
        window[: T - i] = window[: T - i] * factor + hashes[i:]
    least = _least(window, APART)  # of i, ..., i + APART - 1
    cut = np.zeros(T, dtype=bool)
    inside = np.arange(APART, T - APART)
    cut[inside] = (window[inside] < least[inside - APART]) & (window[inside] <= least[inside + 1])
    cut[0] = True
    start = np.append(np.flatnonzero(cut), T)
    length = np.diff(start)
    parts = -(-length // RUN)
    within = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(np.repeat(start[:-1], parts) + within * RUN, T)


def _least(x: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """(T,) the least of x[i : i + width] for each i (van Herk 1992)."""
    T = len(x)
    padded = np.full(-(-(T + width) // width) * width, np.iinfo(np.uint64).max, dtype=np.uint64)
    padded[:T] = x
    rows = padded.reshape(-1, width)
    before = np.minimum.accumulate(rows, axis=1).ravel()
    after = np.minimum.accumulate(rows[:, ::-1], axis=1)[:, ::-1].ravel()
    return np.minimum(after[:T], before[width - 1 : width - 1 + T])


def _joined(segments: Segments, longest: int) -> Segments:
    """Join segments of kinds that nearly always occur next to each other, many kinds at a time."""
    start, kind = segments.start, segments.kind
    while len(kind) > 1:
        kinds = int(kind.max()) + 1
        count = np.bincount(kind, minlength=kinds)
        length = np.zeros(kinds, dtype=np.int64)
        length[kind] = np.diff(start)
        pair = kind[:-1] * kinds + kind[1:]
        pairs, met = np.unique(pair, return_counts=True)
        one, two = pairs // kinds, pairs % kinds
        good = (one != two) & (length[one] + length[two] <= longest)
        good &= met >= TOGETHER * np.maximum(count[one], count[two])
        order = np.flatnonzero(good)[np.argsort(-met[good], kind="stable")]
        chosen, used = [], np.zeros(kinds, dtype=bool)
        for i in order.tolist():  # each kind in one pair, so that no two pairs overlap
            if not (used[one[i]] or used[two[i]]):
                used[one[i]] = used[two[i]] = True
                chosen.append(i)
        if not chosen:
            break
        new = np.full(len(pairs), -1)
        new[chosen] = kinds + np.arange(len(chosen))
        joined = new[np.searchsorted(pairs, pair)]
        first = np.append(joined >= 0, False)
        second = np.append(False, joined >= 0)
        kind = np.where(first, np.append(joined, 0), kind)[~second]
        start = np.append(start[:-1][~second], start[-1])
        kind = np.unique(kind, return_inverse=True)[1].reshape(-1)
    return Segments(start, kind)


def rolled(program: ScalarProgram, longest: int = LONGEST) -> Rolled:
    """A program with its segments as functions; ``longest`` bounds the operations of a segment."""
    return _Rolling(program, longest).result()


class _Rolling:
    """A program that is rolled up, and the places of its values so far."""

    def __init__(self, program: ScalarProgram, longest: int) -> None:
        self.program = program
        self.first = program.first
        T, segments = len(program), segments_of(program, longest)
        self.start, S = segments.start, len(segments.kind)
        own = np.repeat(np.arange(S), np.diff(self.start))  # segment of each operation
        self.groups = self._groups(segments.kind)  # segments of each function, ascending
        # the last segment that reads a result; S for an output
        last = own.copy()
        for operand, used in ((program.a, program.op >= 0), (program.b, program.op != SQRT)):
            made = used & (operand >= self.first)
            np.maximum.at(last, operand[made] - self.first, own[made])
        kept = np.abs(program.outputs)
        last[kept[kept >= self.first] - self.first] = S
        self.last, self.own = last, own
        self.row = np.full(self.first + T, -1, dtype=np.int64)
        self.row[2 : 2 + program.inputs] = np.arange(program.inputs)
        self.top = program.inputs + len(program.outputs)
        # one, the program's constants, zero, then constants of calls
        self.pool = np.concatenate([np.ones(1), program.constants, np.zeros(1)])
        self.constants, self.constant_top = [self.pool], len(self.pool)
        self.constant_of = np.arange(self.first) - 1 - program.inputs  # of a slot
        self.constant_of[0], self.constant_of[1] = len(self.pool) - 1, 0

    def _groups(self, kind: Ints) -> list[Ints]:
        """Sets of segments with the same operations on the same of their own results."""
        found: dict[bytes, list[int]] = {}
        order = np.argsort(kind, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1):
            if not len(members):
                continue
            code = self._local(members)[:3]
            for t, *row in zip(members.tolist(), *code, strict=True):
                found.setdefault(b"".join(x.tobytes() for x in row), []).append(t)
        return [np.array(sorted(group)) for group in found.values()]

    def _local(self, members: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """(K, L) operations of K segments, codes of both operands, and slots of both operands.

        A code is the number of an own result, else -1 for a row, -2 for a constant, -3 for none.
        """
        program, start = self.program, self.start[members]
        at = start[:, None] + np.arange(int(self.start[members[0] + 1] - start[0]))
        op = program.op[at].astype(np.int64)
        codes, slots = [], []
        for operand in (program.a, program.b):
            slot = operand[at].astype(np.int64)
            number = slot - self.first - start[:, None]
            row = (slot >= self.first) | ((slot >= 2) & (slot < 2 + program.inputs))
            codes.append(np.where(number >= 0, number, np.where(row, -1, -2)))
            slots.append(slot)
        codes[1][op == SQRT] = -3
        return op, codes[0], codes[1], slots[0], slots[1]

    def result(self) -> Rolled:
        """The program as functions and calls of them."""
        program, start = self.program, self.start
        S = len(start) - 1
        of = np.zeros(S, dtype=np.int64)
        for g, members in enumerate(self.groups):
            of[members] = g
        self._stand()
        made = [self._function(members) for members in self.groups]
        tables = [table for _, table in made]
        position = np.zeros(S, dtype=np.int64)
        for members in self.groups:
            position[members] = np.arange(len(members))
        change = np.flatnonzero(np.diff(of, prepend=-1)) if S else np.zeros(0, dtype=np.int64)
        count = np.diff(np.append(change, S))
        rows = [
            tables[of[t]][position[t] : position[t] + n].ravel()
            for t, n in zip(change.tolist(), count.tolist(), strict=True)
        ]
        none = np.zeros(0, dtype=np.int64)
        columns = np.array([function.columns for function, _ in made], dtype=np.int64)
        outputs = self._outputs()
        return Rolled(
            program.inputs,
            len(program),
            tuple(function for function, _ in made),
            np.stack([of[change], count, columns[of[change]]], 1).astype(np.int32),
            np.concatenate([none, *rows]).astype(np.int32),
            np.concatenate(self.constants),
            self.top,
            *outputs,
        )

    def _stand(self) -> None:
        """Assign rows to results that other segments read; those with one last reader together."""
        S = len(self.start) - 1
        blocks: list[list[tuple[Ints, Ints]]] = []  # of each group: results, and last readers
        for members in self.groups:
            L = int(self.start[members[0] + 1] - self.start[members[0]])
            last = self.last[self.start[members][:, None] + np.arange(L)]
            outside = np.flatnonzero((last > members[:, None]).any(0))
            together: dict[bytes, list[int]] = {}
            for j in outside.tolist():
                together.setdefault(last[:, j].tobytes(), []).append(j)
            blocks.append([(np.array(b), last[:, b[0]]) for b in together.values()])
        todo: list[tuple[int, int]] = [(0, 0)] * S
        for g, members in enumerate(self.groups):
            for i, t in enumerate(members.tolist()):
                todo[t] = g, i
        free: dict[int, list[int]] = {}
        leaving: list[list[tuple[int, int]]] = [[] for _ in range(S + 1)]
        for t, (g, i) in enumerate(todo):
            base = self.first + int(self.start[t])
            for results, last in blocks[g]:
                size, until = len(results), int(last[i])
                if free.get(size):
                    row = free[size].pop()
                else:
                    row, self.top = self.top, self.top + size
                self.row[base + results] = row + np.arange(size)
                leaving[max(until, t)].append((size, row))
            for size, row in leaving[t]:  # free once this segment is over
                free.setdefault(size, []).append(row)
            leaving[t] = []

    def _function(self, members: Ints) -> tuple[Function, Ints]:
        """The function of equal segments, and the rows of its table (K, columns)."""
        op, a, b, slot_a, slot_b = self._local(members)
        K = len(members)
        reads: list[Address] = []
        table: list[Ints] = []
        bases: dict[tuple[bool, bytes], tuple[int, int]] = {}
        codes = []

        def place(constant: bool, value: Ints) -> Address:
            moved = value - value[0]
            if not moved.any():
                return Address(constant, -1, int(value[0]))
            key = constant, moved.tobytes()
            if key not in bases:
                bases[key] = len(table), int(value[0])
                table.append(value)
            column, zero = bases[key]
            return Address(constant, column, int(value[0]) - zero)

        known: dict[tuple[bool, bytes], int] = {}
        own: list[tuple[int, Ints]] = []  # constants that differ from call to call
        for code, slot in ((a, slot_a), (b, slot_b)):
            local = code[0].copy()
            for j in np.flatnonzero(local < 0).tolist():
                if local[j] == -3:
                    continue
                constant = bool(local[j] == -2)
                value = self.constant_of[slot[:, j]] if constant else self.row[slot[:, j]]
                key = constant, value.tobytes()
                if key not in known:
                    known[key] = len(reads)
                    reads.append(Address(constant, -1, 0))
                    if constant and (value != value[0]).any():
                        own.append((known[key], value))
                    else:
                        reads[-1] = place(constant, value)
                local[j] = -1 - known[key]
            codes.append(local)
        if own:  # side by side
            first = self.constant_top + len(own) * np.arange(K)
            self.constants.append(self.pool[np.stack([value for _, value in own], 1)].ravel())
            self.constant_top += K * len(own)
            for j, (number, _) in enumerate(own):
                reads[number] = place(True, first + j)
        base = self.first + self.start[members]
        L = op.shape[1]
        writes = {
            j: place(False, self.row[base + j])
            for j in np.flatnonzero(self.row[base[0] : base[0] + L] >= 0).tolist()
        }
        rows = np.stack(table, 1) if table else np.zeros((K, 0), dtype=np.int64)
        code_a, code_b = codes
        return Function(op[0].astype(np.int8), code_a, code_b, tuple(reads), writes, len(table)), rows

    def _outputs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        program = self.program
        slot = np.abs(program.outputs).astype(np.int64)
        number, sign = np.arange(len(slot)), program.outputs < 0
        constant = (slot <= 1) | ((slot >= 2 + program.inputs) & (slot < self.first))
        where = self.constant_of[np.where(constant, slot, 0)]
        rows = np.stack([number, self.row[slot], sign], 1)[~constant]
        constants = np.stack([number, where, sign], 1)[constant]
        return rows.astype(np.int32), constants.astype(np.int32)
