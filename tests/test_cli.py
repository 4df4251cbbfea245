"""The command line: documents, exit codes, and one line for whatever is wrong with the input.

Keys, exit codes and the form of refusals are the published contract of the commands.
"""

import copy
import json
import math
import os
import subprocess
import sys
from decimal import Decimal

import pytest
from helpers import MODELS, ROOT, printed

from pivotree import orderings
from pivotree.analysis import cli

COMPARE = {"model", "bodies", "dof", "kappa", "kappa_inertia", "rows"}
ROW = {
    "order", "format", "fill_blocks", "fill_entries", "flops", "height", "error", "digits",
    "cancelled_bits", "absorbed_bits", "failed_at", "lost_by_order", "backward_error", "marked",
    "cancelled_by_order", "cancelled_by_format", "left_by_format", "residues", "vanished",
    "radius_bits",
}  # fmt: skip
SOLVE = {"model", "order", "format", "qdd", "error", "certified_digits", "marked", "backward_error"}


@pytest.fixture
def run(capsys):
    """Run a command in this process: exit code, standard output, standard error."""

    def call(*arguments):
        capsys.readouterr()
        try:
            code = cli.main([str(a) for a in arguments])
        except SystemExit as stop:  # argparse
            code = stop.code
        return (code, *capsys.readouterr())

    return call


@pytest.fixture
def refused(run):
    """The one line of a refusal: exit 2, nothing on standard output, no traceback."""

    def call(*arguments):
        code, out, err = run(*arguments)
        assert code == 2 and out == ""
        (line,) = err.splitlines()
        assert line.startswith("pivotree: ") and "Traceback" not in err
        return line.removeprefix("pivotree: ")

    return call


def document(text):
    """One strict JSON document and nothing else: NaN and Infinity are no JSON."""

    def refuse(word):
        raise AssertionError(word)

    return json.loads(text, parse_constant=refuse)


# -- documents ----------------------------------------------------------------------------------


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


def test_compare_json_of_a_failed_elimination(run):
    code, out, _ = run(
        "compare", "example3:m1=1e8,case=2", "--orders", "crbm,modified_abm",
        "--formats", "float32", "--json",
    )  # fmt: skip
    crbm, modified = document(out)["rows"]
    assert code == 0 and set(crbm) == set(modified) == ROW
    assert crbm["error"] is None and crbm["digits"] is None and "qdd_2" in crbm["failed_at"]
    assert modified["failed_at"] is None and modified["error"] < 1e-6


@pytest.mark.thorough
def test_compare_runs_every_order_by_default(run):
    code, out, _ = run("compare", MODELS["ur5"], "--formats", "float64", "--json")
    assert code == 0
    assert [row["order"] for row in document(out)["rows"]] == orderings.names()


@pytest.mark.slow
def test_compare_prints_a_table_and_a_verdict(run, tmp_path):
    folder = tmp_path / "new" / "figures"
    code, out, _ = run("compare", "chain:12", "--orders", "crbm,abm", "-o", folder)
    assert code == 0
    for word in ("crbm", "abm", "float32", "float64", "keeps", "12 bodies"):
        assert word in out
    assert any(folder.iterdir()) and all(path.stat().st_size > 0 for path in folder.iterdir())


@pytest.mark.thorough
def test_solve_json(run):
    code, out, _ = run("solve", MODELS["panda"], "--json")
    result = document(out)
    assert code == 0 and set(result) == SOLVE
    assert (result["model"], result["order"], result["format"]) == (
        str(MODELS["panda"]), "abm", "float64",
    )  # fmt: skip
    exact = [float(x) for x in printed("panda")]
    assert all(abs(x - y) <= 1e-13 * 25 for x, y in zip(result["qdd"], exact, strict=True))
    assert 0 <= result["error"] <= 1e-14 and result["certified_digits"] >= 17


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
    assert code == 0 and len(lines) == 7 and "certified" in lines[-1]
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
    assert code == 0 and [row["order"] for row in rows] == list(orderings.ORDERS)
    assert all(row["source"] for row in rows)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "suffix,start", [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml"), ("tex", b"")]
)
def test_spy_writes_every_kind_of_file(run, tmp_path, suffix, start):
    path = tmp_path / f"fig.{suffix}"
    code, out, _ = run("spy", "chain:3", "--order", "crbm", "--step", "2", "-o", path)
    assert code == 0 and out == ""
    content = path.read_bytes()
    assert content.startswith(start) and len(content) > 200
    if suffix == "tex":
        assert b"tikz" in content


