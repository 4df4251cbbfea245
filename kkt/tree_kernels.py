"""Compiled loops over the bodies of large trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@njit(cache=True)
def breadth_first(parent):  # pragma: no cover
    """Bodies by depth, roots first, and where each depth starts among them.

    Within a depth bodies follow their parents, and those of one parent their index.  Bodies of
    cycles are left out, so that the starts end before n.
    """
    n = len(parent)
    child = np.full(n + 1, -1, dtype=np.int64)  # the world's is the last
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


@njit(cache=True)
def velocities(order, parent, Phi, rates):  # pragma: no cover
    """v_k = Phi* v_parent + rates_k, parents before children."""
    v = np.empty_like(rates)
    for k in order:
        up = parent[k]
        for i in range(6):
            if up < 0:
                v[k, i] = rates[k, i]
                continue
            total = Phi[k, 0, i] * v[up, 0]
            for j in range(1, 6):
                total += Phi[k, j, i] * v[up, j]
            v[k, i] = total + rates[k, i]
    return v


@njit(cache=True)
def matrix_pointers(parent, offset, in_M, in_Phi, in_S):  # pragma: no cover
    """Column pointers of equation (4), where the masks ``in_*`` let entries through."""
    n, N = len(parent), offset[-1]
    size = 12 * n + N
    pointer = np.zeros(size + 1, dtype=np.int32)
    to_p, to_q, to_f = pointer[1:], pointer[6 * n + 1 :], pointer[6 * n + N + 1 :]
    for k in range(n):
        up = parent[k]
        for i in range(6):
            count, own = 1, 1
            for j in range(6):
                count += in_M[k, i, j]  # symmetric
            to_p[6 * k + i] += count
            if up >= 0:
                for j in range(6):
                    own += in_Phi[k, j, i]
            to_f[6 * k + i] += own
        if up >= 0:
            for i in range(6):
                count = 0
                for j in range(6):
                    count += in_Phi[k, i, j]
                to_p[6 * up + i] += count
        for c in range(offset[k], offset[k + 1]):
            for i in range(6):
                to_q[c] += in_S[c, i]
                to_f[6 * k + i] += in_S[c, i]
    for c in range(size):
        pointer[c + 1] += pointer[c]
    return pointer


@njit(cache=True)
def matrix_entries(pointer, parent, offset, in_M, in_Phi, in_S, M, Phi, S, row, value):
    """Row indices and values into arrays that are one longer than the entries; rows ascend.

    An entry that is not let through is written and then written over: no branch is mispredicted.
    """
    n, N = len(parent), offset[-1]
    cursor = np.empty(6 * n, dtype=np.int32)
    for k in range(n):
        for j in range(6):
            at = pointer[6 * k + j]
            for i in range(6):
                row[at], value[at] = 6 * k + i, M[k, j, i]
                at += in_M[k, j, i]
            cursor[6 * k + j] = at
    for k in range(n):
        for c in range(offset[k], offset[k + 1]):
            at = pointer[6 * n + c]
            for i in range(6):
                row[at], value[at] = 6 * n + N + 6 * k + i, S[c, i]
                at += in_S[c, i]
    for k in range(n):
        f, up = 6 * n + N + 6 * k, parent[k]
        first, last = offset[k], offset[k + 1]
        for j in range(6):
            here = cursor[6 * k + j]
            row[here], value[here] = f + j, 1.0
            cursor[6 * k + j] = here + 1
            at = pointer[f + j]
            if up > k:
                row[at], value[at] = 6 * k + j, 1.0
                at += 1
            if up >= 0:  # the lower left of Phi is zero
                for i in range(3 if j < 3 else 6):
                    row[at], value[at] = 6 * up + i, -Phi[k, i, j]
                    at += in_Phi[k, i, j]
            if up < k:
                row[at], value[at] = 6 * k + j, 1.0
                at += 1
            for c in range(first, last):
                row[at], value[at] = 6 * n + c, S[c, j]
                at += in_S[c, j]
        if up >= 0:
            for i in range(6):
                at = cursor[6 * up + i]
                for j in range(0 if i < 3 else 3, 6):
                    if in_Phi[k, i, j]:
                        row[at], value[at] = f + j, -Phi[k, i, j]
                        at += 1
                cursor[6 * up + i] = at


def matrix(
    parent: Integers, offset: Integers, masks: Sequence[NDArray], blocks: Sequence[NDArray]
) -> tuple[NDArray, NDArray, NDArray]:
    """Equation (4) by columns: pdd, qdd, f of the bodies in their order.

    Column pointers, row indices and values of the entries of M, Phi, S that their masks let
    through.
    """
    in_M, in_Phi, in_S = masks
    M, Phi, S = blocks
    pointer = matrix_pointers(parent, offset, in_M, in_Phi, in_S)
    entries = int(pointer[-1])
    # numpy's arrays: on Linux it asks for large pages, and touching small ones costs more than
    # writing them
    row, value = np.empty(entries + 1, dtype=np.int32), np.empty(entries + 1)
    matrix_entries(pointer, parent, offset, in_M, in_Phi, in_S, M, Phi, S, row, value)
    return pointer, row[:entries], value[:entries]
