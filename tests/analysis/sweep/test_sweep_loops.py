"""Sweeps and reports of robots on their feet, with closed loops, and with geared joints.

Random states of closed loops are closed, drawn again where they cannot be, and counted.
"""

import csv
import json
import pickle

import numpy as np
import pytest
from designs import listed
from sweep_runs import config, table

from pivotree import analysis, kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.states import ranges_of, sample
from pivotree.analysis.states.sample import draw, drawn_again, system_at
from pivotree.analysis.sweep import read_config, sweep

# -- random states of closed loops ----------------------------------------------------------------


@pytest.mark.parametrize("spec", listed(["four_bar", "stewart", "delta", "gripper"], unmarked=1))
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
    monkeypatch.setattr(sample, "MOST", 3)
    tree = kkt.chain(2, axes="z", length=0.5)
    far = kkt.cut_joint("j2", None, p=(0.5, 0, 0), p_second=(9, 0, 0), rows=(2, 3), name="far")
    with pytest.warns(kkt.LoopWarning):
        system = kkt.build(tree, loops=[far])
    with pytest.raises(kkt.LoopError, match="loop 'far': none of 3 random states"):
        draw(ranges_of(system), 0, 0)


# -- rows beside compare --------------------------------------------------------------------------

ORDERS = ("crbm", "abm", "closed_early", "gain_abm")
CONFIG = """
output = "{output}"
models = [%s]
orders = ["crbm", "abm", "closed_early", "gain_abm"]
formats = ["float32", "float64", "bfloat16"]
measure = ["error", "digits", "backward_error", "marked", "kappa",
           "fill", "flops", "failed_at", "drawn_again"]
[states]
number = %d
seed = 3
distribution = "%s"
"""


def geared(folder):
    """A model file whose joints have rotors and dampers."""
    tree = kkt.random_tree(5, 2, joints="revolute")
    for i, (_, data) in enumerate(tree.nodes(data=True)):
        data |= {"armature": 0.1 * i, "damping": 0.5}
    kkt.write_model(folder / "geared.json", kkt.build(tree).state, str(tree.graph["name"]))
    base = kkt.build(kkt.load(str(folder / "geared.json")))
    assert len(base.entries.A) == 5
    return f'"{folder / "geared.json"}"', base


def held(folder):
    """A model file that holds contacts."""
    feet = [kkt.contact(f"front_{side}_shank", (0, 0, -0.28)) for side in ("left", "right")]
    kkt.write_model(folder / "held.json", kkt.build(kkt.load("quadruped"), loops=feet).state, "held")
    return f'"{folder / "held.json"}"', kkt.build(kkt.load(str(folder / "held.json")))


def named(spec):
    return lambda folder: (f'"{spec}"', kkt.build(kkt.load(spec)))


CASES = {  # an entry of a sweep's models and its system; how many states of which kind
    "a closed loop in the model's own state": (named("four_bar"), 1, "given"),
    "contacts of a model file": (held, 2, "random"),
    "a closed loop in random states": (named("stewart"), 2, "random"),
    "contacts": (named("quadruped:feet=2"), 2, "random"),
    "soft contacts": (named("quadruped:feet=2,compliance=1e-4"), 2, "random"),
    "geared joints": (geared, 3, "random"),
    "pivots that are lost": (named("two_link:r=0.001"), 2, "random"),
}


@pytest.mark.parametrize("name", listed(list(CASES), 1))
def test_rows_are_those_of_compare(tmp_path, name):
    """Costs, errors, digits and backward errors, and how often states were drawn again."""
    case, number, distribution = CASES[name]
    entry, base = case(tmp_path)
    text = CONFIG % (entry, number, distribution)
    sweep(read_config(config(tmp_path, text)), jobs=1)
    rows, ranges, looped = table(tmp_path / "s.csv"), ranges_of(base), bool(len(base.entries.G))
    near = 1e-6 if looped else 1e-9
    for state in range(number):
        own = [row for row in rows if row["state"] == str(state)]
        system = system_at(base, ranges, 3, state) if distribution == "random" else base
        result = analysis.compare(system, ORDERS, ["float32", "float64", "bfloat16"])
        for row, ours in zip(own, result.rows, strict=True):
            assert (row["order"], row["format"]) == (ours.order, ours.format)
            assert (row["fill"], row["flops"]) == (str(ours.fill_blocks), str(ours.flops))
            assert float(row["kappa"]) == pytest.approx(result.kappa, rel=1e-9)
            assert (row["failed_at"], bool(row["marked"])) == (ours.failed_at or "", ours.marked is not None)
            if distribution == "random" and looped:
                assert int(row["drawn_again"]) == drawn_again(ranges, 3, state)
            if ours.failed_at is not None:
                assert row["error"] == row["digits"] == row["backward_error"] == ""
                continue
            assert float(row["error"]) == pytest.approx(ours.error, rel=near)
            assert float(row["digits"]) == pytest.approx(ours.digits, abs=0.0 if near < 1e-6 else 1e-5)
            assert float(row["backward_error"]) == pytest.approx(ours.backward_error, rel=1e-3)
    assert any(row["failed_at"] for row in rows) or name != "pivots that are lost"


# -- reports --------------------------------------------------------------------------------------


@pytest.mark.product
def test_a_report_of_contacts_is_of_every_order(tmp_path, capsys):
    """Errors in a state are those of the elimination there, against certified answers."""
    folder = tmp_path / "report"
    arguments = ["report", "quadruped", "--contact", "front_left_shank@0:0:-0.28", "--states", "3"]
    arguments += ["--orders", "crbm,abm", "--formats", "float32", "--json"]
    assert main([*arguments, "-o", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == "quadruped"
    rows = list(csv.DictReader((folder / "states.csv").open(newline="")))
    assert {r["order"] for r in rows} == {"crbm", "abm"}
    foot = kkt.contact("front_left_shank", (0, 0, -0.28), (0, 0, 1), [(1, 0, 0), (0, 1, 0)])
    base = kkt.build(kkt.load("quadruped"), loops=[foot])
    system = system_at(base, ranges_of(base), 0, 1)
    exact = kkt.certify(system, rounded_to="float32")
    right = exact.error(kkt.eliminate(system, orderings.get("abm"), "float32").qdd)
    errors = [float(r["error"]) for r in rows if r["order"] == "abm"]
    assert np.isclose(errors, right, rtol=1e-3).sum() == 1
    assert max(errors) < 1e-5
