"""Joints that follow others: positions and rates that keep q = ratio q_to + offset.

The rows of (4) couple accelerations alone (:func:`kkt.coupled_joints`), so that a state has to keep
the positions and rates by itself.  A URDF's <mimic> and MuJoCo's equality of joints are such rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.loops import Loop
from ..model.tree import BodyTree
from .closures import Closure

Floats = NDArray[np.float64]


class Coupling(NamedTuple):
    """q[place] = ratio q[to] + offset, places among the N freedoms; ``to`` -1 where it is held."""

    place: int
    to: int
    ratio: float
    offset: float

    def at(self, q: Floats, rates: bool = False) -> float:
        """Where the joint is, or how fast it moves, when the other is at q (N,)."""
        followed = self.ratio * float(q[self.to]) if self.to >= 0 else 0.0
        return followed if rates else followed + self.offset


def couplings(tree: BodyTree, loops: Sequence[Loop]) -> tuple[Coupling, ...]:
    """Of the loops that say what positions keep, each behind those that it follows."""
    index = {name: k for k, name in enumerate(tree.names)}
    found = {}
    for loop in loops:
        if loop.follows:
            place = int(tree.offset[index[loop.bodies[1]]])
            to = -1 if loop.beside is None else int(tree.offset[index[loop.beside.bodies[1]]])
            found[place] = Coupling(place, to, *loop.follows)
    ordered: dict[int, Coupling] = {}
    for one in found.values():
        way: list[Coupling] = []
        while one.place not in ordered and one not in way:
            way.append(one)
            one = found.get(one.to, one)
        ordered |= {each.place: each for each in reversed(way)}
    return tuple(ordered.values())


def kept(coupled: Sequence[Coupling], q: Floats, but: Collection[int] = (), rates: bool = False) -> Floats:
    """q (N,), or rates, in which joints follow those that they are coupled to; places ``but`` stay."""
    q = q.copy()
    for one in coupled:
        if one.place not in but:
            q[one.place] = one.at(q, rates)
    return q


def measured(tree: BodyTree, closed: tuple[Closure, ...], q: Floats) -> tuple[Closure, ...]:
    """The constraints at positions q (N,), coupled joints with how far they are apart."""
    if not any(one.loop.follows for one in closed):
        return closed
    apart = {x.place: float(q[x.place]) - x.at(q) for x in couplings(tree, [one.loop for one in closed])}
    own = {name: int(tree.offset[k]) for k, name in enumerate(tree.names)}
    return tuple(
        replace(one, apart=apart[own[one.loop.bodies[1]]]) if one.loop.follows else one for one in closed
    )
