"""The same program and the same formulas with exact fractions: a guard against a wrong normal form.

Nothing here knows a rule: matrices of rationals (flint) are multiplied, added and inverted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flint import fmpq_mat

from pivotree.kkt.program.program import Instruction, Ref

Matrix = Any  # fmpq_mat


class Exact:
    """Values of a program for given blocks: ``block(letter, body)`` gives an input's matrix."""

    def __init__(
        self, instructions: Iterable[Instruction], block: Callable[[str, object], Matrix]
    ) -> None:
        self.block = block
        self.values: dict[int, Matrix] = {}
        self.sources: dict[int, object] = {}
        for i in instructions:
            self.values[i.out] = self._value(i)

    def __call__(self, ref: Ref) -> Matrix:
        value = self.values[ref.value]
        if ref.transposed:
            value = value.transpose()
        return value if ref.sign > 0 else -1 * value

    def _value(self, i: Instruction) -> Matrix:
        op = i.op
        args: list[Any] = [None if ref is None else self(ref) for ref in i.args]
        if op == "input":
            self.sources[i.out] = i.info[1]
            return self.block(*i.info)
        if op == "eye":
            return identity(i.info[0])
        if op in ("along", "across"):
            source = i.args[0]
            assert source is not None
            return self.block("B" if op == "along" else "C", self.sources[source.value])
        if op == "mul":
            return args[0] * args[1]
        if op == "add":
            return args[0] + args[1]
        if op == "divide":
            return args[0] / i.info[0]
        if op in ("mirror", "factor"):
            return args[0]
        if op == "solve":
            return args[0].inv() * args[1]
        if op == "forward":
            return lower(args[0])[0].inv() * args[1]
        if op == "inner":
            return args[1].transpose() * lower(args[0])[1].inv() * args[2]
        if op == "stack":
            columns = next(a for a in args if a is not None).ncols()
            rows = [
                row
                for a, size in zip(args, i.info[0], strict=True)
                for row in (a.tolist() if a is not None else [[0] * columns] * size)
            ]
            return fmpq_mat(rows)
        if op == "rows":
            first, last = i.info
            return fmpq_mat(args[0].tolist()[first:last])
        if op == "square":
            return squared(args, i.info[0])
        raise ValueError(f"the operation {op!r} has no exact value here")


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
