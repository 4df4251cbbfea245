"""A program as a C99 file and a header, or as a CUDA file: the same operations and the same bits.

Functions have bounded length, as in :mod:`kkt.machine.emission`, and pass values on in rows of a
work array on the stack.  Constants are written in hexadecimal, which is exact.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..arithmetic.formats import SQRT, Hardware
from ..base.errors import FormatError, ModelError, SizeError
from ..base.files import write_together, write_whole
from .emission import rows_of
from .native import LONGEST
from .recorder import ScalarProgram
from .states import Fields

SIGN = "+-*/"
CUDA = ("add", "sub", "mul", "div")


@dataclass(frozen=True)
class Dialect:
    """C99, with numbers of the type ``number``: double or float."""

    number: str
    functions: str = "static void"

    @property
    def suffix(self) -> str:
        return "f" if self.number == "float" else ""

    def constant(self, value: float) -> str:
        """A constant in hexadecimal, which is exact."""
        return f"{float(value).hex()}{self.suffix}"

    def operation(self, op: int, a: str, b: str) -> str:
        """``a op b``, rounded once."""
        return f"sqrt{self.suffix}({a})" if op == SQRT else f"{a} {SIGN[op]} {b}"


class Cuda(Dialect):
    """CUDA: operations are functions with a rounding mode, which no compiler flag can fuse."""

    def operation(self, op: int, a: str, b: str) -> str:
        letter = "f" if self.number == "float" else "d"
        if op == SQRT:
            return f"__{letter}sqrt_rn({a})"
        return f"__{letter}{CUDA[op]}_rn({a}, {b})"


LENGTH = 1000  # operations in one function: an optimising compiler's time grows faster
INLINED = 40_000  # operations whose functions nvcc may inline: as far as that was seen to cost it no time
DERIVED = {
    f"d{of}_d{by}": (f"{rows} N", f"d {of}_i by {told}, row i after row")
    for of, rows in (("qdd", "N"), ("lambda", "ROWS"))
    for by, told in (("q", "q in the joints' tangents"), ("qd", "qd"), ("tau", "tau"))
}
SIZES = {
    "x": "NX",
    "qd": "N",
    "tau": "N",
    "wrench": "6 BODIES",
    "qdd": "N",
    "pdd": "6 BODIES",
    "f": "6 BODIES",
    "inertia": "N N",
    "lambda": "ROWS",
    **{name: size for name, (size, _) in DERIVED.items()},
}
MEANING = {
    "x": "configuration [rad, m, or quaternions x y z w]",
    "qd": "rates [rad/s, m/s]",
    "tau": "efforts [N m, N]",
    "wrench": "on each body, at its joint's origin [N m, N], moment first",
    "qdd": "accelerations [rad/s^2, m/s^2]",
    "pdd": "spatial acceleration of each body",
    "f": "spatial force in each joint",
    "inertia": "joint-space inertia, row by row",
    "lambda": "forces of loops and contacts, one after another [N m, N]",
    **{name: told for name, (_, told) in DERIVED.items()},
}
KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long main register restrict return short signed sizeof static struct switch "
    "typedef union unsigned void volatile while sqrt sqrtf "
    "alignas alignof and asm bitand bitor bool catch class compl concept const_cast consteval "
    "constexpr constinit decltype delete dynamic_cast explicit export false friend mutable "
    "namespace new noexcept not nullptr operator or private protected public reinterpret_cast "
    "requires static_assert static_cast template this thread_local throw true try typeid typename "
    "using virtual wchar_t xor"  # of C++, which includes the header and compiles CUDA
)


STRICT = """\
       cc -std=c99 -O2 -ffp-contract=off -c {}.c

   Every operation is rounded once and none is reordered or fused, so that results have the same
   bits everywhere; sines and cosines are written out here as such operations, and counted above
   as one each.  That needs a compiler that keeps to IEEE arithmetic: FLT_EVAL_METHOD 0, which
   this file checks, no -ffast-math, and no contraction, which -ffp-contract=off forbids."""
LOOSE = """\
       cc -std=gnu99 -O3 -march=native -ffp-contract=fast -c {}.c

   The compiler may fuse products with sums, so that bits depend on it.  It may not reorder sums,
   as -ffast-math does: sines and cosines, one operation each above, rest on their rounding."""
SINGLY = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize") /* to gather numbers for vectors takes longer */
#endif
"""
CHECKED = """\
#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD != 0
#error "intermediate results have more digits than their type here; on x86 compile for SSE2"
#endif
#if !defined(__GNUC__) || defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FP_FAST_FMA) && !defined(__STRICT_ANSI__) && !defined(CONTRACTION_OFF)
#error "GCC fuses operations here: add -std=c99, or -ffp-contract=off -DCONTRACTION_OFF"
#endif
"""


