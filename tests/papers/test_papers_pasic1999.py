"""Pasic, Williams & Hui 1999: the criteria, domains and conditions of one's own, refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from paper_rows import by_item, met, rows_of
from scipy.integrate import solve_ivp
from scipy.sparse import csc_array

from pivotree import kkt, orderings
from pivotree.kkt.model import IN_PLANE
from pivotree.papers.pasic1999 import figure4, one_domain
from pivotree.papers.pasic1999 import general as general_item
from pivotree.papers.pasic1999.arm import PAPER, Accelerations, Arm
from pivotree.papers.pasic1999.collocation import bvp_map, gauss, integrals, iterate, ivp, slope
from pivotree.papers.pasic1999.matching import LocalFailure, Matching, newton, solved, straight
from pivotree.papers.pasic1999.multiple_shooting import Shooting
from pivotree.papers.pasic1999.references import conjugate_points, integrate, reached

ZERO = np.zeros(2)
STEP = "step 0.5, 5 iterations: error over [0, 4]"
OTHER = Arm(length=(0.5, 0.3), centre=(0.2, 0.2), moment=(0.1, 0.05), mass=(5.0, 2.0), torque=(3.0, -1.0))


# -- collocation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("s", [1, 2, 3, 8, 24])
def test_gauss_points_integrate_polynomials_of_degree_2s_minus_1(s):
    rule = gauss(s)
    for degree in range(2 * s):
        assert rule.end_once @ rule.c**degree == pytest.approx(1.0 / (degree + 1), rel=1e-12)
    once, twice = integrals(s, np.array([0.3, 1.0]))
    for degree in range(s):  # the interpolant is the polynomial itself
        x = np.array([0.3, 1.0])
        assert once @ rule.c**degree == pytest.approx(x ** (degree + 1) / (degree + 1))
        assert twice @ rule.c**degree == pytest.approx(x ** (degree + 2) / (degree + 1) / (degree + 2))


def test_the_oscillator_has_the_contraction_constant_of_its_green_function():
    """y'' = -k y on [0, e]: the eigenvalues of dG/dF are k e^2 / (j pi)^2."""
    k, e, s = 3.0, 1.4, 20
    G = bvp_map(lambda t, q, qd: -k * q, np.zeros(()), e, np.zeros(1), np.ones(1), s)
    found = iterate(G, e, np.zeros((s, 1)), 1e-14, 500)
    assert found.changes[20] / found.changes[19] == pytest.approx(k * (e / np.pi) ** 2, rel=1e-6)
    exact = np.sqrt(k) / np.sin(np.sqrt(k) * e)
    assert slope(e, np.zeros(1), np.ones(1), found.F) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize(("e", "converges"), [(1.7, True), (1.9, False)])
def test_it_converges_up_to_pi_over_the_root_of_the_lipschitz_constant(e, converges):
    G = bvp_map(lambda t, q, qd: -3.0 * q, np.zeros(()), e, np.zeros(1), np.ones(1), 16)
    assert iterate(G, e, np.zeros((16, 1)), 1e-10, 3000).converged is converges


# -- accelerations ---------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize("arm", [PAPER, OTHER])
@pytest.mark.parametrize("order", ["abm", "crbm", "virtual_work"])
def test_orders_of_elimination_give_equation_20(arm, order):
    draw = np.random.default_rng(1)
    q, qd, t = draw.normal(size=(5, 7, 2)), 4.0 * draw.normal(size=(5, 7, 2)), draw.random((5, 7))
    assert arm.accelerations(order)(t, q, qd) == pytest.approx(arm.closed_form(t, q, qd), rel=1e-10)


def test_states_far_away_have_no_acceleration():
    q = np.array([[0.1, 0.2], [np.inf, 0.0], [np.nan, 0.0], [1e9, 0.0]])
    found = PAPER.accelerations()(np.zeros(4), q, np.zeros((4, 2)))
    assert np.isfinite(found).all(axis=1).tolist() == [True, False, False, False]


@pytest.mark.product
def test_an_arm_of_three_links_falls_as_scipy_says():
    """The method is not made for two links."""
    kernel = kkt.compile(kkt.chain(3, axes="z", gravity=IN_PLANE), orderings.get("abm"))
    ours = Accelerations(kernel, lambda t: 0.01 * np.cos(t)[:, None] + np.zeros(3))
    path = ivp(ours, np.linspace(0.0, 0.2, 41), np.zeros(3), np.ones(3), 4, 60, 1e-14)

    def right(t, y):
        return np.concatenate([y[3:], kernel(y[:3], y[3:], np.full(3, 0.01 * np.cos(t)))])

    other = solve_ivp(right, (0.0, 0.2), [0.0] * 3 + [1.0] * 3, "DOP853", rtol=1e-9, atol=1e-10)
    assert path.q[-1] == pytest.approx(other.y[:3, -1], abs=1e-7)


# -- the paper's items -----------------------------------------------------------------------------


@pytest.mark.product
def test_figure_4():
    rows = rows_of(figure4)
    assert met(rows) == 6
    assert {row.item: row.state for row in rows}[STEP] == "refuted"


@pytest.mark.product
def test_figure_5_has_the_second_solution():
    rows = by_item(rows_of(one_domain.figure5, ends=(0.35,), scan=(0.35,), guesses=1))
    assert rows["[0, 0.35]: Theta'(0), the IVP's being zero"].ours == ["2.76838987", "-15.60014714"]


def test_shooting_by_collocation_and_by_runge_and_kutta_has_one_matrix_and_solves_an_oscillator():
    edges = np.linspace(0.0, 1.0, 6)
    shooting_ = Shooting(lambda t, q, qd: -4.0 * q, edges, np.zeros(1), np.ones(1), 0.01)
    y = shooting_.line
    collocated = replace(shooting_, s=8).jacobian(y)
    assert np.abs((shooting_.jacobian(y) - collocated).toarray()).max() < 1e-6
    end = collocated.toarray()[1:3, :2]  # of the first subdomain: cos 2h, sin 2h / 2 and their rates
    c, s = np.cos(0.4), np.sin(0.4)
    assert np.allclose(end, [[c, s / 2], [-2 * s, c]], atol=1e-9)
    found = shooting_.newton()
    assert found.y is not None and len(found.norms) == 2
    assert found.y[0, 1] == pytest.approx(2.0 / np.sin(2.0), rel=1e-7)


@pytest.mark.product
def test_a_damped_step_never_makes_the_residual_larger():
    b = reached(PAPER.closed_form, 1.5, ZERO, ZERO)
    shot = Shooting(PAPER.accelerations(), np.linspace(0.0, 1.5, 21), ZERO, b, 0.02).newton()
    assert (np.diff(shot.norms) < 0.0).all() and shot.y is None


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
    assert np.abs(dense - J.toarray()).max() < 1e-6 * np.abs(dense).max()


def test_a_straight_line_is_matched_at_once_where_nothing_accelerates():
    problem = Matching(lambda t, q, qd: np.zeros_like(q), np.linspace(0.0, 1.0, 6), 3)
    found = newton(problem, straight(ZERO, np.ones(2), 5))
    assert found.converged and len(found.norms) == 1


def test_a_subdomain_that_diverges_is_said():
    problem = Matching(lambda t, q, qd: -1e3 * q, np.linspace(0.0, 4.0, 5), 3)
    with pytest.raises(LocalFailure):
        problem.solve(straight(ZERO, np.ones(2), 4))


def test_a_singular_matrix_is_said():
    with pytest.raises(kkt.SingularError, match="is singular; use another number of subdomains"):
        solved(csc_array((1, 1)), np.ones((1, 1)))


# -- other orders, other conditions ----------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_a_polynomial_is_found_exactly_whatever_its_order(k):
    """y^(k) = constant: the solution is of degree k, with any conditions that determine it."""
    given = {("first", j): np.zeros(2) for j in range(k - 1)} | {("last", 0): np.ones(2)}
    problem = general_item.Problem(
        lambda x, y: np.full((len(x), 2), 3.0), 0.7, general_item.Conditions.at(k, 2, given), 3
    )
    F, _ = problem.solve()
    x = 0.7 * np.linspace(0.0, 1.0, k + 2)
    y = problem.along(x / 0.7, F)[0][:, 0]
    assert y[-1] == pytest.approx(1.0) and (k == 1 or abs(y[0]) < 1e-14)
    leading = np.polynomial.Polynomial.fit(x, y, k).convert().coef[k]
    assert leading * math.factorial(k) == pytest.approx(3.0, rel=1e-7)


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


# -- several solutions -----------------------------------------------------------------------------


def test_the_oscillator_is_conjugate_at_half_its_periods():
    found = conjugate_points(lambda t, q, qd: -4.0 * q, 4.0, np.zeros(1), np.zeros(1))
    assert found == pytest.approx([np.pi / 2, np.pi], rel=1e-6)


def test_the_second_solution_ends_where_the_first_does():
    b = reached(PAPER.closed_form, 0.35, ZERO, ZERO)
    second = reached(PAPER.closed_form, 0.35, ZERO, np.array([2.76838987, -15.60014714]))
    assert second == pytest.approx(b, abs=1e-7)
