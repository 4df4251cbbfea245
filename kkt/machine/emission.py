"""A program in LLVM's intermediate language: IEEE arithmetic on vectors, strict unless relaxed.

The program is cut into pieces of bounded length, each a function, since compile time grows faster
than the length of a function.  Within a piece the compiler assigns values to registers; values that
later pieces read are stored in rows of a work array, a row being one number for each state of the
vector.  ``run`` goes over blocks of states: it gathers their inputs into rows, calls the pieces,
and scatters the rows of outputs.  A few blocks go through the pieces side by side: each piece is run for one
and then for the others, whose operations do not wait for each other.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    def size(self) -> int:
        """Bytes of a number."""
        return 8 if self.number == "double" else 4

    @property
    def mask(self) -> str:
        """The type of a truth in every lane."""
        return "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"

    @property
    def suffix(self) -> str:
        """The type, as it is written in the names of intrinsic functions."""
        bits = "f64" if self.number == "double" else "f32"
        return bits if self.lanes == 1 else f"v{self.lanes}{bits}"


def driver(shape: Shape, inputs: int, outputs: int, source: Source) -> str:
    """The text of ``i64 run(table)``, which returns 0, or 1 where an input is not finite but must be.

    The table holds, each in 8 bytes, the addresses of the arrays of inputs, of the outputs, of the
    constants and of the work array, and the number m of states.  Arrays hold one state after
    another.  A block of as many states as there are lanes is gathered into rows of the work array,
    inputs first, then outputs.  Blocks go ``source.blocks`` at a time through each piece, while its code
    is at hand, and the rest one by one.  Lanes beyond the last state repeat it, in functions of their own
    that copy a block in which states end.
    """
    last = len(shape.given)
    table = "".join(_entry(last + i, name, "ptr") for i, name in enumerate("ycw"))
    turns, before = "", "entry"
    for states in sorted({source.blocks * shape.lanes, shape.lanes, 1}, reverse=True):
        turns += _turn(shape, source, states, before)
        before = f"after{states}"
    copies = [False, True] if shape.lanes > 1 else [False]
    copied = "".join(_gathering(shape, ends) + _scattering(shape, inputs, outputs, ends) for ends in copies)
    return f"""
{copied}
define i64 @run(ptr %table) {{
entry:
{table}{_entry(last + 3, "m", "i64")}{turns}  ret i64 0
refuse:
  ret i64 1
}}
"""


def _turn(shape: Shape, source: Source, states: int, before: str) -> str:
    """The text of a loop that takes ``states`` a turn, or a block in which they end, as long as they last."""
    T, lanes, name = shape.type, shape.lanes, f"of{states}"
    blocks, ends = (states // lanes, "") if states >= lanes else (1, "_end")
    gathers, good = "", "false"
    for v in range(blocks):
        gathers += f"""\
  %k{name}_{v} = add i64 %k{name}, {v * lanes}
  %w{name}_{v} = getelementptr {T}, ptr %w, i64 {v * source.rows}
  %bad{name}_{v} = call i1 @gather{ends}(ptr %table, i64 %k{name}_{v}, ptr %w{name}_{v})
  %worse{name}_{v} = or i1 {good}, %bad{name}_{v}
  %mid{name}_{v} = getelementptr {T}, ptr %w{name}_{v}, i64 {source.middle}
"""
        good = f"%worse{name}_{v}"
    calls = "".join(
        f"  call void @piece{i}(ptr %c, ptr %mid{name}_{v})\n"
        for i in range(source.pieces)
        for v in range(blocks)
    )
    scatters = "".join(
        f"  call void @scatter{ends}(ptr %table, i64 %k{name}_{v}, ptr %w{name}_{v})\n" for v in range(blocks)
    )
    start = "0" if before == "entry" else f"%k{before.replace('after', 'of')}"
    refused = "false" if shape.loose else good
    return f"""\
  br label %{name}
{name}:
  %k{name} = phi i64 [{start}, %{before}], [%next{name}, %work{name}]
  %end{name} = add i64 %k{name}, {states}
  %more{name} = icmp ule i64 %end{name}, %m
  br i1 %more{name}, label %turn{name}, label %after{states}
turn{name}:
{gathers}  br i1 {refused}, label %refuse, label %work{name}
work{name}:
{calls}{scatters}  %next{name} = add i64 %k{name}, {blocks * lanes}
  br label %{name}
after{states}:
"""


def _entry(i: int, name: str, type: str) -> str:
    """Code that reads one entry of the table."""
    return f"""\
  %at_{name} = getelementptr i64, ptr %table, i64 {i}
  %{name} = load {type}, ptr %at_{name}
