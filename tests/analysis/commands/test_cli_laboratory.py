"""The laboratory's commands at their edges: interrupts, pipes, overflow, and what is said there."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from dataclasses import replace

import numpy as np
import pytest
from helpers import MODELS, ROOT

from pivotree import analysis, kkt
from pivotree.analysis.cli.commands.shared import print_json
from pivotree.analysis.cli.table import _Console, comparison_tables
from pivotree.analysis.comparison import Comparison
from pivotree.analysis.comparison.row import Row
from pivotree.analysis.comparison.verdict import verdict
from pivotree.analysis.figures.style import LIGHT
from pivotree.analysis.report import robot_report
from pivotree.analysis.report.page import strips
from pivotree.analysis.rounding.text import percent
from pivotree.kkt.arithmetic import Binary, Mixed
from pivotree.kkt.base.errors import Refusal


@pytest.fixture
def arm(tmp_path):
    """A model file of two links that swing about y, both with this mass and centre of mass."""

    def write(mass=1.0, com=(1.0, 0.0, 0.0)):
        tree, link = kkt.new_tree("arm"), {"mass": mass, "com": com, "inertia": mass * np.eye(3)}
        kkt.add_body(tree, "a", axis=(0, 1, 0), **link)
        kkt.add_body(tree, "b", "a", axis=(0, 1, 0), p=2.0 * np.array(com), **link)
        kkt.write_model(tmp_path / "arm.json", kkt.build(tree, *np.zeros((3, 2))).state)
        return tmp_path / "arm.json"

    return write


def row(order, format="float32", failed_at=None, fill=None):
    error = 1e-7 if failed_at is None else None
    return Row(order, format, fill, fill, fill, fill, error, error and 7.0, None, None, failed_at)


# -- interrupts and pipes ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["solve", "report"])
def test_ctrl_c_is_one_line(run, command, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(kkt, "load", interrupted)
    code, out, err = run(command, "chain:2")
    assert code == 130 and out == ""
    assert err.count("\n") == 1 and err.startswith("pivotree: interrupted")


def test_an_interrupt_before_any_state_leaves_nothing(run, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pivotree.analysis.sweep.run.results", interrupted)
    code, out, err = run("report", "chain:2", "--orders", "abm", "--formats", "float32", "-o", "new")
    assert code == 130 and out == "" and err == "pivotree: interrupted; nothing was measured\n"
    assert not (tmp_path / "new").exists()


def test_a_reader_that_has_seen_enough_is_no_failure():
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-P", "-m", "pivotree", "orders"]
    process = subprocess.Popen(command, cwd=ROOT, text=True, stderr=subprocess.PIPE, stdout=writes)
    os.close(writes)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")


def test_numbers_that_json_has_no_name_for_are_null(capsys):
    print_json({"error": float("inf"), "corrections": (1.0, float("nan")), "order": "abm"})
    found = json.loads(capsys.readouterr().out)
    assert found == {"error": None, "corrections": [1.0, None], "order": "abm"}


# -- comparisons ----------------------------------------------------------------------------------


def test_orders_fail_for_reasons_of_their_own():
    rows = [
        row("crbm", failed_at="pivot qdd_3, step 5: zero"),
        row("crbm +1", failed_at="pivot qdd_3, step 5: zero"),
        row("lagrange", failed_at="pivot fC_2, step 9: not a number"),
        row("abm", fill=5),
        row("natural", failed_at="pivot qdd_3, step 5: zero"),
    ]
    text = verdict("robot", rows, {}, {"float32": 2.0**-24})
    assert "crbm, natural give no answer: pivot qdd_3, step 5: zero." in text
    assert "lagrange gives no answer: pivot fC_2, step 9: not a number." in text
    assert "crbm +1" not in text  # it has nothing of its own to fail at


def test_the_problem_is_at_fault_only_where_no_order_keeps_notably_more():
    def told(*lost, kappa=260.0):
        rows = [replace(row(o, fill=5), digits=d, lost_by_order=x) for o, d, x in lost]
        return verdict("robot", rows, {}, {"float32": 2.0**-24}, kappa)

    text = told(("odds_first", 4.0, 0.8), ("abm", 5.6, 0.0))
    assert text.startswith("In float32 odds_first keeps 4.0 digits on robot; ")
    assert "odds_first is at fault: it keeps 1.6 digits fewer than abm. The condition" in text
    assert "The problem is at fault" not in text
    text = told(("crbm", 4.8, 0.2), ("abm", 5.6, 0.0))
    assert "The problem is at fault, and no order." in text
    text = told(("crbm", 1.0, 3.8), ("natural", 1.1, 3.7))
    assert "crbm is at fault: it loses 3.8 digits more than the 2.4" in text
    text = told(("crbm", 1.0, None), ("abm", 5.6, None), kappa=None)
    assert text.endswith("crbm is at fault: it keeps 4.6 digits fewer than abm.")


def test_a_single_refusal_is_told_whole_and_many_are_cut():
    def why(order):
        reason = "field 'inertia' (or 'mass') is singular"
        return Refusal("body 'x'", reason, "merge", f"and order {order!r} pivots on M_k")

    units = {"float32": 2.0**-24}
    one = verdict("robot", [row("abm", fill=5), row("lagrange", failed_at=why("l"))], {}, units)
    assert one.endswith(f"lagrange gives no answer: {why('l')}.")
    two = [row(name, failed_at=why(name)) for name in ("lagrange", "natural")]
    others = [row(f"o{i}", failed_at=f"reason {i}") for i in range(4)]
    text = verdict("robot", [row("abm", fill=5), *two, *others], {}, units)
    assert "lagrange, natural give no answer: body 'x': field 'inertia' (or 'mass') is singular." in text
    assert text.endswith("o2, o3 give none for reasons of their own.")
    assert verdict("robot", [row("abm", fill=5), *two, *others[:3]], {}, units).endswith(
        "o2 gives none for another reason."
    )


def test_costs_stand_in_the_table_though_the_first_format_fails():
    rows = (row("abm", "e4m3", failed_at="overflow"), row("abm", "float32", fill=5))
    (table,) = comparison_tables(Comparison("robot", 1, 1, rows), 200)
    assert [list(column.cells) for column in table.columns[1:5]] == [["5"]] * 4


@pytest.mark.product
@pytest.mark.parametrize("width", [66, 80, 100, 160])
def test_no_number_is_cut_in_a_terminal(width):
    """Nothing of a line of a table is replaced by dots, however long an order's name."""
    compared = analysis.compare(kkt.build(kkt.chain(3)), ["crbm", "modified_abm_stretched"])
    out = _Console(file=io.StringIO(), width=width, highlight=False, force_terminal=True)
    for table in comparison_tables(compared, width, bits=width != 80):
        out.print(table)
    text = out.file.getvalue()
    assert "…" not in text and "modified_abm_stretched" in text
    assert all(f"{row.error:.1e}" in text for row in compared.rows)


