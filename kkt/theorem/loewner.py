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

    M (..., m, m) is symmetric, B (..., m, m) symmetric and not negative; of many the largest.
    |x* G x| <= |x|* B |x|, and where x has the signs s that is x* (s B s) x; so g will do if
    g M - s B s is positive semidefinite for all signs s.  Infinite where no g could be proved, as
    where M is singular.
    """
    if not B.any():
        return 0.0
    signs = np.array([(1.0, *rest) for rest in product((1.0, -1.0), repeat=M.shape[-1] - 1)])
    return dominated(M, B[..., None, :, :] * signs[:, :, None] * signs[:, None, :])


def dominated(M: Floats, C: Floats) -> float:
    """An upper bound of the least g with C <= g M for all of C (..., s, m, m), M (..., m, m).

    An eigenvalue says which g to try, and a Cholesky factor in float64 proves it: it exists for
    A - shift only if A is positive definite (Rump 2006, theorem 2.3).
    """
    m = M.shape[-1]
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    if not (np.isfinite(M).all() and np.isfinite(C).all() and (diagonal > 0.0).all()):
        return float("inf")
    scale = np.sqrt(diagonal)
    both = scale[..., :, None] * scale[..., None, :]
    A = M / both  # scaling moves entries by a few roundings, which shift covers
    C = C / both[..., None, :, :]
    values, vectors = np.linalg.eigh(A)
    if values.min() <= 64.0 * m * m * EPS:
        return float("inf")
    root = (vectors / np.sqrt(values)[..., None, :])[..., None, :, :]
    g = float(np.linalg.eigvalsh(np.swapaxes(root, -1, -2) @ C @ root)[..., -1].max())
    g *= 1.0 + 1e-6
    for attempt in range(TRIES):
        shift = 32.0 * m * m * EPS * (g * np.abs(A).max() + np.abs(C).max())
        try:
            np.linalg.cholesky(g * A[..., None, :, :] - C - shift * np.eye(m))
        except np.linalg.LinAlgError:
            g *= 1.0 + 1e-6 * 4.0**attempt
            if not np.isfinite(g):
                break
        else:
            return g
    return float("inf")
