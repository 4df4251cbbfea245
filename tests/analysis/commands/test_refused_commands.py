"""Commands refuse what is wrong in one line, and write nothing: options, files of robots, loops."""

import json
import shlex
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
from designs import covering, listed
from test_cli_state import ARM

from pivotree import kkt
from pivotree.analysis.cli import main
from pivotree.analysis.cli.parser import parser
from pivotree.analysis.states import sample

# -- options: what is told, and the command; files that it reads are in FILES ---------------------

REFUSED = {
    # -- compare, solve, figure, blame
    "order 'random:1' is asked for twice; give each": "compare chain:2 --orders random:1,random:01",
    "pivot qdd_j2 at step 2 is structurally zero": "compare chain:2 --orders own.json",
    "compares digits alone; leave out --refine": "compare chain:2 --derivatives --refine 1",
    "option --frames: 'bent' is unknown; use given, aligned": "compare chain:2 --frames bent",
    "model: no name is given": "solve ''",
    "field 'schema' is 'pivotree-model/1'; an order file has": "solve chain:2 --order other.json",
    "solves for tau with qdd known": "solve chain:3 --order inverse_dynamics",
    "option --refine: 101 is no number of corrections; use 0 to": "solve chain:2 --refine 101",
    "option --refine: 'x' is no residual; use dynamics or": "solve chain:2 --refine 1:x",
    "option --certify: 0 is no number of digits; use 1 to": "solve chain:2 --certify 0",
    "pivot qdd_2, step 4: zero; use another": "solve example3:m1=1e8 --order crbm --format float32",
    "a closed form, exact in every state; leave out --q": "solve chain:2 --symbolic --q 1,2",
    "exact in every state; leave out --state": "solve chain:2 --symbolic --state random:0",
    "option --refine: \u0663 is no number of corrections": "solve chain:2 --refine \u0663",
    "option --step: -1 is outside this order's steps; use 0 to 3": "figure spy chain:3 --step=-1 -o x.svg",
    "suffix '.bmp' is unknown; use .png, .pdf": "figure spy chain:3 -o x.bmp",
    "option --top is 0; give at least 1": "blame chain:2 --top 0",
    "four_bar: has closed loops or contacts, or joints that follow": "check four_bar",
    "has no joint that moves, and so no acceleration that": "check still.json",
    "format 'exact': a check needs float64, or a shorter format": "check chain:2 --format exact",
    "option --states: 0 is no number of states": "check chain:2 --states 0",
    "state: q holds 1e+300, beyond float32; give": "check chain:2 --q 1e300,0",
    "MJX is modelled on trees without closed loops": "blame four_bar --as mjx",
    "option --as: says order and frames itself; leave out --order": "compare chain:3 --as mjx --order abm",
    "reading 'mjy' is unknown; did you mean mjx?": "compare chain:3 --as mjy",
    "option --digits: 0.0 is out of range": "check chain:2 --digits 0",
    "option -o: a.html is no page; give a name that ends in .md": "check chain:2 -o a.html",
    "option -o: the worst state would replace light.json; give": "check light.json -o light.md",
    "option --as: says order and output itself; leave out --of": "blame chain:2 --as mjx --of j1",
    "has no joint that moves, and so no acceleration": "blame still.json --as mjx",
    "has no joint that moves, and so no": "blame still.json --derivatives",
    "output 'j1' is no derivative here; use dq": "blame chain:2 --derivatives --of j1",
    "output 'j1[1]' is no joint acceleration here; use a body": "blame chain:3 --of j1[1]",
    "option --order is empty; give names separated": "counts --orders ,",
    "'mp:50' is none that the page computes in": "explore chain:2 --orders abm --formats mp:50 -o x.html",
    # -- models and states
    "an installed robot is written robot:ur5": "compare ur5",
    "option --urdf: gives mimic twice; give it": "solve arm.urdf --urdf mimic=free,mimic=fixed",
    "chain:2 is no .urdf or .xacro file, which alone takes": "compare chain:2 --urdf keep-fixed",
    "bare.urdf: r: no link has a mass": "solve bare.urdf",
    "no/such.urdf.xacro: does not exist": "solve no/such.urdf.xacro",
    "broken.json: line 1, column ": "solve broken.json",
    "joint 'j3': field 'mimic joint' is missing": "solve mimic_nothing.urdf --urdf mimic=coupled",
    "field 'mimic offset' is 'inf'": "solve mimic_endless.urdf --urdf mimic=coupled",
    "3 freedoms": "solve mimic_plane.urdf --urdf mimic=coupled",
    "option --q: joint 'elbwo' is unknown; did you mean elbow?": "solve arm.urdf --q elbwo=1",
    "option --q: '2' has no name; give every number a name": "solve arm.urdf --q elbow=1,2",
    "option --q: joint 'elbow' is named twice": "solve arm.urdf --q elbow=1,elbow=2",
    "option --q: 'x' is no number; give numbers as 0.1,0,-2": "solve arm.urdf --q elbow=x",
    "option --q: '1_0' is no number; give numbers as": "solve arm.urdf --q 1_0,0",
    "option --q: '\u0663' is no number": "solve arm.urdf --q elbow=\u0663",
    "gallery: chain argument 'n' is '1_0'; give a whole number": "solve chain:1_0",
    "option --contact: 'j3@0:0:1_0' names no point": "solve chain:3 --contact j3@0:0:1_0",
    "option --state: random:-1 has no seed": "solve arm.urdf --state random:-1",
    "option --state is empty; give one file, random:SEED": "solve arm.urdf --state ''",
    "option --q: names joints, and q has 1 numbers; give 2 of": "solve arm.urdf --state q.json --q elbow=1",
    "list.txt: line 1, column 1 is ": "solve arm.urdf --state list.txt",
    "option --state: gives qd twice; give it once": "solve chain:1 --state qd:1 --state qd:2",
    "option --state: gives two whole states; give one": "solve arm.urdf --state random:1 --state x",
    "field 'schema' is 'pivotree-model/1'; use 'pivotree-state/1'": "solve arm.urdf --state other.json",
    "field 'p' is unknown; use q, qd, tau": "solve arm.urdf --state field.json",
    "field 'q': holds no numbers; give a list of them": "solve arm.urdf --state words.json",
    "is no object; give one with q, qd or tau": "solve arm.urdf --state list.json",
    # -- formats
    "'1_0' is no number of digits; use 1 to": "solve chain:2 --format mp:1_0",
    "format 'p\u0663' is unknown": "solve chain:2 --format p\u0663",
    "format '+mul=bfloat16': has no base": "solve chain:2 --format +mul=bfloat16",
    "format 'float64:up': float64 rounds to nearest only": "compare rr_arm --formats float64:up",
    "format 'float32:sideways'": "solve rr_arm --format float32:sideways",
    "'foo=tf32'": "compare rr_arm --formats float32+foo=tf32",
    "body 1: field 'M' of equation (4) overflows float16": "solve example3:m1=1e9 --format float16",
    # -- closed loops and contacts
    "option --contact is empty": "solve chain:3 --contact=",
    "names no point; write j3@0:0:-0.1": "solve chain:3 --contact j3@1:2:x",
    "option --contact: 'soft' is no": "solve chain:3 --contact j3,compliance=soft",
    "'plate' is part of the world": "solve plate.urdf --contact upper,plate",
    "option --loops is empty; give a file": "solve chain:3 --loops=",
    # -- export, tune
    "'x.cpp' cannot be included by a program in C; give FILE.c": "export chain:2 -o x.cpp",
    "give letters, digits and _, a letter first, and no word of C": "export chain:2 --name template -o x.cu",
    "CUDA has no 'bfloat16'; use float64 or": "export chain:2 --format bfloat16 -o x.cu",
    "outputs holds 'qdd' twice; give it once": "export chain:2 --outputs qdd,qdd -o x.c",
    "outputs holds 'qd'; did you mean qdd": "export chain:2 --outputs qd -o x.cu",
    "option --composites: 'x' is unknown; use rigid or general": "tune chain:2 --composites x",
    "option --most is 0; give 1 order or more": "tune chain:2 --most 0",
    "x.txt is no order file; give a name that ends in .json or .py": "tune chain:2 -o x.txt",
    # -- figure
    "figure: -o is missing; give KIND MODEL -o FILE": "figure spy chain:2",
    "option --label: 'abm' is no name and text; give": "figure spy chain:2 --label abm -o x.pdf",
    "option --label: 'crbm=' is no name and text; give": "figure spy chain:2 --label crbm= -o x.pdf",
    "option --width: 'triple' is unknown; use": "figure spy chain:2 --width triple -o x.pdf",
    "option --style: 'light,comic' is unknown; use": "figure spy chain:2 --style light,comic -o x.pdf",
    "this kind shows one order, not 2; name one": "figure spy chain:2 --orders abm,crbm -o x.pdf",
    "option --step: kind 'orders' shows no step": "figure orders chain:2 --step 1 -o x.pdf",
    "kind 'digits' has no LaTeX; write a .pdf, or": "figure digits chain:2 -o x.tex",
    "block rows are too many to be set as symbols (at most": "figure spy chain:40 -o x.tex",
    # -- report
    "option --format is empty; give names separated by commas": "report chain:2 --formats ,",
    "output folder own.json: cannot be written (Not a directory)": "report chain:2 -o own.json",
    "format 'exact': a report needs formats of a fixed": "report chain:2 --formats exact -o r",
    "solves for tau, not for qdd": "report chain:2 --orders inverse_dynamics -o r",
    "has no joint that moves, and so no accel": "report still.json -o r",
    "no order that was asked for remains": "report light.json --orders virtual_work -o r",
    "option --states: 0 is no number of states; use 1 to": "report chain:2 --states 0 -o r",
    "order 'random:x': 'x' is no seed;": "list chain:2 --order random:x",
    "option --seed: -1 is no seed; use a whole number": "report chain:2 --seed -1 -o r",
    "option --digits: 99.0 is out of range; use 1 to 15": "report chain:2 --digits 99 -o r",
    "output folder taken is not empty; give another": "report chain:2 -o taken",
    "format 'float32' is asked for twice; give each": "report chain:2 --formats float32,float32:nearest -o r",
    # -- simulate
    "state: field 'q' holds 1e+300; give numbers in the range": "simulate chain:2 --q 1e300,0",
    "option --order: names 'crbm' twice; name each once": "simulate chain:2 --order crbm,abm,crbm",
    "integrator 'euler' is unknown; use": "simulate chain:2 --integrator euler",
    "integrator: steps is 0; give 1 or more": "simulate chain:2 --integrator cash_karp,steps=0",
    "integrator: state is 'float16'; use float64 or": "simulate chain:2 --integrator cash_karp,state=float16",
    "integrator: clock is Cash-Karp's alone": "simulate chain:2 --integrator RK45,clock=float32",
    "option --integrator: 'pace=1' is no setting; give NAME": "simulate chain:2 --integrator RK45,pace=1",
    "'steps=1e3' is no whole number": "simulate chain:2 --integrator cash_karp,steps=1e3",
    "'step=1_0' is no number": "simulate chain:2 --integrator RK45,step=1_0",
    "option --integrator: gives step twice; give": "simulate chain:2 --integrator RK45,step=1,step=2",
    "option --integrator: 'step=x' is no number": "simulate chain:2 --integrator RK45,step=x",
    "there is no dense method 'qr'; use": "simulate chain:2 --order crbm+qr",
    "option --runs is 0; give 1 to 100,000": "simulate chain:2 --runs 0",
    "no state near by closes it": "simulate four_bar --q 0,0,0 --project",
    "is open by 0.82 (rad or m) in this state; give q": "simulate four_bar --q 1,-0.3,1.3",
    "option --project is for closed loops and contacts": "simulate two_link --project",
    "integrator 'BDF': goes on from more than the last": "simulate four_bar --integrator BDF",
    "follow from its other rows": "simulate two_link --contact 2 --project",
    # -- guarantee
    "option --qd: '1_0' is no largest size": "guarantee chain:2 --qd 1_0",
    "'-1_0:1' of 'j1=-1_0:1' is no number": "guarantee chain:2 --limits j1=-1_0:1",
    "'a:1' of 'j1=a:1' is no number; write j1=-1:1": "guarantee chain:2 --limits j1=a:1",
    "option --limits: joint 'j1' is named twice": "guarantee chain:2 --limits j1=-1:1,j1=-1:1",
    "option --tau: joint 'j9' is unknown": "guarantee chain:3 --tau j9=1",
    "is several by role or body, and the bound is for one": "guarantee chain:2 --formats float32+add=float64",
    "option --states: -1 is no number of states": "guarantee chain:2 --states -1",
    "qINT.FRACTION (fixed point, as q16.16)": "guarantee chain:2 --formats fixed32",
    # -- list, counts, prove
    "notation 'mine' is unknown; use ascher": "list chain:2 --notation mine",
    "pairs of blocks on this tree, too many to read": "list chain:1500 --order crbm --yes",
    "has no script where loops close; use style text": "list four_bar --style python",
    "order 'virtual_work' pivots on M_k at step 2": "counts --orders virtual_work",
    "there is no statement 'equation (99)'; nearest": "prove --only 'equation (99)'",
    # -- sweep
    "option --jobs is 0; give 1 to": "sweep c.toml --jobs 0",
    "c.toml: field 'contact' is unknown in table 'models[0]'": "sweep c.toml",
    "none.toml: cannot be read (No such file or directory)": "sweep none.toml",
    "c.toml/s.csv: cannot be written (Not a directory)": "sweep below.toml",
    "s.csv: holds other columns than this sweep (lacks": "sweep taken.toml",
    "twice.toml: field 'models[1]' is 'chain:3'; give each model once": "sweep twice.toml",
    "odd.csv is not text in UTF-8 (byte 1); move it away": "sweep odd.toml",
    "field 'states.distribution' is 'normal'; give": "sweep normal.toml",
    # -- options that do not go together
    "paper 'acher1996' is unknown; use": "reproduce acher1996",
    "belongs to one item": "reproduce ascher1996 --set links=4",
    "links's most is '1_0'; give it as": "reproduce ascher1996 --item links --set most=1_0",
    "option --item: belongs to one paper; name it": "reproduce all --item equations",
    "option --set: names 'most' twice": "reproduce ascher1996 --item links --set most=1 --set most=2",
    "option --set: 'x' is no setting; give NAME=VALUE": ("reproduce ascher1996 --item equations --set x"),
    "x.txt is no page; give a name that ends in .html": "explore chain:2 -o x.txt",
    "option --port: 65536 is no port; use 0 to": "explore no.urdf --port 65536",  # before any work
    "option -o: writes a page and serves none": "explore chain:2 -o page.html --port 8000",
    "option --limits: 'j1' is no range; write j1=-1:1": "guarantee chain:2 --limits j1",
}
MIMIC = ARM.replace("</robot>", "") + (
    '<link name="c"/><joint name="j3" type="{}"><parent link="tool"/><child link="c"/>'
    '<axis xyz="0 1 0"/><mimic {}/></joint></robot>'
)
PLATE = '<joint name="f" type="fixed"><parent link="base"/><child link="plate"/></joint></robot>'
SWEEP = 'output = "%s"\nmodels = [%s]\norders = ["abm"]\n'
FILES = {
    "c.toml": SWEEP % ("s.csv", '{ model = "chain:3", contact = "j9" }'),
    "below.toml": SWEEP % ("c.toml/s.csv", '"chain:3"'),
    "taken.toml": SWEEP % ("taken/s.csv", '"chain:3"'),
    "taken/s.csv": "key,other\n",
    "twice.toml": SWEEP % ("s.csv", '"chain:3", "chain:3"'),
    "odd.toml": SWEEP % ("odd.csv", '"chain:3"'),
    "odd.csv": "\xff",
    "normal.toml": SWEEP % ("s.csv", '"chain:3"') + '[states]\ndistribution = "normal"\n',
    "own.json": json.dumps([[[k, b]] for b in ("j2", "j1") for k in ("pdd", "qdd", "f")]),
    "other.json": '{"schema": "pivotree-model/1", "groups": []}',
    "broken.json": "[1, 2",
    "field.json": '{"p": [1, 2]}',
    "words.json": '{"q": {"elbow": "x"}}',
    "q.json": '{"q": [1]}',
    "list.json": "[]",
    "list.txt": "elbow",
    "arm.urdf": ARM,
    "bare.urdf": '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
    '<parent link="a"/><child link="b"/></joint></robot>',
    "plate.urdf": ARM.replace("</robot>", '<link name="plate"/>' + PLATE),
    "mimic_nothing.urdf": MIMIC.format("revolute", ""),
    "mimic_endless.urdf": MIMIC.format("revolute", 'joint="elbow" offset="inf"'),
    "mimic_plane.urdf": MIMIC.format("planar", 'joint="elbow"'),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refused")
    (folder / "taken").mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="latin-1")
    tree = kkt.new_tree("still")
    kkt.add_body(tree, "b", mass=1.0, inertia=kkt.chain(1).nodes["j1"]["inertia"], joint="fixed")
    kkt.write_model(folder / "still.json", kkt.build(tree).state)
    tree = kkt.chain(3)
    tree.nodes["j2"].update(mass=0.0, inertia=0.0 * tree.nodes["j2"]["inertia"])
    kkt.write_model(folder / "light.json", kkt.build(tree).state)
    return folder


