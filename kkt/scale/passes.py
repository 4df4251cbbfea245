"""Two passes over the bodies of a walk: the operations on each kind of body, and loops around them.

A step is a straight-line program on one kind of body's numbers in memory, written in LLVM's
intermediate language: ``void NAME(table, k, j, up, record, children)``.  The table holds the
addresses of arrays, in which a body's part is found by the number k of the body, by j of its joint's
first freedom, or by ``up`` of its parent; what one pass hands to the other lies at ``record``, one
body's after another's in the order of the walk, and the sum of the children's updates at ``children``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ..arithmetic.formats import SQRT
from ..base.compiled import njit
from ..machine.emission import OPERATION, RELAXED
from ..machine.recorder import Recorder, Scalar, ScalarProgram, finished, operate, reference
from .plan import AHEAD, ANY, ONE, PADDING

Array = NDArray[Any]  # of objects: floats and numbers that are traced
Place = tuple[str, int]  # the name of an array, and an index in it
RECORD = "record"  # the stream that one way writes and the other reads


@dataclass(frozen=True)
class Step:
    """A straight-line program, and the places of its inputs and outputs."""

    program: ScalarProgram
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]


class StepWriter:
    """A recorder whose inputs have places in memory."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.places: tuple[tuple[str, int], ...] = tuple(
            (name, i) for name, size in sizes.items() for i in range(size)
        )
        self.slot: dict[tuple[str, int], int] = {place: 2 + i for i, place in enumerate(self.places)}
        self.recorder: Recorder = Recorder(len(self.places), float, operate)

    def variable(self, name: str, i: int) -> Scalar:
        return Scalar(self.recorder, self.slot[name, i])

    def array(self, name: str, known: tuple[int, ...]) -> Array:
        """Numbers of an array, each ZERO, ONE or ANY."""
        out = np.empty(len(known), dtype=object)
        out[:] = [
            self.variable(name, i) if what == ANY else float(what == ONE) for i, what in enumerate(known)
        ]
        return out

    def step(self, outputs: Mapping[Place, Any]) -> Step:
        refs = [reference(self.recorder, value) for value in outputs.values()]
        return Step(finished(self.recorder, len(self.places), refs), self.places, tuple(outputs))


class Record:
    """Numbers that the way to the base hands to the way back, in a stream."""

    def __init__(self, there: StepWriter, back: StepWriter) -> None:
        self.there = there
        self.back = back
        self.slots: list[int] = []  # of ``there``, in the order of the record

    def hand(self, value: Any) -> Any:
        """A number of ``there`` as one of ``back``: read from an input, or from the record."""
        if not isinstance(value, Scalar):
            return value
        slot, inputs = abs(value.ref), self.there.places
        constant = self.there.recorder.values.get(slot)
        if constant is not None:
            return constant if value.ref > 0 else -constant
        if slot - 2 < len(inputs) and inputs[slot - 2][0] != "children":  # an update overwrites those
            there = self.back.variable(*inputs[slot - 2])
        else:
            if slot not in self.slots:
                self.slots.append(slot)
            there = self.back.variable(RECORD, self.slots.index(slot))
        return there if value.ref > 0 else -there

    def array(self, values: Array) -> Array:
        out = np.empty(values.shape, dtype=object)
        for at, value in np.ndenumerate(values):
            out[at] = self.hand(value)
        return out

    def tightened(self, step: Step) -> tuple[Step, list[int]]:
        """The step with a record without unused numbers, and the slots of the rest in ``there``."""
        p = step.program
        read = set(np.abs(np.concatenate([p.a, p.b, p.outputs])).tolist())
        kept = [i for i in range(len(self.slots)) if self.back.slot[RECORD, i] in read]
        place = {i: at for at, i in enumerate(kept)}
        inputs = tuple((name, place.get(i, 0) if name == RECORD else i) for name, i in step.inputs)
        return Step(p, inputs, step.outputs), [self.slots[i] for i in kept]


STACK = ("children", "update")  # arrays that may overlap: an update overwrites the children's
DECLARED = """declare double @llvm.sqrt.f64(double)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"""
GIVEN = "ptr %table, i64 %k, i64 %j, i64 %up, ptr %record, ptr %children"
LINE = 8  # numbers in a cache line
_OF = {"one": "0", "body": "%k", "joint": "%j", "parent": "%up"}
_AT = {"update": "children"}


@dataclass(frozen=True)
class Numbers:
    """An array that steps read or write, and how a body's part of it is found."""

    name: str
    by: Literal["one", "body", "joint", "parent"]
    size: int  # of one body or freedom
    fetched: bool = False  # whether it is prefetched


