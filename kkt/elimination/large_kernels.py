"""Compiled loops of ABM on arrays: the bracket of a body, one step for every body.

Every entry of a product is summed in ascending index, without fused multiply-add, so that the
results are those of the tape.  The lower left of Phi is zero and left out.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def _times_inertia(M, H, U):  # pragma: no cover
    """U = M H*, rows of U for the columns of H*."""
    for j in range(len(H)):
        for i in range(6):
            U[j, i] = 0.0
        for k in range(6):
            for i in range(6):
                U[j, i] += M[k, i] * H[j, k]


@njit(cache=True, error_model="numpy")
def _factor(D, n):  # pragma: no cover
    """L D L* in place, updates (c c*)/d: d on the diagonal, unscaled columns below it."""
    for k in range(n - 1):
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                D[i, j] -= (D[i, k] * D[j, k]) / D[k, k]


@njit(cache=True, error_model="numpy")
def _solve(D, n, x):  # pragma: no cover
    """x becomes D^-1 x."""
    for j in range(n - 1):
        scaled = x[j] / D[j, j]
        for i in range(j + 1, n):
            x[i] -= D[i, j] * scaled
    for j in range(n - 1, -1, -1):
        for i in range(j + 1, n):
            x[j] -= D[i, j] * x[i]
        x[j] /= D[j, j]


@njit(cache=True, error_model="numpy")
def _minus_projected(N, U, D, Y):  # pragma: no cover
    """N becomes N - M^H* D^-1 HM^, upper triangle: one rank-1 term (y y*)/d after another."""
    n = len(U)
    for j in range(n):
        for i in range(6):
            Y[j, i] = U[j, i]
    for j in range(n - 1):
        for r in range(j + 1, n):
            for i in range(6):
                Y[r, i] -= D[r, j] * (Y[j, i] / D[j, j])
    for i in range(6):
        for j in range(i, 6):
            total = 0.0
            for k in range(n):
                total += (Y[k, i] * Y[k, j]) / D[k, k]
            N[i, j] -= total


@njit(cache=True, error_model="numpy")
def _congruent(Phi, N, X, P):  # pragma: no cover
    """P += Phi N Phi*, upper triangle, the product formed whole and then added; N symmetric."""
    for i in range(6):
        for j in range(6):
            X[i, j] = 0.0
        for k in range(3):
            for j in range(3):
                X[i, j] += N[i, k] * Phi[j, k]
        for k in range(3, 6):
            for j in range(6):
                X[i, j] += N[i, k] * Phi[j, k]
    for i in range(6):
        first = 0 if i < 3 else 3
        for j in range(i, 6):
            total = 0.0
            for k in range(first, 6):
                total += Phi[i, k] * X[k, j]
            P[i, j] += total


@njit(cache=True, error_model="numpy")
def forward(order, parent, offset, M, Phi, S, a, b, tau, Mhat, bhat, U, D, x):  # pragma: no cover
    """Brackets, children before parents.

    ``Mhat`` (n, 6, 6) and ``bhat`` (n, 6) enter as zero: first the children's updates, then the
    assembled M^_k and b^_k.  ``U`` (N, 6) takes M^ H*, ``D`` (N, 6) the factors of D_k, and ``x``
    (N,) the tau - H (b^ + M^ a) of the roots, solved for.  Returns a body whose pivot is zero or
    not a number, or -1.
    """
    N, X, Y = np.empty((6, 6)), np.empty((6, 6)), np.empty((6, 6))
    z, failed = np.empty(6), -1
    for t in range(len(order)):
        k = order[t]
        first, last, up = offset[k], offset[k + 1], parent[k]
        n = last - first
        Mk, bk, Uk, Dk, H = Mhat[k], bhat[k], U[first:last], D[first:last], S[first:last]
        for i in range(6):
            bk[i] += b[k, i]
            for j in range(i, 6):
                Mk[i, j] += M[k, i, j]
        for i in range(6):
            for j in range(i):
                Mk[i, j] = Mk[j, i]
        for i in range(6):  # b^ + M^ a
            total = 0.0
            for j in range(6):
                total += Mk[i, j] * a[k, j]
            z[i] = bk[i] + total
        _times_inertia(Mk, H, Uk)
        for i in range(n):
            for j in range(i + 1):
                total = 0.0
                for m in range(6):
                    total += H[j, m] * Uk[i, m]
                Dk[i, j] = total
            total = 0.0
            for m in range(6):
                total += H[i, m] * z[m]
            x[first + i] = tau[first + i] - total
        _factor(Dk, n)
        for i in range(n):
            if not np.isfinite(Dk[i, i]) or Dk[i, i] == 0.0:
                failed = k if failed < 0 else failed
        _solve(Dk, n, x[first:last])
        if up < 0:
            continue
        for i in range(6):
            total = 0.0
            for m in range(n):
                total += Uk[m, i] * x[first + m]
            z[i] += total
        for i in range(6):
            for j in range(6):
                N[i, j] = Mk[i, j]
        if n:
            _minus_projected(N, Uk, Dk, Y)
            for i in range(6):
                for j in range(i):
                    N[i, j] = N[j, i]
        _congruent(Phi[k], N, X, Mhat[up])
        for i in range(6):
            total = 0.0
            for m in range(0 if i < 3 else 3, 6):
                total += Phi[k, i, m] * z[m]
            bhat[up, i] += total
    return failed


@njit(cache=True, error_model="numpy")
def backward(order, parent, offset, Phi, S, a, tau, Mhat, bhat, U, D, pdd, x, f):
    """Unknowns, parents before children; ``x`` holds the roots' qdd and takes the others'."""
    alpha = np.empty(6)
    for t in range(len(order) - 1, -1, -1):
        k = order[t]
        first, last, up = offset[k], offset[k + 1], parent[k]
        for i in range(6):
            alpha[i] = -a[k, i]
            if up >= 0:
                total = 0.0
                for m in range(3 if i < 3 else 6):
                    total += Phi[k, m, i] * pdd[up, m]
                alpha[i] += total
        for i in range(6):
            total = 0.0
            for j in range(6):
                total += Mhat[k, i, j] * alpha[j]
            f[k, i] = bhat[k, i] - total
        if up >= 0:
            for j in range(first, last):
                total = 0.0
                for i in range(6):
                    total += S[j, i] * bhat[k, i]
                x[j] = tau[j] - total
                total = 0.0
                for i in range(6):
                    total += U[j, i] * alpha[i]
                x[j] += total
            _solve(D[first:last], last - first, x[first:last])
        for i in range(6):
            total, more = 0.0, 0.0
            for j in range(first, last):
                total += S[j, i] * x[j]
                more += U[j, i] * x[j]
            pdd[k, i] = alpha[i] - total
            f[k, i] += more