@pytest.mark.product
@pytest.mark.parametrize("told", REFUSED)
def test_a_refusal_is_one_line(told, folder, capsys):
    with chdir(folder):
        there = sorted(Path().rglob("*"))
        assert main(shlex.split(REFUSED[told])) == 2
        assert sorted(Path().rglob("*")) == there
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if not line.startswith("pivotree: ... ")]
    assert out == "" and len(lines) == 1 and told in lines[0] and len(lines[0]) < 520, err


# -- inertias ------------------------------------------------------------------------------------


def two_links(path, *moments):
    """A model file of two links, the second with these moments of inertia."""
    tree = kkt.chain(2)
    tree.nodes["j2"]["inertia"] = np.diag(moments)
    kkt.write_model(path, kkt.build(tree).state)
    return path


def test_an_impossible_inertia_is_a_warning_and_an_answer(run, tmp_path):
    code, out, err = run("solve", two_links(tmp_path / "two.json", 1.0, 1.0, 5.0), "--json")
    assert code == 0 and len(json.loads(out)["qdd"]) == 2
    (line,) = [line for line in err.splitlines() if "warning" in line]
    assert "'j2'" in line and "'inertia'" in line and "triangle" in line


def test_an_indefinite_inertia_is_refused_by_the_orders_that_pivot_on_it(run, tmp_path):
    path = two_links(tmp_path / "two.json", -1.0, 1.0, 1.0)
    code, out, err = run("solve", path, "--order", "virtual_work", "--json")
    assert code == 2 and out == "" and "Traceback" not in err
    (line,) = [line for line in err.splitlines() if "warning" not in line]
    for word in ("'j2'", "'inertia'", "not positive definite", "virtual_work", "abm"):
        assert word in line
    code, out, err = run("compare", path, "--orders", "abm,virtual_work", "--formats", "float64", "--json")
    abm, virtual_work = json.loads(out)["rows"]
    assert code == 0 and "warning" in err and abm["failed_at"] is None and abm["error"] < 1e-12
    assert virtual_work["error"] is None and "'j2'" in virtual_work["failed_at"]


