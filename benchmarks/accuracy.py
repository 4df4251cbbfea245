"""How well equation (4) is solved, by arithmetic that no solver here takes part in."""

from __future__ import annotations

import numpy as np
import scipy.sparse.linalg as spla
from numpy.typing import ArrayLike, NDArray

from pivotree import kkt


def backward_error(system: kkt.System, x: ArrayLike) -> float:
    """Least relative change of K and r, in the maximum norm, that explains x (Rigal & Gaches 1967).

    K x - r is summed in extended precision, where the machine has it.
    """
    K = system.matrix.astype(np.longdouble)
    long = np.asarray(x, dtype=np.longdouble)
    left = np.abs(K @ long - system.rhs).max()
    norm = (abs(K) @ np.ones(K.shape[1])).max()
    return float(left / (norm * np.abs(long).max() + np.abs(system.rhs).max()))


def refined(system: kkt.System, corrections: int = 6) -> NDArray[np.longdouble]:
    """(4) solved to extended precision: SuperLU's answer, corrected by residuals summed there."""
    factor, K = spla.splu(system.matrix), system.matrix.astype(np.longdouble)
    x = np.zeros(K.shape[1], dtype=np.longdouble)
    for _ in range(corrections):
        x = x + factor.solve((system.rhs - K @ x).astype(np.float64))
    return x


def joints(system: kkt.System) -> slice:
    """Where qdd stands among the unknowns of (4)."""
    start = 6 * system.tree.n
    return slice(start, start + system.tree.N)


def distance(found: ArrayLike, exact: ArrayLike) -> float:
    """Largest difference over the largest entry of what is exact."""
    exact = np.asarray(exact)
    return float(np.abs(np.asarray(found) - exact).max() / np.abs(exact).max())
