"""Groups of an order as positions of pivots: a compiled loop."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def arrange(blocks, groups, partner, rank, lead):  # pragma: no cover
    """Order of elimination inside every group, in place: pairs first, in their order of naming.

    ``rank`` (blocks,) sorts blocks that are used alone; of a pair, ``lead`` is the block that
    comes first.  Groups ascend; those of one pivot each are as short as they are many.
    """
    count = len(blocks)
    place = np.full(len(partner), -1, dtype=np.int64)
    for t in range(count):
        place[blocks[t]] = t
    key = np.empty(count, dtype=np.int64)
    start = 0
    while start < count:
        end = start + 1
        while end < count and groups[end] == groups[start]:
            end += 1
        sorted_already = True
        for t in range(start, end):
            b = blocks[t]
            mate = partner[b]
            if mate >= 0 and start <= place[mate] < end and blocks[place[mate]] == mate:
                key[t] = 2 * place[min(b, mate)] + (0 if lead[b] else 1)
            else:
                key[t] = 2 * count * (1 + rank[b]) + t
            sorted_already &= t == start or key[t - 1] < key[t]
        if not sorted_already:
            blocks[start:end] = blocks[start:end][np.argsort(key[start:end])]
        start = end
