"""Cloutier 1995: robots, simulator, integrators and methods at reduced size, and cases not in it."""

from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from paper_rows import missed, quiet, rows_of
from scipy.integrate import solve_ivp

from pivotree import kkt
from pivotree.analysis.gradients import descend
from pivotree.papers.cloutier1995 import chains, drop, methods
from pivotree.papers.cloutier1995.drop import falling, level
from pivotree.papers.cloutier1995.integrators import Rosenbrock, jacobian, step
from pivotree.papers.cloutier1995.robot import height_energy, planar_robot, reach, regular, two_links
from pivotree.papers.cloutier1995.simulator import run
from pivotree.papers.cloutier1995.sweep import at_rest, pair, sweep


def test_links_are_numbered_from_the_base_and_are_rectangles():
    tree = planar_robot((1.0, 2.0, 4.0), (3.0, 5.0, 7.0), (0.1, 0.2, 0.3))
    assert list(nx.topological_sort(tree)) == [1, 2, 3]
    for k, (length, mass, width) in enumerate(((1, 3, 0.1), (2, 5, 0.2), (4, 7, 0.3)), start=1):
        body = tree.nodes[k]
        assert body["inertia"][2, 2] == pytest.approx(mass * (length**2 + width**2) / 12, rel=1e-15)
        assert body["com"][0] == length / 2 and body["mass"] == mass
    assert reach(tree) == 7.0 and height_energy(tree) == pytest.approx(9.8 * 15 * 7)


@pytest.mark.uncached
@pytest.mark.parametrize("second", [1.0, 7.0])
def test_the_closed_form_is_the_engine_on_well_conditioned_arms(second):
    turns = np.array([0.0, 0.4, 2.5, -1.0])
    found = at_rest((1.0, second), (1.0, second), 1.0, turns)
    for angle, row in zip(turns, found, strict=True):
        system = kkt.build(two_links(second), q={1: 0.0, 2: float(angle)})
        exact = np.array([float(x) for x in kkt.certify(system, 20).decimals(17)])
        assert np.abs(row / exact - 1.0).max() < 1e-12


@pytest.mark.parametrize("second", [3e3, 2e4])
def test_other_lengths_keep_the_law_of_5_1(second):
    one = sweep(second, pair(), 51)
    assert 0.05 < one.difference().max() / (one.kappa.max() * 2.0**-53) < 20


@pytest.mark.product
def test_figure_5_6_holds_where_both_methods_are_smooth():
    rows = rows_of(chains.figure56, ratios=(0.1,), runs=1)
    assert [row.met for row in rows] == [True] * 5
    assert all(abs(row.distance) < 0.02 for row in rows[:3])


@pytest.mark.soak
def test_figure_5_6_cholesky_is_stiff_before_lu_and_both_before_abm():
    found = list(chains.figure56(quiet, ratios=(1e-9, 1e-10), runs=2, seconds=1.0, most=1500))
    near, far = found[-1].of[0]
    assert 1.5 < near.over_abm() < 3.5 and far.failed() and not near.failed()
    assert near.over_abm("CRBM, LU") < 1.2 < near.over_abm()
    assert far.runs["ABM"].simulation.failed == 0
    assert near.over_abm("CRBM, centres") > near.over_abm() and far.failed("CRBM, centres")
    assert all(row.met is None for row in rows_of(chains.figure56, found))  # a second is not ten


@pytest.mark.product
def test_figure_5_6_judges_what_the_thesis_ran_alone():
    other = rows_of(chains.figure56, ratios=(0.3,), runs=1, seconds=0.1, methods=("CRBM, centres",))
    assert [row.item for row in other] == ["0.3: ABM", "0.3: CRBM, centres"]
    assert [(row.met, row.printed) for row in other] == [(None, None)] * 2
    found = list(chains.figure56(quiet, ratios=(0.1,), runs=1, seconds=0.2))
    assert {row.met for row in rows_of(chains.figure56, found)} == {None}  # a fifth of a second is not ten
    line = replace(found[-1].of[0][0], as_printed=True)  # were they called so
    assert missed(rows_of(chains.figure56, chains.rows(line)))


def test_laws_find_the_law_that_made_the_numbers():
    n = np.array([2.0, 4, 6, 8, 10])
    power = chains.laws(n, 100.0 * n**0.7)
    assert power["a n^b"][1] == pytest.approx(0.7) and power["a n^b"][2] < 1e-12
    log = chains.laws(n, 50.0 + 30.0 * np.log(n))
    assert log["a + b log n"][2] < 1e-12 < log["a n^b"][2]


def test_statistics_of_a_run():
    one = run(regular(3), "CRBM", "lu", seconds=2.0, eps=1e-8)
    assert len(one.energy) == len(one.condition) == len(one.first.t) == len(one.difference)
    assert np.abs(one.energy / one.energy[0] - 1.0).max() < 1e-6
    assert one.difference.max() < 1e-8


# -- integrators -------------------------------------------------------------------------------------


def pendulum(y):
    return np.stack([y[:, 1], -np.sin(y[:, 0])], axis=1)


@pytest.mark.product
def test_rosenbrock_is_of_order_four():
    start, errors = np.array([1.0, 0.0]), []
    exact = Rosenbrock(1e-12, most=100_000)(pendulum, start, 2.0).y[-1]
    for count in (40, 80):
        y = start
        for _ in range(count):
            y, _error = step(pendulum, y, *jacobian(pendulum, y), 2.0 / count)
        errors.append(np.abs(y - exact).max())
    assert 12.0 < errors[0] / errors[1] < 20.0


