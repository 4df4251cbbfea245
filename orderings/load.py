"""An order in a user's Python file, as a JSON list of groups, of another package, or under other rules."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import fields, replace
from functools import wraps
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

from pivotree.kkt import Order, OrderError, PivotSequence, Rules, Structure
from pivotree.kkt.base.errors import UnreadableError, close_names
from pivotree.kkt.base.foreign import foreign
from pivotree.kkt.base.reading import read_bytes, read_json
from pivotree.kkt.order.sequence import OrderFunction, as_order, as_sequence

SCHEMA = "pivotree-order/1"


def from_python(path: Path, function: str) -> Order:
    """A function of a user's file, which is a program: it runs here, with the user's rights."""
    where = f"order {path}:{function}"
    with foreign(where), _aside():
        try:
            module = module_of(path)
        except UnreadableError as error:
            raise OrderError(where, error, "give a Python file") from None
        found = getattr(module, function, None)
        if not callable(found):
            names = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
            hint = f"it has {', '.join(names)}" if names else ""
            raise OrderError(where, f"{path} has no function {function!r}", hint)
        order = marked(found, function, path.name)
    return replace(order, function=aside(order.function))


_alone = RLock()  # there is one standard output for all threads


@contextmanager
def _aside() -> Iterator[None]:
    """What is printed goes to standard error: standard output has a command's result alone."""
    with _alone, redirect_stdout(sys.stderr):
        yield


def aside(function: OrderFunction) -> OrderFunction:
    """A user's order, whose prints go to standard error, those of its generators too."""

    @wraps(function)
    def printing(structure: Structure) -> Any:
        with _aside():
            returned = function(structure)
            if not isinstance(returned, Iterator | list | tuple):
                return returned
            return [[*group] if isinstance(group, Iterator) else group for group in returned]

    return printing


def module_of(path: Path) -> ModuleType:
    """The module of a user's Python file.  Raises UnreadableError, and whatever the file raises."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(read_bytes(path), str(path), "exec"), module.__dict__)  # leaves no __pycache__
    return module


def added() -> dict[str, EntryPoint]:
    """Entry points in the group ``pivotree.orders``, by name.

    Where two installed packages add the same name, the first that is found counts, as for imports.
    """
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group="pivotree.orders"):
        found.setdefault(entry.name, entry)
    return found


def from_package(entry: EntryPoint) -> Order:
    """The order that an entry point names.  Raises OrderError if loading fails."""
    package = entry.dist.name if entry.dist is not None else "an unknown package"
    with foreign(f"{entry.group} {entry.name!r} of {package}, {entry.value}"), _aside():
        found = entry.load()
        order = marked(found, entry.name, entry.value)
    return order if order is found else replace(order, function=aside(order.function))  # keeps its pickle


def marked(found: Any, name: str, source: str) -> Order:
    """A function as an order; one that is an order keeps its own name and rules."""
    if isinstance(found, Order):
        return found
    if not callable(found):
        raise OrderError(f"order {name!r} of {source}", "is no function of a structure")
    return Order(found, name, source)


def from_json(path: Path) -> Order:
    """A JSON list of groups; a block is ["pdd", body] or "pdd:body".

    In an object the list is ``groups``; ``links``, ``rules`` and ``composites`` may say what
    :func:`order` says.
    """
    where = f"order {path}"
    try:
        document = read_json(path)
    except UnreadableError as error:
        raise OrderError(where, error, "give an order file") from None
    given = document if isinstance(document, dict) else {"groups": document}
    if given.get("schema", SCHEMA) != SCHEMA:
        what = f"field 'schema' is {given['schema']!r}"
        raise OrderError(where, what, f"an order file has {SCHEMA!r}, or none")
    keys = ("groups", "links", "rules", "composites", "schema")
    for key in sorted(given.keys() - set(keys)):  # others, such as a name, are a reader's own
        if near := close_names(key, keys, n=1, cutoff=0.7):
            raise OrderError(where, f"holds {key!r}", f"write {near[0]!r}")
    groups, rules = given.get("groups"), given.get("rules", {})
    links, composites = given.get("links", "whole"), given.get("composites", "counted")
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        raise OrderError(where, "holds no list of groups", "give [[['pdd', 'link1'], ...]]")

    known = [field.name for field in fields(Rules)]
    if not (isinstance(rules, dict) and rules.keys() <= set(known)):
        raise OrderError(where, f"rules are {rules!r}", f"give some of {', '.join(known)}")
    empty = PivotSequence([], str(path), path.name, Rules(**rules), links, composites)  # checks them

    def listed(structure: Structure) -> list:
        # JSON has only texts and numbers, so that bodies and loops are found by their text
        bodies = _by_text(structure.with_links(links).names)
        loops = _by_text(structure.constraints)

        def block(entry: Any) -> Any:
            if isinstance(entry, str) and ":" in entry:
                entry = entry.split(":", 1)
            if isinstance(entry, list) and len(entry) == 2:
                names = loops if entry[0] == "lam" else bodies
                return (entry[0], names.get(str(entry[1]), entry[1]))
            return entry

        return [[block(entry) for entry in group] for group in groups]

    return Order(listed, path.stem, empty.source, empty.rules, links, composites)


def varied(order: Any, **rules: str) -> Order:
    """An order, or one by its name, under other rules (docs/elimination.md), and named after them.

    Raises OrderError for rules that mean nothing to it.

    >>> both = pt.orderings.varied("abm", symmetry="both triangles")
    >>> for row in pt.compare(pt.build(pt.chain(30)), ["abm", both], ["float32"]).rows:
    ...     print(row.order, row.flops, round(row.digits, 1))
    abm 11256 6.7
    abm, both triangles 13563 5.4
    """
    base = as_order(order)
    name = ", ".join([base.name, *rules.values()])

    def function(structure: Structure) -> PivotSequence:
        sequence = as_sequence(base, structure)
        return replace(sequence, name=name, rules=replace(sequence.rules, **rules))

    return replace(base, function=function, name=name, rules=replace(base.rules, **rules))


def _by_text(names: Iterable[Any]) -> dict[str, Any]:
    """Names by their text, and pairs by their parts' too."""
    spaced = {" ".join(map(str, name)): name for name in names if isinstance(name, tuple)}
    return spaced | {str(name): name for name in names}
