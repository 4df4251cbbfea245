"""What docs/counts.md counts by itself: trees of any shape, and what comes before the solve."""

import numpy as np
import pytest
from flint import fmpq_poly
from helpers import ROOT

from pivotree import kkt, orderings
from pivotree.analysis.counts import FAMILIES, KINDS, polynomial
from pivotree.analysis.counts.counting import count_blocks
from pivotree.kkt.model.spatial import matmul

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


def test_exact_solutions_leave_out_dependent_columns(load):
    solve_exactly = load("counts_trees").solve_exactly
    rows = [[1, n, 2 * n, n * n] for n in range(1, 7)]
    values = [[3 - n + n * n for n in range(1, 7)], list(range(1, 7))]
    assert solve_exactly(rows, values) == [[3, -1, 0, 1], [0, 1, 0, 0]]
    assert solve_exactly(rows, [[n**3 for n in range(1, 7)]]) is None


def test_what_comes_before_the_solve_is_counted_from_its_formulas(load):
    assembly = load("counts_before").assembly
    found = assembly(FAMILIES["dh"])
    assert all(p.degree() <= 1 for p in (*found.mul.values(), *found.add.values()))
    # nothing is to be done for Phi where a frame is a pure turn or a pure shift
    assert not found.mul["Phi"] and not found.mul["poses"]
    whole = assembly(FAMILIES["dh_whole"])
    assert whole.mul["poses"] == fmpq_poly([-4, 4])  # Rot_x(alpha) Rot_z(q): four products
    assert assembly(FAMILIES["spherical"]) is None


def test_known_numbers_count_what_is_done(load):
    """A full 3 x 3 product takes 27 and 18; a product with a turn about z two thirds of that."""
    before = load("counts_before")
    kinds_of = [before.ZERO, before.ONE, before.ANY]
    full, turn = np.full((3, 3), 2), np.array([[2, 2, 0], [2, 2, 0], [0, 0, 1]])
    for kinds, mul, add in ((full, 27, 18), (turn, 12, 6)):
        ledger = before.Ledger()
        left, right = (
            np.array([[before.Known(kinds_of[x], ledger) for x in row] for row in kind])
            for kind in (full, kinds)
        )
        matmul(left, right)
        assert (ledger.mul, ledger.add) == (mul, add)


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


@pytest.mark.product
def test_kernels_are_counted_and_fitted(load):
    kernels = load("counts_kernels")
    family = FAMILIES["dh"]
    counts = [polynomial(name, family) for name in ("crbm", "abm")]
    crbm, cholesky, abm = kernels.kernel_counts(counts, family)
    assert (crbm.order, cholesky.order, abm.order) == ("crbm", "crbm + cholesky", "abm")
    made = kkt.compile(family.system(11), orderings.get("abm")).operations  # not of the fit
    assert abm.at(11) == tuple(made[kind] for kind in KINDS)
    assert abm.at(7) == abm.counted[7] and [p.degree() for p in abm.polynomials.values()][:3] == [1] * 3
    assert crbm.polynomials["mul"].degree() == 3 and cholesky.polynomials["sqrt"](7) == 7
    printed, _, pinocchio = kernels.PEERS.values()
    for at, kind in enumerate(("mul", "add")):  # as many or fewer than others print
        assert all(abm.at(7)[at] <= peer[kind](7) for peer in (printed, pinocchio))
    rows = kernels.kernel_rows([crbm, cholesky, abm], family)
    assert [row[-1] for row in rows[-3:]] == ["1,833 + 1,694", "1,634 + 1,270", "1,843 + 1,577 + 32"]
