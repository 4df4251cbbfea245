"""The blocks of the matrix after some groups of a sequence are eliminated; numpy alone.

Positions are blocks in the order of elimination, so that everything here speaks of the permuted
matrix.  Nothing is computed with values: a block is present where it may be nonzero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import OrderError, SymbolicFactor
from pivotree.kkt.base.foreign import is_whole
from pivotree.kkt.structure.symbolic import PAIR_FIRST, PAIR_SECOND, SINGLE

ZERO, ORIGINAL, FILL, ZEROED = 0, 1, 2, 4
NEW = 3
"""The kind of a block that the last steps have filled in, in ``BlockState.kind``.

>>> from pivotree.analysis.figures import NEW, block_state
>>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.chain(3)).structure))
>>> int((block_state(factor, 1).kind == NEW).sum())  # the tip's joint and its parent's body
1
"""
_LIMIT = 4000  # blocks, for a dense table of B x B bytes


@dataclass(frozen=True, eq=False)
class BlockState:
    """Which blocks there are after ``step`` groups; 0 is the matrix, all groups the factor.

    A block off the diagonal is listed once, with row < col; its mirror image is there as well.
    Rows whose group is done are those of the factor, as they stood when they were pivots.

    >>> from pivotree.analysis.figures import block_state
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("crbm"), pt.build(pt.chain(3)).structure))
    >>> whole = block_state(factor)
    >>> whole.blocks, whole.fill_blocks, whole.pivots.shape
    (9, 6, (9, 2))
    """

    symbolic: SymbolicFactor
    step: int  # groups eliminated so far
    since: int  # groups whose fill is no longer new
    row: NDArray[np.int64] = field(repr=False)  # (E,) positions, row < col
    col: NDArray[np.int64] = field(repr=False)  # (E,)
    kind: NDArray[np.int8] = field(repr=False)  # (E,) ORIGINAL, FILL of an earlier step, or NEW
    diagonal: NDArray[np.int8] = field(repr=False)  # (B,) ZERO, ORIGINAL, FILL or NEW
    updated: NDArray[np.bool_] = field(repr=False)  # (B,) diagonal blocks that something has been added to
    done: NDArray[np.bool_] = field(repr=False)  # (B,) rows and columns that are eliminated

    @property
    def blocks(self) -> int:
        """Rows of the block matrix."""
        return len(self.diagonal)

    @cached_property
    def eliminated(self) -> NDArray[np.bool_]:
        """(E,) blocks off the diagonal that belong to the factor."""
        return self.done[self.row]

    @cached_property
    def pivots(self) -> NDArray[np.int64]:
        """(P, 2) pivotal blocks (row, col) so far: (k, k), or (x, z) and (z, x) of a pair."""
        kind = self.symbolic.pivot
        own = np.arange(self.blocks)
        mate = own + (kind == PAIR_FIRST) - (kind == PAIR_SECOND)
        return np.stack([own, mate], axis=1)[self.done]

    @property
    def step_pivots(self) -> NDArray[np.int64]:
        """(P, 2) pivotal blocks of the steps that are new: the last one, unless more are said."""
        return self.pivots[self.symbolic.plan.group[self.pivots[:, 0]] >= self.since]

    @cached_property
    def zeroed(self) -> NDArray[np.bool_]:
        """(E,) blocks whose mirror image, below the diagonal, the elimination has made zero.

        Both identities of a pair are pivots and stay.
        """
        identity = (self.symbolic.pivot[self.row] == PAIR_FIRST) & (self.col == self.row + 1)
        return self.eliminated & ~identity

    @property
    def fill_blocks(self) -> int:
        """Off-diagonal blocks of one triangle that were zero in the matrix."""
        return int((self.kind != ORIGINAL).sum())

    @property
    def fill_diagonal(self) -> int:
        """Blocks of the diagonal that were zero in the matrix; not counted as fill."""
        return int(np.isin(self.diagonal, (FILL, NEW)).sum())

    @property
    def told(self) -> str:
        """What is filled, off the diagonal and on it: as many blocks as a picture of it marks.

        >>> from pivotree.analysis.figures import block_state
        >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.chain(3)).structure))
        >>> block_state(factor).told
        '2 blocks of fill + 3 diagonal'
        """
        beside = f" + {self.fill_diagonal:,} diagonal" if self.fill_diagonal else ""
        return f"{self.fill_blocks:,} block{'s' if self.fill_blocks != 1 else ''} of fill{beside}"

    @property
    def fill_entries(self) -> int:
        """Entries of the fill blocks, one triangle."""
        size, new = self.symbolic.size, self.kind != ORIGINAL
        return int((size[self.row[new]] * size[self.col[new]]).sum())

    def table(self, *, zeros: bool = False) -> NDArray[np.int8]:
        """(B, B) ZERO, ORIGINAL, FILL or NEW, both triangles; small systems only.

        ``zeros``: blocks that the elimination has made zero are ZEROED, not what they were.
        """
        if self.blocks > _LIMIT:
            raise ValueError(
                f"table: {self.blocks} blocks are more than {_LIMIT}, too many for a dense table; "
                "read row, col and kind"
            )
        table = np.diag(self.diagonal)
        table[self.row, self.col] = table[self.col, self.row] = self.kind
        if zeros:
            table[self.col[self.zeroed], self.row[self.zeroed]] = ZEROED
        return table


def block_state(symbolic: SymbolicFactor, step: int | None = None, since: int | None = None) -> BlockState:
    """The blocks after ``step`` groups; with None after all, and no fill is told apart as NEW.

    NEW is what the groups after the first ``since`` made: the last one alone where it is None.
    Raises OrderError outside 0..groups.

    >>> from pivotree.analysis.figures import block_state
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("crbm"), pt.build(pt.chain(3)).structure))
    >>> [block_state(factor, step).fill_blocks for step in range(4)]  # the matrix, three groups
    [0, 1, 4, 6]
    """
    plan = symbolic.plan
    whole = step is None
    step = plan.groups if step is None else step.item() if isinstance(step, np.integer) else step
    if not is_whole(step, 0, plan.groups):
        raise OrderError(f"order {plan.sequence.name!r}", f"has no step {step!r}", f"use 0 to {plan.groups}")
    if since is None:
        since = step if whole else max(step - 1, 0)
    ends = plan.edges
    original = np.full(ends.shape[1], ORIGINAL)
    fill, kind = _fill(symbolic, step, since)
    first = _first_update(symbolic)
    made = np.where(first >= since, NEW, FILL)
    diagonal = np.where(first < step, made, ZERO)
    own = plan.graph.diagonal[plan.blocks]  # M_k, and compliances of loops
    return BlockState(
        symbolic=symbolic,
        step=step,
        since=since,
        row=np.concatenate([ends[0], fill[0]]),
        col=np.concatenate([ends[1], fill[1]]),
        kind=np.concatenate([original, kind]).astype(np.int8),
        diagonal=np.where(own, ORIGINAL, diagonal).astype(np.int8),
        updated=first < step,
        done=plan.group < step,
    )


def _fill(symbolic: SymbolicFactor, step: int, since: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(2, f) positions and (f,) kinds of the fill blocks that the first ``step`` groups make."""
    if step == 0 or since == symbolic.plan.groups:  # when each was made does not matter
        fill = symbolic.fill if step else np.zeros((2, 0), dtype=np.int64)
        return fill, np.full(fill.shape[1], FILL)
    made = symbolic.fill_step
    here = made < step
    return symbolic.fill[:, here], np.where(made[here] >= since, NEW, FILL)


