"""Sorting in compiled loops, where ``np.sort`` would take seconds to compile.

Only compiled loops call it; without wrappers for Python it compiles in half the time.
"""

from __future__ import annotations

import numpy as np

from ..base.compiled import leaf

FEW = 32  # values that are sorted by insertion


@leaf()
def ascend(values, start, end):  # pragma: no cover
    """Sort values[start:end] in place: few by insertion, many by a heap."""
    if end - start <= FEW:
        for i in range(start + 1, end):
            value, j = values[i], i
            while j > start and values[j - 1] > value:
                values[j] = values[j - 1]
                j -= 1
            values[j] = value
        return
    for root in range((end - start) // 2 - 1, -1, -1):
        _sink(values, start, end, root, values[start + root])
    for last in range(end - 1, start, -1):
        value = values[last]
        values[last] = values[start]
        _sink(values, start, last, np.int64(0), value)


@leaf()
def _sink(values, start, end, root, value):  # pragma: no cover
    """Put a value into the heap values[start:end] at ``root``, or below larger ones."""
    count = end - start
    while 2 * root + 1 < count:
        child = 2 * root + 1
        if child + 1 < count and values[start + child] < values[start + child + 1]:
            child += 1
        if values[start + child] <= value:
            break
        values[start + root] = values[start + child]
        root = child
    values[start + root] = value
