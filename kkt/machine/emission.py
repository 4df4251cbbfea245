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

from ..arithmetic.formats import SQRT
from .recorder import ScalarProgram


@dataclass(frozen=True)
class Shape:
    """The numbers, vectors and arrays for which a program is compiled."""

    number: str  # "double" or "float"
    lanes: int  # states in one vector; 1: scalars
    given: tuple[int, ...]  # numbers of a state in each array of inputs
    relaxed: bool = False  # products may be fused with sums, and quotients use reciprocals
    loose: bool = False  # inputs need not be finite

    @property
    def type(self) -> str:
        return self.number if self.lanes == 1 else f"<{self.lanes} x {self.number}>"

    @property
    def mask(self) -> str:
        """The type of a truth in every lane."""
        return "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"

    @property
    def suffix(self) -> str:
        """The type, as it is written in the names of intrinsic functions."""
        bits = "f64" if self.number == "double" else "f32"
        return bits if self.lanes == 1 else f"v{self.lanes}{bits}"


def driver(shape: Shape, inputs: int, outputs: int, pieces: int) -> str:
    """The text of ``i64 run(table)``, which returns 0, or 1 where an input is not finite but must be.

    The table holds, each in 8 bytes, the addresses of the arrays of inputs, of the outputs, of the
    constants and of the work array, and the number m of states.  Arrays hold one state after
    another.  A block of as many states as there are lanes is gathered into rows of the work array,
    inputs first, then outputs; lanes beyond the last state repeat it.
    """
    T, lanes, mask = shape.type, shape.lanes, shape.mask
    names = [*(f"x{j}" for j in range(len(shape.given))), "y", "c", "w"]
    table = "".join(_entry(i, name, "ptr") for i, name in enumerate(names))
    table += _entry(len(names), "m", "i64")
    states = "".join(_STATE.format(l=lane) for lane in range(lanes))
    gathers, row, before, bad = "", 0, "block", "zeroinitializer"
    for j, count in enumerate(shape.given):
        if count:
            gathers += _gather(shape, j, row, before, bad)
            row, before, bad = row + count, f"from{j}", f"%worse{j}"
    bad = "zeroinitializer" if shape.loose else bad
    calls = "".join(f"  call void @piece{i}(ptr %c, ptr %w)\n" for i in range(pieces))
    return f"""
define i64 @run(ptr %table) {{
entry:
{table}  %last = sub i64 %m, 1
  %none = icmp eq i64 %m, 0
  br i1 %none, label %done, label %block
block:
  %k = phi i64 [0, %entry], [%knext, %after]
{states}{gathers}  br label %check
check:
  %bad = or {mask} {bad}, zeroinitializer
  %word = bitcast {mask} %bad to i{lanes}
  %any = icmp ne i{lanes} %word, 0
  br i1 %any, label %refuse, label %work
refuse:
  ret i64 1
work:
{calls}  %yrow = getelementptr {T}, ptr %w, i64 {inputs}
{_scatter(shape, outputs) if outputs else "  br label %after"}
after:
  %knext = add i64 %k, {lanes}
  %again = icmp ult i64 %knext, %m
  br i1 %again, label %block, label %done
done:
  ret i64 0
}}
"""


def _entry(i: int, name: str, type: str) -> str:
    """Code that reads one entry of the table."""
    return f"""\
  %at_{name} = getelementptr i64, ptr %table, i64 {i}
  %{name} = load {type}, ptr %at_{name}
"""


# the state of lane l
_STATE = """\
  %next{l} = add i64 %k, {l}
  %short{l} = icmp ult i64 %next{l}, %last
  %state{l} = select i1 %short{l}, i64 %next{l}, i64 %last
"""


