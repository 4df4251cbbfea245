"""A rolled program in C or CUDA: one function for each repeated part, and a loop over calls."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from ..arithmetic.chunk import SQRT
from .dialect import Dialect
from .rolled import Address, Function, Rolled


def definitions(program: Rolled, dialect: Dialect) -> str:
    """Definitions of constants, tables and functions."""
    number, tables = dialect.number, dialect.tables
    functions = "\n".join(
        line for i, f in enumerate(program.functions) for line in _function(f, i, dialect, program)
    )
    places = [place for f in program.functions for place in f.reads]
    parts = []
    if len(program.constant_outputs) or any(p.constant and p.column >= 0 for p in places):
        constants = map(dialect.constant, program.constants.tolist())
        parts.append(_array(f"{tables} {number} c[]", constants))
    parts.append("/* runs of calls: function, how often, entries of the table for each call */")
    parts.append(_array(f"{tables} int runs[][3]", _rows(program.runs)))
    parts.append("/* where a call reads and writes, counted in numbers of c or the work array */")
    parts.append(_array(f"{tables} int table[]", program.table.tolist() or [0]))
    parts.append("/* outputs: number, where it stands, and whether its sign changes */")
    for name, table in (("rows", program.row_outputs), ("fixed", program.constant_outputs)):
        if len(table):
            parts.append(_array(f"{tables} int {name}[][3]", _rows(table)))
    pieces = _array(f"{tables} piece pieces[]", [f"piece{i}" for i in range(len(program.functions))])
    parts += [functions, f"typedef void (*piece)(const int *, {number} *);", pieces]
    return "\n".join(parts)


def calls(program: Rolled, number: str) -> tuple[str, str]:
    """Declarations and statements of the function that calls the parts."""
    declared = f"    const int *t = table;\n    int k, n;\n    {number} v;"
    outputs = "\n".join(
        f"""\
    for (i = 0; i < {count}; i++) {{
        v = {source};
        w[{program.inputs} + {name}[i][0]] = {name}[i][2] ? -v : v;
    }}"""
        for name, count, source in (
            ("rows", len(program.row_outputs), "w[rows[i][1]]"),
            ("fixed", len(program.constant_outputs), "c[fixed[i][1]]"),
        )
        if count
    )
    return (
        declared,
        f"""\
    for (i = 0; i < {len(program.runs)}; i++) {{
        n = runs[i][1];
        for (k = 0; k < n; k++, t += runs[i][2]) pieces[runs[i][0]](t, w);
    }}
{outputs}""",
    )


def _rows(table: Any) -> list[str]:
    return ["{" + ", ".join(map(str, row)) + "}" for row in table.tolist()]


def _array(name: str, values: Iterable[Any]) -> str:
    body = "\n".join(textwrap.wrap(", ".join(map(str, values)), 96, break_on_hyphens=False))
    return f"{name} = {{\n{body}\n}};\n"


def _function(function: Function, index: int, dialect: Dialect, program: Rolled) -> Iterator[str]:
    T = dialect.number
    met: set[int] = set()

    def at(place: Address) -> str:
        if place.column < 0:
            return str(place.offset)
        return f"t[{place.column}] + {place.offset}"

    def read(code: int) -> Iterator[str]:
        if code >= 0 or code in met:
            return
        met.add(code)
        place = function.reads[-1 - code]
        if place.constant and place.column < 0:
            value = dialect.constant(program.constants[place.offset])
        else:
            value = f"{'c' if place.constant else 'w'}[{at(place)}]"
        yield f"    const {T} x{-1 - code} = {value};"

    def named(code: int) -> str:
        return f"v{code}" if code >= 0 else f"x{-1 - code}"

    yield f"{dialect.functions} piece{index}(const int *t, {T} *w)"
    yield "{"
    operations = zip(function.op.tolist(), function.a.tolist(), function.b.tolist(), strict=True)
    for i, (op, a, b) in enumerate(operations):
        yield from read(a)
        if op != SQRT:
            yield from read(b)
        value = dialect.operation(op, named(a), "" if op == SQRT else named(b))
        yield f"    const {T} v{i} = {value};"
        if i in function.writes:
            yield f"    w[{at(function.writes[i])}] = v{i};"
    yield "    (void)t;"
    yield "    (void)w;"
    yield "}"
    yield ""
