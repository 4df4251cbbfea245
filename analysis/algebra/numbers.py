"""The same program and the same formulas with exact fractions: a guard against a wrong normal form.

Nothing here knows a rule: matrices of rationals (flint) are multiplied, added and inverted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flint import fmpq_mat

from pivotree.kkt.program.program import BlockReader, Instruction

Matrix = Any  # fmpq_mat


class Exact(BlockReader):
    """Values of a program for given blocks: ``block(letter, body)`` gives an input's matrix."""

    def __init__(self, instructions: Iterable[Instruction], block: Callable[[str, object], Matrix]) -> None:
        super().__init__()
        self.block = block
        self.sources: dict[int, object] = {}
        self.read(instructions)

    def transposed(self, value: Matrix) -> Matrix:
        return value.transpose()

    def _input(self, i: Instruction) -> Matrix:
        self.sources[i.out] = i.info[1]
        return self.block(*i.info)

    def _eye(self, i: Instruction) -> Matrix:
        return identity(i.info[0])

    def basis(self, letter: str, i: Instruction) -> Matrix:
        (H,) = i.present
        return self.block(letter, self.sources[H.value])

    def _mul(self, i: Instruction, a: Matrix, b: Matrix) -> Matrix:
        return a * b

    def _divide(self, i: Instruction, a: Matrix) -> Matrix:
        return a / i.info[0]

    def _solve(self, i: Instruction, a: Matrix, c: Matrix) -> Matrix:
        return a.inv() * c

    def _forward(self, i: Instruction, a: Matrix, c: Matrix) -> Matrix:
        return lower(a)[0].inv() * c

    def _inner(self, i: Instruction, a: Matrix, y: Matrix, z: Matrix) -> Matrix:
        return y.transpose() * lower(a)[1].inv() * z

    def _stack(self, i: Instruction, *parts: Matrix | None) -> Matrix:
        columns = next(a for a in parts if a is not None).ncols()
        rows = [
            row
            for a, size in zip(parts, i.info[0], strict=True)
            for row in (a.tolist() if a is not None else [[0] * columns] * size)
        ]
        return fmpq_mat(rows)

    def _rows(self, i: Instruction, a: Matrix) -> Matrix:
        return fmpq_mat(a.tolist()[slice(*i.info)])

    def _square(self, i: Instruction, *blocks: Matrix | None) -> Matrix:
        return squared(list(blocks), i.info[0])


def identity(size: int) -> Matrix:
    return fmpq_mat([[int(r == c) for c in range(size)] for r in range(size)])


def lower(A: Matrix) -> tuple[Matrix, Matrix]:
    """L and D of A = L D L* without pivoting."""
    n = A.nrows()
    left, L, D = A.tolist(), identity(n).tolist(), [[0] * n for _ in range(n)]
    for k in range(n):
        D[k][k] = left[k][k]
        for r in range(k + 1, n):
            L[r][k] = left[r][k] / left[k][k]
            for c in range(k + 1, n):
                left[r][c] -= L[r][k] * left[k][c]
    return fmpq_mat(L), fmpq_mat(D)


def squared(blocks: list[Matrix | None], sizes: tuple[int, ...]) -> Matrix:
    """A symmetric matrix from the blocks of its upper triangle."""
    n = sum(sizes)
    whole = [[0] * n for _ in range(n)]
    entries = iter(blocks)
    for r in range(len(sizes)):
        for c in range(r, len(sizes)):
            block = next(entries)
            if block is None:
                continue
            top, left = sum(sizes[:r]), sum(sizes[:c])
            for i, row in enumerate(block.tolist()):
                for j, x in enumerate(row):
                    whole[top + i][left + j] = whole[left + j][top + i] = x
    return fmpq_mat(whole)
