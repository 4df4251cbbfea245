"""Loops and contacts that are wrong: one sentence of every command, and nothing written."""

import json

import pytest

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
        assert code == 0 and err == "", err


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
@pytest.mark.parametrize("command", ["solve", "compare"])
def test_options_that_are_wrong(refused, tmp_path, monkeypatch, command, options):
    line = call(refused, tmp_path, monkeypatch, command, "chain:3", *options.split())
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
FILES = {
    "no JSON": ("{", ["line 1", "is not JSON"]),
    "nothing": ("", ["is not JSON"]),
    "a list": ("[]", ["is no file of loops", "pivotree-loops/1"]),
    "another schema": ('{"schema": "loops", "loops": []}', ["pivotree-loops/1"]),
    "another key": (BEGIN + '[], "more": 1}', ["'more'", "give 'schema' and 'loops'"]),
    "no list": (BEGIN + "{}}", ["'loops' is no list"]),
    "NaN": (BEGIN + '[{"first": "j3", "second": null, "p": [NaN, 0, 0]}]}', ["NaN", "finite"]),
    "a number": ([3], ["loop 1", "is no object"]),
    "one body": ([{"first": "j3"}], ["loop 1", "'second' is missing"]),
    "no body": ([{}], ["loop 1", "'first' is missing"]),
    "the world twice": ([CUT | {"first": None}], ["ties the world to itself"]),
    "itself": ([CUT | {"second": "j3"}], ["ties 'j3' to itself"]),
    "one name twice": ([CUT | {"name": "a"}, FOOT | {"name": "a"}], ["'a'", "used twice"]),
    "an empty name": ([CUT | {"name": ""}], ["'name' is empty"]),
    "a body by number": ([CUT | {"first": 3}], ["'first' is 3", "give a text"]),
    "a field too many": ([CUT | {"colour": 1}], ["'colour' is unknown"]),
    "two coordinates": ([CUT | {"p": [0, 0]}], ["'p' has shape (2,)", "3 numbers"]),
    "words for them": ([CUT | {"p": [0, "a", 0]}], ["'p'", "3 numbers"]),
    "truth for them": ([CUT | {"p": [True, 0, 0]}], ["'p'", "true and false are no numbers"]),
    "beyond doubles": ([CUT | {"p": [10**400, 0, 0]}], ["'p'", "finite"]),
    "no rotation": ([CUT | {"R": [[1, 0, 0], [0, 1, 0], [0, 0, 2]]}], ["'R'", "not a rotation"]),
    "no joint": ([CUT | {"joint": "hinge"}], ["'joint' is 'hinge'", "revolute"]),
    "no axis": ([CUT | {"joint": "revolute", "axis": [0, 0, 0]}], ["'axis' is zero"]),
    "rows that are not": ([CUT | {"rows": [0, 5]}], ["'rows'", "0 to 2"]),
    "no rows": ([CUT | {"rows": []}], ["'rows' is []"]),
    "soft below zero": ([CUT | {"compliance": -1}], ["'compliance' is -1", "zero or more"]),
    "soft in two": ([CUT | {"compliance": [1, 2]}], ["'compliance'", "3 numbers"]),
    "a gain below zero": ([CUT | {"baumgarte": [-1, 0]}], ["'baumgarte'", "zero or more"]),
    "S beside a joint": ([CUT | {"S": [[1]] * 6}], ["'S'", "'general'", "'spherical'"]),
    "S of any lengths": ([CUT | {"joint": "general", "S": [[1], [1, 2]]}], ["'S'", "6 x 1"]),
    "no point": ([{"body": "j3"}], ["'point' is missing"]),
    "no normal": ([FOOT | {"normal": [0, 0, 0]}], ["normal", "rank 0"]),
    "tangents in words": ([FOOT | {"tangents": "all"}], ["'tangents'", "'all'"]),
    "damping below zero": ([FOOT | {"damping": -1}], ["'damping' is -1", "zero or more"]),
    "damping twice": ([FOOT | {"damping": [1, 2]}], ["'damping'", "give a number"]),
    "on what is not": ([FOOT | {"on": "table"}], ["'table' is unknown"]),
    "no ratio": ([COUPLED | {"ratio": "two"}], ["'ratio' is 'two'", "a number"]),
    "to itself": ([COUPLED | {"to": "j3"}], ["joint of 'j3' to itself"]),
    "to what is not": ([COUPLED | {"to": "j9"}], ["'j9' is unknown"]),
}


@pytest.mark.parametrize("fault", FILES)
def test_files_that_are_wrong(refused, tmp_path, monkeypatch, fault):
    loops, words = FILES[fault]
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
