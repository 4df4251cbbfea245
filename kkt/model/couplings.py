"""Joints that follow others: positions and rates that keep q = polynomial(q_to).

The rows of (4) couple accelerations alone (:func:`kkt.coupled_joints`), so that a state has to keep
the positions and rates by itself.  A URDF's <mimic> and MuJoCo's equality of joints are such rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import networkx as nx

from .fields import Floats
from .loops import Loop
from .tree import BodyTree, compile_tree


def taylor(polynomial: Sequence[Any], x: Any) -> list[Any]:
    """Coefficients, lowest first, of the same polynomial in what its variable is beyond x (Horner)."""
    found = list(polynomial)
    for i in range(len(found) - 1):
        for j in range(len(found) - 2, i - 1, -1):
            found[j] = found[j] + x * found[j + 1]
    return found


class Coupling(NamedTuple):
    """q[place] = sum_i polynomial[i] q[to]^i, places among the N freedoms; ``to`` -1 where it is held."""

    place: int
    to: int
    polynomial: tuple[float, ...]

    def at(self, q: Floats) -> float:
        """Where the joint is when the other is at q (N,)."""
        return float(taylor(self.polynomial, q[self.to] if self.to >= 0 else 0.0)[0])

    def rate(self, q: Floats, qd: Floats) -> float:
        """How fast it moves when the other is at q (N,) and moves at qd (N,)."""
        return float(taylor(self.polynomial, q[self.to])[1] * qd[self.to]) if self.to >= 0 else 0.0


def couplings(tree: BodyTree, loops: Sequence[Loop]) -> tuple[Coupling, ...]:
    """Of the loops that say what positions keep, each behind those that it follows."""
    first = dict(zip(tree.names, tree.offset.tolist(), strict=False))
    found = {}
    for loop in loops:
        if loop.follows:
            to = -1 if loop.beside is None else first[loop.beside.bodies[1]]
            found[first[loop.bodies[1]]] = Coupling(first[loop.bodies[1]], to, loop.polynomial)
    ordered: dict[int, Coupling] = {}
    for one in found.values():
        way: list[Coupling] = []
        while one.place not in ordered and one not in way:
            way.append(one)
            one = found.get(one.to, one)
        ordered |= {each.place: each for each in reversed(way)}
    return tuple(ordered.values())


def kept(
    coupled: Sequence[Coupling], q: Floats, qd: Floats | None = None, but: Collection[int] = ()
) -> Floats:
    """q (N,), or with ``qd`` the rates there, in which joints follow others; places ``but`` stay."""
    found = (q if qd is None else qd).copy()
    for one in coupled:
        if one.place not in but:
            found[one.place] = one.at(found) if qd is None else one.rate(q, found)
    return found


def follow(tree: nx.DiGraph) -> None:
    """Make the state in ``tree.graph`` keep its coupled joints."""
    coupled = couplings(compile_tree(tree), tree.graph["loops"])
    q = kept(coupled, tree.graph["q"])
    tree.graph.update(q=q, qd=kept(coupled, q, tree.graph["qd"]))
