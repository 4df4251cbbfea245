"""What a robot carries: point masses of its bodies, known to lie between a least and a most."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isfinite

import networkx as nx
import numpy as np

from ..base.errors import ModelError, nearest
from .mass import Mass, combine
from .tree import Floats, compile_tree


@dataclass(frozen=True)
class Payload:
    """A point mass of ``least`` to ``most`` [kg] at the point ``at`` (3,) [m] of a body's frame.

    The body may be a link that was merged into another.  Raises ModelError for masses that are not
    0 <= least <= most, and for a point that is none.

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

    A payload may be on a link that was merged into a body.  Raises ModelError for one on no body
    of the tree, or on a link that nothing moves, and for a tree that is wrong.
    """
    if not payloads:
        return tree
    loaded, merged = nx.DiGraph(tree), tree.graph.get("merged", {})
    flat, parts = compile_tree(tree), dict[Hashable, list[tuple[Mass, Floats, Floats]]]()
    for payload in payloads:
        body, R, p = merged.get(payload.body, (payload.body, np.eye(3), np.zeros(3)))
        if body is None:
            raise ModelError(
                f"payload of {payload.body!r}: this link is fixed to the world, and what is on it "
                "moves with nothing; leave it out"
            )
        if body not in loaded:
            raise ModelError(
                f"payload: body {body!r} is unknown; {nearest(str(body), map(str, loaded))}"
            )
        if body not in parts:
            k = flat.names.index(body)
            own = Mass(float(flat.mass[k]), flat.com[k], flat.inertia[k])
            parts[body] = [(own, np.eye(3), np.zeros(3))]
        mass = payload.most if most else payload.least
        parts[body].append((Mass(mass, np.array(payload.at, dtype=float), np.zeros((3, 3))), R, p))
    for body, some in parts.items():
        whole = combine(some)
        loaded.nodes[body].update(mass=whole.mass, com=whole.com, inertia=whole.inertia)
    return loaded
