"""Random states in which closed loops close: drawn as a tree's, then brought to the nearest one.

Positions are drawn without the loops.  Newton's iteration, in the metric of kinetic energy, leads
to a state that closes them (:mod:`analysis.states.manifold`), and rates lose what breaks them.
A draw from which it leads nowhere, out of the limits of the model's joints, or to a state in which
rows of the loops depend on each other, is drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt
from pivotree.kkt.matrix.state import following, unfollowed
from pivotree.kkt.theorem import ranges as plain
from pivotree.kkt.theorem.ranges import ANGLE, SHIFT, Limits, Ranges

from .manifold import Floats, Manifold

SLACK = 1e-9  # rad or m: beyond limits that are met to rounding


def ranges_of(system: kkt.System, limits: Limits = MappingProxyType({})) -> Ranges:
    """The ranges of a robot, from its joints' types and limits, and the loops that must close.

    ``limits`` are (low, high) [rad, m] of bodies' joints, in the place of the model's.  Raises
    ModelError for a body that there is not, a joint of other than one freedom, and no range, and
    LoopError for a cut joint of general directions, whose gap is not defined.

    >>> from pivotree.analysis import states
    >>> states.ranges_of(pt.build(pt.two_link())).upper.round(2)
    array([3.14, 3.14])
    """
    found = plain.ranges_of(system, limits)
    loops = tuple(loop for loop in system.loops if not loop.anywhere)
    if all(loop.follows for loop in loops):  # positions that follow others need no iteration
        return found
    for loop in loops:
        if loop.free is None and not loop.follows:
            raise kkt.LoopError(
                f"loop {loop.name!r}: how far a cut joint of general directions is open is not "
                "defined, so that no random state can be closed; look at one state with compare, "
                "or sweep the model's own (distribution = 'given')"
            )
    return ClosedRanges(**_parts(found), graph=nx.DiGraph(system.graph, loops=loops))


def _parts(ranges: Ranges) -> dict[str, Any]:
    return {field.name: getattr(ranges, field.name) for field in fields(ranges)}


@dataclass(frozen=True, eq=False)
class ClosedRanges(Ranges):
    """Ranges of a robot with closed loops; its states are drawn by :func:`analysis.states.draw`."""

    graph: nx.DiGraph  # the tree, with the loops that a state must close

    __hash__ = object.__hash__  # its states are kept for this very object

    def __getstate__(self) -> Mapping[str, Any]:
        return _parts(self)  # kernels stay in their process

    @cached_property
    def manifold(self) -> Manifold:
        """Its loops as hard rows: soft ones close too."""
        hard = [replace(x, compliance=np.zeros(x.rows)) for x in self.graph.graph["loops"]]
        found = Manifold.of(nx.DiGraph(self.graph, loops=hard))
        assert found is not None
        return found

    def closed(self, q: Floats, qd: Floats) -> tuple[Floats, Floats] | None:
        """The nearest state to q and qd, each (N,), that keeps the loops; None where it is none."""
        places = self.manifold.places
        near = self.manifold.nearest(np.concatenate([places.from_coordinates(q), qd])[None])[0]
        x, rates = np.split(near, [places.size])
        if not np.isfinite(near).all():
            return None
        q = places.to_coordinates(x)
        own = ~(np.isin(self.upper, (ANGLE, SHIFT)) & (self.lower == -self.upper))
        if ((q < self.lower - SLACK) | (q > self.upper + SLACK))[own].any():
            return None
        loops = self.graph.graph["loops"]
        stiff = [np.flatnonzero(loop.compliance == 0.0) for loop in loops]
        state = self.manifold.state(x, loops)
        if any(True for _ in following(state, stiff)) or unfollowed(state) is not None:
            return None
        return q, rates

    def in_words(self) -> str:
        """The distribution, in one sentence."""
        return (
            f"{super().in_words()}; positions and rates then brought to the nearest that keep the "
            "closed loops, and drawn again where none is near"
        )
