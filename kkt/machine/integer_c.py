"""ABM in fixed point as a C99 file and its header: integers only, with the bits of the emulation.

Words are int32_t and products int64_t; shifts are known when the file is written.  Inputs are those
entries of (4) that change with the state; inertias and axes are in the file.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arithmetic.chunk import ADD, DIV, MUL, SUB
from ..base.errors import FormatError, ModelError
from ..base.files import write_together
from ..base.kinds import of_kind
from ..matrix.entries import LETTERS
from ..proof.fixed_point import FixedPoint
from .portable import identifier, require_name

LENGTH = 1000  # operations in one function
CONSTANT = ("M", "S", "A")  # letters of (4) that no state changes
HELPERS = """\
#define HALF(n) ((int64_t)1 << ((n) - 1))

/* x 2^-n to nearest, ties up */
static int64_t off(int64_t x, int n) { return n > 0 ? (x + HALF(n)) >> n : x; }

/* x 2^n */
static int64_t on(int64_t x, int n) { return n < 0 ? off(x, -n) : x * ((int64_t)1 << n); }

/* x 2^n / d to nearest, ties up */
static int32_t over(int64_t x, int64_t d, int n)
{
    int64_t q, r;
    if (d < 0) { x = -x; d = -d; }
    if (n < 0) d *= (int64_t)1 << -n;
    else x *= (int64_t)1 << n;
    x += d >> 1;
    q = x / d;
    r = x % d;
    return (int32_t)(r < 0 ? q - 1 : q);
}
"""


class Input(NamedTuple):
    """An entry of (4) that a program on words reads."""

    letter: str
    body: str
    place: tuple[int, ...]  # row and column, or row
    value: float  # in the state that the system was built in
    point: int

    def __str__(self) -> str:
        at = ",".join(str(i + 1) for i in self.place)
        return f"{self.letter} of {self.body}" + (f" ({at})" if at else "")


def inputs_of(found: FixedPoint) -> list[Input]:
    """All entries of (4) that the program reads, in the order of its inputs.

    >>> from pivotree.kkt.machine.integer_c import inputs_of
    >>> first = inputs_of(pt.fixed_point(pt.chain(2), pt.orderings.get("abm")))[0]
    >>> str(first), first.point
    ('M of j1 (1,1)', 44)
    """
    assert found.words is not None
    tree, out, number = found.system.tree, list[Input](), 2
    owner = np.repeat(np.arange(tree.n), tree.dof)
    for letter in LETTERS:
        slots = found.tape.inputs.slots(letter)
        slots = np.triu(slots) if letter == "M" else slots
        values = getattr(found.system.entries, letter)
        for index in np.argwhere(slots > 1).tolist():
            k, *rest = index
            if letter in ("S", "tau", "A"):
                rest = [*([] if tree.dof[owner[k]] == 1 else [k - tree.offset[owner[k]]]), *rest]
                k = int(owner[k])
            point = int(found.words.point[number])
            value = float(values[tuple(index)])
            out.append(Input(letter, str(tree.names[k]), tuple(rest), value, point))
            number += 1
    return out


@of_kind
def export_fixed(found: FixedPoint, path: str | Path, name: str | None = None) -> tuple[Path, Path]:
    """Write a program on words as C99, FILE.c and its header FILE.h, and return both paths.

    ``name`` is that of the function, made from the model's where None.  Raises FormatError where
    nothing is promised, and where a file cannot be written, and ModelError for a name that is not
    valid in C.

    >>> found = pt.fixed_point(pt.chain(2), pt.orderings.get("abm"))
    >>> source, header = pt.export_fixed(found, "arm.c", "arm")
    >>> "int arm(const int32_t *x, int32_t *qdd);" in header.read_text()
    True
    """
    if not isinstance(found, FixedPoint):
        raise ModelError(f"export_fixed: found is {found!r}; give what kkt.fixed_point returns")
    if found.words is None:
        raise FormatError(f"format fixed{found.bits}: nothing is promised: {found.why}")
    source = Path(path)
    if source.suffix != ".c":
        raise FormatError(f"{source}: is no C file; give a name that ends in .c")
    chosen = name or identifier(found.system.name, f"fixed{found.bits}")
    require_name(chosen)
    header = source.with_suffix(".h")
    write_together({header: _header(found, chosen), source: _source(found, chosen, header.name)})
    return source, header


def _header(found: FixedPoint, name: str) -> str:
    assert found.words is not None
    upper, inputs = name.upper(), inputs_of(found)
    given = [x for x in inputs if x.letter not in CONSTANT]
    lines = [f"   x[{i}]  {x}, {x.point}" for i, x in enumerate(given)]
    tree = found.system.tree
    owner = [name for name, dof in zip(tree.names, tree.dof, strict=True) for _ in range(dof)]
    lines += [f"   qdd[{i}]  {b}, {p}" for i, (b, p) in enumerate(zip(owner, ends_of(found)[1], strict=True))]
    errors = ", ".join(f"{x:.2g}" for x in found.qdd.joint.tolist())
    told = "\n".join(map(_plain, lines))
    return f"""\
/* Forward dynamics of {_plain(found.system.name)} by abm, in words of {found.bits} bits.

   A number is x 2^-f; behind each entry of equation (4) stands f:

{told}

   In every state within the ranges that this was made for no operation overflows, and
   qdd, in rad/s^2 or m/s^2, is off by at most {errors}
   against exact arithmetic on the same words.  Returns 0, or 1 where an entry is larger than it
   may be; nothing is written then. */

