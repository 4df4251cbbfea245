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

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import ADD, DIV, MUL, SUB
from ..base.compiled import leaf, njit

Scalars = NDArray[np.int64]
Folded = tuple[Any, Any, Any, Any, Any]
Operation = Callable[..., Scalars]
_ADD, _SUB, _MUL, _DIV = map(np.int64, (ADD, SUB, MUL, DIV))  # one type, so that ``put`` compiles once


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


_added, _multiplied, _divided = map(leaf(), (added, multiplied, divided))


@leaf()
def folded(op, a, b):  # pragma: no cover
    """What the rule of ``op`` gives for two scalars, and the result where it is known."""
    if op == MUL:
        return _multiplied(a, b), a * b
    if op == DIV:
        return _divided(a, b), a * b
    b = b if op == ADD else -b
    return _added(a, b), a + b


@leaf()
def put(op, a, b, written, count, first):  # pragma: no cover
    """``op`` on two scalars: the result, and how many operations are ``written`` then.

    A quotient by zero is set to zero, since the tape is refused for such a pivot.
    """
    (known, o, x, y, sign), result = folded(op, a, b)
    if known:
        return result, count
    written[0][count], written[1][count], written[2][count] = o, x, y
    return sign * (y != 0) * (first + count), count + 1


@njit(cache=True)
def fold(op, a, b, out, written, count, first):  # pragma: no cover
    """``op`` on all entries of two blocks, (n,) or (1,), into ``out`` (n,)."""
    for i in range(out.size):
        out[i], count = put(op, a[min(i, a.size - 1)], b[min(i, b.size - 1)], written, count, first)
    return count


@njit(cache=True)
def products(A, B, d, i, j, out, terms, written, count, first):  # pragma: no cover
    """Entries ``i``, ``j`` of A D^-1 B into ``out``, term by term; D is 1 where ``d`` is empty."""
    for n in range(out.size):
        out[n] = 0
    for k in range(A.shape[1]):
        for n in range(out.size):
            terms[n], count = put(_MUL, A[i[n], k], B[k, j[n]], written, count, first)
        for n in range(out.size if d.size else 0):
            terms[n], count = put(_DIV, terms[n], d[k], written, count, first)
        for n in range(out.size):
            out[n], count = put(_ADD, out[n], terms[n], written, count, first)
    return count


@njit(cache=True)
def substitute(F, C, terms, gain, whole, written, count, first):  # pragma: no cover
    """C becomes L^-1 C for a factor, and A^-1 C where the ``whole`` is asked for."""
    n, m = C.shape
    for j in range(n - 1):
        used = False
        for i in range(j + 1, n):  # a slice takes seconds to compile
            used = used or F[i, j] != 0
        for c in range(m):
            terms[j, c] = C[j, c]
            if used and not gain:
                terms[j, c], count = put(_DIV, C[j, c], F[j, j], written, count, first)
        for i in range(j + 1, n):
            for c in range(m if F[i, j] else 0):
                terms[i, c], count = put(_MUL, F[i, j], terms[j, c], written, count, first)
        for i in range(j + 1, n):
            for c in range(m if F[i, j] else 0):
                C[i, c], count = put(_SUB, C[i, c], terms[i, c], written, count, first)
    for j in range(n - 1 if whole else -1, -1, -1):
        for c in range(m if gain else 0):
            C[j, c], count = put(_DIV, C[j, c], F[j, j], written, count, first)
        for i in range(j + 1, n):
            for c in range(m if F[i, j] else 0):
                terms[j, c], count = put(_MUL, F[i, j], C[i, c], written, count, first)
            for c in range(m if F[i, j] else 0):
                C[j, c], count = put(_SUB, C[j, c], terms[j, c], written, count, first)
        for c in range(0 if gain else m):
            C[j, c], count = put(_DIV, C[j, c], F[j, j], written, count, first)
    return count