def _first_update(symbolic: SymbolicFactor) -> NDArray[np.int64]:
    """(B,) group that first adds to each diagonal block; the number of groups where none does.

    A pair (x, z) with the inverse [[0, 1], [1, -X]] reaches the diagonal through z alone.
    """
    plan = symbolic.plan
    owner = np.repeat(np.arange(len(plan.blocks)), symbolic.counts)
    reaches = symbolic.pivot[owner] != PAIR_FIRST
    first = np.full(len(plan.blocks), plan.groups, dtype=np.int64)
    np.minimum.at(first, symbolic.column_index[reaches], plan.group[owner[reaches]])
    return first


def updates(symbolic: SymbolicFactor) -> dict[tuple[int, int], list[int]]:
    """For (row, col), row <= col: positions of the pivots that add to it; small systems only."""
    result: dict[tuple[int, int], list[int]] = {}
    pointer, index = symbolic.column_pointer, symbolic.column_index
    for t, kind in enumerate(symbolic.pivot):
        if kind == PAIR_FIRST:
            continue
        through = index[pointer[t] : pointer[t + 1]].tolist()
        beside = [] if kind == SINGLE else index[pointer[t - 1] : pointer[t]].tolist()
        reached = {(min(i, j), max(i, j)) for i in through for j in (*through, *beside)}
        for pair in reached:
            if pair[0] > t:
                result.setdefault(pair, []).append(t)
    return result
