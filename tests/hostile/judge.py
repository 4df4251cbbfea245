"""What may be said of a command line that went wrong: run in a folder of its own, and judged."""

import ast
import contextlib
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import tokenize
import traceback
from pathlib import Path

from helpers import ROOT
from inputs import SIGN, Case

from pivotree.analysis import cli
from pivotree.analysis.cli.progress import SIGN as SIGN_OF_LIFE
from pivotree.kkt.base.text import LONGEST

HANG = 20  # [s] of processor time without a word; six times as long where it waits
CODES = (0, 1, 2, cli.INTERRUPTED)


class Hang(BaseException):
    """No answer in time."""


class Heard(io.StringIO):
    """Standard error of a process that lives while it says how far it is."""

    def write(self, text: str) -> int:
        alarms()
        return super().write(text)


def alarms() -> None:
    """From now on, so much time may go by without a word."""
    signal.setitimer(signal.ITIMER_PROF, HANG)
    signal.alarm(6 * HANG)


def faults(case: Case, apart: bool = False) -> list[str]:
    """What is wrong with the answer to a case, run in this process, or ``apart`` in its own."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="hostile-") as place:
        top = Path(place) / "a" / "b"
        top.mkdir(parents=True)
        for name, content in case.files.items():
            _made(top / name, content)
        os.chdir(top)
        try:
            code, out, err = (_apart if apart else _here)(case.arguments)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            frames = [
                f for f in traceback.extract_tb(error.__traceback__) if str(ROOT) in f.filename
            ]
            at = (
                f"{frames[-1].filename.removeprefix(str(ROOT))}:{frames[-1].name}" if frames else ""
            )
            return [f"{type(error).__name__} at {at}: {str(error)[:200]}"]
        finally:
            os.chdir(before)
        return [*_said(case, code, out, err), *_left(top, case, code)]


def _made(path: Path, content: str | list[str]) -> None:
    if isinstance(content, str):
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
    elif content == ["fifo"]:
        os.mkfifo(path)
    elif content == ["folder"]:
        path.mkdir()
    elif content == ["loop"]:
        path.symlink_to(path.name)
    elif content == ["nowhere"]:
        path.symlink_to("missing")
    else:
        path.touch()


def _here(arguments: list[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), Heard()

    def late(*_):
        raise Hang(f"no answer in {HANG} s")

    previous = {number: signal.signal(number, late) for number in (signal.SIGPROF, signal.SIGALRM)}
    alarms()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = cli.main(arguments)
            except SystemExit as stop:  # argparse
                code = stop.code
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in previous.items():
            signal.signal(number, handler)
    return code, out.getvalue(), err.getvalue()


def _apart(arguments: list[str]) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "pivotree", *(a.replace("\0", "") for a in arguments)]
    with contextlib.suppress(OSError, UnicodeEncodeError):  # what no process can be given
        done = subprocess.run(
            command, capture_output=True, timeout=6 * HANG, encoding="utf-8", errors="replace",
            stdin=subprocess.DEVNULL, env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr
    return 2, "", "pivotree: not started\n"


def _said(case, code, out, err):
    if code not in CODES:
        yield f"exit {code}"
    if "Traceback" in err or "Traceback (most" in out:
        yield "a traceback is printed"
    lines = [
        line
        for line in err.splitlines()
        if not line.startswith(("pivotree: warning: ", SIGN_OF_LIFE))
    ]
    if code == 2 and len(lines) != 1:
        yield f"a refusal of {len(lines)} lines: {[line[:60] for line in lines[:3]]}"
    if any(len(line) > LONGEST + len("pivotree: ") for line in lines):
        yield "a sentence longer than 500 characters"
    if not all(c.isprintable() or c == "\n" for c in err):
        yield "a control character on standard error"
    if code in (0, 1) and "--json" in case.arguments and "--help" not in case.arguments:
        yield from _json(out, "standard output")


def _json(text, where):
    try:
        json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        yield f"{where} is not JSON"


def _left(top, case, code):
    """What is wrong with the files that stand there afterwards."""
    if [*top.parent.parent.rglob(SIGN)]:
        yield "a name was run by a shell"
    for path in top.rglob("*"):
        name = path.relative_to(top).as_posix()
        if ".part" in name:
            yield f"half-written: {name}"
        if name in case.files or not path.is_file():
            continue
        if code == 2 and "sweep" not in case.arguments[:1]:
            yield f"refused, and yet written: {name}"
        text = path.read_bytes().decode("utf-8", "replace")
        yield from READERS.get(path.suffix, lambda text, name: ())(text, name)


def _html(text, name):
    if re.search(rf"<(script|img)[^>]*>?{SIGN}|<img[^>]*{SIGN}|<[^>]*\sonmouseover=\"{SIGN}", text):
        yield f"{name} holds a name as markup"


def _python(text, name):
    try:
        names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    except SyntaxError as error:
        yield f"{name} is no Python: {error.msg}"
        return
    if SIGN in names:
        yield f"{name} runs a name"
    list(tokenize.generate_tokens(io.StringIO(text).readline))


def _c(text, name):
    spliced = re.sub(r"(\\|\?\?/)\n", "", text)  # a comment may end with a backslash: it goes on
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", "", spliced, flags=re.S)
    if re.search(rf"\b{SIGN}\b", bare) or spliced.count("\n") != text.count("\n"):
        yield f"{name} holds a name as code"


def _tex(text, name):
    if f"\\input{{{SIGN}" in text:
        yield f"{name} holds a name as a command"


def _csv(text, name):
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not _number(cell):
                yield f"{name} holds a formula: {cell[:40]}"
                return


def _number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


READERS = {
    ".html": _html, ".py": _python, ".c": _c, ".h": _c, ".tex": _tex, ".csv": _csv, ".json": _json,
    ".svg": _html, ".ipynb": _json,
}  # fmt: skip
