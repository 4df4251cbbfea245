"""What is read of a block program: its values in any algebra, whose each instruction is, what remains.

The owner of an instruction is the body charged with its rounding error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import OrderError
from ..matrix.blocks import Block
from ..model.loops import meeting
from ..structure.symbolic import SymbolicFactor
from .bracket import RHS
from .program import Instruction, Program, Ref
from .tracer import Tracer

Owners = NDArray[np.int64]  # in the tree's order; -1 for none


class BlockReader:
    """Values of a block program; a subclass says what each operation makes of its operands.

    The method for ``mul`` is ``_mul(i, a, b)``: it takes the instruction and the values of its
    operands, None for a block of zeros.  Operations that mean the same for all values are defined
    here; values need ``@``, ``+``, a minus sign and, unless :meth:`transposed` is given, ``T``.
    """

    def __init__(self) -> None:
        self.values: dict[int, Any] = {}

    def read(self, instructions: Iterable[Instruction]) -> None:
        for i in instructions:
            self.values[i.out] = self.value(i)

    def __call__(self, ref: Ref) -> Any:
        """A use of a value: transposed, or with the other sign."""
        value = self.values[ref.value]
        if ref.transposed:
            value = self.transposed(value)
        return value if ref.sign > 0 else -value

    def value(self, i: Instruction) -> Any:
        """The result of an instruction; raises what :meth:`unread` gives for an unknown one."""
        method = getattr(self, f"_{i.op}", None)
        if method is None:
            raise self.unread(i)
        return method(i, *(None if ref is None else self(ref) for ref in i.args))

    def transposed(self, value: Any) -> Any:
        return value.T

    def unread(self, i: Instruction) -> Exception:
        return OrderError(f"operation {i.op!r}", "has no meaning in what this program is read in")

    def basis(self, letter: str, i: Instruction) -> Any:
        """B, of which H B = 1, or C, of which H C = 0, where H is the operand of i."""
        raise self.unread(i)

    def _mul(self, i: Instruction, a: Any, b: Any) -> Any:
        return a @ b

    def _add(self, i: Instruction, a: Any, b: Any) -> Any:
        return a + b

    def _factor(self, i: Instruction, a: Any) -> Any:
        return a

    _mirror = _same = _factor

    def _along(self, i: Instruction, H: Any) -> Any:
        return self.basis("B" if i.op == "along" else "C", i)

    _across = _along


def step_bodies(program: Program) -> Owners:
    """(steps,) the body whose pivots a step eliminates; -1 where it has several, or none."""
    result = np.full(program.groups, -2, dtype=np.int64)
    factor = program.symbolic
    if factor is None:
        return np.maximum(result, -1)
    structure = factor.plan.graph.structure
    for record in program.pivots:
        for block in record.blocks:
            body = -1 if block.kind == "lam" else int(structure.copy_of[structure.index[block.body]])
            result[record.step] = body if result[record.step] in (-2, body) else -1
    return np.maximum(result, -1)


def instruction_bodies(program: Program, parent: Owners) -> Owners:
    """(instructions,) the body of each instruction; -1 for constants.

    Sums that begin with M_k, A_k, a_k, b_k or tau_k are body k's.  Other instructions are their
    step's, where it eliminates one body; in a bracket of several bodies that of the input block
    that they read, else the nearest common ancestor of their operands' bodies.
    """
    of_step = step_bodies(program)
    of_value = np.full(len(program.shapes), -1, dtype=np.int64)  # by what a value is made from
    result = np.full(len(program.instructions), -1, dtype=np.int64)
    inputs: dict[int, int] = {}
    sums: dict[int, int] = {}  # values that are summed into a body's own M, a, b or tau
    for i, instruction in enumerate(program.instructions):
        out, step = instruction.out, instruction.step
        if instruction.op == "input":
            inputs[out] = _input_body(program, *instruction.info)
            if instruction.info[0] in ("M", "A", "a", "b", "tau"):
                sums[out] = inputs[out]
        body = _body(instruction, inputs, of_value, parent)
        of_value[out] = body
        own = [sums[ref.value] for ref in instruction.args if ref and ref.value in sums]
        if instruction.op in ("add", "mirror") and own:
            result[i] = sums[out] = own[0]
        else:
            result[i] = of_step[step] if step >= 0 and of_step[step] >= 0 else body
    return result


def _input_body(program: Program, letter: str, number: int) -> int:
    """The body that an input block belongs to; -1 for what belongs to a loop as a whole."""
    if letter == "G" and program.symbolic is not None:
        return program.symbolic.plan.graph.structure.sides[number].body
    return -1 if letter in ("gamma", "compliance", "lam", "dlam", "beside") else int(number)


class Bodies:
    """The bodies of a program's runs of operations."""

    def __init__(self, program: Program, parent: Owners) -> None:
        self.of_step: Owners = np.append(step_bodies(program), -1)
        self.of_instruction: Owners = instruction_bodies(program, parent)
        self.step: NDArray[np.int64] = np.array([i.step for i in program.instructions], dtype=np.int64)

    def of(self, instruction: NDArray[np.integer], step: NDArray[np.integer]) -> Owners:
        """(runs,) the body of runs of operations of one instruction and one step.

        A factor of several bodies' pivots is the only instruction that has several steps.
        """
        at_step = self.of_step[step]
        other = (step != self.step[instruction]) & (at_step >= 0)
        return np.where(other, at_step, self.of_instruction[instruction])


