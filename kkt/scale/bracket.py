"""The bracket (pdd qdd f) of one body in any number type: tip to base, and the way back.

The operations are those of the order's tape: inside the bracket first, the couplings next, the
update formed whole and then added to the parent; every sum in ascending index.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # of objects: floats and numbers that are traced


class Factor(NamedTuple):
    """What the bracket of a body leaves for the way back."""

    Mhat: Array  # (6, 6) articulated inertia
    bhat: Array  # (6,)
    U: Array  # (N, 6) rows of (M^ H*)*
    D: Array  # (N, N) L D L* of H M^ H*: d on the diagonal, columns times d below it
    qdd: Array  # (N,) of a root: solved for already


def symmetric(upper: Array) -> Array:
    """(6, 6) from its diagonal and what is right of it, row by row (21,)."""
    M = np.empty((6, 6), dtype=object)
    rows, columns = np.triu_indices(6)
    M[rows, columns] = M[columns, rows] = upper
    return M


def eliminated(
    Mhat: Array, bhat: Array, Phi: Array, H: Array, a: Array, tau: Array
) -> tuple[Factor, Array, Array]:
    """The factor, and what the parent gets: Phi N Phi* (21,) and Phi z (6,).

    N = M^ - M^ H* D^-1 H M^ and z = b^ + M^ a + M^ H* D^-1 (tau - H (b^ + M^ a)).
    """
    n = len(H)
    z = bhat + _product(Mhat, a)
    U = np.array([_product(Mhat, h) for h in H], dtype=object).reshape(n, 6)
    D = np.zeros((n, n), dtype=object)
    for i in range(n):
        for j in range(i + 1):
            D[i, j] = _dot(H[j], U[i])
    for k in range(n - 1):
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                D[i, j] = D[i, j] - (D[i, k] * D[j, k]) / _pivot(D, k)
    qdd = _solved(D, tau - _product(H, z))
    z = z + _product(U.T, qdd)
    N = Mhat.copy()
    Y = U.copy()
    for j in range(n - 1):
        for r in range(j + 1, n):
            Y[r] = Y[r] - (Y[j] / _pivot(D, j)) * D[r, j]
    for i in range(6):
        for j in range(i, 6):
            terms = [(Y[k, i] * Y[k, j]) / _pivot(D, k) for k in range(n)]
            N[i, j] = N[j, i] = N[i, j] - _sum(terms)
    X = np.array([_product(Phi, N[i]) for i in range(6)], dtype=object)
    update = [_dot(Phi[i], X[:, j]) for i in range(6) for j in range(i, 6)]
    return Factor(Mhat, bhat, U, D, qdd), np.array(update, dtype=object), _product(Phi, z)


def recovered(
    factor: Factor, Phi: Array, H: Array, a: Array, tau: Array, up: Array | None
) -> tuple[Array, Array, Array]:
    """pdd (6,), qdd (N,) and f (6,) of a body from pdd of its parent, None for a root."""
    Mhat, bhat, U, D, qdd = factor
    alpha = -a
    if up is not None:
        alpha = alpha + _product(Phi.T, up)
        qdd = _solved(D, (tau - _product(H, bhat)) + _product(U, alpha))
    f = (bhat - _product(Mhat, alpha)) + _product(U.T, qdd)
    return alpha - _product(H.T, qdd), qdd, f


def _sum(terms: Any) -> Any:
    total: Any = 0.0
    for term in terms:
        total = total + term
    return total


def _dot(x: Array, y: Array) -> Any:
    return _sum(x[k] * y[k] for k in range(len(x)))


def _product(A: Array, x: Array) -> Array:
    """A x."""
    out = np.empty(len(A), dtype=object)
    out[:] = [_dot(row, x) for row in A]
    return out


def _pivot(D: Array, k: int) -> Any:
    """d_k; one that is zero for every body of the kind is refused later, by name."""
    return math.nan if isinstance(D[k, k], float) and D[k, k] == 0.0 else D[k, k]


def _solved(D: Array, right: Array) -> Array:
    """D^-1 times a vector."""
    n, x = len(D), right.copy()
    for j in range(n - 1):
        scaled = x[j] / _pivot(D, j)
        for i in range(j + 1, n):
            x[i] = x[i] - D[i, j] * scaled
    for j in range(n - 1, -1, -1):
        for i in range(j + 1, n):
            x[j] = x[j] - D[i, j] * x[i]
        x[j] = x[j] / _pivot(D, j)
    return x