"""


def _states(shape: Shape) -> str:
    """Code that reads m, and the numbers of the states from k on, one for each lane."""
    text = _entry(len(shape.given) + 3, "m", "i64") + "  %last = sub i64 %m, 1\n"
    return text + "".join(_STATE.format(l=lane) for lane in range(shape.lanes))


# the state of lane l
_STATE = """\
  %next{l} = add i64 %k, {l}
  %short{l} = icmp ult i64 %next{l}, %last
  %state{l} = select i1 %short{l}, i64 %next{l}, i64 %last
"""


def _gathering(shape: Shape, ends: bool) -> str:
    """A function that copies a block of states into rows, and tells whether a number is not finite.

    ``ends`` tells whether the states may end within the block.
    """
    text, row, before, bad = "", 0, "block", "zeroinitializer"
    for j, count in enumerate(shape.given):
        if count:
            copied, before, bad = _gather(shape, ends, j, row, before, bad)
            text, row = text + _entry(j, f"x{j}", "ptr") + copied, row + count
    return f"""
define internal i1 @gather{"_end" * ends}(ptr %table, i64 %k, ptr %w) {{
block:
{_states(shape) * ends}{text}  %bad = fcmp uno {shape.type} {bad}, {bad}
  %word = bitcast {shape.mask} %bad to i{shape.lanes}
  %any = icmp ne i{shape.lanes} %word, 0
  ret i1 %any
}}
"""


def _gather(shape: Shape, ends: bool, j: int, row: int, before: str, bad: str) -> tuple[str, str, str]:
    """Code that copies input array j into rows, its last label, and a sum that is nan for a bad number.

    x - x is nan where x is infinite or nan, and 0 elsewhere.
    """
    T = shape.type
    text = _starts(shape, ends, f"x{j}", shape.given[j])
    text += f"  %rows{j} = getelementptr {T}, ptr %w, i64 {row}\n"
    for name, rows, numbers in _squares(shape, f"x{j}", shape.given[j]):
        read, values = _read(shape, name, f"x{j}start", numbers)
        found = f"%{name}bad"
        for r, value in enumerate(values):
            read += f"""\
  %{name}row{r} = add i64 %{name}, {r}
{_place(T, f"{name}to{r}", f"rows{j}", f"{name}row{r}")}  store {T} {value}, ptr %{name}to{r}
  %{name}zero{r} = fsub {T} {value}, {value}
  %{name}worse{r} = fadd {T} {found}, %{name}zero{r}
"""
            found = f"%{name}worse{r}"
        held = f"  %{name}bad = phi {T} [{bad}, %{before}], [{found}, %{name}loop]\n"
        text, before, bad = text + _loop(name, before, rows, held + read), f"{name}s", found
    return text, before, bad


def _scattering(shape: Shape, inputs: int, outputs: int, ends: bool) -> str:
    """A function that copies rows of outputs into their array; repeated lanes write the same again."""
    T, before, text = shape.type, "block", _starts(shape, ends, "y", outputs)
    for name, rows, numbers in _squares(shape, "y", outputs):
        values, copied = [f"%{name}value{r}" for r in range(numbers)], ""
        for r, value in enumerate(values):
            copied += f"""\
  %{name}row{r} = add i64 %{name}, {r}
{_place(T, f"{name}from{r}", "yrow", f"{name}row{r}")}  {value} = load {T}, ptr %{name}from{r}
"""
        copied += _written(shape, name, values)
        text, before = text + _loop(name, before, rows, copied), f"{name}s"
    return f"""
define internal void @scatter{"_end" * ends}(ptr %table, i64 %k, ptr %w) {{
block:
{_states(shape) * ends}{_entry(len(shape.given), "y", "ptr")}  %yrow = getelementptr {T}, ptr %w, i64 {inputs}
{text}  ret void
}}
"""


def _starts(shape: Shape, ends: bool, array: str, count: int) -> str:
    """Code for the places of the states from k on in an array of ``count`` numbers a state."""
    text = "" if ends else f"  %{array}at = mul i64 %k, {count}\n"
    for lane in range(shape.lanes):
        at = f"mul i64 %state{lane}, {count}" if ends else f"add i64 %{array}at, {lane * count}"
        text += f"  %{array}at{lane} = {at}\n"
        text += _place(shape.number, f"{array}start{lane}", array, f"{array}at{lane}")
    return text


def _squares(shape: Shape, array: str, count: int) -> list[tuple[str, range, int]]:
    """Loops that copy an array: a name, where their turns begin, and the numbers of a state in one turn.

    They are as many as there are lanes, so that each state's are one vector; the rest goes in powers of
    two, of which several states' make a vector.  These are transposed in registers.
    """
    found, start, numbers = [], 0, shape.lanes
    while numbers:
        stop = count - (count - start) % numbers
        if start < stop:
            found.append((f"{array}by{numbers}", range(start, stop, numbers), numbers))
        start, numbers = stop, numbers // 2
    return found


def _side_by_side(shape: Shape, numbers: int) -> list[range]:
    """The lanes whose states' numbers stand one after another in each of so many vectors."""
    return [range(r, shape.lanes, numbers) for r in range(numbers)]


