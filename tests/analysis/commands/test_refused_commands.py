"""Commands refuse what is wrong in one line, and write nothing: options, files of robots, loops."""

import copy
import json
from pathlib import Path

import pytest
from test_cli import document

from pivotree import kkt
from pivotree.analysis.cli import main

# -- options: what is told, and the command; files that it reads are in FILES ---------------------

REFUSED = {
    # -- compare, solve, spy, blame
    "order 'abm': is asked for twice; give each": "compare chain:2 --orders abm,abm",
    "format 'float32': is asked for twice; give": "compare chain:2 --formats float32,float32",
    "compares digits alone, without --refine; leave": "compare chain:2 --derivatives --refine 1",
    "option --frames: 'bent' is unknown; use given, aligned": "compare chain:2 --frames bent",
    "option --refine: 101 is no number of corrections; use 0 to": "solve chain:2 --refine 101",
    "option --residual: 'x' is unknown; use dynamics or": "solve chain:2 --residual x",
    "option --certify: 0 is no number of digits; use 1 to": "solve chain:2 --certify 0",
    "order 'crbm' in float32: pivot qdd_2, step 4: zero; use another order": (
        "solve example3:m1=1e8 --order crbm --format float32"
    ),
    "order 'crbm' in float16: pivot": (
        "solve example3:m1=1e4 --contact 2 --proximal 1e-4 --order crbm --format float16"
    ),
    "iterates by itself, and not with --certify": ("solve chain:2 --contact j2 --proximal 1e-4 --certify 5"),
    "option --step: 4 is outside this order's steps; use 0 to 3": "spy chain:3 --step 4 -o x.svg",
    "suffix '.bmp' is unknown; use .png, .pdf": "spy chain:3 -o x.bmp",
    "option --top: is 0; give at least 1": "blame chain:2 --top 0",
    "has no joint that moves, and so no acceleration": "blame still.json",
    "output 'j1': is no derivative here; use dq": "blame chain:2 --derivatives --output j1",
    "output 'j9': is no joint acceleration here; use a body": "blame chain:2 --output j9",
    # -- export, tune
    "a file in fixed32 has qdd as its only output": ("export chain:2 --format fixed32 --wrench -o x.c"),
    "option --cost: 'x' is unknown; use flops": "tune chain:2 --cost x",
    "option --composites: 'x' is unknown; use rigid or general": "tune chain:2 --composites x",
    "option --format: 'float16' cannot be timed; use float32 or": "tune chain:2 --format float16",
    "option --most: is 0; give 1 order or more": "tune chain:2 --most 0",
    "x.txt is no name of an order file; give one that ends in .json": "tune chain:2 -o x.txt",
    # -- figure
    "option --width: 'triple' is unknown; use": "figure matrix chain:2 --width triple -o x.pdf",
    "option --font: 'comic' is unknown; use": "figure matrix chain:2 --font comic -o x.pdf",
    "this kind shows one order, not 2; name one": "figure trees chain:2 --orders abm,crbm -o x.pdf",
    "option --step: 9 is outside this order's steps": "figure trees chain:2 --step 9 -o x.pdf",
    "kind 'trees' does not move; use kind film": "figure trees chain:2 -o x.gif",
    "kind 'digits' has no LaTeX; write a .pdf, or": "figure digits chain:2 -o x.tex",
    "block rows leave no room for symbols of 5 pt": "figure matrix chain:9 --width single -o x.pdf",
    "block rows are too many to be set as symbols (at most": "figure matrix chain:40 -o x.pdf",
    "nothing to hold against exact arithmetic": ("figure cancelled chain:2 --format exact -o x.pdf"),
    # -- report
    "is found for the digits of qdd, not of its derivatives": ("report chain:2 --armature --derivatives"),
    "format 'exact': a report needs formats of a fixed": "report chain:2 --formats exact -o r",
    "order 'inverse_dynamics': solves for tau, not for qdd": (
        "report chain:2 --orders inverse_dynamics -o r"
    ),
    "still.json: has no joint that moves; a report needs": "report still.json -o r",
    "no order that was asked for remains": "report light.json --orders virtual_work -o r",
    "option --states: 0 is no number of states; use 1 to": "report chain:2 --states 0 -o r",
    "option --states: 10000000 states of 30 joints": (
        "report chain:30 --states 10000000 --yes --orders abm,crbm --formats float32,tf32 -o r"
    ),
    "option --seed: -1 is no seed; use a whole number": "report chain:2 --seed -1 -o r",
    "option --digits: 99.0 is out of range; use 1 to 15": "report chain:2 --digits 99 -o r",
    "output folder taken: is not empty; give another": "report chain:2 -o taken",
    "format 'float32': is asked for twice; give each one once": (
        "report chain:2 --formats float32,float32 -o r"
    ),
    # -- simulate
    "option --frames: is 'bent'; use": "simulate chain:2 --frames bent",
    "integrator 'euler': is unknown; use": "simulate chain:2 --integrator euler",
    "option --eps: is 0.0; give a number above 0": "simulate chain:2 --eps 0",
    "option --steps: is 0; give 1 or more": "simulate chain:2 --steps 0",
    "steps in 10 s; give a longer one": "simulate chain:2 --integrator midpoint --step 1e-9",
    "option --state-type: is 'float16'; use float64 or": "simulate chain:2 --state-type float16",
    "option --clock: is Cash-Karp's alone": "simulate chain:2 --integrator RK45 --clock float32",
    "there is no dense method 'qr'; use": "simulate chain:2 --order crbm+qr",
    "option --seed: -1 is no seed; give a whole number": "simulate chain:2 --seed -1",
    "option --runs: is 0; give 1 or more": "simulate chain:2 --runs 0",
    "option --runs: is 1000000000; give 1 to": "simulate chain:2 --runs 1000000000",
    "integrator midpoint: needs joints whose rates are": (
        "simulate chain:2,joint=spherical --integrator midpoint --seconds 0.01"
    ),
    # -- guarantee
    "option --seed: -1 is negative; use 0 or more": "guarantee chain:2 --seed -1",
    "option --states: -1 is no number of states": "guarantee chain:2 --states -1",
    "binary points take no payloads in a range": ("guarantee chain:2 --formats fixed32 --payload j2=0:1"),
    "are promised 15 digits of pivots and qdd": (
        "guarantee chain:2 --digits 15 --orders abm --formats float32"
    ),
    # -- list, counts, prove
    "notation 'mine' is unknown; use ascher": "list chain:2 --notation mine",
    "pairs of blocks on this tree, too many to read": "list chain:1500 --order crbm --yes",
    "derivatives are listed for trees without closed loops": "list four_bar --derivatives",
    "solves for tau; list the derivatives of abm's qdd": (
        "list chain:2 --order inverse_dynamics --derivatives"
    ),
    "order 'virtual_work' pivots on M_k at step 2": "counts --orders virtual_work",
    "there is no statement 'equation (99)'; nearest": "prove --only equation~(99)",
    # -- sweep
    "option --jobs: is 0; give 1 to": "sweep c.toml --jobs 0",
    "c.toml: models[0]: contact: body 'j9' is unknown": "sweep c.toml",
    "is 'x'; give a name that ends in .csv or .parquet": "sweep named.toml",
    "s.csv: holds other columns than this sweep (lacks": "sweep taken.toml",
    "s.parquet: cannot be read as a sweep's .parquet": "sweep parquet.toml",
    # -- options that do not go together
    "option --states: leave out --frames": "compare chain:2 --states 2 --frames aligned",
    "option --states: draws its states; leave out --qd": "compare chain:2 --states 2 --qd 0,0",
    "option --armature: writes nothing; leave -o out": "report chain:2 --armature -o out",
    "option --item: belongs to one paper; name it": "reproduce all --item equations",
    "option --set: 'x' is no setting; give NAME=VALUE": ("reproduce ascher1996 --item equations --set x"),
    "option -o: page.txt is no page; give a name that ends in .md": "counts -o page.txt",
    "option -o: writes the page of all orders; leave out": "counts --orders abm -o page.md",
    "option -o: writes a page and serves none": "explore chain:2 -o page.html --port 8000",
    "figure: KIND is missing; give KIND MODEL -o FILE": "figure",
    "option --digits: formats are chosen for one": "guarantee chain:2 --digits 3 --orders crbm",
    "option --limits: 'j1' is no range; write j1=-1:1": "guarantee chain:2 --limits j1",
    "hands the work to a cluster; leave one of them out": ("sweep c.toml --jobs 2 --scheduler tcp://x"),
}
SWEEP = 'output = "%s"\nmodels = [%s]\norders = ["abm"]\n'
FILES = {
    "c.toml": SWEEP % ("s.csv", '{ model = "chain:3", contact = "j9" }'),
    "named.toml": SWEEP % ("x", '"chain:3"'),
    "taken.toml": SWEEP % ("taken/s.csv", '"chain:3"'),
    "parquet.toml": SWEEP % ("taken/s.parquet", '"chain:3"'),
    "taken/s.csv": "key,other\n",
    "taken/s.parquet": "none",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refused")
    (folder / "taken").mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    tree = kkt.new_tree("still")
    kkt.add_body(tree, "b", mass=1.0, inertia=kkt.chain(1).nodes["j1"]["inertia"], joint="fixed")
    kkt.write_model(folder / "still.json", kkt.build(tree).state)
    tree = kkt.chain(3)
    tree.nodes["j2"].update(mass=0.0, inertia=0.0 * tree.nodes["j2"]["inertia"])
    kkt.write_model(folder / "light.json", kkt.build(tree).state)
    return folder


@pytest.mark.product
@pytest.mark.parametrize("told", REFUSED)
def test_a_refusal_of_an_option_is_one_line(told, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    there = sorted(Path().rglob("*"))
    assert main([word.replace("~", " ") for word in REFUSED[told].split()]) == 2
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if not line.startswith("pivotree: ... ")]
    assert out == "" and len(lines) == 1 and told in lines[0] and len(lines[0]) < 520, err
    assert sorted(Path().rglob("*")) == there


# -- files of robots -----------------------------------------------------------------------------

GOOD = {
    "schema": "pivotree-model/1",
    "name": "two",
    "gravity": [0, 0, -9.81],
    "bodies": [
        {
            "name": name,
            "parent": parent,
            "R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
            "p": [0.5, 0, 0],
            "S": [[0], [1], [0], [0], [0], [0]],
            "mass": 1.0,
            "com": [0.2, 0, 0],
            "inertia_com": [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]],
        }
        for name, parent in (("upper", None), ("lower", "upper"))
    ],
    "velocity": [0.1, 0.2],
    "effort": [0, 0],
}


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


