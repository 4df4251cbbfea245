"""Fields of a sweep's TOML file, taken one by one, and its models: specs, files, robots, and ranges."""

from __future__ import annotations

import pickle
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from decimal import Decimal
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt
from pivotree.kkt import PivotreeError
from pivotree.kkt.base.errors import UnreadableError, nearest
from pivotree.kkt.base.foreign import is_number, is_whole
from pivotree.kkt.base.reading import read_text
from pivotree.kkt.model.load import SUFFIXES

DEEPEST = 100  # parts of a dotted key, for which tomllib takes memory and time by their square
QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
DOTS = re.compile(r"[^.\s]\s*\.")
ENDS_A_KEY = re.compile(r"[][{}=,#\n]")


def document(path: Path) -> dict[str, Any]:
    """A TOML file.  Raises PivotreeError where it cannot be read, or is no TOML."""
    try:
        text = read_text(path)
        if max(len(DOTS.findall(part)) for part in ENDS_A_KEY.split(QUOTED.sub("x", text))) > DEEPEST:
            raise PivotreeError(path, f"has a key of more than {DEEPEST} parts", "give fewer")
        return tomllib.loads(text)
    except UnreadableError as error:
        raise PivotreeError(path, error, "give a TOML file") from None
    except (ValueError, RecursionError) as error:  # RecursionError: nested too deep
        raise PivotreeError(path, f"is no TOML ({error})", "see docs/sweep.md") from None


LARGEST = 2**63 - 1  # what a column of integers holds


class Fields:
    """A table of a document: every field is taken once, and none may be left."""

    def __init__(self, path: Path, table: Any, name: str = "") -> None:
        self.path = path
        self.name = name
        if not isinstance(table, dict):
            raise self.wrong("", table, "a table")
        self.table: dict[Any, Any] = dict(table)
        self.known: list[str] = []

    def wrong(self, field: str, value: Any, right: str) -> PivotreeError:
        """The sentence: file, field, what is wrong, what would be right."""
        place = ".".join(part for part in (self.name, field) if part)
        what = "is missing" if value is None else f"is {value!r}"  # TOML has no None
        return PivotreeError(self.path, f"field {place!r} {what}", f"give {right}")

    def take(self, field: str, default: Any = None) -> Any:
        self.known.append(field)
        return self.table.pop(field, default)

    def whole(self, field: str, default: int, least: int, most: int = LARGEST) -> int:
        """A whole number from ``least`` to ``most``."""
        value = self.take(field, default)
        if not is_whole(value, least, most):
            raise self.wrong(field, value, f"a whole number, {least} to {most:,}")
        return value

    def text(self, field: str, default: str | None = None) -> str:
        value = self.take(field, default)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(field, value, "a text")
        return value.strip()

    def yes(self, field: str, default: bool = False) -> bool:
        value = self.take(field, default)
        if not isinstance(value, bool):
            raise self.wrong(field, value, "true or false")
        return value

    def one_of(self, field: str, default: str, known: Iterable[str]) -> str:
        value = self.text(field, default)
        if value not in tuple(known):
            raise self.wrong(field, value, " or ".join(map(repr, known)))
        return value

    def names(self, field: str, default: list[str] | None = None) -> list[str]:
        """A list of texts, none twice, at least one."""
        value = self.take(field, default)
        if not isinstance(value, list) or not value:
            raise self.wrong(field, value, "a list of names")
        for i, item in enumerate(value):
            if not isinstance(item, str):
                raise self.wrong(f"{field}[{i}]", item, "a text")
            if item in value[:i]:
                raise self.wrong(f"{field}[{i}]", item, "each name once")
        return value

    def done(self) -> None:
        """Raise PivotreeError for a field that means nothing."""
        for field in self.table:
            place = f"table {self.name!r} of it" if self.name else "the file"
            raise PivotreeError(
                self.path, f"field {field!r} is unknown in {place}", nearest(field, self.known)
            )


Value = int | float | str
HOLE = re.compile(r"\{(\w*)\}")
RANGE = "a list of values, or {from, to, step} or {from, to, count}, also with scale = 'log'"
MOST = 10_000_000  # values of a range


@dataclass(frozen=True)
class Model:
    """One tree of a sweep, small enough to be sent to a process: a file's tree comes with it."""

    text: str  # as the user calls it
    values: tuple[tuple[str, Value], ...]  # of the ranges that it takes
    digest: str  # of the spec, or of the tree that was read from a file
    pickled: bytes | None = None  # the tree of a file or a robot; None where the text says it all

    def tree(self) -> nx.DiGraph[Any]:
        """Raises ModelError for parameters that make no tree."""
        tree = kkt.load(self.text) if self.pickled is None else pickle.loads(self.pickled)
        tree.graph["name"] = tree.graph.get("name") or self.text
        return tree


def models_of(fields: Fields) -> list[list[Model]]:
    """The models of each entry of ``models``, one for every value of its ranges.  Raises PivotreeError."""
    entries = fields.take("models")
    if not isinstance(entries, list) or not entries:
        right = 'a list of models, as in models = ["chain:10", "two_link:r={r}"]'
        raise fields.wrong("models", entries, right)
    table = Fields(fields.path, fields.take("ranges", {}), "ranges")
    ranges = {name: _values(table, name) for name in list(table.table)}
    found = [_models(fields, f"models[{i}]", entry, ranges) for i, entry in enumerate(entries)]
    used = {name for models in found for name, _ in models[0].values}
    for name in ranges:
        if name not in used:
            raise PivotreeError(
                fields.path, f"range {name!r} is taken by no model", f"write {{{name}}} into one"
            )
    seen: dict[str, str] = {}
    for i, models in enumerate(found):
        for model in models:
            if model.digest in seen:
                raise fields.wrong(f"models[{i}]", model.text, "each model once")
            seen[model.digest] = model.text
    return found


