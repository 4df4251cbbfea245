"""Compiled loops that count a factor's columns as runs of consecutive positions."""

from __future__ import annotations

import numpy as np
from numba import njit

from .ascend import ascend

LOW = 32  # bits that hold the end of a run; its start is above them


@njit(cache=True)
def _root(next_, t):  # pragma: no cover
    """The last position of the path from t; the path is halved on the way."""
    while next_[t] != t:
        next_[t] = next_[next_[t]]
        t = next_[t]
    return t


@njit(cache=True)
def _runs(t, pointer, later, head, link, value, room):  # pragma: no cover
    """The later neighbours of t as packed, ascending runs that do not touch, and their number."""
    count = pointer[t + 1] - pointer[t]
    e = head[t]
    while e >= 0:
        count += 1
        e = link[e]
    if len(room) < count:
        room = np.empty(2 * count, dtype=np.int64)
    k = 0
    for e in range(pointer[t], pointer[t + 1]):
        room[k] = later[e] << LOW | (later[e] + 1)
        k += 1
    e = head[t]
    while e >= 0:
        room[k] = value[e]
        k += 1
        e = link[e]
    return room, _merge(room, k)


@njit(cache=True)
def _merge(room, count):  # pragma: no cover
    """Sort packed runs and join those that overlap or touch, in place; their number."""
    if count == 0:
        return 0
    ascend(room, np.int64(0), count)
    mask = (1 << LOW) - 1
    last = 0
    for i in range(1, count):
        if room[i] >> LOW <= room[last] & mask:
            end = max(room[last] & mask, room[i] & mask)
            room[last] = room[last] >> LOW << LOW | end
        else:
            last += 1
            room[last] = room[i]
    return last + 1


@njit(cache=True)
def _extend(t, runs, count, chain, member, state, link, value):  # pragma: no cover
    """Couple t with every later position of the runs; returns the last position this is done for.

    Positions of a chain are single pivots, each coupled with the next.  Elimination hands the
    neighbours of each to the next, so that nothing has to be written for the later ones.
    """
    head, used = state
    mask = (1 << LOW) - 1
    end = _root(chain, t)
    for r in range(count):
        low, high = max(runs[r] >> LOW, t + 1), runs[r] & mask
        if low >= high:
            continue
        if used[0] == len(value):
            link = np.concatenate((link, np.empty_like(link)))
            value = np.concatenate((value, np.empty_like(value)))
        value[used[0]], link[used[0]] = low << LOW | high, head[t]
        head[t] = used[0]
        used[0] += 1
        while low <= end + 1 < high and not (member[end] or member[end + 1]):
            chain[end] = end + 1
            end = _root(chain, end)
    return end, link, value


@njit(cache=True)
def count_columns(pointer, later, diagonal, paired, rows):  # pragma: no cover
    """Later neighbours of each position and their rows, and the position of a zero pivot or -1.

    ``rows`` (count + 1,) are the rows of all positions before each.  The elimination is that of
    ``symbolic_kernels.eliminate``, on runs.
    """
    count = len(pointer) - 1
    counts, widths = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    head = np.full(count, -1, dtype=np.int64)
    link, value = np.empty(count + 16, dtype=np.int64), np.empty(count + 16, dtype=np.int64)
    used = np.zeros(1, dtype=np.int64)
    state = head, used
    member = paired.copy()
    for t in range(1, count):
        member[t] |= paired[t - 1]
    chain, zero = np.arange(count + 1), np.arange(count + 1)  # zero: the next zero diagonal block
    for t in range(count):
        if diagonal[t]:
            zero[t] = t + 1
        for e in range(pointer[t], pointer[t + 1]):
            if later[e] == t + 1 and not (member[t] or member[t + 1]):
                chain[t] = t + 1
    X, Z = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    both = np.empty(64, dtype=np.int64)
    mask = (1 << LOW) - 1
    t = 0
    while t < count:
        X, nx = _runs(t, pointer, later, head, link, value, X)
        for r in range(nx):
            a, b = X[r] >> LOW, X[r] & mask
            counts[t] += b - a
            widths[t] += rows[b] - rows[a]
        pair = paired[t] and zero[t + 1] == t + 1
        e = head[t] if pair else -1
        while e >= 0:  # the identity between the two may be one no longer
            pair &= not (value[e] >> LOW <= t + 1 < value[e] & mask)
            e = link[e]
        clique, nc = X, nx
        if pair:
            Z, nc = _runs(t + 1, pointer, later, head, link, value, Z)
            clique = Z
            for r in range(nc):
                a, b = Z[r] >> LOW, Z[r] & mask
                counts[t + 1] += b - a
                widths[t + 1] += rows[b] - rows[a]
        elif zero[t] == t:
            return counts, widths, t
        for r in range(nc):  # diagonal blocks become nonzero
            e = _root(zero, clique[r] >> LOW)
            while e < clique[r] & mask:
                zero[e] = e + 1
                e = _root(zero, e)
        if not pair and nx and not paired[X[0] >> LOW]:
            # the first later neighbour of a single pivot passes the clique on
            _, link, value = _extend(X[0] >> LOW, X, nx, chain, member, state, link, value)
        elif nc:
            if len(both) < nx + nc:
                both = np.empty(2 * (nx + nc), dtype=np.int64)
            for r in range(nc):
                both[r] = clique[r]
            nb = nc
            if pair:
                for r in range(nx):
                    both[nc + r] = X[r]
                nb = _merge(both, nc + nx)
                for r in range(nx):
                    e = X[r] >> LOW
                    while e < X[r] & mask:
                        end = e
                        if e > t + 1:
                            end, link, value = _extend(e, Z, nc, chain, member, state, link, value)
                        e = end + 1
            for r in range(nc):
                e = clique[r] >> LOW
                while e < clique[r] & mask:
                    end, link, value = _extend(e, both, nb, chain, member, state, link, value)
                    e = end + 1
        t += 2 if pair else 1
    return counts, widths, -1
