"""A program in LLVM's intermediate language: IEEE arithmetic on vectors, strict unless relaxed.

The program is cut into pieces of bounded length, each a function, since compile time grows faster
than the length of a function.  Within a piece the compiler assigns values to registers; values that
later pieces read are stored in rows of a work array, a row being one number for each state of the
vector.  ``run`` goes over blocks of states: it gathers their inputs into rows, calls the pieces,
and scatters the rows of outputs.

A program for one state has vectors too: runs of the same operation on neighbouring values become
vectors.  Where columns of right-hand sides are solved for together (:mod:`kkt.tape.branches`), the
trace has such runs.  In each of them one operand is the same for all lanes, or is the result of an
earlier run.  Every lane does the operation that a scalar would do, so that the bits stay the same.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.chunk import MUL, SQRT
from .driver import Shape
from .scalar_program import ScalarProgram

PIECE = 4000  # operations in one function
OPERATION = ("fadd", "fsub", "fmul", "fdiv")
RELAXED = " contract arcp"
ARGUMENTS = "ptr noalias readonly %c, ptr noalias %w"  # constants, and the work array


@dataclass(frozen=True)
class Source:
    """The text of a program's functions, and the size of its work array."""

    text: str
    rows: int  # for inputs, outputs and values that pieces pass on; each of ``lanes`` numbers
    pieces: int


