"""Rolled programs in LLVM's intermediate language: functions, and a loop over their calls.

Runs of calls, their table, and constants are data, one after another in one array.  So trees of one
kind differ in data only, and the text grows with the number of functions alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.chunk import SQRT
from .driver import Shape
from .emission import Source, broadcast, operation
from .rolled import Address, Function, Rolled


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
