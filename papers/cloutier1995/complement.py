"""Section 3.1.2: Angeles & Ma's two methods by the natural orthogonal complement.

T (6 n, N) holds the twists that unit joint rates give all links, so that the joints' constraint
forces do no work in it: with alpha = T qdd + alpha_0 the accelerations,

    T* M T qdd = tau - T* (b + M alpha_0).

T is -Phi^-* H* of equation (4) after its pivots (pdd f): the order ``crbm_block_row``.  With
M_k = R_k* R_k of every link, P = R T, and H = P* P.  The first method forms H and its Cholesky
factor; the second factors P = Q U by reflections and solves (3.3), P* y = tau - b, of least norm,
then (3.4), P qdd = y, by least squares.  U* U are ABM's pivots where columns stand tip to base.

Numbers are numpy's in one type, or objects; each operation rounds by itself (no BLAS).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kkt import System


def product(A: NDArray, B: NDArray) -> NDArray:
    """A B, sums in ascending order."""
    terms = A[:, :, None] * B[None, :, :]
    return np.asarray(np.add.accumulate(terms, axis=1)[:, -1])


@dataclass(frozen=True)
class Complement:
    """P (6 n, N), columns tip to base, and the efforts tau - b (N,) that are left."""

    P: NDArray
    efforts: NDArray
    backward: NDArray[np.int64]  # (N,) columns of P in the tree's order

    @staticmethod
    def of(system: System, cast: Any = np.float64) -> Complement:
        """``cast`` turns the blocks of (4) into the number type; one freedom a joint."""
        entries, tree = system.entries, system.tree
        M, Phi, S, a, b, tau = (
            cast(getattr(entries, name)) for name in ("M", "Phi", "S", "a", "b", "tau")
        )
        n = tree.n
        T = [M[0] * 0] * n
        alpha = [a[0]] * n
        for k in system.structure.order[::-1]:
            up = int(tree.parent[k])
            own = M[k][:, :1] * np.zeros(n, dtype=M.dtype)
            own[:, k] = S[k]
            T[k], alpha[k] = own, a[k]
            if up >= 0:
                T[k] = own + product(Phi[k].T, T[up])
                alpha[k] = a[k] + product(Phi[k].T, alpha[up][:, None])[:, 0]
        left = tau
        for k in range(n):
            wrench = b[k] + product(M[k], alpha[k][:, None])[:, 0]
            left = left - product(T[k].T, wrench[:, None])[:, 0]
        order = np.array(system.structure.order)
        P = np.concatenate([product(root(M[k]).T, T[k]) for k in range(n)])
        return Complement(P[:, order], left[order], np.argsort(order))

    def first(self) -> NDArray:
        """(N,) qdd from H = P* P and Cholesky's factor; nan where it breaks down."""
        with np.errstate(all="ignore"):
            L = root(product(self.P.T, self.P))
            z = forward(L, self.efforts)
            return np.asarray(backward(L.T, z)[self.backward])

    def second(self) -> NDArray:
        """(N,) qdd from P = Q U: least norm, then least squares."""
        U, reflections = reflected(self.P)
        N = len(U)
        y = self.P[:, 0] * 0
        y[:N] = forward(U.T, self.efforts)
        for j in range(N - 1, -1, -1):
            y[j:] = _reflect(reflections[j], y[j:, None])[:, 0]
        for j in range(N):
            y[j:] = _reflect(reflections[j], y[j:, None])[:, 0]
        return np.asarray(backward(U, y[:N])[self.backward])

    def pivots(self) -> NDArray:
        """(N,) squares of U's diagonal, in the tree's order: ABM's D_k."""
        U, _ = reflected(self.P)
        return np.asarray((np.diagonal(U) ** 2)[self.backward])


def root(A: NDArray) -> NDArray:
    """L, lower triangular, with A = L L*."""
    N = len(A)
    L = A * 0
    for j in range(N):
        d = np.array([_less(A[j, j], L[j, :j], L[j, :j])])
        L[j, j] = np.sqrt(d)[0]
        for i in range(j + 1, N):
            L[i, j] = _less(A[i, j], L[i, :j], L[j, :j]) / L[j, j]
    return L


def reflected(P: NDArray) -> tuple[NDArray, list[tuple[NDArray, Any]]]:
    """U (N, N) of P = Q U, and Householder's vectors with their factors."""
    A, reflections = P.copy(), []
    N = A.shape[1]
    for j in range(N):
        x = A[j:, j].copy()
        norm = np.sqrt(np.add.accumulate(x * x)[-1:])[0]
        x[0] = x[0] + norm if x[0] >= 0 else x[0] - norm
        reflections.append((x, np.add.accumulate(x * x)[-1]))
        A[j:, j:] = _reflect(reflections[-1], A[j:, j:])
        A[j + 1 :, j] = A[j + 1 :, j] * 0
    return A[:N], reflections


def forward(L: NDArray, b: NDArray) -> NDArray:
    """x with L x = b."""
    x = b.copy()
    for i in range(len(b)):
        x[i] = _less(b[i], L[i, :i], x[:i]) / L[i, i]
    return x


def backward(U: NDArray, b: NDArray) -> NDArray:
    """x with U x = b."""
    return forward(U[::-1, ::-1], b[::-1])[::-1]


def _reflect(reflection: tuple[NDArray, Any], A: NDArray) -> NDArray:
    x, square = reflection
    along = product(x[None], A)[0]
    along = (along + along) / square
    return np.asarray(A - x[:, None] * along[None])


def _less(start: Any, x: NDArray, y: NDArray) -> Any:
    for p in x * y:
        start = start - p
    return start
