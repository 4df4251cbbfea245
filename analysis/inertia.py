"""The joint-space inertia by columns of inverse dynamics, and qdd by it (Walker & Orin 1982, method 1).

>>> from pivotree.analysis import inertia
>>> system = pt.build(pt.chain(3))
>>> inertia.solve(system, format="float32").round(2)
array([-1.53, 77.97, 15.55], dtype=float32)

Column j is the efforts that unit acceleration of freedom j takes, without bias: the substitution
order ``inverse_dynamics`` on equation (4) with H_j* as its right side, for many right sides, and no
pivot sequence.  Method 3 is the order ``crbm_com``, method 4 is :mod:`analysis.gradients`.

M qdd = tau - c is solved by Cholesky's factor, each operation rounded by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import FormatError, System
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.arithmetic.formats import Hardware
from pivotree.kkt.matrix.system import require_system

from .gradients import equation

__all__ = ["columns", "solve"]


@dataclass(frozen=True, eq=False)
class Inertia:
    """The matrix, and what it took."""

    M: NDArray[Any]  # (N, N)
    operations: int


def solve(system: System, format: str = "float64") -> NDArray[Any]:
    """(N,) qdd in float64 or float32; nan where roundoff takes M its definiteness.

    Raises FormatError for other formats, LoopError for loops.

    >>> from pivotree.analysis import inertia
    >>> inertia.solve(pt.build(pt.chain(3))).round(2)
    array([-1.53, 77.97, 15.55])
    """
    M = columns(system, format).M
    _, efforts, _ = equation(system, format)
    with np.errstate(all="ignore"):
        L = root(M)
        return np.asarray(backward(L.T, forward(L, efforts)))


def columns(system: System, format: str = "float64") -> Inertia:
    """The joint-space inertia, bodies in the tree's order.

    >>> from pivotree.analysis import inertia
    >>> inertia.columns(pt.build(pt.two_link())).M.shape
    (2, 2)
    """
    require_system(system)
    system.structure.require_tree("joint-space inertia by columns")
    if not isinstance(get_format(format), Hardware):
        raise FormatError(f"format {format!r}", "columns are found in float64 or float32")
    times, efforts, each = equation(system, format)
    N = len(efforts)
    found = [times(unit) for unit in np.eye(N)]
    return Inertia(np.array(found, dtype=efforts.dtype).reshape(N, N).T, N * each)


# -- triangles and products, each operation rounded by itself ---------------------------------------


def root(A: NDArray[Any], semidefinite: bool = False) -> NDArray[Any]:
    """L, lower triangular, with A = L L*; a column is zero where A may be singular and is."""
    N = len(A)
    L = A * 0
    for j in range(N):
        d = less(A[j, j], L[j, :j], L[j, :j])
        if semidefinite and not d > 0:
            continue
        L[j, j] = square_root(d)
        for i in range(j + 1, N):
            L[i, j] = less(A[i, j], L[i, :j], L[j, :j]) / L[j, j]
    return L


def forward(L: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """x with L x = b."""
    x = b.copy()
    for i in range(len(b)):
        x[i] = less(b[i], L[i, :i], x[:i]) / L[i, i]
    return x


def backward(U: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """x with U x = b."""
    return forward(U[::-1, ::-1], b[::-1])[::-1]


def less(start: Any, x: NDArray[Any], y: NDArray[Any]) -> Any:
    for p in x * y:
        start = start - p
    return start


def product(A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """A B, sums in ascending order."""
    terms = A[:, :, None] * B[None, :, :]
    return np.asarray(np.add.accumulate(terms, axis=1)[:, -1])


def square_root(x: Any) -> Any:
    if isinstance(x, np.floating):
        return np.sqrt(x)
    return x.sqrt() if hasattr(x, "sqrt") else x**0.5
