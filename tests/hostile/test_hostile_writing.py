"""Places that cannot be written, full disks, closed streams: one sentence each."""

import ast
import os
import resource
import subprocess
import sys

import pytest
from designs import listed
from helpers import ROOT
from hostile_words import COMMANDS, LIMIT, output_of, place, refusals, words
from test_architecture import PACKAGES, parsed
from test_architecture import files as files_of

from pivotree import kkt
from pivotree.kkt.base import files
from pivotree.kkt.base.files import beside, stems, write_whole

WRITING = [command for command in COMMANDS if output_of(command) is not None]
FILES = [command for command in WRITING if output_of(command).metavar != "DIR"]  # folders are made
UNWRITABLE = {  # what stands in the place, and the commands that cannot write there
    "loop": (WRITING, lambda path: os.symlink(path.name, path)),
    "fifo": (WRITING, os.mkfifo),
    "device": (WRITING, lambda path: os.symlink("/dev/full", path)),
    "below a file": (WRITING, None),
    "too long": (WRITING, None),
    "folder": (FILES, os.mkdir),
    "dangling": (FILES, lambda path: os.symlink(f"nowhere/{path.name}", path)),
    "no folder": (FILES, None),
}
ELSEWHERE = {"below a file": "file/{}", "no folder": "none/{}", "too long": "x" * 300 + "{}"}


