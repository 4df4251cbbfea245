"""M(q) qdd = tau - c, equation (3) of Ascher, Pai & Cloutier 1996, solved by a dense method.

The joint-space inertia M is formed by an order such as crbm; tau - c are the efforts less those of
inverse dynamics at qdd = 0 (Walker & Orin 1982).  The methods do not pivot: M is positive definite,
and a straight-line program has no branches.  Arrays hold traced numbers, so that a method is
recorded by running it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.errors import Undefined
from ..model.spatial import Array


def cholesky(A: Array, b: Array) -> Array:
    """x with A x = b, by A = L L^T; A (N, N) symmetric, b (N,)."""
    N = len(b)
    L = np.zeros((N, N), dtype=object)
    for j in range(N):
        L[j, j] = _root(_less(A[j, j], L[j, :j], L[j, :j]))
        for i in range(j + 1, N):
            L[i, j] = _less(A[i, j], L[i, :j], L[j, :j]) / L[j, j]
    y = np.zeros(N, dtype=object)
    for i in range(N):
        y[i] = _less(b[i], L[i, :i], y[:i]) / L[i, i]
    return _backward(L.T, y)


def lu(A: Array, b: Array) -> Array:
    """x with A x = b, by A = L U without pivoting."""
    U, y = A.copy(), b.copy()
    N = len(b)
    for k in range(N):
        for i in range(k + 1, N):
            factor = U[i, k] / U[k, k]
            for j in range(k + 1, N):
                U[i, j] = U[i, j] - factor * U[k, j]
            y[i] = y[i] - factor * y[k]
    return _backward(U, y)


def gauss_jordan(A: Array, b: Array) -> Array:
    """x with A x = b, by elimination above and below the diagonal, without pivoting."""
    W, y = A.copy(), b.copy()
    N = len(b)
    for k in range(N):
        pivot = W[k, k]
        for j in range(k + 1, N):
            W[k, j] = W[k, j] / pivot
        y[k] = y[k] / pivot
        for i in range(N):
            if i != k:
                factor = W[i, k]
                for j in range(k + 1, N):
                    W[i, j] = W[i, j] - factor * W[k, j]
                y[i] = y[i] - factor * y[k]
    return y


SOLVERS: dict[str, Callable[[Array, Array], Array]] = {
    "cholesky": cholesky,
    "lu": lu,
    "gauss_jordan": gauss_jordan,
}


def _root(x: Any) -> Any:
    """The square root of a traced number or of a float."""
    if isinstance(x, float) and x < 0.0:
        raise Undefined(f"the root of {x:.3g} is taken")
    return math.sqrt(x) if isinstance(x, float) else x.sqrt()


def _less(x: Any, u: Array, v: Array) -> Any:
    """x - u_0 v_0 - u_1 v_1 - ..., in this order."""
    for a, b in zip(u, v, strict=True):
        x = x - a * b
    return x


def _backward(U: Array, y: Array) -> Array:
    """x with U x = y, U upper triangular."""
    N = len(y)
    x = np.zeros(N, dtype=object)
    for i in reversed(range(N)):
        x[i] = _less(y[i], U[i, i + 1 :], x[i + 1 :]) / U[i, i]
    return x
