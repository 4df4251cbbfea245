"""A plugin of pytest that writes down every refusal that a test meets: ``-p raised``.

A refusal is a ``raise`` of an error of the project, of a ValueError or TypeError with a sentence,
or of what a function named in MADE makes of one.  Where the project's modules are imported, each
of them is compiled so that it tells its place and its words before it is raised; whether it is then
caught, said in other words or printed by a command makes no difference.  A Python that a test
starts as another process tells nothing.
"""

import ast
import builtins
import json
import os
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
    path = Path(self.get_filename(name))
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
