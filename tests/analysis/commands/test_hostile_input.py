"""Whatever is given, there is a right answer or one clear sentence: never a traceback or a hang.

Commands, arguments and options are those of the parser, so that a new one is attacked as well.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from helpers import ROOT

from pivotree import kkt, orderings
from pivotree.analysis import cli
from pivotree.kkt.arithmetic.custom import Custom
from pivotree.kkt.base.files import beside, stems, write_whole
from pivotree.kkt.base.foreign import foreign
from pivotree.kkt.base.reading import read_json
from pivotree.kkt.base.text import LONGEST, LONGEST_NAME, sentence

LIMIT = 60  # [s] for one call: more is a hang
COMMANDS = next(
    action for action in cli.parser()._actions if isinstance(action, argparse._SubParsersAction)
).choices


class Hang(BaseException):
    """No answer in time."""


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command in a folder of its own: exit code, standard output, the lines of a refusal."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        def late(*_):
            raise Hang(f"{[str(a)[:60] for a in arguments]}: no answer in {LIMIT} s")

        capsys.readouterr()
        before = signal.signal(signal.SIGALRM, late)
        signal.alarm(LIMIT)
        try:
            code = cli.main([str(a) for a in arguments])
        except SystemExit as stop:  # argparse
            code = stop.code
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
        out, err = capsys.readouterr()
        assert all(c.isprintable() or c == "\n" for c in err), ascii(err)
        lines = [line for line in err.splitlines() if not line.startswith("pivotree: warning: ")]
        assert not list(tmp_path.rglob(".*.part*"))
        return code, out, lines

    return call


@pytest.fixture
def refused(run):
    def call(*arguments):
        code, out, lines = run(*arguments)
        assert (code, out, len(lines)) == (2, "", 1), (code, lines)
        assert lines[0].startswith("pivotree: ") and len(lines[0]) <= LONGEST + 10
        return lines[0]

    return call


# -- what the parser says of a command ------------------------------------------------------------

GIVEN = {"MODEL": "chain:1", "KIND": "matrix", "PAPER": "ascher1996", "CONFIG": "sweep.toml"}
CHEAP = {  # options that keep a command short where nothing is wrong
    "compare": {"--orders": "abm", "--formats": "float32"},
    "report": {"--states": "1", "--orders": "abm", "--formats": "float32"},
    "explore": {"--orders": "abm", "--formats": "float32"},
    "guarantee": {"--states": "1", "--orders": "abm", "--formats": "float32"},
    "simulate": {"--seconds": "0.01", "--order": "abm"},
    "tune": {"--most": "1"},
    "prove": {"--only": "none"},
    "counts": {"--orders": "none"},
    "reproduce": {"--item": "equations"},
}


def output_of(command):
    """The option that names what is written; None where a command writes nothing."""
    found = (a for a in COMMANDS[command]._actions if "-o" in a.option_strings)
    return next(found, None)


def place(action, stem="out"):
    """A name that an output can have, by its metavar and help."""
    if action.metavar == "DIR":
        return stem
    suffix = re.search(r"\.[a-z]+", f"{action.metavar} {action.help}")
    return stem + (suffix[0] if suffix else ".txt")


def words(command, **given):
    """What a command needs, with ``given`` arguments by metavar, or options by their name."""
    result = [command]
    values = GIVEN | given
    for action in COMMANDS[command]._actions:
        if not action.option_strings:
            assert action.metavar in values, f"teach GIVEN the argument {action.metavar}"
            result.append(values[action.metavar])
    for group in COMMANDS[command]._mutually_exclusive_groups:
        if group.required:
            result.append(group._group_actions[0].option_strings[0])
    out, options = output_of(command), dict(CHEAP.get(command, {}))
    if out is not None and (out.required or command in ("figure", "report", "explore")):
        options["--output"] = place(out)
    if "--output" in given and command == "counts":
        options = {}  # the page is of all orders
    options |= {name: value for name, value in given.items() if name.startswith("-")}
    return result + [f"{name}={value}" for name, value in options.items()]


def positional(metavar):
    return [c for c in COMMANDS if metavar in [a.metavar for a in COMMANDS[c]._actions]]


# -- files that are read --------------------------------------------------------------------------

BODY = {
    "name": "a", "parent": None, "R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "p": [0, 0, 0],
    "S": [[0], [0], [1], [0], [0], [0]], "mass": 1.0, "com": [0.1, 0, 0],
    "inertia_com": [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]],
}  # fmt: skip
MODEL = {
    "schema": "pivotree-model/1", "name": "m", "gravity": [0, 0, -9.81],
    "bodies": [BODY, BODY | {"name": "b", "parent": "a", "p": [1, 0, 0]}],
    "velocity": [0.1, 0.2], "effort": [1, 2],
}  # fmt: skip
GOOD = json.dumps(MODEL)


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(10**12)


UNREADABLE = {
    "fifo": os.mkfifo,
    "zeros": lambda path: os.symlink("/dev/zero", path),
    "null": lambda path: os.symlink("/dev/null", path),
    "folder": os.mkdir,
    "missing": lambda path: None,
    "loop": lambda path: os.symlink(path.name, path),
    "huge": sparse,
    "empty": lambda path: path.write_bytes(b""),
    "binary": lambda path: path.write_bytes(bytes(range(256))),
    "utf-16": lambda path: path.write_bytes(GOOD.encode("utf-16")),
    "deep": lambda path: path.write_text("[" * 100_000),
    "deeper": lambda path: path.write_text('{"a":' * 100_000),
    "xml": lambda path: path.write_text("<robot>" * 10_000),
}


@pytest.mark.thorough
@pytest.mark.parametrize("command", [*positional("MODEL"), *positional("CONFIG")])
@pytest.mark.parametrize("kind", UNREADABLE)
def test_files_that_cannot_be_read(refused, tmp_path, command, kind):
    suffixes = (".toml",) if command in positional("CONFIG") else (".json", ".urdf")
    for suffix in suffixes:
        if kind == "utf-16" and suffix == ".urdf":
            continue  # XML says its encoding
        path = tmp_path / f"in{suffix}"
        UNREADABLE[kind](path)
        line = refused(*words(command, MODEL=str(path), CONFIG=str(path)))
        assert f"in{suffix}: " in line


ORDER_OPTIONS = [
    (command, option)
    for command, parser in COMMANDS.items()
    for option in ("--order", "--orders")
    if option in parser._option_string_actions
]


@pytest.mark.thorough
@pytest.mark.parametrize("command,option", ORDER_OPTIONS)
@pytest.mark.parametrize("kind", ["fifo", "zeros", "folder", "missing", "loop", "huge", "binary"])
def test_order_files_that_cannot_be_read(refused, tmp_path, command, option, kind):
    for suffix, name in ((".json", "in.json"), (".py", "in.py:f")):
        UNREADABLE[kind](tmp_path / f"in{suffix}")
        assert "order in." in refused(*words(command, **{option: name}))


CHANGED = {
    "NaN": GOOD.replace("1.0", "NaN"),
    "infinite": GOOD.replace("1.0", "1e999"),
    "digits": GOOD.replace("1.0", "9" * 10_000),
    "twice": GOOD.replace('"mass": 1.0', '"mass": 1.0, "mass": 2.0'),
    "schema": json.dumps(MODEL | {"schema": "x" * 1_000_000}),
    "long": json.dumps(MODEL | {"name": "x" * 1_000_000}),
    "surrogate": json.dumps(MODEL | {"name": "\ud800"}),
    "body": GOOD.replace('"a"', '"\\ud800"'),
    "long body": GOOD.replace('"a"', json.dumps("x" * 1_000_000)),
    "line": GOOD.replace('"a"', '"a\\nb"'),
    "colour": GOOD.replace('"a"', '"\\u001b[31m"'),
    "none": GOOD.replace('"a"', '""'),
}


@pytest.mark.thorough
@pytest.mark.parametrize("command", positional("MODEL"))
def test_model_files_that_hold_what_they_should_not(refused, tmp_path, command):
    for text in CHANGED.values():
        (tmp_path / "in.json").write_text(text)
        assert "in.json: " in refused(*words(command, MODEL="in.json"))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "\ud800", "\0", "\u2028", "x" * 501])
def test_names_that_no_figure_or_file_could_show(name):
    tree = kkt.new_tree("t")
    with pytest.raises(kkt.ModelError, match="field 'name'"):
        kkt.add_body(tree, name, mass=1.0)
    kkt.add_body(tree, "a", mass=1.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    tree.graph["name"] = name
    with pytest.raises(kkt.ModelError, match=r"tree .* field 'name'"):
        kkt.build(tree)
    with pytest.raises(kkt.ModelError, match="field 'name'"):
        kkt.tree_from_arrays([-1], mass=[1.0], names=[name])
    tree.graph["name"] = "t"
    with pytest.raises(kkt.ModelError, match=r"loop .* field 'name'"):
        kkt.build(tree, loops=[kkt.contact("a", point=(0, 0, 0), name=name)])


ODD = ["<script>alert(1)</script>", "\\end{document}_%&$#^~{}", "\u202eabc\u200f", "$x_{$",
       "Ω𝄞é漢字", "'\"`;]]>", "[red]x[/red][/]", "../../x", "a,b", " "]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", ODD)
def test_odd_names_that_are_names(run, tmp_path, name):
    (tmp_path / "in.json").write_text(GOOD.replace('"a"', json.dumps(name)))
    code, out, lines = run("solve", "in.json", "--json")
    assert code == 0 and not lines and len(json.loads(out)["qdd"]) == 2
    code, out, _ = run("solve", "in.json")
    assert code == 0 and out.splitlines()[0].startswith(f"{name}\t")
    code, out, _ = run("blame", "in.json", "--json")
    assert code == 0 and json.loads(out)["top"]
    assert run("spy", "in.json", "-o", "o.svg")[0] == 0
    ElementTree.parse(tmp_path / "o.svg")
    assert run("spy", "in.json", "-o", "o.tex")[0] == 0
    text = (tmp_path / "o.tex").read_text(encoding="utf-8")
    tex = "".join(line for line in text.splitlines() if not line.startswith("%"))
    assert tex.count("\\end{document}") == 1 and tex.count("\\begin{") == tex.count("\\end{")
    code, script, _ = run("list", "in.json", "--python")
    assert code == 0
    compile(script, "script", "exec")
    assert not (tmp_path.parent / "x").exists()


# -- code of a user's own -------------------------------------------------------------------------

ABM = "[[('pdd', k), ('qdd', k), ('f', k)] for k in s.tip_to_base]"
RAISING = {
    "exit of a generator": "def f(s): raise GeneratorExit('x')",
    "own class at import": "class E(BaseException): pass\nraise E('a\\n\\x1b[31m')",
    "own class in a hash": "class E(BaseException): pass\nclass B:\n"
    "    def __hash__(self): raise E('x')\ndef f(s): return [[('pdd', B())]]",
    "no text for itself": "class E(Exception):\n    def __str__(self): raise SystemExit(3)\n"
    "def f(s): raise E",
    "no text for its block": "class B:\n    def __repr__(self): raise ValueError('x')\n"
    "def f(s): return [[('pdd', B())]]",
    "exit": "def f(s): raise SystemExit(0)",
    "exit at import": "raise SystemExit(0)",
    "midway": "def f(s):\n    yield [('pdd', 'j1')]\n    raise GeneratorExit",
    "while it is read": "class L(list):\n    def __len__(self): raise BaseException('x')\n"
    "def f(s): return [L([('pdd', 'j1')])]",
    "without end": "def f(s): return f(s)",
    "a million words": "def f(s): raise ValueError('x' * 1000000)",
    "no end of a text": "def f(s): return '",
    "a module's own": "def __getattr__(name): raise BaseException(name)",
    "a name": f"def f(s): return {ABM}\nf.order_name = '\\ud800'",
    "a long name": f"def f(s): return {ABM}\nf.order_name = 'x' * 1000000",
    "rules": f"def f(s): return {ABM}\nf.order_name, f.rules = 'x', 'y'",
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", RAISING)
def test_whatever_an_order_raises_is_one_sentence(refused, tmp_path, what):
    (tmp_path / "own.py").write_text(RAISING[what])
    for command in ("solve", "spy", "list", "compare"):
        option = "--orders" if command == "compare" else "--order"
        line = refused(*words(command, **{option: "own.py:f"}))
        assert line.startswith("pivotree: order")
    with pytest.raises(kkt.OrderError):
        kkt.eliminate(kkt.build(kkt.chain(2)), orderings.get(f"{tmp_path}/own.py:f"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["own.py"]  # and no __pycache__


@pytest.mark.thorough
def test_ctrl_c_in_an_order_is_ctrl_c(run, tmp_path):
    (tmp_path / "own.py").write_text("def f(s): raise KeyboardInterrupt")
    assert run("solve", "chain:1", "--order", "own.py:f")[0] == cli.INTERRUPTED


def _raising(op, x, y):
    raise GeneratorExit("x")


class Raising:
    """A number that can do nothing."""

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        raise SystemExit(0)

    __sub__ = __mul__ = __truediv__ = __neg__ = __add__


@pytest.mark.parametrize("operate", [_raising, Raising])
def test_whatever_a_number_raises_is_one_sentence(operate):
    own = Custom("mine", 1e-3, operate)
    with pytest.raises(kkt.FormatError, match=r"raises (GeneratorExit|SystemExit|TypeError)"):
        kkt.eliminate(kkt.build(kkt.chain(2)), orderings.get("abm"), own)


def test_only_ctrl_c_the_end_of_memory_and_our_own_go_through():
    for passing in (KeyboardInterrupt(), MemoryError(), kkt.ModelError("ours")):
        with pytest.raises(type(passing)) as caught, foreign("order 'f'"):
            raise passing
        assert caught.value is passing
    with pytest.raises(KeyboardInterrupt), foreign("order 'f'"):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error


# -- files that are written -----------------------------------------------------------------------

UNWRITABLE = {
    "loop": lambda path: os.symlink(path.name, path),
    "below a file": None,
    "too long": None,
    "fifo": os.mkfifo,
    "device": lambda path: os.symlink("/dev/full", path),
}
FILES_ONLY = {
    "folder": os.mkdir,
    "dangling": lambda path: os.symlink(f"nowhere/{path.name}", path),
    "no folder": None,
}
WRITING = [command for command in COMMANDS if output_of(command) is not None]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kind,command",
    [
        (kind, command)
        for kind in [*UNWRITABLE, *FILES_ONLY]
        for command in WRITING
        if kind in UNWRITABLE or output_of(command).metavar != "DIR"  # folders are made
    ],
)
def test_places_that_cannot_be_written_are_told_at_once(refused, tmp_path, command, kind):
    name = place(output_of(command))
    (tmp_path / "file").write_text("mine")
    target = {
        "below a file": f"file/{name}",
        "too long": name.replace("out", "x" * 300),
        "no folder": f"none/{name}",
    }.get(kind, name)
    make = (UNWRITABLE | FILES_ONLY)[kind]
    if make is not None:
        make(tmp_path / name)
    before = sorted(tmp_path.rglob("*"))
    line = refused(*words(command, **{"--output": target}))
    assert line.startswith("pivotree: option -o: ") and "cannot be written" in line
    assert sorted(tmp_path.rglob("*")) == before and (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("command", WRITING)
def test_an_output_needs_a_name(refused, command):
    for nothing in ("", " "):
        assert "-o: is empty" in refused(*words(command, **{"--output": nothing}))


def test_links_are_followed_and_what_a_file_was_it_stays(run, tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "real.txt").chmod(0o600)
    os.symlink("real.txt", tmp_path / "link.txt")
    assert run("list", "chain:2", "-o", "link.txt")[0] == 0
    assert (tmp_path / "link.txt").is_symlink() and "for k" in (tmp_path / "real.txt").read_text()
    assert (tmp_path / "real.txt").stat().st_mode & 0o777 == 0o600
    name = "é" * 125 + ".txt"  # 254 bytes, as long as a name may be
    assert run("list", "chain:2", "-o", name)[0] == 0 and (tmp_path / name).is_file()


@pytest.mark.thorough
def test_a_writer_that_fails_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    for error in (ValueError("x"), KeyboardInterrupt(), OSError(28, "No space left on device")):
        with pytest.raises((ValueError, KeyboardInterrupt)), beside(path) as part:
            part.write_text("half")
            raise error
        assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.txt"]
    with pytest.raises(kkt.FormatError, match="no file can have this name"):
        write_whole(f"{tmp_path}/a\0b", "")


def test_no_two_names_make_one_file():
    assert stems(["a b", "a$b", "A_B", "a_b_2", "x" * 500]) == {
        "a b": "a_b", "a$b": "a_b_2", "A_B": "A_B_3", "a_b_2": "a_b_2_2", "x" * 500: "x" * 100,
    }  # fmt: skip


def limited():
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # bytes: a disk that is soon full


@pytest.mark.thorough
def test_a_disk_that_is_full(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pivotree", "list", "chain:2", "-o", "a.txt"], cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PIVOTREE_CACHE": "off"}, preexec_fn=limited,
        capture_output=True, text=True, timeout=LIMIT,
    )  # fmt: skip
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "a.txt: cannot be written (File too large)" in done.stderr
    assert not os.listdir(tmp_path)


@pytest.mark.thorough
def test_an_output_that_has_no_letter_for_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pivotree", "list", "chain:2"], cwd=tmp_path, timeout=LIMIT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "standard output: ascii has no" in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    "closed,arguments", [(1, ["list", "chain:2"]), (2, ["solve", "chian:2"]), (1, ["--version"])]
)
def test_streams_that_are_closed(tmp_path, closed, arguments):
    with open(tmp_path / "kept", "w") as kept:
        done = subprocess.run(
            [sys.executable, "-m", "pivotree", *arguments], cwd=tmp_path, timeout=LIMIT,
            env=os.environ | {"PYTHONPATH": str(ROOT)}, preexec_fn=lambda: os.close(closed),
            stdout=kept if closed == 2 else None, stderr=kept if closed == 1 else None,
        )  # fmt: skip
    assert done.returncode == (2 if closed == 2 else 0)
    assert (tmp_path / "kept").read_text() == ""  # neither a traceback nor a misplaced sentence


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [["--version"], [], ["orders"], ["solve", "chain:1"]])
def test_a_standard_output_that_is_full(tmp_path, arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pivotree", *arguments], cwd=tmp_path, timeout=LIMIT,
            env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=full, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "standard output: No space left on device" in done.stderr


# -- options --------------------------------------------------------------------------------------

OPTIONS = [
    (command, action.option_strings[-1], action.type is not None)
    for command, parser in COMMANDS.items()
    for action in parser._actions
    if action.option_strings and action.nargs != 0 and action is not output_of(command)
]
NUMBERS = ["nan", "inf", "-1", "0", "1e400", str(10**30), "9" * 5000]
TEXTS = ["", "nan", "\x1b[31m", "1,,2", "x" * 1_000_000, "\u202e"]
# What is in range all the same: no corrections, step or seed 0; seeds, times and limits as large
# as one likes; names of functions in C; a format where a figure shows none; an empty clock is none.
LARGE = str(10**30)
STATED = [command for command, option, _ in OPTIONS if option == "--random"]
IN_RANGE = {
    ("compare", "--refine"): {"0"}, ("solve", "--refine"): {"0"},
    ("spy", "--step"): {"0"}, ("figure", "--step"): {"0"}, ("figure", "--format"): {*TEXTS},
    ("report", "--seed"): {"0", LARGE}, ("blame", "--top"): {LARGE}, ("tune", "--most"): {LARGE},
    **{("simulate", f"--{name}"): {LARGE} for name in ("seconds", "eps", "step", "floor", "steps")},
    ("simulate", "--seed"): {"0", LARGE}, ("guarantee", "--seed"): {"0", LARGE},
    **{(name, "--random"): {"0", LARGE} for name in STATED},
    ("guarantee", "--states"): {"0"}, ("simulate", "--clock"): {""},
    ("export", "--name"): {"nan", TEXTS[4]},
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("command,option,typed", OPTIONS)
def test_options_out_of_range(run, tmp_path, command, option, typed):
    for value in [*TEXTS, *NUMBERS] if typed else TEXTS:
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        if option == "--port":  # served until Ctrl-C where it is right
            if value == "0":
                continue
            code, _, lines = run(command, "chain:1", f"{option}={value}", "--no-browser")
        else:
            code, _, lines = run(*words(command, **{option: value}))
        expected = 0 if value in IN_RANGE.get((command, option), ()) else 2
        assert (code, len(lines)) == (expected, expected // 2), (value[:20], lines)
        assert all(len(line) <= LONGEST + 10 for line in lines)


@pytest.mark.thorough
@pytest.mark.parametrize("command", positional("MODEL"))
def test_specs_beyond_reason(refused, command):
    for spec in ("chain:1000000000", f"comb:{10**30}", "random_tree:n=1000000000", "binary:60",
                 f"star:{10**18}", "featherstone:1000000000", f"chain:{'9' * 5000}", "x" * 10**6,
                 "chain:1,axes=\x1b", "two_link:r=nan", ""):  # fmt: skip
        refused(*words(command, MODEL=spec))


@pytest.mark.parametrize("command", COMMANDS)
def test_arguments_that_are_no_text(refused, command):
    assert "'\\udcff'" in refused(command, "\udcff")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "arguments,why",
    [
        ("--integrator Radau --seconds 1e6", "Radau breaks off: .* at t = "),
        ("--integrator BDF --seconds 10 --eps 1e-300", "BDF breaks off: .* at t = "),
        ("--integrator LSODA --seconds 1e300 --steps 100", "gives up after 100 steps at t = "),
        ("--integrator RK45 --seconds 1e300 --steps 100", "gives up after 100 steps at t = "),
        ("--seconds 1e300 --steps 100", "more than 100 steps at t = "),
    ],
)
def test_motions_that_go_nowhere(run, arguments, why):
    code, out, lines = run("simulate", "chain:3", "--order", "abm", "--json", *arguments.split())
    (row,) = json.loads(out)["rows"]
    assert code == 1 and lines == [] and row["failed"] == 1 and re.match(why, row["why"])


def test_steps_too_short_to_count(refused):
    why = refused("simulate", "chain:3", "--integrator", "midpoint", "--step", "1e-300")
    assert "--step: is 1e-300, more than 10,000,000 steps" in why


# -- sentences ------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_sentence_is_one_short_line_of_what_can_be_printed():
    assert sentence("a\n  b\t\u2028c  d") == "a b c  d"
    assert sentence("\x1b[31m\ud800\u202e\0é漢") == "\\x1b[31m\\ud800\\u202e\\x00é漢"
    for long in ("x" * 10**6, "x " * 10**6, "\0" * 10**6, f"file {'x' * 10**6}: give a file"):
        assert len(sentence(long)) <= LONGEST and sentence(sentence(long)) == sentence(long)
    assert sentence(f"file {'x' * 10**6}: give a file").endswith("x: give a file")
    assert str(kkt.OrderError("a\n" + "b" * 10**6)).startswith("a bbb")
    assert LONGEST_NAME <= LONGEST


@pytest.mark.thorough
def test_json_says_everything_once(tmp_path):
    path = tmp_path / "a.json"
    for text, why in (('{"a": [{"b": 1, "b": 1}]}', "'b' twice"), ("[-Infinity]", "-Infinity")):
        path.write_text(text)
        with pytest.raises(kkt.PivotreeError, match=why):
            read_json(path)


# -- Ctrl-C ---------------------------------------------------------------------------------------


def test_ctrl_c_behind_an_error_of_compiled_code(run, monkeypatch):
    def interrupted(options):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("<built-in> returned a result with an exception set") from error

    monkeypatch.setattr("pivotree.analysis.cli.commands.orders.run", interrupted)
    code, out, lines = run("orders")
    assert (code, out, lines) == (cli.INTERRUPTED, "", ["pivotree: interrupted"])


LONG = {
    "explore": ["random_tree:n=20000"],
    "report": ["random_tree:n=30", "-o", "out", "--states", "100000"],
    "prove": [],
    "counts": [],
    "simulate": ["chain:7", "--seconds", "1e9", "--steps", "1000000000"],
}


def _heeding_ctrl_c():
    """Where the tests themselves run in the background, their children would ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.slow
