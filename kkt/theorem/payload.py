"""Payloads of a robot: point masses on its bodies, each between a least and a greatest mass."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real

import networkx as nx
import numpy as np

from ..base.errors import ModelError, nearest
from ..model.fields import Floats, checked, require_name
from ..model.mass import Mass, combine
from ..model.tree import compile_tree


@dataclass(frozen=True)
class Payload:
    """A point mass of ``least`` to ``most`` [kg] at the point ``at`` (3,) [m] of a body's frame.

    The body may be a link that was merged into another.  Raises ModelError for masses that are not
    0 <= least <= most, and for a point that has not three finite numbers.

    >>> pt.kkt.Payload("gripper", 5.0).least
    0.0
    """

    body: Hashable
    most: float
    least: float = 0.0
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        require_name(self.body, "payload")
        where = f"payload of body {self.body!r}"
        for field in ("most", "least"):
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise ModelError(f"{where}: field {field!r} is {value!r}; give a mass in kg")
        if not (0.0 <= self.least <= self.most and isfinite(self.most)):
            raise ModelError(
                f"{where}: from {self.least:g} to {self.most:g} kg; give finite masses, 0 <= least <= most"
            )
        checked(where, "at", self.at, (3,))


def carrying(tree: nx.DiGraph, payloads: Sequence[Payload], most: bool = True) -> nx.DiGraph:
    """The tree with its payloads at their greatest masses, or without ``most`` at their least.

    A payload may be on a link that was merged into a body.  Raises ModelError for a payload on an
    unknown body, or on a link fixed to the world, and for a tree that is wrong.
    """
    if not isinstance(payloads, Sequence):
        raise ModelError(f"payloads: is {payloads!r}; give a list of kkt.Payload(body, kg)")
    if not payloads:
        return tree
    loaded, merged = nx.DiGraph(tree), tree.graph.get("merged", {})
    for payload in payloads:
        if not isinstance(payload, Payload):
            raise ModelError(f"payloads: {payload!r} is none; give kkt.Payload(body, kg)")
    flat, parts = compile_tree(tree), dict[Hashable, list[tuple[Mass, Floats, Floats]]]()
    for payload in payloads:
        body, R, p = merged.get(payload.body, (payload.body, np.eye(3), np.zeros(3)))
        if body is None:
            raise ModelError(
                f"payload of {payload.body!r}: this link is fixed to the world, and what is on it "
                "moves with nothing; leave it out"
            )
        if body not in loaded:
            raise ModelError(f"payload: body {body!r} is unknown; {nearest(str(body), map(str, loaded))}")
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
