"""Cloutier 1995, chapters 2 to 5: robots, the test program, the simulator, at reduced size."""

import json
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from pivotree import kkt
from pivotree.analysis.cli import main
from pivotree.papers.cloutier1995 import (
    counts,
    figure52,
    figure53,
    figure54,
    figure55,
    figure56,
    figure57,
    figure58,
    figure59,
    figure510,
)
from pivotree.papers.cloutier1995.closed_form import at_rest
from pivotree.papers.cloutier1995.robot import height_energy, planar_robot, reach, regular, shared, two_links
from pivotree.papers.cloutier1995.simulator import condition, run
from pivotree.papers.cloutier1995.sweep import pair, sweep
from pivotree.papers.paper import items, printed

SAID = printed("cloutier1995")


def quiet(text):
    pass


def not_met(rows):
    return [row for row in rows if row.met is False]


def test_links_are_numbered_from_the_base_and_are_rectangles():
    tree = planar_robot((1.0, 2.0, 4.0), (3.0, 5.0, 7.0), (0.1, 0.2, 0.3))
    assert list(nx.topological_sort(tree)) == [1, 2, 3]
    for k, (length, mass, width) in enumerate(((1, 3, 0.1), (2, 5, 0.2), (4, 7, 0.3)), start=1):
        body = tree.nodes[k]
        assert body["inertia"][2, 2] == pytest.approx(mass * (length**2 + width**2) / 12, rel=1e-15)
        assert body["com"][0] == length / 2 and body["mass"] == mass
    assert reach(tree) == 7.0 and height_energy(tree) == pytest.approx(9.8 * 15 * 7)


@pytest.mark.parametrize(
    "given",
    [
        {"lengths": (1.0, -1.0), "masses": (1.0, 1.0)},
        {"lengths": (1.0,), "masses": (1.0, 1.0)},
        {"lengths": (), "masses": ()},
        {"lengths": (1.0, 1.0), "masses": (1.0, float("nan"))},
        {"lengths": (1.0, 1.0), "masses": (1.0, 1.0), "q": (0.0,)},
    ],
)
def test_what_is_no_robot_is_one_sentence(given):
    with pytest.raises(kkt.ModelError, match="planar_robot"):
        planar_robot(**given)


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


@pytest.mark.thorough
def test_figures_5_3_5_5_and_5_7():
    for module, settings in ((figure53, {}), (figure55, {"second": (4e4, 1e5)}), (figure57, {})):
        rows = module.rows(module.measure(quiet, angles=401, **settings))
        assert rows and not not_met(rows)
        assert any(row.met for row in rows)


def test_figure_5_3_would_miss_with_the_bases_link_as_the_long_one():
    wrong = sweep(1e-2, pair(), 101)
    assert wrong.kappa.max() < 1e3 or wrong.kappa.max() > 1e6


@pytest.mark.parametrize("second", [3e3, 2e4])
def test_other_lengths_keep_the_law_of_5_1(second):
    one = sweep(second, pair(), 201)
    assert 0.05 < one.difference().max() / (one.kappa.max() * 2.0**-53) < 20


@pytest.mark.slow
def test_figure_5_4_slopes_and_the_lengths_that_abm_loses():
    found = figure54.measure(quiet, angles=101, draws=8)
    assert not not_met(figure54.rows(found))
    assert found.slope("CRBM") > 0.9 > 0.6 > found.slope("ABM, bias apart")
    lost = sweep(2686.0, figure54.DRAWN, 5)
    assert lost.error("gain ABM").max() < 1e-14
    names = [row.item for row in figure54.rows(found)]
    assert len(names) == len(set(names))


@pytest.mark.slow
def test_figure_5_6_holds_where_both_methods_are_smooth():
    rows = figure56.rows(figure56.measure(quiet, ratios=(0.1,), runs=2))
    assert [row.met for row in rows] == [True] * 5
    assert all(abs(row.distance) < 0.02 for row in rows[:3])


@pytest.mark.slow
def test_figure_5_6_cholesky_is_stiff_before_lu_and_both_before_abm():
    near, far = figure56.measure(quiet, ratios=(1e-9, 1e-10), runs=2, seconds=1.0, most=1500)
    assert 1.5 < near.over_abm() < 3.5 and far.failed() and not near.failed()
    assert near.over_abm("CRBM, LU") < 1.2 < near.over_abm()
    assert far.runs["ABM"].simulation.failed == 0
    assert near.over_abm("CRBM, centres") > near.over_abm() and far.failed("CRBM, centres")
    assert all(row.met is None for row in figure56.rows([near, far]))  # a second is not ten


@pytest.mark.thorough
def test_figure_5_6_by_other_methods():
    (line,) = figure56.measure(quiet, ratios=(0.1,), runs=1, seconds=0.5, methods=("CRBM, centres",))
    assert list(line.runs) == ["ABM", "CRBM, centres"] and len(figure56.rows([line])) == 2


@pytest.mark.thorough
def test_figure_5_6_of_another_ratio_has_no_criterion():
    rows = figure56.rows(figure56.measure(quiet, ratios=(0.3,), runs=1, seconds=1.0))
    assert [row.met for row in rows] == [None] * 3 and {row.printed for row in rows} == {None}