@pytest.mark.product
def test_what_was_not_asked_for_has_not_failed(run):
    code, out, _ = run("compare", "chain:2", "--orders", "abm", "--formats", "dd,float32", "--refine", "1")
    assert code == 0 and "abm +1" in out and "failed" not in out


def test_data_that_rounding_makes_singular_are_told_from_a_singular_robot(run, arm):
    code, _, err = run("solve", arm(mass=1e-300), "--format", "float32")
    assert code == 2 and "for the data rounded to float32; the joint-space inertia" in err
    assert run("solve", arm(mass=1e-300))[0] == 0


# -- blame ----------------------------------------------------------------------------------------


def test_every_name_of_a_formula_is_explained(run):
    code, out, _ = run("blame", MODELS["ur5"], "--order", "square_root_abm", "--json")
    found = json.loads(out)
    texts = [c["formula"] for c in found["top"]] + list(found["where"].values())
    used = {name for text in texts for name in re.findall(r"\bT\d+\b", text)}
    assert code == 0 and len(used) > 5 and used <= set(found["where"])
    _, out, _ = run("blame", MODELS["ur5"], "--order", "square_root_abm")
    explained = set(re.findall(r"^(T\d+) = ", out, re.MULTILINE))
    assert explained == set(re.findall(r"\bT\d+\b", out))


