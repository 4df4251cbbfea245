"""Which refusals no test names by its words.

    make refusals                                  # runs the tests, and then this program
    make refusals TESTS=tests/kkt ROOMS=kkt        # of one room

A refusal is a ``raise`` of an error of the project, of a ValueError or TypeError with a sentence,
or of what a function named in MADE makes of one.  As a plugin of pytest (``-p refusals``) this module
compiles the modules of the project so that each refusal tells its place and its words before it is
raised; whether it is then caught, said in other words or printed by a command makes no difference.
A Python that a test starts as another process tells nothing.

A test names a refusal where it met it and two words of the sentence, or more, stand in a text of
the test's own file, which is taken as it is or as a regular expression.  The program ends with 1
where a refusal is named by none.
"""

import ast
import builtins
import json
import os
import re
import sys
import warnings
from collections import defaultdict
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("analysis", "kkt", "orderings", "papers")
RECORD = ROOT / "build" / "refusals.jsonl"
CLASSES = ast.parse((ROOT / "kkt" / "base" / "errors.py").read_text(encoding="utf-8")).body
OURS = {one.name for one in CLASSES if isinstance(one, ast.ClassDef)} | {"ValueError", "TypeError"}
MADE = {"wrong", "unread", "refusal", "too_many", "_other", "_kept"}


def is_refusal(node: ast.AST) -> bool:
    if not isinstance(node, ast.Raise) or node.exc is None:
        return False
    parts = node.exc.values if isinstance(node.exc, ast.BoolOp) else [node.exc]
    names = [ast.unparse(p.func).rpartition(".")[2] for p in parts if isinstance(p, ast.Call)]
    return any(name in OURS | MADE for name in names)


class Telling(ast.NodeTransformer):
    """Puts ``__raised__(error, place)`` into every refusal of a module."""

    def __init__(self, place):
        self.place = place

    def visit_Raise(self, node):
        if is_refusal(node):
            place = ast.Constant(f"{self.place}:{node.lineno}")
            node.exc = ast.Call(ast.Name("__raised__", ast.Load()), [node.exc, place], [])
        return node


def raised(error, place, told=set()):  # noqa: B006
    """Write down place, words and test, once; returns the error, which is then raised."""
    line = json.dumps([place, str(error), os.environ.get("PYTEST_CURRENT_TEST", "")]) + "\n"
    if line not in told:
        told.add(line)
        try:
            handle = os.open(RECORD, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(handle, line.encode())  # in one piece: other processes write here, too
            os.close(handle)
        except OSError:  # a test that takes the disk or open files away
            told.discard(line)
    return error


def get_code(self, name, kept=SourceFileLoader.get_code):
    path = Path(self.get_filename(name)).resolve()  # src/pivotree holds links to the rooms
    place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else None
    if place is None or place.parts[0] not in ROOMS:
        return kept(self, name)
    tree = Telling(place.as_posix()).visit(ast.parse(path.read_bytes()))
    return compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests():
    """Before a conftest.py imports a module of the project."""
    builtins.__raised__ = raised
    SourceFileLoader.get_code = get_code
    RECORD.parent.mkdir(exist_ok=True)


# -- what tests name ------------------------------------------------------------------------------

WORD = re.compile(r"[^\W\d_]{2,}")


def spoken(text: str) -> bool:
    """Whether a text is two words or more with spaces between, and not a name."""
    return sum(bool(WORD.search(part)) for part in text.split()) > 1


def refusals(room: str) -> list[str]:
    """Place of every refusal in a room, as file:line."""
    return [
        f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if is_refusal(node)
    ]


@cache
def texts(test: str) -> list[str]:
    """Texts of two words or more in a test's file."""
    nodes = ast.walk(ast.parse((ROOT / test).read_text(encoding="utf-8")))
    found = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return [text for text in found if spoken(text)]


def names(text: str, sentence: str, told: str | None = None) -> bool:
    """Whether a text, or a regular expression, says two words or more of a sentence.

    ``told`` is what became of the sentence where a file's name or more was put beside it.
    """
    told = told or sentence
    try:
        found = re.search(re.escape(text) if text in told else text, told)
    except re.error:
        return False
    here = told.find(sentence)
    end = here + len(sentence)
    return found is not None and spoken(told[max(found.start(), here) : min(found.end(), end)])


def named(sentence: str, test: str, met: dict[str, set[str]]) -> bool:
    """Whether a text in the file of a test names a sentence that the test met, in some words."""
    told = [other for other in met[test] if sentence in other]
    return any(names(text, sentence, x) for text in texts(test.partition("::")[0]) for x in told)


def main(rooms: list[str]) -> int:
    warnings.simplefilter("ignore", FutureWarning)  # of texts that are no regular expressions
    places, tests = defaultdict(set), defaultdict(set)
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        place, sentence, test = json.loads(line)
        places[place].add((sentence, test))
        tests[test].add(sentence)
    missing = 0
    for place in (place for room in rooms for place in refusals(room)):
        met = sorted(places[place], key=lambda pair: len(pair[0]))
        if not any(named(sentence, test, tests) for sentence, test in met):
            missing += 1
            print(f"{place}: {met[0] if met else 'not run'}")
    print(f"{missing} refusals are named by no test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(ROOMS)))
