"""The arrays of the numeric factor by panels, and how the entries of (4) enter them.

Every block t (a position in the order of elimination) owns a panel: its square block, then, row
after row, its couplings with the later blocks that the symbolic factor found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..matrix.blocks import FC, FJ, PDD, QDD, F
from .block_kernels import split
from .waiting import Waiting


class Matrix(NamedTuple):
    """The blocks of (4)."""

    parent: NDArray  # (n,)
    offset: NDArray  # (n + 1,) rows of S of each body
    M: NDArray  # (n, 6, 6)
    Phi: NDArray  # (n, 6, 6)
    S: NDArray  # (N, 6)
    a: NDArray  # (n, 6)
    b: NDArray  # (n, 6)
    tau: NDArray  # (N,)
    A: NDArray  # (N,) diagonal of the joints' own blocks, or (0,)
    basis: NDArray  # (n, 6, 6) [B C] with H B = 1, H C = 0, where forces are split; else (0, 6, 6)
    moved: NDArray  # (n, 6, 6) Phi [B C]


class Layout(NamedTuple):
    """The structure of the factor without values; B blocks, E couplings, G groups."""

    kind: NDArray  # (B,) of each block
    member: NDArray  # (B,) its body
    size: NDArray  # (B,) its rows
    first: NDArray  # (B + 1,) its unknowns among all
    pivot: NDArray  # (B,) SINGLE, PAIR_FIRST or PAIR_SECOND
    tail: NDArray  # (B,) whether it is a joint that ends the order; the tape has these as one pivot
    pointer: NDArray  # (B + 1,) first coupling of each block, as in the symbolic factor
    later: NDArray  # (E,) the later block of each coupling, ascending for each block
    start: NDArray  # (E,) first column of each coupling in its panel, beside the square block
    width: NDArray  # (B,) columns of the panel beside the square block
    panel: NDArray  # (B + 1,) where each panel begins in Storage.panels
    group: NDArray  # (G + 1,) first block of each group
    bracket: NDArray  # (G,) whether the group is inverted before it meets its couplings
    inner: NDArray  # (G + 1,) where the square array of each bracket begins in Storage.brackets
    task: NDArray  # (G,) subtree that a group belongs to, -1 for the top
    waiting: Waiting  # places of the updates that are summed apart


class Storage(NamedTuple):
    """Values: the factor, right-hand side and solution."""

    panels: NDArray  # the panels, and behind them further places of updates
    brackets: NDArray  # of each bracket: factors on the diagonal, W above it
    y: NDArray  # (size,) right-hand side, less all updates so far; behind it further places
    x: NDArray  # (size,) unknowns


class Scratch(NamedTuple):
    """Working arrays of one thread; see :mod:`.numeric_pivots` for the letters."""

    P: NDArray  # couplings of a pivot with the outside blocks
    Q: NDArray  # a product with P
    h: NDArray  # the pivot's right-hand side
    B: NDArray  # a bracket's own block,
    inverse: NDArray  # its inverse,
    z: NDArray  # and its inverse times y
    D: NDArray  # a square block, factored
    row: NDArray  # one row of an update
    more: NDArray  # a second product of a pair, which is added to the row
    outside: NDArray  # the outside blocks of a pivot
    at: NDArray  # first column of each in P
    where: NDArray  # place of each in the panel that is updated, or among further places
    stride: NDArray  # from row to row there
    active: NDArray  # rows of a bracket that are coupled to the outside
    mark: NDArray  # (B,) group that has listed a block


@njit(cache=True, nogil=True)
def enter(of, to, matrix, first, last):  # pragma: no cover
    """Add the entries of (4) to the panels of blocks first to last - 1, and b, tau and a to y."""
    panels, y = to.panels, to.y
    M, Phi, S, basis, moved = matrix.M, matrix.Phi, matrix.S, matrix.basis, matrix.moved
    for t in range(first, last):
        kind, k, size, at, square = of.kind[t], of.member[t], of.size[t], of.first[t], of.panel[t]
        if kind == PDD:
            for i in range(6):
                y[at + i] += matrix.b[k, i]
                for j in range(i, 6):
                    panels[square + 6 * i + j] += M[k, i, j]
        elif kind == QDD:
            for i in range(size):
                y[at + i] += matrix.tau[matrix.offset[k] + i]
            if len(matrix.A):
                for i in range(size):
                    panels[square + size * i + i] += matrix.A[matrix.offset[k] + i]
        elif kind == F:
            for i in range(6):
                y[at + i] -= matrix.a[k, i]
        else:
            beside = 0 if kind == FJ else 6 - size
            for i in range(size):
                total = 0.0
                for j in range(6):
                    total += basis[k, j, beside + i] * matrix.a[k, j]
                y[at + i] -= total
        width = of.width[t]
        for e in range(of.pointer[t], of.pointer[t + 1]):
            s = of.later[e]
            here = square + size * size + of.start[e]
            row, col, down, right = t, s, width, 1
            if kind >= F:  # rows are those of pdd or qdd, columns those of the force
                row, col, down, right = s, t, 1, width
            force, up = of.kind[col], of.kind[row]
            if force < F or up > QDD:
                continue
            k, c, many = of.member[row], of.member[col], of.size[col]
            beside = 6 - many if force == FC else 0
            if k == c and ((up == PDD and force == F) or (up == QDD and force == FJ)):
                for i in range(many):
                    panels[here + i * (down + right)] += 1.0
            elif k == c and up == PDD:
                for i in range(6):
                    for j in range(many):
                        panels[here + i * down + j * right] += basis[k, i, beside + j]
            elif k == c and force == F:
                for i in range(of.size[row]):
                    for j in range(6):
                        panels[here + i * down + j * right] += S[matrix.offset[k] + i, j]
            elif up == PDD and matrix.parent[c] == k:
                for i in range(6):
                    for j in range(many):
                        entry = Phi[c, i, j] if force == F else moved[c, i, beside + j]
                        panels[here + i * down + j * right] -= entry


@njit(cache=True)
def split_forces(offset, S, turned, Phi, basis, moved):  # pragma: no cover
    """Fill (n, 6, 6) ``basis`` with [B C] of f = B fJ + C fC, and ``moved`` with Phi [B C].

    H B = 1 and H C = 0; ``turned`` (n,) tells the rows of S that the split solves for, in words.
    """
    v = np.empty(36)
    for k in range(len(basis)):
        n = offset[k + 1] - offset[k]
        for i in range(6):
            for j in range(6):
                basis[k, i, j] = 1.0 if i == j else 0.0  # of a fixed joint
        for part in range(2 if n else 0):
            columns, at = (n, 0) if part == 0 else (6 - n, n)
            if columns:
                split(v, S, 0, 6 * offset[k], 6, columns, turned[k], part == 0)
            for i in range(6):
                for j in range(columns):
                    basis[k, i, at + j] = v[i * columns + j]
        for i in range(6):
            for j in range(6):
                total = Phi[k, i, 0] * basis[k, 0, j]
                for m in range(1, 6):
                    total += Phi[k, i, m] * basis[k, m, j]
                moved[k, i, j] = total
