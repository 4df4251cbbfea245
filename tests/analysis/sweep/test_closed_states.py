"""Random states of closed loops: closed, drawn again where they cannot be, and counted."""

import json
import pickle

import numpy as np
import pytest
from sweep_runs import config, table

from pivotree import analysis, kkt
from pivotree.analysis.cli import main
from pivotree.analysis.states import draw, ranges_of, sample, system_at
from pivotree.analysis.states.sample import drawn_again, entries_at
from pivotree.analysis.sweep import read_config, sweep
from pivotree.kkt.matrix.entries import LETTERS
from pivotree.kkt.model.contact_names import contacts_of


@pytest.mark.product
@pytest.mark.parametrize("spec", ["four_bar", "stewart", "delta", "gripper"])
def test_loops_are_closed_in_random_states_and_in_their_rates(spec):
    system = kkt.build(kkt.load(spec))
    ranges = pickle.loads(pickle.dumps(ranges_of(system)))
    drawn = [draw(ranges, 1, number) for number in range(3)]
    for number, (q, qd, _) in enumerate(drawn):
        here = system_at(system, ranges, 1, number)
        assert max(np.abs(loop.gap).max() for loop in here.state.loops) < 1e-9
        step = 1e-6  # the gap does not change along the rates
        ahead = system.refresh(q + step * qd, qd, np.zeros_like(q))
        if spec in ("four_bar", "gripper"):  # rates are derivatives of positions there
            assert max(np.abs(loop.gap).max() for loop in ahead.state.loops) < 1e-9
    assert not np.allclose(drawn[0][0], drawn[1][0])
    many = entries_at(system, ranges, 1, range(3))
    for i in range(3):
        alone = system_at(system, ranges, 1, i).entries
        assert all(np.array_equal(getattr(many, x)[i], getattr(alone, x)) for x in LETTERS)


def test_states_beyond_the_limits_are_drawn_again_and_counted():
    tree = kkt.four_bar()
    free = ranges_of(kkt.build(tree))
    assert all(drawn_again(free, 0, number) <= 3 for number in range(5))
    for body, (low, high) in {"crank": (0.2, 1.5), "rocker": (1.2, 1.9)}.items():
        tree.nodes[body]["limits"] = (low, high, 0.0)
    tight = ranges_of(kkt.build(tree))
    counts = [drawn_again(tight, 0, number) for number in range(5)]
    assert max(counts) > 0
    crank, rocker = (kkt.compile_tree(tree).names.index(name) for name in ("crank", "rocker"))
    for number in range(5):
        q = draw(tight, 0, number)[0]
        assert 0.2 <= q[crank] <= 1.5 and 1.2 <= q[rocker] <= 1.9


def test_loops_that_no_state_closes_are_refused(monkeypatch):
    monkeypatch.setattr(sample, "MOST", 7)
    tree = kkt.chain(2, axes="z", length=0.5)
    far = kkt.cut_joint("j2", None, p=(0.5, 0, 0), p_second=(9, 0, 0), rows=(2, 3), name="far")
    with pytest.warns(kkt.LoopWarning):
        system = kkt.build(tree, loops=[far])
    with pytest.raises(kkt.LoopError, match="loop 'far': none of 7 random states"):
        draw(ranges_of(system), 0, 0)


CONFIG = """
output = "{output}"
models = [%s]
orders = ["abm"]
formats = ["float32"]
measure = ["error", "failed_at", "drawn_again"]
[states]
number = 3
seed = 3
"""


@pytest.mark.product
def test_rows_of_closed_loops_are_those_of_compare(tmp_path):
    sweep(read_config(config(tmp_path, CONFIG % '"stewart"')), jobs=1)
    rows, base = table(tmp_path / "s.csv"), kkt.build(kkt.load("stewart"))
    ranges = ranges_of(base)
    for number, row in enumerate(rows):
        (ours,) = analysis.compare(system_at(base, ranges, 3, number), ["abm"], ["float32"]).rows
        assert float(row["error"]) == pytest.approx(ours.error, rel=1e-6) and not row["failed_at"]
        assert int(row["drawn_again"]) == drawn_again(ranges, 3, number)


def test_contacts_and_loops_stand_beside_a_model_of_a_sweep(tmp_path):
    file = tmp_path / "feet.json"
    foot = {"body": "front_right_shank", "point": [0, 0, -0.28], "name": "right"}
    file.write_text(json.dumps({"schema": "pivotree-loops/1", "loops": [foot]}))
    entry = '{{ model = "quadruped", contact = "front_left_shank@0:0:-0.28", loops = "%s" }}'
    path = config(tmp_path, CONFIG % (entry % file))
    sweep(read_config(path), jobs=1)
    rows = table(tmp_path / "s.csv")
    assert {row["model"] for row in rows} == {f"quadruped, contact front_left_shank@0:0:-0.28, loops {file}"}
    tree = kkt.load("quadruped")
    left = contacts_of(tree, "front_left_shank@0:0:-0.28", 0.0, "contact")
    loops = [*kkt.read_loops(file, tree), *left]
    base = kkt.build(tree, loops=loops)
    for number, row in enumerate(rows):
        here = system_at(base, ranges_of(base), 3, number)
        (ours,) = analysis.compare(here, ["abm"], ["float32"]).rows
        assert float(row["error"]) == pytest.approx(ours.error, rel=1e-6)


@pytest.mark.parametrize(
    "entry,message",
    [
        ('{{ model = "quadruped", contact = "paw" }}', "contact: body 'paw' is unknown"),
        ('{{ model = "quadruped", compliance = 1e-4 }}', "contacts that it softens"),
        ('{{ model = "chain:3", contact = "j3", compliance = -1 }}', "zero or more [1/kg]"),
        ('{{ model = "chain:2", contact = "2" }}', "contact: body '2' is unknown"),
        ('{{ model = "chain:3", loops = "none.json" }}', "none.json"),
    ],
)
def test_what_is_wrong_beside_a_model_is_one_sentence(entry, message, tmp_path, capsys):
    assert main(["sweep", str(config(tmp_path, CONFIG % entry))]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and message in told and not (tmp_path / "s.csv").exists(), told


@pytest.mark.product
def test_a_report_of_a_closed_loop_says_how_its_states_were_drawn(tmp_path, capsys):
    arguments = ["report", "four_bar", "--states", "4", "--orders", "crbm,abm", "--json"]
    assert main([*arguments, "--formats", "float32", "-o", str(tmp_path / "r")]) == 0
    assert "keep the closed loops" in json.loads(capsys.readouterr().out)["distribution"]
    assert main(["solve", "stewart", "--random", "0"]) == 0
    assert capsys.readouterr().err == ""