@pytest.mark.parametrize("kind", UNWRITABLE)
def test_places_that_cannot_be_written_are_told_at_once(refused, tmp_path, kind):
    commands, make = UNWRITABLE[kind]
    (tmp_path / "file").write_text("mine")
    for command in commands:
        name = place(output_of(command), command)
        if make is not None:
            make(tmp_path / name)
        before = sorted(tmp_path.rglob("*"))
        line = refused(*words(command, **{"--output": ELSEWHERE.get(kind, "{}").format(name)}))
        assert line.startswith("pivotree: option -o: ") and "cannot be written" in line, command
        assert sorted(tmp_path.rglob("*")) == before and (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("command", WRITING)
def test_an_output_needs_a_name(refused, command):
    assert "-o is empty" in refused(*words(command, **{"--output": " "}))


def test_links_are_followed_and_what_a_file_was_it_stays(run, tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "real.txt").chmod(0o600)
    os.symlink("real.txt", tmp_path / "link.txt")
    assert run("list", "chain:2", "-o", "link.txt")[0] == 0
    assert (tmp_path / "link.txt").is_symlink() and "for k" in (tmp_path / "real.txt").read_text()
    assert (tmp_path / "real.txt").stat().st_mode & 0o777 == 0o600
    name = "é" * 125 + ".txt"  # 254 bytes, as long as a name may be
    assert run("list", "chain:2", "-o", name)[0] == 0 and (tmp_path / name).is_file()


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
    """Also where letters have no case; nor does a name mean a folder, a drive or a pattern."""
    found = stems(["a b", "a$b", "A_B", "a_b_2", "x" * 500, "robot:ur5", "robot_ur5", "a/b\\c", "..", "ß"])
    wanted = {"a b": "a_b", "a$b": "a_b_2", "A_B": "A_B_3", "a_b_2": "a_b_2_2", "x" * 500: "x" * 100}
    assert found | wanted == found
    assert len({stem.casefold() for stem in found.values()}) == len(found)
    assert not any(set(stem) & set('<>:"/\\|?* ') for stem in found.values())


@pytest.fixture
def apart(tmp_path):
    """The same by a new Python, with what ``subprocess.run`` is given."""

    def call(arguments, env=None, **given):
        command = [sys.executable, "-m", "pivotree", *arguments.split()]
        both = {"stderr": subprocess.PIPE, "cwd": tmp_path, "env": os.environ | (env or {})} | given
        return subprocess.run(command, text=True, timeout=LIMIT, **both)

    return call


UNCACHED = {"PYTHONDONTWRITEBYTECODE": "1", "PIVOTREE_CACHE": "off"}  # it would be read again, cut off


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # bytes: a disk that is soon full


@pytest.mark.parametrize(
    "arguments,stdout,env,limits,why",
    [
        ("list chain:2 -o a.txt", None, UNCACHED, small_files, "a.txt: cannot be written (File too large)"),
        ("list chain:2", "out", {"PYTHONIOENCODING": "ascii"}, None, "standard output: ascii has no"),
        *(
            pytest.param(words, "/dev/full", {}, None, "standard output: No space", marks=pytest.mark.soak)
            for words in ("--version", "", "solve chain:1")
        ),
    ],
)
def test_what_takes_no_output(apart, tmp_path, arguments, stdout, env, limits, why):
    """A disk that is full, a stream that has no letter for it, a standard output that is full."""
    with open(tmp_path / (stdout or "none"), "w") as out:
        done = apart(arguments, stdout=out, env=env, preexec_fn=limits)
    assert done.returncode == 2 and len(refusals(done.stderr)) == 1
    assert why in done.stderr and not (tmp_path / "a.txt").exists()


@pytest.mark.product
@pytest.mark.parametrize(
    "closed,arguments",
    listed([(1, "list chain:2"), (2, "solve chian:2"), (1, "--version")], 2, pytest.mark.soak),
)
def test_streams_that_are_closed(apart, tmp_path, closed, arguments):
    with open(tmp_path / "kept", "w") as kept:
        stdout, stderr = (None, kept) if closed == 1 else (kept, None)
        done = apart(arguments, stdout=stdout, stderr=stderr, preexec_fn=lambda: os.close(closed))
    assert done.returncode == (2 if closed == 2 else 0)
    assert (tmp_path / "kept").read_text() == ""  # neither a traceback nor a misplaced sentence


@pytest.mark.soak
@pytest.mark.parametrize(
    "variable",
    [
        "PYTHONUTF8=0 LC_ALL=C PYTHONCOERCECLOCALE=0",
        "PYTHONOPTIMIZE=2",
        "PATH=",
        "HOME=/nowhere MPLCONFIGDIR=/nowhere NUMBA_CACHE_DIR=/nowhere",
        "COLUMNS=1 TERM=dumb",
        "LC_ALL=tr_TR.UTF-8",
    ],
)
def test_variables_that_change_how_python_starts(apart, variable):
    env = dict(one.split("=") for one in variable.split())
    for arguments in ("solve chain:3 --json", "figure spy chain:1 -o a.png"):
        done = apart(arguments, env=env, stdout=subprocess.PIPE)
        assert (done.returncode, refusals(done.stderr)) == (0, [])


def test_parts_that_were_left_go_where_their_process_is_no_more(tmp_path, monkeypatch):
    """Not on Windows, where os.kill(number, 0) is Ctrl-C for the process that it asks for."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    path = tmp_path / "a.json"
    own = files.part_of(path)
    left = own.with_name(own.name.replace(f".{os.getpid()}.", f".{ended.pid}."))
    left.touch()
    own.touch()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(os, "kill", lambda *asked: pytest.fail(f"a signal: {asked}"))
        elsewhere.setattr(os, "name", "nt")
        files.clear_parts(path)
    assert left.exists()
    files.clear_parts(path)
    assert own.exists() and not left.exists()


def test_parts_of_another_machine_stay_in_a_folder_that_both_share(tmp_path, monkeypatch):
    """Its process of this number may be alive, though this machine has none."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    path = tmp_path / "a.json"
    with monkeypatch.context() as there:
        there.setattr("platform.node", lambda: "other.example")
        there.setattr(os, "getpid", lambda: ended.pid)
        left = files.part_of(path)
    left.write_text("half")
    with pytest.warns(UserWarning, match=f"{left.name} is written by a process on other-example"):
        write_whole(path, "{}")
    assert left.read_text() == "half" and path.read_text() == "{}"
    assert sorted(os.listdir(tmp_path)) == [left.name, "a.json"]


# -- one place ------------------------------------------------------------------------------------

OWN = {  # files of the package itself, and those that grow or are locked while a command works
    "read_text": "analysis/explorer/page.py analysis/readings/readings.py kkt/model/robots.py "
    "papers/item.py papers/paper.py papers/make.py",
    "read_bytes": "kkt/machine/store.py",
    "write_text": "",
    "write_bytes": "papers/make.py",
    "savefig": "",
    "exec_module": "",
    "open": "kkt/base/reading.py analysis/report/make.py analysis/sweep/store.py kkt/machine/store.py "
    "analysis/cli/running.py analysis/cli/__init__.py",
    "exec": "orderings/load.py analysis/listing/sets.py",  # sets: expressions of our own vocabulary
}
MADE = {"part", "stream", "self.fronts", "Image"}  # by kkt.base.files.beside, in memory, no files


def calls(path):
    """Name and receiver, or first argument of ``savefig``, of every call that meets a file."""
    for node in ast.walk(parsed(path)):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in ("open", "exec"):
            yield node.func.id, ""
        if isinstance(node.func, ast.Attribute) and node.func.attr in OWN:
            whose = node.args[0] if node.func.attr == "savefig" else node.func.value
            yield node.func.attr, ast.unparse(whose)


def test_files_are_opened_written_and_run_in_one_place():
    """kkt.base.reading opens what a user names, kkt.base.files writes, kkt.base.foreign runs."""
    places = [(path.relative_to(ROOT).as_posix(), path) for path in files_of(*PACKAGES)]
    met = [(where, *call) for where, path in places for call in calls(path)]
    others = [x for x in met if x[2] not in MADE and x[0] not in [*OWN[x[1]].split(), "kkt/base/files.py"]]
    assert others == [] and len(met) > 10
