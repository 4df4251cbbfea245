"""Counted programs: the scalar operations of every instruction, and the patterns that it met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt
from pivotree.kkt.matrix.entries import Pattern
from pivotree.kkt.order.sequence import as_order
from pivotree.kkt.program.program import Program
from pivotree.kkt.program.readers import instruction_bodies
from pivotree.kkt.program.residual_program import trace_substitution
from pivotree.kkt.program.tracer import as_counted, program_of
from pivotree.kkt.tape.inputs import InputSlots
from pivotree.kkt.tape.lowering import Lowering, Patterns
from pivotree.kkt.tape.tape import inputs_of
from pivotree.kkt.tape.trace import unphysical

KINDS = ("mul", "add", "div", "sqrt")
"""Kinds of scalar operations, in the order in which counts tell them; a subtraction is an "add".

>>> from pivotree.analysis.counts import KINDS
>>> KINDS
('mul', 'add', 'div', 'sqrt')
"""
_COLUMN = np.array([1, 1, 0, 2, 3])  # of ADD, SUB, MUL, DIV, SQRT

Code = tuple[tuple[int, ...], bytes]  # shape and entries of a pattern: 0, +-1, 2 for any other


class Met(NamedTuple):
    """What one instruction was lowered from and to."""

    args: tuple[Code, ...]
    out: Code


@dataclass(frozen=True)
class Counted:
    """A program with the operations that qdd (or tau) needs, instruction by instruction."""

    program: Program
    names: Sequence[Any]  # (n,) bodies
    parent: NDArray[np.int64]  # (n,)
    operations: NDArray[np.int64]  # (instructions, 4) as in KINDS; zero where qdd needs none
    live: NDArray[np.bool_]  # (instructions,)
    met: dict[int, Met]  # by value

    @property
    def total(self) -> tuple[int, ...]:
        """As in KINDS."""
        return tuple(self.operations.sum(axis=0).tolist())

    @cached_property
    def bodies(self) -> NDArray[np.int64]:
        """(instructions,) the body of each; -1 for constants."""
        return instruction_bodies(self.program, self.parent)

    @cached_property
    def tail(self) -> NDArray[np.bool_]:
        """(instructions,) those of a factor that several bodies' joints share."""
        steps: dict[int, set[Any]] = {}
        for record in self.program.pivots:
            if record.factor >= 0:
                steps.setdefault(record.factor, set()).add(record.blocks[0].body)
        shared = {factor for factor, bodies in steps.items() if len(bodies) > 1}
        late = {r.step for r in self.program.pivots if r.factor in shared}
        return np.array([i.step in late for i in self.program.instructions], dtype=bool)


def _met(patterns: Patterns) -> dict[int, Met]:
    """What the instructions of a program were lowered from and to, by their values."""
    # the sign of a slot decides between + and -, which cost alike
    found, known = {}, patterns.known
    told = [(c.shape, np.maximum(c, -c * (c == -2)).tobytes()) for c in known.codes]
    for place in np.flatnonzero(patterns.program.kept).tolist():
        i = patterns.program.instructions[place]
        args = tuple(told[known.variant(patterns.pattern, ref)] for ref in i.present)
        found[i.out] = Met(args, told[patterns.pattern[i.out]])
    return found


def count(program: Program, inputs: InputSlots) -> Counted:
    """Lower a program on a pattern of inputs and count.

    >>> from pivotree.analysis.counts import count
    >>> from pivotree.kkt.program.tracer import program_of
    >>> from pivotree.kkt.tape.inputs import InputSlots
    >>> system = pt.build(pt.chain(3))
    >>> tree, abm = system.tree, pt.kkt.plan(pt.orderings.get("abm"), system.structure)
    >>> inputs = InputSlots(system.pattern, tree.names, tree.parent, tree.dof, system.state.S)
    >>> count(program_of(pt.kkt.symbolic(abm)), inputs).total
    (237, 205, 14, 0)
    """
    lowering = Lowering(program, inputs)
    ops = np.concatenate([np.zeros(0, dtype=np.int8), *(c.op for c in lowering.run())])
    live = program.live(("qdd",))
    place = np.repeat(np.arange(len(live)), np.diff(lowering.first))
    operations = np.zeros((len(live), len(KINDS)), dtype=np.int64)
    np.add.at(operations, (place, _COLUMN[ops]), 1)
    operations[~live] = 0
    return Counted(program, inputs.names, inputs.parent, operations, live, _met(lowering))


def program_for(order: Callable[..., Any], structure: kkt.Structure) -> Program:
    """The block program of an order; of inverse dynamics, that of its substitution."""
    order = as_order(order)
    if order.problem == "tau":
        return trace_substitution(order(structure), structure, order.name)
    return program_of(kkt.symbolic(kkt.plan(order, structure)))


def dense_work(order: Callable[..., Any], structure: kkt.Structure) -> int:
    """Operations on full blocks, from the pattern alone; 0 for inverse dynamics, which has few."""
    if as_order(order).problem == "tau":
        return 0
    return kkt.symbolic(kkt.plan(order, structure)).flops


def count_robot(order: Callable[..., Any], system: kkt.System) -> Counted:
    """Scalar counts: zeros and ones of this robot's frames folded away.

    Raises SingularError and OrderError where the order cannot be used on this robot.

    >>> from pivotree.analysis.counts import KINDS, count_robot
    >>> arm = count_robot(pt.orderings.get("abm"), pt.build(pt.chain(3)))
    >>> dict(zip(KINDS, arm.total))
    {'mul': 237, 'add': 205, 'div': 14, 'sqrt': 0}
    """
    program = as_counted(program_for(order, system.structure))
    if program.symbolic is not None:
        unphysical(program, system)
    return count(program, inputs_of(program, system))


def count_blocks(order: Callable[..., Any], parent: Sequence[int], dof: Sequence[int]) -> Counted:
    """Block counts: every block of (4) full, with no zero and no one in it.

    ``parent`` (n,) has -1 at a root, parents before children; ``dof`` (n,) are the N_k.
    """
    n, N = len(parent), int(sum(dof))
    structure = kkt.Structure(tuple(range(n)), np.array(parent), np.array(dof))
    program = program_for(order, structure)
    full = np.ones((n, 6, 6), dtype=bool)
    pattern = Pattern(
        M=full,
        Phi=full,
        S=np.ones((N, 6), dtype=bool),
        Phi_one=np.zeros_like(full),
        S_one=np.zeros((N, 6), dtype=bool),
        a=np.ones(n, dtype=bool),
    )
    inputs = InputSlots(
        pattern,
        structure.names,
        structure.parent,
        structure.dof,
        tuple(np.eye(6)[:, :d] for d in dof),
        tuple(sorted({i.info[0] for i in program.instructions if i.op == "divide"})),
    )
    return count(program, inputs)
