"""Steps of the kinds of bodies, written in LLVM's intermediate language."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from ..arithmetic.chunk import SQRT
from .steps import Step

OPERATION = ("fadd", "fsub", "fmul", "fdiv")
RELAXED = " contract arcp"
STACK = ("children", "update")  # arrays that may overlap: an update overwrites the children's
DECLARED = """declare double @llvm.sqrt.f64(double)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"""


def function(name: str, step: Step, arrays: Sequence[str], relaxed: bool) -> Iterator[str]:
    """One step as a function, whose arguments are the addresses of a body's numbers."""
    program, flags = step.program, RELAXED if relaxed else ""
    first, inputs = program.first, program.inputs
    arguments = ", ".join(f"ptr {'' if x in STACK else 'noalias '}%{x}" for x in arrays)
    yield f"define internal void @{name}({arguments}) noinline {{"
    known: dict[int, str] = {0: "0.0", 1: "1.0"}
    known |= {2 + inputs + i: _exact(float(c)) for i, c in enumerate(program.constants)}

    def load(slot: int) -> Iterator[str]:
        if slot not in known:
            array, i = step.inputs[slot - 2]
            yield f"%p{slot} = getelementptr double, ptr %{array}, i64 {i}"
            yield f"%v{slot} = load double, ptr %p{slot}"
            known[slot] = f"%v{slot}"

    a, b = program.a.tolist(), program.b.tolist()
    read = {abs(s) for s in [*a, *b, *program.outputs.tolist()]}
    for slot in sorted(read):  # loaded first, since results may overwrite them
        if 2 <= slot < 2 + inputs and step.inputs[slot - 2][0] in STACK:
            yield from load(slot)
    for i, op in enumerate(program.op.tolist()):
        slot = first + i
        yield from load(a[i])
        if op == SQRT:
            yield f"%v{slot} = call double @llvm.sqrt.f64(double {known[a[i]]})"
        else:
            yield from load(b[i])
            yield f"%v{slot} = {OPERATION[op]}{flags} double {known[a[i]]}, {known[b[i]]}"
        known[slot] = f"%v{slot}"
    for i, (signed, (array, at)) in enumerate(zip(program.outputs.tolist(), step.outputs, strict=True)):
        yield from load(abs(signed))
        value = known[abs(signed)]
        if signed < 0:
            yield f"%n{i} = fneg double {value}"
            value = f"%n{i}"
        yield f"%o{i} = getelementptr double, ptr %{array}, i64 {at}"
        yield f"store double {value}, ptr %o{i}"
    yield "ret void"
    yield "}"


def _exact(x: float) -> str:
    return f"0x{struct.unpack('>Q', struct.pack('>d', x))[0]:016X}"
