"""Files as JSON: a robot in one state (``pivotree-model/1``, ``/2``), and loops (``pivotree-loops/1``).

A body holds the pose (R, p) of its joint frame in its parent's at this state, its motion
subspace S, and its mass; ``velocity`` and ``effort`` run body after body.

Closed loops and contacts stand in a file of their own or in a model file.  An object with
``first`` and ``second`` holds the arguments of :func:`kkt.cut_joint`, one with ``body`` those of
:func:`kkt.contact`, or, with ``ratio`` too, of :func:`kkt.coupled_joints`.  One with ``bodies``
holds the fields of :class:`kkt.Loop` themselves, which is how a loop is written.  Doubles are
written and read to the last bit.
"""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import networkx as nx
import numpy as np

from ..base.errors import ModelError, UnreadableError, nearest
from ..base.files import write_whole
from ..base.foreign import of_kind
from ..base.reading import read_json
from .fields import Floats, checked, checked_columns, odd_in
from .joints import GENERAL, TERMS
from .loops import (
    JOINTS,
    Loop,
    checked_compliance,
    checked_gains,
    checked_loops,
    checked_numbers,
    checked_rotation,
    contact,
    coupled_joints,
    cut_joint,
)
from .spatial import levels
from .tree import InertiaWarning, add_body, compile_tree, new_tree

SCHEMA = "pivotree-model/1"
WITH_TERMS = "pivotree-model/2"  # may hold the terms of joints, one or N_k numbers each, and loops
LOOPS_SCHEMA = "pivotree-loops/1"
EXTRAS = ("bias", "wrench")  # optional keys of a body, 6 numbers each
OF_BODIES = ("name", "parent", *("R", "p", "S", "mass", "com", "inertia_com"), *EXTRAS, *TERMS, "rest")
OF_FILES = ("schema", "name", "gravity", "bodies", "velocity", "effort", "loops", "expected")
FIELDS = ("bodies", "R", "p", "C", "free", "point", "baumgarte", "compliance", "numbers", "name")  # of a loop


@of_kind
def read_loops(path: str | os.PathLike[str], tree: nx.DiGraph[Any]) -> tuple[Loop, ...]:
    """The loops and contacts of a file, between bodies of a tree or links merged into them.

    Raises ModelError, one sentence with the file, the loop and the field, for a file that is wrong.

    >>> from pathlib import Path
    >>> foot = '{"body": "j3", "point": [0.1, 0, 0], "name": "foot"}'
    >>> text = f'{{"schema": "pivotree-loops/1", "loops": [{foot}]}}'
    >>> Path("feet.json").write_text(text) == len(text)
    True
    >>> pt.build(pt.chain(3), loops=pt.read_loops("feet.json", pt.chain(3)))
    <System chain_3: 3 bodies, 3 freedoms, 40 unknowns, 134 nonzeros, 1 loops>
    """
    file = os.fspath(path)
    try:
        document = _document(file, "file of loops", LOOPS_SCHEMA)
        if set(document) != {"schema", "loops"}:
            raise ModelError(
                f"has the fields {', '.join(map(repr, sorted(document)))}",
                remedy="give 'schema' and 'loops', a list",
            )
        return loops_from(document["loops"], tree)
    except ModelError as error:
        raise ModelError(file, error) from None


def loops_from(entries: Any, tree: nx.DiGraph[Any]) -> tuple[Loop, ...]:
    """Loops of a tree from the objects of a list in JSON.  Raises ModelError, one sentence."""
    if not isinstance(entries, list):
        raise ModelError("field 'loops' is no list", remedy="give a list of objects, one a loop or contact")
    loops = [_loop(place, entry, tree) for place, entry in enumerate(entries)]
    return checked_loops(loops, list(tree), tree.graph.get("merged", {}))


def _loop(place: int, entry: Any, tree: nx.DiGraph[Any]) -> Loop:
    where = f"loop {place + 1} of 'loops'"
    if not isinstance(entry, dict):
        raise ModelError(where, "is no object", "give one with 'first' and 'second', or 'body'")
    for key in ("name", "first", "second", "body", "on", "to"):
        if not isinstance(entry.get(key, ""), str | None):
            raise ModelError(where, f"field {key!r} is {entry[key]!r}", "give a text")
        if entry.get(key) == "":
            raise ModelError(where, f"field {key!r} is empty", "give a text, or leave it out")
    if "bodies" in entry:
        return _exact(where, entry)
    if "body" in entry and "ratio" in entry:
        return _called(where, partial(coupled_joints, tree), entry, ("body", "ratio"))
    if "body" in entry:
        return _called(where, contact, entry, ("body", "point"))
    return _called(where, cut_joint, entry, ("first", "second"))