def test_nobody_is_blamed_for_an_exact_output(run, arm):
    code, out, _ = run("blame", arm(com=(0.0, 0.0, -1.0)), "--order", "abm")  # it hangs at rest
    assert code == 0 and "qdd_a is exact, so that no operation is to blame." in out
    assert "0.0e+00 of the largest" not in out


def test_an_overflow_of_the_shadow_too_is_no_right_value(run, arm):
    code, out, _ = run("blame", arm(mass=1e200), "--format", "float64", "--json")
    found = json.loads(out)
    assert code == 0 and found["ratio"] is None and found["top"]
    assert "nan" not in found["why"] and "became not a number" in found["why"]


def test_the_largest_rounding_against_the_error_is_no_culprit():
    found = analysis.blame(kkt.build(kkt.chain(3)), "abm")
    against = replace(found.top[0], share=-0.6)
    turned = replace(found, top=(against,), true_error=3e-3, unit=2.0**-24)
    assert "the largest, against the error, is" in turned.sentence
    assert "-60 % of the error" not in turned.sentence
    assert "5.0e+04 units of rounding" in turned.sentence


def test_a_share_of_nothing_has_no_sign():
    assert [percent(x) for x in (-1e-5, 1e-5, -0.021, 0.35)] == ["0.0 %", "0.0 %", "-2.1 %", "35 %"]


@pytest.mark.product
def test_formats_of_ones_own_are_told_in_units_of_theirs():
    chosen = Mixed("coarse sums", Binary("p24", 24), add=Binary("p12", 12))
    found = analysis.blame(kkt.build(kkt.chain(2)), "abm", chosen)
    units = re.search(r"([0-9.]+) units of rounding", found.sentence)
    assert float(units[1]) == pytest.approx(found.true_error * 2.0**12, abs=0.06)


def test_a_body_that_is_no_text_is_an_output():
    system = kkt.build(kkt.load("example3:m1=10,case=1"))
    body = system.tree.names[0]
    assert not isinstance(body, str)
    assert analysis.blame(system, "abm", output=body).output == f"qdd_{body}"


# -- the report -----------------------------------------------------------------------------------


@pytest.mark.product
def test_a_robot_that_overflows_double_double_has_a_report(run, arm):
    model = arm(mass=1e200)
    code, out, _ = run("report", model, "--states", "3", "--json", "-o", "report")
    found = json.loads(out)
    assert code == 0 and found["reference"]["certified"] == 0
    assert found["reference"]["smallest_error"] is None
    told = " ".join(found["verdict"])
    assert "or its reference in double-double overflows" in told  # the robot is not singular
    with open("report/report.html", encoding="utf-8") as page:
        assert "no answer that certified balls could be held against" in page.read()


def test_the_legend_explains_every_line_of_a_panel():
    shown = strips(robot_report(kkt.chain(2), "m", "abm", "float32", states=2)).legends[0].legend_handles
    asked = {handle.get_label(): handle for handle in shown}["digits asked for"]
    assert asked.get_color() == LIGHT.faint and asked.get_linestyle() == "-"


def test_a_report_takes_one_name():
    made = robot_report(kkt.chain(2), "m", "abm", "float32", states=2)
    assert (made.orders, made.formats) == (("abm",), ("float32",))


@pytest.mark.product
def test_an_order_of_ones_own_replays_from_the_folder(run, tmp_path):
    (tmp_path / "my orders.py").write_text(
        "def mine(structure):\n"
        "    return [[('pdd', k), ('qdd', k), ('f', k)] for k in structure.tip_to_base]\n"
    )
    asked = ["--orders", "my orders.py:mine", "--formats", "float32", "--states", "2", "-o", "deep/new"]
    code, out, _ = run("report", "chain:2", *asked, "--json")
    (cell,) = json.loads(out)["rows"]
    with chdir(tmp_path / "deep" / "new"):
        found = run(*shlex.split(cell["worst"]["replay"])[1:], "--json")
    assert (code, found[0]) == (0, 0)
    assert json.loads(found[1])["true_error"] == pytest.approx(cell["worst"]["error"], rel=1e-9)