def test_steps_are_kept_one_after_another():
    """Each step starts where the one before ends, and its tries are all told."""
    found = Rosenbrock(1e-4, first=1.5)(pendulum, np.array([1.0, 0.0]), 8.0)
    assert found.t[0] == 0.0 and found.t[-1] == 8.0
    assert np.array_equal(found.step_t, found.t[:-1]) and len(found.step) == found.accepted
    assert found.step_t + found.step == pytest.approx(found.t[1:], rel=1e-15)
    assert found.tries.sum() == found.accepted + found.rejected and found.rejected > 0
    assert found.evaluations == 3 * found.accepted + 2 * found.tries.sum()


def test_a_step_that_becomes_too_small_is_told_in_a_sentence():
    with pytest.raises(kkt.PivotreeError, match="rosenbrock: the step becomes too small at t = 1 s"):
        Rosenbrock(1e-3)(lambda y: y * y, np.ones(1), 2.0)  # its solution ends at 1 s


def test_the_stiff_example_of_numerical_recipes_takes_few_steps():
    """Three species, rates of 1e3: some hundred steps, where an explicit method takes 1e5."""

    def rates(y):
        one, two, three = y.T
        first, second = -0.013 * one - 1000.0 * one * three, -2500.0 * two * three
        return np.stack([first, second, first + second], axis=1)

    start = np.array([1.0, 1.0, 0.0])
    exact = solve_ivp(lambda t, y: rates(y[None])[0], (0.0, 50.0), start, "Radau", rtol=1e-12, atol=1e-14)
    found = Rosenbrock(1e-6, first=2.9e-4)(rates, start, 50.0)
    assert found.failed is None and found.accepted < 400 and found.evaluations < 20_000
    assert np.abs(found.y[-1] - exact.y[:, -1]).max() < 1e-6
    assert "more than 2 steps" in Rosenbrock(1e-10, most=2)(pendulum, np.array([1.0, 0.0]), 10.0).failed


# -- chapter 3 ---------------------------------------------------------------------------------------


def test_gradients_end_early_where_eigenvalues_are_few():
    """As many iterations as the matrix has different eigenvalues (Hestenes & Stiefel)."""
    diagonal = np.array([Fraction(k) for k in (2, 3, 2, 3, 7)], dtype=object)
    b = np.array([Fraction(k) for k in (1, 2, 3, 4, 5)], dtype=object)
    found = descend(lambda v: diagonal * v, b, most=9)
    assert found.iterations == 3
    assert (found.x == b / diagonal).all()


# -- the falling chain -----------------------------------------------------------------------------


@pytest.mark.soak
def test_rows_of_the_drop_are_met():
    """The share of a spring that relaxes is open: the thesis calls it a coefficient in quotation marks."""
    sizes = {"links": 2, "restitution": 0.3, "seed": 6}
    rows = rows_of(drop.drop, **sizes, stiffness=(1e5, 1e6, 1e7), order="square_root_abm")
    assert not missed(rows)
    (share,) = (row for row in rows if row.state == "open")
    assert share.item.startswith("two springs with k_relax = e k") and abs(share.ours - 0.3**0.5) < 1e-2


def test_rows_of_the_drop_can_fail(monkeypatch):
    k, falls = (1e5, 1e6, 1e7), np.array([1e-3, 3e-4, 1e-4])
    assert not missed(rows_of(drop.drop, drop._springs(k, falls, falls)))
    for i, row in enumerate(("springs, deepest", "springs, median")):
        given = [np.array([1e-3, 1e-4, 2e-4]) if i == j else falls for j in range(2)]
        (item,) = missed(rows_of(drop.drop, drop._springs(k, *given)))
        assert item.startswith(row)
    for returned, states in ((0.3, ["open", "checked"]), (0.3**0.5, ["open", "missed"])):
        monkeypatch.setattr(drop, "level", lambda k, relax, found=returned: found)
        assert [row.state for row in rows_of(drop.drop, drop._shares(k, 0.3))] == states


def test_springs_without_loss_gain_energy_and_the_less_the_finer_they_are_integrated():
    """Section 6.4.1: a spring contact model cannot guarantee the conservation of energy."""
    chain = falling(1)
    loose, fine = drop.grown(chain, np.array([0.0, 0.2, 0.3]), 1e5, 0.5, (1e-3, 1e-8))
    assert loose > 10 * 1e-3 and 0.0 <= fine < 1e-5


@pytest.mark.product
def test_the_share_of_a_switching_spring_is_that_of_the_energy():
    assert level(1e7, 0.25) == pytest.approx(0.5, abs=2e-3)


# -- propagators -----------------------------------------------------------------------------------


def test_a_wrong_propagator_is_told(monkeypatch):
    """Row for row: an error in the inertia handed on shows in qdd, pivots and projections."""
    names = ("qdd", "projections", "squares")
    for name, bad in zip(names, ("missed", "missed", "refuted"), strict=True):
        off = dict.fromkeys(names, 0.0) | {name: 1e-3}
        monkeypatch.setattr(methods, "check", lambda system, draw, off=off: off)
        rows = rows_of(methods.propagators, models=("chain:3",))
        assert [row.state for row in rows].count(bad) == 1
