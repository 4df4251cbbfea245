"""What a robot carries: point masses of its bodies, known to lie between a least and a most."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isfinite

import networkx as nx
import numpy as np

from ..base.errors import ModelError, nearest


@dataclass(frozen=True)
class Payload:
    """A point mass of ``least`` to ``most`` [kg] at the point ``at`` (3,) [m] of a body's frame.

    Raises ModelError for masses that are not 0 <= least <= most, and for a point that is none.

    >>> pt.kkt.Payload("gripper", 5.0).least
    0.0
    """

    body: Hashable
    most: float
    least: float = 0.0
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not (0.0 <= self.least <= self.most and isfinite(self.most)):
            raise ModelError(
                f"payload of body {self.body!r}: from {self.least:g} to {self.most:g} kg; give "
                "finite masses, 0 <= least <= most"
            )
        if len(self.at) != 3 or not all(map(isfinite, self.at)):
            raise ModelError(
                f"payload of body {self.body!r}: field 'at' is {self.at!r}; give three finite "
                "coordinates [m] in the body's frame"
            )


def carrying(tree: nx.DiGraph, payloads: Sequence[Payload], most: bool = True) -> nx.DiGraph:
    """The tree with its payloads' greatest masses, or with their least.

    Raises ModelError for a body that the tree has not.
    """
    loaded = nx.DiGraph(tree)
    for payload in payloads:
        if payload.body not in loaded:
            raise ModelError(
                f"payload: body {payload.body!r} is unknown; {nearest(str(payload.body), loaded)}"
            )
        data = loaded.nodes[payload.body]
        mass, own = payload.most if most else payload.least, float(data["mass"])
        if mass == 0.0:
            continue
        com, point = np.asarray(data["com"], dtype=float), np.asarray(payload.at, dtype=float)
        middle = (own * com + mass * point) / (own + mass)
        inertia = np.array(data["inertia"], dtype=float)
        for m, r in ((own, com - middle), (mass, point - middle)):
            inertia += m * (r @ r * np.eye(3) - np.outer(r, r))
        data.update(mass=own + mass, com=middle, inertia=inertia)
    return loaded
