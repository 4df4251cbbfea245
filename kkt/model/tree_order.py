"""Compiled loops that sort the bodies of large trees by depth."""

from __future__ import annotations

import numpy as np
from numba import njit

MANY = 1000  # bodies from which on a compiled loop is worth its loading


@njit(cache=True)
def breadth_first(parent):  # pragma: no cover
    """Bodies by depth, roots first, and where each depth starts among them.

    Within a depth, bodies stand in the order of their parents, and siblings in that of their
    indices.  Bodies on cycles are left out, so that the last start is then less than n.
    """
    n = len(parent)
    child = np.full(n + 1, -1, dtype=np.int64)  # first child of each body; the world's is the last
    following = np.full(n, -1, dtype=np.int64)
    for k in range(n - 1, -1, -1):
        up = parent[k] if parent[k] >= 0 else n
        following[k], child[up] = child[up], k
    order = np.empty(n, dtype=np.int64)
    start = np.zeros(n + 1, dtype=np.int64)
    k, filled, depth = child[n], 0, 0
    while k >= 0:
        order[filled] = k
        filled += 1
        k = following[k]
    first = 0
    while first < filled:
        depth += 1
        start[depth] = last = filled
        for t in range(first, last):
            k = child[order[t]]
            while k >= 0:
                order[filled] = k
                filled += 1
                k = following[k]
        first = last
    return order[:filled], start[: depth + 1]


@njit(cache=True)
def children_first(breadth, start):  # pragma: no cover
    """Deepest bodies first, each depth in its own order: Structure.order."""
    order = np.empty_like(breadth)
    filled = 0
    for d in range(len(start) - 2, -1, -1):
        for t in range(start[d], start[d + 1]):
            order[filled] = breadth[t]
            filled += 1
    return order
