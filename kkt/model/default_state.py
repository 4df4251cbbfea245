"""A state for trees that prescribe none: deterministic, and without zeros."""

from __future__ import annotations

import networkx as nx
import numpy as np

from ..base.kinds import of_kind
from .joints import GENERAL, TYPES, known
from .tree import require_graph


def count_dof(tree: nx.DiGraph) -> int:
    """N, the degrees of freedom of all joints, before the tree is checked."""
    total = 0
    for name, data in tree.nodes(data=True):
        kind = known(data.get("joint", "revolute"), name)
        total += np.shape(data["S"])[1] if kind == GENERAL else TYPES[kind].dof
    return total


@of_kind
def default_state(tree: nx.DiGraph, rate: float = 0.2, effort: float = 0.1) -> nx.DiGraph:
    """Put ``q``, ``qd`` and ``tau`` into ``tree.graph``, each (N,), and return the tree.

    With k = 1 ... N over the degrees of freedom in the order of the graph's nodes,

        q = 0.3 sin(1.7 k)   qd = rate cos(2.3 k)   tau = effort sin(0.9 k)

    in rad or m, rad/s or m/s, N m or N.  No joint stands at a special angle or at rest.  The
    coordinates of spherical and floating joints are rotation vectors, here shorter than 0.52
    rad, so that every joint's state is valid; limits of joints are ignored.  Raises ModelError
    for a joint that is unknown.

    A state that the tree has already is overwritten: :func:`humanoid` and :func:`quadruped` come
    with the same formulas, but rates of 0.5 and efforts of 2.

    >>> tree = pt.default_state(pt.chain(2))
    >>> tree.graph["q"].round(3)
    array([ 0.297, -0.077])
    >>> own = pt.humanoid()
    >>> [round(float(tree.graph["qd"][0]), 3) for tree in (own, pt.default_state(own.copy()))]
    [-0.333, -0.133]
    """
    require_graph(tree)
    k = np.arange(1.0, count_dof(tree) + 1.0)
    tree.graph["q"] = 0.3 * np.sin(1.7 * k)
    tree.graph["qd"] = rate * np.cos(2.3 * k)
    tree.graph["tau"] = effort * np.sin(0.9 * k)
    tree.graph["state_formulas"] = {  # what the user, who gave no state, is told of it
        "q": "0.3 sin(1.7 k)",
        "qd": f"{rate:g} cos(2.3 k)",
        "tau": f"{effort:g} sin(0.9 k)",
    }
    return tree
