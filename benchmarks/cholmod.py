"""CHOLMOD in a given order, called in the library that the package cvxopt brings.

cvxopt's own functions always try AMD as well, whose order meets zero pivots on equation (4).
"""

from __future__ import annotations

import ctypes as c
from pathlib import Path

import cvxopt.cholmod  # which loads what the library needs
import numpy as np
import scipy.sparse as sp

ROOM = 1 << 15  # bytes for cholmod_common; the offsets are those of CHOLMOD 3.0, checked below
SUPERNODAL, PRINT, NMETHODS = 48, 144, 168
LONG, REAL, LOWER, A = 2, 1, -1, 0


class Sparse(c.Structure):
    """cholmod_sparse."""

    _fields_ = [
        *((name, c.c_size_t) for name in ("nrow", "ncol", "nzmax")),
        *((name, c.c_void_p) for name in ("p", "i", "nz", "x", "z")),
        *((name, c.c_int) for name in ("stype", "itype", "xtype", "dtype", "sorted", "packed")),
    ]


class Dense(c.Structure):
    """cholmod_dense."""

    _fields_ = [
        *((name, c.c_size_t) for name in ("nrow", "ncol", "nzmax", "d")),
        *((name, c.c_void_p) for name in ("x", "z")),
        *((name, c.c_int) for name in ("xtype", "dtype")),
    ]


class Cholmod:
    """Simplicial L D L^T of a symmetric matrix in a given order."""

    def __init__(self, matrix: sp.csc_array, order: np.ndarray) -> None:
        folder = Path(cvxopt.__file__).parent.parent / "cvxopt.libs"
        self.library = library = c.CDLL(str(next(folder.glob("libcholmod*"))))
        for name in ("analyze_p", "solve"):
            getattr(library, f"cholmod_l_{name}").restype = c.c_void_p
        self.common = np.zeros(ROOM, dtype=np.uint8)
        library.cholmod_l_start(self.at(self.common))
        integers = self.common.view(np.int32)
        if (integers[SUPERNODAL // 4], integers[PRINT // 4], integers[NMETHODS // 4]) != (1, 3, 0):
            raise ImportError("cholmod_common is laid out otherwise in this version")
        integers[SUPERNODAL // 4], integers[NMETHODS // 4] = 0, 1
        low = sp.tril(matrix, format="csc")
        self.arrays = low.indptr.astype(np.int64), low.indices.astype(np.int64), low.data
        p, i, x = (a.ctypes.data for a in self.arrays)
        self.matrix = Sparse(*low.shape, low.nnz, p, i, None, x, None, LOWER, LONG, REAL, 0, 1, 1)
        self.order = order.astype(np.int64)
        self.factor: int | None = None

    @staticmethod
    def at(array: np.ndarray) -> c.c_void_p:
        return c.c_void_p(array.ctypes.data)

    def analyze(self) -> None:
        """Elimination tree, postorder and column counts."""
        common = self.at(self.common)
        if self.factor:
            pointer = c.c_void_p(self.factor)
            self.library.cholmod_l_free_factor(c.byref(pointer), common)
        self.factor = self.library.cholmod_l_analyze_p(
            c.byref(self.matrix), self.at(self.order), None, c.c_size_t(0), common
        )

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Numeric factor and solution, after :meth:`analyze`."""
        common, factor = self.at(self.common), c.c_void_p(self.factor)
        self.library.cholmod_l_factorize(c.byref(self.matrix), factor, common)
        b = Dense(len(right), 1, len(right), len(right), right.ctypes.data, None, REAL, 0)
        found = c.c_void_p(self.library.cholmod_l_solve(A, factor, c.byref(b), common))
        x = c.cast(found, c.POINTER(Dense)).contents.x
        result = np.ctypeslib.as_array(c.cast(x, c.POINTER(c.c_double)), (len(right),)).copy()
        self.library.cholmod_l_free_dense(c.byref(found), common)
        return result
