"""Straight-line programs on words of one length, each value with a binary point of its own.

A value is x 2^-f, x a signed word of at most 32 bits and f its binary point, which is fixed before
the program runs.  So every operation is one of whole numbers, with shifts by known amounts:

    sum       (a << i) + (b << j), rounded off by n bits
    product   a b in 64 bits, rounded off by n bits
    quotient  (a << n) / b, rounded
    scaled    (a b << n) / d, rounded: the product keeps its 64 bits

Rounding is to nearest, ties up: half is added and the low bits are dropped, by an addition and a
shift on any processor.  :meth:`Words.play` does what the exported C does, in the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .chunk import ADD, DIV, MUL, SUB

SCALED = 5  # a b / d, beside the operations of a tape
LONGEST = 32  # bits of a word at most: the product of two has 64
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Words:
    """A program of T operations; values are zero, one, p inputs, then T results."""

    bits: int  # of a word
    op: NDArray[np.int8]  # (T,)
    a: Ints  # (T,) values
    b: Ints
    d: Ints  # divisor of a scaled quotient
    point: Ints  # (2 + p + T,) binary points of the values
    inputs: int

    @property
    def top(self) -> int:
        """The largest word; the least word in use is its negative."""
        return (1 << (self.bits - 1)) - 1

    @property
    def first(self) -> int:
        """The index, among the values, of the first result."""
        return 2 + self.inputs

    @cached_property
    def shifts(self) -> tuple[Ints, Ints, Ints]:
        """(T,) shifts i, j and n of each operation; a negative i or j rounds a term off first."""
        a, b, d = (self.point[x] for x in (self.a, self.b, self.d))
        return _shifts(self.op, a, b, d, self.own)

    @property
    def own(self) -> Ints:
        """(T,) binary points of the results."""
        return self.point[self.first :]

    def words(self, values: NDArray[np.float64]) -> Ints:
        """(..., p) inputs as words, rounded to nearest."""
        scaled = np.ldexp(values, self.point[2 : self.first])
        return np.floor(scaled + 0.5).astype(np.int64)

    def numbers(self, words: Ints, which: Ints) -> NDArray[np.float64]:
        """Words of the values ``which`` as floats, exactly."""
        return np.asarray(np.ldexp(words.astype(float), -self.point[which]))

    def play(self, words: Ints) -> tuple[Ints, Ints]:
        """(m, 2 + p + T) all values from inputs (m, p), and (m,) the first overflow of each run.

        The overflow is the number of an operation, -2 - i for input i, or T where there is none.  A
        division by zero counts as one.
        """
        m, T = len(words), len(self.op)
        v = np.zeros((m, self.first + T), dtype=np.int64)
        v[:, 1] = 1 << int(self.point[1])
        v[:, 2 : self.first] = words
        beyond = np.full(m, T)
        operands, shifts = (self.a, self.b, self.d), self.shifts
        _play(self.op, operands, shifts, self.first, self.top, v, beyond)
        wrong = np.abs(words) > self.top
        return v, np.where(wrong.any(axis=1), -2 - wrong.argmax(axis=1), beyond)


def _shifts(op: NDArray[np.int8], a: Ints, b: Ints, d: Ints, own: Ints) -> tuple[Ints, Ints, Ints]:
    """i, j and n from the binary points of operands a, b, d and results; all (T,)."""
    total = np.isin(op, (ADD, SUB))
    common = aligned(a, b)
    i, j = np.where(total, common - a, 0), np.where(total, common - b, 0)
    n = np.select([total, op == MUL, op == DIV], [common - own, a + b - own, own + b - a], own + d - a - b)
    return i, j, n


def aligned(a: Any, b: Any) -> Any:
    """The binary point of a sum in 64 bits: the finer of two, at most 30 bits beyond the other."""
    return np.minimum(np.maximum(a, b), np.minimum(a, b) + 30)


@njit(cache=True, inline="always")
def _off(x, n):  # pragma: no cover
    """x 2^-n to nearest, ties up."""
    return x if n <= 0 else (x + (np.int64(1) << (n - 1))) >> n


@njit(cache=True, inline="always")
def _moved(x, n):  # pragma: no cover
    return x << n if n >= 0 else _off(x, -n)


@njit(cache=True, inline="always")
def _divided(x, d, n, top):  # pragma: no cover
    """x 2^n / d to nearest, ties up; top + 1 where the quotient is beyond ``top``.

    The sign of d goes to x first.  No intermediate number has more than 62 bits.
    """
    if d < 0:
        x, d = -x, -d
    if n >= 0:
        if abs(x) > ((top + 1) * d) >> n:
            return top + 1
        x = x << n
    else:
        d = d << -n
    return (x + (d >> 1)) // d  # rounded down, as Python's


@njit(cache=True)
def _play(op, operands, shifts, first, top, v, beyond):  # pragma: no cover
    (a, b, d), (i, j, n) = operands, shifts
    for s in range(len(v)):
        w = v[s]
        for t in range(len(op)):
            kind, x, y = op[t], w[a[t]], w[b[t]]
            if kind == 0:
                r = _off(_moved(x, i[t]) + _moved(y, j[t]), n[t])
            elif kind == 1:
                r = _off(_moved(x, i[t]) - _moved(y, j[t]), n[t])
            elif kind == 2:
                r = _off(x * y, n[t])
            else:
                e = y if kind == 3 else w[d[t]]
                if e == 0:
                    beyond[s] = t
                    break
                r = _divided(x if kind == 3 else x * y, e, n[t], top)
            if abs(r) > top:
                beyond[s] = t
                break
            w[first + t] = r
