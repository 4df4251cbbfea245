"""Points of bodies that a short text names, as in ``--contact j3@0.1:0:0``, and contacts there."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np

from pivotree.kkt import Loop, ModelError, contact
from pivotree.kkt.base.errors import nearest
from pivotree.kkt.model.joints import in_plane


def contacts_of(tree: nx.DiGraph[Any], text: str, compliance: float, where: str) -> list[Loop]:
    """The contacts of points BODY or BODY@x:y:z [m], which stand in ``text`` between commas.

    Each has three rows, the vertical one first; ``compliance`` [1/kg] softens them.
    Raises ModelError, which begins with ``where``, for a body that is unknown or fixed to the
    world, for no point at all and for a point that is named twice.

    >>> from pivotree.analysis.points import contacts_of
    >>> [foot] = contacts_of(pt.chain(3), "j3@0.1:0:0", 0.0, "contact")
    >>> foot.name, foot.rows
    ('j3@0.1:0:0', 3)
    """
    up = -np.array(tree.graph["gravity"], dtype=float)
    up = up / np.linalg.norm(up) if up.any() else np.array([0.0, 0.0, 1.0])
    across = np.concatenate(in_plane(up[None]))
    found: list[Loop] = []
    items = [part.strip() for part in text.split(",") if part.strip()]
    if not items:
        raise ModelError(f"{where}: is empty; give names of bodies, with commas between them")
    for item in items:
        body, point = point_of(tree, item, where)
        if tree.graph.get("merged", {}).get(body, (body,))[0] is None:
            raise ModelError(f"{where}: {item!r} is part of the world, which holds itself; leave it out")
        if items.count(item) > 1:
            raise ModelError(f"{where}: {item!r} is named twice; name each point once")
        found.append(contact(body, point, up, across, compliance=compliance, name=item))
    return found


def point_of(tree: nx.DiGraph[Any], item: str, where: str) -> tuple[Any, list[float]]:
    """The body or merged link that an item names, and its point [m]: x:y:z, or else its origin."""
    names = {str(name): name for name in (*tree.graph.get("merged", {}), *tree)}
    if item in names:
        return names[item], [0.0, 0.0, 0.0]
    body, at, numbers = item.rpartition("@")
    if not at:
        body = item
    if body not in names:
        raise ModelError(f"{where}: body {body!r} is unknown; {nearest(body, names)}")
    try:
        point = [float(x) for x in numbers.split(":")]
    except ValueError:
        point = []
    if len(point) != 3 or not all(map(math.isfinite, point)):
        raise ModelError(
            f"{where}: {item!r} names no point; write {body}@0:0:-0.1, in m and in the body's frame"
        )
    return names[body], point
