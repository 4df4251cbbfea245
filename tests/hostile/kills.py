"""Commands ended by signals at random moments, and run again: nothing is half, left or lost.

    .venv/bin/python tests/hostile/kills.py --most 100 --seed 7 --commands sweep report
    .venv/bin/python tests/hostile/kills.py --warm --most 100 --seed 7
    .venv/bin/python tests/hostile/kills.py --large --signals INT --most 10

Each command of the table runs undisturbed first, twice: how long it takes, and what it writes. Then
it is ended --most times by each signal, at moments drawn over that time, from its start on: Ctrl-C
(INT) goes to the whole group, as a terminal's does; TERM and KILL go to the command alone; WORKER
is a KILL of one of its processes. What stands in its folder afterwards must be whole; no process
may be left; and the same command, run again, must end with what the undisturbed one has written,
byte by byte. With --warm each is forked off a process that has imported what commands need, as in
``fuzz.py``: the moments lie in its work, and a hundred take minutes. With --large the commands are
long work, ended in their first seconds and not run again.
"""

import argparse
import contextlib
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from case import refusals

if TYPE_CHECKING:
    from processes import Forked

ROOT = Path(__file__).resolve().parents[2]
SWEEP = """output = "s.csv"
models = ["random_tree:n=3,seed={s}"]
orders = ["abm", "crbm", "virtual_work"]
formats = ["float32", "bfloat16"]
[ranges]
s = { from = 1, to = 20, step = 1 }
[states]
number = 2
"""
PIVOTREE = [sys.executable, "-m", "pivotree"]