def _called(where: str, make: Callable[..., Loop], entry: dict[str, Any], needed: tuple[str, ...]) -> Loop:
    """The loop that a public function makes of the arguments in a JSON object."""
    _known(where, entry, tuple(inspect.signature(make).parameters), needed)
    kind = entry.get("joint", "revolute")
    if not isinstance(kind, str):
        raise ModelError(where, f"field 'joint' is {kind!r}", "give a text")
    if "S" in entry and kind in JOINTS and kind != GENERAL:
        what = f"field 'S' is that of a joint 'general', and this one is {kind!r}"
        raise ModelError(where, what, "leave one of the two out")
    try:
        return make(**entry)
    except (TypeError, ValueError) as error:
        raise ModelError(where, error, "see docs/loops.md") from None


def _exact(where: str, entry: dict[str, Any]) -> Loop:
    """A loop from its own fields."""
    _known(where, entry, (*FIELDS, "beside", "follows", "implied"), FIELDS)
    where = f"loop {entry['name']!r}"
    line = entry.get("follows")
    ratio_and_offset = None if line is None else tuple(checked(where, "follows", line, (2,)).tolist())
    ends, free, more = entry["bodies"], entry["free"], entry.get("implied")
    named = isinstance(ends, list) and all(isinstance(body, str | None) for body in ends)
    if not named or len(ends) != 2:
        raise ModelError(where, f"field 'bodies' is {ends!r}", "give two names, null for the world")
    if not isinstance(entry["point"], bool):
        raise ModelError(where, f"field 'point' is {entry['point']!r}", "give true or false")
    numbers = checked_numbers(where, "numbers", entry["numbers"], 6)
    m = len(numbers)
    C = checked_columns(where, "C", checked(where, "C", entry["C"], (6, m)), 6)
    turns = np.stack([checked_rotation(where, "R", R) for R in checked(where, "R", entry["R"], (2, 3, 3))])
    places = checked(where, "p", entry["p"], (2, 3))
    free = None if free is None else checked_columns(where, "free", free, 3)
    implied = None if more is None else checked_columns(where, "implied", more, 6)
    gains = checked_gains(where, entry["baumgarte"])
    soft = checked_compliance(where, entry["compliance"], m)
    fixed = (entry["name"], (ends[0], ends[1]), turns, places, C, free, entry["point"], gains, soft, numbers)
    return Loop(*fixed, _other_pair(where, entry, m), ratio_and_offset, implied)


def _other_pair(where: str, entry: dict[str, Any], rows: int) -> Loop | None:
    """The other pair of coupled joints, which has as many rows."""
    if "beside" not in entry:
        return None
    if not isinstance(entry["beside"], dict):
        raise ModelError(where, "field 'beside' is no object", "give another pair of bodies")
    other = _exact(where, entry["beside"])
    if other.rows != rows:
        raise ModelError(where, f"field 'beside' has {other.rows} rows", f"give {rows}")
    return other


def _known(where: str, entry: dict[str, Any], known: tuple[str, ...], needed: tuple[str, ...]) -> None:
    """Raise ModelError for a field that is unknown, or missing."""
    for key in entry:
        if key not in known:
            raise ModelError(where, f"field {key!r} is unknown", nearest(key, known))
    for key in needed:
        if key not in entry:
            raise ModelError(where, f"field {key!r} is missing", f"it has {', '.join(needed)}")


def loop_document(loop: Loop) -> dict[str, Any]:
    """The fields of a loop as JSON has them; names become texts."""
    fields = {key: getattr(loop, key) for key in FIELDS}
    arrays = {key: value.tolist() for key, value in fields.items() if isinstance(value, np.ndarray)}
    ends = [None if body is None else str(body) for body in loop.bodies]
    more: dict[str, Any] = {"beside": loop_document(loop.beside)} if loop.beside else {}
    if loop.follows:
        more["follows"] = list(loop.follows)
    if loop.implied is not None:
        more["implied"] = loop.implied.tolist()
    return fields | arrays | {"name": str(loop.name), "bodies": ends} | more


