"""Places in which panels keep updates, so that updates are summed in the order of the tape.

On a tape the update matrix of a group waits for the group that it touches first.  When that group
opens, the update matrices of its children are summed child after child, and its own updates are
added last.  Rows of blocks that come before that group wait for their own groups
(:mod:`kkt.program.fronts`).  Panels subtract an update from its entry as soon as it is made.  With
groups in postorder the two sums are the same at most entries.  They differ where two branches of
the tree of groups bring several updates to one entry: there each branch has a place of its own,
and the places are added up where the branches meet.

An update to (i, j) comes with one to (i, i) and one to (j, j).  So only blocks whose diagonal
entries need more places are examined; these are few or none in most orders.
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

ADDED = 7  # columns of Waiting.added: rows, columns, source, its stride, target, its stride, in y


class Waiting(NamedTuple):
    """Places of updates, for blocks whose entries need more than one; B blocks, G groups."""

    several: NDArray  # (B,) whether a block's entries may need more places
    update: NDArray  # (B,) first of a pivot's updates in ``place``, by the pivot's first block
    # of each pivot: y of its outside blocks that need several places, then pairs of such blocks
    place: NDArray
    added: NDArray  # (M, ADDED) additions of one partial sum to another
    open: NDArray  # (G + 1,) those to be done before a group is opened
    more: NDArray  # (2,) lengths of the further places: in the panels and in y


@njit(cache=True)
def postorder(parent, tail):  # pragma: no cover
    """(G,) rank of every group in postorder, and the number of groups in its subtree.

    Groups from ``tail`` on count as one.  Of a group's first two children the one with the larger
    subtree comes first, which changes no bit: a sum of two terms is the same either way.
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
    """Blocks from ``end`` on that blocks t to last - 1 are coupled with, ascending: their number.

    The blocks are written into ``found``; ``mark`` and ``unit`` keep one from coming twice.
    """
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
    """The first of x and its ancestors whose turn comes at ``now`` or later; -1 if there is none.

    ``skip`` holds shortcuts to ancestors, compressed as in union-find; turns never go back.
    """
    z = x
    while z >= 0 and rank[z] < now:
        z = skip[z]
    while x != z:
        skip[x], x = z, skip[x]
    return z


@njit(cache=True)
def blocks_of_several(of, order, tail, task, rank, up, place, size):  # pragma: no cover
    """(B,) blocks at which updates in the order of the groups' turns may not be the tape's sum.

    ``up`` (G,) is the group that a group touches first; ``place`` and ``size`` are the postorder of
    the tree that it makes.  A block that this test cannot decide counts as one that differs.
    """
    B, skip, unit = len(of.size), up.copy(), 0
    several, mark, found = np.zeros(B, dtype=np.bool_), np.full(B, -1), np.empty(B, dtype=np.int64)
    count, last, meet = np.zeros(B, dtype=np.int64), np.full(B, -1), np.full(B, -1)
    cap = np.empty(B, dtype=np.int64)  # the group in which a block is eliminated, at most the tail
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
                    # where all earlier updates meet: a group, -1 for the group of i, -2 unknown
                    low = meet[i]
                    z = _above(skip, rank, low, rank[g]) if low >= 0 else low
                    if z >= cap[i]:
                        z = -1
                    # subtrees that are eliminated independently both update i
                    several[i] |= task[g] >= 0 and task[last[i]] != task[g]
                    # the branch of g has added an update to another branch's sum at z before
                    several[i] |= count[i] > 1 and z == low and z != g
                    # where g is not below z, the group at which they meet is not known
                    if z >= 0 and not place[z] - size[z] < place[g] <= place[z]:
                        z = -2
                    meet[i] = z
                count[i] += 1
                last[i] = g
            t, unit = after, unit + 1
    return several


