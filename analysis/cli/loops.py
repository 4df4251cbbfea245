"""Closed loops and contacts that the options ask for, beside the model's own."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pivotree import kkt
from pivotree.kkt.base.errors import nearest

if TYPE_CHECKING:
    import networkx as nx


def loops_of(options: argparse.Namespace, tree: nx.DiGraph[Any]) -> tuple[kkt.Loop, ...]:
    """What ``--contact`` and ``--loops`` say; none where a command has none."""
    told, file = getattr(options, "contact", None), getattr(options, "loops", None)
    if file is not None and not file.strip():
        raise kkt.PivotreeError("option --loops: is empty; give a file of loops")
    read = () if file is None else kkt.read_loops(file, tree)
    if told is None:
        return tuple(read)
    bodies, soft, compliance = told.partition(",compliance=")
    mu = size_of(compliance, "--contact", "compliance; give zero or more [1/kg]") if soft else 0.0
    return (*read, *contacts_of(tree, bodies, mu))


def contacts_of(tree: nx.DiGraph[Any], text: str, compliance: float) -> list[kkt.Loop]:
    """The contacts of points BODY or BODY@x:y:z [m], which stand in ``text`` between commas.

    Each has three rows, the vertical one first; ``compliance`` [1/kg] softens them.
    Raises ModelError for a body that is unknown or fixed to the world, for no point at all and for a
    point that is named twice.
    """
    from pivotree.kkt.model.joints import in_plane

    up = -np.array(tree.graph["gravity"], dtype=float)
    up = up / np.linalg.norm(up) if up.any() else np.array([0.0, 0.0, 1.0])
    across = np.concatenate(in_plane(up[None]))
    found: list[kkt.Loop] = []
    items = [part.strip() for part in text.split(",") if part.strip()]
    if not items:
        raise kkt.ModelError("option --contact: is empty; give names of bodies, with commas between them")
    for item in items:
        body, point = point_of(tree, item)
        if tree.graph.get("merged", {}).get(body, (body,))[0] is None:
            raise kkt.ModelError(
                f"option --contact: {item!r} is part of the world, which holds itself; leave it out"
            )
        if items.count(item) > 1:
            raise kkt.ModelError(f"option --contact: {item!r} is named twice; name each point once")
        found.append(kkt.contact(body, point, up, across, compliance=compliance, name=item))
    return found


def point_of(tree: nx.DiGraph[Any], item: str) -> tuple[Any, list[float]]:
    """The body or merged link that an item names, and its point [m]: x:y:z, or else its origin."""
    names = {str(name): name for name in (*tree.graph.get("merged", {}), *tree)}
    if item in names:
        return names[item], [0.0, 0.0, 0.0]
    body, at, numbers = item.rpartition("@")
    if not at:
        body = item
    if body not in names:
        raise kkt.ModelError(f"option --contact: body {body!r} is unknown; {nearest(body, names)}")
    try:
        point = [float(x) for x in numbers.split(":")]
    except ValueError:
        point = []
    if len(point) != 3 or not all(map(math.isfinite, point)):
        raise kkt.ModelError(
            f"option --contact: {item!r} names no point; write {body}@0:0:-0.1, in m and in the body's frame"
        )
    return names[body], point


def size_of(text: str, option: str, wanted: str) -> float:
    """A finite number of zero or more that an option gives as ``text``.

    Else PivotreeError says that it is no ``wanted``.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < math.inf:
        raise kkt.PivotreeError(f"option {option}: {text!r} is no {wanted}")
    return value
