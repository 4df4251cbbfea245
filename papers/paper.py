"""Papers and their items, found by name; an item is loaded when it is run."""

from __future__ import annotations

import ast
import difflib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.resources import files
from typing import Any

from pivotree.kkt import PivotreeError
from pivotree.kkt.base.reading import read_number

from . import PAPERS
from .item import Picture, Progress, Results, printed
from .row import Row, Value, plain, row


@dataclass(frozen=True)
class Item:
    """A table, figure or equation of a paper."""

    paper: str
    place: str  # the module that has it; module.function in one that has several

    @property
    def name(self) -> str:
        return self.place.rpartition(".")[2]

    @property
    def function(self) -> Callable[..., Results]:
        """What measures it."""
        file, _, name = self.place.partition(".")
        module = import_module(f"pivotree.papers.{self.paper}.{file}")
        found: Callable[..., Results] = getattr(module, name or "measure")
        return found

    @property
    def says(self) -> str:
        """The first line of its module, or of its function, read without loading it."""
        file, _, name = self.place.partition(".")
        text = files(f"pivotree.papers.{self.paper}").joinpath(f"{file}.py").read_text("utf-8")
        node: Any = ast.parse(text)
        if name:
            node = next(one for one in node.body if getattr(one, "name", None) == name)
        return (ast.get_docstring(node) or "").partition("\n")[0].rstrip(".")

    @property
    def _defaults(self) -> dict[str, Any]:
        """What it takes if nothing is set."""
        parameters = inspect.signature(self.function).parameters.items()
        return {key: x.default for key, x in parameters if x.default is not inspect.Parameter.empty}

    def settings(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Settings that it takes, read from text; one sentence for others."""
        defaults = self._defaults
        unknown = next((name for name in given if name not in defaults), None)
        if unknown is not None:
            known = ", ".join(f"{name} ({_shown(value)})" for name, value in defaults.items())
            raise PivotreeError(
                "option --set", f"{self.name} has no setting {unknown!r}", f"it has {known or 'none'}"
            )
        return {name: _read(self.name, name, text, defaults[name]) for name, text in given.items()}

    @property
    def quick(self) -> dict[str, Any]:
        """Settings of a smaller study of the same, from the paper's ``QUICK``; {} where none is needed."""
        return dict(import_module(f"pivotree.papers.{self.paper}").QUICK.get(self.name, {}))

    def measure(self, progress: Progress, **settings: Any) -> list[Value | Row | Picture]:
        return list(self.function(progress, **settings))

    def rows(self, found: Iterable[Value | Row | Picture]) -> list[Row]:
        """The rows, each named after its item; what is computed stands beside what is printed."""
        data = printed(self.paper).get(self.name, {})
        return [
            row(self.name, data, one) if isinstance(one, Value) else plain(self.name, one)
            for one in found
            if not isinstance(one, Picture)
        ]

    def figures(self, found: Iterable[Value | Row | Picture], style: str = "light") -> dict[str, Any]:
        """Name -> matplotlib Figure."""
        drawn = [one for one in found if isinstance(one, Picture)]
        pictures = import_module(f"pivotree.papers.{self.paper}.pictures") if drawn else None
        return {one.name: getattr(pictures, one.how)(*one.of, style) for one in drawn}


def papers(name: str) -> tuple[str, ...]:
    """The papers of a name; "all" is every one."""
    if name == "all":
        return PAPERS
    if name not in PAPERS:
        near = difflib.get_close_matches(name[:100], PAPERS, n=1, cutoff=0.3)
        hint = f" (nearest: {near[0]})" if near else ""
        raise PivotreeError(f"paper {name!r}", "is unknown", f"use {', '.join(PAPERS)} or all{hint}")
    return (name,)


def items(paper: str, only: list[str] | None = None) -> list[Item]:
    """The items of a paper in its order, or those of these names."""
    known = [Item(paper, place) for place in import_module(f"pivotree.papers.{paper}").ITEMS]
    names = [item.name for item in known]
    for name in only or []:
        if name not in names:
            raise PivotreeError("option --item", f"{paper} has no {name!r}", f"use {', '.join(names)}")
    return [item for item in known if only is None or item.name in only]


def _read(item: str, name: str, text: str, default: Any) -> Any:
    """A setting of the kind that its default is: a number, text, or several of them."""
    several = isinstance(default, tuple)
    kind = (type(default[0]) if default else float) if several else type(default)
    read = partial(read_number, kind=kind) if kind in (int, float) else kind
    try:
        values = [read(part) for part in text.split(";")] if several else [read(text)]
    except (ValueError, OverflowError):
        values = []
    if not values or any(isinstance(x, float) and not math.isfinite(x) for x in values):
        like = _shown(default) if default != () else "numbers with semicolons between, as 0.5;2"
        raise PivotreeError("option --set", f"{item}'s {name} is {text!r}", f"give it as {like}")
    return tuple(values) if several else values[0]


def _shown(value: Any) -> str:
    if value == ():
        return "the paper's"
    return ";".join(map(str, value)) if isinstance(value, tuple) else str(value)
