"""The symbolic factor: elimination tree, counts, fill and height of a sequence, without values.

Arrays and names follow Davis, "Direct Methods for Sparse Linear Systems" (2006), chapter 4, on
the block graph.  A single pivot joins its later neighbours to a clique, and hands them to the
first of them.  A pair (x, z) with the exact inverse [[0, 1], [1, -X]] joins the neighbours of z
with each other and with those of x, but not those of x with each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..blocks import FC, FJ, PDD, QDD, Block, F
from ..errors import OrderError
from .pivots import Plan

SINGLE, PAIR_FIRST, PAIR_SECOND = 0, 1, 2


@dataclass(frozen=True)
class SymbolicFactor:
    """Structure of the factor; positions 0..B-1 are blocks in the order of elimination."""

    plan: Plan
    pivot: NDArray[np.int8]  # (B,) SINGLE, PAIR_FIRST or PAIR_SECOND
    parent: NDArray[np.int64]  # (B,) elimination tree, -1 at a root
    column_pointer: NDArray[np.int64]  # (B + 1,) into ``column_index``
    column_index: NDArray[np.int64]  # later neighbours of each block, as positions
    original: int  # off-diagonal blocks of one triangle at the start

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(B,) later neighbours of each block: off-diagonal blocks in its column."""
        return np.diff(self.column_pointer)

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """(B,) rows of each block."""
        return self.plan.graph.size[self.plan.blocks]

    @cached_property
    def fill(self) -> NDArray[np.int64]:
        """(2, fill) positions (earlier, later) of off-diagonal blocks that become nonzero."""
        count = len(self.pivot)
        where = np.empty(5 * self.plan.graph.structure.n, dtype=np.int64)
        where[self.plan.blocks] = np.arange(count)
        ends = np.sort(where[self.plan.graph.edges], axis=0)
        first = np.repeat(np.arange(count), self.counts)
        old = np.isin(first * count + self.column_index, ends[0] * count + ends[1])
        return np.stack([first[~old], self.column_index[~old]])

    @cached_property
    def fill_step(self) -> NDArray[np.int64]:
        """(fill,) group whose elimination makes each fill block nonzero (see ``fill``)."""
        return _fill_step(
            self.fill[0], self.fill[1], self.column_pointer, self.column_index,
            self.pivot, self.plan.group,
        )  # fmt: skip

    @property
    def fill_blocks(self) -> int:
        """Off-diagonal blocks of one triangle, zero in the matrix, nonzero at some step."""
        return int(self.counts.sum()) - self.original

    @cached_property
    def fill_entries(self) -> int:
        """Entries (rows times columns) of the fill blocks, one triangle."""
        total = (self.size * self._widths).sum()
        edges = self.plan.graph.edges
        before = (self.plan.graph.size[edges[0]] * self.plan.graph.size[edges[1]]).sum()
        return int(total - before)

    @cached_property
    def _widths(self) -> NDArray[np.int64]:
        """(B,) rows of all later neighbours."""
        sums = np.concatenate([[0], np.cumsum(self.size[self.column_index])])
        return sums[self.column_pointer[1:]] - sums[self.column_pointer[:-1]]

    @cached_property
    def flops(self) -> int:
        """Multiplications and additions with dense blocks; the tape counts without zeros."""
        s, w = self.size.astype(float), self._widths.astype(float)
        return int((s**3 / 3 + s * s * w * 2 + s * w * (w + 1)).sum())

    @cached_property
    def updates(self) -> int:
        """Pairs of blocks that are updated, joints that end the sequence counted as one block."""
        c = self.counts.astype(float)
        pairs = np.flatnonzero(self.pivot == PAIR_FIRST)
        joint = self.plan.blocks // self.plan.graph.structure.n == QDD
        before = np.flatnonzero(~joint)
        single = (self.pivot == SINGLE) & (np.arange(len(c)) <= before.max(initial=-1))
        total = (c[pairs + 1] * (c[pairs] + c[pairs + 1])).sum()
        return int(total + (c[single] * (c[single] + 1) / 2).sum())

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """(B,) number of blocks on the longest path of the elimination tree up to each."""
        return _levels(self.parent)

    @property
    def height(self) -> int:
        """Blocks on the longest path of the elimination tree: steps that cannot be parallel."""
        return int(self.levels.max(initial=0))

    @cached_property
    def post(self) -> NDArray[np.int64]:
        """(B,) postorder of the elimination tree."""
        return _postorder(self.parent)


def symbolic(plan: Plan) -> SymbolicFactor:
    """Eliminate on structure.  Raises OrderError where a pivot is structurally zero."""
    graph = plan.graph
    count = len(plan.blocks)
    where = np.full(5 * graph.structure.n, -1, dtype=np.int64)
    where[plan.blocks] = np.arange(count)
    ends = np.sort(where[graph.edges], axis=0)
    order = np.argsort(ends[0], kind="stable")
    pointer = np.searchsorted(ends[0][order], np.arange(count + 1))
    diagonal = plan.blocks < graph.structure.n  # only pdd_k has one at the start
    pivot, parent, column_pointer, column_index, zero = _eliminate(
        pointer, ends[1][order], diagonal, plan.paired
    )
    if zero >= 0:
        raise OrderError(_refusal(plan, int(zero)))
    return SymbolicFactor(plan, pivot, parent, column_pointer, column_index, ends.shape[1])


def _refusal(plan: Plan, position: int) -> str:
    block = plan.graph.block(int(plan.blocks[position]))
    body = block.body
    force = "fJ" if plan.graph.split else "f"
    remedy = {
        QDD: f"eliminate {Block('pdd', body)} and {Block(force, body)} first, or bracket all three",
        F: f"eliminate {Block('pdd', body)} first, or bracket the two",
        FJ: f"eliminate {Block('pdd', body)} first",
        FC: f"eliminate {Block('pdd', body)} first",
        PDD: "",
    }[int(plan.blocks[position]) // plan.graph.structure.n]
    return (
        f"order {plan.sequence.name!r}: pivot {block} at step {plan.group[position] + 1} "
        f"is structurally zero; {remedy}"
    )


@njit(cache=True)
def _grow(array, needed):  # pragma: no cover
    if needed <= len(array):
        return array
    larger = np.empty(max(needed, 2 * len(array)), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True)
def _eliminate(pointer, later, diagonal, paired):  # pragma: no cover
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
def _levels(parent):  # pragma: no cover
    level = np.ones(len(parent), dtype=np.int64)
    for t in range(len(parent)):
        if parent[t] >= 0 and level[parent[t]] <= level[t]:
            level[parent[t]] = level[t] + 1
    return level


@njit(cache=True)
def _postorder(parent):  # pragma: no cover
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
def _fill_step(row, col, pointer, index, pivot, group):  # pragma: no cover
    """First group that couples both ends of each fill block."""
    count = len(pivot)
    step = np.full(len(row), -1, dtype=np.int64)
    # fill blocks by (row, col) in a hash, visited in the order of elimination
    place = {(np.int64(-1), np.int64(-1)): np.int64(-1)}
    for e in range(len(row)):
        place[(row[e], col[e])] = e
    t = 0
    while t < count:
        begin, middle = pointer[t], pointer[t + 1]
        pair = pivot[t] == 1
        end = pointer[t + 2] if pair else middle
        for i in range(middle if pair else begin, end):
            for j in range(begin, end):
                low, high = min(index[i], index[j]), max(index[i], index[j])
                if low < high and (low, high) in place:
                    e = place[(low, high)]
                    if step[e] < 0:
                        step[e] = group[t]
        t += 2 if pair else 1
    return step
