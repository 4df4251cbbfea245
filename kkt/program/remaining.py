"""The remaining matrix after some pivots: every block of the Schur complement, as a value.

It is the system that the papers print between two steps, such as (8) of Ascher, Pai & Cloutier 1996,
for proofs.  A sequence may also begin with a matrix other than (4), such as one that was reached
after any number of steps before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..matrix.blocks import Block
from ..structure.symbolic import SymbolicFactor
from .bracket import RHS
from .program import Instruction, Ref
from .tracer import Tracer


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
