"""Model files ``pivotree-model/1`` and ``/2``: one robot in one state, numbers only, as JSON.

A body holds the pose (R, p) of its joint frame in its parent's at this state, its motion
subspace S, and its mass; ``velocity`` and ``effort`` run body after body.  Doubles are written and
read to the last bit.
"""

from __future__ import annotations

import json
import os
import warnings
from typing import Any

import networkx as nx
import numpy as np

from ..base.errors import ModelError, UnreadableError
from ..base.foreign import of_kind
from ..base.reading import read_json
from .fields import Floats, checked
from .joints import GENERAL, TERMS
from .loops_file import loops_from
from .tree import InertiaWarning, add_body, compile_tree, new_tree

SCHEMA = "pivotree-model/1"
WITH_TERMS = "pivotree-model/2"  # may hold the terms of joints, one or N_k numbers each, and loops
EXTRAS = ("bias", "wrench")  # optional keys of a body, 6 numbers each


@of_kind
def read_model(path: str | os.PathLike[str]) -> nx.DiGraph:
    """The tree of a model file, its state being q = 0; nodes in the order of the file's bodies.

    Joints are ``general`` with the S of the file, or ``fixed`` where S has no columns.
    ``tree.graph`` holds ``gravity``, ``q`` (zeros), ``qd`` and ``tau``, each (N,), ``expected``
    as it stands in the file ({} without) and ``source``, the path; the optional ``bias`` (S° qd)
    and ``wrench`` of a body, each (6,), become attributes of its node, and so do the terms of
    joints (:mod:`kkt.model.joints`) in files of schema ``pivotree-model/2``; their loops and
    contacts (:mod:`kkt.model.loops_file`) stand in ``tree.graph["loops"]``.  Parents may stand
    after their children.  Raises ModelError, one sentence, for a file that is not of this form.

    >>> pt.write_model("arm.json", pt.build(pt.chain(2)).state)
    >>> pt.compile_tree(pt.read_model("arm.json"))
    <BodyTree tree: 2 bodies, 2 freedoms, joints 2 general>
    """
    file = os.fspath(path)
    try:
        tree = _tree(_document(file))
        with warnings.catch_warnings():  # the user is warned when the tree is built
            warnings.simplefilter("ignore", InertiaWarning)
            compile_tree(tree)
    except ModelError as error:
        raise ModelError(f"{file}: {error}") from None
    tree.graph["source"] = file
    return tree


def _document(file: str) -> dict[str, Any]:
    """The JSON object of a file, of the right schema."""
    try:
        document = read_json(file)
    except UnreadableError as error:
        raise ModelError(f"{error}; give a model file") from None
    if not isinstance(document, dict):
        raise ModelError(f"holds {_kind(document)}; give an object with 'schema': {SCHEMA!r}")
    if document.get("schema") not in (SCHEMA, WITH_TERMS):
        raise ModelError(f"field 'schema' is {document.get('schema')!r}; give {SCHEMA!r}")
    return document


def _tree(document: dict[str, Any]) -> nx.DiGraph:
    bodies = _get(document, "", "bodies")
    if not isinstance(bodies, list) or not bodies:
        raise ModelError("field 'bodies' is empty or no list; give at least one body")
    name = document.get("name", "tree")
    if not isinstance(name, str):
        raise ModelError(f"field 'name' is {_kind(name)}; give a text")
    gravity = checked("", "gravity", _get(document, "", "gravity"), (3,))
    tree = new_tree(name, tuple(gravity))
    for place, body in enumerate(bodies):
        if not isinstance(body, dict):
            raise ModelError(f"body {place + 1} of 'bodies' is {_kind(body)}; give an object")
        _body(tree, f"body {place + 1} of 'bodies'", body, document["schema"] == WITH_TERMS)
    for body in bodies:
        parent = _get(body, f"body {body['name']!r}", "parent")
        if parent is None:
            continue
        if not isinstance(parent, str) or parent not in tree:
            raise ModelError(
                f"body {body['name']!r}: parent {parent!r} is unknown; "
                "name another body of the file, or null for the world"
            )
        tree.add_edge(parent, body["name"])
    N = sum(np.shape(data["S"])[1] for _, data in tree.nodes(data=True) if "S" in data)
    tree.graph["q"] = np.zeros(N)
    for key, field in (("qd", "velocity"), ("tau", "effort")):
        tree.graph[key] = checked("", field, _get(document, "", field), (N,))
    expected = document.get("expected", {})
    if not isinstance(expected, dict):
        raise ModelError(f"field 'expected' is {_kind(expected)}; give an object")
    tree.graph["expected"] = expected
    if "loops" in document:
        if document["schema"] != WITH_TERMS:
            raise ModelError(f"field 'loops' is known from {WITH_TERMS!r} on; give it as 'schema'")
        tree.graph["loops"] = loops_from(document["loops"], tree)
    return tree


def _body(tree: nx.DiGraph, place: str, body: dict[str, Any], terms: bool) -> None:
    name = _get(body, place, "name")
    if not isinstance(name, str) or not name:
        raise ModelError(f"{place}: field 'name' is {name!r}; give a text")
    where = f"body {name!r}"

    def field(key: str, shape: tuple[int, ...]) -> Floats:
        return checked(where, key, _get(body, where, key), shape)

    rows = _get(body, where, "S")
    if not isinstance(rows, list) or len(rows) != 6 or not all(isinstance(r, list) for r in rows):
        raise ModelError(f"{where}: field 'S' is not 6 lists; give 6 x N numbers, angular first")
    columns = len(rows[0])
    S = field("S", (6, columns))
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
    for key in (*TERMS, "rest"):
        if key in body and not terms:
            raise ModelError(f"{where}: field {key!r} is known from {WITH_TERMS!r} on; give it as 'schema'")
        if key in body:
            one = isinstance(body[key], int | float) and not isinstance(body[key], bool)
            tree.nodes[name][key] = field(key, () if one else (columns,))


def _get(owner: dict[str, Any], where: str, key: str) -> Any:
    if key not in owner:
        what = f"{where}: field {key!r}" if where else f"field {key!r}"
        raise ModelError(f"{what} is missing; give it as {SCHEMA} asks")
    return owner[key]


def _kind(value: Any) -> str:
    """What a JSON value is, in words."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return "a number"
    return {"str": "a text", "list": "a list", "dict": "an object"}[type(value).__name__]