@pytest.mark.parametrize(
    "arguments",
    [["solve", "chian:3"], ["compare", "chian:3"], ["spy", "chian:3", "-o", "x.svg"]],
)
def test_a_refusal_is_one_line_without_an_empty_one(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "") and err.startswith("pivotree: ") and err.count("\n") == 1


def test_success_without_a_terminal_prints_no_progress(run):
    assert run("solve", "chain:2", "--json")[2] == ""


# -- refusals: models ---------------------------------------------------------------------------

GOOD = {
    "schema": "pivotree-model/1",
    "name": "two",
    "gravity": [0, 0, -9.81],
    "bodies": [
        {
            "name": name, "parent": parent, "R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
            "p": [0.5, 0, 0], "S": [[0], [1], [0], [0], [0], [0]], "mass": 1.0,
            "com": [0.2, 0, 0], "inertia_com": [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]],
        }
        for name, parent in (("upper", None), ("lower", "upper"))
    ],
    "velocity": [0.1, 0.2],
    "effort": [0, 0],
}  # fmt: skip


@pytest.fixture
def model(tmp_path):
    """A model file with one thing changed."""

    def put(body=None, top=None, **fields):
        changed = copy.deepcopy(GOOD) | (top or {})
        if body is not None:
            changed["bodies"][body].update(fields)
        path = tmp_path / "model.json"
        path.write_text(json.dumps(changed))
        return path

    return put


URDF = """<robot name="r">
<link name="base"/>
<link name="a">{inertial}</link>
<link name="b">{inertial}</link>
<joint name="j1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="{axis}"/>
<limit effort="1" velocity="1" lower="-1" upper="1"/></joint>
<joint name="j2" type="continuous"><parent link="{parent}"/><child link="{child}"/>
<axis xyz="0 0 1"/></joint>{more}
</robot>"""
INERTIAL = (
    '<inertial><mass value="{}"/><origin xyz="0.1 0.1 0"/><inertia ixx="1" iyy="1" izz="1" '
    'ixy="0" ixz="0" iyz="0"/></inertial>'
)


@pytest.fixture
def urdf(tmp_path):
    def put(mass="1", axis="0 1 0", parent="a", child="b", more="", text=None):
        path = tmp_path / "robot.urdf"
        fields = {"axis": axis, "parent": parent, "child": child, "more": more}
        path.write_text(text or URDF.format(inertial=INERTIAL.format(mass), **fields))
        return path

    return put


def test_the_good_files_are_good(run, model, urdf):
    for path in (model(), urdf()):
        code, out, err = run("solve", path, "--json")
        assert code == 0 and len(document(out)["qdd"]) == 2 and "warning" not in err


MODEL_FAULTS = {
    "cycle": ({"body": 0, "parent": "lower"}, ["cycle", "upper", "lower"]),
    "its own parent": ({"body": 0, "parent": "upper"}, ["cycle", "upper"]),
    "unknown parent": ({"body": 1, "parent": "uper"}, ["'lower'", "parent 'uper' is unknown"]),
    "repeated name": ({"body": 1, "name": "upper"}, ["'upper'", "twice"]),
    "negative mass": ({"body": 1, "mass": -2.5}, ["'lower'", "'mass'", "-2.5"]),
    "NaN mass": ({"body": 1, "mass": float("nan")}, ["NaN", "finite"]),
    "no mass": ({"body": 1, "mass": None}, ["'lower'", "'mass'", "null"]),
    "rank of S": (
        {"body": 1, "S": [[0, 0], [1, 2], [0, 0], [0, 0], [0, 0], [0, 0]],
         "top": {"velocity": [0] * 3, "effort": [0] * 3}},
        ["'lower'", "'S'", "rank 1", "2 columns"],
    ),
    "zero S": ({"body": 1, "S": [[0]] * 6}, ["'lower'", "'S'", "rank 0"]),
    "no rotation": ({"body": 1, "R": [[1, 0, 0], [0, 1, 0], [0, 0, 2]]}, ["'lower'", "'R'"]),
    "skew inertia": (
        {"body": 0, "inertia_com": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}, ["'upper'", "symmetric"],
    ),
    "rates": ({"top": {"velocity": [0.1]}}, ["'velocity'", "1 entries, not 2"]),
    "efforts": ({"top": {"effort": [0, 0, 0]}}, ["'effort'", "3 entries, not 2"]),
    "schema": ({"top": {"schema": "robot/7"}}, ["'schema'", "robot/7", "pivotree-model/1"]),
    "no bodies": ({"top": {"bodies": []}}, ["'bodies'"]),
}  # fmt: skip


