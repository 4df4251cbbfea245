"""Contacts by name: a body or a merged link, and a point of it, that stick to the ground."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np

from ..base.errors import ModelError, nearest
from .joints import in_plane
from .loops import Loop, contact


def contacts_of(tree: nx.DiGraph, text: str, compliance: float, where: str) -> list[Loop]:
    """Points that stick to the ground, BODY or BODY@x:y:z [m], with commas between them.

    Three rows each, along the vertical first, then across it; ``compliance`` [1/kg] softens them.
    Raises ModelError, which begins with ``where``, for a body that there is not, for one that the
    world carries, for no point and for one that is named twice.

    >>> from pivotree.kkt.model.contact_names import contacts_of
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
            raise ModelError(
                f"{where}: {item!r} is part of the world, which holds itself; leave it out"
            )
        if items.count(item) > 1:
            raise ModelError(f"{where}: {item!r} is named twice; name each point once")
        found.append(contact(body, point, up, across, compliance=compliance, name=item))
    return found


def point_of(tree: nx.DiGraph, item: str, where: str) -> tuple[Any, list[float]]:
    """A body or merged link, and the point of it [m] that BODY@x:y:z names; else its origin."""
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
