"""Inputs run in processes that are watched from outside: what dies, hangs or stays is seen.

All that commands import is loaded once.  A process is forked off for some inputs, one after
another, each in a folder of its own, with files in the place of its streams, through ``main`` of
the command line.

``case.around`` may hold

* ``env``: variables by name; None for one that is not set,
* ``stdin``, ``stdout``, ``stderr``: closed, full, broken (a pipe that nobody reads), or ascii,
* ``files``: how many may be open; ``memory``: more bytes than now; ``written``: bytes of a file,
* ``nobody``: a user to whom nothing here belongs; ``gone``: the working folder is removed,
* ``ended``: [s] after which Ctrl-C comes.
"""

import faulthandler
import gc
import io
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from helpers import ROOT
from hostile_words import SIGN, refusals

from pivotree.analysis import cli
from pivotree.kkt.base.errors import LONGEST

LIMITS = {"files": resource.RLIMIT_NOFILE, "memory": resource.RLIMIT_AS, "written": resource.RLIMIT_FSIZE}
NOBODY = 65534
STREAMS = ("stdin", "stdout", "stderr")


@dataclass
class Case:
    """A file is a text; ``["bytes", LATIN-1]``; or a word in a list for what is no plain file."""

    arguments: list[str]
    files: dict[str, str | list[str]] = field(default_factory=dict)
    around: dict = field(default_factory=dict)

    def as_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    def lay_out(self, folder: Path) -> None:
        """Make the folder and its files."""
        folder.mkdir(parents=True)
        for name, content in self.files.items():
            _made(folder / name, content)


LINKS = {"loop": "", "nowhere": "missing", "full": "/dev/full", "endless": "/dev/zero"}


def _made(path: Path, content: str | list[str]) -> None:
    if isinstance(content, str):
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
    elif content[0] == "bytes":
        path.write_bytes(content[1].encode("latin-1"))
    elif content == ["fifo"]:
        os.mkfifo(path)
    elif content == ["folder"]:
        path.mkdir()
    elif content[0] in LINKS:
        path.symlink_to(LINKS[content[0]] or path.name)
    elif content == ["closed"]:
        path.write_text("{}")
        path.chmod(0)
    else:
        path.touch()


# -- surroundings ----------------------------------------------------------------------------------


def connect(around: dict, out: Path, err: Path) -> None:
    """Standard input, output and error as they are to be; what is said goes into two files."""
    ends = {"stdin": os.open(os.devnull, os.O_RDONLY), "stdout": _opened(out), "stderr": _opened(err)}
    for number, name in enumerate(STREAMS):
        how = around.get(name)
        if how == "full":
            ends[name] = os.open("/dev/full", os.O_RDWR)
        elif how == "broken":
            unread, ends[name] = os.pipe()
            os.close(unread)
        os.dup2(ends[name], number)
    for end in ends.values():
        if end > 2:
            os.close(end)
    for number, name in enumerate(STREAMS):
        if around.get(name) == "closed":
            os.close(number)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)


def wrapped(around: dict) -> None:
    """Python's own streams over these, as it makes them when it starts."""
    for number, name in enumerate(STREAMS):
        stream = None
        if around.get(name) != "closed":
            raw = open(number, "rb" if number == 0 else "wb", closefd=False)  # noqa: SIM115
            encoding = "ascii" if around.get(name) == "ascii" else "utf-8"
            errors = "backslashreplace" if number == 2 else "strict"
            stream = io.TextIOWrapper(raw, encoding, errors, line_buffering=number == 2)
        setattr(sys, name, stream)


@contextmanager
def entered(around: dict) -> Iterator[None]:
    """Rights, limits and the folder as they are to be; as they were behind the block."""
    before = {what: resource.getrlimit(LIMITS[what]) for what in LIMITS if what in around}
    try:
        for what, (_, hard) in before.items():
            most = around[what] + (_size() if what == "memory" else 0)
            resource.setrlimit(LIMITS[what], (most, hard))
        if around.get("gone"):
            shutil.rmtree(Path.cwd())
        if around.get("nobody") and os.getuid() == 0:
            os.setresuid(NOBODY, NOBODY, 0)
        if "ended" in around:
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
            signal.setitimer(signal.ITIMER_REAL, around["ended"])
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if around.get("nobody") and os.getresuid()[2] == 0:
            os.setresuid(0, 0, 0)
        for what, both in before.items():
            resource.setrlimit(LIMITS[what], both)


