"""A program as one file of C99 and a header: the same operations, and so the same bits.

Functions are of bounded length, as in :mod:`kkt.machine.emission`, and pass values on in rows of
a work array on the stack.  Constants are hexadecimal, which is exact.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..arithmetic.chunk import SQRT
from ..base.errors import ModelError
from .emission import rows_of
from .portable_calls import calls, definitions
from .rolled import Rolled
from .scalar_program import ScalarProgram
from .states import Fields

LENGTH = 1000  # operations in one function: an optimising compiler's time grows faster
SIGN = "+-*/"
SIZES = {"x": "NX", "qd": "N", "tau": "N", "wrench": "6 BODIES", "qdd": "N", "pdd": "6 BODIES",
         "f": "6 BODIES", "inertia": "N N", "lambda": "ROWS", "dqdd_dq": "N N", "dqdd_dqd": "N N",
         "dqdd_dtau": "N N"}  # fmt: skip
MEANING = {
    "x": "configuration [rad, m, or quaternions x y z w]",
    "qd": "rates [rad/s, m/s]",
    "tau": "efforts [N m, N]",
    "wrench": "on each body, at its joint's origin [N m, N], moment first",
    "qdd": "accelerations [rad/s^2, m/s^2]",
    "pdd": "spatial acceleration of each body",
    "f": "spatial force in each joint",
    "inertia": "joint-space inertia, row by row",
    "dqdd_dq": "d qdd_i / dq_j in the joints' tangents, row i after row",
    "dqdd_dqd": "d qdd_i / dqd_j, row i after row",
    "dqdd_dtau": "d qdd_i / dtau_j, row i after row",
    "lambda": "forces of loops and contacts, one after another [N m, N]",
}
KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long main register restrict return short signed sizeof static struct switch "
    "typedef union unsigned void volatile while sqrt sqrtf"
)


@dataclass(frozen=True)
class Portable:
    """What is written: ``name`` is that of the function."""

    name: str
    model: str
    order: str
    format: str  # float64 or float32
    fields: Fields
    bodies: tuple[str, ...]
    program: ScalarProgram
    rolled: Rolled | None = None  # written instead where there is one

    def __post_init__(self) -> None:
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", self.name) or self.name in KEYWORDS.split():
            raise ModelError(
                f"export: {self.name!r} cannot name a function in C; give letters, digits and _"
            )

    @property
    def number(self) -> str:
        return {"float64": "double", "float32": "float"}[self.format]

    @property
    def prototype(self) -> str:
        given = [f"const {self.number} *{field}" for field in self.fields.given]
        return f"int {self.name}({', '.join(given)}, {self._results})"

    @property
    def _results(self) -> str:
        return ", ".join(f"{self.number} *{output}" for output in self.fields.outputs)

    def header(self) -> str:
        upper = self.name.upper()
        numbers = {"NX": self.fields.nx, "N": self.fields.N, "BODIES": self.fields.n}
        numbers |= {"ROWS": self.fields.rows} if self.fields.rows else {}
        defined = "".join(f"#define {upper}_{key} {value}\n" for key, value in numbers.items())
        told = "".join(
            f"   {field:8} {SIZES[field].replace(' ', ' x '):10} {MEANING[field]}\n"
            for field in (*self.fields.given, *self.fields.outputs)
        )
        names = ", ".join(map(_plain, self.bodies))
        return f"""\
/* Forward dynamics of {_plain(self.model)}, order {_plain(self.order)}, in {self.format}.

{told}
   Bodies, in this order: {_wrapped(names)}.
   Returns 0, or 1 where an input is not finite; nothing is written then.  No state is kept, so
   that threads may call it at the same time. */

#ifndef {upper}_H
#define {upper}_H

{defined}
#ifdef __cplusplus
extern "C" {{
#endif

{self.prototype};

#ifdef __cplusplus
}}
#endif

#endif
"""

    def source(self, header: str) -> str:
        """The text of the C file, which includes ``header``."""
        T, program, fields = self.number, self.program, self.fields
        told = ", ".join(f"{n} {kind}" for kind, n in program.operations.items() if n)
        declared, called, pieces, rows = self._pieces()
        sizes = [*fields.sizes, *(fields.size_of(output) for output in fields.outputs)]
        copies, row = [], 0
        for name, size in zip((*fields.given, *fields.outputs), sizes, strict=True):
            to, of = f"w[{row} + i]", f"{name}[i]"
            to, of = (to, of) if name in fields.given else (of, to)
            copies.append(f"    for (i = 0; i < {size}; i++) {to} = {of};")
            row += size
        gather = "\n".join(copies[: len(fields.given)])
        scatter = "\n".join(copies[len(fields.given) :])
        return f"""\
