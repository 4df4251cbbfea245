"""Joints of a URDF that mimic others, coupled to them: q = multiplier q_other + offset."""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx

from ..base.errors import ModelError, nearest
from .couplings import follow
from .loops import coupled_joints

Mimic = tuple[str, float, float]  # the joint that is followed, ratio, offset [rad or m]


def couple(tree: nx.DiGraph, coupled: Mapping[str, Mimic]) -> None:
    """Put a row for each coupling into ``tree.graph["loops"]``, and make the state satisfy them.

    Raises ModelError where the joint to follow is unknown or fixed, where joints follow each other
    in a cycle, and where a joint has not one freedom.
    """
    if not coupled:
        return
    body = {data["joint_name"]: name for name, data in tree.nodes(data=True)}
    for joint, (to, *_) in coupled.items():
        if to not in body:
            where, others = f"joint {joint!r}: field 'mimic joint'", {*body} - {joint}
            raise ModelError(f"{where} is {to!r}, which does not move; {nearest(to, others)}")
    for joint in coupled:
        followed = [joint]
        while followed[-1] in coupled:
            followed.append(coupled[followed[-1]][0])
            if followed[-1] in followed[:-1]:
                raise ModelError(f"joints {' -> '.join(followed)}: mimic each other; leave one out")
    tree.graph["loops"] = tuple(
        coupled_joints(tree, body[joint], body[to], ratio, offset=offset, name=joint)
        for joint, (to, ratio, offset) in coupled.items()
    )
    follow(tree)
    for field in ("q", "qd"):
        tree.graph["state_formulas"][field] += ", and as it follows for joints that mimic"
