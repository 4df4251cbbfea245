"""Inputs run in processes that are watched from outside: what dies, hangs or stays is seen.

All that commands import is loaded once.  A process is forked off for some inputs, one after
another, each in a folder of its own, with files in the place of its streams, through ``main`` of
the command line.  What went wrong is asked again in a process of its own.
"""

import atexit
import contextlib
import faulthandler
import gc
import json
import math
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import judge
from case import Case, connect, entered, environment, limit, wrapped
from helpers import ROOT

from pivotree.analysis import cli

MANY = 40  # inputs that one process answers; one that changes its surroundings is alone
HANG = 20  # [s] of processor time without a word; six times as long where it waits
LONG = 60  # [s] after which one that does say how far it is must listen to Ctrl-C
ANSWER = 10  # [s] that it has for this, on a machine that others use
DEAD = os.WEXITED | os.WNOHANG | os.WNOWAIT


def judged(cases: list[Case], many: int = MANY) -> Iterator[tuple[Case, list[str]]]:
    """Each case with what is wrong about its answer."""
    rest = list(cases)
    while rest:
        run = rest[:1]
        if not rest[0].around:
            plain = next((k for k, case in enumerate(rest) if case.around), len(rest))
            run = rest[: min(many, plain)]
        done = _process(run)
        for case, found in zip(run, done, strict=False):
            if found and len(run) > 1 and not (alone := _process([case])[0]):
                found = [f"(not alone) {fault}" for fault in found]
            elif found and len(run) > 1:
                found = alone
            yield case, found
        rest = rest[len(done) :]


def faults(case: Case) -> list[str]:
    return _process([case])[0]


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
    if case.around.get("apart"):
        code = _apart(case, out, err)
    else:
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
    return judge.judged(case, folder, code, *texts)


def _main(arguments: list[str]) -> int:
    """The exit code, as of a process: what standard output does not take is an error at its end."""
    try:
        code = cli.main(arguments)
    except SystemExit as stop:  # argparse
        code = stop.code or 0
    return _flushed(code)


class Forked:
    """A command line in a session of its own, forked off this process; as subprocess.Popen has it.

    It ends as a Python does that was started for it: by what runs at the exit, and by signals.
    Nothing of this process may wait to be removed then: no tempfile.TemporaryDirectory.
    """

    def __init__(self, arguments: list[str], folder: Path, variables: dict, out: Path, err: Path):
        ready, begun = os.pipe()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            os.close(ready)
            os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.chdir(folder)
            connect({}, out, err)
            environment({"env": variables})
            wrapped({})
            _to_the_end(arguments, begun)
        os.close(begun)
        os.read(ready, 1)  # its end: signals reach what can hear them from here on
        os.close(ready)

    def poll(self) -> int | None:
        if self.returncode is None and os.waitid(os.P_PID, self.pid, DEAD):
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def wait(self, timeout: float = math.inf) -> int:
        end = time.monotonic() + timeout
        while self.poll() is None:
            left = end - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(min(left, 0.005))
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def _to_the_end(arguments: list[str], begun: int) -> None:
    """The rest of a forked process."""
    code = 1
    try:
        tempfile.tempdir, sys.argv = None, ["pivotree", *arguments]
        os.close(begun)
        try:
            code = cli.command()
        except SystemExit as stop:
            code = stop.code or 0
        threading._shutdown()
        atexit._run_exitfuncs()
    except KeyboardInterrupt:  # as Python ends where it comes before ``main``
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(_flushed(code))


def _flushed(code: int) -> int:
    for stream, failed in ((sys.stdout, 120), (sys.stderr, code)):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                code = failed
    return code


def _apart(case: Case, out: Path, err: Path) -> int:
    """The same by a new Python."""
    around = case.around
    environment(around)

    def begin() -> None:
        connect(around, out, err)
        limit({key: x for key, x in around.items() if key not in ("memory", "ended")})

    command = [sys.executable, "-m", "pivotree", *(a.replace("\0", "") for a in case.arguments)]
    try:
        process = subprocess.Popen(command, preexec_fn=begin, close_fds=True)
    except (OSError, UnicodeEncodeError, subprocess.SubprocessError):  # what no process can be given
        out.touch(), err.write_text("pivotree: not started\n")
        return 2
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(around.get("ended"))
    process.send_signal(signal.SIGINT)
    return process.wait()


def _place_of(error: BaseException) -> str:
    """Where an error left the program; nothing for a Ctrl-C before the first statement of main."""
    found = traceback.extract_tb(error.__traceback__)
    begun = found[-1].name != "main" or found[-1].lineno != cli.main.__code__.co_firstlineno
    if isinstance(error, KeyboardInterrupt) and not begun:
        return ""
    frames = [f for f in found if str(ROOT) in f.filename and "tests/hostile" not in f.filename]
    at = f"{frames[-1].filename.removeprefix(str(ROOT))}:{frames[-1].name}" if frames else ""
    return f"{type(error).__name__} at {at}: {str(error)[:200]}"


def _watched(pid: int, heard: int, top: Path, many: int) -> list[list[str]]:
    """What the process tells of its cases; at its end, or where it must be ended, what is wrong."""
    text, said = b"", -1
    began = since = time.monotonic()
    worked, asked, wrong = _worked(pid), 0.0, ""
    while True:
        if select.select([heard], [], [], 1.0)[0]:
            part = os.read(heard, 65536)
            if not part:
                break
            text += part
            if text.count(b"\n") == many:  # a process that is left would hold the pipe open
                break
            began = since = time.monotonic()
            worked, asked = _worked(pid), 0.0
            continue
        now, size = time.monotonic(), _size(top / "err")
        if size != said:
            said, since, worked = size, now, _worked(pid)
        if asked and now - asked > ANSWER:
            wrong = f"no answer to Ctrl-C within {ANSWER} s"
        elif _worked(pid) - worked > HANG or now - since > 6 * HANG:
            wrong = f"no word for {HANG} s of work"
        elif not asked and now - began > LONG and said > 0:
            asked = now
            os.killpg(pid, signal.SIGINT)
        if wrong:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGUSR1)
                time.sleep(0.5)
                os.killpg(pid, signal.SIGKILL)
            break
    _, status = os.waitpid(pid, 0)
    done = [json.loads(line) for line in text.splitlines()]
    if wrong:
        return [*done, [f"{wrong} {_where(top)}"]]
    if status and len(done) < many:
        done.append([f"the process ends with {os.waitstatus_to_exitcode(status)} {_where(top)}"])
    elif left := _left(pid):
        done[-1].append(f"a process is left: {left}")
    return done


def _worked(pid: int) -> float:
    """[s] of processor time of a process and of those whose end it has seen."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _where(top: Path) -> str:
    lines = (top / "where").read_text().splitlines() if (top / "where").exists() else []
    ours = [line.strip() for line in lines if str(ROOT) in line and "tests/hostile" not in line]
    return ours[0].replace(str(ROOT), "") if ours else ""


def _left(group: int) -> str:
    """The command of a process that outlives its command by seconds; it is ended."""
    for wait in (0.0, 0.1, 1.0, 3.0):
        time.sleep(wait)
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return ""
    found = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True)
    own = [line for line in found.stdout.splitlines() if line.split(None, 1)[0] == str(group)]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    return "; ".join(own)[:300]
