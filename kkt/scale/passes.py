"""Passes over the bodies of a walk in LLVM's intermediate language: loops around the steps.

A pass is ``void NAME(table)``.  The table, one for all passes, holds what :func:`entries` lists,
each in 8 bytes: addresses of arrays, and the number of bodies.  A stream is an array that is read
or written one body after another, in the order of the walk; a body's part of any other array is
found by its index.

The operations on one kind of body, as straight-line programs on numbers in memory.

Steps of the kinds of bodies, written in LLVM's intermediate language.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import SQRT
from ..machine.emission import OPERATION, RELAXED
from ..machine.recorder import Recorder, Scalar, ScalarProgram, finished, operate, reference
from .plan import AHEAD, ANY, ONE

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


LINE = 8  # numbers in a cache line
WALK = ("body", "code", "count", "offset", "parent", "stack")
END = "_end"  # suffix: the end of a stream
_OF = {"body": "k", "joint": "j", "parent": "up"}


@dataclass(frozen=True)
class Numbers:
    """An array that steps read or write, and how a body's part of it is found."""

    name: str
    by: Literal["body", "joint", "parent", "stream"]
    size: int = 0  # of one body or freedom; streams have sizes by kind
    fetched: bool = False  # whether it is prefetched


@dataclass(frozen=True)
class Pass:
    """A loop over the bodies; a body's code is twice its kind, plus 1 for a first child.

    On the way from tip to base, updates wait on a stack.  A body takes the sum of its children's
    updates from the top.  A first child leaves its update in a new place, another child adds its
    update to the place below.
    """

    name: str
    tip_to_base: bool
    arrays: tuple[Numbers, ...]
    steps: tuple[Step, ...]  # of each kind
    sizes: dict[str, tuple[int, ...]]  # of each stream, by kind
    sums: tuple[int, ...]  # sums of updates that bodies of a kind take from the stack: 0 or 1
    root: tuple[bool, ...]  # kinds without a parent
    update: int  # count of numbers that a body hands to its parent

    @property
    def own(self) -> tuple[str, ...]:
        """The entries of the table that this pass reads."""
        end = "" if self.tip_to_base else END
        numbers = (a.name + end * (a.by == "stream") for a in self.arrays)
        return (*(WALK if self.tip_to_base else WALK[:-1]), *numbers)

    def text(self, table: Sequence[str], relaxed: bool) -> Iterator[str]:
        """Lines of code: the steps, and the loop around them."""
        names = [a.name for a in self.arrays] + ["children", "update"] * self.tip_to_base
        for i, step in enumerate(self.steps):
            yield from function(f"{self.name}{i}", step, names, relaxed)
        yield f"define void @{self.name}(ptr %table) {{"
        yield "entry:"
        for name in self.own:
            yield f"%table_{name} = getelementptr i64, ptr %table, i64 {table.index(name)}"
            yield f"%all_{name} = load {'i64' if name == 'count' else 'ptr'}, ptr %table_{name}"
        yield "br label %loop"
        yield "loop:"
        yield from _upwards(self) if self.tip_to_base else _outwards(self)


def entries(passes: Sequence[Pass]) -> tuple[str, ...]:
    """The names of the entries of the table for some passes, in order."""
    numbers = (a for it in passes for a in it.arrays)
    names = (x for a in numbers for x in ([a.name, a.name + END] if a.by == "stream" else [a.name]))
    return tuple(dict.fromkeys([*WALK, *names]))


def _load(value: str, kind: str, array: str, at: str) -> Iterator[str]:
    yield f"%at_{value} = getelementptr {kind}, ptr %all_{array}, i64 {at}"
    yield f"%{value} = load {kind}, ptr %at_{value}"


def _body(it: Pass) -> Iterator[str]:
    """Load body and code at place %t of the walk, and find the addresses of the body's numbers."""
    yield from _load("k32", "i32", "body", "%t")
    yield "%k = sext i32 %k32 to i64"
    yield from _load("code", "i8", "code", "%t")
    yield "%kind = lshr i8 %code, 1"
    yield from _load("j", "i64", "offset", "%k")
    if any(a.by == "parent" for a in it.arrays):
        yield from _load("up", "i64", "parent", "%k")
    for a in it.arrays:
        if a.by != "stream":
            yield f"%first_{a.name} = mul i64 %{_OF[a.by]}, {a.size}"
            yield f"%{a.name} = getelementptr double, ptr %all_{a.name}, i64 %first_{a.name}"
    yield from _fetch(it)


def _fetch(it: Pass) -> Iterator[str]:
    """Prefetch the numbers of a body that comes later, into the second-level cache."""
    step = AHEAD if it.tip_to_base else -AHEAD
    fetch = "call void @llvm.prefetch.p0(ptr %{}, i32 0, i32 2, i32 1)"
    for when, steps in (("soon", step), ("later", 2 * step)):
        yield f"%t_{when} = add i64 %t, {steps}"
        yield from _load(f"k32_{when}", "i32", "body", f"%t_{when}")
        yield f"%k_{when} = sext i32 %k32_{when} to i64"
    yield "%j_later = getelementptr i64, ptr %all_offset, i64 %k_later"
    yield fetch.format("j_later")
    yield from _load("j_soon", "i64", "offset", "%k_soon")
    for a in it.arrays:
        if not a.fetched:
            continue
        yield f"%soon_{a.name} = mul i64 %{_OF[a.by]}_soon, {a.size}"
        for i in sorted({*range(0, a.size, LINE), a.size - 1}):
            line = f"{a.name}{i}"
            yield f"%soon_{line} = add i64 %soon_{a.name}, {i}"
            yield f"%line_{line} = getelementptr double, ptr %all_{a.name}, i64 %soon_{line}"
            yield fetch.format(f"line_{line}")


