"""The operations on one kind of body, as straight-line programs on numbers in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..machine.recorder import Recorder, Scalar, operate, reference
from ..machine.scalar_program import ScalarProgram, finished
from .classes import ANY, ONE

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
        self.places = tuple((name, i) for name, size in sizes.items() for i in range(size))
        self.slot = {place: 2 + i for i, place in enumerate(self.places)}
        self.recorder = Recorder(len(self.places), float, operate)

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
        self.there, self.back = there, back
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