def _models(fields: Fields, place: str, entry: Any, ranges: Mapping[str, tuple[Value, ...]]) -> list[Model]:
    options = Fields(fields.path, entry if isinstance(entry, dict) else {"model": entry}, place)
    text = options.text("model")
    how = {"floating": options.yes("floating"), "merge_fixed": options.yes("merge_fixed", True)}
    options.done()
    names = list(dict.fromkeys(HOLE.findall(text)))
    for name in names:
        if name not in ranges:
            known = nearest(name, ranges) if ranges else "write a table [ranges]"
            raise PivotreeError(fields.path, f"{place} takes range {name!r}, not given", known)
    of_file = not names and (text.startswith("robot:") or Path(text).suffix.lower() in SUFFIXES)
    if (how["floating"] or not how["merge_fixed"]) and not of_file:
        right = "a .urdf file or robot:NAME, or leave out floating and merge_fixed"
        raise fields.wrong(place, text, right)
    try:
        if of_file:
            return [_read(text, **how)]
        values = product(*(ranges[name] for name in names))
        models = [_member(text, tuple(zip(names, some, strict=True))) for some in values]
        for model in models[:1] + models[1:][-1:]:  # what others lack is told in their rows
            model.tree()
    except PivotreeError as error:
        raise PivotreeError(f"{fields.path}: {place}", error) from None
    return models


def _member(template: str, given: tuple[tuple[str, Value], ...]) -> Model:
    written = {name: value if isinstance(value, str) else repr(value) for name, value in given}
    text = HOLE.sub(lambda hole: written[hole[1]], template)
    return Model(text, given, sha256(f"spec {text}".encode()).hexdigest())


def _read(text: str, floating: bool, merge_fixed: bool) -> Model:
    """A tree that no text makes again on another machine; how it is read goes into its key."""
    tree = kkt.load(text, True if floating else None, merge_fixed=merge_fixed)
    digest = _digest(f"file {text.startswith('robot:')} {floating} {merge_fixed}", tree)
    return Model(text, (), digest, pickle.dumps(tree))


def model_of(tree: nx.DiGraph[Any], text: str) -> Model:
    """A tree as a model that is called ``text``."""
    return Model(text, (), _digest("tree", tree), pickle.dumps(tree))


def _digest(how: str, tree: nx.DiGraph[Any]) -> str:
    """What a tree is, to its last bit, wherever it was read from.

    Not the file's content: files that it includes, meshes and what xacro reads count as well.
    """
    total = sha256()
    graph = {key: value for key, value in tree.graph.items() if key != "source"}  # a path
    for part in _parts((how, graph, dict(tree.nodes(data=True)), list(tree.edges(data=True)))):
        total.update(f"{len(part)} ".encode() + part)
    return total.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    if isinstance(value, np.ndarray):
        yield f"{value.dtype.str} {value.shape}".encode()
        yield value.tobytes()
    elif isinstance(value, Mapping):
        yield f"mapping of {len(value)}".encode()
        for pair in value.items():
            yield from _parts(pair)
    elif isinstance(value, list | tuple):
        yield f"sequence of {len(value)}".encode()
        for item in value:
            yield from _parts(item)
    elif is_dataclass(value):
        yield from _parts(vars(value))
    else:
        yield repr(value).encode()


def _values(fields: Fields, name: str) -> tuple[Value, ...]:
    given = fields.take(name)
    if isinstance(given, list) and given:
        for value in given:
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                raise fields.wrong(name, given, RANGE)
        if len({isinstance(value, str) for value in given}) > 1:
            raise fields.wrong(name, given, "texts alone, or numbers alone")
        return tuple(given)
    if not isinstance(given, dict):
        raise fields.wrong(name, given, RANGE)
    table = Fields(fields.path, given, f"ranges.{name}")
    low, high = _number(table, "from"), _number(table, "to")
    if table.table.keys() >= {"step", "count"} or not table.table.keys() & {"step", "count"}:
        raise fields.wrong(name, given, "either step or count")
    if "step" in table.table:
        step = _number(table, "step")
        table.done()
        if step <= 0 or high < low or (high - low) / step >= MOST:
            raise fields.wrong(name, given, f"a step above 0, 'to' not below 'from', {MOST:,} values at most")
        kind = int if all(isinstance(x, int) for x in (low, high, step)) else float
        start, stop, by = (Decimal(repr(x)) for x in (low, high, step))  # 0.3, not 3 * 0.1
        return tuple(kind(start + i * by) for i in range(int((stop - start) / by) + 1))
    count = table.whole("count", 1, 1)
    log = table.one_of("scale", "linear", ("linear", "log")) == "log"
    table.done()
    if count > MOST or (log and (low <= 0 or high <= 0)):
        raise fields.wrong(name, given, f"a count to {MOST:,}; for scale 'log', ends above 0")
    return tuple((np.geomspace if log else np.linspace)(low, high, count).tolist())


def _number(table: Fields, field: str) -> int | float:
    value = table.take(field)
    if not is_number(value):
        raise table.wrong(field, value, "a number")
    return value
