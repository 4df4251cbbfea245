"""Which instructions of a program make and use the diagonal blocks D_k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .program import Instruction, Program

SUMS = ("add", "mirror", "square", "stack", "rows", "divide")
SOLVES = ("factor", "forward", "solve")


def diagonal(program: Program) -> NDArray[np.bool_]:
    """(instructions,) those that form a pivot's block, factor it, and solve with the factor.

    A block is formed by what stands between the last product and the factor; products with H are
    part of it, so that all of D_k = H M^ H* is (Ascher 1996, equation (5)), and M^ is not.
    """
    maker = {instruction.out: place for place, instruction in enumerate(program.instructions)}
    subspaces = {i.out for i in program.instructions if i.op == "input" and i.info[0] == "H"}
    mask = np.zeros(len(program.instructions), dtype=bool)

    def projects(i: Instruction) -> bool:
        return i.op == "mul" and any(arg and arg.value in subspaces for arg in i.args)

    waiting: list[tuple[int, bool]] = []  # values, and whether a product with H used them
    for place, instruction in enumerate(program.instructions):
        if instruction.op in SOLVES:
            mask[place] = True
        if instruction.op == "factor":
            waiting += [(arg.value, False) for arg in instruction.args if arg]
    while waiting:
        value, projected = waiting.pop()
        place = maker[value]
        i = program.instructions[place]
        if mask[place] or not (projects(i) or (i.op in SUMS and not projected)):
            continue
        mask[place] = True
        waiting += [(arg.value, projects(i)) for arg in i.args if arg]
    return mask
