"""Straight-line programs in single assignment, without operations that no output needs.

An interpreter of programs: one operation after another, each rounded to a format.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.chunk import Chunk
from ..arithmetic.formats import Format
from .recorder import COS, NAMES, SIN, Recorder

Slots = NDArray[np.int32]


@dataclass(frozen=True)
class ScalarProgram:
    """A program; slots are zero, one, the inputs, the constants, then one result an operation."""

    inputs: int  # numbers of a state
    constants: NDArray[np.float64]  # (c,) rounded to the format
    op: NDArray[np.int8]  # (T,)
    a: Slots  # (T,) operands; b is 0 for sqrt, sin and cos
    b: Slots
    outputs: Slots  # signed: minus slot i is the negative of its value

    @property
    def first(self) -> int:
        """Slot of the first operation's result."""
        return 2 + self.inputs + len(self.constants)

    def __len__(self) -> int:
        return len(self.op)

    @cached_property
    def chunk(self) -> Chunk:
        """The operations as a piece of a tape."""
        dst = np.arange(self.first, self.first + len(self), dtype=np.int32)
        return Chunk(self.op, dst, self.a, self.b, np.zeros(len(self), dtype=np.int32))

    @property
    def operations(self) -> dict[str, int]:
        """Counts of operations by kind; differences are counted as sums."""
        count = Counter(NAMES[op] for op in self.op.tolist())
        return {name: count[name] for name in dict.fromkeys(NAMES)}


def finished(recorder: Recorder, inputs: int, outputs: list[int]) -> ScalarProgram:
    """The program of those operations of a recorder that ``outputs``, signed references, need."""
    marks = bytearray(recorder.top)
    for ref in outputs:
        marks[abs(ref)] = True
    columns = (reversed(x) for x in (recorder.slot, recorder.a, recorder.b))
    for result, one, two in zip(*columns, strict=True):
        if marks[result]:
            marks[one] = marks[two] = True
    needed = np.frombuffer(marks, dtype=bool)
    op, a, b, slot = (
        np.array(x, dtype=np.int64) for x in (recorder.op, recorder.a, recorder.b, recorder.slot)
    )
    constants = [s for s in recorder.values if s > 1 and needed[s]]
    live = needed[slot] if len(slot) else np.zeros(0, dtype=bool)
    place = np.zeros(recorder.top, dtype=np.int32)
    place[: 2 + inputs] = np.arange(2 + inputs)
    place[constants] = 2 + inputs + np.arange(len(constants))
    first = 2 + inputs + len(constants)
    place[slot[live]] = first + np.arange(live.sum())
    signed = np.array(outputs, dtype=np.int64)
    return ScalarProgram(
        inputs,
        np.array([recorder.values[s] for s in constants], dtype=float),
        op[live].astype(np.int8),
        place[a[live]],
        place[b[live]],
        (np.sign(signed) * place[np.abs(signed)]).astype(np.int32),
    )


def depth_first(program: ScalarProgram) -> ScalarProgram:
    """The same operations in depth-first order, from one output after another.

    Results are then read soon after they are computed, so that fewer values are live at a time.
    """
    first, a, b = program.first, program.a.tolist(), program.b.tolist()
    place = [*range(first), *([-1] * len(program))]
    order: list[int] = []
    waiting = np.abs(program.outputs)[::-1].tolist()
    while waiting:
        slot = waiting[-1]
        if place[slot] >= 0:
            waiting.pop()
            continue
        one, two = a[slot - first], b[slot - first]
        # the first operand is computed first: it is put on top
        later = [x for x in (two, one) if place[x] < 0]
        waiting += later
        if not later:
            place[slot] = first + len(order)
            order.append(slot - first)
            waiting.pop()
    to = np.array(place, dtype=np.int32)
    return ScalarProgram(
        program.inputs,
        program.constants,
        program.op[order],
        to[program.a[order]],
        to[program.b[order]],
        (np.sign(program.outputs) * to[np.abs(program.outputs)]).astype(np.int32),
    )


class Interpreter:
    """Runs a program state by state; sines and cosines are those of float64, rounded once."""

    def __init__(self, program: ScalarProgram, chosen: Format) -> None:
        self.program, self.format = program, chosen
        trigonometry = np.isin(program.op, (SIN, COS))
        cuts = np.flatnonzero(np.diff(trigonometry.astype(np.int8))) + 1
        bounds = [0, *cuts.tolist(), len(program)]
        self.pieces = [
            (bool(trigonometry[i]), program.chunk.part(slice(i, j)))
            for i, j in itertools.pairwise(bounds)
            if i < j
        ]
        self.places, self.signs = np.abs(program.outputs), np.sign(program.outputs)

    def run(self, inputs: NDArray) -> NDArray:
        """(m, outputs) at inputs (m, inputs), in the type that carries the format."""
        program, chosen = self.program, self.format
        dtype = chosen.dtype
        assert dtype is not None
        out: NDArray = np.empty((len(inputs), len(self.places)), dtype=dtype)
        v: NDArray = np.zeros(program.first + len(program), dtype=dtype)
        v[1] = 1
        v[2 + program.inputs : program.first] = program.constants
        given = chosen.cast(inputs)
        with np.errstate(all="ignore"):
            for i in range(len(inputs)):
                v[2 : 2 + program.inputs] = given[i]
                self._run(v)
                out[i] = self.signs * v[self.places]
        return out

    def _run(self, v: NDArray) -> None:
        runner = self.format.runner(None)
        for trigonometry, chunk in self.pieces:
            if not trigonometry:
                runner.run(chunk, v)
                continue
            angle = v[chunk.a].astype(float)
            value = np.where(chunk.op == SIN, np.sin(angle), np.cos(angle))
            v[chunk.dst] = self.format.cast(value)
