"""Where updates wait in panels, so that they are summed as on a tape.

On a tape the updates of a group, and what it was brought, wait for the group that it touches first;
when that opens, what its children bring is summed child after child, and its own updates come last.
Rows of blocks that come before that group wait for their own (:mod:`kkt.program.fronts`).  Panels
subtract an update from its entry as it is made.  With groups in postorder that is most often the
same sum.  Where it is not, since two branches bring several updates to one entry, every branch has
a place of its own, and these are added up where the branches meet.

An update to (i, j) is also one to (i, i) and to (j, j); so only blocks whose own entries need more
places are looked at, most often few or none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..base.compiled import leaf
from ..structure.ascend import ascend
from .schedule import Schedule

ADDED = 7  # a row of Waiting.added: rows, columns, from and its stride, to and its stride, y or not


class Waiting(NamedTuple):
    """Places of the updates of blocks that need more than one; B blocks, G groups."""

    several: NDArray  # (B,) whether a block's entries may need more places
    update: NDArray  # (B,) where the places of a pivot's updates begin, by its first block
    place: NDArray  # of y of every outside block that needs several, then of pairs of them
    added: NDArray  # (M, ADDED) sums that become part of others
    open: NDArray  # (G + 1,) those that do before a group is opened
    more: NDArray  # (2,) numbers of further places, in the panels and in y


@njit(cache=True)
def postorder(parent, tail):  # pragma: no cover
    """Rank of every group, and the groups of its subtree; groups from ``tail`` on are one.

    Of the first two children the larger is first: a sum of two is the same either way.
    """
    groups = len(parent)
    nodes = min(tail + 1, groups)
    up = np.minimum(parent[:nodes], tail)
    size, start = np.ones(nodes, dtype=np.int64), np.zeros(groups + 2, dtype=np.int64)
    for g in range(nodes):
        if g == tail:
            up[g] = -1
        if up[g] >= 0:
            size[up[g]] += size[g]
            start[parent[g] + 2] += 1
    for g in range(groups):
        start[g + 2] += start[g + 1]
    child = np.empty(nodes, dtype=np.int64)
    for g in range(nodes):
        if up[g] >= 0:
            child[start[parent[g] + 1]] = g
            start[parent[g] + 1] += 1
    rank = np.empty(groups, dtype=np.int64)
    first, free = np.zeros(nodes, dtype=np.int64), 0
    for g in range(nodes):
        if up[g] < 0:
            first[g] = free
            free += size[g]
    for g in range(nodes - 1, -1, -1):
        rank[g], place = first[g] + size[g] - 1, first[g]
        a, b = start[g], start[g + 1 if g < tail else groups]
        if b - a > 1 and size[child[a + 1]] > size[child[a]]:
            child[a], child[a + 1] = child[a + 1], child[a]
        for e in range(a, b):
            first[child[e]] = place
            place += size[child[e]]
    for g in range(nodes, groups):
        rank[g] = rank[tail] + g - tail
    return rank, size


@leaf()
def _outside(of, t, last, end, mark, unit, found):  # pragma: no cover
    """Blocks from ``end`` on that blocks t to last - 1 meet, ascending; returns their number."""
    count = np.int64(0)
    for s in range(t, last):
        for e in range(of.pointer[s], of.pointer[s + 1]):
            j = of.later[e]
            if j >= end and mark[j] != unit:
                mark[j] = unit
                found[count] = j
                count += 1
    ascend(found, np.int64(0), count)
    return count


@leaf()
def _above(skip, rank, x, now):  # pragma: no cover
    """The lowest group from x on whose turn comes at ``now`` or later; -1 where there is none."""
    z = x
    while z >= 0 and rank[z] < now:
        z = skip[z]
    while x != z:
        skip[x], x = z, skip[x]
    return z


@njit(cache=True)
def blocks_of_several(of, order, tail, task, rank, up, place, size):  # pragma: no cover
    """(B,) blocks whose updates, in the order of the groups' turns, are not the tape's sum.

    ``up`` (G,) is the group that a group touches first, ``place`` and ``size`` the postorder of
    these.  Sums that might be the same but are not easily seen to be are counted as others.
    """
    B, skip, unit = len(of.size), up.copy(), 0
    several, mark, found = np.zeros(B, dtype=np.bool_), np.full(B, -1), np.empty(B, dtype=np.int64)
    count, last, meet = np.zeros(B, dtype=np.int64), np.full(B, -1), np.full(B, -1)
    cap = np.empty(B, dtype=np.int64)  # the group that a block waits for at last
    for g in range(len(order)):
        cap[of.group[g] : of.group[g + 1]] = min(g, tail)
    for g in order:
        t, end = of.group[g], of.group[g + 1]
        while g < tail and t < end:
            after = end if of.bracket[g] else t + 1 + (of.pivot[t] == 1)
            for a in range(_outside(of, t, after, end, mark, unit, found)):
                i = found[a]
                if count[i] == 0:
                    meet[i] = g
                elif last[i] != g or meet[i] != g:
                    low = meet[i]  # where all before meet: a group, -1 for the block, -2 unknown
                    z = _above(skip, rank, low, rank[g]) if low >= 0 else low
                    if z >= cap[i]:
                        z = -1
                    several[i] |= task[g] >= 0 and task[last[i]] != task[g]
                    several[i] |= count[i] > 1 and z == low and z != g
                    if z >= 0 and not place[z] - size[z] < place[g] <= place[z]:
                        z = -2
                    meet[i] = z
                count[i] += 1
                last[i] = g
            t, unit = after, unit + 1
    return several


@leaf()
def _pairs(of, several, found, count, E, entry):  # pragma: no cover
    """Entries that an update changes, of blocks that need several places; -1 where none is.

    Couplings are numbered as in the symbolic factor, then diagonal blocks, then y.
    """
    B, n = len(of.size), np.int64(0)
    for a in range(count):
        if several[found[a]]:
            entry[n] = E + B + found[a]
            n += 1
    for a in range(count):
        i = found[a]
        if not several[i]:
            continue
        entry[n] = E + i
        n, e = n + 1, of.pointer[i]
        for b in range(a + 1, count):
            j = found[b]
            if several[j]:
                while e < of.pointer[i + 1] and of.later[e] < j:
                    e += 1
                entry[n] = e if e < of.pointer[i + 1] and of.later[e] == j else -1
                n += 1
    return n


@njit(cache=True)
def updates(of, order, tail, several):  # pragma: no cover
    """Updates of entries of several blocks, in turn: entry and group; where each pivot's begin."""
    B, E, unit, made = len(of.size), len(of.later), 0, 0
    update, found = np.zeros(B, dtype=np.int64), np.empty(B, dtype=np.int64)
    mark, room = np.full(B, -1), np.empty(64, dtype=np.int64)
    entry, by = np.empty_like(room), np.empty_like(room)
    for g in order:
        t, end = of.group[g], of.group[g + 1]
        while g < tail and t < end:
            after = end if of.bracket[g] else t + 1 + (of.pivot[t] == 1)
            count = _outside(of, t, after, end, mark, unit, found)
            if count * (count + 3) // 2 > len(room):
                room = np.empty(count * (count + 3), dtype=np.int64)
            n, update[t] = _pairs(of, several, found, count, E, room), made
            if made + n > len(entry):
                entry, by = _longer(entry, 2 * (made + n)), _longer(by, 2 * (made + n))
            entry[made : made + n], by[made : made + n] = room[:n], g
            t, unit, made = after, unit + 1, made + n
    return entry[:made], by[:made], update


