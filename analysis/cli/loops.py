"""Contacts that the options ask for, beside the model's own loops, and loops that a state leaves open."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from pivotree import kkt
from pivotree.kkt.base.errors import nearest
from pivotree.kkt.base.reading import read_number
from pivotree.kkt.model.loops import OPEN

if TYPE_CHECKING:
    import networkx as nx


CONTACT = "option --contact"


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
        raise kkt.ModelError(CONTACT, "is empty", "give names of bodies, with commas between them")
    for item in items:
        body, point = point_of(tree, item)
        if tree.graph.get("merged", {}).get(body, (body,))[0] is None:
            raise kkt.ModelError(
                CONTACT, f"{item!r} is part of the world, which holds itself", "leave it out"
            )
        if items.count(item) > 1:
            raise kkt.ModelError(CONTACT, f"{item!r} is named twice", "name each point once")
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
        raise kkt.ModelError(CONTACT, f"body {body!r} is unknown", nearest(body, names))
    try:
        point = [read_number(x) for x in numbers.split(":")]
    except ValueError:
        point = []
    if len(point) != 3 or not all(map(math.isfinite, point)):
        raise kkt.ModelError(
            CONTACT, f"{item!r} names no point", f"write {body}@0:0:-0.1, in m and in the body's frame"
        )
    return names[body], point


def size_of(text: str, option: str, wanted: str) -> float:
    """A finite number of zero or more that an option gives as ``text``.

    Else PivotreeError says that it is no ``wanted``.
    """
    try:
        value = read_number(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < math.inf:
        raise kkt.PivotreeError(f"option {option}", f"{text!r} is no {wanted}")
    return value


def require_closed(system: kkt.System) -> None:
    """Raise ModelError for a loop that is open in this state, or that its rates tear."""
    if (found := left_open(system)) is not None:
        raise kkt.ModelError(
            f"loop {found[0]!r}",
            f"is open by {found[1]:.2g} (rad or m) in this state",
            "close it with --q or --state, draw a closed state with --state random:0, or mend the loop's "
            "poses",
        )
    if (found := torn(system)) is not None:
        raise kkt.ModelError(
            f"loop {found[0]!r}",
            f"is torn at {found[1]:.2g} (rad/s or m/s) by the rates of this state",
            "give --state qd: those that keep it closed, or --state random:0, which does",
        )


def left_open(system: kkt.System) -> tuple[Hashable, float] | None:
    """A loop that is open in this state, and that Baumgarte's terms do not close, and its gap."""
    for closure in system.state.loops:
        gap = float(np.abs(closure.whole.gap).max(initial=0.0))
        if gap > OPEN and not closure.loop.baumgarte[1]:
            return closure.loop.name, gap
    return None


def torn(system: kkt.System) -> tuple[Hashable, float] | None:
    """A loop that the rates qd open, and that Baumgarte's terms do not slow, and how fast."""
    qd = system.state.qd
    for closure in (each.whole for each in system.state.loops):
        if closure.loop.point or closure.loop.baumgarte[0]:
            continue
        from ..states.manifold import on_all_rates  # which loads much

        speed = on_all_rates(system.tree, system.state, [closure]) @ qd
        fastest = float(np.abs(speed[closure.loop.compliance == 0.0]).max(initial=0.0))
        if fastest > OPEN * max(1.0, float(np.abs(qd).max(initial=0.0))):
            return closure.loop.name, fastest
    return None
