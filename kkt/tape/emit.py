"""Block operations as scalar operations: zeros and ones folded, sums in ascending index.

A scalar is a signed number: 0 is zero, 1 is one, +-i is plus or minus slot i.  A block is an array
of them.  Signs cost nothing, and a product with 0 or 1 is no operation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.chunk import ADD, DIV, MUL, SUB

Scalars = NDArray[np.int64]


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
        self.a.append(np.abs(a))
        self.b.append(np.abs(b))
        out = self.first + self.count + np.arange(len(op), dtype=np.int64)
        self.count += len(op)
        return out

    def copy(self, a: Scalars) -> Scalars:
        """The slots of a in slots of their own: |a| + 0, which rounds nothing."""
        return self._new(np.full(len(a), ADD, np.int8), a, np.zeros_like(a))

    def mul(self, a: Scalars, b: Scalars) -> Scalars:
        a, b = np.broadcast_arrays(a, b)
        out = np.where(np.abs(a) <= 1, a * b, np.where(np.abs(b) <= 1, b * a, 0))
        todo = (np.abs(a) > 1) & (np.abs(b) > 1)
        if todo.any():
            x, y = a[todo], b[todo]
            new = self._new(np.full(len(x), MUL, np.int8), x, y)
            out[todo] = np.sign(x) * np.sign(y) * new
        return out

    def add(self, a: Scalars, b: Scalars) -> Scalars:
        a, b = np.broadcast_arrays(a, b)
        out = np.where(a == 0, b, a)
        out[a == -b] = 0
        todo = (a != 0) & (b != 0) & (a != -b)
        if todo.any():
            x, y = a[todo], b[todo]
            mixed = (x < 0) != (y < 0)
            swap = mixed & (x < 0)  # -x + y is y - x
            op = np.where(mixed, SUB, ADD).astype(np.int8)
            new = self._new(op, np.where(swap, y, x), np.where(swap, x, y))
            out[todo] = np.where((x < 0) & (y < 0), -new, new)
        return out

    def sub(self, a: Scalars, b: Scalars) -> Scalars:
        return self.add(a, -b)

    def div(self, a: Scalars, b: Scalars) -> Scalars:
        a, b = np.broadcast_arrays(a, b)
        out = np.where(np.abs(b) == 1, a * b, 0)
        todo = (a != 0) & (np.abs(b) != 1)
        if todo.any():
            x, y = a[todo], b[todo]
            new = self._new(np.full(len(x), DIV, np.int8), x, y)
            out[todo] = np.sign(x) * np.sign(y) * new
        return out


def mirrored(upper: Scalars) -> Scalars:
    return np.triu(upper) + np.triu(upper, 1).T


def mul(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    """A B: t = fl(a b), s = fl(s + t), ascending."""
    if A.shape[1] == 0:  # a body without mass has no rows
        return np.zeros((A.shape[0], B.shape[1]), dtype=np.int64)
    total = e.mul(A[:, :1], B[:1, :])
    for k in range(1, A.shape[1]):
        total = e.add(total, e.mul(A[:, k : k + 1], B[k : k + 1, :]))
    return total


def mul_symmetric(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    """A B known to be symmetric: the upper triangle, mirrored."""
    i, j = np.triu_indices(A.shape[0])
    total = e.mul(A[i, 0], B[0, j])
    for k in range(1, A.shape[1]):
        total = e.add(total, e.mul(A[i, k], B[k, j]))
    out = np.zeros((A.shape[0], A.shape[0]), dtype=np.int64)
    out[i, j] = total
    return mirrored(out)


def add(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    return e.add(A, B)


def add_symmetric(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    i, j = np.triu_indices(A.shape[0])
    out = np.zeros_like(A)
    out[i, j] = e.add(A[i, j], B[i, j])
    return mirrored(out)


def factor_outer(e: Emitter, A: Scalars) -> Scalars:
    """L D L^T of the lower triangle, updates (c c^T)/d.

    The result holds d on the diagonal and the unscaled columns c = L d below it.
    """
    A = np.tril(A)
    for k in range(len(A) - 1):
        below = k + 1 + np.flatnonzero(A[k + 1 :, k])
        i, j = np.tril_indices(len(below))
        c = A[below, k]
        update = e.div(e.mul(c[i], c[j]), A[k, k])
        A[below[i], below[j]] = e.sub(A[below[i], below[j]], update)
    return A


def factor_gain(e: Emitter, A: Scalars) -> Scalars:
    """L D L^T of the lower triangle, updates (c/d) c^T; d on the diagonal, L below it."""
    A = np.tril(A)
    for k in range(len(A) - 1):
        below = k + 1 + np.flatnonzero(A[k + 1 :, k])
        i, j = np.tril_indices(len(below))
        c = A[below, k]
        gain = e.div(c, A[k, k])
        A[below[i], below[j]] = e.sub(A[below[i], below[j]], e.mul(gain[i], c[j]))
        A[below, k] = gain
    return A


def forward_outer(e: Emitter, F: Scalars, C: Scalars) -> Scalars:
    """L^-1 C with L = c/d: y_i - c_ij (y_j / d_j)."""
    C = C.copy()
    for j in range(len(F) - 1):
        rows = j + 1 + np.flatnonzero(F[j + 1 :, j])
        if rows.size:
            scaled = e.div(C[j], F[j, j])
            C[rows] = e.sub(C[rows], e.mul(F[rows, j, None], scaled[None, :]))
    return C


def forward_gain(e: Emitter, F: Scalars, C: Scalars) -> Scalars:
    C = C.copy()
    for j in range(len(F) - 1):
        rows = j + 1 + np.flatnonzero(F[j + 1 :, j])
        C[rows] = e.sub(C[rows], e.mul(F[rows, j, None], C[j][None, :]))
    return C


def solve_outer(e: Emitter, F: Scalars, C: Scalars) -> Scalars:
    """A^-1 C from unscaled columns: x_j = (y_j - sum_i c_ij x_i) / d_j."""
    X = forward_outer(e, F, C)
    for j in range(len(F) - 1, -1, -1):
        for i in j + 1 + np.flatnonzero(F[j + 1 :, j]):
            X[j] = e.sub(X[j], e.mul(F[i, j], X[i]))
        X[j] = e.div(X[j], F[j, j])
    return X


def solve_gain(e: Emitter, F: Scalars, C: Scalars) -> Scalars:
    X = forward_gain(e, F, C)
    for j in range(len(F) - 1, -1, -1):
        X[j] = e.div(X[j], F[j, j])
        for i in j + 1 + np.flatnonzero(F[j + 1 :, j]):
            X[j] = e.sub(X[j], e.mul(F[i, j], X[i]))
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
OUTER: dict[str, Operation] = {
    "factor": factor_outer,
    "forward": forward_outer,
    "solve": solve_outer,
}
GAIN: dict[str, Operation] = {"factor": factor_gain, "forward": forward_gain, "solve": solve_gain}