def _gather(shape: Shape, j: int, row: int, before: str, bad: str) -> str:
    """Code that copies input array j into rows; x - x is nan where x is infinite or nan."""
    T, t, mask, count = shape.type, shape.number, shape.mask, shape.given[j]
    starts = reads = ""
    for lane in range(shape.lanes):
        name = f"{j}_{lane}"
        value = f"%v{j}" if lane + 1 == shape.lanes else f"%row{name}"
        starts += f"""\
  %from{name} = mul i64 %state{lane}, {count}
  %start{name} = getelementptr {t}, ptr %x{j}, i64 %from{name}
"""
        reads += f"""\
  %place{name} = getelementptr {t}, ptr %start{name}, i64 %i{j}
"""
        if shape.lanes == 1:
            reads += f"  {value} = load {t}, ptr %place{name}\n"
        else:
            into = f"%row{j}_{lane - 1}" if lane else "poison"
            reads += f"""\
  %number{name} = load {t}, ptr %place{name}
  {value} = insertelement {T} {into}, {t} %number{name}, i32 {lane}
"""
    return f"""\
{starts}  %rows{j} = getelementptr {T}, ptr %w, i64 {row}
  br label %gather{j}
gather{j}:
  %i{j} = phi i64 [0, %{before}], [%inext{j}, %gather{j}]
  %bad{j} = phi {mask} [{bad}, %{before}], [%worse{j}, %gather{j}]
{reads}  %to{j} = getelementptr {T}, ptr %rows{j}, i64 %i{j}
  store {T} %v{j}, ptr %to{j}
  %zero{j} = fsub {T} %v{j}, %v{j}
  %wrong{j} = fcmp uno {T} %zero{j}, %zero{j}
  %worse{j} = or {mask} %bad{j}, %wrong{j}
  %inext{j} = add i64 %i{j}, 1
  %more{j} = icmp ult i64 %inext{j}, {count}
  br i1 %more{j}, label %gather{j}, label %from{j}
from{j}:
"""


def _scatter(shape: Shape, count: int) -> str:
    """Code that copies rows of outputs into their array; repeated lanes write the same again.

    As many rows as there are lanes are transposed in registers, and each state's part is stored as
    one vector; of the last rows, fewer than there are lanes, number by number.
    """
    t, lanes = shape.number, shape.lanes
    text = "".join(
        f"""\
  %yfrom{lane} = mul i64 %state{lane}, {count}
  %ystart{lane} = getelementptr {t}, ptr %y, i64 %yfrom{lane}
"""
        for lane in range(lanes)
    )
    squares = range(0, count - count % lanes, lanes)
    before = "work"
    for name, rows in (("ysquare", squares), ("ysingle", range(squares.stop, count))):
        if rows:
            text += _copies(shape, name, before, rows)
            before = f"{name}s"
    return text + "  br label %after"


def _copies(shape: Shape, name: str, before: str, rows: range) -> str:
    """A loop over rows of outputs, ``rows.step`` at a time: one, or as many as there are lanes."""
    T, t, lanes, text = shape.type, shape.number, shape.lanes, ""
    values = [f"%{name}value{r}" for r in range(rows.step)]
    for r, value in enumerate(values):
        text += f"""\
  %{name}row{r} = add i64 %{name}, {r}
  %{name}from{r} = getelementptr {T}, ptr %yrow, i64 %{name}row{r}
  {value} = load {T}, ptr %{name}from{r}
"""
    if rows.step == lanes:
        turned, values = _transposed(shape, values)
        text, stored = text + turned, T
    else:
        whole, stored = values[0], t
        values = [f"%{name}number{lane}" for lane in range(lanes)]
        for lane, value in enumerate(values):
            text += f"  {value} = extractelement {T} {whole}, i32 {lane}\n"
    for lane, value in enumerate(values):
        text += f"""\
  %{name}to{lane} = getelementptr {t}, ptr %ystart{lane}, i64 %{name}
  store {stored} {value}, ptr %{name}to{lane}, align {8 if t == "double" else 4}
"""
    return f"""\
  br label %{name}loop
{name}loop:
  %{name} = phi i64 [{rows.start}, %{before}], [%{name}next, %{name}loop]
{text}  %{name}next = add i64 %{name}, {rows.step}
  %{name}more = icmp ult i64 %{name}next, {rows.stop}
  br i1 %{name}more, label %{name}loop, label %{name}s
{name}s:
"""


def _transposed(shape: Shape, rows: list[str]) -> tuple[str, list[str]]:
    """Code that transposes a square of values, and the names of the new rows.

    Each step exchanges the blocks beside the diagonal: of one number, then of 2 x 2, 4 x 4, ...
    """
    T, lanes, text, size = shape.type, shape.lanes, "", 1
    while size < lanes:
        made = [f"%turned{size}_{r}" for r in range(lanes)]
        for r, name in enumerate(made):
            # a number comes from the first or second row of a pair, there with its column's index
            own = [e | size if r & size else e & ~size for e in range(lanes)]
            mask = ", ".join(f"i32 {i + lanes * bool(e & size)}" for e, i in enumerate(own))
            pair = f"{T} {rows[r & ~size]}, {T} {rows[r | size]}"
            text += f"  {name} = shufflevector {pair}, <{lanes} x i32> <{mask}>\n"
        rows, size = made, 2 * size
    return text, rows


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
    """The functions of a program, which the module's ``run`` calls (:mod:`kkt.machine.emission`)."""
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

    yield f"define internal void @piece{part}({ARGUMENTS}) noinline {{"
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
