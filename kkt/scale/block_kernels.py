"""Block operations on numbers, row after row, in the order of sums of :mod:`kkt.tape.emit`.

An operation is a row of integers: its code, the place of its result in the room (a working array),
the result's rows and columns, and up to three operands.  An operand is three integers: twice its
place, plus 1 if its sign is negative, and the steps to its next row and to its next column.  A tape
omits structural zeros; here they are multiplied and added, or skipped by value (updates,
substitution), which changes no finite number but the sign of zero.  Products and sums are rounded
separately.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import leaf, njit

WIDTH = 14
(
    ADD,
    MUL,
    MUL_SYMMETRIC,
    INNER,
    INNER_SYMMETRIC,
    FACTOR,
    FACTOR_GAIN,
    FORWARD,
    SOLVE,
    MIRROR,
    DIVIDE,
    ROWS,
    ZERO,
    PUT,
    EYE,
    ALONG,
    ACROSS,
    FOUND,
    ENTRY,
) = range(19)
ENTRY_A = ENTRY + 6
OF = {  # of instructions of a block program
    "add": ADD,
    "mul": MUL,
    "inner": INNER,
    "factor": FACTOR,
    "forward": FORWARD,
    "solve": SOLVE,
    "mirror": MIRROR,
    "divide": DIVIDE,
    "rows": ROWS,
    "eye": EYE,
    "along": ALONG,
    "across": ACROSS,
}


class Stored(NamedTuple):
    """The entries of (4), each letter's as one flat array, body after body, and the unknowns."""

    M: NDArray[Any]
    Phi: NDArray[Any]
    S: NDArray[Any]
    a: NDArray[Any]
    b: NDArray[Any]
    tau: NDArray[Any]
    A: NDArray[Any]  # (N,) diagonal of the joints' own blocks, or (0,)
    offset: NDArray[Any]  # (n + 1,)
    turned: NDArray[Any]  # (n,) rows of S that a split of forces solves for, each + 1, in 3 bits a row
    x: NDArray[Any]  # (12 n + N,) pdd, qdd, f


@njit(cache=True, nogil=True, error_model="numpy")
def run(code, numbers, v):  # pragma: no cover
    """Play the rows; v is the room.

    Returns the factor whose pivot is zero or not a number, the first of all, and its row; or -1, 0.
    """
    failed, place = -1, 0
    for at in range(len(code)):
        row = code[at]
        op, out, m, n = row[0], row[1], row[2], row[3]
        if op == ADD:
            a, b = row[4] >> 1, row[7] >> 1
            s, t = 1.0 - 2.0 * (row[4] & 1), 1.0 - 2.0 * (row[7] & 1)
            for i in range(m):
                for j in range(n):
                    x = s * v[a + i * row[5] + j * row[6]]
                    v[out + i * n + j] = x + t * v[b + i * row[8] + j * row[9]]
        elif op in (MUL, MUL_SYMMETRIC):
            product(v, row)
        elif op in (INNER, INNER_SYMMETRIC):
            inner(v, row)
        elif op in (FACTOR, FACTOR_GAIN):
            copy(v, out, m, n, row)
            wrong = factor(v[out : out + m * n], m, op == FACTOR_GAIN)
            if wrong >= 0 and failed < 0:
                failed, place = row[7], wrong
        elif op in (FORWARD, SOLVE):
            copy_of(v, out, m, n, row[7], row[8], row[9])
            F = row[4] >> 1
            forward(v, F, out, m, n, row[10])
            if op == SOLVE:
                backward(v, F, out, m, n, row[10])
        elif op == MIRROR:
            a = row[4] >> 1
            s = 1.0 - 2.0 * (row[4] & 1)
            for i in range(m):
                for j in range(i, n):
                    x = s * v[a + i * row[5] + j * row[6]]
                    v[out + i * n + j] = v[out + j * n + i] = x
        elif op == DIVIDE:
            copy(v, out, m, n, row)
            for i in range(m * n):
                v[out + i] /= row[7]
        elif op in (ALONG, ACROSS):
            split(v, v, out, row[4] >> 1, m, n, numbers.turned[row[7]], op == ALONG)
        elif op in (ZERO, EYE):
            for i in range(m * n):
                v[out + i] = 0.0
            if op == EYE:
                for i in range(m):
                    v[out + i * n + i] = 1.0
        elif op in (ROWS, PUT):
            step = row[7] if op == PUT else n
            copy_to(v, out, m, n, step, row[4] + (2 * row[7] * row[5] if op == ROWS else 0), row[5], row[6])
        elif op == FOUND:
            a, s = row[4] >> 1, 1.0 - 2.0 * (row[4] & 1)
            for i in range(m):
                numbers.x[out + i] = s * v[a + i * row[5]]
        else:
            entry(v, out, m, n, op, row[4], numbers)
    return failed, place