def _part(shape: Shape, numbers: int) -> str:
    """The type of so many numbers of a state."""
    return shape.number if shape.lanes == 1 else f"<{numbers} x {shape.number}>"


def _indices(places: Iterable[int]) -> str:
    """The text of a mask of a shuffle."""
    listed = [f"i32 {i}" for i in places]
    return f"<{len(listed)} x i32> <{', '.join(listed)}>"


def _read(shape: Shape, name: str, starts: str, numbers: int) -> tuple[str, list[str]]:
    """Code that reads so many numbers of each state, and their rows, of one number of every state."""
    text, values = "", list[str]()
    for lanes in _side_by_side(shape, numbers):
        for lane in lanes:
            text += _place(shape.number, f"{name}from{lane}", f"{starts}{lane}", name)
            part = f"load {_part(shape, numbers)}, ptr %{name}from{lane}, align {shape.size}"
            text += f"  %{name}state{lane} = {part}\n"
        joined, value = _joined(shape, [f"%{name}state{lane}" for lane in lanes], numbers)
        text += joined
        values.append(value)
    turned, rows = _transposed(shape, name, values)
    return text + turned, rows


def _written(shape: Shape, name: str, rows: list[str]) -> str:
    """Code that writes the numbers of each state that stand in rows."""
    T, numbers = shape.type, len(rows)
    text, values = _transposed(shape, name, rows)
    for value, lanes in zip(values, _side_by_side(shape, numbers), strict=True):
        for i, lane in enumerate(lanes):
            part = f"%{name}state{lane}" if len(lanes) > 1 else value
            if len(lanes) > 1:
                taken = _indices(range(i * numbers, (i + 1) * numbers))
                text += f"  {part} = shufflevector {T} {value}, {T} poison, {taken}\n"
            text += _place(shape.number, f"{name}to{lane}", f"ystart{lane}", name)
            text += f"  store {_part(shape, numbers)} {part}, ptr %{name}to{lane}, align {shape.size}\n"
    return text


def _joined(shape: Shape, parts: list[str], numbers: int) -> tuple[str, str]:
    """Code that makes a vector of parts of so many numbers each, and its name."""
    text = ""
    while len(parts) > 1:
        pairs, both = list(zip(parts[::2], parts[1::2], strict=True)), _indices(range(2 * numbers))
        for a, b in pairs:
            part = _part(shape, numbers)
            text += f"  {a}by{2 * numbers} = shufflevector {part} {a}, {part} {b}, {both}\n"
        parts, numbers = [f"{a}by{2 * numbers}" for a, _ in pairs], 2 * numbers
    return text, parts[0]


def _place(type: str, name: str, start: str, index: str) -> str:
    return f"  %{name} = getelementptr {type}, ptr %{start}, i64 %{index}\n"


def _loop(name: str, before: str, rows: range, text: str) -> str:
    """A loop with its index %name over ``rows``; ``before`` is the label from which it is entered."""
    return f"""\
  br label %{name}loop
{name}loop:
  %{name} = phi i64 [{rows.start}, %{before}], [%{name}next, %{name}loop]
{text}  %{name}next = add i64 %{name}, {rows.step}
  %{name}more = icmp ult i64 %{name}next, {rows.stop}
  br i1 %{name}more, label %{name}loop, label %{name}s
{name}s:
"""


def _transposed(shape: Shape, name: str, rows: list[str]) -> tuple[str, list[str]]:
    """Code that transposes values, in squares of as many numbers as there are rows; the new rows' names.

    Each step exchanges the blocks beside the diagonal: of one number, then of 2 x 2, 4 x 4, ...
    """
    T, lanes, text, size = shape.type, shape.lanes, "", 1
    while size < len(rows):
        made = [f"%{name}turned{size}_{r}" for r in range(len(rows))]
        for r, value in enumerate(made):
            # a number comes from the first or second row of a pair, there with its column's index
            own = [e | size if r & size else e & ~size for e in range(lanes)]
            mask = _indices(i + lanes * bool(e & size) for e, i in enumerate(own))
            text += f"  {value} = shufflevector {T} {rows[r & ~size]}, {T} {rows[r | size]}, {mask}\n"
        rows, size = made, 2 * size
    return text, rows