# Each kind of fault is told by the reader of the file, whose own tests have them all.
MODEL_FAULTS = {
    "cycle": ({"body": 0, "parent": "lower"}, ["cycle", "upper", "lower"]),
    "NaN mass": ({"body": 1, "mass": float("nan")}, ["NaN", "finite"]),
    "rates": ({"top": {"velocity": [0.1]}}, ["'velocity'", "1 entries, not 2"]),
}


@pytest.mark.parametrize("fault", MODEL_FAULTS)
def test_faults_of_model_files(refused, model, fault):
    change, words = MODEL_FAULTS[fault]
    path = model(**change)
    line = refused("solve", path, "--json")
    assert str(path) in line and all(word in line for word in words), line


URDF_FAULTS = {
    "two parents": ({"parent": "base", "child": "a"}, ["'a'", "two"]),
    "words for mass": ({"mass": "heavy"}, ["mass", "heavy"]),
    "malformed": ({"text": "<robot name='r'><link name='a'></robot>"}, ["line 1"]),
    "no robot": ({"text": "<html/>"}, ["robot"]),
}


@pytest.mark.parametrize("fault", URDF_FAULTS)
def test_faults_of_urdf_files(refused, urdf, fault):
    change, words = URDF_FAULTS[fault]
    path = urdf(**change)
    line = refused("compare", path, "--orders", "abm")
    assert str(path) in line and all(word in line for word in words), line


