"""Compiled loops of the symbolic factor; positions are blocks in the order of elimination."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _grow(array, needed):  # pragma: no cover
    if needed <= len(array):
        return array
    larger = np.empty(max(needed, 2 * len(array)), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True)
def eliminate(pointer, later, diagonal, paired):  # pragma: no cover
    """Positions only; extra edges wait in linked lists at their earlier end."""
    count = len(pointer) - 1
    diagonal = diagonal.copy()
    pivot = np.zeros(count, dtype=np.int8)
    parent = np.full(count, -1, dtype=np.int64)
    out_pointer = np.zeros(count + 1, dtype=np.int64)
    out = np.empty(max(4 * count, 16), dtype=np.int64)
    head = np.full(count, -1, dtype=np.int64)
    link = np.empty(max(4 * count, 16), dtype=np.int64)
    value = np.empty(max(4 * count, 16), dtype=np.int64)
    used = 0
    mark = np.full(count, -1, dtype=np.int64)
    filled = 0
    t = 0
    while t < count:
        # later neighbours of t: those at the start, then those that waited
        start = filled
        touched = False
        for e in range(pointer[t], pointer[t + 1]):
            out = _grow(out, filled + 1)
            out[filled] = later[e]
            mark[later[e]] = t
            filled += 1
        e = head[t]
        while e >= 0:
            if value[e] == t + 1:
                touched = True
            if mark[value[e]] != t:
                mark[value[e]] = t
                out = _grow(out, filled + 1)
                out[filled] = value[e]
                filled += 1
            e = link[e]
        out[start:filled].sort()
        out_pointer[t + 1] = filled
        if paired[t] and not touched and not diagonal[t + 1]:
            pivot[t], pivot[t + 1] = 1, 2
            parent[t] = t + 1
            z = t + 1
            middle = filled
            for e in range(pointer[z], pointer[z + 1]):
                out = _grow(out, filled + 1)
                out[filled] = later[e]
                mark[later[e]] = z
                filled += 1
            e = head[z]
            while e >= 0:
                if mark[value[e]] != z:
                    mark[value[e]] = z
                    out = _grow(out, filled + 1)
                    out[filled] = value[e]
                    filled += 1
                e = link[e]
            out[middle:filled].sort()
            out_pointer[z + 1] = filled
            first = count
            if filled > middle:
                first = out[middle]
            for i in range(start, middle):
                # a pair whose z has no other neighbour changes no block: nothing of a later
                # pair waits for it
                idle = filled == middle and paired[out[i]]
                if out[i] != z and out[i] < first and not idle:
                    first = out[i]
            if first < count:
                parent[z] = first
            for i in range(middle, filled):
                a = out[i]
                diagonal[a] = True
                for j in range(start, filled):
                    b = out[j]
                    if b in (z, a) or middle <= j <= i:
                        continue
                    link = _grow(link, used + 1)
                    value = _grow(value, used + 1)
                    low, high = min(a, b), max(a, b)
                    value[used], link[used] = high, head[low]
                    head[low] = used
                    used += 1
            t += 2
            continue
        if not diagonal[t]:
            return pivot, parent, out_pointer, out[:filled], t
        if filled > start:
            first = out[start]
            parent[t] = first
            for i in range(start, filled):
                diagonal[out[i]] = True
            # the first later neighbour passes the clique on, unless it is the first of a pair
            rows = filled if paired[first] else start + 1
            for i in range(start, rows):
                for j in range(i + 1, filled):
                    link = _grow(link, used + 1)
                    value = _grow(value, used + 1)
                    value[used], link[used] = out[j], head[out[i]]
                    head[out[i]] = used
                    used += 1
        t += 1
    return pivot, parent, out_pointer, out[:filled], -1


@njit(cache=True)
def levels(parent):  # pragma: no cover
    level = np.ones(len(parent), dtype=np.int64)
    for t in range(len(parent)):
        if parent[t] >= 0 and level[parent[t]] <= level[t]:
            level[parent[t]] = level[t] + 1
    return level


@njit(cache=True)
def postorder(parent):  # pragma: no cover
    count = len(parent)
    head = np.full(count + 1, -1, dtype=np.int64)
    following = np.full(count, -1, dtype=np.int64)
    for t in range(count - 1, -1, -1):
        up = parent[t] if parent[t] >= 0 else count
        following[t], head[up] = head[up], t
    post = np.empty(count, dtype=np.int64)
    stack = np.empty(count + 1, dtype=np.int64)
    stack[0], top, k = count, 0, 0
    while top >= 0:
        t = stack[top]
        child = head[t]
        if child >= 0:
            head[t] = following[child]
            top += 1
            stack[top] = child
        else:
            top -= 1
            if t < count:
                post[k] = t
                k += 1
    return post


@njit(cache=True)
def fill_step(row, col, pointer, index, pivot, group):  # pragma: no cover
    """First group that couples both ends of each fill block: sorted columns are merged."""
    step = np.full(len(row), -1, dtype=np.int64)
    # row is sorted, and col within it: fill of row i is start[i]..start[i + 1]
    count = len(pointer) - 1
    start = np.searchsorted(row, np.arange(count + 1))
    t = 0
    while t < count:
        begin, middle = pointer[t], pointer[t + 1]
        pair = pivot[t] == 1
        end = pointer[t + 2] if pair else middle
        for first in range(begin, end):
            low = index[first]
            through = not pair or first >= middle
            for part in range(2):  # later neighbours of x (or t), then of z
                a, b = (begin, middle) if part == 0 else (middle, end)
                if part == 0 and pair and not through:
                    continue
                e, j = start[low], a
                while e < start[low + 1] and j < b:
                    if col[e] < index[j]:
                        e += 1
                    elif col[e] > index[j]:
                        j += 1
                    else:
                        if step[e] < 0:
                            step[e] = group[t]
                        e += 1
                        j += 1
        t += 2 if pair else 1
    return step
