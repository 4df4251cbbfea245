"""Compiled loops of the symbolic factor; positions are blocks in the order of elimination."""

from __future__ import annotations

import numpy as np

from ..base.compiled import leaf, loop

FEW_BLOCKS = 2_000  # entries of a call's arrays, for which no loop is compiled


@leaf()
def _grow(array, needed):  # pragma: no cover
    if needed <= len(array):
        return array
    larger = np.empty(max(needed, 2 * len(array)), dtype=array.dtype)
    for i in range(len(array)):  # a slice takes five seconds to compile
        larger[i] = array[i]
    return larger


@leaf()
def _gather(t, pointer, later, head, link, value, mark, out, filled):  # pragma: no cover
    """The later neighbours of t into ``out``, once each: the matrix's, and those that waited."""
    for e in range(pointer[t], pointer[t + 1]):
        out[filled] = later[e]
        mark[later[e]] = t
        filled += 1
    e = head[t]
    while e >= 0:
        if mark[value[e]] != t:
            mark[value[e]] = t
            out[filled] = value[e]
            filled += 1
        e = link[e]
    return filled


@loop(few=FEW_BLOCKS)
def eliminate(pointer, later, diagonal, paired, most, free):  # pragma: no cover
    """Eliminate on structure; edges that pivots add wait in linked lists at their earlier end.

    Stops after the pivot that brings the factor to more than ``most`` blocks.  Pairs are coupled by the
    identity of (4), or, where they are ``free``, by any number.
    """
    count = len(pointer) - 1
    diagonal = diagonal.copy()
    pivot = np.zeros(count, dtype=np.int8)
    parent = np.full(count, -1, dtype=np.int64)
    out_pointer = np.zeros(count + 1, dtype=np.int64)
    out = np.empty(4 * count + 16, dtype=np.int64)
    head = np.full(count, -1, dtype=np.int64)
    link = np.empty(4 * count + 16, dtype=np.int64)
    value = np.empty(4 * count + 16, dtype=np.int64)
    waits = np.zeros(count + 1, dtype=np.int64)  # length of each list
    used = 0
    mark = np.full(count, -1, dtype=np.int64)
    filled = 0
    t = 0
    while t < count and filled <= most:
        room = pointer[min(t + 2, count)] - pointer[t] + waits[t] + waits[t + 1]
        out = _grow(out, filled + room)
        start = filled
        filled = _gather(t, pointer, later, head, link, value, mark, out, filled)
        middle = filled
        out_pointer[t + 1] = filled
        last = t
        if paired[t] and not diagonal[t + 1]:
            touched = free and mark[t + 1] != t  # the identity between the two is no longer one
            e = head[t]
            while e >= 0:
                touched |= not free and value[e] == t + 1
                e = link[e]
            if not touched:
                last = t + 1
                filled = _gather(last, pointer, later, head, link, value, mark, out, filled)
                out_pointer[last + 1] = filled
                pivot[t], pivot[last] = 1, 2
                parent[t] = last
        if last == t and not diagonal[t]:
            return pivot, parent, out_pointer, out[:filled], t
        # the pivot couples all of out[start:filled] with the part from ``clique`` on
        clique = start if last == t else middle
        first = count
        for i in range(start, filled):
            # a pair whose z has no other neighbour changes nothing, and no later pair waits for it
            idle = filled == clique and paired[out[i]]
            if out[i] != last and out[i] < first and not idle:
                first = out[i]
        if first < count:
            parent[last] = first
        link = _grow(link, used + (filled - clique) * (filled - start))
        value = _grow(value, used + (filled - clique) * (filled - start))
        zero = free and last > t and not diagonal[t]  # neighbours of z alone meet those of x alone
        for i in range(clique, filled):
            diagonal[out[i]] |= not zero
            # a single pivot's first later neighbour, unless it begins a pair, passes the clique on
            if last == t and out[i] != first and not paired[first]:
                continue
            for j in range(start, middle if zero else filled):
                low, high = min(out[i], out[j]), max(out[i], out[j])
                diagonal[low] |= low == high
                if low == high or out[j] == last or (clique <= j < i and (last > t or paired[first])):
                    continue
                value[used], link[used] = high, head[low]
                head[low] = used
                waits[low] += 1
                used += 1
        t = last + 1
    return pivot, parent, out_pointer, out[:filled], -1


@loop(few=FEW_BLOCKS)
def levels(pointer, index, pivot):  # pragma: no cover
    """(count,) levels: an entry must be updated before the first of its two blocks is a pivot."""
    count = len(pivot)
    level = np.ones(count, dtype=np.int64)
    for t in range(count):
        start, end, own = pointer[t], pointer[t + 1], level[t] + 1
        if pivot[t] == 1:
            level[t + 1] = max(level[t + 1], own)
            continue
        for e in range(start, end):
            level[index[e]] = max(level[index[e]], own)
        if pivot[t] == 2 and end > start:  # neighbours of x are updated against those of z
            for e in range(pointer[t - 1], start):
                if t < index[e] < index[end - 1]:
                    level[index[e]] = max(level[index[e]], own)
    return level


@loop(few=FEW_BLOCKS)
def fill_step(start, col, pointer, index, pivot, group):  # pragma: no cover
    """First group that couples both ends of each fill block: sorted columns are merged.

    Fill of row i is col[start[i]:start[i + 1]], ascending.
    """
    step = np.full(len(col), -1, dtype=np.int64)
    count = len(pointer) - 1
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
