"""Placements as frames of their own: the same accelerations by fewer operations."""

import numpy as np
import pytest
from designs import covering
from helpers import every_joint
from machine_kernels import children_first

from pivotree import analysis, kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.counts.families import family_of
from pivotree.analysis.counts.published import ABM

TREES = {
    "every joint": every_joint,
    "skew": lambda: family_of("revolute").system(4).graph,
    "whole": lambda: family_of("dh_whole").system(7).graph,
    "random": lambda: kkt.random_tree(8, seed=3),
    "quadruped": kkt.quadruped,
    "children first": lambda: children_first(every_joint()),
}


@pytest.mark.uncached
@pytest.mark.parametrize(("name", "order"), covering(TREES, ["abm", "crbm"], unmarked=1))
def test_the_same_accelerations(name, order):
    tree = TREES[name]()
    apart = kkt.factored(tree)
    assert [b for b in apart if b in tree] == list(tree) and len(apart) >= len(tree)
    given, other = kkt.build(tree), kkt.build(apart)
    found = kkt.eliminate(other, orderings.get(order)).qdd
    # the poses are the same numbers to rounding
    assert kkt.certify(given).error(found) < 1e-11
    flops = [kkt.trace(s, orderings.get(order)).flops for s in (given, other)]
    assert flops[1] <= flops[0]


@pytest.mark.product
@pytest.mark.parametrize("n", [4, 7])
def test_fewer_operations_than_are_published(n):
    """From joint positions, on arms whose transforms are multiplied out to begin with."""
    apart = kkt.factored(family_of("dh_whole").system(n).graph)
    made = kkt.compile(apart, orderings.get("abm")).operations
    for kind, pinocchio in (("mul", 337 * n - 516), ("add", 292 * n - 467)):  # docs/counts_kernels.py
        assert made[kind] <= min(pinocchio, ABM.polynomials[kind](n))
    whole = kkt.compile(family_of("dh_whole").system(n), orderings.get("abm")).operations
    assert made["mul"] < 0.85 * whole["mul"] and made["add"] < 0.85 * whole["add"]


def test_what_is_cut_stays_cut_and_nothing_else_is():
    apart = kkt.factored(TREES["whole"]())
    assert set(kkt.factored(apart)) == set(apart)
    assert apart.graph["name"].endswith(" factored")
    still = kkt.factored(kkt.chain(1))
    assert list(still) == list(kkt.chain(1))


def test_a_kernel_takes_the_same_states():
    tree = kkt.random_tree(5, seed=2)
    apart = kkt.factored(tree)
    kernels = [kkt.compile(t, orderings.get("abm")) for t in (tree, apart)]
    assert kernels[0].nx == kernels[1].nx and kernels[0].N == kernels[1].N
    x = kernels[0].configuration(0.1 * np.arange(kernels[0].N))
    qd, tau = np.random.default_rng(0).normal(size=(2, kernels[0].N))
    np.testing.assert_allclose(kernels[1](x, qd, tau), kernels[0](x, qd, tau), rtol=1e-9)


def test_compare_takes_factored_frames(capsys):
    assert main(["compare", "random_tree:n=4,seed=1", "--frames", "factored", "--orders", "abm"]) == 0
    system = kkt.build(kkt.factored(kkt.load("random_tree:n=4,seed=1")))
    (row,) = analysis.compare(system, ["abm"], ["float32"]).rows
    assert f" {row.flops:,} " in capsys.readouterr().out
