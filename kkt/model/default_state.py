"""A state for trees that prescribe none: deterministic, and without zeros."""

from __future__ import annotations

import networkx as nx
import numpy as np

from ..base.foreign import of_kind
from .fields import Floats
from .joints import GENERAL, TYPES, known
from .mass import locked_inertia
from .spatial import force_transform, spatial_inertia
from .tree import compile_tree, require_graph


def count_dof(tree: nx.DiGraph) -> int:
    """N, the degrees of freedom of all joints, before the tree is checked."""
    total = 0
    for name, data in tree.nodes(data=True):
        kind = known(data.get("joint", "revolute"), name)
        total += np.shape(data["S"])[1] if kind == GENERAL else TYPES[kind].dof
    return total


@of_kind
def default_state(
    tree: nx.DiGraph, rate: float = 0.2, effort: float = 0.1, most: float = np.inf
) -> nx.DiGraph:
    """Put ``q``, ``qd`` and ``tau`` into ``tree.graph``, each (N,), and return the tree.

    With k = 1 ... N over the degrees of freedom in the order of the graph's nodes,

        q = 0.3 sin(1.7 k)   qd = rate cos(2.3 k)   tau = effort sin(0.9 k)

    in rad or m, rad/s or m/s, N m or N.  No joint stands at a special angle or at rest.  The
    coordinates of spherical and floating joints are rotation vectors, here shorter than 0.52
    rad, so that every joint's state is valid; limits of joints are ignored.  Raises ModelError
    for a joint that is unknown.

    No effort is larger than what gives its joint ``most`` [rad/s^2, m/s^2] at q = 0, all joints beyond
    it locked: that holds for robots of files, whose fingers 2 N m would turn at 1e7 rad/s^2.

    A state that the tree has already is overwritten: :func:`humanoid` and :func:`quadruped` come
    with the same formulas, but rates of 0.5 and efforts of 2.

    >>> tree = pt.default_state(pt.chain(2))
    >>> tree.graph["q"].round(3)
    array([ 0.297, -0.077])
    >>> own = pt.humanoid()
    >>> [round(float(tree.graph["qd"][0]), 3) for tree in (own, pt.default_state(own.copy()))]
    [-0.333, -0.133]
    """
    tree = require_graph(tree)
    k = np.arange(1.0, count_dof(tree) + 1.0)
    tree.graph["q"] = 0.3 * np.sin(1.7 * k)
    tree.graph["qd"] = rate * np.cos(2.3 * k)
    tree.graph["tau"] = effort * np.sin(0.9 * k)
    capped = ""
    if np.isfinite(most):
        tau = tree.graph["tau"]
        tree.graph["tau"] = np.clip(tau, *(_efforts(tree, most) * [[-1.0], [1.0]]))
        capped = f", at most {most:g} rad/s² or m/s²" if (tau != tree.graph["tau"]).any() else ""
    tree.graph["state_formulas"] = {  # what the user, who gave no state, is told of it
        "q": "0.3 sin(1.7 k)",
        "qd": f"{rate:g} cos(2.3 k)",
        "tau": f"{effort:g} sin(0.9 k){capped}",
    }
    return tree


def _efforts(tree: nx.DiGraph, most: float) -> Floats:
    """(N,) efforts that give ``most`` to each joint at q = 0; infinite where it moves no inertia."""
    flat = compile_tree(tree)
    owner = np.repeat(np.arange(flat.n), flat.dof)
    S = np.zeros((int(flat.offset[-1]), 6))
    for kind, bodies in flat.by_joint.items():
        zero = np.zeros((len(bodies), 0 if kind == GENERAL else TYPES[kind].dof))
        own = (
            [flat.S[k] for k in bodies] if kind == GENERAL else TYPES[kind].subspace(flat.axis[bodies], zero)
        )
        for k, motions in zip(bodies.tolist(), own, strict=True):
            S[flat.offset[k] : flat.offset[k + 1]] = motions.T
    M = spatial_inertia(flat.mass, flat.com, flat.inertia)
    inertia = locked_inertia(flat.parent, force_transform(flat.R, flat.p), M, S, owner)
    if flat.terms is not None:
        inertia = inertia + flat.terms.armature
    return np.where(inertia > 0.0, most * inertia, np.inf)
