"""Joints of a URDF that mimic others, coupled to them: q = multiplier q_other + offset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import networkx as nx
import numpy as np

from ..base.errors import ModelError, nearest
from .joints import TYPES
from .loops import coupled_joints


class Coupling(NamedTuple):
    """The content of one <mimic>."""

    to: str  # the joint that is followed
    ratio: float
    offset: float  # [rad or m]


def couple(tree: nx.DiGraph, coupled: Mapping[str, Coupling]) -> None:
    """Put a row for each coupling into ``tree.graph["loops"]``, and make the state satisfy them.

    Raises ModelError where the joint to follow is unknown or fixed, where joints follow each other
    in a cycle, and where a joint has not one freedom.
    """
    if not coupled:
        return
    body, first, count = {}, {}, 0
    for name, data in tree.nodes(data=True):
        joint = data["joint_name"]
        body[joint], first[joint] = name, count
        count += TYPES[data["joint"]].dof
    for joint, (to, *_) in coupled.items():
        if to not in body:
            where, others = f"joint {joint!r}: field 'mimic joint'", {*body} - {joint}
            raise ModelError(f"{where} is {to!r}, which does not move; {nearest(to, others)}")
    q, qd = np.array(tree.graph["q"]), np.array(tree.graph["qd"])
    for joint in coupled:
        followed = [joint]
        while followed[-1] in coupled:
            followed.append(coupled[followed[-1]].to)
            if followed[-1] in followed[:-1]:
                raise ModelError(f"joints {' -> '.join(followed)}: mimic each other; leave one out")
        for j in reversed(followed[:-1]):
            to, ratio, offset = coupled[j]
            q[first[j]] = ratio * q[first[to]] + offset
            qd[first[j]] = ratio * qd[first[to]]
    tree.graph.update(q=q, qd=qd)
    tree.graph["loops"] = tuple(
        coupled_joints(tree, body[joint], body[to], ratio, offset=offset, name=joint)
        for joint, (to, ratio, offset) in coupled.items()
    )
    for field in ("q", "qd"):
        tree.graph["state_formulas"][field] += ", and as it follows for joints that mimic"
