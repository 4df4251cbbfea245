"""Pasic, Williams & Hui 1999: the criteria, held-out arms and domains, and what must be refused."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pivotree import kkt, orderings
from pivotree.papers.paper import items
from pivotree.papers.pasic1999 import contraction as contraction_item
from pivotree.papers.pasic1999 import equation17, equation20, figure4, figure5, figure6, multiple, shooting
from pivotree.papers.pasic1999.arm import PAPER, Accelerations, Arm
from pivotree.papers.pasic1999.collocation import bvp_map, contraction, gauss, integrals, iterate, ivp, slope
from pivotree.papers.pasic1999.multiple_shooting import Shooting, multiple_shooting
from pivotree.papers.pasic1999.references import reached

ZERO = np.zeros(2)
STEP = "step 0.5, 5 iterations: error over [0, 4]"
OTHER = Arm(length=(0.5, 0.3), centre=(0.2, 0.2), moment=(0.1, 0.05), mass=(5.0, 2.0), torque=(3.0, -1.0))


def quiet(text):
    pass


def met(rows):
    missed = [row for row in rows if row.met is False]
    assert not missed, missed
    return sum(row.met is True for row in rows)


def free(t, q, qd):
    """No acceleration at all."""
    return np.zeros_like(q)


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


@pytest.mark.parametrize("s", [0, 65])
def test_numbers_of_gauss_points_out_of_range_are_refused(s):
    with pytest.raises(kkt.PivotreeError, match="give 1 to 64"):
        gauss(s)


def test_the_oscillator_has_the_contraction_constant_of_its_green_function():
    """y'' = -k y on [0, e]: the eigenvalues of dG/dF are k e^2 / (j pi)^2."""
    k, e, s = 3.0, 1.4, 20
    G = bvp_map(lambda t, q, qd: -k * q, np.zeros(()), e, np.zeros(1), np.ones(1), s)
    assert contraction(G, np.zeros((s, 1))).real == pytest.approx(k * (e / np.pi) ** 2, rel=1e-6)
    found = iterate(G, e, np.zeros((s, 1)), 1e-14, 500)
    exact = np.sqrt(k) / np.sin(np.sqrt(k) * e)
    assert slope(e, np.zeros(1), np.ones(1), found.F) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize(("e", "converges"), [(1.7, True), (1.9, False)])
def test_it_converges_up_to_pi_over_the_root_of_the_lipschitz_constant(e, converges):
    G = bvp_map(lambda t, q, qd: -3.0 * q, np.zeros(()), e, np.zeros(1), np.ones(1), 16)
    assert iterate(G, e, np.zeros((16, 1)), 1e-10, 3000).converged is converges


# -- accelerations ---------------------------------------------------------------------------------


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_an_arm_of_three_links_falls_as_scipy_says():
    """The method is not made for two links."""
    tree = kkt.chain(3, axes="z", gravity=kkt.model.gallery.IN_PLANE)
    ours = Accelerations(
        kkt.compile(tree, orderings.get("abm")), lambda t: 0.01 * np.cos(t)[:, None] + np.zeros(3)
    )
    path = ivp(ours, np.linspace(0.0, 0.2, 41), np.zeros(3), np.ones(3), 4, 60, 1e-14)

    system = kkt.build(tree)
    tape = kkt.trace(system, orderings.get("crbm"))

    def right(t, y):
        now = system.refresh(q=y[:3], qd=y[3:], tau=np.full(3, 0.01 * np.cos(t)))
        return np.concatenate([y[3:], kkt.eliminate(now, tape, records=False).qdd])

    other = solve_ivp(right, (0.0, 0.2), [0.0] * 3 + [1.0] * 3, "DOP853", rtol=1e-9, atol=1e-10)
    assert path.q[-1] == pytest.approx(other.y[:3, -1], abs=1e-7)


# -- the paper's items -----------------------------------------------------------------------------


@pytest.mark.thorough
def test_every_item_says_what_it_is():
    assert [item.name for item in items("pasic1999")] == [
        "equations",
        "equation20",
        "figure4",
        "contraction",
        "figure5",
        "figure6",
        "equation17",
        "shooting",
        "multiple",
        "local",
        "boundaries",
    ]
    assert all(item.says for item in items("pasic1999"))


def test_equation_20_on_another_arm():
    found = equation20.measure(quiet, states=50, length=(1.0, 2.0), mass=(1.0, 30.0), orders=("abm",))
    assert met(equation20.rows(found)) == 1


@pytest.mark.slow
def test_figure_4():
    rows = figure4.rows(figure4.measure(quiet, steps=(0.5, 0.025, 0.0125)))
    assert met(rows) == 5
    assert {row.item: row.state for row in rows}[STEP] == "refuted"


@pytest.mark.thorough
def test_figure_4_of_another_arm_claims_nothing_of_the_paper():
    found = figure4.measure(quiet, steps=(0.02, 0.01), end=0.5, at=(0.5,), s=2, arm=Arm(mass=(3.0, 6.0)))
    rows = figure4.rows(found)
    assert met(rows) == 2 and not any(row.printed == ["-1.1525", "0.5915"] for row in rows)
    assert not any(row.state == "refuted" for row in rows)


@pytest.mark.thorough
def test_a_wrong_torque_misses_the_printed_digits():
    found = figure4.measure(quiet, steps=(0.025, 0.0125), end=0.3, at=(0.3,), arm=Arm(torque=(0.41, 0.1)))
    _, ours, scipy = found.values[0]
    assert np.max(np.abs(ours - scipy)) < 1e-11
    assert [f"{x:.4f}" for x in ours] != ["-1.1525", "0.5915"]


@pytest.mark.thorough
def test_the_step_that_is_printed_does_not_contract():
    found = contraction_item.measure(quiet, steps=(0.5, 0.25), more=(), starts=11)
    rows = contraction_item.rows(found)
    assert met(rows) == 2 and [row.state for row in rows].count("refuted") == 1
    assert np.max(found.steps[0].rho) > 1.0 > np.max(found.steps[1].rho)


@pytest.mark.slow
def test_figure_5():
    found = figure5.measure(quiet, scan=(0.33, 0.39, 0.4), guesses=12)
    rows = figure5.rows(found)
    assert met(rows) >= 8
    assert {one.e: one.converged for one in found.solved} == {0.3: True, 0.35: True}
    assert [f"{x:.8f}" for x in found.solved[-1].slope] == ["2.76838987", "-15.60014714"]
    states = {row.item: row.state for row in rows}
    assert states["[0, 0.3]: Theta'(0) from 12 parabolas as guesses"] == "met"
    assert states["[0, 0.35]: Theta'(0) from 12 parabolas as guesses"] == "refuted"
    assert states["lengths of the scan beyond 0.35 on which it fails"] == "refuted"
    assert not any(row.distance is not None for row in rows)  # no number of Fig. 5 is printed


@pytest.mark.thorough
def test_three_points_do_not_reach_the_digits_of_the_second_solution():
    found = figure5.measure(quiet, ends=(0.35,), s=3, scan=(0.35,), guesses=1)
    assert any(row.met is False for row in figure5.rows(found))


def test_other_boundary_values():
    found = figure5.measure(quiet, ends=(0.25,), target=(-0.2, 0.1), arm=Arm(mass=(12.0, 3.0)))
    assert met(figure5.rows(found)) == 2 and found.solved[0].converged


@pytest.fixture(scope="module")
def sixth():
    return figure6.measure(quiet)


@pytest.mark.slow
def test_figure_6(sixth):
    rows = figure6.rows(sixth)
    assert met(rows) == 9
    assert [row.item for row in rows if row.state == "refuted"] == [
        "[0, 2] from IVP + 1 %: iterations, |phi|"
    ]
    four = next(row for row in rows if row.item == "[0, 1] from IVP + 1 %: iterations, |phi|")
    assert four.met and four.ours.startswith("4:")


@pytest.mark.thorough
@pytest.mark.parametrize("elimination", ["constraint_force", "divide_and_conquer", "random:3"])
def test_other_subdomains_orders_and_arms(elimination):
    found = figure6.measure(
        quiet, ends=(0.8,), subdomains=24, s=4, arm=Arm(torque=(1.0, 0.5)), elimination=elimination
    )
    near = found.cases[0]
    assert near.matched.converged and near.apart < 1e-5 and near.missed < 1e-7


@pytest.mark.slow
def test_shooting_finds_the_ivp_on_one_second():
    found = shooting.measure(quiet, ends=(0.35, 1.0))
    rows = shooting.rows(found)
    assert met(rows) == 1  # evaluations on one domain
    assert found.shots[3].of_ivp and {row.state for row in rows} == {"met", "open"}


@pytest.mark.thorough
def test_multiple_shooting_damped_solves_one_second_and_no_more():
    """As the paper says; undamped it solves nothing, and other subdomains solve more."""
    found = multiple.measure(quiet, ends=(1.0, 1.5), subdomains=(20, 30), step=0.01)
    shots = {(t.e, t.n, t.damped): t for t in found.tries if t.method == multiple.METHODS[0]}
    assert shots[1.0, 20, True].of_ivp and shots[1.0, 20, True].missed < 1e-4
    assert shots[1.0, 20, False].slope is None and shots[1.5, 20, True].slope is None
    assert shots[1.5, 30, True].slope is not None and not shots[1.5, 30, True].of_ivp
    rows = {row.item: row.state for row in multiple.rows(found)}
    assert rows["[0, 1], multiple shooting, 20 subdomains, damped"] == "met"
    assert rows["[0, 1.5], multiple shooting, 20 subdomains, damped"] == "met"
    assert rows["[0, 1], new method, 20 subdomains, damped, from the straight line"] == "met"


def test_the_sparse_matrix_of_shooting_is_the_dense_one_and_solves_an_oscillator():
    edges = np.linspace(0.0, 1.0, 6)
    shooting_ = Shooting(lambda t, q, qd: -4.0 * q, edges, np.zeros(1), np.ones(1), 0.01)
    y = shooting_.line
    dense = multiple_shooting(lambda t, q, qd: -4.0 * q, edges, y[:, :1], y[:, 1:], 8)
    assert np.abs(shooting_.jacobian(y).toarray() - dense).max() < 1e-6
    found = shooting_.newton(damped=False)
    assert found.y is not None and len(found.norms) == 2
    assert found.y[0, 1] == pytest.approx(2.0 / np.sin(2.0), rel=1e-7)


@pytest.mark.thorough
def test_a_damped_step_never_makes_the_residual_larger():
    b = reached(PAPER.closed_form, 1.5, ZERO, ZERO)
    shot = Shooting(PAPER.accelerations(), np.linspace(0.0, 1.5, 21), ZERO, b, 0.02).newton()
    assert (np.diff(shot.norms) < 0.0).all() and shot.y is None


@pytest.mark.thorough
def test_equation_17():
    rows = equation17.rows(equation17.measure(quiet, lengths=2))
    assert met(rows) == 14


@pytest.mark.slow
def test_the_pivots_of_another_arm_count_its_conjugate_points():
    found = equation17.measure(
        quiet,
        end=1.2,
        subdomains=31,
        s=4,
        arm=Arm(mass=(8.0, 6.0), torque=(2.0, 0.0)),
        eliminations=("virtual_work",),
        lengths=2,
    )
    assert len(found.orders[0].turned) > 1
    assert met(equation17.rows(found)) == 8


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_figures_are_drawn_in_every_style(sixth):
    for style in ("light", "dark", "gray"):
        assert set(figure6.figures(sixth, style)) == {"figure1", "figure6"}