@dataclass(frozen=True)
class Portable:
    """A program with all that a file says of it; ``name`` is that of the function."""

    name: str
    model: str
    order: str
    format: str  # float64 or float32
    fields: Fields
    bodies: tuple[str, ...]
    program: ScalarProgram
    counted: str  # operations by kind
    relaxed: bool = False  # whether a compiler may fuse products with sums

    def __post_init__(self) -> None:
        require_name(self.name)

    @property
    def number(self) -> str:
        return {"float64": "double", "float32": "float"}[self.format]

    @property
    def _length(self) -> int:
        return LENGTH // 2 if self.relaxed else LENGTH

    @property
    def _numbers(self) -> dict[str, int]:
        numbers = {"NX": self.fields.nx, "N": self.fields.N, "BODIES": self.fields.n}
        return numbers | ({"ROWS": self.fields.rows} if self.fields.rows else {})

    @property
    def _arrays(self) -> str:
        """A line for each array of numbers."""
        return "".join(
            f"   {field:8} {SIZES[field].replace(' ', ' x '):10} {MEANING[field]}\n"
            for field in (*self.fields.given, *self.fields.outputs)
        )

    def _title(self) -> str:
        """A title for the file's first comment."""
        model, order = _plain(self.model), _plain(self.order)
        return f"Forward dynamics of {model}, order {order}, in {self.format}"

    @property
    def prototype(self) -> str:
        given = [f"const {self.number} *{field}" for field in self.fields.given]
        return f"int {self.name}({', '.join(given)}, {self._results})"

    @property
    def _results(self) -> str:
        return ", ".join(f"{self.number} *{output}" for output in self.fields.outputs)

    def header(self) -> str:
        upper = self.name.upper()
        defined = "".join(f"#define {upper}_{key} {value}\n" for key, value in self._numbers.items())
        names = ", ".join(map(_plain, self.bodies))
        return f"""\
/* {self._title()}.

{self._arrays}
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
        dialect, file = Dialect(self.number), _plain(header[:-2])
        told, checked = (LOOSE, "") if self.relaxed else (STRICT, CHECKED)
        return f"""\
/* {self._title()}: {self.counted}.

{told.format(file)} */

#include "{header}"

#include <float.h>
#include <math.h>

#if defined(__FAST_MATH__)
#error "compile without -ffast-math: it changes results"
#endif
{checked}{SINGLY}
{self._pieces(dialect)}

{self.prototype}
{{
{self._body(dialect, "i", "return 1;")}
    return 0;
}}
"""

    def cuda(self) -> str:
        """The text of the CUDA file: one thread solves one state."""
        called = "__noinline__ " if len(self.program) > INLINED else ""
        T, dialect = self.number, Cuda(self.number, f"static __device__ {called}void")
        fields = self.fields
        given = [f"const {T} *{field}" for field in fields.given]
        results = [f"{T} *{output}" for output in fields.outputs]
        shape = ", ".join(f"{key} = {value}" for key, value in self._numbers.items())
        return f"""\
/* {self._title()}: {self.counted}.

{self._arrays}
   {_wrapped(shape + "; bodies, in this order: " + ", ".join(map(_plain, self.bodies)))}.

   One thread solves one state.  Number i of state s stands at [i * states + s], so that
   neighbouring threads read and write neighbouring numbers; launch at least ``states`` threads, in
   one dimension.  failed[s] is 0, or 1 where an input of state s is not finite; its results are
   not written then.

       nvcc -c {self.name}.cu

   Every operation is rounded once to nearest and none is fused, by whatever flags, so that results
   have the bits of the same program in C; sines and cosines are written out here as such
   operations, and counted above as one each.  In float32 numbers below 2^-126 must be kept: no
   -ftz=true and no -use_fast_math, which this file checks. */

#if defined(__FAST_MATH__) || defined(__USE_FAST_MATH__) && __USE_FAST_MATH__
#error "compile without -use_fast_math: it changes results"
#endif
#if defined(__CUDA_FTZ) && __CUDA_FTZ
#error "compile without -ftz=true: it changes results"
#endif

{self._pieces(dialect)}

