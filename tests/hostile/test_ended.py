"""Commands ended by signals at random moments, and run again: nothing is half, left or lost.

Each command of the table runs undisturbed first, twice: how long it takes, and what it writes. Then it is
ended by a signal: Ctrl-C (INT) goes to the whole group, as a terminal's does; TERM and KILL go to the
command alone; WORKER is a KILL of one of its processes. What stands in its folder afterwards must be
whole; no process may be left; and the same command, run again, must end with what the undisturbed one
has written, byte by byte. KILLS says how many moments are drawn for each signal.
"""

import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from hostile_words import refusals

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc"),
]
MOST = int(os.environ.get("KILLS", "2"))
SWEEP = """output = "s.csv"
models = ["random_tree:n=3,seed={s}"]
orders = ["abm", "crbm", "virtual_work"]
formats = ["float32", "bfloat16"]
[ranges]
s = { from = 1, to = 20, step = 1 }
[states]
number = 2
"""


@dataclass(frozen=True)
class Job:
    """A command, the files beside it, and what it may leave where it is ended."""

    command: str
    files: dict[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()  # folders and files of results so far, which the next run takes up
    changing: tuple[str, ...] = ()  # files that hold times
    module: str = "pivotree"

    def begin(self, folder: Path, cache: Path) -> "Run":
        return Run.of([self.module, *self.command.split()], folder, cache)

    def lay_out(self, top: Path) -> Path:
        folder = top / "work"
        folder.mkdir(parents=True)
        for name, text in self.files.items():
            (folder / name).write_text(text)
        return folder


SMALL = {
    "sweep": Job("sweep s.toml -j 2 --json", files={"s.toml": SWEEP}, kept=("s.csv.parts",)),
    "sweep_here": Job(
        "sweep s.toml -j 1 --json",
        files={"s.toml": SWEEP.replace("to = 20", "to = 8")},
        kept=("s.csv.parts",),
    ),
    "report": Job(
        "report random_tree:n=3 --states 40 --orders abm,crbm --formats float32 --yes -o out",
        kept=("out/states.csv.parts",),
        changing=("out/report.html", "out/report.json"),
    ),
    "reproduce": Job("reproduce ascher1996 --item table2 -o out"),
    "guarantee": Job("guarantee chain:2 --states 3 --orders abm --json"),
    "tune": Job("tune chain:2 --most 3 --yes -o order.json"),
}
LONG = (  # work of minutes, which is ended in its first seconds and not run again
    "export chain:2000 --order abm --yes -o a.c",
    "blame chain:3000 --order abm --yes",
    "compare random_tree:n=2000 --yes",
    "solve random_tree:n=3000 --certify 50 --yes",
    "report random_tree:n=60 --states 100000 --yes -o out",
    "simulate random_tree:n=300 --order abm --seconds 100",
    "explore random_tree:n=20000 -o page.html",
    "list random_tree:n=300 --order crbm --yes",
    "prove",
    "figure spy random_tree:n=5000 -o a.png",
    "guarantee random_tree:n=40 --states 100000 --yes",
    "tune random_tree:n=40 --most 1000000 --yes -o order.json",
    "sweep s.toml",
    "reproduce all -o out",
)
LONG_SWEEP = SWEEP.replace("n=3", "n=30").replace("20", "2000")

FIXED = {"SOURCE_DATE_EPOCH": "0", "COLUMNS": "80"}
LIMIT = 600.0  # [s] for any run
ANSWER = 20.0  # [s] within which Ctrl-C is answered, on a machine that others use
GONE = 5.0  # [s] after which a process is an orphan


@dataclass
class Run:
    """A command in a session of its own, to which all of its children belong."""

    process: subprocess.Popen
    folder: Path

    @staticmethod
    def of(words: list[str], folder: Path, cache: Path) -> "Run":
        beside = folder.parent
        (beside / "tmp").mkdir(exist_ok=True)
        variables = FIXED | {"PIVOTREE_CACHE": str(cache), "TMPDIR": str(beside / "tmp")}
        with (beside / "err").open("wb") as err:
            process = subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=folder,
                env=os.environ | variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=err,
                start_new_session=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # deaf in the background
            )
        return Run(process, folder)

    def said(self) -> str:
        return (self.folder.parent / "err").read_bytes().decode("utf-8", "replace")

    def processes(self) -> list[int]:
        """All of the session that live."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (place / "stat").read_text().rsplit(")", 1)[1].split()
                if int(words[3]) == self.process.pid and words[0] not in "ZX":
                    found.append(int(place.name))
        return found

    def hit(self, number: int) -> None:
        """A signal for all of the session."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def orphans(self) -> list[str]:
        """The commands of those that outlive the command by ``GONE`` seconds; they are ended."""
        end = time.monotonic() + GONE
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(0.05)
        told = []
        for pid in left:
            with contextlib.suppress(OSError):
                told.append(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "))
        self.hit(signal.SIGKILL)
        return told


@dataclass
class Undisturbed:
    """What a command does where nothing happens."""

    seconds: float
    files: dict[str, bytes]

    @staticmethod
    def of(job: Job, top: Path, cache: Path) -> "Undisturbed":
        for name in ("warm", "timed"):
            folder, began = job.lay_out(top / name), time.monotonic()
            run = job.begin(folder, cache)
            assert run.process.wait(LIMIT) == 0, run.said()
            whole = Undisturbed(time.monotonic() - began, files_of(folder))
        check_same(job, whole, files_of(top / "warm" / "work"))
        return whole


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder by their names, but for those that Python compiles: they hold times."""
    paths = sorted(p for p in folder.rglob("*") if p.is_file() and p.parent.name != "__pycache__")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def check_ended(
    job: Job, whole: Undisturbed | None, kind: str, moment: float, top: Path, cache: Path
) -> None:
    """One run that a signal ends after ``moment`` seconds, what it leaves, and its repetition."""
    folder = job.lay_out(top)
    run = job.begin(folder, cache)
    with contextlib.suppress(subprocess.TimeoutExpired):
        run.process.wait(moment)
    if run.process.poll() is None:
        if kind == "INT":
            os.killpg(run.process.pid, signal.SIGINT)
        elif kind == "WORKER":
            for pid in [pid for pid in run.processes() if pid != run.process.pid][:1]:
                os.kill(pid, signal.SIGKILL)
        else:
            run.process.send_signal(getattr(signal, f"SIG{kind}"))
    began = time.monotonic()
    code = run.process.wait(LIMIT)
    assert kind != "INT" or time.monotonic() - began < ANSWER
    assert run.orphans() == []
    assert code == 0 or _as_promised(kind, code, run.said()), (code, run.said())
    if whole is not None:
        left = files_of(folder)
        check_left(job, whole, kind, left)
        if code == 0 or left.keys() == whole.files.keys():  # ended after its last file
            check_same(job, whole, left)
        elif left.keys() != job.files.keys():
            check_again(job, whole, folder, cache)


def _as_promised(kind: str, code: int, err: str) -> bool:
    """Whether an exit code and what was said are right for a command that did not come to its end."""
    lines = refusals(err)
    if kind == "KILL":
        return code == -signal.SIGKILL
    if kind == "TERM":
        return code == -signal.SIGTERM and "Traceback" not in err
    before = code == -signal.SIGINT or (code == 1 and err.rstrip().endswith("KeyboardInterrupt"))
    if before and " in main\n" not in err:
        return kind == "INT"  # Python itself, before main
    return kind == "INT" and code == 130 and len(lines) == 1 and lines[0].startswith("pivotree: interrupted")


def check_left(job: Job, whole: Undisturbed, kind: str, left: dict[str, bytes]) -> None:
    """The files that an ended command has left are whole, or parts that the next run clears away."""
    for name, content in left.items():
        if any(word.startswith(".") and ".part" in word for word in Path(name).parts):
            assert kind == "KILL" or name.startswith(job.kept), name
        elif name not in job.files and not name.startswith(job.kept):
            assert name in whole.files and _alike(job, whole, name, content), f"half-written: {name}"


def _alike(job: Job, whole: Undisturbed, name: str, content: bytes) -> bool:
    """Whether a file is that of the undisturbed run; of one that holds times, whether it has its end."""
    if name not in job.changing:
        return content == whole.files[name]
    ends = {".html": b"</html>", ".pdf": b"%%EOF", ".json": b"}"}
    return content.rstrip().endswith(ends[Path(name).suffix])


def check_again(job: Job, whole: Undisturbed, folder: Path, cache: Path) -> None:
    """The same command, run once more where the first was ended."""
    run = job.begin(folder, cache)
    assert run.process.wait(LIMIT) == 0, run.said()
    assert run.orphans() == []
    check_same(job, whole, files_of(folder))


def check_same(job: Job, whole: Undisturbed, files: dict[str, bytes]) -> None:
    assert files.keys() == whole.files.keys()
    assert [name for name in files if not _alike(job, whole, name, files[name])] == []


# -- what is asked ---------------------------------------------------------------------------------

WRITER = """import os, signal, subprocess, sys, time
{before}
with open("a.txt", "w") as file:
    file.write("half")
    file.flush()
    time.sleep({pause})
    file.write("whole")
"""


def test_what_is_half_and_what_stays_is_found(tmp_path):
    def written(before, pause):
        return Job("", {"writer.py": WRITER.format(before=before, pause=pause)}, module="writer")

    def check(before, kind, whole=None):
        check_ended(written(before, 60), whole, kind, 1.0, tmp_path / kind, tmp_path)

    whole = Undisturbed.of(written("", 0.0), tmp_path / "whole", tmp_path)
    with pytest.raises(AssertionError, match=r"half-written: a\.txt"):
        check("", "KILL", whole)
    with pytest.raises(AssertionError, match="sleep 60"):
        check("subprocess.Popen(['sleep', '60'])", "TERM")
    with pytest.raises(AssertionError, match="7, "):
        check("signal.signal(signal.SIGINT, lambda *_: sys.exit(7))", "INT")


@pytest.mark.parametrize("kind", ["INT", "TERM", "KILL", "WORKER"])
@pytest.mark.parametrize("command", SMALL)
def test_commands_that_are_ended_leave_nothing_half_and_are_taken_up(command, kind, tmp_path):
    job, drawn = SMALL[command], random.Random(f"{command} {kind}")
    if kind == "WORKER" and command not in ("sweep", "report"):
        pytest.skip("has no workers")
    whole = Undisturbed.of(job, tmp_path / "whole", tmp_path / "cache")
    for k in range(MOST):
        moment, here = whole.seconds * drawn.random(), tmp_path / str(k)
        cache = here if k % 10 == 9 else tmp_path / "cache"  # some compile kernels anew
        check_ended(job, whole, kind, moment, here, cache)


@pytest.mark.parametrize("command", LONG, ids=lambda command: command.split()[0])
def test_ctrl_c_ends_long_work_in_one_sentence(command, tmp_path):
    """It reaches every process of a terminal, wherever they are."""
    job, drawn = Job(command, {"s.toml": LONG_SWEEP}), random.Random(command)
    for k in range(MOST):
        check_ended(job, None, "INT", drawn.uniform(0.0, 8.0), tmp_path / str(k), tmp_path / "cache")


SOME = SWEEP.replace("to = 20", "to = 6")
WRITTEN = {
    **{name: SMALL[name] for name in ("report", "reproduce", "tune")},
    "csv": Job("sweep s.toml -j 1 --json", {"s.toml": SOME}, ("s.csv.parts",)),
    "pdf": Job("figure film chain:2 -o a.pdf"),
    "svg": Job("figure film chain:2 -o a.svg"),
    "tex": Job("figure spy chain:2 -o a.tex"),
    "spy": Job("figure spy chain:2 -o a.png"),
    "compare": Job("compare chain:2 --orders abm,crbm --formats float32 -o out"),
    "simulate": Job("simulate chain:1 --seconds 0.01 --order abm -o out"),
    "export": Job("export random_tree:n=6 --order abm -o a.c"),
    "list": Job("list chain:30 --order abm -o a.txt"),
    "explore": Job("explore chain:1 --orders abm --formats float32 -o a.html"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_files_that_cannot_grow_leave_what_was_there_and_are_told_in_one_sentence(name, tmp_path):
    """As on a disk that fills in the midst; with room, the same command ends with the same bytes."""
    job, old = WRITTEN[name], b"what stood here before\n"
    whole = Undisturbed.of(job, tmp_path / "whole", tmp_path / "cache")
    largest = max(len(content) for key, content in whole.files.items() if key not in job.files)
    there = {key: old for key in whole.files if "/" not in key and "sweep" not in job.command}
    command = [sys.executable, "-m", "pivotree", *job.command.split()]
    for share in (0.1, 0.5, 0.9):
        folder, most = job.lay_out(tmp_path / str(share)), int(share * largest)
        for key, content in there.items():
            (folder / key).write_bytes(content)
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
        env = os.environ | FIXED | {"PIVOTREE_CACHE": str(tmp_path / "new")}
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, preexec_fn=limit, env=env)
        lines = refusals(done.stderr)
        assert (done.returncode, len(lines)) == (2, 1) and "File too large" in lines[0], lines
        left = {key: x for key, x in files_of(folder).items() if x != there.get(key)}
        check_left(job, whole, "INT", left)
        assert "kept" in lines[0] or not any(key.startswith(job.kept) for key in left)
        check_again(job, whole, folder, tmp_path / "cache")