# -- loops and contacts --------------------------------------------------------------------------

COMMANDS = {  # what stands behind the model; figure has a kind before it
    "compare": "--orders abm",
    "solve": "",
    "blame": "",
    "list": "",
    "figure": "-o x.svg",
    "explore": "-o x.html",
    "tune": "--most 3",
    "export": "-o x.c",
    "simulate": "--seconds 0.01 -o x",
    "report": "--states 2 -o x",
}
IN_ONE_STATE = ("compare", "solve", "blame", "list", "figure", "explore")


def call(refused, tmp_path, command, model, *more):
    """The sentence of a command that writes into an empty folder, which stays empty."""
    out = tmp_path / "out"
    out.mkdir()
    name, *before = command.split()
    kind = ["spy"] if name == "figure" else []
    with chdir(out):
        line = refused(name, *kind, model, *before, *more, *COMMANDS.get(command, "").split())
    assert not list(out.iterdir())
    return line


def loops_file(tmp_path, loops):
    path = tmp_path / "loops.json"
    path.write_text(json.dumps({"schema": "pivotree-loops/1", "loops": loops}))
    return path


CUT = {"first": "j3", "second": None, "joint": "spherical", "p": [0.1, 0, 0]}
FOOT = {"body": "j3", "point": [0, 0, 0]}
AGAIN = {"first": "coupler", "second": "rocker", "name": "again", "p": [3, 0, 0]}
OF_ALL = {  # model, options, the loops of a file, and words of the sentence
    "unknown": ("chain:3", "--contact knee", None, ["--contact", "'knee'", "use one of j1, j2"]),
    "twice": ("chain:3", "--contact j3,j3", None, ["--contact", "'j3' is named twice"]),
    "negative": ("chain:3", "--contact j3,compliance=-1", None, ["--contact", "zero or more"]),
    "in a file": ("chain:3", "", [CUT | {"first": "knee"}], ["loops.json", "'knee-world'", "'knee'"]),
    "redundant": (
        "four_bar",
        "",
        [AGAIN | {"p_second": [2.5, 0, 0]}],
        ["'again'", "rows 0, 1, 2, 3, 4 follow", "leave it out", "proximal=100"],
    ),
    "inconsistent": (
        "four_bar",
        "",
        [AGAIN | {"p_second": [2, 0, 0], "rows": [2, 3]}],
        ["'again'", "rows 2, 3 follow", "proximal=100"],
    ),
}