@leaf()
def entry(v, out, m, n, op, k, numbers):  # pragma: no cover
    """A block of (4), of body k."""
    if op == ENTRY:
        for i in range(6):
            for j in range(i, 6):
                x = numbers.M[36 * k + 6 * i + j]
                v[out + 6 * i + j] = v[out + 6 * j + i] = x
    elif op == ENTRY_A:
        for i in range(m):
            for j in range(n):
                v[out + i * n + j] = numbers.A[numbers.offset[k] + i] if i == j else 0.0
    else:
        source, first = numbers.tau, numbers.offset[k]
        if op == ENTRY + 1:
            source, first = numbers.Phi, 36 * k
        elif op == ENTRY + 2:
            source, first = numbers.S, 6 * numbers.offset[k]
        elif op == ENTRY + 3:
            source, first = numbers.a, 6 * k
        elif op == ENTRY + 4:
            source, first = numbers.b, 6 * k
        for i in range(m * n):
            v[out + i] = source[first + i]


@leaf()
def copy_to(v, out, m, n, step, a, down, right):  # pragma: no cover
    """Rows of the result are ``step`` apart."""
    s, a = 1.0 - 2.0 * (a & 1), a >> 1
    for i in range(m):
        for j in range(n):
            v[out + i * step + j] = s * v[a + i * down + j * right]


@leaf()
def copy_of(v, out, m, n, a, down, right):  # pragma: no cover
    copy_to(v, out, m, n, n, a, down, right)


@leaf()
def copy(v, out, m, n, row):  # pragma: no cover
    copy_of(v, out, m, n, row[4], row[5], row[6])


@leaf()
def product(v, row):  # pragma: no cover
    """A B; where the product is symmetric, its upper triangle is computed and mirrored."""
    symmetric = row[0] == MUL_SYMMETRIC
    out, m, n, inner = row[1], row[2], row[3], row[10]
    a, down, right = row[4] >> 1, row[5], row[6]
    b, low, side = row[7] >> 1, row[8], row[9]
    s = 1.0 - 2.0 * ((row[4] ^ row[7]) & 1)
    if n == 1:
        for i in range(m):
            x = (s * v[a + i * down]) * v[b]
            for k in range(1, inner):
                x += (s * v[a + i * down + k * right]) * v[b + k * low]
            v[out + i] = x
        return
    for i in range(m):
        c, here = i * symmetric, out + i * n
        x = s * v[a + i * down]
        if side == 1:
            for j in range(c, n):
                v[here + j] = x * v[b + j]
            for k in range(1, inner):
                x, base = s * v[a + i * down + k * right], b + k * low
                if x != 0.0:
                    for j in range(c, n):
                        v[here + j] += x * v[base + j]
        else:
            for j in range(c, n):
                v[here + j] = x * v[b + j * side]
            for k in range(1, inner):
                x, base = s * v[a + i * down + k * right], b + k * low
                if x != 0.0:
                    for j in range(c, n):
                        v[here + j] += x * v[base + j * side]
    if symmetric:
        for i in range(m):
            for j in range(i):
                v[out + i * n + j] = v[out + j * n + i]