@of_kind
def read_model(path: str | os.PathLike[str], before: Callable[[Any], object] = id) -> nx.DiGraph[Any]:
    """The tree of a model file, its state being q = 0; nodes in the order of the file's bodies.

    Joints are ``general`` with the S of the file, or ``fixed`` where S has no columns.
    ``tree.graph`` holds ``gravity``, ``q`` (zeros), ``qd`` and ``tau``, each (N,), ``expected``
    as it stands in the file ({} without) and ``source``, the path; the optional ``bias`` (S° qd)
    and ``wrench`` of a body, each (6,), become attributes of its node, and so do the terms of
    joints (:mod:`kkt.model.joints`) in files of schema ``pivotree-model/2``; their loops and
    contacts stand in ``tree.graph["loops"]``.  Parents may stand
    after their children.  ``before`` may change the JSON object before it is read, as
    letters do.  Raises ModelError, one sentence, for a file that is not of this form.

    >>> pt.write_model("arm.json", pt.build(pt.chain(2)).state)
    >>> pt.compile_tree(pt.read_model("arm.json"))
    <BodyTree tree: 2 bodies, 2 freedoms, joints 2 general>
    """
    file = os.fspath(path)
    try:
        document = _document(file, "model file", SCHEMA, WITH_TERMS)
        before(document)
        tree = _tree(document)
        with warnings.catch_warnings():  # the user is warned when the tree is built
            warnings.simplefilter("ignore", InertiaWarning)
            compile_tree(tree)
    except ModelError as error:
        raise ModelError(file, error) from None
    tree.graph["source"] = file
    return tree


def _document(file: str, what: str, *schemas: str) -> dict[str, Any]:
    """The JSON object of a file, of one of the schemas.  Raises ModelError."""
    try:
        document = read_json(file)
    except UnreadableError as error:
        raise ModelError(error, remedy=f"give a {what}") from None
    if not isinstance(document, dict) or document.get("schema") not in schemas:
        raise ModelError(f"is no {what}", remedy=f"give an object with 'schema': {schemas[0]!r}")
    return document


def _tree(document: dict[str, Any]) -> nx.DiGraph[Any]:
    bodies = document.get("bodies")
    _known("", document, OF_FILES, ())
    if not isinstance(bodies, list) or not bodies:
        raise ModelError("field 'bodies' is empty or no list", remedy="give at least one body")
    name = document.get("name", "tree")
    if not isinstance(name, str):
        raise ModelError(f"field 'name' is {name!r}", remedy="give a text")
    down = document.get("gravity")
    gravity = checked("", "gravity", down, (3,), _or_letters(down))
    tree = new_tree(name, tuple(gravity))
    for place, body in enumerate(bodies):
        if not isinstance(body, dict):
            raise ModelError(f"body {place + 1} of 'bodies' is {body!r}", remedy="give an object")
        _body(tree, f"body {place + 1} of 'bodies'", body, document["schema"] == WITH_TERMS)
    for body in bodies:
        parent = body.get("parent", "")
        if parent is None:
            continue
        if not isinstance(parent, str) or parent not in tree:
            what = f"parent {parent!r} is unknown" if "parent" in body else "field 'parent' is missing"
            raise ModelError(
                f"body {body['name']!r}", what, "name another body of the file, or null for the world"
            )
        tree.add_edge(parent, body["name"])
    N = sum(np.shape(data["S"])[1] for _, data in tree.nodes(data=True) if "S" in data)
    tree.graph["q"] = np.zeros(N)
    for key, field in (("qd", "velocity"), ("tau", "effort")):
        tree.graph[key] = checked("", field, document.get(field), (N,))
    expected = document.get("expected", {})
    if not isinstance(expected, dict):
        raise ModelError(f"field 'expected' is {expected!r}", remedy="give an object")
    tree.graph["expected"] = expected
    if "loops" in document:
        if document["schema"] != WITH_TERMS:
            raise ModelError(f"field 'loops' is known from {WITH_TERMS!r} on", remedy="give it as 'schema'")
        tree.graph["loops"] = loops_from(document["loops"], tree)
    return tree


def _or_letters(value: Any) -> str:
    """What is wanted instead of a text, and what reads texts."""
    read = "numbers, or read letters by pivotree solve FILE --symbolic or pivotree prove FILE --order A,B"
    return read if odd_in(value) == "a text" else ""


def _body(tree: nx.DiGraph[Any], place: str, body: dict[str, Any], terms: bool) -> None:
    name = body.get("name")
    if not isinstance(name, str) or not name:
        raise ModelError(place, f"field 'name' is {name!r}", "give a text")
    where = f"body {name!r}"
    _known(where, body, OF_BODIES, ())

    def field(key: str, shape: tuple[int, ...]) -> Floats:
        return checked(where, key, body.get(key), shape, _or_letters(body.get(key)))

    S = checked_columns(where, "S", body.get("S"), 6, "6 x N numbers, angular first")
    columns = S.shape[1]
    add_body(
        tree,
        name,
        mass=float(field("mass", ())),
        com=field("com", (3,)),
        inertia=field("inertia_com", (3, 3)),
        joint=GENERAL if columns else "fixed",
        R=field("R", (3, 3)),
        p=field("p", (3,)),
        S=S if columns else None,
    )
    for key in EXTRAS:
        if key in body:
            tree.nodes[name][key] = field(key, (6,))
    for key in (key for key in (*TERMS, "rest") if key in body):
        if not terms:
            raise ModelError(where, f"field {key!r} is known from {WITH_TERMS!r} on", "give it as 'schema'")
        one = isinstance(body[key], int | float) and not isinstance(body[key], bool)
        tree.nodes[name][key] = field(key, () if one else (columns,))