@leaf()
def _longer(values, size):  # pragma: no cover
    longer = np.empty(size, dtype=np.int64)
    longer[: len(values)] = values
    return longer


@njit(cache=True)
def places(of, row, entry, by, up, tail, opened):  # pragma: no cover
    """Where every update goes, which sums become part of others, and before which group.

    ``row`` (E,) is the row of a coupling, ``opened`` (G,) the group that a group is opened with.
    """
    B, E, N, G = len(of.size), len(of.later), len(entry), len(of.group) - 1
    listed = np.argsort(entry, kind="mergesort")
    place, when = np.full(N, -1), np.empty(N, dtype=np.int64)
    added, made, group_of = np.empty((N, ADDED), dtype=np.int64), 0, np.empty(B, dtype=np.int64)
    for g in range(G):
        group_of[of.group[g] : of.group[g + 1]] = g
    lift = np.empty((int(np.log2(G)) + 1 if N else 1, G), dtype=np.int64)  # 2^k groups above g
    lift[0] = up
    for k in range(1, len(lift)):
        for g in range(G):
            lift[k, g] = lift[k - 1, lift[k - 1, g]] if lift[k - 1, g] >= 0 else -1
    # branches: the group where each stands, whence it came, its sum (-1: an update alone), its row
    at, whence, slot, stride = np.empty((4, N), dtype=np.int64)
    free, free_y, start = of.panel[B], of.first[B], 0
    while start < N:
        e, many = entry[listed[start]], 0
        while start + many < N and entry[listed[start + many]] == e:
            at[many], whence[many], slot[many] = by[listed[start + many]], G * G + start + many, -1
            many += 1
        start += many
        if e < 0:  # blocks that do not meet
            continue
        y = e >= E + B
        i = row[e] if e < E else e - E - y * B
        size, columns = 1 if y else of.size[i], of.size[of.later[e]] if e < E else of.size[i]
        own, beside = of.first[i] if y else of.panel[i], columns
        if e < E:
            own, beside = own + size * size + of.start[e], of.width[i]
        used, here = False, 0
        while many:
            here = at[:many].min()
            total, step = -1, 0
            while True:  # in the order of whence, which updates of the group itself end
                k = -1
                for n in range(many):
                    if at[n] == here and (k < 0 or whence[n] < whence[k]):
                        k = n
                if k < 0:
                    break
                if slot[k] < 0:
                    if total < 0 and not used:
                        total, step, used = own, beside, True
                    elif total < 0 and y:
                        total, step, free_y = free_y, columns, free_y + columns
                    elif total < 0:
                        total, step, free = free, columns, free + size * columns
                    place[listed[whence[k] - G * G]] = total
                elif total < 0:
                    total, step = slot[k], stride[k]
                else:
                    other, across = slot[k], stride[k]
                    if other == own:  # where the sum must be at last
                        total, step, other, across = other, across, total, step
                    added[made] = np.array([size, columns, other, across, total, step, np.int64(y)])
                    when[made] = here if here < G else opened[group_of[i]]
                    made += 1
                many -= 1
                at[k], whence[k], slot[k], stride[k] = (
                    at[many], whence[many], slot[many], stride[many]
                )  # fmt: skip
            if many == 0:
                break
            if here < G:  # the sum goes up until it may meet another, at last to the group of i
                cap = min(group_of[i], tail)
                near = min(cap, at[:many].min())
                for k in range(len(lift) - 1, -1, -1):
                    if 0 <= lift[k, here] < near:
                        here = lift[k, here]
                above = up[here]
                last = above < 0 or above >= cap
                waits = group_of[i] if above < 0 else min(above, group_of[i])
                at[many], slot[many], stride[many] = G if last else above, total, step
                whence[many] = waits * G + here if last else here
                many += 1
    return place, added[:made], when[:made], np.array([free - of.panel[B], free_y - of.first[B]])