def source_of(program: ScalarProgram, shape: Shape, piece: int) -> Source:
    """The functions of a program, which the module's ``run`` calls (:mod:`kkt.machine.driver`)."""
    parts = -(-len(program) // piece) or 1
    work, rows = rows_of(program, parts, piece)
    wanted = wanted_by(program)
    text: list[str] = []
    for part in range(parts):
        text += _piece(program, shape, part, piece, work, wanted)
    return Source("\n".join(text), rows, parts)


def operation(shape: Shape, op: int, a: str, b: str) -> str:
    """The text of one operation on values; a square root does not read ``b``."""
    T = shape.type
    if op == SQRT:
        return f"call {T} @llvm.sqrt.{shape.suffix}({T} {a})"
    return f"{OPERATION[op]}{RELAXED if shape.relaxed else ''} {T} {a}, {b}"


def broadcast(shape: Shape, pointer: str, name: str) -> Iterator[str]:
    """Code that loads a number and puts it into every lane of the value ``name``."""
    T, t = shape.type, shape.number
    if shape.lanes == 1:
        yield f"%{name} = load {t}, ptr %{pointer}"
        return
    yield f"%s{name} = load {t}, ptr %{pointer}"
    yield f"%j{name} = insertelement {T} poison, {t} %s{name}, i32 0"
    yield f"%{name} = shufflevector {T} %j{name}, {T} poison, <{shape.lanes} x i32> zeroinitializer"


def rows_of(program: ScalarProgram, parts: int, piece: int) -> tuple[list[int], int]:
    """(T,) the row of each result that a later piece reads, else -1, and the number of rows."""
    T, first = len(program), program.first
    made = np.arange(T) // piece
    last = made.copy()
    for operand in (program.a, program.b):
        own = operand >= first
        np.maximum.at(last, operand[own] - first, made[own])
    row, rows = np.full(T, -1), Rows(program, parts)
    for i in np.flatnonzero(last > made).tolist():
        row[i] = rows.take(1, int(made[i]), int(last[i]))
    return row.tolist(), rows.top


class Rows:
    """Rows of the work array behind those of inputs and outputs, handed out piece by piece."""

    def __init__(self, program: ScalarProgram, pieces: int) -> None:
        self.top = program.inputs + len(program.outputs)
        self._free: dict[int, list[int]] = {}
        self._leaving: list[list[tuple[int, int]]] = [[] for _ in range(pieces + 1)]
        self._now = 0

    def take(self, count: int, made: int, last: int, align: int = 1) -> int:
        """The first of ``count`` rows side by side, from piece ``made``, which never falls, on.

        They are free again when the piece after ``last`` starts.
        """
        for piece in range(self._now, made + 1):
            for size, row in self._leaving[piece]:
                self._free.setdefault(size, []).append(row)
        self._now = made + 1
        if self._free.get(count):
            row = self._free[count].pop()
        else:
            row = self.top + -self.top % align
            self.top = row + count
        self._leaving[last + 1].append((count, row))
        return row


def wanted_by(program: ScalarProgram) -> dict[int, list[int]]:
    """The outputs that are a slot or its negative, by slot."""
    wanted: dict[int, list[int]] = {}
    for i, s in enumerate(program.outputs.tolist()):
        wanted.setdefault(abs(s), []).append(i)
    return wanted


def _piece(
    program: ScalarProgram,
    shape: Shape,
    part: int,
    piece: int,
    work: Sequence[int],
    wanted: dict[int, list[int]],
) -> Iterator[str]:
    """The function of one piece; its arguments are the constants and the work array."""
    first, inputs = program.first, program.inputs
    T, t = shape.type, shape.number
    begin, end = part * piece, min((part + 1) * piece, len(program))
    loaded: set[int] = set()

    def load(slot: int) -> Iterator[str]:
        if slot in loaded or first + begin <= slot:
            return
        loaded.add(slot)
        if slot == 0:
            yield f"%v0 = bitcast {T} zeroinitializer to {T}"
            return
        constant = slot == 1 or 2 + inputs <= slot < first
        if constant:
            at = 0 if slot == 1 else slot - 1 - inputs
            yield f"%p{slot} = getelementptr {t}, ptr %c, i64 {at}"
            yield from broadcast(shape, f"p{slot}", f"v{slot}")
            return
        row = slot - 2 if slot < first else work[slot - first]
        yield f"%p{slot} = getelementptr {T}, ptr %w, i64 {row}"
        yield f"%v{slot} = load {T}, ptr %p{slot}"

    def store(value: str, row: int, name: str) -> Iterator[str]:
        yield f"%q{name} = getelementptr {T}, ptr %w, i64 {row}"
        yield f"store {T} {value}, ptr %q{name}"

    def outputs(slot: int) -> Iterator[str]:
        for i in wanted.get(slot, ()):
            value = f"%v{slot}"
            if program.outputs[i] < 0:
                yield f"%n{i} = fneg {T} {value}"
                value = f"%n{i}"
            yield from store(value, inputs + i, f"o{i}")

    yield f"define internal void @piece{shape.stage}{part}({ARGUMENTS}) noinline {{"
    if part == 0:
        for slot in sorted(s for s in wanted if s < first):
            yield from load(slot)
            yield from outputs(slot)
    here = slice(begin, end)
    operations = zip(
        program.op[here].tolist(), program.a[here].tolist(), program.b[here].tolist(), strict=True
    )
    for i, (op, a, b) in enumerate(operations, begin):
        slot = first + i
        yield from load(a)
        if op != SQRT:
            yield from load(b)
        yield f"%v{slot} = {operation(shape, op, f'%v{a}', f'%v{b}')}"
        if work[i] >= 0:
            yield from store(f"%v{slot}", work[i], str(slot))
        yield from outputs(slot)
    yield "ret void"
    yield "}"


Named = Generator[str, None, str]  # lines, and at the end the name of what they made
LEAST = 4  # lanes of a vector at least
WORTH = 0.3  # share of a program's operations that must be in vectors


def widths_of(program: ScalarProgram, most: int) -> NDArray[np.int64]:
    """(T,) lanes of the vector that starts at an operation, 1 for a scalar, 0 within a vector."""
    op, a, b = program.op.tolist(), program.a.tolist(), program.b.tolist()
    first, T = program.first, len(program)
    widths = np.ones(T, dtype=np.int64)
    owner = [-1] * (first + T)  # first slot of the vector that holds a slot

    def kind(x: list[int], i: int, w: int) -> str:
        start = x[i]
        if x[i + 1] == start:
            return "same"
        together = owner[start] >= 0 and owner[start] == owner[x[i + w - 1]]
        return "vector" if together and x[i : i + w] == list(range(start, start + w)) else "apart"

    i = 0
    while i < T:
        j = i + 1
        if j < T and op[i] != SQRT:
            like = a[j] == a[i], b[j] == b[i]
            while (
                j < T
                and op[j] == op[i]
                and max(a[j], b[j]) < first + i
                and not all(like)
                and (a[j] == a[j - 1], b[j] == b[j - 1]) == like
            ):
                j += 1
        w = most
        while w >= LEAST:
            while j - i >= w:
                kinds = kind(a, i, w), kind(b, i, w)
                if "vector" in kinds or (op[i] == MUL and "same" in kinds):
                    widths[i : i + w] = 0
                    widths[i] = w
                    owner[first + i : first + i + w] = [first + i] * w
                i += w
            w //= 2
        i = j
    return widths


def worth(program: ScalarProgram) -> bool:
    """Whether enough operations of a program can be in vectors."""
    return bool((widths_of(program, 8) != 1).mean() > WORTH)


def abreast_source(program: ScalarProgram, shape: Shape, piece: int, most: int) -> Source:
    """The functions of a program of one state, in vectors of at most ``most`` numbers."""
    widths = widths_of(program, most)
    writer = _Pieces(program, shape, widths, piece)
    text: list[str] = []
    for part in range(writer.parts):
        text += writer.piece(part)
    return Source("\n".join(text), writer.top, writer.parts)


class _Pieces:
    """The program as functions of bounded length, which pass values on in the work array."""

    def __init__(self, program: ScalarProgram, shape: Shape, widths: NDArray[np.int64], piece: int) -> None:
        self.program, self.shape, self.t = program, shape, shape.number
        first, T = program.first, len(program)
        self.begin = np.flatnonzero(widths)  # of units: vectors and scalars
        self.width = widths[self.begin]
        unit = np.repeat(np.arange(len(self.begin)), self.width)  # of each operation
        self.head = np.full(first + T, -1)  # first slot of a slot's vector, -1 for scalars
        wide = self.width[unit] > 1
        self.head[first:][wide] = first + self.begin[unit][wide]
        self.lanes = dict(zip((first + self.begin).tolist(), self.width.tolist(), strict=True))
        made = np.arange(len(self.begin)) // piece
        self.parts = int(made[-1]) + 1 if len(made) else 1
        self.ends = np.searchsorted(made, np.arange(self.parts + 1)).tolist()
        self.row = self._rows(made, unit)
        self.minus = (program.outputs < 0).tolist()
        self.wanted = wanted_by(program)

    def _rows(self, made: NDArray, unit: NDArray) -> NDArray[np.int64]:
        """The row of each slot that a later piece reads, else -1; a vector's rows are aligned."""
        program, first = self.program, self.program.first
        last = made.copy()
        for operand in (program.a, program.b):
            own = operand >= first
            np.maximum.at(last, unit[operand[own] - first], made[unit[own]])
        row = np.full(first + len(program), -1)
        rows = Rows(program, self.parts)
        for u in np.flatnonzero(last > made).tolist():
            w, start = int(self.width[u]), first + int(self.begin[u])
            at = rows.take(w, int(made[u]), int(last[u]), align=w)
            row[start : start + w] = at + np.arange(w)
        self.top = rows.top
        return row

    def piece(self, part: int) -> Iterator[str]:
        program, first = self.program, self.program.first
        self.known: dict[object, str] = {}
        self.count = 0
        arguments = "ptr noalias readonly %c, ptr noalias %w"
        yield f"define internal void @piece{part}({arguments}) noinline {{"
        if part == 0:
            for slot in sorted(s for s in self.wanted if s < first):
                value = yield from self._scalar(slot)
                yield from self._outputs([slot], value, 1)
        for u in range(self.ends[part], self.ends[part + 1]):
            i, w = int(self.begin[u]), int(self.width[u])
            slot, op = first + i, int(program.op[i])
            a = yield from self._operand(program.a[i : i + w].tolist())
            b = a if op == SQRT else (yield from self._operand(program.b[i : i + w].tolist()))
            shape = replace(self.shape, lanes=w)
            yield f"%v{slot} = {operation(shape, op, a, b)}"
            self.known[slot if w == 1 else ("vector", slot)] = f"%v{slot}"
            if self.row[slot] >= 0:
                yield from self._store(f"%v{slot}", shape.type, int(self.row[slot]))
            yield from self._outputs(list(range(slot, slot + w)), f"%v{slot}", w)
        yield "ret void"
        yield "}"

    def _name(self) -> str:
        self.count += 1
        return f"%x{self.count}"

    def _store(self, value: str, kind: str, row: int) -> Iterator[str]:
        to = self._name()
        yield f"{to} = getelementptr {self.t}, ptr %w, i64 {row}"
        yield f"store {kind} {value}, ptr {to}, align {self._size}"

    @property
    def _size(self) -> int:
        return 8 if self.t == "double" else 4

    def _load(self, kind: str, array: str, at: int) -> Named:
        place, name = self._name(), self._name()
        yield f"{place} = getelementptr {self.t}, ptr %{array}, i64 {at}"
        yield f"{name} = load {kind}, ptr {place}, align {self._size}"
        return name

    def _scalar(self, slot: int) -> Named:
        """The name of a scalar, which is loaded or extracted from its vector when first needed."""
        if slot in self.known:
            return self.known[slot]
        program, first = self.program, self.program.first
        if slot == 0:
            return "0.0"
        if slot < first:
            constant = slot == 1 or slot >= 2 + program.inputs
            at = 0 if slot == 1 else slot - 1 - program.inputs if constant else slot - 2
            name = yield from self._load(self.t, "c" if constant else "w", at)
        else:
            head = int(self.head[slot])
            if ("vector", head) in self.known:
                name = self._name()
                kind = f"<{self.lanes[head]} x {self.t}>"
                vector = self.known["vector", head]
                yield f"{name} = extractelement {kind} {vector}, i32 {slot - head}"
            else:
                name = yield from self._load(self.t, "w", int(self.row[slot]))
        self.known[slot] = name
        return name

    def _operand(self, slots: list[int]) -> Named:
        """The name of an operand: a scalar, or a vector of the values of several slots."""
        w, slot = len(slots), slots[0]
        if w == 1:
            return (yield from self._scalar(slot))
        key = ("lanes", *slots)
        if key in self.known:
            return self.known[key]
        kind, head = f"<{w} x {self.t}>", int(self.head[slot])
        together = slots == list(range(slot, slot + w))
        if head >= 0 and together and slot + w <= head + self.lanes[head]:
            held = self.lanes[head]
            if ("vector", head) not in self.known:
                whole = f"<{held} x {self.t}>"
                vector = yield from self._load(whole, "w", int(self.row[head]))
                self.known["vector", head] = vector
            name = self.known["vector", head]
            if held > w:
                name = yield from self._part(name, held, slot - head, w)
        elif slots == [slot] * w:
            value = yield from self._scalar(slot)
            one, name = self._name(), self._name()
            yield f"{one} = insertelement {kind} poison, {self.t} {value}, i32 0"
            yield f"{name} = shufflevector {kind} {one}, {kind} poison, <{w} x i32> zeroinitializer"
        else:
            name = "poison"
            for lane, s in enumerate(slots):
                value = yield from self._scalar(s)
                more = self._name()
                yield f"{more} = insertelement {kind} {name}, {self.t} {value}, i32 {lane}"
                name = more
        self.known[key] = name
        return name

    def _part(self, vector: str, held: int, start: int, w: int) -> Named:
        name, kind = self._name(), f"<{held} x {self.t}>"
        places = ", ".join(f"i32 {start + i}" for i in range(w))
        yield f"{name} = shufflevector {kind} {vector}, {kind} poison, <{w} x i32> <{places}>"
        return name

    def _outputs(self, slots: list[int], value: str, w: int) -> Iterator[str]:
        """Store the lanes of a result that are outputs; consecutive ones in one store."""
        todo = sorted((i, lane) for lane, s in enumerate(slots) for i in self.wanted.get(s, ()))
        while todo:
            n, (i, lane) = 1, todo[0]
            while todo[n : n + 1] == [(i + n, lane + n)] and self.minus[i + n] == self.minus[i]:
                n += 1
            todo, part = todo[n:], value
            kind = self.t if n == 1 else f"<{n} x {self.t}>"
            if n == 1 and w > 1:
                part = self._name()
                yield f"{part} = extractelement <{w} x {self.t}> {value}, i32 {lane}"
            elif n < w:
                part = yield from self._part(value, w, lane, n)
            if self.minus[i]:
                turned = self._name()
                yield f"{turned} = fneg {kind} {part}"
                part = turned
            yield from self._store(part, kind, self.program.inputs + i)