@of_kind
def write_model(path: str | os.PathLike[str], state: Any, name: str = "tree") -> None:
    """Write a state as a model file, parents before children, whole or not at all.

    ``state`` is that of a system, ``build(...).state``.  Names of bodies become texts.  The schema is
    ``pivotree-model/1``, or ``/2`` where joints have terms of their own or there are loops.  Raises
    ModelError where two bodies or two loops would share a name, where a number is not finite, and for a
    state that was built with a step, and FormatError where the file cannot be written.

    >>> system = pt.build(pt.chain(2), q=[0.1, 0.2])
    >>> pt.write_model("arm.json", system.state, name="arm")
    >>> again = pt.build(pt.load("arm.json"))
    >>> bool(abs(again.matrix - system.matrix).max() == 0)
    True
    """
    if not (hasattr(state, "S") and hasattr(state, "terms")):
        raise ModelError(
            "write_model", f"{type(state).__name__} is no state", "give a path first, then build(...).state"
        )
    if state.terms is not None and state.step:
        what = f"a file holds no step, and this state was built with implicit={state.step!r}"
        raise ModelError(os.fspath(path), what, "write the one built without")
    names = [str(body) for body in state.names]
    if len(set(names)) < len(names):
        twice = next(body for body in names if names.count(body) > 1)
        raise ModelError(f"body {twice!r}", "name is used twice", "every body needs its own name")
    loops = [loop_document(closure.from_here) for closure in state.loops]
    if len({loop["name"] for loop in loops}) < len(loops):
        raise ModelError("loops", "two would have one name as texts", "give every loop its own")

    # parents before children; a state's freedoms stand in the order of its own bodies
    parent = np.asarray(state.parent, dtype=np.int64)
    early = (parent < np.arange(len(parent))).all()
    order = list(range(len(parent))) if early else [k for level in levels(parent) for k in level.tolist()]
    if len(order) < len(parent):
        raise ModelError("tree", "bodies form a cycle", "a tree has none")
    offset = np.cumsum([0, *(S.shape[1] for S in state.S)])
    own = [slice(*offset[k : k + 2]) for k in range(len(parent))]

    # the document: its head, one body a line, its tail
    schema = SCHEMA if state.terms is None and not loops else WITH_TERMS
    head = {"schema": schema, "name": name, "gravity": state.gravity}
    above = [names[p] if p >= 0 else None for p in parent]
    bodies = [{"name": names[k], "parent": above[k]} | _body_fields(state, k, own[k]) for k in order]
    tail = {
        "velocity": np.concatenate([state.qd[own[k]] for k in order]),
        "effort": np.concatenate([state.tau[own[k]] for k in order]),
        **({"loops": loops} if loops else {}),
    }
    try:
        lines = ",\n".join(map(_json, bodies))
        first, last = _json(head), _json(tail)
    except ValueError:
        raise ModelError(os.fspath(path), "a number is not finite", "nothing written") from None
    write_whole(path, f'{first[:-1]}, "bodies": [\n{lines}\n], {last[1:]}\n')


def _body_fields(state: Any, k: int, own: slice) -> dict[str, Any]:
    """The numbers of body k, whose freedoms are ``own``; of optional ones, those that are not zero."""
    fields = {key: getattr(state, key)[k] for key in ("R", "p", "S", "mass", "com")}
    terms = {} if state.terms is None else {key: x[own] for key, x in vars(state.terms).items()}
    optional = {"bias": state.joint_bias[k], "wrench": state.wrench[k], **terms}
    given = {key: vector for key, vector in optional.items() if np.any(vector != 0.0)}
    return fields | {"inertia_com": state.inertia[k]} | given


def _json(fields: Mapping[str, Any]) -> str:
    """Fields as an object of JSON, arrays and numbers of numpy as floats."""
    plain = {
        key: np.asarray(x, dtype=float).tolist() if isinstance(x, np.ndarray | np.floating) else x
        for key, x in fields.items()
    }
    return json.dumps(plain, allow_nan=False)
