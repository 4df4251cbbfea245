"""Forward dynamics by the natural orthogonal complement of a tree, in two forms.

T (6 n, N) holds the twists that unit joint rates give all bodies, so that the joints' constraint
forces do no work in it (Angeles & Lee 1988): with alpha = T qdd + alpha_0 the accelerations,

    T* M T qdd = tau - T* (b + M alpha_0).

T is -Phi^-* H* of equation (4) after its pivots (pdd f): the order ``crbm_block_row``.  With
M_k = R_k* R_k of every body, P = R T, with the roots of armatures for N rows more, and H = P* P.
The first form makes H and its Cholesky factor
(Angeles & Ma 1988); the second factors P = Q U by reflections and solves P* y = tau - b, of least
norm, then P qdd = y, by least squares (Cloutier 1995, (3.3) and (3.4)).  U* U are ABM's pivots
where columns stand tip to base.

Each operation rounds by itself (no BLAS), in float64, float32 or numbers of mpmath.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.analysis.inertia import backward, forward, product, root, square_root
from pivotree.kkt import SingularError, System
from pivotree.kkt.model.spatial import skew


@dataclass(frozen=True, eq=False)
class Complement:
    """P (6 n, N), columns tip to base, and the efforts tau - b (N,) that are left.

    With armature, P has N more rows.

    >>> from pivotree.papers.cloutier1995.complements import Complement
    >>> arm = Complement.of(pt.build(pt.chain(3)), np.float32)
    >>> arm.second().round(2)
    array([-1.53, 77.97, 15.55], dtype=float32)
    """

    P: NDArray[Any]
    efforts: NDArray[Any]
    backward: NDArray[np.int64]  # (N,) columns of P in the tree's order

    @staticmethod
    def of(system: System, cast: Callable[[NDArray[Any]], NDArray[Any]] = np.array) -> Complement:
        """``cast`` turns the model and the blocks of (4) into the number type."""
        system.structure.require_tree("the natural orthogonal complement")
        for k in system.tree.indefinite():
            raise SingularError(
                f"body {system.tree.names[k]!r}",
                "its inertia has a negative eigenvalue, and no complement has its root",
                "mend field 'inertia', or solve by abm",
            )
        entries, tree, state = system.entries, system.tree, system.state
        M, Phi, S, a, b, left = (cast(getattr(entries, name)) for name in ("M", "Phi", "S", "a", "b", "tau"))
        n, N = tree.n, len(left)
        T, alpha = [M[0] * 0] * n, list(a)
        for k in system.structure.order[::-1]:
            up, own = int(tree.parent[k]), tree.freedoms_of(k)
            T[k] = np.repeat(M[k][:, :1] * 0, N, axis=1)
            T[k][:, own] = S[own].T
            if up >= 0:
                T[k] = T[k] + product(Phi[k].T, T[up])
                alpha[k] = alpha[k] + product(Phi[k].T, alpha[up][:, None])[:, 0]
        for k in range(n):
            wrench = b[k] + product(M[k], alpha[k][:, None])[:, 0]
            left = left - product(T[k].T, wrench[:, None])[:, 0]
        factors = _factors(cast(state.mass), cast(state.com), cast(state.inertia), M[0] * 0)
        order = np.concatenate([np.arange(N)[tree.freedoms_of(k)] for k in system.structure.order])
        rows = [product(R, t) for R, t in zip(factors, T, strict=True)]
        if len(entries.A):
            rotors = np.repeat(T[0][:1] * 0, N, axis=0)
            rotors[range(N), range(N)] = [square_root(A) for A in cast(entries.A)]
            rows.append(rotors)
        P = np.concatenate(rows)
        return Complement(P[:, order], left[order], np.argsort(order))

    def first(self) -> NDArray[Any]:
        """(N,) qdd from H = P* P and Cholesky's factor; nan where it breaks down."""
        with np.errstate(all="ignore"):
            L = root(product(self.P.T, self.P))
            z = forward(L, self.efforts)
            return np.asarray(backward(L.T, z)[self.backward])

    def second(self) -> NDArray[Any]:
        """(N,) qdd from P = Q U: least norm, then least squares."""
        with np.errstate(all="ignore"):
            U, reflections = reflected(self.P)
            N = len(U)
            y = self.P[:, 0] * 0
            y[:N] = forward(U.T, self.efforts)
            for j in (*range(N - 1, -1, -1), *range(N)):
                y[j:] = _reflect(reflections[j], y[j:, None])[:, 0]
            return np.asarray(backward(U, y[:N])[self.backward])

    def pivots(self) -> NDArray[Any]:
        """(N,) squares of U's diagonal, in the tree's order: ABM's D_k, joint by joint."""
        U, _ = reflected(self.P)
        return np.asarray((np.diagonal(U) ** 2)[self.backward])


def _factors(
    mass: NDArray[Any], com: NDArray[Any], inertia: NDArray[Any], empty: NDArray[Any]
) -> list[NDArray[Any]]:
    """R_k (6, 6) with M_k = R_k* R_k: J = L L* turns, the mass moves; point masses have one too."""
    found = []
    for m, d, J in zip(mass, com, inertia, strict=True):
        R, weight = empty.copy(), square_root(m)
        R[:3, :3] = root(J, semidefinite=True).T
        R[3:, :3] = -(skew(d) * weight)
        for i in range(3):
            R[3 + i, 3 + i] = weight
        found.append(R)
    return found


def reflected(P: NDArray) -> tuple[NDArray, list[tuple[NDArray, Any]]]:
    """U (N, N) of P = Q U, and Householder's vectors with their factors."""
    A, reflections = P.copy(), []
    N = A.shape[1]
    for j in range(N):
        x = A[j:, j].copy()
        norm = square_root(np.add.accumulate(x * x)[-1])
        x[0] = x[0] + norm if x[0] >= 0 else x[0] - norm
        reflections.append((x, np.add.accumulate(x * x)[-1]))
        A[j:, j:] = _reflect(reflections[-1], A[j:, j:])
        A[j + 1 :, j] = A[j + 1 :, j] * 0
    return A[:N], reflections


def _reflect(reflection: tuple[NDArray, Any], A: NDArray) -> NDArray:
    x, square = reflection
    along = product(x[None], A)[0]
    along = (along + along) / square
    return np.asarray(A - x[:, None] * along[None])
