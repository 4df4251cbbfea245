"""The command line: one line for whatever is wrong with the input."""

import copy
import json

import pytest
from test_cli import document

# -- refusals: models ---------------------------------------------------------------------------

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


MODEL_FAULTS = {
    "cycle": ({"body": 0, "parent": "lower"}, ["cycle", "upper", "lower"]),
    "its own parent": ({"body": 0, "parent": "upper"}, ["cycle", "upper"]),
    "unknown parent": ({"body": 1, "parent": "uper"}, ["'lower'", "parent 'uper' is unknown"]),
    "repeated name": ({"body": 1, "name": "upper"}, ["'upper'", "twice"]),
    "negative mass": ({"body": 1, "mass": -2.5}, ["'lower'", "'mass'", "-2.5"]),
    "NaN mass": ({"body": 1, "mass": float("nan")}, ["NaN", "finite"]),
    "no mass": ({"body": 1, "mass": None}, ["'lower'", "'mass'", "null"]),
    "rank of S": (
        {
            "body": 1,
            "S": [[0, 0], [1, 2], [0, 0], [0, 0], [0, 0], [0, 0]],
            "top": {"velocity": [0] * 3, "effort": [0] * 3},
        },
        ["'lower'", "'S'", "rank 1", "2 columns"],
    ),
    "zero S": ({"body": 1, "S": [[0]] * 6}, ["'lower'", "'S'", "rank 0"]),
    "no rotation": ({"body": 1, "R": [[1, 0, 0], [0, 1, 0], [0, 0, 2]]}, ["'lower'", "'R'"]),
    "skew inertia": ({"body": 0, "inertia_com": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}, ["'upper'", "symmetric"]),
    "rates": ({"top": {"velocity": [0.1]}}, ["'velocity'", "1 entries, not 2"]),
    "efforts": ({"top": {"effort": [0, 0, 0]}}, ["'effort'", "3 entries, not 2"]),
    "schema": ({"top": {"schema": "robot/7"}}, ["'schema'", "robot/7", "pivotree-model/1"]),
    "no bodies": ({"top": {"bodies": []}}, ["'bodies'"]),
}


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
