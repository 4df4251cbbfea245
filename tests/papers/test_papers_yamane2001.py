"""Yamane & Nakamura 2001: criteria at reduced size, held-out robots, and what must fail."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from helpers import Mechanics
from paper_rows import by_item, missed, quiet

from pivotree import kkt, orderings
from pivotree.analysis.counts import FAMILIES
from pivotree.analysis.counts.counting import count_robot
from pivotree.analysis.proofs import mobility
from pivotree.papers.cloutier1995.tally import Counted
from pivotree.papers.unit_vectors import dense_solution, inertia_and_bias, operations, unit_vectors
from pivotree.papers.yamane2001 import (
    agreement,
    closed,
    equations,
    fig3,
    fig6,
    fig7,
    readings,
    section6,
    snapshots,
)
from pivotree.papers.yamane2001.growth import exponent
from pivotree.papers.yamane2001.recursion import joint_accelerations


@pytest.mark.parametrize("joint", ["spherical", "universal", "prismatic", "cylindrical"])
def test_section_3_as_typed_gives_certified_accelerations_on_any_chain(joint):
    for n in (1, 2, 9):
        system = kkt.build(kkt.chain(n, joint=joint))
        error = kkt.certify(system, 20).error(joint_accelerations(system))
        assert error is not None and error <= agreement.MOST


def test_section_3_agrees_with_dense_equation_4_from_the_trees_attributes_alone():
    tree = nx.DiGraph(FAMILIES["spherical"].build(7), gravity=(0.4, -3.0, -9.0))
    tree = kkt.default_state(tree)
    graph = tree.graph
    matrix, rhs = Mechanics(tree, graph["q"], graph["qd"]).equation4(graph["tau"])
    n, N = len(tree), len(graph["q"])
    qdd = np.linalg.solve(matrix, rhs)[6 * n : 6 * n + N]
    assert np.abs(joint_accelerations(kkt.build(tree)) - qdd).max() <= 1e-10 * np.abs(qdd).max()


def test_branches_are_refused_by_section_3():
    with pytest.raises(kkt.ModelError, match="serial chains"):
        joint_accelerations(kkt.build(kkt.star(3)))


@pytest.mark.parametrize("family", ["spherical", "revolute"])
def test_lines_as_printed_are_wrong_and_as_meant_right(family):
    found = readings.measure(quiet, n=5, family=family, lines=("a", "t"))
    states = {row.item.partition(":")[0]: row.state for row in readings.rows(found)}
    assert states == {"as printed": "refuted", "as meant": "met"}


def test_the_coupling_of_53_has_its_printed_shape_for_ball_joints_only():
    ball = readings.measure(quiet, n=5, lines=("S_J",))
    hinge = readings.measure(quiet, n=5, family="revolute", lines=("S_J",))
    assert ball[0].printed > 1e-2
    assert hinge[0].printed <= 1e-12  # shapes differ there: nothing else than what is meant fits


@pytest.mark.product
def test_accelerations_equal_abms_on_128_ball_joints_stars_and_random_trees():
    found = agreement.measure(quiet, chains=(128,), stars=(5,), trees=2, bodies=14, seed=100)
    rows = agreement.rows(found)
    assert not missed(rows)
    assert {row.item.split(",")[0] for row in rows} >= {"chain_128", "star_5", "random_14_seed_100"}


@pytest.mark.product
@pytest.mark.parametrize("spec", ["humanoid", "random_tree:n=12,seed=8", "chain:n=5,joint=floating"])
def test_the_unit_vector_method_gives_certified_accelerations(spec):
    system = kkt.build(kkt.load(spec))
    exact = kkt.certify(system, 20)
    error = exact.error(unit_vectors(system))
    assert error is not None and error <= 1e-9
    inertia, _ = inertia_and_bias(system)
    crbm = kkt.joint_space_inertia(system, orderings.get("crbm"))
    assert np.abs(inertia - crbm).max() <= 1e-13 * np.abs(inertia).max()


@pytest.mark.parametrize("N", [1, 2, 5, 8])
def test_the_dense_solution_is_counted_as_it_runs(N):
    """By L D L*, on numbers that count what is done with them."""
    draw, count = np.random.default_rng(N), [0]
    square = draw.normal(size=(N, N))
    A, tau, bias = square @ square.T + np.eye(N), draw.normal(size=N), draw.normal(size=N)
    M = np.array([[Counted(x, count) for x in row] for row in A])
    x = np.array([Counted(t, count) - b for t, b in zip(tau, bias, strict=True)])
    for k in range(N):
        column = M[k + 1 :, k] / M[k, k]
        for i in range(k + 1, N):
            M[i, k + 1 : i + 1] = M[i, k + 1 : i + 1] - M[k + 1 : i + 1, k] * column[i - k - 1]
        M[k, k + 1 :] = column
    for k in range(N):
        x[k + 1 :] = x[k + 1 :] - M[k, k + 1 :] * x[k]
    for k in range(N - 1, -1, -1):
        x[k] = x[k] / M[k][k]
        for i in range(k + 1, N):
            x[k] = x[k] - M[k][i] * x[i]
    assert np.allclose([v.value for v in x], np.linalg.solve(A, tau - bias))
    products, sums, quotients = dense_solution(N)
    assert count == [products + sums + quotients] and sums == products + N


def test_folding_unit_vectors_only_saves():
    for family in ("revolute", "star_spherical"):
        found = operations(FAMILIES[family].system(4))
        assert all(a <= b for a, b in zip(found.folded, found.whole, strict=True))
        assert sum(found.folded) < sum(found.whole)


@pytest.mark.product
@pytest.mark.parametrize("family", ["spherical", "prismatic"])
def test_figure_6_virtual_work_is_linear_and_overtakes(family):
    found = fig6.measure(quiet, least=2, most=9, family=family)
    rows = fig6.rows(found)
    assert by_item(rows)["virtual work"].met
    first = found.cheaper_from("virtual_work", "unit vectors")
    assert first is None or first > found.dof[0]
    if family == "spherical":
        assert not missed(rows)


@pytest.mark.product
def test_a_cubic_method_is_not_called_linear():
    found = fig6.measure(quiet, least=2, most=6)
    assert len(found.differences("unit vectors")) > 1


@pytest.mark.product
def test_figure_7_at_reduced_size():
    found = fig7.measure(quiet, least=2, most=8)
    rows = fig7.rows(found)
    assert not missed(rows)
    assert found.laws["virtual_work"].degree == 3
    # the cubic term is that of a dense factor of 3 n rows
    assert found.laws["virtual_work"].polynomials["mul"].coefficients[3] == 27 / 6


@pytest.mark.product
def test_split_stars_are_linear_far_beyond_the_figure():
    order = orderings.get("virtual_work_split")
    counts = {
        n: np.array(count_robot(order, FAMILIES["star_spherical"].system(n)).total) for n in (3, 4, 19, 20)
    }
    step = counts[4] - counts[3]
    assert (counts[20] - counts[19] == step).all()
    assert (counts[19] - counts[4] == 15 * step).all()


def test_figure_3_holds_on_other_trees_and_sees_what_is_not_split():
    found = fig3.measure(quiet, leaves=(13,), trees=3, bodies=35, seed=50)
    assert all(row.met for row in fig3.rows(found))
    assert found[0].most == (14, 3) and found[0].later[0] == 13


def test_closed_chains_other_joints_and_orders():
    found = closed.measure(quiet, links=(9,), joint="spherical", order="virtual_work")
    found += closed.measure(quiet, links=(8,), joint="prismatic", order="crbm")
    assert all(row.met for row in closed.rows(found))
    assert [one.rows for one in found] == [3, 5]


@pytest.mark.product
def test_both_chains_keep_their_energy_and_swing():
    found = snapshots.measure(quiet, seconds=0.2, order="abm", pictures=3, reach=0.7)
    assert all(row.met for row in snapshots.rows(found))
    for one in found.values():
        assert one.dof == 30
        first, last = (lines[-1][1] for lines in (one.lines[0], one.lines[-1]))
        assert np.linalg.norm(last - first) > 0.05


@pytest.mark.product
def test_equations_are_computed_and_proved():
    rows = equations.rows(equations.measure(quiet, only="joint acc", n=6, joint="universal"))
    assert [row.state for row in rows] == ["met", "met"]
    assert rows[1].item == "eqs (50) to (53): joint accelerations"


@pytest.mark.product
def test_pivots_are_the_mobility_of_both_sides_and_not_of_one():
    """By mobility.on, of which one side alone is refused."""
    for shape in ((2, 3, 0), (3, 3, 4, 0)):
        claims = list(mobility.on(shape))
        assert all(claim.numbers_agree() for claim in claims)
        t, C = claims[0].bench, claims[0].bench.C(1)
        alone = replace(claims[0], right=C.T * t.M(1).I * C)
        assert not alone.numbers_agree() and alone.by_sympy()[0] == "failed"


@pytest.mark.product
def test_section_6_small():
    found = section6.measure(quiet, largest=4, joint="universal", leaves=3)
    rows = section6.rows(found)
    assert not missed(rows)
    assert found.heights["abm"][-1] == 3 * 15 and found.heights["constraint_force"][-1] == 5


def test_the_fitted_exponent_is_that_of_a_known_curve():
    n = np.arange(4, 40)
    assert exponent(n, 7 * n**2.5) == pytest.approx(2.5)
