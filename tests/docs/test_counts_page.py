"""What docs/counts.md counts by itself: trees of any shape, and what comes before the solve."""

import pytest
from flint import fmpq_poly
from helpers import ROOT

from pivotree import orderings
from pivotree.analysis.counts import FAMILIES, KINDS
from pivotree.analysis.counts.counting import count_blocks

FOLDER = ROOT / "docs"


@pytest.mark.product
def test_block_polynomials_meet_trees_that_took_no_part(load):
    """Random forests of mixed joints, larger than those of the fit."""
    trees = load("counts_trees")
    for function in map(orderings.get, ("crbm", "abm")):
        found = trees.block_count(function)
        assert found is not None
        for seed in range(9000, 9008):
            parent, dof = trees.random_tree(seed, most=16)
            assert found(parent, dof) == count_blocks(function, parent, dof).total, (parent, dof)
    assert trees.block_count(orderings.get("virtual_work"), trees=48) is None


def test_what_comes_before_the_solve_is_counted_from_its_formulas(load):
    assembly = load("counts_before").assembly
    found = assembly(FAMILIES["dh"])
    assert all(p.degree() <= 1 for p in (*found.mul.values(), *found.add.values()))
    # nothing is to be done for Phi where a frame is a pure turn or a pure shift
    assert not found.mul["Phi"] and not found.mul["poses"]
    whole = assembly(FAMILIES["dh_whole"])
    assert whole.mul["poses"] == fmpq_poly([-4, 4])  # Rot_x(alpha) Rot_z(q): four products
    assert assembly(FAMILIES["spherical"]) is None


@pytest.mark.soak
def test_orders_without_a_chain_polynomial_say_so(load):
    function = orderings.get("virtual_work")
    chain_count = load("counts_trees").chain_count
    terms = chain_count(function)
    n, N = 12, 4
    total = count_blocks(function, range(-1, n - 1), [N] * n).total
    for kind, value in zip(KINDS, total, strict=True):
        assert terms[kind](n, N) == value
    assert chain_count(orderings.get("divide_and_conquer")) is None
