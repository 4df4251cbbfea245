"""The command line: documents, exit codes, and one line for whatever is wrong with the input.

Keys, exit codes and the form of refusals are the published contract of the commands.
"""

import argparse
import json
import math
import subprocess
import sys
from decimal import Decimal

import pytest
from helpers import MODELS, ROOT, printed

from pivotree import orderings
from pivotree.analysis.cli.parser import parser

COMPARE = {"model", "state", "bodies", "dof", "kappa", "kappa_inertia", "rows"}
ROW = {
    "order",
    "format",
    "fill_blocks",
    "fill_entries",
    "flops",
    "height",
    "error",
    "digits",
    "cancelled_bits",
    "absorbed_bits",
    "failed_at",
    "lost_by_order",
    "backward_error",
    "marked",
    "cancelled_by_order",
    "cancelled_by_format",
    "left_by_format",
    "residues",
    "vanished",
    "radius_bits",
}
SOLVE = {"model", "state", "order", "format", "qdd", "error", "certified_digits", "marked", "backward_error"}


def document(text):
    """One strict JSON document and nothing else: NaN and Infinity are no JSON."""

    def refuse(word):
        raise AssertionError(word)

    return json.loads(text, parse_constant=refuse)


# -- documents ----------------------------------------------------------------------------------


@pytest.mark.product
def test_compare_json(run):
    code, out, _ = run(
        "compare", "chain:10", "--orders", "crbm,abm", "--formats", "float32,float64", "--json"
    )
    result = document(out)
    assert code == 0 and set(result) == COMPARE
    assert (result["model"], result["bodies"], result["dof"]) == ("chain:10", 10, 10)
    pairs = [(row["order"], row["format"]) for row in result["rows"]]
    assert pairs == [(o, f) for o in ("crbm", "abm") for f in ("float32", "float64")]
    for row in result["rows"]:
        assert set(row) == ROW and row["failed_at"] is None
        # n - r and twice the number of body-ancestor pairs
        assert row["fill_blocks"] == {"abm": 9, "crbm": 2 * 45}[row["order"]]
        assert row["flops"] > 0 and row["height"] == 30
        assert 0 < row["error"] < {"float32": 1e-3, "float64": 1e-11}[row["format"]]
        assert 3 < row["digits"] < 17
    crbm, abm = (row for row in result["rows"] if row["format"] == "float32")
    assert crbm["error"] > 10 * abm["error"] and crbm["digits"] < abm["digits"]


@pytest.mark.product
def test_compare_json_of_a_failed_elimination(run):
    code, out, _ = run(
        "compare", "example3:m1=1e8,case=2", "--orders", "crbm,modified_abm", "--formats", "float32", "--json"
    )
    crbm, modified = document(out)["rows"]
    assert code == 0 and set(crbm) == set(modified) == ROW
    assert crbm["error"] is None and crbm["digits"] is None and "qdd_2" in crbm["failed_at"]
    assert modified["failed_at"] is None and modified["error"] < 1e-6


@pytest.mark.product
def test_compare_runs_every_order_by_default(run):
    code, out, _ = run("compare", MODELS["ur5"], "--formats", "float64", "--json")
    assert code == 0
    assert [row["order"] for row in document(out)["rows"]] == orderings.names()


@pytest.mark.product
def test_compare_prints_a_table_and_a_verdict(run, tmp_path):
    folder = tmp_path / "new" / "figures"
    code, out, _ = run("compare", "chain:12", "--orders", "crbm,abm", "-o", folder)
    assert code == 0
    for word in ("crbm", "abm", "float32", "float64", "keeps", "12 bodies"):
        assert word in out
    assert any(folder.iterdir()) and all(path.stat().st_size > 0 for path in folder.iterdir())


@pytest.mark.uncached
def test_solve_json(run):
    code, out, _ = run("solve", MODELS["panda"], "--json")
    result = document(out)
    assert code == 0 and set(result) == SOLVE
    assert (result["model"], result["order"], result["format"]) == (str(MODELS["panda"]), "abm", "float64")
    exact = [float(x) for x in printed("panda")]
    assert all(abs(x - y) <= 1e-13 * 25 for x, y in zip(result["qdd"], exact, strict=True))
    assert 0 <= result["error"] <= 1e-14 and result["certified_digits"] >= 17


@pytest.mark.product
@pytest.mark.parametrize("format", ["mp:50", "ball:45", "exact"])
def test_solve_json_beyond_double_precision_is_decimal_strings(run, format):
    code, out, _ = run("solve", MODELS["ur5"], "--order", "crbm", "--format", format, "--json")
    result = document(out)
    assert code == 0 and result["format"] == format and result["error"] < 1e-39
    for text, exact in zip(result["qdd"], printed("ur5"), strict=True):
        assert isinstance(text, str)
        assert abs(Decimal(text) - Decimal(exact)) <= abs(Decimal(exact)) * Decimal("1e-39")