#ifndef {upper}_H
#define {upper}_H

#include <stdint.h>

#define {upper}_INPUTS {len(given)}
#define {upper}_N {len(owner)}

#ifdef __cplusplus
extern "C" {{
#endif

int {name}(const int32_t *x, int32_t *qdd);

#ifdef __cplusplus
}}
#endif

#endif
"""


def _source(found: FixedPoint, name: str, header: str) -> str:
    words = found.words
    assert words is not None
    inputs, place = inputs_of(found), _rows(found)
    lines = list(_lines(found, place))
    parts = [lines[at : at + LENGTH] for at in range(0, len(lines), LENGTH)] or [[]]
    rows = 1 + max(place.values())
    pieces = "\n".join(
        f"static void piece{i}(int32_t *w)\n{{\n" + "\n".join(part) + "\n}\n" for i, part in enumerate(parts)
    )
    given, most = list[str](), list[str]()
    fixed = [f"    w[{place[v]}] = {v << int(words.point[v])};" for v in (0, 1)]
    constants = words.words(np.array([entry.value for entry in inputs])).tolist()
    for i, entry in enumerate(inputs):
        at = place[2 + i]
        if entry.letter in CONSTANT:
            fixed.append(f"    w[{at}] = {constants[i]};")
        else:
            given.append(f"    w[{at}] = x[{len(most)}];")
            assert found.walked is not None
            size = found.walked.size[2 + i] * 2.0**entry.point
            most.append(str(min(int(size), words.top)))
    calls = "\n".join(f"    piece{i}(w);" for i in range(len(parts)))
    values, _ = ends_of(found)
    ends = "\n".join(
        f"    qdd[{i}] = {'-' if v < 0 else ''}w[{place[abs(v)]}];" for i, v in enumerate(values)
    )
    table = "\n    " + "\n    ".join(textwrap.wrap(", ".join(most), 92)) + "\n"
    return f"""\
/* Forward dynamics of {_plain(found.system.name)} by abm, in words of {found.bits} bits.

       cc -std=c99 -O2 -c {_plain(header[:-2])}.c

   Binary points were chosen by proof, so that nothing overflows: see the header. */

#include "{header}"

#if (-1 >> 1) != -1
#error "negative numbers are not shifted as in two's complement here"
#endif

{HELPERS}
{pieces}
static const int32_t most[] = {{{table}}};

int {name}(const int32_t *x, int32_t *qdd)
{{
    int32_t w[{rows}];
    int i;
    for (i = 0; i < {len(most)}; i++) {{
        if (x[i] > most[i] || x[i] < -most[i]) return 1;
    }}
{chr(10).join([*given, *fixed])}
{calls}
{ends}
    return 0;
}}
"""


def ends_of(found: FixedPoint) -> tuple[list[int], list[int]]:
    """The values of ``words`` that are qdd, with their signs, and their binary points."""
    assert found.words is not None and found.walked is not None
    slots = found.tape.unknowns(found.system).qdd.tolist()
    values = [found.walked.slot[abs(s)] * (1 if s > 0 else -1) for s in slots]
    return values, [int(found.words.point[abs(v)]) for v in values]


def _rows(found: FixedPoint) -> dict[int, int]:
    """A place in the work array for each value; places of values that are not needed are reused."""
    words = found.words
    assert words is not None
    last: dict[int, int] = {}
    for t, operands in enumerate(zip(words.a.tolist(), words.b.tolist(), words.d.tolist(), strict=True)):
        for value in operands:
            last[value] = t
    T = len(words.op)
    last |= {abs(v): T for v in ends_of(found)[0]}
    place, free, top = dict[int, int](), list[int](), 0
    ends: dict[int, list[int]] = {}
    for value, t in last.items():
        ends.setdefault(t, []).append(value)
    for value in range(2 + words.inputs):
        place[value], top = top, top + 1
    for t in range(T):
        free += [place[v] for v in ends.get(t, ()) if v in place]
        if free:
            place[words.first + t] = free.pop()
        else:
            place[words.first + t], top = top, top + 1
    return place


def _lines(found: FixedPoint, place: dict[int, int]) -> Iterator[str]:
    """Lines of C, one for each operation; a result may overwrite one of its operands."""
    words = found.words
    assert words is not None
    i, j, n = (x.tolist() for x in words.shifts)
    columns = (x.tolist() for x in (words.op, words.a, words.b, words.d))
    for t, (op, a, b, d) in enumerate(zip(*columns, strict=True)):
        x, y, z = (f"w[{place[v]}]" for v in (a, b, d))
        if op in (ADD, SUB):
            value = f"off(on({x}, {i[t]}) {'+-'[op == SUB]} on({y}, {j[t]}), {n[t]})"
        elif op == MUL:
            value = f"off((int64_t){x} * {y}, {n[t]})"
        elif op == DIV:
            value = f"over({x}, {y}, {n[t]})"
        else:
            value = f"over((int64_t){x} * {y}, {z}, {n[t]})"
        cast = "" if value.startswith("over") else "(int32_t)"
        yield f"    w[{place[words.first + t]}] = {cast}{value};"


def _plain(text: str) -> str:
    """Text without characters that could end or extend a comment."""
    return re.sub(r"[^ -~\n]|[*?\\]", "_", text)
