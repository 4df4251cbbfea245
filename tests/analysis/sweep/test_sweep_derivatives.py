"""Sweeps of derivatives: the report's numbers, taken up again, and two models that share tapes."""

import csv

import numpy as np
import pytest
from sweep_runs import config, table

from pivotree import kkt
from pivotree.analysis.report import robot_report
from pivotree.analysis.sweep import read_config, sweep
from pivotree.analysis.sweep.tapes import fingerprint

FIELDS = ("digits_qdd", "digits_dq", "digits_dqd", "digits_dtau")
DERIVED = """
output = "{output}"
models = ["two_link:r={{r}}"]
orders = ["crbm", "abm"]
formats = ["float32", "bfloat16"]
derivatives = true
[ranges]
r = [0.5, 1e-3]
[states]
number = 3
seed = 5
"""


@pytest.mark.product
def test_rows_are_those_of_the_report(tmp_path):
    chosen = read_config(config(tmp_path, DERIVED))
    assert chosen.settings.measures[-5:] == (*FIELDS, "failed_at")
    sweep(chosen, jobs=1)
    rows = {(r["r"], r["state"], r["order"], r["format"]): r for r in table(tmp_path / "s.csv")}
    assert len(rows) == 2 * 3 * 2 * 2
    robot_report(
        kkt.load("two_link:r=0.001"),
        "two_link",
        ["crbm", "abm"],
        ["float32", "bfloat16"],
        states=3,
        seed=5,
        folder=tmp_path / "r",
        quantity="derivatives",
    )
    with (tmp_path / "r" / "states.csv").open(newline="") as file:
        theirs = list(csv.DictReader(file))
    assert len(theirs) == 12
    for own in theirs:
        row = rows["0.001", own["state"], own["order"], own["format"]]
        assert bool(row["failed_at"]) == (own["failed"] == "1")
        if row["failed_at"]:
            continue
        assert float(row["error"]) == pytest.approx(float(own["error"]), rel=1e-4)
        assert bool(row["marked"]) == (own["marked"] == "1")
        for name in ("digits", *FIELDS):
            assert float(row[name]) == pytest.approx(float(own[name]), abs=0.011)
        assert float(row["digits"]) == min(float(row[name]) for name in FIELDS[1:])
    kept = [float(row["digits_dq"]) for row in rows.values() if not row["failed_at"]]
    assert min(kept) < 2.5 < 6.5 < max(kept)


def test_certified_and_taken_up_again(tmp_path):
    """Rows that are there stay; those of qdd are other cases, and certified ones others again."""
    text = DERIVED.replace("[0.5, 1e-3]", "[0.5]").replace("number = 3", "number = 1")
    text = text.replace(', "bfloat16"', "")
    chosen = read_config(config(tmp_path, text))
    assert (sweep(chosen, jobs=1).measured, sweep(chosen, jobs=1).measured) == (2, 0)
    more = read_config(config(tmp_path, text.replace("number = 1", "number = 2")))
    assert (first := sweep(more, jobs=1)).measured == 2 and first.kept == 2
    proved = 'reference = "certified"\n' + text
    sweep(read_config(config(tmp_path, proved, "c.csv")), jobs=1)
    for own, right in zip(table(tmp_path / "s.csv"), table(tmp_path / "c.csv"), strict=False):
        assert own["key"] != right["key"]
        assert float(own["error"]) == pytest.approx(float(right["error"]), rel=1e-6)
    columns = f"measure = {[*more.settings.measures[:-5], 'failed_at']}\n"
    plain = columns + text.replace("derivatives = true", "")
    sweep(read_config(config(tmp_path, plain, "q.csv")), jobs=1)
    assert not {r["key"] for r in table(tmp_path / "q.csv")} & {r["key"] for r in table(tmp_path / "s.csv")}


def test_models_whose_joints_resist_share_no_tapes_with_others():
    """A spring and a damper are one number each, and (4) has places for neither."""
    trees = []
    for name in ("stiffness", "damping"):
        tree = kkt.chain(2)
        tree.nodes["j1"][name] = 0.5
        trees.append(kkt.build(tree, q=[0.3, 0.4], qd=np.ones(2)))
    assert len({fingerprint(x) for x in trees}) == 1
    assert len({fingerprint(x, "derivatives") for x in trees}) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('measure = ["digits_dq"]', r"'measure\[0\]' is 'digits_dq'; give derivatives = true with"),
        ("derivatives = 1", "'derivatives' is 1; give true or false"),
        ('derivatives = true\nmeasure = ["steps"]', "give with derivatives = true also one of"),
    ],
)
def test_what_is_not_asked_of_derivatives_is_one_sentence(tmp_path, text, told):
    path = config(tmp_path, text + DERIVED.replace("derivatives = true", ""))
    with pytest.raises(kkt.PivotreeError, match=told):
        read_config(path)