@pytest.mark.parametrize("command", LONG)
@pytest.mark.parametrize("seconds", [2.0, 6.0])
def test_ctrl_c(tmp_path, command, seconds):
    """Ctrl-C reaches every process of a terminal, wherever they are."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pivotree", command, *LONG[command]], cwd=tmp_path, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_heeding_ctrl_c,
    )  # fmt: skip
    try:
        process.wait(seconds)
        pytest.fail(f"it ended by itself: {process.communicate()}")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
    try:
        out, err = process.communicate(timeout=LIMIT)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    # a shell says 130 too where Python ends itself by the signal
    assert process.returncode in (cli.INTERRUPTED, -signal.SIGINT), err
    assert "Traceback" not in err and "interrupted" in (out + err).lower()  # a report is kept
    assert all(line.startswith("pivotree: ") for line in err.splitlines())


def test_where_an_order_fails_is_said_in_its_own_file(refused, tmp_path):
    """Of the frames behind an error those of the engine and of the orders are not told."""
    (tmp_path / "own.py").write_text("def f(structure):\n    return structure.children(1 / 0)\n")
    assert "(own.py, line 2)" in refused(*words("solve", **{"--order": "own.py:f"}))
    (tmp_path / "deep.py").write_text("def f(structure):\n    return structure.children([])\n")
    assert "(deep.py, line 2)" in refused(*words("solve", **{"--order": "deep.py:f"}))