@leaf()
def _pairs(of, several, found, count, E, entry):  # pragma: no cover
    """Entries that a pivot's update changes, among blocks that need several places: their number.

    The entries are written into ``entry``: first y of each such block, then row by row its diagonal
    block and its couplings with later ones, -1 for a pair that the factor does not couple.  Numbers
    are those of couplings in the symbolic factor (0 to E - 1), then diagonal blocks, then y.
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
    """Updates of blocks with several places, in the order of the groups' turns.

    Returns the entry and the group of each, and (B,) the first update of each pivot.
    """
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
    """Places of N updates, additions of partial sums, groups before which they are, further places.

    ``entry`` and ``by`` (N,) are the entry of each update and the group that makes it; ``up`` (G,)
    is the group that a group touches first, ``row`` (E,) the row of a coupling, ``opened`` (G,) the
    first of the groups that are opened together with a group.

    The updates of one entry after another are summed as on the tape.  They and their partial sums,
    here called branches, climb the tree of ``up``.  At each group, in ascending order, the branches
    that have come so far are summed, and the sum climbs on, up to the group of block row i.  The
    first update takes the entry's own place, so that most entries need no addition.
    """
    B, E, N, G = len(of.size), len(of.later), len(entry), len(of.group) - 1
    listed = np.argsort(entry, kind="mergesort")
    place, when = np.full(N, -1), np.empty(N, dtype=np.int64)
    added, made, group_of = np.empty((N, ADDED), dtype=np.int64), 0, np.empty(B, dtype=np.int64)
    for g in range(G):
        group_of[of.group[g] : of.group[g + 1]] = g
    lift = np.empty((int(np.log2(G)) + 1 if N else 1, G), dtype=np.int64)  # ancestor 2^k above g
    lift[0] = up
    for k in range(1, len(lift)):
        for g in range(G):
            lift[k, g] = lift[k - 1, lift[k - 1, g]] if lift[k - 1, g] >= 0 else -1
    # of each branch: the group where it is (G: it waits for the group of i), the key by which it is
    # sorted there, the place of its sum (-1: an update, which has no place as yet), and its stride.
    # Sums have keys below G^2, in the order in which groups bring them; updates of the group itself
    # have larger ones
    at, whence, slot, stride = np.empty((4, N), dtype=np.int64)
    free, free_y, start = of.panel[B], of.first[B], 0
    while start < N:
        e, many = entry[listed[start]], 0
        while start + many < N and entry[listed[start + many]] == e:
            at[many], whence[many], slot[many] = by[listed[start + many]], G * G + start + many, -1
            many += 1
        start += many
        if e < 0:  # a pair that is not coupled has no entry
            continue
        y = e >= E + B
        i = row[e] if e < E else e - E - y * B
        size, columns = 1 if y else of.size[i], of.size[of.later[e]] if e < E else of.size[i]
        # the entry's own place in y or in the panel of i, and its stride
        own, beside = of.first[i] if y else of.panel[i], columns
        if e < E:
            own, beside = own + size * size + of.start[e], of.width[i]
        used, here = False, 0
        while many:
            here = at[:many].min()
            total, step = -1, 0
            while True:  # the branches at this group, by ascending key
                k = -1
                for n in range(many):
                    if at[n] == here and (k < 0 or whence[n] < whence[k]):
                        k = n
                if k < 0:
                    break
                if slot[k] < 0:  # an update of this group: it goes to the sum, or begins one
                    if total < 0 and not used:
                        total, step, used = own, beside, True
                    elif total < 0 and y:
                        total, step, free_y = free_y, columns, free_y + columns
                    elif total < 0:
                        total, step, free = free, columns, free + size * columns
                    place[listed[whence[k] - G * G]] = total
                elif total < 0:
                    total, step = slot[k], stride[k]
                else:  # two sums meet, before the group is opened
                    other, across = slot[k], stride[k]
                    if other == own:  # the entry's own place must hold the sum in the end
                        total, step, other, across = other, across, total, step
                    added[made] = np.array([size, columns, other, across, total, step, np.int64(y)])
                    when[made] = here if here < G else opened[group_of[i]]
                    made += 1
                many -= 1
                at[k], whence[k], slot[k], stride[k] = (at[many], whence[many], slot[many], stride[many])
            if many == 0:
                break
            if here < G:  # the sum climbs to the next group where it may meet another branch
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
    """(G,) the group of the first outside block that each group is coupled with, or -1."""
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
    """The schedule with its groups in postorder, and the layout with the places of all updates.

    ``of`` is a :class:`.numeric_storage.Layout`; ``tail`` is the first of the groups of joints that
    end the order as one pivot.
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
    found = Waiting(several, update, place, added[order], np.searchsorted(when[order], groups), more)
    return replace(split, rank=rank), of._replace(waiting=found)


def at_once(blocks: int, groups: int) -> Waiting:
    """The :class:`Waiting` of a layout in which every update goes to its entry at once."""
    none = np.zeros(0, dtype=np.int64)
    return Waiting(
        np.zeros(blocks, dtype=np.bool_),
        np.zeros(blocks, dtype=np.int64),
        none,
        np.zeros((0, ADDED), dtype=np.int64),
        np.zeros(groups + 1, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
    )