@pytest.mark.parametrize("command,fault", covering(COMMANDS, OF_ALL))
def test_every_command_refuses_alike(refused, tmp_path, command, fault):
    model, options, loops, words = OF_ALL[fault]
    more = options.split()
    if loops is not None:
        more += ["--loops", loops_file(tmp_path, loops)]
    line = call(refused, tmp_path, command, model, *more)
    assert all(word in line for word in words), line


@pytest.mark.parametrize("command", listed(IN_ONE_STATE))
def test_a_state_in_which_a_loop_is_open_is_refused(refused, tmp_path, command):
    line = call(refused, tmp_path, command, "four_bar", "--q", "0.3,0.2,0.1")
    assert "'pin'" in line and "open by 2.2" in line and "--state random:0" in line


@pytest.mark.product
@pytest.mark.parametrize("command", ["simulate", "tune", "export", "report"])
def test_a_loop_that_nothing_closes_is_refused(refused, tmp_path, command, monkeypatch):
    monkeypatch.setattr(sample, "MOST", 3)
    path = loops_file(tmp_path, [CUT | {"p_second": [9, 0, 0.2]}])
    line = call(refused, tmp_path, command, "chain:3", "--loops", path)
    assert "'j3-world'" in line
    assert ("is open by" if command == "simulate" else "none of 3 random states") in line