extern "C" __global__ void {self.name}(
    int states, {", ".join(given)},
    {", ".join(results)}, int *failed)
{{
    const int s = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (s >= states) return;
    failed[s] = 1;
{self._body(dialect, "(long long)i * states + s", "return;")}
    failed[s] = 0;
}}
"""

    def _body(self, dialect: Dialect, at: str, refused: str) -> str:
        """The statements for one state; number i of a field is at ``at``, ``refused`` returns."""
        fields, copies, row = self.fields, [], 0
        sizes = [*fields.sizes, *(fields.size_of(output) for output in fields.outputs)]
        for name, size in zip((*fields.given, *fields.outputs), sizes, strict=True):
            to, of = f"w[{row} + i]", f"{name}[{at}]"
            to, of = (to, of) if name in fields.given else (of, to)
            copies.append(f"    for (i = 0; i < {size}; i++) {to} = {of};")
            row += size
        gather = "\n".join(copies[: len(fields.given)])
        scatter = "\n".join(copies[len(fields.given) :])
        parts, _, rows = self._work
        called = "\n".join(f"    piece{part}(w);" for part in parts)
        return f"""\
    {self.number} w[{max(rows, 1)}];
    int i;
{gather}
    for (i = 0; i < {self.program.inputs}; i++) {{
        if (!({dialect.operation(1, "w[i]", "w[i]")} == 0)) {refused}
    }}
{called}
{scatter}"""

    @cached_property
    def _work(self) -> tuple[range, Sequence[int], int]:
        """The functions, rows of results, and number of all rows."""
        parts = range(-(-len(self.program) // self._length) or 1)
        return parts, *rows_of(self.program, len(parts), self._length)

    def _pieces(self, dialect: Dialect) -> str:
        """Definitions of the functions."""
        parts, work, _ = self._work
        return "\n".join(line for part in parts for line in self._piece(part, work, dialect))

    def _piece(self, part: int, work: Sequence[int], dialect: Dialect) -> Iterator[str]:
        """One function on the work array: rows of inputs, outputs, and values passed on."""
        program, T = self.program, self.number
        first, inputs = program.first, program.inputs
        begin, end = part * self._length, min((part + 1) * self._length, len(program))

        def read(slot: int) -> str:
            if slot <= 1:
                return f"{slot}.0{dialect.suffix}"
            if slot < 2 + inputs:
                return f"w[{slot - 2}]"
            if slot < first:
                return dialect.constant(program.constants[slot - 2 - inputs])
            if slot < first + begin:
                return f"w[{work[slot - first]}]"
            return f"v{slot - first}"

        wanted: dict[int, list[int]] = {}  # slot -> outputs, one more, with their sign
        for i, s in enumerate(program.outputs.tolist(), 1):
            wanted.setdefault(abs(s), []).append(i if s >= 0 else -i)
        yield f"{dialect.functions} piece{part}({T} *w)"
        yield "{"
        for i in range(begin, end):
            op, a, b = int(program.op[i]), read(int(program.a[i])), read(int(program.b[i]))
            yield f"    const {T} v{i} = {dialect.operation(op, a, b)};"
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
    negated = value[1:] if value.startswith("-") else f"-{value}"
    for i in wanted.get(slot, ()):
        yield f"    w[{inputs + abs(i) - 1}] = {value if i > 0 else negated};"


def write_c(kernel: Any, path: str | Path, name: str | None) -> tuple[Path, Path]:
    """Write FILE.c and FILE.h of a kernel; see :meth:`kkt.Kernel.export_c`."""
    written, place = _written(kernel, path, name, "C", ".c")
    header = place.with_suffix(".h")
    write_together({header: written.header(), place: written.source(header.name)})
    return place, header


def write_cuda(kernel: Any, path: str | Path, name: str | None) -> Path:
    """Write FILE.cu of a kernel; see :meth:`kkt.Kernel.export_cuda`."""
    written, place = _written(kernel, path, name, "CUDA", ".cu")
    write_whole(place, written.cuda())
    return place


def _written(
    kernel: Any, path: str | Path, name: str | None, language: str, suffix: str
) -> tuple[Portable, Path]:
    if not isinstance(kernel.number, Hardware):
        raise FormatError("export", f"{language} has no {kernel.format}", "compile in float64 or float32")
    if kernel.relaxed and language != "C":
        raise ModelError("export", f"{language} is written with strict arithmetic", "compile without relaxed")
    if kernel.judged is not None:
        raise ModelError("export", f"{language} has no status", "compile without check")
    code = len(kernel.straight)
    if code > LONGEST:
        raise SizeError(
            "export",
            f"{code:,} operations, more than {LONGEST:,} in one file",
            "use an order with less fill, such as abm, or a smaller tree",
        )
    if not isinstance(path, str | os.PathLike):
        raise ModelError("export", f"{path!r} is no path", f"give FILE{suffix}")
    tree, place = kernel.places.tree, Path(path)
    if place.suffix != suffix or not re.fullmatch(r"[\w.+ -]+", place.name):
        raise ModelError(
            "export",
            f"{place.name!r} cannot be included by a program in {language}",
            f"give FILE{suffix}, of letters, digits and . _ + -",
        )
    chosen = identifier(tree.name, kernel.order) if name is None else name
    about = (tree.name, kernel.order, kernel.format, kernel.fields, tuple(map(str, tree.names)))
    return Portable(chosen, *about, kernel.straight, kernel.counted, kernel.relaxed), place


def require_name(name: Any) -> None:
    """Raise ModelError for a name that is not valid for a function in C and C++."""
    letters = isinstance(name, str) and re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name)
    if not letters or name in KEYWORDS.split():
        instead = "give letters, digits and _, a letter first, and no word of C or C++"
        raise ModelError("export", f"{name!r} cannot name a function in C", instead)


def identifier(*words: str) -> str:
    """A name for a function in C, from a model's and an order's."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(words)).strip("_")
    return name if name[:1].isalpha() else f"model_{name}"


def _plain(text: str) -> str:
    """Text without characters that could end or extend a comment."""
    return re.sub(r"[^ -~]|[*?\\]", "_", text)


def _wrapped(text: str) -> str:
    return "\n   ".join(textwrap.wrap(text, 92, break_on_hyphens=False))
