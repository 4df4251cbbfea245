"""What a command line may answer to anything: exit codes, sentences, and files that are whole."""

import ast
import csv
import io
import json
import re
import signal
import tokenize
from pathlib import Path

from case import Case, refusals
from hostile_words import SIGN

from pivotree.analysis import cli
from pivotree.kkt.base.text import LONGEST

CODES = (0, 1, 2, cli.INTERRUPTED)


def judged(case: Case, folder: Path, code: int, out: str, err: str) -> list[str]:
    """What is wrong with an exit code, with what was said, and with the files in the folder."""
    return [*_said(case, code, out, err), *_left(folder, case, code)]


def _said(case, code, out, err):
    if "ended" in case.around and case.around.get("apart"):
        if code == -signal.SIGINT:  # the same for a shell; so Python ends after an exec was hit
            code = cli.INTERRUPTED
        starting = "Fatal Python error: init" in err  # while it imported site
        if not out + err or starting or ("Traceback" in err and " in main\n" not in err):
            return  # Python itself was interrupted, before main
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
        if code == 2 and "sweep" not in case.arguments[:1] and not _lost(case, "stdout"):
            yield f"refused, and yet written: {name}"
        text = path.read_bytes().decode("utf-8", "replace")
        yield from READERS.get(path.suffix, lambda text, name: ())(text, name)


def _html(text, name):
    text = re.sub(r"<!--.*?--!?>", "", text, flags=re.DOTALL)  # as a browser ends a comment
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
    ".html": _html,
    ".py": _python,
    ".c": _c,
    ".h": _c,
    ".tex": _tex,
    ".csv": _csv,
    ".json": _json,
    ".svg": _html,
    ".ipynb": _json,
}