@leaf(error_model="numpy")
def inner(v, row):  # pragma: no cover
    """Y1^T D^-1 Y2, one term (y1 y2^T)/d after another."""
    out, m, n, size = row[1], row[2], row[3], row[13]
    F, a, b = row[4] >> 1, row[7] >> 1, row[10] >> 1
    symmetric = row[0] == INNER_SYMMETRIC
    s = 1.0 - 2.0 * ((row[7] ^ row[10]) & 1)
    for k in range(size):
        d = v[F + k * size + k]
        for i in range(m):
            x, here = s * v[a + k * row[8] + i * row[9]], out + i * n
            if k == 0:
                for j in range(i if symmetric else 0, n):
                    v[here + j] = (x * v[b + j * row[12]]) / d
            elif x != 0.0:
                for j in range(i if symmetric else 0, n):
                    v[here + j] += (x * v[b + k * row[11] + j * row[12]]) / d
    if symmetric:
        for i in range(m):
            for j in range(i):
                v[out + i * n + j] = v[out + j * n + i]


@leaf(error_model="numpy")
def factor(F, n, gain):  # pragma: no cover
    """L D L^T in place: d on the diagonal, below it c or, with ``gain``, c/d.

    Returns the first row whose d is zero or not finite, or -1.
    """
    wrong, column, scaled = -1, np.empty(n), np.empty(n)
    for k in range(n):
        d = F[k * n + k]
        if wrong < 0 and (d == 0.0 or not np.isfinite(d)):
            wrong = k
        for i in range(k + 1, n):
            column[i] = scaled[i] = F[i * n + k]
            if gain:
                scaled[i] = F[i * n + k] = column[i] / d
        for i in range(k + 1, n):
            x = scaled[i]
            if x != 0.0 and gain:
                for j in range(k + 1, i + 1):
                    F[i * n + j] -= x * column[j]
            elif x != 0.0:
                for j in range(k + 1, i + 1):
                    F[i * n + j] -= (x * column[j]) / d
    return wrong


@leaf(error_model="numpy")
def forward(v, F, out, m, n, gain):  # pragma: no cover
    """L^-1 C in place."""
    x = np.empty(n)
    for k in range(m - 1):
        d = 1.0 if gain else v[F + k * m + k]
        for c in range(n):
            x[c] = v[out + k * n + c] / d
        for i in range(k + 1, m):
            ratio, here = v[F + i * m + k], out + i * n
            if ratio != 0.0:
                for c in range(n):
                    v[here + c] -= ratio * x[c]


@leaf(error_model="numpy")
def backward(v, F, out, m, n, gain):  # pragma: no cover
    """The second half of A^-1 C after :func:`forward`: D^-1 and L^-T, in place."""
    for k in range(m - 1, -1, -1):
        d = v[F + k * m + k]
        for c in range(n):
            x = v[out + k * n + c]
            if gain:
                x /= d
            for i in range(k + 1, m):
                x -= v[F + i * m + k] * v[out + i * n + c]
            v[out + k * n + c] = x if gain else x / d


@leaf(error_model="numpy")
def split(v, S, out, H, m, n, word, along):  # pragma: no cover
    """Write B (6, n) with H B = 1 if ``along``, else C (6, n) with H C = 0.

    H is at index H of S, row by row; ``word`` holds the rows of S that the split solves for.
    """
    dof = n if along else 6 - n
    A, right, other = np.empty((6, 6)), np.zeros((6, 6)), np.empty(6, dtype=np.int64)
    taken = 0
    for j in range(dof):
        taken |= 1 << ((word >> 3 * j & 7) - 1)
    count = 0
    for i in range(6):
        if not taken >> i & 1:
            other[count] = i
            count += 1
    for i in range(dof):
        for j in range(dof):
            A[i, j] = S[H + 6 * i + (word >> 3 * j & 7) - 1]
        for j in range(n):
            right[i, j] = (1.0 if i == j else 0.0) if along else S[H + 6 * i + other[j]]
    for j in range(dof):
        for i in range(j + 1, dof):
            ratio = A[i, j] / A[j, j]
            for k in range(j + 1, dof):
                A[i, k] -= ratio * A[j, k]
            for k in range(n):
                right[i, k] -= ratio * right[j, k]
    for j in range(dof - 1, -1, -1):
        for k in range(n):
            for i in range(j + 1, dof):
                right[j, k] -= A[j, i] * right[i, k]
            right[j, k] /= A[j, j]
    v[out : out + m * n] = 0.0
    for i in range(dof):
        here = out + n * ((word >> 3 * i & 7) - 1)
        for k in range(n):
            v[here + k] = right[i, k] if along else -right[i, k]
    if not along:
        for j in range(n):
            v[out + n * other[j] + j] = 1.0
