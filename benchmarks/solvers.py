"""Sparse direct solvers on equation (4), each as one call from the matrix to the solution.

A solver that is not installed says so, and one that refuses the matrix or gives no finite answer
is reported with its own words.
"""

from __future__ import annotations

import ctypes as c
import ctypes.util
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Solve = Callable[[], Vector]


@dataclass(frozen=True)
class Problem:
    """K x = r, and an order of the unknowns in which every pivot is nonzero."""

    K: sp.csc_array
    r: Vector
    order: NDArray[np.int64]


@dataclass(frozen=True)
class Solver:
    """``prepare`` copies the matrix into the solver's own form, and that is not timed."""

    prepare: Callable[[Problem], Solve]
    includes: str


def superlu(problem: Problem) -> Solve:
    return lambda: spla.splu(problem.K).solve(problem.r)


def superlu_given(problem: Problem) -> Solve:
    order, r = problem.order, problem.r
    P = problem.K[order][:, order].tocsc()
    options = {"SymmetricMode": True}

    def solve() -> Vector:
        factor = spla.splu(P, permc_spec="NATURAL", diag_pivot_thresh=0.0, options=options)
        x = np.empty_like(r)
        x[order] = factor.solve(r[order])
        return x

    return solve


def cholmod_given(problem: Problem) -> Solve:
    from cholmod import Cholmod

    factor = Cholmod(problem.K, problem.order)
    factor.analyze()
    return lambda: factor.solve(problem.r)


def umfpack(problem: Problem) -> Solve:
    import cvxopt
    import cvxopt.umfpack as library

    K = problem.K.tocoo()
    places = (cvxopt.matrix(a.astype(np.int64)) for a in (K.row, K.col))
    matrix = cvxopt.spmatrix(cvxopt.matrix(K.data), *places, K.shape)

    def solve() -> Vector:
        x = cvxopt.matrix(problem.r)
        library.solve(matrix, library.numeric(matrix, library.symbolic(matrix)), x)
        return np.array(x).ravel()

    return solve


def klu(problem: Problem) -> Solve:
    found = ctypes.util.find_library("klu")
    if not found:
        raise ImportError("SuiteSparse's libklu is not installed")
    library = c.CDLL(found)
    library.klu_analyze.restype = library.klu_factor.restype = c.c_void_p
    common = np.zeros(4096, dtype=np.uint8)  # room for klu_common
    pointers, rows = (a.astype(np.int32) for a in (problem.K.indptr, problem.K.indices))
    p, i, x, own = (c.c_void_p(a.ctypes.data) for a in (pointers, rows, problem.K.data, common))
    library.klu_defaults(own)
    size = len(problem.r)

    def solve() -> Vector:
        symbolic = c.c_void_p(library.klu_analyze(size, p, i, own))
        numeric = c.c_void_p(library.klu_factor(p, i, x, symbolic, own))
        if not (symbolic and numeric):
            raise ArithmeticError("KLU finds the matrix singular")
        result = problem.r.copy()
        library.klu_solve(symbolic, numeric, size, 1, c.c_void_p(result.ctypes.data), own)
        library.klu_free_numeric(c.byref(numeric), own)
        library.klu_free_symbolic(c.byref(symbolic), own)
        return result

    solve.keep = pointers, rows, common  # type: ignore[attr-defined]
    return solve


def qdldl(problem: Problem) -> Solve:
    import qdldl as library

    upper = sp.triu(_with_diagonal(problem.K), format="csc")
    return lambda: library.Solver(upper, upper=True).solve(problem.r)


PARDISO = {1: 1, 2: 2, 8: 2, 10: 8, 11: 1, 13: 1, 21: 1}  # as its manual asks of saddle points


def pardiso(problem: Problem) -> Solve:
    import pypardiso

    upper = sp.triu(_with_diagonal(problem.K), format="csr")

    def solve() -> Vector:
        solver = pypardiso.PyPardisoSolver(mtype=-2)
        for number, value in PARDISO.items():
            solver.set_iparm(number, value)
        x = solver.solve(upper, problem.r)
        solver.free_memory(everything=True)
        return x

    return solve


def mumps(problem: Problem) -> Solve:
    import mumps as library

    K = problem.K.tocoo()

    def solve() -> Vector:
        context = library.Context()  # leaving it by "with" would solve again, into freed memory
        context.set_matrix(K, symmetric=True)
        context.analyze(ordering="amd")  # what it chooses itself takes minutes
        context.factor(reuse_analysis=True)
        return context.solve(problem.r)

    return solve


def _with_diagonal(K: sp.csc_array) -> sp.csc_array:
    """K with its zero diagonal entries stored, which some solvers ask for."""
    at = np.arange(K.shape[0])
    C = K.tocoo()
    data, places = np.append(C.data, np.zeros(len(at))), (np.append(a, at) for a in (C.row, C.col))
    return sp.coo_array((data, tuple(places)), K.shape).tocsc()


WHOLE = "analysis, numeric factor, solve"
SOLVERS = {
    "CHOLMOD L D L^T, ABM order": Solver(cholmod_given, "numeric factor, solve"),
    "SuperLU, default": Solver(superlu, WHOLE),
    "SuperLU, ABM order": Solver(superlu_given, WHOLE + "; no pivoting"),
    "UMFPACK, default": Solver(umfpack, WHOLE),
    "KLU, default": Solver(klu, WHOLE),
    "PARDISO L D L^T": Solver(pardiso, WHOLE + "; matching and scaling"),
    "MUMPS L D L^T": Solver(mumps, WHOLE + "; AMD"),
    "QDLDL": Solver(qdldl, WHOLE),
}


def prepared(
    name: str, problem: Problem, solver: Solver | None = None
) -> tuple[Solve | None, Vector | None, str]:
    """A call, its solution, and a note; or None, None and why there is none."""
    solver = solver or SOLVERS[name]
    try:
        solve = solver.prepare(problem)
    except (ImportError, OSError) as absent:
        return None, None, "not installed" if isinstance(absent, ImportError) else str(absent)
    try:
        x = solve()
    except Exception as refusal:  # in the solver's own words, whatever it raises
        return None, None, f"refused: {str(refusal).splitlines()[0][:90]}"
    if not np.isfinite(x).all():
        return None, None, "no finite solution"
    return solve, x, solver.includes