@dataclass(frozen=True)
class Job:
    """A command, the files beside it, and what it may leave where it is ended."""

    command: list[str]
    files: dict[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()  # folders and files of results so far, which the next run takes up
    changing: tuple[str, ...] = ()  # files that hold times
    warm: bool = False  # forked off a process that has imported all
    together: str = ""  # a folder that takes the place of the old one as a whole


def pivotree(text: str, **given) -> Job:
    return Job([*PIVOTREE, *text.split()], **given)


# the build of these pages, for a project of three
SITE = f"""import sys
sys.path.insert(0, {str(ROOT / "docs" / "site")!r})
import build
build.ROOT, build.EXPLORED = build.Path.cwd() / "project", ["chain:1"]
build.public = lambda: {{"pivotree": ["build", "chain"]}}
build.main()
"""
PAGES = {
    "README.md": "# Project\n\nSee [the pages](docs/index.md).\n",
    "docs/index.md": "# Pages\n\n```{toctree}\n../README\nplay\nreference/commands\nreference/api\n```\n",
    "docs/play.md": "# Play\n\n![a](b.png){.only-light}\n![a](c.png){.only-dark}\n",
    "docs/slides/make.py": "import os, sys\nos.makedirs(sys.argv[1])\n"
    "open(sys.argv[1] + '/a.html', 'w').write('<html></html>')\n",
}
SMALL = {
    "sweep": pivotree("sweep s.toml -j 2 --json --yes", files={"s.toml": SWEEP}, kept=("s.csv.parts",)),
    "sweep_here": pivotree(
        "sweep s.toml -j 1 --json --yes",
        files={"s.toml": SWEEP.replace("to = 20", "to = 8")},
        kept=("s.csv.parts",),
    ),
    "report": pivotree(
        "report random_tree:n=3 --states 40 --orders abm,crbm --formats float32 --yes -o out",
        kept=("out/states.part",),
        changing=("out/report.html", "out/report.pdf", "out/report.json"),
    ),
    "reproduce": pivotree("reproduce ascher1996 --item table2 -o out"),
    "film": pivotree("figure film chain:1 --orders crbm --width single --yes -o film.gif"),
    "guarantee": pivotree("guarantee chain:2 --states 3 --orders abm --json"),
    "tune": pivotree("tune chain:2 --most 3 --yes -o order.json"),
    "site": Job(
        [sys.executable, "-c", SITE, "site"],
        together="site/html/",
        files={f"project/{name}": text for name, text in PAGES.items()}
        | {"site/html/old.html": "what stood here before"},
    ),
    "docs": Job([sys.executable, str(ROOT / "docs" / "site" / "build.py"), "site"]),
}
LARGE = {
    "export": pivotree("export random_tree:n=300 --order crbm --yes -o a.c"),
    "blame": pivotree("blame chain:200 --order crbm --yes"),
    "compare": pivotree("compare random_tree:n=2000 --yes"),
    "solve": pivotree("solve random_tree:n=3000 --certify 50 --yes"),
    "report": pivotree("report random_tree:n=60 --states 100000 --yes -o out"),
    "simulate": pivotree("simulate random_tree:n=300 --seconds 100 --yes"),
    "explore": pivotree("explore random_tree:n=20000 -o page.html"),
    "counts": pivotree("counts -o counts.md"),
    "list": pivotree("list random_tree:n=300 --order crbm --yes"),
    "prove": pivotree("prove"),
    "figure": pivotree("figure film random_tree:n=200 --orders crbm --yes -o film.gif"),
    "spy": pivotree("spy random_tree:n=5000 -o a.png"),
    "guarantee": pivotree("guarantee random_tree:n=40 --states 100000 --yes"),
    "tune": pivotree("tune random_tree:n=40 --most 1000000 --yes -o order.json"),
    "sweep": pivotree(
        "sweep s.toml --yes", files={"s.toml": SWEEP.replace("n=3", "n=30").replace("20", "2000")}
    ),
    "reproduce": pivotree("reproduce all -o out"),
}


LIMIT = 600.0  # [s] for any run
ANSWER = 2.0  # [s] within which Ctrl-C is answered
GONE = 5.0  # [s] after which a process is an orphan
SIGNALS = ("INT", "TERM", "KILL", "WORKER")


@dataclass
class Run:
    """A command in a session of its own, to which all of its children belong."""

    process: "subprocess.Popen | Forked"
    folder: Path

    @staticmethod
    def of(job: Job, folder: Path, cache: Path) -> "Run":
        beside = folder.parent
        (beside / "tmp").mkdir(exist_ok=True)
        variables = {
            "PIVOTREE_CACHE": str(cache),
            "SOURCE_DATE_EPOCH": "0",
            "COLUMNS": "80",
            "TMPDIR": str(beside / "tmp"),
        }
        if job.warm:
            from processes import Forked

            arguments = job.command[len(PIVOTREE) :]
            return Run(Forked(arguments, folder, variables, beside / "out", beside / "err"), folder)
        with (beside / "out").open("wb") as out, (beside / "err").open("wb") as err:
            process = subprocess.Popen(
                job.command,
                cwd=folder,
                env=os.environ | variables,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=_hears,
            )
        return Run(process, folder)

    def said(self) -> tuple[str, str]:
        both = (self.folder.parent / name for name in ("out", "err"))
        out, err = (path.read_bytes().decode("utf-8", "replace") for path in both)
        return out, err

    def processes(self) -> list[int]:
        """All of the session that live."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (place / "stat").read_text().rsplit(")", 1)[1].split()
                if int(words[3]) == self.process.pid and words[0] not in "ZX":
                    found.append(int(place.name))
        return found

    def orphans(self) -> list[str]:
        """The commands of those that outlive the command by ``GONE`` seconds; they are ended."""
        end = time.monotonic() + GONE
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(0.05)
        told = []
        for pid in left:
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
                os.kill(pid, signal.SIGKILL)
                told.append(words.decode("utf-8", "replace")[:120])
        return told

    def worked(self) -> float:
        """[s] of processor time of the command's own process."""
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return sum(map(int, words[11:13])) / os.sysconf("SC_CLK_TCK")
        return math.nan


def _hears() -> None:
    """What runs in the background ignores Ctrl-C; here it is heard."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass
class Undisturbed:
    """What a command does where nothing happens."""

    seconds: float
    out: str
    files: dict[str, bytes]
    changing: set[str]  # that two runs write differently: they hold times

    @staticmethod
    def of(job: Job, top: Path, cache: Path) -> "Undisturbed":
        first, second = (_whole(job, top / name, cache) for name in ("warm", "timed"))
        if first[2].keys() != second[2].keys():
            raise SystemExit(f"two runs write other files: {first[2].keys() ^ second[2].keys()}")
        differ = {name for name in first[2] if first[2][name] != second[2][name]}
        if not differ <= {*job.changing}:
            print(f"{job.command}: differ between two runs: {sorted(differ)[:5]}", flush=True)
        return Undisturbed(*second, differ | {*job.changing})


def _laid_out(job: Job, top: Path) -> Path:
    folder = top / "work"
    folder.mkdir(parents=True)
    for name, text in job.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def _whole(job: Job, top: Path, cache: Path) -> tuple[float, str, dict[str, bytes]]:
    folder, began = _laid_out(job, top), time.monotonic()
    run = Run.of(job, folder, cache)
    code = run.process.wait(LIMIT)
    seconds = time.monotonic() - began
    if code:
        raise SystemExit(f"undisturbed {job.command} ends with {code}: {run.said()[1]}")
    return seconds, run.said()[0], files_of(folder)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@dataclass
class Told:
    """What came of one kill."""

    late: bool  # the command had ended before
    faults: list[str]
    seconds: float = 0.0  # from the signal to the end
    worked: float = 0.0  # [s] of processor time in these
    again: bool = False  # something was left, and the command was run again


def killed(job: Job, whole: Undisturbed | None, kind: str, moment: float, top: Path, cache: Path) -> Told:
    """One run, ended by a signal after ``moment`` seconds, judged, and run again."""
    folder = _laid_out(job, top)
    run = Run.of(job, folder, cache)
    with contextlib.suppress(subprocess.TimeoutExpired):
        run.process.wait(moment)
    if not _signalled(run, kind):
        run.process.wait(LIMIT)
        return Told(True, run.orphans())
    began, worked = time.monotonic(), run.worked()
    last = worked
    while run.process.poll() is None and time.monotonic() - began < LIMIT:
        time.sleep(0.01)
        seen = run.worked()
        last = last if math.isnan(seen) or seen < last else seen
    seconds, code = time.monotonic() - began, run.process.poll()
    faults = [f"a process is left: {words}" for words in run.orphans()]
    faults += _said(kind, code, *run.said())
    if kind == "INT" and seconds > ANSWER:
        faults.append(f"answers after {seconds:.1f} s, {last - worked:.1f} s of them at work")
    told = Told(code == 0 and kind != "WORKER", faults, seconds, last - worked)
    if whole is None:
        return told
    left = files_of(folder)
    faults += _left(job, whole, kind, left)
    told.again = left.keys() != job.files.keys() or kind == "WORKER"
    done = left.keys() == whole.files.keys()  # ended after its last file
    if told.again and code != 0 and not done:
        faults += _again(job, whole, folder, cache, left)
    elif told.again or code == 0:
        faults += _same(whole, left)
    return told


def _signalled(run: Run, kind: str) -> bool:
    """Whether there was something to end."""
    if run.process.poll() is not None:
        return False
    if kind == "INT":
        os.killpg(run.process.pid, signal.SIGINT)
    elif kind == "WORKER":
        workers = [pid for pid in run.processes() if pid != run.process.pid]
        for pid in random.sample(workers, 1) if workers else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return bool(workers)
    else:
        run.process.send_signal(getattr(signal, f"SIG{kind}"))
    return True


def _said(kind: str, code: int | None, out: str, err: str) -> list[str]:
    """What is wrong with an exit code and with what was said."""
    lines = refusals(err)
    if code is None:
        return ["no end"]
    if code == 0:
        return []
    if kind == "KILL":
        return [] if code == -signal.SIGKILL else [f"exit {code}"]
    if kind == "WORKER":
        return [f"exit {code}: {lines}"]
    before = code == -signal.SIGINT or (code == 1 and err.rstrip().endswith("KeyboardInterrupt"))
    if kind == "INT" and before and " in main\n" not in err:
        return []  # Python itself, before main
    faults = [] if "Traceback" not in err else [f"a traceback: {lines[-3:]}"]
    if (kind == "INT" and code != 130) or (kind == "TERM" and code != -signal.SIGTERM):
        faults.append(f"exit {code}: {lines[-3:]}")
    elif kind == "INT" and (len(lines) != 1 or not lines[0].startswith("pivotree: interrupted")):
        faults.append(f"said: {lines}")
    return faults


def _left(job: Job, whole: Undisturbed, kind: str, left: dict[str, bytes]) -> list[str]:
    """What is wrong with the files that an ended command has left."""
    faults = []
    if job.together:
        there, old, new = (
            {x for x in names if x.startswith(job.together)} for names in (left, job.files, whole.files)
        )
        if there not in (set(), old, new):
            faults.append(f"half a folder: {len(there)} of {len(new)} files")
    for name, content in left.items():
        path = Path(name)
        if name in job.files or name.startswith(job.kept):
            continue
        if any(word.startswith(".") and ".part" in word for word in path.parts):
            if kind != "KILL":
                faults.append(f"left: {name}")
        elif name not in whole.files:
            faults.append(f"left: {name}")
        elif name not in whole.changing and content != whole.files[name]:
            faults.append(f"half-written: {name}, {len(content)} of {len(whole.files[name])}")
        elif name in whole.changing and not _ends(path, content):
            faults.append(f"half-written: {name}")
    return faults


def _ends(path: Path, content: bytes) -> bool:
    if path.suffix == ".json":
        with contextlib.suppress(ValueError):
            return isinstance(json.loads(content), dict | list)
        return False
    end = {".html": b"</html>", ".pdf": b"%%EOF"}.get(path.suffix, b"")
    return content.rstrip().endswith(end) and bool(content)


def _again(job: Job, whole: Undisturbed, folder: Path, cache: Path, left: dict[str, bytes]) -> list[str]:
    """What is wrong with the same command, run once more where the first was ended."""
    run = Run.of(job, folder, cache)
    code = run.process.wait(LIMIT)
    out, err = run.said()
    if code:
        return [f"run again, it ends with {code}: {err.splitlines()[-1:]}"]
    faults = [f"run again, a process is left: {words}" for words in run.orphans()]
    if "sweep" in job.command:
        rows = sum(
            content.count(b"\n") - 1
            for name, content in left.items()
            if name.endswith(".csv") and not Path(name).name.startswith(".")
        )
        done = json.loads(out)
        if (done["kept"], done["measured"]) != (rows, done["rows"] - rows):
            faults.append(f"{rows} rows were there, and it keeps {done['kept']}")
    return faults + _same(whole, files_of(folder))


def _same(whole: Undisturbed, files: dict[str, bytes]) -> list[str]:
    if files.keys() != whole.files.keys():
        return [f"at the end other files: {sorted(files.keys() ^ whole.files.keys())[:5]}"]
    unlike = [
        name
        for name in files
        if files[name] != whole.files[name]
        and not (name in whole.changing and _ends(Path(name), files[name]))
    ]
    return [f"at the end other content: {unlike[:5]}"] if unlike else []


def moments(most: int, seconds: float, seed: str) -> list[float]:
    """``most`` moments, one in each of as many equal parts of the time, in a random sequence."""
    drawn = random.Random(seed)
    found = [seconds * (k + drawn.random()) / most for k in range(most)]
    drawn.shuffle(found)
    return found


def campaign(options: argparse.Namespace) -> Counter:
    """Every command with every signal, until the moments or the time are used up."""
    table = LARGE if options.large else SMALL
    found: Counter = Counter()
    end = time.monotonic() + options.seconds
    if options.warm:
        from fuzz import warm_up

        warm_up()
        from pivotree.analysis.sweep import store

        store.FIRST = store.SHARE = 0.0  # parts at once, so that short sweeps have some
    top = Path(tempfile.mkdtemp(prefix="kills-"))  # that no forked process removes at its end
    try:
        for name in options.commands or [x for x in table if options.large or x != "docs"]:
            job = replace(table[name], warm=options.warm and table[name].command[:3] == PIVOTREE)
            whole = None if options.large else Undisturbed.of(job, top / name, top / "cache")
            for kind in options.signals:
                if kind == "WORKER" and name not in ("sweep", "report"):
                    continue
                seconds = options.within if whole is None else whole.seconds
                seed = f"{options.seed} {name} {kind}"
                told, bad = [], 0
                for k, moment in enumerate(
                    moments(options.most, seconds, seed) + moments(options.most, seconds, seed * 2)
                ):
                    met = len(told) - sum(x.late for x in told)
                    if met == options.most or time.monotonic() > end:
                        break  # those that come too late are drawn once more
                    here = top / f"{name}-{kind}-{k}"
                    cache = top / "cache" if k % 10 else here / "c"  # some compile kernels anew
                    one = killed(job, whole, kind, moment, here, cache)
                    shutil.rmtree(here, ignore_errors=True)
                    told.append(one)
                    bad += bool(one.faults)
                    for fault in one.faults:
                        found[f"{name} {kind}: {fault}"] += 1
                        print(f"  {name} {kind} at {moment:.2f} s: {fault}"[:500], flush=True)
                late, again = sum(x.late for x in told), sum(x.again for x in told)
                slowest = max((x.seconds for x in told if not x.late), default=0.0)
                print(
                    f"{name} of {seconds:.1f} s, {kind}: {len(told)} times, {late} after its end, "
                    f"{again} run again, answers within {slowest:.2f} s, {bad} failed",
                    flush=True,
                )
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return found


def parsed(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=100, help="moments for each signal")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which none is begun")
    parser.add_argument("--commands", nargs="+", choices=[*SMALL, *(LARGE.keys() - SMALL.keys())])
    parser.add_argument("--signals", nargs="+", choices=SIGNALS, default=SIGNALS)
    parser.add_argument("--warm", action="store_true", help="forked off one that has imported all")
    parser.add_argument("--large", action="store_true", help="long work, ended and not run again")
    parser.add_argument("--within", type=float, default=20.0, help="[s] in which long work is ended")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(1 if campaign(parsed()) else 0)