@pytest.mark.parametrize("fault", MODEL_FAULTS)
def test_faults_of_model_files(refused, model, fault):
    change, words = MODEL_FAULTS[fault]
    path = model(**change)
    line = refused("solve", path, "--json")
    assert str(path) in line and all(word in line for word in words), line


URDF_FAULTS = {
    "two parents": ({"parent": "base", "child": "a"}, ["'a'", "two"]),
    "cycle": (
        {"more": '<joint name="j3" type="fixed"><parent link="b"/><child link="base"/></joint>'},
        ["cycle"],
    ),
    "unknown parent": ({"parent": "nobody"}, ["'j2'", "nobody"]),
    "unknown child": ({"child": "nobody"}, ["'j2'", "nobody"]),
    "repeated link": ({"more": '<link name="a"/>'}, ["'a'", "twice"]),
    "negative mass": ({"mass": "-1"}, ["mass", "-1"]),
    "NaN mass": ({"mass": "nan"}, ["mass", "nan"]),
    "words for mass": ({"mass": "heavy"}, ["mass", "heavy"]),
    "zero axis": ({"axis": "0 0 0"}, ["'j1'", "axis"]),
    "axis of two": ({"axis": "0 1"}, ["'j1'", "axis"]),
    "malformed": ({"text": "<robot name='r'><link name='a'></robot>"}, ["line 1"]),
    "not XML": ({"text": "solid cube"}, ["XML"]),
    "no robot": ({"text": "<html/>"}, ["robot"]),
}


@pytest.mark.parametrize("fault", URDF_FAULTS)
def test_faults_of_urdf_files(refused, urdf, fault):
    change, words = URDF_FAULTS[fault]
    path = urdf(**change)
    line = refused("compare", path, "--orders", "abm")
    assert str(path) in line and all(word in line for word in words), line


@pytest.mark.parametrize(
    "spec,words",
    [
        ("chian:5", ["'chian'", "chain"]),
        ("chain:five", ["five", "whole number"]),
        ("chain", ["'n'"]),
        ("missing.urdf", ["missing.urdf", "does not exist"]),
        ("no/such/model.json", ["no/such/model.json", "does not exist"]),
        ("robot:r2d2", ["r2d2"]),
    ],
)
def test_models_that_are_not_there(refused, spec, words):
    line = refused("solve", spec)
    assert all(word in line for word in words), line


@pytest.mark.parametrize("text", ["{", "[1, 2", "\x00", '{"schema": }'])
def test_files_that_are_not_json(refused, tmp_path, text):
    path = tmp_path / "broken.json"
    path.write_text(text)
    line = refused("solve", path)
    assert str(path) in line and "JSON" in line


# -- refusals: inertias -------------------------------------------------------------------------


def test_an_impossible_inertia_is_a_warning_and_an_answer(run, model):
    path = model(body=1, inertia_com=[[1, 0, 0], [0, 1, 0], [0, 0, 5]])
    code, out, err = run("solve", path, "--json")
    assert code == 0 and len(document(out)["qdd"]) == 2
    (line,) = [line for line in err.splitlines() if "warning" in line]
    assert "'lower'" in line and "'inertia'" in line and "triangle" in line


def test_an_indefinite_inertia_is_refused_by_the_orders_that_pivot_on_it(run, refused, model):
    path = model(body=1, inertia_com=[[-1, 0, 0], [0, 1, 0], [0, 0, 1]])
    code, out, err = run("solve", path, "--order", "abm", "--json")
    assert code == 0 and len(document(out)["qdd"]) == 2 and "warning" in err
    code, out, err = run("solve", path, "--order", "virtual_work", "--json")
    assert code == 2 and out == "" and "Traceback" not in err
    (line,) = [line for line in err.splitlines() if "warning" not in line]
    for word in ("'lower'", "'inertia'", "not positive definite", "virtual_work", "abm"):
        assert word in line


@pytest.mark.thorough
def test_a_comparison_keeps_the_orders_that_work(run, model):
    path = model(body=1, inertia_com=[[-1, 0, 0], [0, 1, 0], [0, 0, 1]])
    code, out, _ = run(
        "compare", path, "--orders", "abm,virtual_work", "--formats", "float64", "--json"
    )
    abm, virtual_work = document(out)["rows"]
    assert code == 0 and abm["failed_at"] is None and abm["error"] < 1e-12
    assert virtual_work["error"] is None and "'lower'" in virtual_work["failed_at"]


def test_a_massless_link_with_a_joint_is_named(refused, model):
    path = model(body=1, mass=0, inertia_com=[[0] * 3] * 3)
    line = refused("solve", path)
    assert "lower" in line and "inertia" in line


