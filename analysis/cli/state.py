"""The numbers of a state that the options give, and in words what they are."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt
from pivotree.kkt.base.errors import nearest
from pivotree.kkt.base.reading import read_json, read_number
from pivotree.kkt.matrix.state import coordinates

SCHEMA = "pivotree-state/1"
FIELDS = ("q", "qd", "tau")
STATE = "option --state"
Vectors = dict[str, Any]  # field of a state -> its numbers, a list


def values_in_words(
    tree: nx.DiGraph[Any], options: argparse.Namespace, names: dict[str, str], own: str
) -> tuple[Vectors, dict[str, str], str]:
    """What the options say of q, qd and tau, each field in words, and what a whole state is called.

    ``names`` and ``own`` are those words of the model's own state.
    ``--state random:SEED`` draws a state, ``--state FILE`` reads one; ``--q``, ``--state qd:X,X`` and
    ``--state tau:X,X`` change what they name.  What nobody gives stays as the model has it.
    """
    base, texts = asked(options)
    values: Vectors = {}
    if isinstance(base, int):
        values, own = _drawn(tree, base), f"random state 0 of seed {base}"
        names = {}
    elif base is not None:
        values = _read(tree, base)
        names.update(dict.fromkeys(values, f"that of {base}"))
    given = _given(tree, texts, values)
    for field in given:
        text = texts[field] if len(texts[field]) <= 40 else "as given"
        names[field] = f"{names[field]} but {text}" if "=" in text and field in names else text
    return {**values, **given}, names, own


def asked(options: argparse.Namespace) -> tuple[int | str | None, dict[str, str]]:
    """The seed or the file of a whole state, and texts of q, qd and tau that stand above it."""
    texts = {} if options.q is None else {"q": options.q}
    base: int | str | None = None
    for told in options.state or ():
        field, colon, text = told.partition(":")
        if colon and field in ("qd", "tau"):
            if field in texts:
                raise kkt.PivotreeError(STATE, f"gives {field} twice", "give it once")
            texts[field] = text
            continue
        if not told:
            raise kkt.PivotreeError(STATE, "is empty", "give one file, random:SEED, qd:X,X or tau:X,X")
        if base is not None:
            raise kkt.PivotreeError(STATE, "gives two whole states", "give one file or random:SEED")
        base = _seed(text) if field == "random" and colon else told
    return base, texts


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise kkt.PivotreeError(
            STATE, f"random:{text} has no seed", "use a whole number of at most 18 digits"
        )
    return int(text)


def _given(tree: nx.DiGraph[Any], texts: dict[str, str], start: Vectors) -> Vectors:
    """What ``--q``, ``--state qd:`` and ``--state tau:`` say, where they are given: all freedoms of each."""
    found: Vectors = {}
    for field, text in texts.items():
        where = "option --q" if field == "q" else f"{STATE} {field}"
        if "=" in text:
            named: list[tuple[str, float]] = []
            for item in text.split(","):
                joint, equals, value = (part.strip() for part in item.partition("="))
                if not equals:
                    what = f"{item.strip()!r} has no name"
                    raise kkt.ModelError(where, what, "give every number a name, as in elbow=0.3, or none")
                named.append((joint, _number(where, value)))
            found[field] = _named(tree, where, field, named, start | found)
        else:
            found[field] = [_number(where, x) for x in text.split(",")] if text.strip() else []
    return found


def _number(where: str, text: str) -> float:
    try:
        return read_number(text)
    except ValueError:
        raise kkt.ModelError(
            where,
            f"{text.strip()!r} is no number",
            "give numbers as 0.1,0,-2, or by the names of joints as elbow=0.1",
        ) from None


def _drawn(tree: nx.DiGraph[Any], seed: int) -> Vectors:
    """The first state that a report of this seed measures."""
    from ..states.sample import drawn_system, system_at

    base, ranges = drawn_system(tree, seed)
    state = system_at(base, ranges, seed, 0).state
    return {field: np.asarray(getattr(state, field), dtype=float).tolist() for field in FIELDS}


def _read(tree: nx.DiGraph[Any], file: str) -> Vectors:
    """A state file: for each field a list of N numbers, or an object of joints and numbers."""
    whole = f"{STATE}: {file}"
    try:
        document = read_json(file)
    except kkt.PivotreeError as error:
        raise kkt.ModelError(whole, error) from None
    if not isinstance(document, dict):
        raise kkt.ModelError(whole, "is no object", "give one with q, qd or tau")
    schema = document.pop("schema", SCHEMA)
    if schema != SCHEMA:
        raise kkt.ModelError(whole, f"field 'schema' is {schema!r}", f"use {SCHEMA!r}, or leave it out")
    found: Vectors = {}
    for field, value in sorted(document.items(), key=lambda item: item[0] != "q"):  # rates look at q
        if field not in FIELDS:
            raise kkt.ModelError(whole, f"field {field!r} is unknown", f"use {', '.join(FIELDS)}")
        where = f"{whole}: field {field!r}"
        items = value.values() if isinstance(value, dict) else value
        if not isinstance(value, dict | list) or any(type(x) not in (int, float) for x in items):
            raise kkt.ModelError(where, "holds no numbers", "give a list of them, or an object of joints")
        if isinstance(value, dict):
            found[field] = _named(tree, where, field, value.items(), found)
        else:
            found[field] = [float(x) for x in value]
    return found


def _named(
    tree: nx.DiGraph[Any], where: str, field: str, named: Iterable[tuple[str, float]], start: Vectors
) -> list[float]:
    """All freedoms, those that have a name changed; the others stay, but for joints that follow."""
    names = freedoms(tree)
    own = start.get(field, tree.graph.get(field))
    values = np.zeros(len(names)) if own is None else np.array(own, dtype=float)
    if len(values) != len(names):
        raise kkt.ModelError(
            where, f"names joints, and {field} has {len(values)} numbers", f"give {len(names)} of them"
        )
    changed: set[int] = set()
    for joint, x in named:
        places = [k for own in (1, 2) for k, both in enumerate(names) if joint in both[:own]]
        if not places:
            known = [both[0] for both in names]
            raise kkt.ModelError(where, f"joint {joint!r} is unknown", nearest(joint, known))
        if places[0] in changed:
            raise kkt.ModelError(where, f"joint {joint!r} is named twice", "name each once")
        values[places[0]] = x
        changed.add(places[0])
    from pivotree.kkt.model.loops import couplings, kept

    flat = kkt.compile_tree(tree)
    coupled = couplings(flat, tree.graph.get("loops", ()))
    if field == "q":
        values = kept(coupled, values, but=changed)
    elif field == "qd":
        values = kept(coupled, coordinates(flat, tree, start.get("q")), values, changed)
    return [float(x) for x in values]


def freedoms(tree: nx.DiGraph[Any]) -> list[tuple[str, ...]]:
    """The names of each degree of freedom, its joint's and its body's; [j] where there are several.

    In the order of ``qdd``.
    """
    found = []
    flat = kkt.compile_tree(tree)
    for name, dof in zip(flat.names, flat.dof, strict=True):
        joint = tree.nodes[name].get("joint_name", name)
        for j in range(int(dof)):
            ending = f"[{j}]" if dof > 1 else ""
            found.append(tuple(dict.fromkeys((f"{joint}{ending}", f"{name}{ending}"))))
    return found
