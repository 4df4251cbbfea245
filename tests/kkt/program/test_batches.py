"""Batches of a block program: all instructions once, operands before what uses them."""

import numpy as np
import pytest

from pivotree import kkt, orderings
from pivotree.kkt.matrix.blocks import Block
from pivotree.kkt.program.batches import batches, parted


def program_of(name, tree):
    return kkt.trace(kkt.build(tree), orderings.get(name)).program


def qdd(program):
    return [ref for block, ref in program.solution.items() if block.kind == "qdd"]


@pytest.mark.parametrize("name", ["abm", "crbm", "virtual_work", "projected_abm", "natural"])
def test_every_instruction_once_and_operands_first(name):
    program = program_of(name, kkt.binary(3))
    found = batches(program.instructions, program.shapes)
    assert sorted(out for batch in found for out in batch.outs) == sorted(
        i.out for i in program.instructions
    )
    known: set[int] = set()
    for batch in found:
        for operand in batch.operands:
            assert operand is None or {ref.value for ref in operand} <= known
        known.update(batch.outs)


def test_equal_subtrees_stand_side_by_side():
    """A tree of 15 bodies has hardly more batches than its longest path of 4."""
    wide, deep = (program_of("abm", tree) for tree in (kkt.binary(4), kkt.chain(4)))
    many, few = (len(batches(p.instructions, p.shapes)) for p in (wide, deep))
    assert len(wide.instructions) > 3 * len(deep.instructions)
    assert many < 1.5 * few


def test_the_factor_knows_no_right_hand_side():
    program = program_of("abm", kkt.chain(3))
    parts = parted(program, qdd(program))
    letters = {i.info[0] for i in parts.factor if i.op == "input"}
    assert letters == {"M", "Phi", "H"}
    assert {i.info[0] for i in parts.rest if i.op == "input"} == {"a", "b", "tau"}
    assert {i.op for i in parts.factor} >= {"factor"} > {i.op for i in parts.rest} & {"factor"}


def test_zeros_of_the_right_hand_side_take_their_operations_along():
    program = program_of("abm", kkt.chain(3))
    whole, efforts = (parted(program, qdd(program), zero) for zero in ((), ("a", "b")))
    assert {i.out for i in efforts.factor} == {i.out for i in whole.factor}
    assert {i.info[0] for i in efforts.rest if i.op == "input"} == {"tau"}
    assert len(efforts.rest) < len(whole.rest)
    nothing = parted(program, qdd(program), ("a", "b", "tau"))
    assert nothing.found == (None,) * 3 and not nothing.rest


def test_unknowns_are_named():
    program = program_of("abm", kkt.chain(2))
    assert Block("qdd", next(iter(kkt.chain(2).nodes))) in program.solution
    assert np.all([ref.value < len(program.shapes) for ref in program.solution.values()])
