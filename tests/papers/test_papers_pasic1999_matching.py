"""Pasic, Williams & Hui 1999: matching, other orders and conditions, several solutions."""

import numpy as np
import pytest
import scipy.sparse.linalg as linalg
from test_papers_pasic1999 import OTHER, ZERO, free, met, quiet

from pivotree import kkt
from pivotree.papers.pasic1999 import boundaries, local
from pivotree.papers.pasic1999 import general as general_item
from pivotree.papers.pasic1999.arm import PAPER
from pivotree.papers.pasic1999.branches import Problem, crossing
from pivotree.papers.pasic1999.collocation import bvp_map, gauss, iterate, slope
from pivotree.papers.pasic1999.matching import Blocks, LocalFailure, Matching, newton, straight
from pivotree.papers.pasic1999.references import conjugate_points, integrate, reached
from pivotree.papers.pasic1999.tridiagonal import NAMES, eliminate, order_of, structure_of

# -- matching --------------------------------------------------------------------------------------


def matched(n=12, e=0.6):
    exact = integrate(PAPER.closed_form, e, ZERO, ZERO)
    edges = np.linspace(0.0, e, n + 1)
    problem = Matching(PAPER.accelerations(), edges, 4)
    values = exact.sol(edges)[:2].T
    return problem, values, problem.jacobian(values, problem.solve(values))


def test_the_coloured_jacobian_is_the_dense_one():
    problem, values, J = matched()

    def phi(s):
        moved = values.copy()
        moved[1:-1] = s.reshape(-1, 2)
        return problem.solve(moved).phi.ravel()

    s = values[1:-1].ravel()
    dense = np.array([(phi(s + d) - phi(s - d)) / 2e-6 for d in 1e-6 * np.eye(s.size)]).T
    assert np.abs(dense - J.sparse.toarray()).max() < 1e-6 * np.abs(dense).max()


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*NAMES, "random:0", "random:8"])
def test_orders_of_interfaces_agree_with_scipy(name):
    _, _, J = matched()
    r = np.random.default_rng(2).normal(size=(11, 2))
    order = order_of(name, 11)
    done = eliminate(J, r, order)
    assert done.x.ravel() == pytest.approx(linalg.spsolve(J.sparse, r.ravel()), rel=1e-10)
    assert done.fill == structure_of(order).fill


@pytest.mark.parametrize("count", [2, 3, 7, 20, 63, 100])
def test_fill_and_height_of_a_path(count):
    assert structure_of(order_of("virtual_work", count)).fill == 0
    for name in ("constraint_force", "divide_and_conquer"):
        found = structure_of(order_of(name, count))
        assert found.height == int(np.log2(count)) + 1 and found.fill < count


def test_orders_without_constraint_forces_are_refused():
    with pytest.raises(kkt.OrderError, match="names no constraint forces"):
        order_of("abm", 5)


def test_a_straight_line_is_matched_at_once_where_nothing_accelerates():
    problem = Matching(free, np.linspace(0.0, 1.0, 6), 3)
    found = newton(problem, straight(ZERO, np.ones(2), 5), lambda J, r: r)
    assert found.converged and len(found.norms) == 1


def test_a_subdomain_that_diverges_is_said():
    problem = Matching(lambda t, q, qd: -1e3 * q, np.linspace(0.0, 4.0, 5), 3)
    with pytest.raises(LocalFailure):
        problem.solve(straight(ZERO, np.ones(2), 4))


def test_a_singular_pivot_is_said():
    block = np.zeros((1, 1, 1))
    with pytest.raises(kkt.SingularError, match="pivot of interface 1 is singular"):
        eliminate(Blocks(block[:0], block, block[:0]), np.ones((1, 1)), [0])


