"""Zeros and ones are folded by three rules, which are defined here alone; blocks in compiled loops.

Scalars are signed numbers: 0 is zero, 1 is one, +-i is plus or minus slot i.  A rule gives
``known, op, x, y, sign``: where ``known``, no operation is needed, and the result is the number
a + b for :func:`added`, a b for the others; elsewhere it is ``sign`` times the slot of ``x op y``.
The rules have no branches, so that they work on Python's numbers and in compiled code.

A block has few entries: each of numpy's calls takes as long as a compiled loop through all of them.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from ..arithmetic.chunk import ADD, DIV, MUL, SUB

Folded = tuple[Any, Any, Any, Any, Any]


def added(a: Any, b: Any) -> Folded:
    """a + b; -x + y is y - x, and -x - y is -(x + y)."""
    minus, other = a < 0, b < 0
    x, y, swap = abs(a), abs(b), minus > other
    op = ADD + (SUB - ADD) * (minus ^ other)
    known = (a == 0) | (b == 0) | (a == -b)
    return known, op, x + swap * (y - x), y + swap * (x - y), 1 - 2 * (minus & other)


def multiplied(a: Any, b: Any) -> Folded:
    """a b."""
    x, y = abs(a), abs(b)
    return (x <= 1) | (y <= 1), MUL, x, y, 1 - 2 * ((a < 0) ^ (b < 0))


def divided(a: Any, b: Any) -> Folded:
    """a / b; a division by zero stays an operation."""
    x, y = abs(a), abs(b)
    return (x == 0) | (y == 1), DIV, x, y, 1 - 2 * ((a < 0) ^ (b < 0))


_added, _multiplied, _divided = map(njit, (added, multiplied, divided))


@njit
def folded(op, a, b):  # pragma: no cover
    """What the rule of ``op`` gives for two scalars, and the result where it is known."""
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