PIECE = 4000  # operations in one function
WIDE = {True: 3000, False: 1000}  # the same on vectors, by whether products may be fused with sums
SHORT = {True: 200, False: 100}  # in a piece of a program of several, for few live registers
BLOCKS = {True: 2, False: 3}  # of states that go through each of several pieces: its code is read slowly
HELD = 2000  # rows of a block at most, so that those of all blocks are at hand
NEAR = 128  # rows to whose places instructions need one byte, before and behind a pointer
OPERATION = ("fadd", "fsub", "fmul", "fdiv")
RELAXED = " contract arcp"
ARGUMENTS = "ptr noalias readonly %c, ptr noalias %w"  # constants, and the work array


@dataclass(frozen=True)
class Source:
    """The text of a program's functions, and the size of its work array."""

    text: str
    rows: int  # of a block, for inputs, outputs and values that pieces pass on; each of ``lanes`` numbers
    pieces: int
    blocks: int  # that go through each piece in turn
    middle: int  # the row to which pieces are given a pointer


def source_of(program: ScalarProgram, shape: Shape, piece: int) -> Source:
    """The functions of a program, which the module's ``run`` calls (:mod:`kkt.machine.emission`)."""
    parts = -(-len(program) // piece) or 1
    work, rows = rows_of(program, parts, piece)
    wanted, several = wanted_by(program), parts > 1
    middle = program.inputs + len(program.outputs) + NEAR if several else 0
    text: list[str] = []
    for part in range(parts):
        text += _piece(program, shape, part, piece, work, wanted, middle)
    blocks = BLOCKS[shape.relaxed] if several and shape.lanes > 1 and rows <= HELD else 1
    return Source("\n".join(text), rows, parts, blocks, middle)


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
    """(T,) the row of each result that a later piece reads, else -1, and the number of rows.

    A result is put into the first row that is free, so that few rows hold most of them.
    """
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
            for left in leaving[now]:
                heapq.heappush(free, left)
            now += 1
        if not free:
            free, top = [top], top + 1
        row[i] = heapq.heappop(free)
        leaving[int(last[i]) + 1].append(int(row[i]))
    return row.tolist(), top


def wanted_by(program: ScalarProgram) -> dict[int, list[int]]:
    """The outputs that are a slot or its negative, by slot."""
    wanted: dict[int, list[int]] = {}
    for i, s in enumerate(program.outputs.tolist()):
        wanted.setdefault(abs(s), []).append(i)
    return wanted


def _loader(
    program: ScalarProgram, shape: Shape, begin: int, work: Sequence[int], middle: int
) -> Callable[[int], Iterator[str]]:
    """What loads a slot into the piece whose first operation is ``begin``, once."""
    first, inputs = program.first, program.inputs
    T, t = shape.type, shape.number
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
        yield f"%p{slot} = getelementptr {T}, ptr %w, i64 {row - middle}"
        yield f"%v{slot} = load {T}, ptr %p{slot}"

    return load


def _piece(
    program: ScalarProgram,
    shape: Shape,
    part: int,
    piece: int,
    work: Sequence[int],
    wanted: dict[int, list[int]],
    middle: int,
) -> Iterator[str]:
    """The function of one piece; its arguments are the constants and row ``middle`` of the work array."""
    first, inputs = program.first, program.inputs
    T = shape.type
    begin, end = part * piece, min((part + 1) * piece, len(program))
    load = _loader(program, shape, begin, work, middle)

    def store(value: str, row: int, name: str) -> Iterator[str]:
        yield f"%q{name} = getelementptr {T}, ptr %w, i64 {row - middle}"
        yield f"store {T} {value}, ptr %q{name}"

    def outputs(slot: int) -> Iterator[str]:
        for i in wanted.get(slot, ()):
            value = f"%v{slot}"
            if program.outputs[i] < 0:
                yield f"%n{i} = fneg {T} {value}"
                value = f"%n{i}"
            yield from store(value, inputs + i, f"o{i}")

    # vectors that leave registers, of which a long piece has many, else lie across two lines of the cache
    long = shape.lanes > 1 and piece > SHORT[shape.relaxed]
    aligned = f" alignstack({shape.lanes * shape.size})" if long else ""
    yield f"define internal void @piece{part}({ARGUMENTS}) noinline{aligned} {{"
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