def _body(instruction: Instruction, inputs: dict[int, int], of_value: Owners, parent: Owners) -> int:
    if instruction.op == "input":
        return inputs[instruction.out]
    values = [ref.value for ref in instruction.args if ref is not None]
    direct = [inputs[value] for value in values if value in inputs]
    bodies = [b for b in direct or (int(of_value[v]) for v in values) if b >= 0]
    if not bodies:
        return -1
    body = bodies[0]
    for other in bodies[1:]:
        found = meeting((body, other), parent)
        body = body if found < 0 else found
    return body


SUMS = ("add", "mirror", "square", "stack", "rows", "divide")
SOLVES = ("factor", "forward", "solve")


def diagonal(program: Program) -> NDArray[np.bool_]:
    """(instructions,) those that form a pivot's block, factor it, and solve with the factor.

    A block is formed by the instructions between the last product and the factor; products with H
    count as well, so that all of D_k = H M^ H* counts (Ascher 1996, equation (5)), but M^ does not.
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


# -- the remaining matrix after some pivots -------------------------------------------------------

# Every block of the Schur complement, as a value: the system that the papers print between two steps,
# such as (8) of Ascher, Pai & Cloutier 1996.  A sequence may also begin with a matrix other than (4),
# such as one that was reached after any number of steps before.


@dataclass(frozen=True)
class Remaining:
    """Blocks that wait to be eliminated, with the instructions that made them."""

    instructions: tuple[Instruction, ...]
    shapes: tuple[tuple[int, int], ...]  # (rows, columns) of each value
    factors: dict[tuple[Block, ...], Ref]  # dense pivots so far: what was factored, by its blocks
    entries: dict[tuple[Block, Block], Ref]  # each pair of coupled blocks in both orders
    rhs: dict[Block, Ref]
    inverse: dict[tuple[Block, Block], Ref]  # of the last bracket, its blocks coupled to nothing


def remaining(
    symbolic: SymbolicFactor, steps: int, start: Callable[[Tracer], None] = Tracer.enter_matrix
) -> Remaining:
    """The matrix and right-hand side after the first ``steps`` groups of a sequence.

    ``start`` enters the matrix to begin with, (4) if not given.  Groups whose blocks it does not
    enter are skipped and do not count; later groups are not eliminated.
    """
    tracer = Tracer(symbolic)
    start(tracer)
    fronts, block = tracer.fronts, tracer.graph.block
    entered = {i for key in fronts.matrix for i in key if i != RHS}
    groups = [g for g in tracer.base_groups(merge=False) if all(b in entered for p in g for b in p)]
    for members in groups[:steps]:
        tracer.group(members)
    gone = {b for members in groups[:steps] for pivot in members for b in pivot}
    alive = sorted(entered - gone, key=fronts.position.__getitem__)
    entries: dict[tuple[Block, Block], Ref] = {}
    rhs: dict[Block, Ref] = {}
    for i in alive:
        if (ref := fronts.left(i, RHS)) is not None:
            rhs[block(i)] = ref
        for j in alive:
            if (i <= j) and (ref := fronts.left(i, j)) is not None:
                entries[block(i), block(j)] = ref
                entries[block(j), block(i)] = tracer.write.t_of(ref)
    inverse = {} if tracer.last is None else tracer.last.inverse
    return Remaining(
        tuple(tracer.write.instructions),
        tuple(tracer.write.shapes),
        tracer.factored,
        entries,
        rhs,
        {(block(i), block(j)): ref for (i, j), ref in inverse.items()},
    )
