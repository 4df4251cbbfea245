"""Subtrees of a plan's assembly tree that can be eliminated side by side.

A group waits for those that update its blocks: its descendants in the elimination tree of the
groups (Liu 1990).  Subtrees with at most 1/``PIECES`` of the work are eliminated independently; the
other groups, called the top, follow one after another (Geist & Ng 1989).  The split depends on the
plan alone, so that no bit of the result depends on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..structure.symbolic import SymbolicFactor

PIECES = 32  # a subtree has at most 1/PIECES of the work,
LEAST = 64  # and more than 1/LEAST of that
ENOUGH = 1e6  # operations below which a second thread does not pay
OVERHEAD = 500.0  # cost of a group beside its arithmetic, in operations

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Schedule:
    """Groups in subtrees, and in the top."""

    first: Integers  # (groups + 1,) first block of each group
    parent: Integers  # (groups,) assembly tree, -1 at a root
    cost: NDArray[np.float64]  # (groups,) operations, roughly
    task: Integers  # (groups,) subtree, -1 in the top
    rank: Integers  # (groups,) turn of each in its subtree, or in the top

    @property
    def tasks(self) -> int:
        return int(np.max(self.task, initial=-1)) + 1

    @cached_property
    def top(self) -> Integers:
        """Groups that come after all subtrees."""
        groups = np.flatnonzero(self.task < 0)
        return groups[np.argsort(self.rank[groups])]

    @cached_property
    def bins(self) -> list[Integers]:
        """Groups of the subtrees, one subtree after another, in lists of about equal work."""
        groups = np.flatnonzero(self.task >= 0)
        groups = groups[np.lexsort((self.rank[groups], self.task[groups]))]
        if not len(groups):
            return []
        work = np.bincount(self.task[groups], self.cost[groups], minlength=self.tasks)
        share = self.cost.sum() / PIECES
        which = np.floor((np.cumsum(work) - work / 2) / share).astype(np.int64)
        return np.split(groups, np.flatnonzero(np.diff(which[self.task[groups]])) + 1)

    @property
    def speed_up(self) -> float:
        """All work over that of the top and the largest list: a bound for any number of threads."""
        largest = max((self.cost[groups].sum() for groups in self.bins), default=0.0)
        return float(self.cost.sum() / (self.cost[self.top].sum() + largest))


def schedule(symbolic: SymbolicFactor, first: Integers) -> Schedule:
    """Split the work of a symbolic factor into subtrees; groups begin at the blocks ``first``."""
    groups = len(first) - 1
    group = np.repeat(np.arange(groups), np.diff(first))
    parent = assembly_tree(symbolic.column_pointer, symbolic.column_index, group, groups)
    own = np.add.reduceat(symbolic.size, first[:-1]).astype(float)
    wide = np.maximum.reduceat(symbolic._widths, first[:-1]).astype(float)
    cost = own**3 + own * own * wide + own * wide * wide + OVERHEAD
    share = 0.0 if cost.sum() < ENOUGH else cost.sum() / PIECES
    return Schedule(first, parent, cost, subtrees(parent, cost, share), np.arange(groups))


@njit(cache=True)
def assembly_tree(pointer, index, group, groups):  # pragma: no cover
    """(groups,) parents in the elimination tree of the groups: a group updates only ancestors."""
    count = np.zeros(groups + 1, dtype=np.int64)
    for t in range(len(group)):
        for e in range(pointer[t], pointer[t + 1]):
            count[group[index[e]] + 1] += group[index[e]] != group[t]
    for g in range(groups):
        count[g + 1] += count[g]
    cursor, below = count[:-1].copy(), np.empty(count[-1], dtype=np.int64)
    for t in range(len(group)):
        for e in range(pointer[t], pointer[t + 1]):
            h = group[index[e]]
            if h != group[t]:
                below[cursor[h]] = group[t]
                cursor[h] += 1
    parent, above = np.full(groups, -1, dtype=np.int64), np.full(groups, -1, dtype=np.int64)
    for h in range(groups):
        for e in range(count[h], count[h + 1]):
            g = below[e]
            while g >= 0 and g != h:
                up = above[g]
                above[g] = h
                if up < 0:
                    parent[g] = h
                g = up
    return parent


@njit(cache=True)
def subtrees(parent, cost, share):  # pragma: no cover
    """(groups,) the subtree of every group, -1 in the top.

    Subtrees are the largest that cost at most ``share`` operations; tiny ones stay in the top.
    """
    groups = len(parent)
    total = cost.copy()
    for g in range(groups):
        if parent[g] >= 0:
            total[parent[g]] += total[g]
    task, tasks = np.full(groups, -1, dtype=np.int64), 0
    for g in range(groups - 1, -1, -1):
        if total[g] > share:
            continue
        if parent[g] >= 0 and task[parent[g]] >= 0:
            task[g] = task[parent[g]]
        elif LEAST * total[g] > share:
            task[g] = tasks
            tasks += 1
    return task