class Emitter:
    """Appends scalar operations; every result is a new slot."""

    def __init__(self, first: int) -> None:
        self.first = first  # slot of the first result
        self.count: int = 0
        self._written = _room(64)

    def written(self) -> tuple[NDArray[np.int8], Scalars, Scalars]:
        """Operations, and their operands."""
        op, a, b = self._written
        return op[: self.count].copy(), a[: self.count].copy(), b[: self.count].copy()

    def run(self, kernel: Callable[..., int], most: int, *blocks: Any) -> None:
        """Let a kernel append operations, at ``most`` so many."""
        if self.count + most > len(self._written[0]):
            (op, a, b), more = self._written, _room(2 * (self.count + most))
            more[0][: len(op)], more[1][: len(a)], more[2][: len(b)] = op, a, b
            self._written = more
        self.count = kernel(*blocks, self._written, self.count, self.first)

    def copy(self, a: Scalars) -> Scalars:
        """The slots of a in slots of their own: |a| + 0, which rounds nothing."""
        start = self.first + self.count
        self.run(_copies, len(a), np.abs(a))
        return np.arange(start, start + len(a), dtype=np.int64)

    def mul(self, a: Scalars, b: Scalars) -> Scalars:
        return self._folded(MUL, a, b)

    def add(self, a: Scalars, b: Scalars) -> Scalars:
        return self._folded(ADD, a, b)

    def sub(self, a: Scalars, b: Scalars) -> Scalars:
        return self._folded(SUB, a, b)

    def div(self, a: Scalars, b: Scalars) -> Scalars:
        """a / b, zero for a quotient by zero."""
        return self._folded(DIV, a, b)

    def _folded(self, op: int, a: Scalars, b: Scalars) -> Scalars:
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape and a.size != 1 != b.size:
            a, b = np.broadcast_arrays(a, b)
        out = np.empty(np.broadcast(a, b).shape, dtype=np.int64)
        # copies: all may be written to
        self.run(fold, out.size, op, a.flatten(), b.flatten(), out.ravel())
        return out


def _copies(a: Scalars, written: tuple[NDArray[Any], ...], count: int, first: int) -> int:
    for column, value in zip(written, (ADD, a, 0), strict=True):
        column[count : count + len(a)] = value
    return count + len(a)


def _room(size: int) -> tuple[NDArray[np.int8], Scalars, Scalars]:
    return np.empty(size, np.int8), np.empty(size, np.int64), np.empty(size, np.int64)


def mirrored(upper: Scalars) -> Scalars:
    return np.triu(upper) + np.triu(upper, 1).T


_NONE = np.zeros(0, dtype=np.int64)


def mul(e: Emitter, A: Scalars, B: Scalars, d: Scalars = _NONE) -> Scalars:
    """A B, or A D^-1 B: t = fl(a b), s = fl(s + t), ascending.

    Zeros where A has no columns: a body without mass has no rows.
    """
    return _entries(e, A, B, d, *_every(len(A), B.shape[1])).reshape(len(A), B.shape[1])


def mul_symmetric(e: Emitter, A: Scalars, B: Scalars, d: Scalars = _NONE) -> Scalars:
    """The same, known to be symmetric: the upper triangle, mirrored."""
    i, j = _upper(len(A))
    out = np.zeros((len(A), len(A)), dtype=np.int64)
    out[i, j] = out[j, i] = _entries(e, A, B, d, i, j)
    return out


@lru_cache(maxsize=64)
def _every(rows: int, columns: int) -> NDArray[np.int64]:
    """(2, rows * columns) the places of all entries, row by row."""
    return np.indices((rows, columns)).reshape(2, -1)