MIMIC = '<joint name="j3" type="{}"><parent link="b"/><child link="c"/><mimic {}/></joint>'
MIMIC_FAULTS = {
    "no such joint": (("revolute", 'joint="j9"'), ["'j3'", "'j9'", "use one of j1, j2"]),
    "itself": (("revolute", 'joint="j3"'), ["j3 -> j3", "mimic each other"]),
    "no joint": (("revolute", ""), ["'j3'", "'mimic joint' is missing"]),
    "words for a multiplier": (("revolute", 'joint="j1" multiplier="twice"'), ["'j3'", "twice"]),
    "endless offset": (("revolute", 'joint="j1" offset="inf"'), ["'j3'", "offset", "finite"]),
    "three freedoms": (("planar", 'joint="j1"'), ["'j3'", "planar", "3 freedoms"]),
}


@pytest.mark.parametrize("fault", MIMIC_FAULTS)
def test_faults_of_coupled_joints(refused, urdf, fault):
    given, words = MIMIC_FAULTS[fault]
    path = urdf(more=f'<link name="c"/>{MIMIC.format(*given)}')
    line = refused("solve", path, "--mimic", "coupled")
    assert str(path) in line and all(word in line for word in words), line


def test_an_unknown_way_of_mimic_is_refused(refused, urdf):
    assert "use one of free, fixed, coupled" in refused("solve", urdf(), "--mimic", "tied")


