"""Systems of any size from arrays: the gallery's chain, and a random tree."""

from __future__ import annotations

import numpy as np

from pivotree import kkt
from pivotree.kkt.model import box


def chain(n: int) -> kkt.System:
    """Equation (4) of ``kkt.chain(n)`` in its own state."""
    axis = np.where((np.arange(n) % 2 == 0)[:, None], (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    p = np.zeros((n, 3))
    p[1:, 0] = 0.1
    tree = kkt.tree_from_arrays(
        np.arange(-1, n - 1),
        mass=1.0,
        com=(0.05, 0.0, 0.0),
        inertia=box(1.0, (0.1, 0.02, 0.02)),
        axis=axis,
        p=p,
        name=f"chain_{n}",
    )
    return _in_its_state(tree)


def random_tree(n: int, seed: int = 0) -> kkt.System:
    """Every body on one of the eight before it, by a revolute joint about a random axis."""
    draw = np.random.default_rng(seed)
    k = np.arange(n)
    parent = k - 1 - np.floor(draw.random(n) * np.minimum(8, np.maximum(k, 1))).astype(np.int64)
    parent[0] = -1
    tree = kkt.tree_from_arrays(
        parent,
        mass=draw.uniform(0.5, 2.0, n),
        com=draw.uniform(-0.05, 0.05, (n, 3)),
        inertia=box(1.0, (0.2, 0.3, 0.25)),
        axis=draw.normal(size=(n, 3)),
        p=draw.uniform(-0.1, 0.1, (n, 3)),
        name=f"random_{n}",
    )
    return _in_its_state(tree)


def _in_its_state(tree: kkt.BodyTree) -> kkt.System:
    k = np.arange(1.0, tree.offset[-1] + 1.0)
    q, qd, tau = 0.3 * np.sin(1.7 * k), 0.2 * np.cos(2.3 * k), 0.1 * np.sin(0.9 * k)
    return kkt.build(tree, q, qd, tau)