def _size() -> int:
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 2**32


def environment(around: dict) -> None:
    for name, value in around.get("env", {}).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


# -- processes -------------------------------------------------------------------------------------

MANY = 40  # inputs that one process answers; one that changes its surroundings is alone
HANG = 60  # [s] without an answer; one that does say how far it is must then listen to Ctrl-C
WAITS = (0.0, 0.1, 1.0, 3.0)  # [s] until a process that its command has left should have ended
ANSWER = 10  # [s] that it has for this, on a machine that others use


def judged(cases: list[Case], many: int = MANY) -> Iterator[tuple[Case, list[str]]]:
    """Each case with what is wrong about its answer."""
    rest = list(cases)
    while rest:
        plain = next((k for k, case in enumerate(rest) if case.around), len(rest))
        done = _process(rest[: min(many, max(plain, 1))])
        yield from zip(rest, done, strict=False)
        rest = rest[len(done) :]


def _process(cases: list[Case]) -> list[list[str]]:
    """What is wrong about each of the first cases: all of them where the process lives so long."""
    with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as place:
        top = Path(place)
        top.chmod(0o711)
        heard, told = os.pipe()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        pid = os.fork()
        if pid == 0:
            os.close(heard)
            _answer(cases, top, told)
        os.close(told)
        try:
            return _watched(pid, heard, top, len(cases))
        finally:
            os.close(heard)


def _answer(cases: list[Case], top: Path, told: int) -> None:
    """The forked process: a line for every case, and its end."""
    try:
        gc.disable()  # what is shared stays shared
        os.setpgid(0, 0)  # a group that is ended as a whole
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with (top / "where").open("w") as where:
            faulthandler.register(signal.SIGUSR1, where, all_threads=False)
            for k, case in enumerate(cases):
                found = _one(case, top / str(k), top)
                os.write(told, json.dumps(found).encode() + b"\n")
                shutil.rmtree(top / str(k), ignore_errors=True)
    except BaseException:
        os.write(told, json.dumps(["the judge: " + traceback.format_exc()]).encode() + b"\n")
    finally:
        os._exit(0)


def _one(case: Case, place: Path, top: Path) -> list[str]:
    folder = place / "a" / "b"  # so that ../ leads nowhere
    case.lay_out(folder)
    os.chdir(folder)
    folder.chmod(0o755)
    out, err = top / "out", top / "err"
    fault, code = None, None
    connect(case.around, out, err)
    environment(case.around)
    wrapped(case.around)
    try:
        with entered(case.around):
            code = _main(case.arguments)
    except BaseException as error:
        fault = _place_of(error)
        _flushed(1)
    os.chdir(place)
    if fault is not None:
        return [fault] if fault else []
    texts = (path.read_bytes().decode("utf-8", "replace") for path in (out, err))
    return answered(case, folder, code, *texts)


def _main(arguments: list[str]) -> int:
    """The exit code, as of a process: what standard output does not take is an error at its end."""
    try:
        code = cli.main(arguments)
    except SystemExit as stop:  # argparse
        code = stop.code or 0
    return _flushed(code)


def _flushed(code: int) -> int:
    for stream, failed in ((sys.stdout, 120), (sys.stderr, code)):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                code = failed
    return code


def _place_of(error: BaseException) -> str:
    """Where an error left the program; nothing for a Ctrl-C before the first statement of main."""
    found = traceback.extract_tb(error.__traceback__)
    frames = [f for f in found if str(ROOT) in f.filename and "tests/hostile" not in f.filename]
    begun = [f for f in frames if f.name != "main" or f.lineno != cli.main.__code__.co_firstlineno]
    if isinstance(error, KeyboardInterrupt) and not begun:
        return ""
    at = f"{frames[-1].filename.removeprefix(str(ROOT))}:{frames[-1].name}" if frames else ""
    return f"{type(error).__name__} at {at}: {str(error)[:200]}"