MJCF = '<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>{}</worldbody>'
MJCF += "{}</mujoco>"
ARM = '<body name="a"><joint name="j"/><geom size="0.1"/><body name="b"><joint name="k"/>'
ARM += '<geom size="0.1" pos="0.1 0 0"/></body></body>'
MJCF_FAULTS = {
    "no XML": ("<mujoco", ["line 1, column 1: is not XML"]),
    "another root": ("<html/>", ["MuJoCo refuses it"]),
    "nothing moves": (MJCF.format('<geom size="1"/>', ""), ["no body moves"]),
    "an unknown body": (
        MJCF.format(ARM, '<equality><connect body1="c" anchor="0 0 0"/></equality>'),
        ["MuJoCo refuses it", "unknown"],
    ),
    "an unknown joint": (
        MJCF.format(ARM, '<equality><joint joint1="c"/></equality>'),
        ["MuJoCo refuses it", "'c'"],
    ),
    "twice the same": (
        MJCF.format(
            ARM,
            '<equality><joint joint1="j" joint2="k"/><joint name="more" joint1="k" joint2="j"/></equality>',
        ),
        ["'more'", "follows", "leave it out"],
    ),
    "a bent spring": (
        MJCF.format(ARM.replace('name="j"', 'name="j" stiffness="1 2"'), ""),
        ["'j'", "polynomial"],
    ),
}


@pytest.mark.peers
@pytest.mark.parametrize("fault", MJCF_FAULTS)
def test_faults_of_mjcf_files(refused, tmp_path, fault):
    pytest.importorskip("mujoco")
    path = tmp_path / "robot.xml"
    text, words = MJCF_FAULTS[fault]
    path.write_text(text)
    line = refused("solve", path)
    assert all(word in line for word in words), line


