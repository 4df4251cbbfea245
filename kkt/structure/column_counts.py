"""Counts of a factor whose blocks are too many to be listed.

The composite rigid body method fills n (n - 1) blocks of a chain: a million million for a million
bodies.  In the order of elimination they form few runs of consecutive positions, and the
elimination works on these runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..order.pivots import Plan, require_plan
from . import counting_kernels, symbolic_kernels
from .symbolic import dense_flops, refuse


@dataclass(frozen=True)
class ColumnCounts:
    """What :class:`kkt.SymbolicFactor` counts, without its structure.

    >>> plan = pt.plan(pt.orderings.get("crbm"), pt.build(pt.chain(100)).structure)
    >>> counts = pt.column_counts(plan)
    >>> counts.fill_blocks, counts.fill_blocks == pt.symbolic(plan).fill_blocks
    (9900, True)
    """

    plan: Plan
    counts: NDArray[np.int64]  # (B,) off-diagonal blocks in each column
    widths: NDArray[np.int64]  # (B,) rows of these blocks
    original: int  # off-diagonal blocks of one triangle at the start

    @property
    def fill_blocks(self) -> int:
        """As :attr:`SymbolicFactor.fill_blocks`."""
        return int(self.counts.sum()) - self.original

    @property
    def flops(self) -> int:
        """Multiplications and additions with dense blocks, as in :class:`kkt.SymbolicFactor`."""
        return dense_flops(self.plan.graph.size[self.plan.blocks], self.widths)


def column_counts(plan: Plan) -> ColumnCounts:
    """Count the factor's blocks by their runs, which on chains are few: less time and memory.

    The blocks are those of the graph model of elimination (Parter 1961; Rose 1972).

    On other trees, and where few blocks fill, :func:`kkt.symbolic` is as fast and tells more.
    Raises OrderError where a pivot is structurally zero.

    >>> structure = pt.build(pt.chain(1000)).structure
    >>> pt.column_counts(pt.plan(pt.orderings.get("natural"), structure)).fill_blocks
    1998
    """
    require_plan(plan)
    graph, count = plan.graph, len(plan.blocks)
    where = np.full(graph.count, -1, dtype=np.int64)
    where[plan.blocks] = np.arange(count)
    pointer, later = symbolic_kernels.adjacency(where, graph.edges[0], graph.edges[1], count)
    rows = np.concatenate([[0], np.cumsum(graph.size[plan.blocks])])
    counts, widths, zero = counting_kernels.count_columns(
        pointer, later, graph.diagonal[plan.blocks], plan.paired, rows
    )
    refuse(plan, zero)
    return ColumnCounts(plan, counts, widths, len(later))
