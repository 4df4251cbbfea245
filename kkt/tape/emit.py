"""Block operations as scalar operations: zeros and ones folded, sums in ascending index.

A scalar is a signed number: 0 is zero, 1 is one, +-i is plus or minus slot i.  A block is an array
of them.  Signs cost nothing.

Zeros and ones are folded by three rules, which are defined here alone.  A rule gives ``known, op, x,
y, sign``: where ``known``, no operation is needed, and the result is the number a + b for
:func:`added`, a b for the others; elsewhere it is ``sign`` times the slot of ``x op y``.  The rules
have no branches, so that they work on Python's numbers and in compiled code.

A block has few entries: each of numpy's calls takes as long as a compiled loop through all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..arithmetic.chunk import ADD, DIV, MUL, SUB

Scalars = NDArray[np.int64]
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


class Emitter:
    """Appends scalar operations; every result is a new slot."""

    def __init__(self, first: int) -> None:
        self.first = first  # slot of the first result
        self.count = 0
        self.op: list[NDArray[np.int8]] = []
        self.a: list[Scalars] = []
        self.b: list[Scalars] = []

    def _new(self, op: NDArray[np.int8], a: Scalars, b: Scalars) -> Scalars:
        self.op.append(op)
        self.a.append(a)
        self.b.append(b)
        first = self.first + self.count
        self.count += len(op)
        return np.arange(first, first + len(op), dtype=np.int64)

    def copy(self, a: Scalars) -> Scalars:
        """The slots of a in slots of their own: |a| + 0, which rounds nothing."""
        return self._new(np.full(len(a), ADD, np.int8), np.abs(a), np.zeros_like(a))

    def mul(self, a: Scalars, b: Scalars) -> Scalars:
        return self._folded(MUL, a, b)

    def add(self, a: Scalars, b: Scalars) -> Scalars:
        return self._folded(ADD, a, b)

    def sub(self, a: Scalars, b: Scalars) -> Scalars:
        return self._folded(SUB, a, b)

    def div(self, a: Scalars, b: Scalars) -> Scalars:
        """a / b; a quotient by zero is set to zero, since the tape is refused for such a pivot."""
        return self._folded(DIV, a, b)

    def _folded(self, op: int, a: Scalars, b: Scalars) -> Scalars:
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape and a.size != 1 != b.size:
            a, b = np.broadcast_arrays(a, b)
        out = np.empty(np.broadcast(a, b).shape, dtype=np.int64)
        flat, todo = out.ravel(), np.empty((5, out.size), dtype=np.int64)
        count = fold(op, a.flatten(), b.flatten(), flat, todo)  # copies: all may be written to
        if count:
            place, ops, x, y, sign = todo[:, :count]
            flat[place] = sign * self._new(ops.astype(np.int8), x, y)
        return out


def mirrored(upper: Scalars) -> Scalars:
    return np.triu(upper) + np.triu(upper, 1).T


def mul(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    """A B: t = fl(a b), s = fl(s + t), ascending."""
    i, j = np.indices((A.shape[0], B.shape[1])).reshape(2, -1)
    return _product(e, A, B, i, j).reshape(A.shape[0], B.shape[1])


def mul_symmetric(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    """A B known to be symmetric: the upper triangle, mirrored."""
    i, j = np.triu_indices(A.shape[0])
    out = np.zeros((A.shape[0], A.shape[0]), dtype=np.int64)
    out[i, j] = _product(e, A, B, i, j)
    return mirrored(out)


def _product(e: Emitter, A: Scalars, B: Scalars, i: Scalars, j: Scalars) -> Scalars:
    """Entries i, j of A B; zeros where A has no columns: a body without mass has no rows."""
    total = np.zeros(len(i), dtype=np.int64)
    for k in range(A.shape[1]):
        total = e.add(total, e.mul(A[i, k], B[k, j]))
    return total


def add(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    return e.add(A, B)


def add_symmetric(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    i, j = np.triu_indices(A.shape[0])
    out = np.zeros_like(A)
    out[i, j] = e.add(A[i, j], B[i, j])
    return mirrored(out)


class Column(NamedTuple):
    """The changes of the lower triangle by one pivot of L D L^T."""

    below: Scalars  # rows with an entry in the pivot's column
    rows: Scalars  # of the entries that change
    columns: Scalars
    new: Scalars  # these entries
    L: Scalars  # (below,) what the column becomes


def column(e: Emitter, A: Scalars, k: int, gain: bool) -> Column:
    """Pivot k of A, whose columns before k are done: updates (c/d) c^T by ``gain``, else (c c^T)/d.

    By gain the column becomes that of L, else it stays c = L d.
    """
    below = k + 1 + np.flatnonzero(A[k + 1 :, k])
    i, j = np.tril_indices(len(below))
    c, d = A[below, k], A[k, k]
    L = e.div(c, d) if gain else c
    update = e.mul(L[i], c[j]) if gain else e.div(e.mul(c[i], c[j]), d)
    rows, columns = below[i], below[j]
    return Column(below, rows, columns, e.sub(A[rows, columns], update), L)


def factor(e: Emitter, A: Scalars, gain: bool) -> Scalars:
    """L D L^T of the lower triangle: d on the diagonal, below it L by ``gain``, else L d."""
    A = np.tril(A)
    for k in range(len(A) - 1):
        done = column(e, A, k, gain)
        A[done.rows, done.columns], A[done.below, k] = done.new, done.L
    return A


def forward(e: Emitter, F: Scalars, C: Scalars, gain: bool) -> Scalars:
    """L^-1 C; without gain L = c/d, and its steps are y_i - c_ij (y_j / d_j)."""
    C = C.copy()
    for j in range(len(F) - 1):
        rows = j + 1 + np.flatnonzero(F[j + 1 :, j])
        if rows.size:
            scaled = C[j] if gain else e.div(C[j], F[j, j])
            C[rows] = e.sub(C[rows], e.mul(F[rows, j, None], scaled[None, :]))
    return C


def solve(e: Emitter, F: Scalars, C: Scalars, gain: bool) -> Scalars:
    """A^-1 C; without gain x_j = (y_j - sum_i c_ij x_i) / d_j."""
    X = forward(e, F, C, gain)
    for j in range(len(F) - 1, -1, -1):
        if gain:
            X[j] = e.div(X[j], F[j, j])
        for i in j + 1 + np.flatnonzero(F[j + 1 :, j]):
            X[j] = e.sub(X[j], e.mul(F[i, j], X[i]))
        if not gain:
            X[j] = e.div(X[j], F[j, j])
    return X


def inner(e: Emitter, F: Scalars, Y1: Scalars, Y2: Scalars) -> Scalars:
    """Y1^T D^-1 Y2, one rank-1 term (y1 y2^T)/d after another."""
    total = np.zeros((Y1.shape[1], Y2.shape[1]), dtype=np.int64)
    for k in range(len(F)):
        total = e.add(total, e.div(e.mul(Y1[k][:, None], Y2[k][None, :]), F[k, k]))
    return total


def inner_symmetric(e: Emitter, F: Scalars, Y1: Scalars, Y2: Scalars) -> Scalars:
    i, j = np.triu_indices(Y1.shape[1])
    total = np.zeros(len(i), dtype=np.int64)
    for k in range(len(F)):
        total = e.add(total, e.div(e.mul(Y1[k, i], Y2[k, j]), F[k, k]))
    out = np.zeros((Y1.shape[1], Y1.shape[1]), dtype=np.int64)
    out[i, j] = total
    return mirrored(out)


def _gauss(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    """A^-1 B for a small square A whose rows are in an order that needs no pivoting."""
    A, B = A.copy(), B.copy()
    n = len(A)
    for j in range(n):
        for i in range(j + 1, n):
            if A[i, j]:
                ratio = e.div(A[i, j : j + 1], A[j, j : j + 1])
                A[i, j + 1 :] = e.sub(A[i, j + 1 :], e.mul(ratio, A[j, j + 1 :]))
                B[i] = e.sub(B[i], e.mul(ratio, B[j]))
    for j in range(n - 1, -1, -1):
        for i in range(j + 1, n):
            B[j] = e.sub(B[j], e.mul(A[j, i], B[i]))
        B[j] = e.div(B[j], A[j, j])
    return B


def along(e: Emitter, H: Scalars, rows: tuple[int, ...]) -> Scalars:
    """B (6, N) with H B = 1, zero outside ``rows``: the joint's own forces."""
    out = np.zeros((6, len(H)), dtype=np.int64)
    out[list(rows)] = _gauss(e, H[:, list(rows)], np.eye(len(H), dtype=np.int64))
    return out


def across(e: Emitter, H: Scalars, rows: tuple[int, ...]) -> Scalars:
    """C (6, 6 - N) with H C = 0, the identity outside ``rows``: constraint forces."""
    other = [i for i in range(6) if i not in rows]
    out = np.zeros((6, len(other)), dtype=np.int64)
    out[other] = np.eye(len(other), dtype=np.int64)
    out[list(rows)] = -_gauss(e, H[:, list(rows)], H[:, other])
    return out


Operation = Callable[..., Scalars]
OPERATIONS: dict[tuple[str, bool], Operation] = {
    ("mul", False): mul,
    ("mul", True): mul_symmetric,
    ("add", False): add,
    ("add", True): add_symmetric,
    ("inner", False): inner,
    ("inner", True): inner_symmetric,
}
FACTORS: dict[str, Operation] = {"factor": factor, "forward": forward, "solve": solve}
