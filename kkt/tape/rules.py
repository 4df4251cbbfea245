"""The three rules that fold zeros and ones, which are defined here alone.

Scalars are signed numbers: 0 is zero, 1 is one, +-i is plus or minus slot i.  A rule gives
``known, op, x, y, sign``: where ``known``, no operation is needed, and the result is the number
a + b for :func:`added`, a b for the others; elsewhere it is ``sign`` times the slot of ``x op y``.
The rules have no branches, so that they work on numbers, on numpy's arrays and in compiled code.
"""

from __future__ import annotations

from typing import Any

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