@pytest.mark.parametrize(
    "spec,words",
    [
        ("no/such.urdf.xacro", ["no/such.urdf.xacro", "does not exist"]),
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


def test_a_file_that_is_not_json(refused, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text("[1, 2")
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


def test_a_comparison_keeps_the_orders_that_work(run, model):
    path = model(body=1, inertia_com=[[-1, 0, 0], [0, 1, 0], [0, 0, 1]])
    code, out, _ = run("compare", path, "--orders", "abm,virtual_work", "--formats", "float64", "--json")
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
    [
        ("1,2", ["3 numbers"]),
        ("1,2,3,4", ["3 numbers"]),
        ("1,2,x", ["'x' is no number"]),
        ("1,nan,3", ["nan", "finite"]),
    ],
)
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


# -- loops and contacts --------------------------------------------------------------------------

COMMANDS = {  # what stands behind the model; figure has a kind before it
    "compare": "--orders abm",
    "solve": "",
    "blame": "",
    "spy": "-o x.svg",
    "list": "",
    "figure": "-o x.svg",
    "explore": "-o x.html",
    "tune": "--most 3",
    "export": "-o x.c",
    "simulate": "--seconds 0.01 -o x",
    "report": "--states 2 -o x",
    "compare --states 2": "--orders abm",
}
IN_ONE_STATE = ("compare", "solve", "blame", "spy", "list", "figure", "explore")


def call(refused, tmp_path, monkeypatch, command, model, *more):
    """The sentence of a command that writes into an empty folder, which stays empty."""
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.chdir(out)
    name, *before = command.split()
    kind = ["matrix"] if name == "figure" else []
    line = refused(name, *kind, model, *before, *more, *COMMANDS.get(command, "").split())
    assert not list(out.iterdir())
    return line


def loops_file(tmp_path, loops):
    path = tmp_path / "loops.json"
    whole = {"schema": "pivotree-loops/1", "loops": loops}
    path.write_text(loops if isinstance(loops, str) else json.dumps(whole))
    return path


CUT = {"first": "j3", "second": None, "joint": "spherical", "p": [0.1, 0, 0]}
FOOT = {"body": "j3", "point": [0, 0, 0]}
COUPLED = {"body": "j3", "to": "j2", "ratio": 2.0}
AGAIN = {"first": "coupler", "second": "rocker", "name": "again", "p": [3, 0, 0]}
OF_ALL = {  # model, options, the loops of a file, and words of the sentence
    "unknown": ("chain:3", "--contact knee", None, ["--contact", "'knee'", "use one of j1, j2"]),
    "twice": ("chain:3", "--contact j3,j3", None, ["--contact", "'j3' is named twice"]),
    "negative": ("chain:3", "--contact j3 --compliance=-1", None, ["--compliance", "zero or more"]),
    "in a file": ("chain:3", "", [CUT | {"first": "knee"}], ["loops.json", "'knee-world'", "'knee'"]),
    "redundant": (
        "four_bar",
        "",
        [AGAIN | {"p_second": [2.5, 0, 0]}],
        ["'again'", "rows 0, 1, 2, 3, 4 follow", "leave it out", "--proximal 1e-4"],
    ),
    "inconsistent": (
        "four_bar",
        "",
        [AGAIN | {"p_second": [2, 0, 0], "rows": [2, 3]}],
        ["'again'", "rows 2, 3 follow", "--proximal 1e-4"],
    ),
}


@pytest.mark.product
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("fault", OF_ALL)
def test_every_command_refuses_alike(refused, tmp_path, monkeypatch, command, fault):
    model, options, loops, words = OF_ALL[fault]
    more = options.split()
    if loops is not None:
        more += ["--loops", loops_file(tmp_path, loops)]
    line = call(refused, tmp_path, monkeypatch, command, model, *more)
    assert all(word in line for word in words), line


@pytest.mark.parametrize("command", IN_ONE_STATE)
def test_a_state_in_which_a_loop_is_open_is_refused(refused, tmp_path, monkeypatch, command):
    line = call(refused, tmp_path, monkeypatch, command, "four_bar", "--q", "0.3,0.2,0.1")
    assert "'pin'" in line and "open by 2.2" in line and "--random 0" in line


@pytest.mark.product
@pytest.mark.parametrize("command", ["tune", "export", "simulate", "report"])
def test_a_loop_that_nothing_closes_is_refused(refused, tmp_path, monkeypatch, command):
    path = loops_file(tmp_path, [CUT | {"p_second": [9, 0, 0.2]}])
    line = call(refused, tmp_path, monkeypatch, command, "chain:3", "--loops", path)
    assert "'j3-world'" in line and ("is open by" in line or "none of 100 random states" in line)


@pytest.mark.product
def test_tune_and_export_find_a_state_that_closes_what_is_open(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = loops_file(tmp_path, [CUT | {"p_second": [0.1, 0, 0.2]}])
    for command in ("tune", "export"):
        code, _, err = run(command, "chain:3", "--loops", path, *COMMANDS[command].split())
        assert code == 0 and not [line for line in err.splitlines() if "so far" not in line], err


def test_a_state_that_closes_what_was_open_is_drawn_and_baumgarte_may_close_it(run, tmp_path):
    far = CUT | {"p": [0.1, 0, 0], "p_second": [0.1, 0, 0.2]}
    path = loops_file(tmp_path, [far])
    code, _, err = run("solve", "chain:3", "--loops", path)
    assert code == 2 and "is open by" in err
    code, out, err = run("solve", "chain:3", "--loops", path, "--random", "0", "--json")
    assert code == 0 and err == "" and len(json.loads(out)["qdd"]) == 3
    path = loops_file(tmp_path, [far | {"baumgarte": [10, 25]}])
    code, _, err = run("solve", "chain:3", "--loops", path)
    assert code == 0 and err.count("\n") == 1 and "warning: loop 'j3-world': is open by" in err


OPTIONS = {
    "--contact world": ["'world' is unknown"],
    "--contact=": ["--contact", "is empty"],
    "--contact=,": ["--contact", "is empty"],
    "--contact j3,j9": ["'j9' is unknown"],
    "--contact j3@1:2": ["names no point", "j3@0:0:-0.1"],
    "--contact j3@nan:0:0": ["names no point"],
    "--contact j3@1e400:0:0": ["names no point"],
    "--contact @1:2:3": ["body '' is unknown"],
    "--contact j3@0:0:1,j3@0:0:1": ["'j3@0:0:1' is named twice"],
    "--compliance 1": ["--compliance", "name some with --contact"],
    "--contact j3 --compliance nan": ["'nan'", "zero or more"],
    "--contact j3 --compliance 1e400": ["'1e400'", "zero or more"],
    "--contact j3 --compliance soft": ["'soft'", "zero or more"],
    "--loops=": ["--loops", "is empty"],
    "--loops no.json": ["no.json", "cannot be read"],
    "--loops .": ["cannot be read (Is a directory)"],
    "--proximal 0": ["--proximal", "'0'", "more than zero"],
    "--proximal nan": ["--proximal", "'nan'", "more than zero"],
    "--proximal=-1": ["--proximal", "'-1'", "more than zero"],
    "--proximal 1e-400": ["--proximal", "more than zero"],
    "--proximal 1e400": ["--proximal", "more than zero"],
    "--proximal rigid": ["--proximal", "'rigid'", "such as 1e-4"],
    "--proximal 1e-4": ["--proximal", "the model has none", "--contact"],
}


@pytest.mark.parametrize("options", OPTIONS)
def test_options_of_loops_that_are_wrong(refused, tmp_path, monkeypatch, options):
    line = call(refused, tmp_path, monkeypatch, "solve", "chain:3", *options.split())
    assert all(word in line for word in OPTIONS[options]), line


def test_project_is_for_loops(refused, tmp_path, monkeypatch):
    line = call(refused, tmp_path, monkeypatch, "simulate", "chain:3", "--project")
    assert "--project" in line and "--contact or --loops" in line


def test_a_contact_with_the_world_is_named(refused, tmp_path):
    """A link on a fixed joint of the base is merged into the world, which nothing holds."""
    path = tmp_path / "robot.urdf"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
    path.write_text(
        f'<robot name="r"><link name="base"/><link name="a">{inertial} iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="a"/></joint>'
        '<link name="plate"/><joint name="f" type="fixed"><parent link="base"/>'
        '<child link="plate"/>'
        "</joint></robot>"
    )
    assert "'plate' is part of the world" in refused("solve", path, "--contact", "a,plate")


BEGIN = '{"schema": "pivotree-loops/1", "loops": '
LOOPS_FILES = {
    "no JSON": ("{", ["line 1", "is not JSON"]),
    "another key": (BEGIN + '[], "more": 1}', ["'more'", "give 'schema' and 'loops'"]),
    "NaN": (BEGIN + '[{"first": "j3", "second": null, "p": [NaN, 0, 0]}]}', ["NaN", "finite"]),
    "a number": ([3], ["loop 1", "is no object"]),
    "the world twice": ([CUT | {"first": None}], ["ties the world to itself"]),
    "itself": ([CUT | {"second": "j3"}], ["ties 'j3' to itself"]),
    "one name twice": ([CUT | {"name": "a"}, FOOT | {"name": "a"}], ["'a'", "used twice"]),
    "an empty name": ([CUT | {"name": ""}], ["'name' is empty"]),
    "a body by number": ([CUT | {"first": 3}], ["'first' is 3", "give a text"]),
    "a field too many": ([CUT | {"colour": 1}], ["'colour' is unknown"]),
    "words for them": ([CUT | {"p": [0, "a", 0]}], ["'p'", "3 numbers"]),
    "beyond doubles": ([CUT | {"p": [10**400, 0, 0]}], ["'p'", "finite"]),
    "S of any lengths": ([CUT | {"joint": "general", "S": [[1], [1, 2]]}], ["'S'", "6 x 1"]),
    "tangents in words": ([FOOT | {"tangents": "all"}], ["'tangents'", "'all'"]),
    "damping twice": ([FOOT | {"damping": [1, 2]}], ["'damping'", "give a number"]),
    "on what is not": ([FOOT | {"on": "table"}], ["'table' is unknown"]),
    "no ratio": ([COUPLED | {"ratio": "two"}], ["'ratio' is 'two'", "a number"]),
    "to itself": ([COUPLED | {"to": "j3"}], ["joint of 'j3' to itself"]),
    "to what is not": ([COUPLED | {"to": "j9"}], ["'j9' is unknown"]),
}


@pytest.mark.parametrize("fault", LOOPS_FILES)
def test_files_of_loops_that_are_wrong(refused, tmp_path, monkeypatch, fault):
    loops, words = LOOPS_FILES[fault]
    path = loops_file(tmp_path, loops)
    line = call(refused, tmp_path, monkeypatch, "solve", "chain:3", "--loops", path)
    assert line.startswith(f"{path}: ") and all(word in line for word in words), line


@pytest.mark.parametrize(
    "entry,words",
    [
        ('contact = "j3,j3"', ["'j3' is named twice"]),
        ('contact = ""', ["contact"]),
        ('contact = "j3", compliance = nan', ["compliance", "zero or more"]),
        ('loops = ""', ["loops"]),
        ('loops = "loops.json"', ["loops.json", "'j3-j3'", "itself"]),
    ],
)
def test_entries_of_a_sweep_that_are_wrong(refused, tmp_path, monkeypatch, entry, words):
    loops_file(tmp_path, [CUT | {"second": "j3"}])
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "sweep.toml"
    config.write_text(
        f'output = "s.csv"\nmodels = [{{ model = "chain:3", {entry} }}]\norders = ["abm"]\n'
        'formats = ["float64"]\n[states]\nnumber = 1\n'
    )
    line = refused("sweep", config)
    assert all(word in line for word in words) and not (tmp_path / "s.csv").exists(), line