@lru_cache(maxsize=64)
def _upper(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of the upper triangle."""
    return np.triu_indices(size)


def _entries(e: Emitter, A: Scalars, B: Scalars, d: Scalars, i: Scalars, j: Scalars) -> Scalars:
    out = np.empty(len(i), dtype=np.int64)
    e.run(products, 3 * out.size * A.shape[1], A.copy(), B.copy(), d.copy(), i, j, out, np.empty_like(out))
    return out


def add_symmetric(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    i, j = _upper(len(A))
    out = np.zeros_like(A)
    out[i, j] = out[j, i] = e.add(A[i, j], B[i, j])
    return out


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
    i = np.repeat(np.arange(len(below)), np.arange(1, len(below) + 1))
    j = np.arange(len(i)) - i * (i + 1) // 2
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


def large_factor(
    A: Scalars, place: Scalars, columns: Scalars, scratch: int, gain: bool
) -> Iterator[tuple[int, NDArray[Any], Scalars, Scalars, Scalars]]:
    """L D L^T of A (n, n) in place, column by column: n^2 slots for n^3/3 operations.

    Entry (i, j) is kept in slot ``place[i, j]``, and of L in ``columns[i, j]``, since the column c
    is still read while L is written.  Results are first numbered from ``scratch`` on.  Yields for
    each column its number and its operations; A holds the factor at the end.
    """
    for k in range(len(A) - 1):
        emitter = Emitter(scratch)
        below, r, s, new, L = column(emitter, A, k, gain)
        if not below.size:
            continue
        target, A[below, k] = place[r, s], L
        new = _unshared(emitter, new, L)
        op, a, b = emitter.written()
        # results move from scratch to their own place: last operation that wrote each
        home = np.arange(scratch, scratch + emitter.count)
        moved = np.abs(new) >= scratch
        moved &= np.abs(new) < scratch + emitter.count
        home[np.abs(new[moved]) - scratch] = target[moved]
        A[r, s] = np.where(moved, np.sign(new) * target, new)
        if gain:
            inside = np.abs(L) >= scratch
            renamed = columns[below[inside], k]
            home[np.abs(L[inside]) - scratch] = renamed
            A[below[inside], k] = np.sign(L[inside]) * renamed
        yield k, op, home, _renumbered(a, home, scratch), _renumbered(b, home, scratch)


def _unshared(emitter: Emitter, new: Scalars, column: Scalars) -> Scalars:
    """Copy (x + 0) results that stand for two entries, or also for one of L's column.

    A factor c/d times an entry 1 is such a result; but each entry needs a slot of its own.
    """
    result, of_column = np.abs(new) - emitter.first, np.abs(column) - emitter.first
    inside = np.flatnonzero((result >= 0) & (result < emitter.count))
    owner = np.full(emitter.count, -1)  # the first entry that each result stands for
    owner[result[inside[::-1]]] = inside[::-1]
    owner[of_column[(of_column >= 0) & (of_column < emitter.count)]] = -1
    shared = inside[owner[result[inside]] != inside]
    if shared.size:
        new = new.copy()
        new[shared] = np.sign(new[shared]) * emitter.copy(new[shared])
    return new


def _renumbered(x: NDArray[Any], home: Scalars, scratch: int) -> Scalars:
    inside = (x >= scratch) & (x < scratch + len(home))
    return np.where(inside, home.take(x - scratch, mode="clip"), x)


def _substituted(e: Emitter, F: Scalars, C: Scalars, gain: bool, whole: bool) -> Scalars:
    """L^-1 C, or A^-1 C where the ``whole`` is asked for.

    Without gain L = c/d: the steps are y_i - c_ij (y_j / d_j), then x_j = (y_j - sum_i c_ij x_i) / d_j.
    """
    C = C.copy()
    e.run(substitute, 2 * C.size * (len(F) + 1), F.copy(), C, np.empty_like(C), gain, whole)
    return C


def inner(e: Emitter, F: Scalars, Y1: Scalars, Y2: Scalars, product: Operation = mul) -> Scalars:
    """Y1^T D^-1 Y2, one rank-1 term (y1 y2^T)/d after another."""
    return product(e, Y1.T, Y2, F.diagonal())


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


OPERATIONS: dict[tuple[str, bool], Operation] = {
    ("mul", False): mul,
    ("mul", True): mul_symmetric,
    ("add", False): Emitter.add,
    ("add", True): add_symmetric,
    ("divide", False): Emitter.div,
    ("divide", True): lambda e, A, whole: mirrored(e.div(A, whole)),
    ("inner", False): inner,
    ("inner", True): partial(inner, product=mul_symmetric),
}
SPLITS: dict[str, Operation] = {"along": along, "across": across}
FACTORS: dict[str, Operation] = {
    "factor": factor,
    "forward": partial(_substituted, whole=False),
    "solve": partial(_substituted, whole=True),
}
