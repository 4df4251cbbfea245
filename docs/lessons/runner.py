"""Runs a lesson top to bottom without marimo: a notebook is a list of functions, its cells.

What the cells ask of marimo (texts, sliders, the theme) is answered by stand-ins, so that the
pages are the same whether marimo is installed or not.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LESSONS = sorted(HERE.glob("[1-9]_*.py"))
MADE = [*LESSONS, HERE / "mpc.py"]  # whose pages the site alone has
FURTHER = [HERE / f"{name}.py" for name in ("swing_up", "reach")]  # their pages are kept


@dataclass(frozen=True)
class Text:
    """What ``mo.md`` returns."""

    text: str


@dataclass(frozen=True)
class Control:
    """A slider or a choice at its first value."""

    value: Any
    label: str
    said: str  # what can be chosen


@dataclass(frozen=True)
class Cell:
    """One cell that has run."""

    source: str  # of its body, without what marimo needs around it
    hidden: bool  # only the output is shown
    output: Any  # value of its last expression, None where there is none
    printed: str


def spaced(source: str) -> str:
    """The code of a cell as a file would have it: two blank lines around a function."""
    lines = source.splitlines()
    body = ast.parse(source).body
    for before, node in reversed(list(pairwise(body))):
        if isinstance(before, ast.FunctionDef) or isinstance(node, ast.FunctionDef):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(d.lineno for d in decorators)])
            gap = slice(before.end_lineno, first - 1)
            lines[gap] = ["", "", *filter(None, lines[gap])]  # comments stay
    return "\n".join(lines)


def stand_in(theme: str) -> types.ModuleType:
    """A module with the part of marimo that the lessons use."""
    module = types.ModuleType("marimo")

    def slider(start: float, stop: float, value: Any, label: str, step: float = 1) -> Control:
        return Control(value, label, f"a slider from {start} to {stop}")

    def dropdown(options: list, value: Any, label: str) -> Control:
        return Control(value, label, f"one of {', '.join(map(str, options))}")

    module.md = lambda text: Text(inspect.cleandoc(text))  # type: ignore[attr-defined]
    module.ui = types.SimpleNamespace(slider=slider, dropdown=dropdown)  # type: ignore[attr-defined]
    module.app_meta = lambda: types.SimpleNamespace(theme=theme)  # type: ignore[attr-defined]
    return module


@contextlib.contextmanager
def _importable(theme: str) -> Iterator[None]:
    """``import marimo`` finds the stand-in, and ``import checks`` the file beside the lessons."""
    before = sys.modules.get("marimo")
    sys.modules["marimo"] = stand_in(theme)
    sys.path.insert(0, str(HERE))
    try:
        yield
    finally:
        sys.path.remove(str(HERE))
        del sys.modules["marimo"]
        if before is not None:
            sys.modules["marimo"] = before


def run(path: Path, theme: str = "light") -> list[Cell]:
    """All cells of a notebook in the order of the file.

    Raises ValueError where marimo would refuse the notebook or run it in another order: a cell
    that uses a name of a later one, or two cells that define the same name.
    """
    source = path.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": path.stem}
    cells = []
    with _importable(theme):
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and "app.cell" in _decorator(node):
                cells.append(_run_cell(node, source, names, path.name))
    return cells


def _decorator(node: ast.FunctionDef) -> str:
    return " ".join(ast.unparse(d) for d in node.decorator_list)


def _run_cell(node: ast.FunctionDef, source: str, names: dict[str, Any], file: str) -> Cell:
    missing = [a.arg for a in node.args.args if a.arg not in names]
    if missing:
        raise ValueError(f"{file}, line {node.lineno}: {missing[0]!r} comes from no earlier cell")
    *body, last = node.body
    if not isinstance(last, ast.Return):
        raise ValueError(f"{file}, line {node.lineno}: a cell ends with a return")
    handed_on = [n.id for n in ast.walk(last) if isinstance(n, ast.Name)]
    twice = [name for name in handed_on if name in names]
    if twice:
        raise ValueError(f"{file}, line {node.lineno}: {twice[0]!r} is defined twice")
    lines = source.splitlines()[node.body[0].lineno - 1 : last.lineno - 1]
    shown = inspect.cleandoc("\n" + "\n".join(lines)).strip()
    output = None
    local = {arg.arg: names[arg.arg] for arg in node.args.args}
    space = {"__name__": file, "__builtins__": __builtins__, **local}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if body and isinstance(body[-1], ast.Expr):
            exec(_compiled(body[:-1], file), space)
            output = eval(compile(ast.Expression(body[-1].value), file, "eval"), space)
        else:
            exec(_compiled(body, file), space)
    names.update({name: space[name] for name in handed_on})
    return Cell(shown, "hide_code=True" in _decorator(node), output, printed.getvalue())


def _compiled(body: list[ast.stmt], file: str) -> types.CodeType:
    return compile(ast.Module(body=body, type_ignores=[]), file, "exec")