def test_solve_takes_a_state(run):
    """qdd of a point pendulum: (tau - m g l sin q) / (m l^2), gravity along -z, axis y."""
    code, out, _ = run("solve", "chain:1,axes=y", "--q=0.5", "--qd", "0", "--tau", "0.25", "--json")
    m, half, width, g = 1.0, 0.05, 0.02, 9.81
    inertia = m * (0.1**2 + width**2) / 12 + m * half**2
    # a turn by q about y lowers the rod, which lies along x, by half sin q
    exact = (0.25 + m * g * half * math.cos(0.5)) / inertia
    assert code == 0 and abs(document(out)["qdd"][0] / exact - 1) < 1e-13


def test_solve_prints_one_line_a_joint(run):
    code, out, _ = run("solve", MODELS["ur5"])
    lines = out.splitlines()
    assert code == 0 and len(lines) == 8 and "certified" in lines[-2]
    for line, exact in zip(lines, printed("ur5"), strict=False):
        assert abs(float(line.split("\t")[1]) - float(exact)) < 1e-12


def test_solve_with_a_users_order(run, tmp_path):
    (tmp_path / "own.py").write_text(
        "def mine(s):\n    return [[('pdd', k), ('qdd', k), ('f', k)] for k in s.tip_to_base]\n"
    )
    code, out, _ = run("solve", MODELS["ur5"], "--order", f"{tmp_path}/own.py:mine", "--json")
    abm = document(run("solve", MODELS["ur5"], "--json")[1])
    assert code == 0 and document(out)["order"] == "mine" and document(out)["qdd"] == abm["qdd"]


def test_orders(run):
    code, out, _ = run("orders")
    assert code == 0
    for name in orderings.ORDERS:
        assert name in out
    assert "Featherstone 1983" in out and "Walker & Orin 1982" in out


def test_orders_json(run):
    code, out, _ = run("orders", "--json")
    rows = document(out)
    assert code == 0 and [row["order"] for row in rows] == list(orderings.ORDERS | orderings.LOOPS)
    assert all(row["source"] for row in rows)


@pytest.mark.product
@pytest.mark.parametrize(
    "suffix,start", [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml"), ("tex", b"")]
)
def test_spy_writes_every_kind_of_file(run, tmp_path, suffix, start):
    path = tmp_path / f"fig.{suffix}"
    code, out, _ = run("spy", "chain:3", "--order", "crbm", "--step", "2", "-o", path)
    assert code == 0 and out.startswith(f"{path} (")
    content = path.read_bytes()
    assert content.startswith(start) and len(content) > 200
    if suffix == "tex":
        assert b"tikz" in content


@pytest.mark.parametrize(
    "arguments", [["solve", "chian:3"], ["compare", "chian:3"], ["spy", "chian:3", "-o", "x.svg"]]
)
def test_a_refusal_is_one_line_without_an_empty_one(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "") and err.startswith("pivotree: ") and err.count("\n") == 1


def test_success_without_a_terminal_prints_no_progress(run):
    assert run("solve", "chain:2", "--json")[2] == ""


# -- real processes -----------------------------------------------------------------------------


def process(*arguments):
    return subprocess.run(
        [sys.executable, "-P", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


@pytest.mark.product
def test_a_process_that_solves():
    done = process("-m", "pivotree", "solve", str(MODELS["ur5"]), "--json")
    assert done.returncode == 0 and set(document(done.stdout)) == SOLVE
    assert "Traceback" not in done.stderr


@pytest.mark.product
def test_a_process_that_refuses():
    done = process("-m", "pivotree", "solve", "chain:3", "--order", "amb")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "nearest: " in done.stderr


def test_help_loads_nothing_heavy():
    heavy = ("numpy", "scipy", "sympy", "matplotlib", "numba", "networkx", "flint", "mpmath")
    code = (
        "import sys\nfrom pivotree.analysis import cli\n"
        "try:\n    cli.main(['--help'])\n"
        "except SystemExit as stop:\n    print(stop.code)\n"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = process("-c", code)
    lines = done.stdout.splitlines()
    assert lines[-2:] == ["0", "[]"], done.stdout[-300:] + done.stderr
    assert all(command in done.stdout for command in ("compare", "solve", "spy", "orders"))


@pytest.mark.product
def test_importing_the_library_draws_nothing():
    """matplotlib and sympy are for those who draw and prove."""
    code = "from pivotree import kkt; print({'matplotlib', 'sympy'} & set(sys.modules))"
    done = process("-c", f"import sys; {code}")
    assert done.stdout.strip() == "set()"


def test_a_comparison_without_an_answer_exits_with_1(run):
    code, out, _ = run(
        "compare", "example3:m1=1e9,case=1", "--orders", "crbm", "--formats", "float32", "--json"
    )
    (row,) = document(out)["rows"]
    assert code == 1 and row["error"] is None and "qdd_2" in row["failed_at"]


def test_help_says_what_is_a_program_and_is_run():
    """Where an order of one's own, or a xacro file, may be given."""
    commands = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    found = 0
    for command in commands.choices.values():
        for action in command._actions:
            told = action.help or ""
            if action.metavar == "MODEL" and ".xacro" in told:
                found += "a .xacro file is a program" in told
                assert "program" in told
            if ".py:" in told.lower():
                found += 1
                assert "is run" in told.replace("\n", " "), told
    assert found > 12
