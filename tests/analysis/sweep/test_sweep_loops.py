"""Sweeps and reports of robots on their feet, with closed loops, and with geared joints."""

import csv

import numpy as np
import pytest
from sweep_runs import config, table

from pivotree import analysis, kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.report.armature import least_armature
from pivotree.analysis.states.sample import entries_at, system_at
from pivotree.analysis.sweep import read_config, sweep
from pivotree.kkt.matrix.entries import LETTERS
from pivotree.kkt.matrix.ranges import ranges_of

ORDERS = ("crbm", "abm", "closed_early", "square_root_abm")
CONFIG = """
output = "{output}"
models = [%s]
orders = ["crbm", "abm", "closed_early", "square_root_abm"]
formats = ["float32", "float64"]
measure = ["error", "backward_error", "marked", "fill", "flops", "failed_at"]
[states]
number = %d
seed = 3
distribution = "%s"
"""


def compared(system, rows):
    """Rows of a sweep beside ``compare`` in one state: costs, errors and backward errors."""
    result = analysis.compare(system, ORDERS, ["float32", "float64"])
    assert len(rows) == len(result.rows)
    for row, ours in zip(rows, result.rows, strict=True):
        assert (row["order"], row["format"]) == (ours.order, ours.format)
        if ours.failed_at is not None:
            assert row["failed_at"] and not row["error"]
            continue
        assert (row["fill"], row["flops"]) == (str(ours.fill_blocks), str(ours.flops))
        assert float(row["error"]) == pytest.approx(ours.error, rel=1e-6)
        assert float(row["backward_error"]) == pytest.approx(ours.backward_error, rel=1e-3)
        assert bool(row["marked"]) == (ours.marked is not None)


@pytest.mark.product
@pytest.mark.parametrize("soft", [False, True])
def test_rows_of_contacts_are_those_of_compare(tmp_path, soft):
    spec = "quadruped:feet=2" + ",compliance=1e-4" * soft
    path = config(tmp_path, CONFIG % (f'"{spec}"', 2, "random"))
    sweep(read_config(path), jobs=1)
    rows, base = table(tmp_path / "s.csv"), kkt.build(kkt.load(spec))
    for number in range(2):
        system = system_at(base, ranges_of(base), 3, number)
        assert len(system.entries.gamma) == 6
        compared(system, [r for r in rows if r["state"] == str(number)])


def test_rows_of_closed_loops_are_those_of_compare_in_the_model_s_own_state(tmp_path):
    path = config(tmp_path, CONFIG % ('"four_bar"', 1, "given"))
    sweep(read_config(path), jobs=1)
    compared(kkt.build(kkt.load("four_bar")), table(tmp_path / "s.csv"))


@pytest.mark.product
def test_rows_of_geared_joints_are_those_of_compare(tmp_path):
    tree = kkt.random_tree(5, 2, joints="revolute")
    for i, (_, data) in enumerate(tree.nodes(data=True)):
        data |= {"armature": 0.1 * i, "damping": 0.5}
    kkt.write_model(tmp_path / "geared.json", kkt.build(tree).state, str(tree.graph["name"]))
    path = config(tmp_path, CONFIG % (f'"{tmp_path / "geared.json"}"', 3, "random"))
    sweep(read_config(path), jobs=1)
    rows, base = table(tmp_path / "s.csv"), kkt.build(kkt.load(str(tmp_path / "geared.json")))
    assert len(base.entries.A) == 5
    for number in range(3):
        system = system_at(base, ranges_of(base), 3, number)
        compared(system, [r for r in rows if r["state"] == str(number)])


@pytest.mark.product
def test_a_report_of_contacts_is_of_every_order(tmp_path, capsys):
    """Errors in a state are those of the elimination there, against certified answers."""
    folder = tmp_path / "report"
    arguments = ["report", "quadruped", "--contact", "front_left_shank@0:0:-0.28", "--states", "3"]
    arguments += ["--orders", "crbm,abm,square_root_abm", "--formats", "float32", "--json"]
    assert main([*arguments, "-o", str(folder)]) == 0
    assert "takes trees" not in capsys.readouterr().out
    with open(folder / "states.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {r["order"] for r in rows} == {"crbm", "abm", "square_root_abm"}
    up = kkt.load("quadruped")
    foot = kkt.contact("front_left_shank", (0, 0, -0.28), (0, 0, 1), [(1, 0, 0), (0, 1, 0)])
    base = kkt.build(up, loops=[foot])
    system = system_at(base, ranges_of(base), 0, 1)
    exact = kkt.certify(system, rounded_to="float32")
    right = exact.error(kkt.eliminate(system, orderings.get("abm"), "float32").qdd)
    errors = [float(r["error"]) for r in rows if r["order"] == "abm"]
    assert np.isclose(errors, right, rtol=1e-3).sum() == 1
    assert all(float(r["error"]) < 1e-5 for r in rows if r["order"] == "square_root_abm")


def test_many_states_of_loops_are_those_of_each_state():
    """Entries of a forest of copies, to the bit, with coupled joints and contacts of every kind."""
    tree = kkt.random_tree(6, 3, joints="revolute")
    names = list(tree)
    loops = [
        kkt.contact(names[5], (0.1, 0, 0.2), tangents=[(1, 0, 0)], compliance=1e-2, damping=2.0),
        kkt.contact(names[4], (0.2, 0.1, 0), (0, 1, 1), on=names[1], name="between"),
        kkt.coupled_joints(tree, names[3], names[2], -2.0),
    ]
    base = kkt.build(tree, loops=loops)
    ranges = ranges_of(base)
    many = entries_at(base, ranges, 5, range(4))
    for i in range(4):
        one = system_at(base, ranges, 5, i).entries
        for letter in LETTERS:
            assert np.array_equal(getattr(many, letter)[i], getattr(one, letter)), letter


@pytest.mark.product
def test_the_least_armature_of_a_robot_on_a_foot():
    """Without any, the digits are those that the report tells; with the least, those wanted."""
    tree = kkt.load("quadruped:feet=1")
    found = least_armature(tree, "crbm", "float32", digits=3.0, states=5, seed=0)
    system = kkt.build(tree)
    errors = []
    for i in range(5):
        state = system_at(system, ranges_of(system), 0, i)
        exact = kkt.certify(state, rounded_to="float32")
        result = kkt.eliminate(state, orderings.get("crbm"), "float32")
        errors.append(exact.error(result.qdd))
    assert found.before == pytest.approx(-np.log10(max(errors)), abs=0.01)
