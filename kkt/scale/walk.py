"""The order in which a large tree is walked: depth first, children before parents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Walk:
    """Bodies in depth-first postorder; children of one body in the order of elimination.

    The update of a body waits on a stack for its parent.  Where updates are summed, the children of
    one parent add to one place, so that a chain needs a single place.  Else each child has its own.
    """

    up: Integers  # (n,) parents
    order: NDArray[np.int32]  # (n,) bodies
    first: NDArray[np.bool_]  # (n,) by body: its update begins a new place, or it is a root
    leaf: NDArray[np.bool_]  # (n,) by body
    size: NDArray[np.int32]  # (n,) by body: bodies in its subtree
    places: int  # that the stack needs


def walk_of(parent: Integers, sequence: NDArray[np.int32] | None = None, merges: bool = True) -> Walk:
    """The walk of a tree given by its parents, -1 for a root.

    ``sequence`` (n,) are the bodies as they are eliminated, by ascending index where it is None;
    ``merges`` says that updates are summed.
    """
    if sequence is None:
        sequence = np.arange(len(parent), dtype=np.int32)
    return Walk(parent, *_postorder(parent, sequence, merges))


@njit(cache=True)
def _postorder(parent, sequence, merges):  # pragma: no cover
    """The fields of :class:`Walk` after the first, by a depth-first walk without recursion."""
    n = len(parent)
    child = np.full(n + 1, -1, dtype=np.int32)  # first child; the world is number n
    following = np.full(n, -1, dtype=np.int32)
    for k in sequence[::-1]:
        up = parent[k] if parent[k] >= 0 else n
        following[k], child[up] = child[up], k
    order = np.empty(n, dtype=np.int32)
    first = np.zeros(n, dtype=np.bool_)
    leaf = np.empty(n, dtype=np.bool_)
    size = np.ones(n, dtype=np.int32)
    k, filled, waiting, most = child[n], 0, 0, 0
    while k >= 0:
        while child[k] >= 0:
            k = child[k]
        while True:
            up = parent[k]
            order[filled] = k
            filled += 1
            leaf[k] = child[k] < 0
            first[k] = up < 0 or child[up] == k or not merges
            if merges:
                waiting -= not leaf[k]
            else:
                c = child[k]
                while c >= 0:
                    waiting -= 1
                    c = following[c]
            if up >= 0:
                size[up] += size[k]
                most = max(most, waiting + 1)
                waiting += first[k]
            if following[k] >= 0:
                k = following[k]
                break
            k = up
            if k < 0:
                break
    return order, first, leaf, size, most


@njit(cache=True)
def cuts(order, up, size, piece):  # pragma: no cover
    """Places in the walk at which the largest subtrees of at most ``piece`` bodies end."""
    found = np.empty(len(order), dtype=np.int64)
    count = 0
    for t in range(len(order)):
        k = order[t]
        if size[k] <= piece and (up[k] < 0 or size[up[k]] > piece):
            found[count] = t
            count += 1
    return found[:count]
