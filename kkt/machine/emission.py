"""A program in LLVM's intermediate language: IEEE arithmetic on vectors, strict unless relaxed.

The program is cut into pieces of bounded length, each a function, since compile time grows faster
than the length of a function.  Within a piece the compiler assigns values to registers; values that
later pieces read are stored in rows of a work array, a row being one number for each state of the
vector.  ``run`` goes over blocks of states: it gathers their inputs into rows, calls the pieces,
and scatters the rows of outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..arithmetic.chunk import SQRT
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
    row, top, now = np.full(T, -1), program.inputs + len(program.outputs), 0
    free: list[int] = []
    leaving: list[list[int]] = [[] for _ in range(parts + 1)]  # rows by the first piece without them
    for i in np.flatnonzero(last > made).tolist():
        while now <= made[i]:
            free += leaving[now]
            now += 1
        if not free:
            free, top = [top], top + 1
        row[i] = free.pop()
        leaving[int(last[i]) + 1].append(int(row[i]))
    return row.tolist(), top


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
