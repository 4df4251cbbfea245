"""Counts of a factor by runs: the same as the factor's own, and closed formulas for long chains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import brackets, shapes

from pivotree import kkt, orderings
from pivotree.kkt.matrix.blocks import PDD, QDD, F

TREES = {
    "chain": lambda: kkt.chain(12),
    "random": lambda: kkt.random_tree(25, seed=3),
    "binary": lambda: kkt.binary(4),
    "star": lambda: kkt.star(5, "spherical"),
    "comb": lambda: kkt.comb(9, "universal"),
    "humanoid": kkt.humanoid,
}


@pytest.mark.product
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("name", sorted(orderings.names()))
def test_counts_are_those_of_the_symbolic_factor(tree, name):
    structure = kkt.build(TREES[tree]()).structure
    plan = kkt.plan(orderings.get(name), structure)
    factor = kkt.symbolic(plan)
    counted = kkt.column_counts(plan)
    np.testing.assert_array_equal(counted.counts, factor.counts)
    assert (counted.fill_blocks, counted.flops) == (factor.fill_blocks, factor.flops)


@pytest.mark.product
@given(st.data())
@settings(max_examples=60)
def test_sequences_with_and_without_pairs(data):
    """Blocks one by one and in brackets: every pdd before its f, every f before its qdd."""
    shape = data.draw(st.just(range(-1, 8)) | shapes(13))
    names, dof = tuple(range(len(shape))), np.ones(len(shape), dtype=np.int64)
    structure = kkt.Structure(names, np.array(shape, dtype=np.int64), dof)
    plan = kkt.plan(data.draw(brackets(names)), structure)
    np.testing.assert_array_equal(kkt.column_counts(plan).counts, kkt.symbolic(plan).counts)


def crbm_of_chain(n):
    structure = kkt.Structure(tuple(range(n)), np.arange(-1, n - 1), np.ones(n, dtype=np.int64))
    tip = np.arange(n)[::-1]
    kinds = np.concatenate([np.tile([PDD, F], n), np.full(n, QDD)])
    group = np.concatenate([np.repeat(np.arange(n), 2), n + np.arange(n)])
    return kkt.plan_from_arrays(structure, kinds, np.concatenate([np.repeat(tip, 2), tip]), group)


@pytest.mark.product
@pytest.mark.parametrize("n", [1, 2, 100, 100_000])
def test_crbm_fills_two_blocks_for_each_body_and_ancestor(n):
    assert kkt.column_counts(crbm_of_chain(n)).fill_blocks == n * (n - 1)


def test_a_zero_pivot_is_refused():
    structure = kkt.build(kkt.chain(3)).structure
    backward = [[(kind, k)] for k in structure.tip_to_base for kind in ("qdd", "f", "pdd")]
    plan = kkt.plan(backward, structure)
    with pytest.raises(kkt.OrderError, match="structurally zero"):
        kkt.column_counts(plan)
