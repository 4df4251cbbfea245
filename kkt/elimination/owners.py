"""Whose each instruction of a block program is: the body that a rounding error is charged to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .program import Instruction, Program


def step_bodies(program: Program) -> NDArray[np.int64]:
    """(steps,) the body whose pivots a step eliminates; -1 where it has several, or none."""
    result = np.full(program.groups, -2, dtype=np.int64)
    factor = program.symbolic
    if factor is None:
        return np.maximum(result, -1)
    structure = factor.plan.graph.structure
    for record in program.pivots:
        for block in record.blocks:
            k = structure.index[block.body]
            body = k if structure.copy_of is None else int(structure.copy_of[k])
            result[record.step] = body if result[record.step] in (-2, body) else -1
    return np.maximum(result, -1)


def instruction_bodies(program: Program, parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """(instructions,) the body of each instruction; -1 for constants.

    That of its step, where a step eliminates one body.  In a bracket of several bodies: that of
    the input block that it reads, else the nearest common ancestor of its operands' bodies.
    """
    of_step = step_bodies(program)
    of_value = np.full(len(program.shapes), -1, dtype=np.int64)  # by what a value is made from
    result = np.full(len(program.instructions), -1, dtype=np.int64)
    inputs: dict[int, int] = {}
    for i, instruction in enumerate(program.instructions):
        if instruction.op == "input":
            inputs[instruction.out] = int(instruction.info[1])
        body = _body(instruction, inputs, of_value, parent)
        of_value[instruction.out] = body
        step = instruction.step
        result[i] = of_step[step] if step >= 0 and of_step[step] >= 0 else body
    return result


def _body(
    instruction: Instruction,
    inputs: dict[int, int],
    of_value: NDArray[np.int64],
    parent: NDArray[np.int64],
) -> int:
    if instruction.op == "input":
        return inputs[instruction.out]
    values = [ref.value for ref in instruction.args if ref is not None]
    direct = [inputs[value] for value in values if value in inputs]
    bodies = [b for b in direct or (int(of_value[v]) for v in values) if b >= 0]
    if not bodies:
        return -1
    body = bodies[0]
    for other in bodies[1:]:
        body = common_ancestor(body, other, parent)
    return body


def common_ancestor(i: int, j: int, parent: NDArray[np.int64]) -> int:
    """The nearest body that both hang on, one of them included; i where there is none."""
    if i == j:
        return i
    above, k = {i}, i
    while parent[k] >= 0:
        k = int(parent[k])
        above.add(k)
    while j not in above:
        if parent[j] < 0:
            return i
        j = int(parent[j])
    return j
