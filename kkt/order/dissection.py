"""Nested dissection of a tree on arrays (George 1973): by bodies, or by joints."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..matrix.blocks import PDD, QDD, F, Structure, require_structure
from .array_plans import plan_from_arrays
from .pivots import Plan


def nested_dissection(structure: Structure) -> Plan:
    """One bracket (pdd qdd f) a body; a body that cuts a part in pieces comes after all of them.

    The cut is the part's centroid (Jordan 1869): no piece has more than half of the part's bodies,
    so that no more than 1 + log2 n brackets wait for each other, on any tree.  Raises LoopError for
    closed loops and contacts.

    >>> structure = pt.build(pt.chain(1000)).structure
    >>> for plan in (pt.nested_dissection(structure), pt.leaf_to_root(structure)):
    ...     print(pt.symbolic(plan).height)
    30
    3000
    """
    require_structure(structure)
    structure.require_tree("nested_dissection")
    n = structure.n
    kinds, group = np.tile([PDD, F, QDD], n), np.repeat(np.arange(n), 3)
    bodies = np.repeat(centroids(structure.parent)[::-1], 3)
    return plan_from_arrays(structure, kinds, bodies, group, name="nested_dissection")


@njit(cache=True)
def centroids(parent):  # pragma: no cover
    """(n,) bodies, the centroid of a part before those of the pieces that it leaves."""
    n = len(parent)
    child, following = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    stack, waiting = np.empty(n, dtype=np.int64), 0  # topmost bodies of parts
    for k in range(n - 1, -1, -1):
        if parent[k] >= 0:
            following[k], child[parent[k]] = child[parent[k]], k
        else:
            stack[waiting] = k
            waiting += 1
    cut = np.zeros(n, dtype=np.bool_)
    part, size = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    found, filled = np.empty(n, dtype=np.int64), 0
    while waiting:
        waiting -= 1
        top = part[0] = stack[waiting]
        count, i = 1, 0
        while i < count:
            size[part[i]] = 1
            c = child[part[i]]
            while c >= 0:
                if not cut[c]:
                    part[count] = c
                    count += 1
                c = following[c]
            i += 1
        for i in range(count - 1, 0, -1):
            size[parent[part[i]]] += size[part[i]]
        k, c = top, child[top]
        while c >= 0:  # down to the last body that carries more than half
            if not cut[c] and 2 * size[c] > count:
                k, c = c, child[c]
            else:
                c = following[c]
        cut[k] = True
        found[filled] = k
        filled += 1
        if k != top:
            stack[waiting] = top
            waiting += 1
        c = child[k]
        while c >= 0:
            if not cut[c]:
                stack[waiting] = c
                waiting += 1
            c = following[c]
    return found


@njit(cache=True)
def halving_joints(parent, order):  # pragma: no cover
    """(n,) joints, named by their bodies, each of which cuts a part into two most equal halves.

    The halves are the part's joints below the cut, and all others but the cut.  A part's cut comes
    before those of its halves.  ``order`` lists all bodies, parents before children.
    """
    n = len(parent)
    part, other = order.copy(), np.empty(n, dtype=np.int64)
    label, below = np.zeros(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    first, last = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    first[0], last[0], waiting, labels = 0, n, 1, 0
    found, filled = np.empty(n, dtype=np.int64), 0
    while waiting:
        waiting -= 1
        a, b = first[waiting], last[waiting]
        labels += 1
        for t in range(a, b):
            label[part[t]], below[part[t]] = labels, 1
        for t in range(b - 1, a - 1, -1):
            up = parent[part[t]]
            if up >= 0 and label[up] == labels:
                below[up] += below[part[t]]
        cut = part[a]
        for t in range(a + 1, b):
            if abs(2 * below[part[t]] - 1 - b + a) < abs(2 * below[cut] - 1 - b + a):
                cut = part[t]
        found[filled] = cut
        filled += 1
        middle, under = a, 0
        label[cut] = -labels  # of those below it
        for t in range(a, b):
            k = part[t]
            if k == cut or (parent[k] >= 0 and label[parent[k]] == -labels):
                label[k] = -labels
                if k != cut:
                    other[under] = k
                    under += 1
            else:
                part[middle] = k
                middle += 1
        for t in range(under):
            part[middle + t] = other[t]
        for start, end in ((a, middle), (middle, middle + under)):
            if end > start:
                first[waiting], last[waiting] = start, end
                waiting += 1
    return found