def _watched(pid: int, heard: int, top: Path, many: int) -> list[list[str]]:
    """What the process tells of its cases; at its end, or where it must be ended, what is wrong."""
    text, asked, wrong = b"", False, ""
    while not wrong and text.count(b"\n") < many:  # a process that is left would hold the pipe open
        if select.select([heard], [], [], ANSWER if asked else HANG)[0]:
            part = os.read(heard, 65536)
            if not part:
                break
            text, asked = text + part, False
        elif not asked and (top / "err").exists() and (top / "err").stat().st_size:
            asked = True
            os.killpg(pid, signal.SIGINT)
        else:
            wrong = f"no answer to Ctrl-C within {ANSWER} s" if asked else f"no word for {HANG} s"
            os.kill(pid, signal.SIGUSR1)  # it writes down where it is
            time.sleep(0.5)
            os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    done = [json.loads(line) for line in text.splitlines()]
    if wrong:
        return [*done, [f"{wrong} {_where(top)}"]]
    if status and len(done) < many:
        done.append([f"the process ends with {os.waitstatus_to_exitcode(status)} {_where(top)}"])
    elif _left(pid):
        done[-1].append("a process is left")
    return done


def _where(top: Path) -> str:
    lines = (top / "where").read_text().splitlines() if (top / "where").exists() else []
    ours = [line.strip() for line in lines if str(ROOT) in line and "tests/hostile" not in line]
    return ours[0].replace(str(ROOT), "") if ours else ""


def _left(group: int) -> bool:
    """Whether a process outlives its command by seconds; it is ended."""
    for wait in WAITS:
        time.sleep(wait)
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    return True


# -- what is wrong with an answer -------------------------------------------------------------------

CODES = (0, 1, 2, cli.INTERRUPTED)


def answered(case: Case, folder: Path, code: int, out: str, err: str) -> list[str]:
    """What is wrong with an exit code, with what was said, and with the files in the folder."""
    return [*_said(case, code, out, err), *_files(folder, case, code)]


def _said(case, code, out, err):
    if code not in CODES:
        yield f"exit {code}"
    if "Traceback" in err or "Traceback (most" in out:
        yield "a traceback is printed"
    lines = refusals(err)
    unheard = _lost(case, "stderr")
    if code == 2 and len(lines) != 1 and not unheard:
        yield f"a refusal of {len(lines)} lines: {[line[:60] for line in lines[:3]]}"
    if any(len(line) > LONGEST + len("pivotree: ") for line in lines):
        yield "a sentence longer than 500 characters"
    if not all(c.isprintable() or c == "\n" for c in err):
        yield "a control character on standard error"
    if any(line.startswith(("Exception ignored", "Traceback", "Fatal")) for line in lines):
        yield f"Python speaks: {lines[:2]}"
    if code == cli.INTERRUPTED and lines[-1:] != ["pivotree: interrupted"] and not unheard:
        yield f"interrupted, and not said so: {lines[-1:]}"
    told = code in (0, 1) and not _lost(case, "stdout") and "--help" not in case.arguments
    if told and "--json" in case.arguments:
        yield from _json(out, "standard output")


def _lost(case, stream):
    """Whether nobody can read what is said there."""
    lost = case.around.get(stream) in ("closed", "full", "broken")
    return lost or case.around.get("written", LONGEST) < LONGEST


def _json(text, where):
    try:
        json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        yield f"{where} is not JSON"


def _files(top, case, code):
    """What is wrong with the files that stand there afterwards."""
    if [*top.parent.parent.rglob(SIGN)]:
        yield "a name was run by a shell"
    for path in top.rglob("*"):
        name = path.relative_to(top).as_posix()
        if ".part" in name:
            yield f"half-written: {name}"
        if name in case.files or not path.is_file():
            continue
        if code == 2 and "sweep" not in case.arguments[:1] and not _lost(case, "stdout"):
            yield f"refused, and yet written: {name}"
        if path.suffix in (".json", ".ipynb"):
            yield from _json(path.read_bytes().decode("utf-8", "replace"), name)