# -- refusals: options --------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["q", "qd", "tau"])
@pytest.mark.parametrize(
    "text,words",
    [("1,2", ["3 numbers"]), ("1,2,3,4", ["3 numbers"]), ("1,2,x", ["no list of numbers"]),
     ("1,nan,3", ["nan", "finite"])],
)  # fmt: skip
def test_states_of_the_wrong_length(refused, field, text, words):
    line = refused("solve", "chain:3", f"--{field}={text}")
    assert f"{field}" in line and all(word in line for word in words), line


@pytest.mark.parametrize("command", ["solve", "compare", "spy"])
def test_unknown_orders(refused, command, tmp_path):
    option = "--orders" if command == "compare" else "--order"
    extra = ["-o", tmp_path / "x.svg"] if command == "spy" else []
    line = refused(command, "chain:3", option, "amb", *extra)
    assert "'amb'" in line and "nearest: " in line and "abm" in line


@pytest.mark.parametrize("command", ["solve", "compare", "spy"])
def test_infeasible_orders(refused, command, tmp_path):
    order = tmp_path / "own.json"
    order.write_text(json.dumps([[[k, b]] for b in ("j2", "j1") for k in ("pdd", "qdd", "f")]))
    option = "--orders" if command == "compare" else "--order"
    extra = ["-o", tmp_path / "x.svg"] if command == "spy" else []
    line = refused(command, "chain:2", option, order, *extra)
    assert "pivot qdd_j2 at step 2 is structurally zero" in line
    assert "eliminate pdd_j2 and f_j2 first" in line


@pytest.mark.parametrize(
    "arguments,words",
    [
        (["solve", "chain:3", "--format", "float128"], ["'float128'", "float32"]),
        (["compare", "chain:3", "--formats", "float32,half"], ["'half'"]),
        (["compare", "chain:3", "--formats", ","], ["--formats", "empty"]),
        (["compare", "chain:3", "--orders", ""], ["--orders", "empty"]),
        (["solve", "chain:3", "--order", "inverse_dynamics"], ["inverse_dynamics", "abm"]),
        (["solve"], ["MODEL"]),
        (["solve", "chain:3", "--colour"], ["--colour"]),
        (["sovle", "chain:3"], ["sovle"]),
        (["spy", "chain:3"], ["--output"]),
        (["solve", "example3:m1=1e8", "--order", "crbm", "--format", "float32"], ["qdd_2", "zero"]),
    ],
)
def test_options_that_are_wrong(refused, arguments, words):
    line = refused(*arguments)
    assert all(word in line for word in words), line


@pytest.mark.parametrize("below", ["folder", "folder/deeper"])
def test_an_output_folder_that_cannot_be(refused, tmp_path, below):
    """A file stands where a folder should: no one may write below it, not even root."""
    (tmp_path / "taken").write_text("a file")
    target = tmp_path / "taken" / below
    line = refused("compare", "chain:3", "--orders", "abm", "-o", target)
    assert str(target) in line and "cannot be written" in line
    line = refused("spy", "chain:3", "-o", target / "x.svg")
    assert "taken" in line


@pytest.mark.parametrize("step", ["-1", "4"])
def test_spy_refuses_steps_that_are_not_there(refused, tmp_path, step):
    line = refused("spy", "chain:3", f"--step={step}", "-o", tmp_path / "x.svg")
    assert "--step" in line and "0 to 3" in line and not any(tmp_path.iterdir())


def test_spy_refuses_an_unknown_kind_of_file(refused, tmp_path):
    line = refused("spy", "chain:3", "-o", tmp_path / "x.bmp")
    assert "x.bmp" in line and "svg" in line and not any(tmp_path.iterdir())


# -- real processes -----------------------------------------------------------------------------


def process(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.mark.thorough
def test_a_process_that_solves():
    done = process("-m", "pivotree", "solve", str(MODELS["ur5"]), "--json")
    assert done.returncode == 0 and set(document(done.stdout)) == SOLVE
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_importing_the_library_draws_nothing():
    """matplotlib and sympy are for those who draw and prove."""
    code = "from pivotree import kkt; print({'matplotlib', 'sympy'} & set(sys.modules))"
    done = process("-c", f"import sys; {code}")
    assert done.stdout.strip() == "set()"


def test_a_comparison_without_an_answer_exits_with_1(run):
    code, out, _ = run("compare", "example3:m1=1e9,case=1", "--orders", "crbm", "--formats",
                       "float32", "--json")  # fmt: skip
    (row,) = document(out)["rows"]
    assert code == 1 and row["error"] is None and "qdd_2" in row["failed_at"]
