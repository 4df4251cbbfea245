"""Cloutier 1995: robots, simulator, integrators and methods at reduced size, and cases not in it."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from paper_rows import missed, quiet
from scipy.integrate import solve_ivp

from pivotree import kkt
from pivotree.analysis.cli import main
from pivotree.analysis.complements import Complement, product
from pivotree.analysis.gradients import descend
from pivotree.papers.cloutier1995 import (
    animation,
    contact_rows,
    counts,
    drop,
    figure52,
    figure53,
    figure54,
    figure55,
    figure56,
    figure57,
    figure58,
    figure59,
    figure510,
    gradients,
    impact,
    integrators,
    methods,
    propagators,
)
from pivotree.papers.cloutier1995.closed_form import at_rest
from pivotree.papers.cloutier1995.drop import level
from pivotree.papers.cloutier1995.robot import height_energy, planar_robot, reach, regular, two_links
from pivotree.papers.cloutier1995.rosenbrock import Rosenbrock, step
from pivotree.papers.cloutier1995.simulator import condition, run, saved
from pivotree.papers.cloutier1995.stepping import Start, Tried, integrate, jacobian
from pivotree.papers.cloutier1995.stifbs import Stifbs, midpoint
from pivotree.papers.cloutier1995.sweep import pair, sweep
from pivotree.papers.cloutier1995.tally import Counted, tally
from pivotree.papers.paper import printed

SAID = printed("cloutier1995")


def test_links_are_numbered_from_the_base_and_are_rectangles():
    tree = planar_robot((1.0, 2.0, 4.0), (3.0, 5.0, 7.0), (0.1, 0.2, 0.3))
    assert list(nx.topological_sort(tree)) == [1, 2, 3]
    for k, (length, mass, width) in enumerate(((1, 3, 0.1), (2, 5, 0.2), (4, 7, 0.3)), start=1):
        body = tree.nodes[k]
        assert body["inertia"][2, 2] == pytest.approx(mass * (length**2 + width**2) / 12, rel=1e-15)
        assert body["com"][0] == length / 2 and body["mass"] == mass
    assert reach(tree) == 7.0 and height_energy(tree) == pytest.approx(9.8 * 15 * 7)


@pytest.mark.parametrize(
    "lengths,masses,more",
    [((1, -1), (1, 1), {}), ((1,), (1, 1), {}), ((1, 1), (1, np.nan), {}), ((1, 1), (1, 1), {"q": (0.0,)})],
)
def test_what_is_no_robot_is_one_sentence(lengths, masses, more):
    with pytest.raises(kkt.ModelError, match="planar_robot"):
        planar_robot(lengths, masses, **more)


@pytest.mark.uncached
@pytest.mark.parametrize("second", [1.0, 7.0])
def test_the_closed_form_is_the_engine_on_well_conditioned_arms(second):
    turns = np.array([0.0, 0.4, 2.5, -1.0])
    found = at_rest((1.0, second), (1.0, second), 1.0, turns)
    for angle, row in zip(turns, found, strict=True):
        system = kkt.build(two_links(second), q={1: 0.0, 2: float(angle)})
        exact = np.array([float(x) for x in kkt.certify(system, 20).decimals(17)])
        assert np.abs(row / exact - 1.0).max() < 1e-12


def test_condition_numbers_are_numpys_of_the_closed_form():
    q = np.array([[0.0, 0.0], [0.3, 1.0]])
    c, w = np.cos(q[:, 1]), 1.0
    H22 = (1 + w) / 12 + 0.25
    H12, H11 = H22 + c / 2, (1 + w) / 12 + 0.25 + 1 + H22 + c
    H = np.stack([np.stack([H11, H12], 1), np.stack([H12, np.full(2, H22)], 1)], 1)
    assert condition(two_links(1.0), q) == pytest.approx(np.linalg.cond(H), rel=1e-12)


@pytest.mark.product
def test_figures_5_3_5_5_and_5_7():
    for module, settings in ((figure53, {}), (figure55, {"second": (4e4, 1e5)}), (figure57, {})):
        rows = module.rows(module.measure(quiet, angles=401, **settings))
        assert rows and not missed(rows)
        assert any(row.met for row in rows)


def test_figure_5_3_would_miss_with_the_bases_link_as_the_long_one():
    wrong = sweep(1e-2, pair(), 101)
    assert wrong.kappa.max() < 1e3 or wrong.kappa.max() > 1e6


@pytest.mark.parametrize("second", [3e3, 2e4])
def test_other_lengths_keep_the_law_of_5_1(second):
    one = sweep(second, pair(), 201)
    assert 0.05 < one.difference().max() / (one.kappa.max() * 2.0**-53) < 20


@pytest.mark.product
def test_figure_5_4_slopes_and_the_lengths_that_abm_loses():
    found = figure54.measure(quiet, angles=101, draws=8)
    assert not missed(figure54.rows(found))
    assert found.slope("CRBM") > 0.9 > 0.6 > found.slope("ABM, bias apart")
    lost = sweep(2686.0, figure54.DRAWN, 5)
    assert lost.error("gain ABM").max() < 1e-14
    names = [row.item for row in figure54.rows(found)]
    assert len(names) == len(set(names))


@pytest.mark.product
def test_figure_5_6_holds_where_both_methods_are_smooth():
    rows = figure56.rows(figure56.measure(quiet, ratios=(0.1,), runs=2))
    assert [row.met for row in rows] == [True] * 5
    assert all(abs(row.distance) < 0.02 for row in rows[:3])


@pytest.mark.product
def test_figure_5_6_cholesky_is_stiff_before_lu_and_both_before_abm():
    near, far = figure56.measure(quiet, ratios=(1e-9, 1e-10), runs=2, seconds=1.0, most=1500)
    assert 1.5 < near.over_abm() < 3.5 and far.failed() and not near.failed()
    assert near.over_abm("CRBM, LU") < 1.2 < near.over_abm()
    assert far.runs["ABM"].simulation.failed == 0
    assert near.over_abm("CRBM, centres") > near.over_abm() and far.failed("CRBM, centres")
    assert all(row.met is None for row in figure56.rows([near, far]))  # a second is not ten


@pytest.mark.product
def test_figure_5_6_judges_what_the_thesis_ran_alone():
    (other,) = figure56.measure(quiet, ratios=(0.3,), runs=1, seconds=0.5, methods=("CRBM, centres",))
    assert list(other.runs) == ["ABM", "CRBM, centres"]
    assert [(row.met, row.printed) for row in figure56.rows([other])] == [(None, None)] * 2
    (line,) = figure56.measure(quiet, ratios=(0.1,), runs=1, seconds=2.0)
    assert {row.met for row in figure56.rows([line])} == {None}  # two seconds are not ten
    assert missed(figure56.rows([replace(line, as_printed=True)]))  # were they called so


@pytest.mark.soak
def test_figure_5_8_conserves_energy_within_the_printed_axis():
    found = figure58.measure(quiet, runs=3)
    rows = figure58.rows(found)
    assert [row.met for row in rows] == [None, True, None, True, None]
    wild = figure58.measure(quiet, seconds=5.0, eps=1e-2, runs=1)
    assert missed(figure58.rows(wild))


@pytest.mark.soak
def test_figure_5_9_and_its_energies():
    found = figure59.measure(quiet, n=(2, 4), runs=12)
    assert not missed(figure59.rows(found))
    assert [chain.energy for chain in found] == pytest.approx([3920.0, 15680.0], rel=1e-14)
    odd = figure59.measure(quiet, n=(3,), runs=1, seconds=1.0, length=2.0, mass=5.0)
    assert odd[0].energy == pytest.approx(9 * 2 * 5 * 9.8, rel=1e-14)


def test_laws_find_the_law_that_made_the_numbers():
    n = np.array([2.0, 4, 6, 8, 10])
    power = figure510.laws(n, 100.0 * n**0.7)
    assert power["a n^b"][1] == pytest.approx(0.7) and power["a n^b"][2] < 1e-12
    log = figure510.laws(n, 50.0 + 30.0 * np.log(n))
    assert log["a + b log n"][2] < 1e-12 < log["a n^b"][2]


@pytest.mark.product
def test_figure_5_10_runs_at_reduced_size():
    found = figure510.measure(quiet, n=(2, 6, 8), longer=(), runs=1, seconds=5.0)
    assert {row.met for row in figure510.rows(found)} <= {True, None}


@pytest.mark.product
def test_figure_5_2_fits_and_is_not_called_reproduced():
    found = figure52.measure(quiet, runs=20)
    rows = {row.item: row for row in figure52.rows(found)}
    assert not missed(rows.values())
    average = rows["average energy [J]"]
    assert average.met is None and average.ours == pytest.approx(average.printed, rel=5e-4)
    for name, each in found.counts().items():
        low, high = each.min(), each.max()
        assert low - 1 <= SAID["figure52"][name.replace(" ", "_")] <= 1.02 * high + 1
    record = found.ensemble.first  # odeint's nok and nbad are all of its steps
    assert (record.tries > 1).sum() + (record.tries == 1).sum() == record.accepted
    assert record.evaluations == record.accepted + 5 * record.tries.sum()


def test_statistics_of_a_run():
    one = run(regular(3), "CRBM", "lu", seconds=2.0, eps=1e-8)
    assert len(one.energy) == len(one.condition) == len(one.first.t) == len(one.difference)
    assert np.abs(one.energy / one.energy[0] - 1.0).max() < 1e-6
    times, calls = one.calls(0.5)
    assert calls[0] == 0 and np.all(np.diff(calls) >= 0) and times[-1] <= 2.0
    assert calls[-1] == pytest.approx(one.first.evaluations, rel=0.1)
    assert one.difference.max() < 1e-8


@pytest.mark.product
def test_counts_beside_the_printed_ones():
    rows = counts.rows(counts.measure(quiet))
    # ours moves composites as 6 x 6 matrices
    both = ("multiplications", "additions")
    assert set(missed(rows)) == {f"CRBM (Cholesky), {what}, 10 links" for what in both}
    assert sum(row.met is True for row in rows) == 7
    planar = counts.rows(counts.measure(quiet, family="planar"))
    assert not missed(planar) and "planar" in planar[-1].item


def test_held_out_settings_from_the_command_line(capsys):
    arguments = ["--item", "figure53", "--set", "second=1e3", "--set", "angles=101", "--json"]
    assert main(["reproduce", "cloutier1995", *arguments]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    largest = next(row for row in rows if "largest condition" in row["item"])
    assert largest["met"] is None and largest["ours"] == pytest.approx(5.34e6, rel=0.01)


# -- integrators -------------------------------------------------------------------------------------


def test_saved_steps_are_more_than_the_interval_apart():
    t = np.array([0.0, 0.004, 0.009, 0.015, 0.03, 0.031, 0.05])
    assert saved(t, 0.01) == [0, 3, 4, 6]


def pendulum(y):
    return np.stack([y[:, 1], -np.sin(y[:, 0])], axis=1)


@pytest.mark.product
def test_rosenbrock_is_of_order_four():
    errors = []
    for count in (40, 80):
        y = np.array([1.0, 0.0])
        for _ in range(count):
            y, _error = step(pendulum, y, *jacobian(pendulum, y), 2.0 / count)
        errors.append(
            np.abs(y - Rosenbrock(1e-12, most=100_000)(pendulum, np.array([1.0, 0.0]), 2.0).y[-1]).max()
        )
    assert 12.0 < errors[0] / errors[1] < 20.0


@pytest.mark.parametrize(("method", "most"), [(Rosenbrock, 2000), (Stifbs, 3000)])
def test_stiffness_costs_little_and_who_gives_up_says_so(method, most):
    """y' = -1e6 (y - cos t), t' = 1: an explicit method would need some 1e6 evaluations."""
    found = method(1e-5)(
        lambda y: np.stack([-1e6 * (y[:, 0] - np.cos(y[:, 1])), np.ones(len(y))], axis=1), np.zeros(2), 1.0
    )
    assert found.failed is None and found.evaluations < most
    assert found.y[-1, 0] == pytest.approx(np.cos(1.0), abs=5e-3)
    assert "more than 2 steps" in method(1e-10, most=2)(pendulum, np.array([1.0, 0.0]), 10.0).failed


@pytest.mark.parametrize("method", [Rosenbrock(1e-4, first=1.5), Stifbs(1e-11, first=1.5)])
def test_steps_are_kept_one_after_another(method):
    """Both by the same loop: each step starts where the one before ends, tries are all told."""
    found = method(pendulum, np.array([1.0, 0.0]), 8.0)
    assert found.t[0] == 0.0 and found.t[-1] == 8.0
    assert np.array_equal(found.step_t, found.t[:-1]) and len(found.step) == found.accepted
    assert found.step_t + found.step == pytest.approx(found.t[1:], rel=1e-15)
    assert found.tries.sum() == found.accepted + found.rejected and found.rejected > 0


def test_a_step_that_becomes_too_small_is_told_in_a_sentence():
    never = lambda start, h, tries: (None, h / 2, 1)  # noqa: E731
    with pytest.raises(kkt.PivotreeError, match="never: the step becomes too small at t = 0 s"):
        integrate("never", lambda *a: Tried(*never(*a)), pendulum, np.ones(2), 1.0, 0.1, 9)


@pytest.mark.product
def test_stiff_integrators_are_less_efficient_on_arms():
    found = integrators.measure(quiet, accuracies=(1e-4, 1e-7), seconds=2.0)
    assert not [row for row in integrators.rows(found) if row.met is False]
    for stiff in ("rosenbrock", "stifbs"):
        assert found.cost(stiff, 1e-5) > 1.5 * found.cost("cash_karp", 1e-5)


def test_the_semi_implicit_midpoint_rule_is_of_order_two_and_extrapolates():
    """Bader & Deuflhard 1983: the error goes with even powers of the substep."""
    y = np.array([1.0, 0.0])
    exact = Stifbs(1e-13)(pendulum, y, 0.5).y[-1]
    start = Start(pendulum, y, *jacobian(pendulum, y), np.ones(2), False)
    both = [midpoint(start, 0.5, n) for n in (20, 40)]
    errors = [np.abs(after - exact).max() for after in both]
    assert 3.7 < errors[0] / errors[1] < 4.3
    assert np.abs((4.0 * both[1] - both[0]) / 3.0 - exact).max() < errors[1] / 50.0


@pytest.mark.parametrize("eps", [1e-4, 1e-6, 1e-8])
def test_stifbs_solves_the_stiff_example_of_numerical_recipes(eps):
    """Three species, rates of 1e3: some ten steps, where an explicit method takes 1e5."""

    def rates(y):
        one, two, three = y.T
        first, second = -0.013 * one - 1000.0 * one * three, -2500.0 * two * three
        return np.stack([first, second, first + second], axis=1)

    start = np.array([1.0, 1.0, 0.0])
    exact = solve_ivp(lambda t, y: rates(y[None])[0], (0.0, 50.0), start, "Radau", rtol=1e-12, atol=1e-14).y[
        :, -1
    ]
    found = Stifbs(eps, first=2.9e-4)(rates, start, 50.0)
    assert found.failed is None and found.accepted < 20 and found.evaluations < 1000
    assert np.abs(found.y[-1] - exact).max() < max(eps, 1e-7)


# -- chapter 3 ---------------------------------------------------------------------------------------


def state(n, seed):
    draw = np.random.default_rng(seed)
    return draw.uniform(-1, 1, n), draw.normal(size=n), draw.normal(size=n)


@pytest.mark.product
def test_methods_at_reduced_size_and_held_out():
    found = methods.measure(quiet, seconds=(30.0, 3e3, 3e5), angles=7, chains=(4, 7), links=(3, 6), seed=7)
    assert not missed(methods.rows(found))
    assert set(found.worst["float32"]) == {*methods.KERNELS, *methods.MATRICES}  # no SVD there
    assert np.isnan(found.worst["float32"]["CRBM, Cholesky"][-1])
    assert found.worst["float32"]["ABM by rotations"][-1] < 1e-6


@pytest.mark.product
def test_gradients_held_out():
    found = gradients.measure(quiet, exact=(2, 4), links=(3, 9, 18), seed=11)
    assert not missed(gradients.rows(found))
    assert found.floats["float64"][-1] > 18  # more than exact arithmetic needs


def test_gradients_end_early_where_eigenvalues_are_few():
    """As many iterations as the matrix has different eigenvalues (Hestenes & Stiefel)."""
    diagonal = np.array([Fraction(k) for k in (2, 3, 2, 3, 7)], dtype=object)
    b = np.array([Fraction(k) for k in (1, 2, 3, 4, 5)], dtype=object)
    found = descend(lambda v: diagonal * v, b, most=9)
    assert found.iterations == 3
    assert (found.x == b / diagonal).all()


def test_operations_are_counted_one_by_one():
    count = [0]
    A = np.array([[Counted(x, count) for x in row] for row in ((2.0, 3.0), (5.0, 0.0))])
    product(A, A)
    assert count == [5 + 1]  # 2 2, 3 5, 2 3, 5 2, 5 3; the one sum of two that are not zero
    system = kkt.build(planar_robot([1.0] * 3, [1.0] * 3), *state(3, 1))
    assert 0 < tally(system, Complement.first) < tally(system, Complement.second)


# -- the falling chain -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dropped():
    return drop.measure(
        quiet,
        links=2,
        restitution=0.3,
        seconds=1.5,
        step=4e-3,
        seed=6,
        stiffness=(1e5, 1e6, 1e7),
        order="square_root_abm",
    )


@pytest.mark.product
def test_drop_held_out(dropped):
    assert not missed(drop.rows(dropped))


@pytest.mark.product
@pytest.mark.parametrize(
    "changed,row",
    [
        ({"apart": np.array([0.1, 0.1, 0.1])}, "springs to rigid contact"),
        ({"returned": np.full(3, 0.3**0.5)}, "two springs with k_relax = e^2 k_compress"),
        ({"depth": np.array([1e-3, 1e-4, 2e-4])}, "springs, deepest"),
    ],
)
def test_rows_of_the_drop_can_fail(dropped, changed, row):
    (item,) = missed(drop.rows(replace(dropped, **changed)))
    assert item.startswith(row)


@pytest.mark.product
def test_springs_keep_energy_and_return_the_root_of_their_share(dropped):
    """Two claims of the thesis that do not hold here, and would where the numbers were others."""
    refuted = [row.item for row in drop.rows(dropped) if row.state == "refuted"]
    assert [item.partition(" k_relax")[0] for item in refuted] == [
        "two springs with",
        "springs, largest gain of energy in a step, over the start's",
    ]
    gaining = replace(dropped, gain=np.array([0.0, 1e-3, 0.0]), as_printed=0.3)
    assert not [row for row in drop.rows(gaining) if row.state == "refuted"]


@pytest.mark.product
def test_the_share_of_a_switching_spring_is_that_of_the_energy():
    assert level(1e7, 0.25, 0.3) == pytest.approx(0.5, abs=2e-3)
    assert level(1e7, 0.5, 0.3) == pytest.approx(0.5**0.5, abs=2e-3)


# -- blows with friction ---------------------------------------------------------------------------


@pytest.mark.product
def test_impact_held_out():
    found = impact.measure(quiet, links=3, samples=800, restitution=0.9, most_friction=1.5, seed=3)
    assert not missed(impact.rows(found))
    plastic = impact.measure(quiet, samples=200, restitution=0.0, seed=4)
    assert {row.met for row in impact.rows(plastic)} == {True, None}


# -- rows of contacts ------------------------------------------------------------------------------


def test_contact_rows_held_out():
    found = contact_rows.measure(quiet, links=(6, 9, 12), contacts=(3,), held=2, seed=8)
    assert not missed(contact_rows.rows(found))
    cubic = found.operations["crbm"][0]
    assert np.diff(cubic, 2).any()  # what is called linear need not be


# -- the animation ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown():
    return animation.measure(quiet, links=2, seconds=0.5, frames=10, ratio=0.01)


@pytest.mark.product
def test_films_and_page_are_whole(shown, tmp_path):
    films = animation.films(shown)
    films["animation.gif"](tmp_path / "a.gif")
    films["animation.html"](tmp_path / "a.html")
    assert (tmp_path / "a.gif").read_bytes()[:6] == b"GIF89a"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gif", "a.html"]
    text = (tmp_path / "a.html").read_text()
    assert not re.search(r"https?:|<link|src=|@import", text)  # needs no network
    assert "prefers-reduced-motion" in text and "/*" not in re.sub(r"/\* [^*]*\*/", "", text)
    told = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    for one in told["runs"]:
        assert sum(one["h"]) == pytest.approx(0.5, abs=5e-3)
        assert np.shape(one["q"]) == (31, 2)
    record = shown.runs["abm"].records[0]
    assert told["runs"][0]["q"][-1] == pytest.approx(list(record.y[-1, :2]), abs=1e-4)


def test_a_film_that_cannot_be_written_is_one_sentence(shown, tmp_path):
    with pytest.raises(kkt.FormatError, match="cannot be written"):
        animation.films(shown)["animation.gif"](tmp_path / "none" / "a.gif")


@pytest.mark.product
def test_figures_in_every_style(shown):
    found = (
        (figure53, figure53.measure(quiet, angles=21)),
        (figure56, figure56.measure(quiet, ratios=(0.5,), runs=1, seconds=0.2)),
        (animation, shown),
        (drop, drop.measure(quiet, links=1, seconds=0.5, step=5e-3, stiffness=(1e4, 1e5))),
        (impact, impact.measure(quiet, samples=20)),
    )
    for style in ("light", "dark", "gray"):
        assert len([name for item, one in found for name in item.figures(one, style)]) == 7


# -- propagators -----------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize("model", ["chain:7", "random_tree:n=15,seed=8", "humanoid", "star:6"])
def test_propagators_give_certified_accelerations(model):
    found = propagators.measure(quiet, models=(model,), second=7.0)
    assert not [row for row in propagators.rows(found) if row.state in ("missed", "refuted")]


def test_a_wrong_propagator_is_told():
    """Row for row: an error in the inertia handed on shows in qdd, pivots and projections."""
    found = propagators.measure(quiet, models=("chain:3",))
    names = ("qdd", "pivots", "projections", "squares")
    for name, bad in zip(names, ("missed", "missed", "missed", "refuted"), strict=True):
        rows = propagators.rows([replace(found[0], **{name: 1e-3})])
        assert [row.state for row in rows[:4]].count(bad) == 1


def test_single_precision_of_the_propagators_is_rounded_throughout():
    found = propagators.propagate(kkt.build(kkt.chain(4)), np.float32)
    assert found.qdd.dtype == np.float32
    assert all(x.dtype == np.float32 for x in (*found.inertia.values(), *found.force.values()))
