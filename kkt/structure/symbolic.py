"""The symbolic factor: elimination tree, counts, fill and height of a sequence, without values.

Arrays and names follow Davis, "Direct Methods for Sparse Linear Systems" (2006), chapter 4, on
the block graph.  A single pivot joins its later neighbours to a clique, and hands them to the
first of them.  A pair (x, z) with the exact inverse [[0, 1], [1, -X]] joins the neighbours of z
with each other and with those of x, but not those of x with each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import leaf, loop
from ..base.errors import OrderError, SizeError
from ..base.foreign import of_kind
from ..base.shown import Shown
from ..matrix.blocks import FC, FJ, LAM, PDD, QDD, Block, F, Partition
from ..order.sequence import Plan, require_plan

SINGLE, PAIR_FIRST, PAIR_SECOND = 0, 1, 2


@dataclass(frozen=True, eq=False, repr=False)
class SymbolicFactor(Shown):
    """Structure of the factor; positions 0..B-1 are blocks in the order of elimination.

    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.chain(100)).structure))
    >>> factor.fill_blocks, factor.height
    (99, 300)
    """

    plan: Plan
    pivot: NDArray[np.int8]  # (B,) SINGLE, PAIR_FIRST or PAIR_SECOND
    parent: NDArray[np.int64]  # (B,) elimination tree, -1 at a root
    column_pointer: NDArray[np.int64]  # (B + 1,) into ``column_index``
    column_index: NDArray[np.int64]  # later neighbours of each block, as positions
    original: int  # off-diagonal blocks of one triangle at the start

    def facts(self) -> dict[str, Any]:
        return dict(self.plan.facts()) | {"blocks of fill": self.fill_blocks, "blocks high": self.height}

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
        """(2, fill) positions (earlier, later) of blocks that ``fill_blocks`` counts."""
        count, ends = len(self.pivot), self.plan.edges
        first = np.repeat(np.arange(count), self.counts)
        old = np.isin(first * count + self.column_index, ends[0] * count + ends[1])
        return np.stack([first[~old], self.column_index[~old]])

    @cached_property
    def fill_step(self) -> NDArray[np.int64]:
        """(fill,) group whose elimination makes each fill block nonzero (see ``fill``)."""
        row, col = self.fill
        start = np.searchsorted(row, np.arange(len(self.column_pointer)))
        factor = (self.column_pointer, self.column_index, self.pivot)
        return fill_steps(np.full(len(col), -1), start, col, *factor, self.plan.group)

    @property
    def fill_blocks(self) -> int:
        """Off-diagonal blocks of one triangle, zero in the matrix, that may be nonzero at some step.

        The structure says no more.  With generic values all of them are, in every order that has a
        name; single pivots at random cancel some on branched trees, so that it is a bound there.
        """
        return int(self.counts.sum()) - self.original

    @cached_property
    def fill_entries(self) -> int:
        """Entries (rows times columns) of the fill blocks, one triangle."""
        before = self.size[self.plan.edges].prod(axis=0).sum()
        return int((self.size * self._widths).sum() - before)

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
        """Pairs of blocks that are updated; joints and multipliers at the end count as one."""
        c = self.counts.astype(float)
        pairs = np.flatnonzero(self.pivot == PAIR_FIRST)
        joint = np.isin(self.plan.graph.kind[self.plan.blocks], (QDD, LAM))
        tail = np.logical_and.accumulate(joint[::-1])[::-1]
        single = (self.pivot == SINGLE) & ~tail
        total = (c[pairs + 1] * (c[pairs] + c[pairs + 1])).sum()
        return int(total + (c[single] * (c[single] + 1) / 2).sum())

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """(B,) blocks on the longest path of pivots that must wait for each other, up to each.

        A pair whose second block has no other neighbour changes no block, and none waits for it.
        """
        return levels_of(np.ones_like(self.counts), self.column_pointer, self.column_index, self.pivot)

    @property
    def height(self) -> int:
        """Blocks on the longest such path: steps that cannot be taken side by side."""
        return int(np.max(self.levels, initial=0))


@of_kind
def symbolic(plan: Plan, most: int | None = None) -> SymbolicFactor:
    """The symbolic factor of a plan: elimination on structure, without values.

    Raises OrderError where a pivot is structurally zero, and SizeError as soon as the factor has
    more than ``most`` off-diagonal blocks.

    >>> structure = pt.build(pt.chain(100)).structure
    >>> for name in ("crbm", "virtual_work", "abm"):
    ...     print(name, pt.symbolic(pt.plan(pt.orderings.get(name), structure)).fill_blocks)
    crbm 9900
    virtual_work 496
    abm 99
    """
    require_plan(plan)
    graph = plan.graph
    count = len(plan.blocks)
    first, last = plan.edges
    # by columns, in each by rows; a stable sort is fast where much is in order already
    later = np.sort(count * first + last, kind="stable") % count
    pointer = np.concatenate([[0], np.cumsum(np.bincount(first, minlength=count))])
    free = isinstance(graph.structure, Partition)
    pivot, parent, column_pointer, column_index, zero = eliminated(
        *(pointer, later, plan.paired, 1 << 62 if most is None else most, free),
        # made here, since numba would compile each kind of empty array for a sixth of a second
        (graph.diagonal[plan.blocks], np.zeros(count, dtype=np.int8), np.full(count, -1)),
        (*np.full((2, count), -1), *np.zeros((2, count + 1), dtype=np.int64)),
        tuple(np.empty((3, 4 * count + 16), dtype=np.int64)),
    )
    if most is not None and len(column_index) > most:
        reached = int(np.argmax(column_pointer))
        raise SizeError(
            f"order {plan.sequence.name!r}",
            f"its factor has more than {most:,} blocks on this tree, reached at block {reached:,} of "
            f"{count:,} in the order of elimination",
            "use an order with less fill, such as abm",
        )
    if zero >= 0:
        raise _refused(plan, int(zero))
    start = np.repeat(count * np.arange(count), np.diff(column_pointer))
    column_index = np.sort(start + column_index, kind="stable") - start
    return SymbolicFactor(plan, pivot, parent, column_pointer, column_index, len(later))


def _refused(plan: Plan, position: int) -> OrderError:
    graph, number = plan.graph, int(plan.blocks[position])
    block = graph.block(number)
    body = tied = block.body
    where, zero = f"order {plan.sequence.name!r}", f"at step {plan.group[position] + 1} is structurally zero"
    if isinstance(graph.structure, Partition):
        how = "bracket" if graph.size[number] == 1 else "cut them into rows and bracket"
        remedy = f"eliminate a block first that it is coupled with, or {how} the two, the other one first"
        return OrderError(where, f"pivot {body!r} {zero}", remedy)
    if graph.kind[number] == LAM:
        tied = graph.structure.tied(body)[0]
    first = f"eliminate {Block('pdd', tied)}"
    remedy = {
        QDD: f"{first} and {Block('fJ' if graph.split else 'f', body)} first, or bracket all three",
        F: f"{first} first, or bracket the two",
        FJ: f"{first} first",
        FC: f"{first} first",
        LAM: f"{first} and the joints of its loop first, or leave it out, and it comes last",
        PDD: "",
    }[int(graph.kind[number])]
    return OrderError(where, f"pivot {block} {zero}", remedy)


# compiled loops; positions are blocks in the order of elimination --------------------------------

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
def eliminated(pointer, later, paired, most, free, pivots, marks, lists):  # pragma: no cover
    """Eliminate on structure; edges that pivots add wait in linked lists at their earlier end.

    Stops after the pivot that brings the factor to more than ``most`` blocks.  Pairs are coupled by the
    identity of (4), or, where they are ``free``, by any number.
    """
    count = len(pointer) - 1
    diagonal, pivot, parent = pivots
    head, mark, out_pointer, waits = marks  # waits: length of each list
    out, link, value = lists
    used = filled = 0
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


@loop(few=10 * FEW_BLOCKS)  # each entry is looked at once
def levels_of(level, pointer, index, pivot):  # pragma: no cover
    """``level`` (count,), all 1: an entry must be updated before the first of its two blocks is a pivot."""
    for t in range(len(pivot)):
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
def fill_steps(step, start, col, pointer, index, pivot, group):  # pragma: no cover
    """``step``, all -1: first group that couples both ends of each fill block.  Sorted columns are merged.

    Fill of row i is col[start[i]:start[i + 1]], ascending.
    """
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