@dataclass(frozen=True)
class Pass:
    """The steps of each kind of body, from tip to base or back."""

    name: str
    arrays: tuple[Numbers, ...]
    steps: tuple[Step, ...]  # of each kind

    def text(self, relaxed: bool) -> Iterator[str]:
        """Lines of code: the steps, and what fetches the numbers of a body that comes later."""
        for i, step in enumerate(self.steps):
            yield from function(f"{self.name}{i}", step, self.arrays, relaxed)
        yield from _fetch(self)


def function(name: str, step: Step, arrays: Sequence[Numbers], relaxed: bool) -> Iterator[str]:
    """One step as a function."""
    program, flags = step.program, RELAXED if relaxed else ""
    first, inputs = program.first, program.inputs
    yield f"define void @{name}({GIVEN}) {{"
    for i, it in enumerate(arrays):
        yield from _found(i, it)
    known: dict[int, str] = {0: "0.0", 1: "1.0"}
    known |= {2 + inputs + i: _exact(float(c)) for i, c in enumerate(program.constants)}

    def load(slot: int) -> Iterator[str]:
        if slot not in known:
            array, i = step.inputs[slot - 2]
            yield f"%p{slot} = getelementptr double, ptr %{_AT.get(array, array)}, i64 {i}"
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
        yield f"%o{i} = getelementptr double, ptr %{_AT.get(array, array)}, i64 {at}"
        yield f"store double {value}, ptr %o{i}"
    yield "ret void"
    yield "}"


def _found(i: int, it: Numbers) -> Iterator[str]:
    """Find the part of a body in the array whose address is entry i of the table."""
    yield f"%entry_{it.name} = getelementptr ptr, ptr %table, i64 {i}"
    yield f"%all_{it.name} = load ptr, ptr %entry_{it.name}"
    yield f"%first_{it.name} = mul i64 {_OF[it.by]}, {it.size}"
    yield f"%{it.name} = getelementptr double, ptr %all_{it.name}, i64 %first_{it.name}"


def _exact(x: float) -> str:
    return f"0x{struct.unpack('>Q', struct.pack('>d', x))[0]:016X}"


def _fetch(it: Pass) -> Iterator[str]:
    """Prefetch numbers into the second-level cache, and the place of a joint that comes later still.

    ``up`` is the number of that joint's body here; the table ends with the joints' places.
    """
    fetch = "call void @llvm.prefetch.p0(ptr %{}, i32 0, i32 2, i32 1)"
    yield f"define void @{it.name}_fetch({GIVEN}) {{"
    yield f"%entry = getelementptr ptr, ptr %table, i64 {len(it.arrays)}"
    yield "%offset = load ptr, ptr %entry"
    yield "%place = getelementptr i64, ptr %offset, i64 %up"
    yield fetch.format("place")
    for i, a in enumerate(it.arrays):
        if a.fetched:
            yield from _found(i, a)
            for at in sorted({*range(0, a.size, LINE), a.size - 1}):
                yield f"%{a.name}{at} = getelementptr double, ptr %{a.name}, i64 {at}"
                yield fetch.format(f"{a.name}{at}")
    yield "ret void"
    yield "}"


def _call(_typing: Any, address: Any, table: Any, k: Any, j: Any, up: Any, record: Any, children: Any) -> Any:
    """Call the function at an address, with numbers and addresses as a step takes them."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * 6)
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 7), code


call: Any = intrinsic(_call)


@njit(cache=True, nogil=True)
def upwards(steps, fetch, table, walk, record, records, stack, leaf, root):  # pragma: no cover
    """Children before parents.

    Updates wait on a stack, one a row.  A body takes the sum of its children's updates from the top; a
    first child leaves its update in a new place, another child adds its update to the place below.
    """
    body, code, offset = walk
    top, update = 0, stack.shape[1]
    for t in range(len(code)):
        here, kind = t + PADDING, code[t] >> 1
        soon = body[here + AHEAD]
        call(fetch, table, soon, offset[soon], body[here + 2 * AHEAD], 0, 0)
        top -= not leaf[kind]
        place = stack.ctypes.data + 8 * top * update
        call(steps[kind], table, body[here], offset[body[here]], 0, record, place)
        record += 8 * records[kind]
        if root[kind]:
            continue
        if code[t] & 1:
            top += 1
        else:
            for i in range(update):
                stack[top - 1, i] += stack[top, i]


@njit(cache=True, nogil=True)
def outwards(steps, fetch, table, walk, parent, record, records):  # pragma: no cover
    """Parents before children: the walk and the records are read from their ends."""
    body, code, offset = walk
    for t in range(len(code) - 1, -1, -1):
        here, kind = t + PADDING, code[t] >> 1
        k, soon = body[here], body[here - AHEAD]
        call(fetch, table, soon, offset[soon], body[here - 2 * AHEAD], 0, 0)
        record -= 8 * records[kind]
        call(steps[kind], table, k, offset[k], parent[k], record, 0)
