"""Solving by the factor of the joint-space inertia M where much of a right-hand side is zero.

M = L D L* of a tree is filled along its branches alone (Featherstone 2008, section 6.3).  Where
L^-1 c is zero in a whole branch B, freedom r and its descendants, the accelerations of B follow
from those of its ancestors A, x_B = T_r x_A, and T_r = -L_BB^-* L_AB* is the same for every column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .emit import Emitter, Scalars

BESIDE = 8  # columns that are taken together


def branches(e: Emitter, F: Scalars, *right: Scalars) -> Scalars:
    """A^-1 [C_1 C_2 ...] for a factor by gain; rows in an order that eliminates tips first.

    Columns with the same operations are taken together.
    """
    X = np.hstack(right)
    follows, uses = _following(F, X)
    T = {r: _transfer(e, F, r, follows) for r in np.flatnonzero(uses).tolist()}
    for at in _alike(follows):
        x = X[:, at]
        for j in range(len(F)):
            for i in j + 1 + np.flatnonzero(F[j + 1 :, j]):
                x[i] = e.sub(x[i], e.mul(F[i, j], x[j]))
        for j in range(len(F) - 1, -1, -1):
            r = int(follows[j, at[0]])
            above = max(j, r) + 1 + np.flatnonzero(F[max(j, r) + 1 :, max(j, r)])
            if r < 0:
                x[j] = e.div(x[j], F[j, j])
            for i, t in zip(above, F[above, j] if r < 0 else -T[r][j], strict=True):
                x[j] = e.sub(x[j], e.mul(t, x[i]))
        X[:, at] = x
    return X


def _alike(follows: Scalars) -> list[NDArray[np.int64]]:
    """Columns that follow by the same branches, in parts of a few."""
    _, kind = np.unique(follows, axis=1, return_inverse=True)
    alike = (np.flatnonzero(kind.ravel() == k) for k in range(int(kind.max(initial=-1)) + 1))
    return [x[i : i + BESIDE] for x in alike for i in range(0, len(x), BESIDE)]


def _following(F: Scalars, C: Scalars) -> tuple[Scalars, NDArray[np.int64]]:
    """(N, columns) the branch r by which an entry follows, or -1, and how many columns use r."""
    N = len(F)
    below = np.tril(F, -1) != 0  # (i, j): i is an ancestor of j
    quiet = C == 0
    for j in range(N):
        quiet[j] &= quiet[below[j]].all(axis=0)  # then L^-1 c is zero as well
    follows = np.full(C.shape, -1, dtype=np.int64)
    uses = np.zeros(N, dtype=np.int64)
    for r in range(N - 1, -1, -1):
        branch = np.append(np.flatnonzero(below[r]), r)
        inner = below[np.ix_(branch, branch)].sum()
        at = np.flatnonzero(quiet[r] & (follows[r] < 0))
        # an entry takes 2 |A| - 1 operations, and 2 |A| with 2 for each ancestor in the branch
        if len(at) * (2 * inner + len(branch)) > 2 * below[:, r].sum() * inner:
            follows[np.ix_(branch, at)] = r
            uses[r] = len(at)
    return follows, uses


def _transfer(e: Emitter, F: Scalars, r: int, follows: Scalars) -> dict[int, Scalars]:
    """Rows of T_r by freedom."""
    A = r + 1 + np.flatnonzero(F[r + 1 :, r])
    T: dict[int, Scalars] = {}
    for j in np.flatnonzero((follows == r).any(axis=1))[::-1].tolist():
        T[j] = -F[A, j]
        for k in (k for k in T if F[k, j] and k > j):
            T[j] = e.sub(T[j], e.mul(F[k, j], T[k]))
    return T
