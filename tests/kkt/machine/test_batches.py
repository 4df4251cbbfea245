"""Batches of a block program: all instructions once, operands before what uses them."""

import pytest
from designs import listed

from pivotree import kkt, orderings
from pivotree.kkt.machine.batches import batches


def program_of(name, tree):
    return kkt.trace(kkt.build(tree), orderings.get(name)).program


@pytest.mark.parametrize("name", listed(["abm", "crbm", "virtual_work", "projected_abm", "natural"]))
def test_every_instruction_once_and_operands_first(name):
    """Of a whole program, and of its second half where what the first has made is known."""
    program = program_of(name, kkt.binary(3))
    made = [i.out for i in program.instructions]
    for start in (0, len(made) // 2):
        found = batches(program.instructions[start:], program.shapes, made[:start])
        assert sorted(out for batch in found for out in batch.outs) == sorted(made[start:])
        known = set(made[:start])
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
