"""The matrix of (4) as scipy.sparse stores it, and a small picture of where a matrix has entries.

The picture is written as SVG by hand, since a matrix must be displayed without matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..model.tree import BodyTree
from .blocks import Block, Structure
from .entries import Entries, Pattern

SIDE = 160  # of a picture [px]
LARGEST = 20_000  # unknowns of a matrix that is drawn
CELLS = 80  # across a picture, at most: entries of larger matrices share cells
LETTERS = {("pdd", "pdd"): "M", ("pdd", "f"): "-Φ", ("qdd", "f"): "H", ("qdd", "qdd"): "A"}  # of blocks
LETTERS |= {("lam", "pdd"): "G", ("lam", "lam"): "-ε"}
Places = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def places(tree: BodyTree, structure: Structure, pattern: Pattern, starts: Places) -> Places:
    """Column pointers, row indices, and for each stored entry its place in those of :func:`stored`."""
    p, _, f = starts
    parent, lam = tree.parent, 12 * tree.n + int(tree.offset[-1])
    k, i, j = np.nonzero(pattern.M)
    six = np.arange(6)
    owner = np.repeat(np.arange(tree.n), tree.dof)
    rows_q = 6 * tree.n + np.arange(len(owner))
    c, s = np.nonzero(pattern.S)
    x, y, z = np.nonzero(pattern.Phi & (parent >= 0)[:, None, None])
    one_row, one_col = (p[:, None] + six).ravel(), (f[:, None] + six).ravel()
    g, t = np.nonzero(pattern.G)
    multiplier, body, _ = structure.rows_of_G
    half_row = np.concatenate([rows_q[c], p[parent[x]] + y, one_row, lam + multiplier[g]])
    half_col = np.concatenate([f[owner[c]] + s, f[x] + z, one_col, p[body[g]] + t])
    own = lam + np.flatnonzero(pattern.compliance)
    own = np.concatenate([own, rows_q[np.flatnonzero(pattern.A)]])
    row = np.concatenate([p[k] + i, half_row, half_col, own])
    col = np.concatenate([p[k] + j, half_col, half_row, own])
    first = len(k) + np.arange(len(half_row))
    last = len(k) + len(half_row) + np.arange(len(own))
    source = np.concatenate([np.arange(len(k)), first, first, last])
    at = row.astype(np.int32), col.astype(np.int32)
    placed = sp.coo_array((source, at), shape=(lam + len(pattern.compliance),) * 2).tocsc()
    return placed.indptr, placed.indices, placed.data


def stored(
    tree: BodyTree, structure: Structure, pattern: Pattern, e: Entries, places: Places
) -> sp.csc_array:
    """The matrix, both triangles, of M, H, -Phi, 1, G, -compliance and A where the pattern has entries."""
    G = structure.rows_of_G[2][:, None] * e.G
    inner = (tree.parent >= 0)[:, None, None]
    found = np.concatenate(
        [
            e.M[pattern.M],
            e.S[pattern.S],
            -e.Phi[pattern.Phi & inner],
            np.ones(6 * tree.n),
            G[pattern.G],
            -e.compliance[pattern.compliance],
            e.A[pattern.A],
        ]
    )
    indptr, indices, source = places
    return sp.csc_array((found[source], indices, indptr), shape=(len(indptr) - 1,) * 2)


def _letter(row: Block, column: Block) -> str:
    """What (4) calls the block in a row and a column of blocks."""
    kinds = row.kind, column.kind
    one = row.body == column.body and {*kinds} == {"pdd", "f"}
    return "1" if one else LETTERS.get(kinds) or f"{LETTERS[kinds[::-1]]}ᵀ"


def lettered(matrix: sp.csc_array, name: str, blocks: Mapping[Block, slice]) -> str:
    """:func:`spy` with what (4) calls each block, where every entry is a cell."""
    few = blocks.items() if matrix.shape[0] <= CELLS else ()
    return spy(matrix, name, [(i, j, _letter(a, b)) for a, i in few for b, j in few if matrix[i, j].nnz])


def spy(matrix: sp.csc_array, name: str, letters: Iterable[tuple[slice, slice, str]] = ()) -> str:
    """Where a square matrix has entries, as SVG in the colour of the text around it.

    ``letters`` are written over blocks, (rows, columns, letter), where every entry is a cell.
    """
    size = matrix.shape[0]
    cells = min(size, CELLS)
    entries = matrix.tocoo()
    places = np.unique(np.stack([entries.row.astype(np.int64), entries.col]) * cells // max(size, 1), axis=1)
    marks = "".join(f"M{x} {y}h1v1h-1z" for y, x in places.T)
    told = "".join(
        f"<text x='{(j.start + j.stop) / 2}' y='{(i.start + i.stop) / 2}'>{escape(letter)}</text>"
        for i, j, letter in letters
    )
    side, faint = (2 * SIDE, ".2") if told else (SIDE, "1")
    return (
        f"<svg role='img' aria-label='{escape(name, quote=True)}: where the matrix has entries' "
        f"fill='currentColor' width='{side}' height='{side}' viewBox='-.5 -.5 {cells + 1} {cells + 1}'>"
        f"<rect width='{cells}' height='{cells}' fill='none' stroke='currentColor' "
        f"stroke-width='{cells / SIDE:.3f}'/><path d='{marks}' opacity='{faint}'/>"
        f"<g font-size='3' text-anchor='middle' dominant-baseline='central'>{told}</g></svg>"
    )