# -- other orders, other conditions, local matching ------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_a_polynomial_is_found_exactly_whatever_its_order(k):
    """y^(k) = constant: the solution is of degree k, with any conditions that determine it."""
    given = {("first", j): np.zeros(2) for j in range(k - 1)} | {("last", 0): np.ones(2)}
    problem = general_item.Problem(
        lambda x, y: np.full((len(x), 2), 3.0), 0.7, general_item.Conditions.at(k, 2, given), 3
    )
    F, _ = problem.solve()
    x = np.linspace(0.0, 1.0, 5)
    y = problem.along(x, F)[0][:, 0]
    poly = np.polynomial.Polynomial.fit(0.7 * x, y, k) if k < 5 else None
    assert y[-1] == pytest.approx(1.0) and (k == 1 or abs(y[0]) < 1e-14)
    if poly is not None:
        assert poly.deriv(k)(0.3) == pytest.approx(3.0, rel=1e-9)


def test_conditions_that_determine_nothing_are_refused():
    free_ends = {("first", 1): np.zeros(1), ("last", 1): np.zeros(1)}
    problem = general_item.Problem(lambda x, y: -y[0], 1.0, general_item.Conditions.at(2, 1, free_ends), 4)
    with pytest.raises(kkt.SingularError, match="do not determine"):
        problem.solve()
    with pytest.raises(kkt.PivotreeError, match="1 for order 2 and 1 unknowns; give 2"):
        general_item.Conditions(np.zeros((1, 2, 1)), np.zeros((1, 2, 1)), np.zeros(1))


def test_two_values_are_equation_6():
    """The general form beside the one typed from the paper."""
    b = reached(PAPER.closed_form, 0.25, ZERO, ZERO)
    ours = PAPER.accelerations()
    given = {("first", 0): ZERO, ("last", 0): b}
    problem = general_item.Problem(
        lambda t, y: ours(t, y[0], y[1]), 0.25, general_item.Conditions.at(2, 2, given), 12
    )
    F, _ = problem.solve()
    G = bvp_map(ours, np.zeros(()), 0.25, ZERO, b, 12)
    other = iterate(G, 0.25, np.zeros((12, 2)), 1e-13, 500)
    assert np.abs(F - other.F).max() < 1e-9
    assert problem.coefficients(F)[1] == pytest.approx(slope(0.25, ZERO, b, F), abs=1e-12)


@pytest.mark.thorough
def test_other_boundary_conditions_lead_to_solutions():
    found = boundaries.measure(quiet, ends=(0.1,), s=12, orders=(3,))
    rows = boundaries.rows(found)
    assert met(rows) == 7 and all(one.apart < 1e-8 for one in found.arms)


@pytest.mark.slow
def test_local_matching_is_gauss_seidel_and_leaves_what_is_indefinite():
    found = local.measure(quiet, ends=(0.25, 0.5), subdomains=5, s=5)
    assert met(local.rows(found)) == 3
    near, far = found.swept
    assert near.same and near.there < 1.0 < far.there and not far.same


# -- several solutions -----------------------------------------------------------------------------


def test_the_oscillator_is_conjugate_at_half_its_periods():
    found = conjugate_points(lambda t, q, qd: -4.0 * q, 4.0, np.zeros(1), np.zeros(1))
    assert found == pytest.approx([np.pi / 2, np.pi], rel=1e-6)


@pytest.mark.thorough
def test_an_eigenvalue_passes_one_at_the_conjugate_point_of_another_arm():
    exact = integrate(OTHER.closed_form, 1.5, ZERO, ZERO)
    points = conjugate_points(OTHER.closed_form, 1.2, ZERO, ZERO)
    problem = Problem(OTHER.accelerations(), ZERO, lambda e: exact.sol(e)[:2])
    e, s = float(points[0]) * 0.9, 16
    at = e * gauss(s).c
    y = exact.sol(at).T
    first = problem.at_length(e, OTHER.closed_form(at, y[:, :2], y[:, 2:]))
    branch = problem.follow_length(first, np.linspace(e, 1.1 * points[0], 10)[1:])
    assert crossing(branch, 1.0) == pytest.approx(points[0], rel=2e-3)


def test_the_second_solution_ends_where_the_first_does():
    b = reached(PAPER.closed_form, 0.35, ZERO, ZERO)
    second = reached(PAPER.closed_form, 0.35, ZERO, np.array([2.76838987, -15.60014714]))
    assert second == pytest.approx(b, abs=1e-7)
