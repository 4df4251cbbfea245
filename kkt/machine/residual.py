"""The residual of a short format's answer, formed in float64: a checked program in three stages.

A short format cannot tell what its own rounding of poses and bias does to qdd: a residual of the
entries that it formed is small whatever they are.  So a checked program in a format that is shorter
than float64 runs in three stages: the first finds the answer; the second, in float64, forms poses and
bias anew from the state, and inverse dynamics of the answer from these; the third goes on with this
residual in the format, and solves for it by the first one's factor.  This is iterative refinement
with residuals in twice the digits, of equation (4) as the model's own numbers make it (Higham,
Accuracy and Stability of Numerical Algorithms, 2nd ed., section 12.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from .interpreter import Interpreter
from .scalar_program import ScalarProgram


def divided(program: ScalarProgram, inputs: int, heads: int) -> tuple[ScalarProgram, ScalarProgram]:
    """The operations that need none of the inputs from number ``inputs`` on, and the others.

    The first program's outputs are the first ``heads`` of the whole, and all that the second one
    reads; its inputs are these and then the late ones, its outputs the rest of the whole's.
    """
    first, total = program.first, program.first + len(program)
    late = [False] * total
    late[2 + inputs : 2 + program.inputs] = [True] * (program.inputs - inputs)
    for slot, (a, b) in enumerate(zip(program.a.tolist(), program.b.tolist(), strict=True), first):
        late[slot] = late[a] or late[b]
    after = np.array(late)
    own = after[first:]
    constant = np.zeros(total, dtype=bool)
    constant[[0, 1, *range(2 + program.inputs, first)]] = True
    read = np.zeros(total, dtype=bool)
    for slots in (program.a[own], program.b[own], np.abs(program.outputs[heads:])):
        read[slots] = True
    passed = np.flatnonzero(read & ~after & ~constant)

    def part(op: NDArray[np.bool_], given: Sequence[Any], outputs: NDArray) -> ScalarProgram:
        """The operations in ``op``, where ``given`` are the slots of inputs."""
        place = np.zeros(total, dtype=np.int32)
        slots = np.concatenate([*given, np.arange(2 + program.inputs, first), first + np.flatnonzero(op)])
        place[slots.astype(int)] = 2 + np.arange(len(slots))
        place[:2] = 0, 1
        signed = (np.sign(outputs) * place[np.abs(outputs)]).astype(np.int32)
        count, a, b = sum(map(len, given)), place[program.a[op]], place[program.b[op]]
        return ScalarProgram(count, program.constants, program.op[op], a, b, signed)

    unused = np.zeros(heads)  # the second stage reads them, the third does not
    held = np.concatenate([program.outputs[:heads], passed])
    return (
        part(~own, [2 + np.arange(inputs)], held),
        part(own, [unused, passed, np.flatnonzero(after[: 2 + program.inputs])], program.outputs[heads:]),
    )


def interpreted(stages: Sequence[ScalarProgram], chosen: Format, states: NDArray) -> NDArray:
    """(m, outputs) of a program in one stage or three, one operation after another."""
    first, *rest = stages
    found = Interpreter(first, chosen).run(states)
    if not rest:
        return found
    wide, last = rest
    answer = found[:, : wide.inputs - states.shape[1]]
    given = np.concatenate([chosen.cast(states), answer], axis=1).astype(float)
    with np.errstate(over="ignore"):
        left = chosen.cast(Interpreter(wide, get_format("float64")).run(given))
    return Interpreter(last, chosen).run(np.concatenate([found, left], axis=1))
