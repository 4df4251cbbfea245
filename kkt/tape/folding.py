"""The rules of :mod:`.emit` for a whole block, compiled: a block's entries are few, and each of
numpy's calls takes as long as a compiled loop through all of them."""

from __future__ import annotations

from numba import njit

from ..arithmetic.chunk import ADD, DIV, MUL
from . import rules

_added, _multiplied, _divided = (
    njit(rule) for rule in (rules.added, rules.multiplied, rules.divided)
)


@njit
def folded(op, a, b):  # pragma: no cover
    """One of the four operations on two signed numbers: what its rule gives, and then the result
    where no operation is needed."""
    if op == MUL:
        return _multiplied(a, b), a * b
    if op == DIV:
        return _divided(a, b), a * b
    b = b if op == ADD else -b
    return _added(a, b), a + b


@njit(cache=True)
def fold(op, a, b, out, todo):  # pragma: no cover
    """``op`` on all entries of two blocks, (n,) or (1,): results that are known into ``out`` (n,).

    Into the columns of ``todo`` (5, n) go the others: place, operation, operands, and the sign,
    which is 0 for a quotient by zero.  Returns how many they are.
    """
    count = 0
    for i in range(out.size):
        one, two = a[min(i, a.size - 1)], b[min(i, b.size - 1)]
        (known, o, x, y, sign), out[i] = folded(op, one, two)
        if not known:
            todo[0, count], todo[1, count], todo[2, count] = i, o, x
            todo[3, count], todo[4, count] = y, sign * (y != 0)
            count += 1
    return count
