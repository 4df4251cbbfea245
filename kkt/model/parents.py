"""The levels of a tree, and the paths between its bodies, from the array of parents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def levels(parent: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Indices grouped by depth, roots (parent -1) first.  Raises nothing, and skips cycles."""
    n = len(parent)
    order = np.argsort(parent, kind="stable")
    first = np.searchsorted(parent[order], np.arange(n + 1))
    level = np.flatnonzero(parent < 0)
    result = []
    while level.size:
        result.append(level)
        counts = first[level + 1] - first[level]
        starts = np.repeat(first[level] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        level = order[starts + np.arange(counts.sum())]
    return result


def meeting(bodies: tuple[int, int], parent: NDArray[np.int64]) -> int:
    """The nearest common ancestor of two bodies, which may be one of them; -1 for the world."""
    i, j = bodies
    above = set()
    while i >= 0:
        above.add(i)
        i = int(parent[i])
    while j >= 0 and j not in above:
        j = int(parent[j])
    return j


def paths(bodies: tuple[int, ...], parent: NDArray[np.int64]) -> list[int]:
    """Bodies whose joints move the given ones relative to each other; one, beside the world."""
    ends = bodies if len(bodies) > 1 else (*bodies, -1)
    return list(dict.fromkeys(k for end in ends[1:] for k in path((ends[0], end), parent)))


def path(bodies: tuple[int, int], parent: NDArray[np.int64]) -> list[int]:
    """Bodies whose joints move two relative to each other: from both up to where they meet."""
    up, result = meeting(bodies, parent), []
    for k in bodies:
        while k != up:
            result.append(k)
            k = int(parent[k])
    return result
