"""How much of an inertia a perturbation is that is known by the size of its entries alone."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
EPS = 2.0**-52
TRIES = 40


def share(M: Floats, B: Floats) -> float:
    """An upper bound of the least g with -g M <= G <= g M for every symmetric |G_ij| <= B_ij.

    M (m, m) is symmetric, B (m, m) symmetric and not negative.  |x* G x| <= |x|* B |x|, and where x
    has the signs s that is x* (s B s) x; so g will do if g M - s B s is positive semidefinite for
    all signs s.  An eigenvalue says which g to try, and a Cholesky factor in float64 proves it:
    it exists for A - shift only if A is positive definite (Rump 2006, theorem 2.3).  Infinite where
    no g could be proved, as where M is singular.
    """
    if not B.any():
        return 0.0
    m = len(M)
    signs = np.array([(1.0, *rest) for rest in product((1.0, -1.0), repeat=m - 1)])
    scale = np.sqrt(np.diagonal(M))
    if not (np.isfinite(M).all() and np.isfinite(B).all() and (scale > 0.0).all()):
        return float("inf")
    A = M / np.outer(scale, scale)  # scaling moves entries by a few roundings, which shift covers
    C = (B / np.outer(scale, scale))[None] * signs[:, :, None] * signs[:, None, :]
    values, vectors = np.linalg.eigh(A)
    if values[0] <= 64.0 * m * m * EPS:
        return float("inf")
    root = vectors / np.sqrt(values)
    g = float(np.linalg.eigvalsh(root.T @ C @ root)[:, -1].max()) * (1.0 + 1e-6)
    for attempt in range(TRIES):
        shift = 32.0 * m * m * EPS * (g * np.abs(A).max() + C.max())
        try:
            np.linalg.cholesky(g * A - C - shift * np.eye(m))
        except np.linalg.LinAlgError:
            g *= 1.0 + 1e-6 * 4.0**attempt
            if not np.isfinite(g):
                break
        else:
            return g
    return float("inf")