/* Forward dynamics of {_plain(self.model)}, order {_plain(self.order)}, in {self.format}: {told}.

       cc -std=c99 -O2 -ffp-contract=off -c {_plain(header[:-2])}.c

   Every operation is rounded once and none is reordered or fused, so that results have the same
   bits everywhere; sines and cosines are among the operations.  That needs a compiler that keeps
   to IEEE arithmetic: FLT_EVAL_METHOD 0, which this file checks, no -ffast-math, and no
   contraction, which -ffp-contract=off forbids. */

#include "{header}"

#include <float.h>
#include <math.h>

#if defined(__FAST_MATH__)
#error "compile without -ffast-math: it changes results"
#endif
#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD != 0
#error "intermediate results have more digits than their type here; on x86 compile for SSE2"
#endif
#if !defined(__GNUC__) || defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FP_FAST_FMA) && !defined(__STRICT_ANSI__) && !defined(CONTRACTION_OFF)
#error "GCC fuses operations here: add -std=c99, or -ffp-contract=off -DCONTRACTION_OFF"
#endif

{pieces}

{self.prototype}
{{
    {T} w[{max(rows, 1)}];
    int i;
{declared}{gather}
    for (i = 0; i < {program.inputs}; i++) {{
        if (!(w[i] - w[i] == 0)) return 1;
    }}
{called}
{scatter}
    return 0;
}}
"""

    def _pieces(self) -> tuple[str, str, str, int]:
        """Declarations, calls and definitions of functions, and rows of the work array."""
        if self.rolled is not None:
            declared, called = calls(self.rolled, self.number)
            return declared + "\n", called, definitions(self.rolled, self.number), self.rolled.rows
        parts = range(-(-len(self.program) // LENGTH) or 1)
        work, rows = rows_of(self.program, len(parts), LENGTH)
        pieces = "\n".join(line for part in parts for line in self._piece(part, work))
        called = "\n".join(f"    piece{part}(w);" for part in parts)
        return "", called, pieces, rows

    def _piece(self, part: int, work: Sequence[int]) -> Iterator[str]:
        """One function of the work array: inputs, then outputs, then what functions pass on."""
        program, T = self.program, self.number
        first, inputs = program.first, program.inputs
        begin, end = part * LENGTH, min((part + 1) * LENGTH, len(program))
        suffix, root = ("f", "sqrtf") if T == "float" else ("", "sqrt")

        def read(slot: int) -> str:
            if slot <= 1:
                return f"{slot}.0{suffix}"
            if slot < 2 + inputs:
                return f"w[{slot - 2}]"
            if slot < first:
                return f"{float(program.constants[slot - 2 - inputs]).hex()}{suffix}"
            if slot < first + begin:
                return f"w[{work[slot - first]}]"
            return f"v{slot - first}"

        wanted: dict[int, list[int]] = {}  # slot -> outputs, one more, with their sign
        for i, s in enumerate(program.outputs.tolist(), 1):
            wanted.setdefault(abs(s), []).append(i if s >= 0 else -i)
        yield f"static void piece{part}({T} *w)"
        yield "{"
        for i in range(begin, end):
            op, a, b = int(program.op[i]), read(int(program.a[i])), read(int(program.b[i]))
            value = f"{root}({a})" if op == SQRT else f"{a} {SIGN[op]} {b}"
            yield f"    const {T} v{i} = {value};"
            if work[i] >= 0:
                yield f"    w[{work[i]}] = v{i};"
            yield from _stores(wanted, first + i, inputs, f"v{i}")
        if part == 0:
            for slot in sorted(s for s in wanted if s < first):
                yield from _stores(wanted, slot, inputs, read(slot))
        if begin == end:
            yield "    (void)w;"
        yield "}"
        yield ""


def _stores(wanted: dict[int, list[int]], slot: int, inputs: int, value: str) -> Iterator[str]:
    for i in wanted.get(slot, ()):
        yield f"    w[{inputs + abs(i) - 1}] = {value if i > 0 else '-' + value};"


def identifier(*words: str) -> str:
    """A name for a function in C, from a model's and an order's."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(words)).strip("_")
    return name if name[:1].isalpha() else f"model_{name}"


def _plain(text: str) -> str:
    """Fit for a comment."""
    return re.sub(r"[^ -~]|[*?\\]", "_", text)


def _wrapped(text: str, width: int = 92) -> str:
    return "\n   ".join(textwrap.wrap(text, width, break_on_hyphens=False))