@njit(cache=True)
def touched_first(of):  # pragma: no cover
    """(G,) the group of the first block outside that each group meets, -1 where there is none."""
    B, groups = len(of.size), len(of.group) - 1
    first, group_of = np.full(groups, -1), np.empty(B, dtype=np.int64)
    for g in range(groups):
        group_of[of.group[g] : of.group[g + 1]] = g
    for t in range(B):
        g = group_of[t]
        for e in range(of.pointer[t], of.pointer[t + 1]):
            h = group_of[of.later[e]]
            if h > g and (first[g] < 0 or h < first[g]):
                first[g] = h
    return first


def in_sums_of_the_tape(split: Schedule, of: Any, tail: int) -> tuple[Schedule, Any]:
    """Groups in postorder, and a :class:`.numeric_storage.Layout` with the places of all updates.

    ``tail`` is the first of the groups that end the order as one pivot.
    """
    rank, _ = postorder(split.parent, tail)
    up, order, task = touched_first(of), np.argsort(rank), split.task
    several = blocks_of_several(of, order, tail, task, rank, up, *postorder(up, tail))
    entry, by, update = updates(of, order, tail, several)
    row = np.repeat(np.arange(len(of.size)), np.diff(of.pointer))
    groups = np.arange(len(rank) + 1)
    opened = groups[:-1].copy()
    _, first, of_task = np.unique(task[tail:], return_index=True, return_inverse=True)
    opened[tail:] = tail + first[of_task]
    place, added, when, more = places(of, row, entry, by, up, tail, opened)
    order = np.argsort(when, kind="stable")
    found = Waiting(
        several, update, place, added[order], np.searchsorted(when[order], groups), more
    )
    return replace(split, rank=rank), of._replace(waiting=found)


def at_once(blocks: int, groups: int) -> Waiting:
    """No update waits."""
    none = np.zeros(0, dtype=np.int64)
    return Waiting(
        np.zeros(blocks, dtype=np.bool_), np.zeros(blocks, dtype=np.int64), none,
        np.zeros((0, ADDED), dtype=np.int64), np.zeros(groups + 1, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
    )  # fmt: skip