@pytest.mark.thorough
def test_a_row_that_misses_says_so():
    (line,) = figure56.measure(quiet, ratios=(0.1,), runs=1, seconds=2.0)
    assert {row.met for row in figure56.rows([line])} == {None}  # two seconds are not ten
    assert not_met(figure56.rows([replace(line, as_printed=True)]))  # were they called so


@pytest.mark.slow
def test_figure_5_8_conserves_energy_within_the_printed_axis():
    found = figure58.measure(quiet, runs=3)
    rows = figure58.rows(found)
    assert [row.met for row in rows] == [None, True, None, True, None]
    wild = figure58.measure(quiet, seconds=5.0, eps=1e-2, runs=1)
    assert not_met(figure58.rows(wild))


@pytest.mark.slow
def test_figure_5_9_and_its_energies():
    found = figure59.measure(quiet, n=(2, 4), runs=12)
    assert not not_met(figure59.rows(found))
    assert [chain.energy for chain in found] == pytest.approx([3920.0, 15680.0], rel=1e-14)
    odd = figure59.measure(quiet, n=(3,), runs=1, seconds=1.0, length=2.0, mass=5.0)
    assert odd[0].energy == pytest.approx(9 * 2 * 5 * 9.8, rel=1e-14)


def test_laws_find_the_law_that_made_the_numbers():
    n = np.array([2.0, 4, 6, 8, 10])
    power = figure510.laws(n, 100.0 * n**0.7)
    assert power["a n^b"][1] == pytest.approx(0.7) and power["a n^b"][2] < 1e-12
    log = figure510.laws(n, 50.0 + 30.0 * np.log(n))
    assert log["a + b log n"][2] < 1e-12 < log["a n^b"][2]


@pytest.mark.thorough
def test_figure_5_10_runs_at_reduced_size():
    found = figure510.measure(quiet, n=(2, 6, 8), longer=(), runs=1, seconds=5.0)
    assert {row.met for row in figure510.rows(found)} <= {True, None}


@pytest.mark.thorough
def test_figure_5_2_fits_and_is_not_called_reproduced():
    found = figure52.measure(quiet, runs=20)
    rows = {row.item: row for row in figure52.rows(found)}
    assert not not_met(rows.values())
    average = rows["average energy [J]"]
    assert average.met is None and average.ours == pytest.approx(average.printed, rel=5e-4)
    for name, each in found.counts().items():
        low, high = each.min(), each.max()
        assert low - 1 <= SAID["figure52"][name.replace(" ", "_")] <= 1.02 * high + 1
    record = found.ensemble.first  # odeint's nok and nbad are all of its steps
    assert (record.tries > 1).sum() + (record.tries == 1).sum() == record.accepted
    assert record.evaluations == record.accepted + 5 * record.tries.sum()


@pytest.mark.thorough
def test_statistics_of_a_run():
    one = run(regular(3), "CRBM", "lu", seconds=2.0, eps=1e-8)
    assert len(one.energy) == len(one.condition) == len(one.first.t) == len(one.difference)
    assert np.abs(one.energy / one.energy[0] - 1.0).max() < 1e-6
    times, calls = one.calls(0.5)
    assert calls[0] == 0 and np.all(np.diff(calls) >= 0) and times[-1] <= 2.0
    assert calls[-1] == pytest.approx(one.first.evaluations, rel=0.1)
    assert one.difference.max() < 1e-8


@pytest.mark.slow
def test_counts_beside_the_printed_ones():
    rows = counts.rows(counts.measure(quiet))
    missed = {row.item for row in not_met(rows)}  # ours moves composites as 6 x 6 matrices
    assert missed == {f"CRBM (Cholesky), {what}, 10 links" for what in ("multiplications", "additions")}
    assert sum(row.met is True for row in rows) == 7
    planar = counts.rows(counts.measure(quiet, family="planar"))
    assert not not_met(planar) and "planar" in planar[-1].item


def test_held_out_settings_from_the_command_line(capsys):
    arguments = ["--item", "figure53", "--set", "second=1e3", "--set", "angles=101", "--json"]
    assert main(["reproduce", "cloutier1995", *arguments]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    largest = next(row for row in rows if "largest condition" in row["item"])
    assert largest["met"] is None and largest["ours"] == pytest.approx(5.34e6, rel=0.01)


@pytest.mark.thorough
@pytest.mark.parametrize("style", ["light", "dark", "gray"])
def test_figures_are_drawn(style):
    found = figure53.measure(quiet, angles=21)
    assert set(figure53.figures(found, style)) == {"figure53"}
    line = figure56.measure(quiet, ratios=(0.5,), runs=1, seconds=0.2)
    assert set(figure56.figures(line, style)) == {"figure56"}


def test_items_stand_in_the_thesis_order():
    names = [item.name for item in items("cloutier1995") if item.name.startswith("figure5")]
    numbers = [int(name.removeprefix("figure5")) for name in names]
    assert numbers == sorted(numbers) and shared(0.5) is not None