def _phi(value: str, pairs: Sequence[tuple[str, str]]) -> str:
    return f"%{value} = phi ptr " + ", ".join(f"[%{x}, %{block}]" for x, block in pairs)


def _switch(it: Pass) -> Iterator[str]:
    yield "switch i8 %kind, label %none ["
    yield from (f"i8 {i}, label %kind{i}" for i in range(len(it.steps)))
    yield "]"
    yield "none:"
    yield "unreachable"


def _outwards(it: Pass) -> Iterator[str]:
    """Parents before children: the walk and its streams are read from their ends."""
    streams = [a.name for a in it.arrays if a.by == "stream"]
    yield "%left = phi i64 [%all_count, %entry], [%t, %next]"
    for x in streams:
        yield _phi(f"end_{x}", [(f"all_{x}{END}", "entry"), (f"next_{x}", "next")])
    yield "%t = sub i64 %left, 1"
    yield from _body(it)
    yield from _switch(it)
    for i in range(len(it.steps)):
        yield f"kind{i}:"
        for x in streams:
            yield f"%{x}{i} = getelementptr double, ptr %end_{x}, i64 -{it.sizes[x][i]}"
        arguments = (f"ptr %{a.name}{i if a.by == 'stream' else ''}" for a in it.arrays)
        yield f"call void @{it.name}{i}({', '.join(arguments)})"
        yield "br label %next"
    yield "next:"
    for x in streams:
        kinds = [(f"{x}{i}", f"kind{i}") for i in range(len(it.steps))]
        yield _phi(f"next_{x}", kinds)
    yield "%more = icmp ugt i64 %t, 0"
    yield "br i1 %more, label %loop, label %done"
    yield "done:\nret void\n}"


def _upwards(it: Pass) -> Iterator[str]:
    """Children before parents, with a stack of updates."""
    streams = [a.name for a in it.arrays if a.by == "stream"]
    kinds = range(len(it.steps))
    roots, others = [i for i in kinds if it.root[i]], [i for i in kinds if not it.root[i]]
    yield "%t = phi i64 [0, %entry], [%t_next, %next]"
    yield _phi("top", [("all_stack", "entry"), ("next_top", "next")])
    for x in streams:
        yield _phi(x, [(f"all_{x}", "entry"), (f"next_{x}", "next")])
    yield from _body(it)
    yield from _switch(it)
    update = [f"children{i}" for i in kinds]
    for i in kinds:
        yield f"kind{i}:"
        yield f"%children{i} = getelementptr double, ptr %top, i64 -{it.update * it.sums[i]}"
        arguments = [*(a.name for a in it.arrays), update[i], update[i]]
        yield f"call void @{it.name}{i}({', '.join(f'ptr %{x}' for x in arguments)})"
        for x in streams:
            yield f"%{x}{i} = getelementptr double, ptr %{x}, i64 {it.sizes[x][i]}"
        yield f"br label %{'base' if it.root[i] else 'inner'}"
    ways = []
    if others:
        yield "inner:"
        yield _phi("update", [(update[i], f"kind{i}") for i in others])
        for x in streams:
            yield _phi(f"inner_{x}", [(f"{x}{i}", f"kind{i}") for i in others])
        yield "%bit = trunc i8 %code to i1"
        yield "br i1 %bit, label %first, label %merge"
        yield "first:"
        yield f"%above = getelementptr double, ptr %update, i64 {it.update}"
        yield "br label %next"
        yield "merge:"
        yield f"call void @merge_{it.name}(ptr %update)"
        yield "br label %next"
        ways += [("above", "inner", "first"), ("update", "inner", "merge")]
    if roots:
        yield "base:"
        yield _phi("base_top", [(update[i], f"kind{i}") for i in roots])
        for x in streams:
            yield _phi(f"base_{x}", [(f"{x}{i}", f"kind{i}") for i in roots])
        yield "br label %next"
        ways.append(("base_top", "base", "base"))
    yield "next:"
    yield _phi("next_top", [(top, block) for top, _, block in ways])
    for x in streams:
        yield _phi(f"next_{x}", [(f"{way}_{x}", block) for _, way, block in ways])
    yield "%t_next = add i64 %t, 1"
    yield "%more = icmp ult i64 %t_next, %all_count"
    yield "br i1 %more, label %loop, label %done"
    yield "done:\nret void\n}"
    yield from _merge(it.name, it.update)


def _merge(name: str, size: int) -> Iterator[str]:
    """Add an update to the one below it on the stack."""
    yield f"define internal void @merge_{name}(ptr %u) noinline {{"
    for i in range(size):
        yield f"%p{i} = getelementptr double, ptr %u, i64 {i}"
        yield f"%q{i} = getelementptr double, ptr %u, i64 {i - size}"
        yield f"%x{i} = load double, ptr %p{i}"
        yield f"%y{i} = load double, ptr %q{i}"
        yield f"%z{i} = fadd double %y{i}, %x{i}"
    yield from (f"store double %z{i}, ptr %q{i}" for i in range(size))
    yield "ret void\n}"