@pytest.mark.product
@pytest.mark.parametrize("command", ["export", "tune"])
def test_tune_and_export_find_a_state_that_closes_what_is_open(run, tmp_path, command):
    path = loops_file(tmp_path, [CUT | {"p_second": [0.1, 0, 0.2]}])
    code, _, err = run(command, "chain:3", "--loops", path, *COMMANDS[command].split())
    assert code == 0 and not [line for line in err.splitlines() if "so far" not in line], err


def test_a_state_that_closes_what_was_open_is_drawn_and_baumgarte_may_close_it(run, tmp_path):
    far = CUT | {"p_second": [0.1, 0, 0.2]}
    path = loops_file(tmp_path, [far])
    code, out, err = run("solve", "chain:3", "--loops", path, "--state", "random:0", "--json")
    assert code == 0 and err == "" and len(json.loads(out)["qdd"]) == 3
    path = loops_file(tmp_path, [far | {"baumgarte": [10, 25]}])
    code, _, err = run("solve", "chain:3", "--loops", path)
    assert code == 0 and err.count("\n") == 1 and "warning: loop 'j3-world' is open by" in err


def test_an_option_that_is_given_twice_or_in_pythons_numbers_is_refused(refused):
    """The second took the place of the first without a word."""
    for words in ("--order abm --order crbm", "--orders abm --order=crbm", "--order abm --orders abm"):
        assert "option --order is given twice" in refused("compare", "chain:3", *words.split())
    assert "option --format is given twice" in refused("check", "chain:2", "--format", "tf32", "--float32")
    assert "option -o is given twice" in refused(*["export", "chain:2", "-o", "a.c", "--output", "b.c"])
    assert "argument --eps: invalid float value: '1_0'" in refused("simulate", "chain:2", "--eps", "1_0")
    assert "--certify: invalid int value: '1_0'" in refused("solve", "chain:2", "--certify", "1_0")
    told = refused("solve", "chain:2", "--symbolic", "--symbolic")
    assert told.startswith("option --symbolic is given twice; give it once; see")
    both = parser("solve").parse_args(["solve", "chain:2", "--state", "qd:1,2", "--state", "tau:1,2"])
    assert both.state == ["qd:1,2", "tau:1,2"]
