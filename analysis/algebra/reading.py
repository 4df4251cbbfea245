"""The block program read with letters instead of numbers: every value is a polynomial of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from flint import fmpq
from sympy import Identity, Inverse, MatAdd, MatMul, MatPow, MatrixExpr, MatrixSymbol, Transpose, ZeroMatrix

from pivotree.kkt.program.program import BlockReader, Instruction

from .algebra import Algebra, BlockPolynomial, Undecided, one, total, zero

Name = Callable[[str, object], str]  # letter and body to the name of a block


class Reading(BlockReader):
    """Values of a program as polynomials, in the order of its instructions.

    ``name`` gives the name of an input block, ``entered`` what a block is that was entered as a
    formula.
    """

    def __init__(
        self,
        algebra: Algebra,
        instructions: Iterable[Instruction],
        shapes: Sequence[tuple[int, int]],
        name: Name,
        entered: Callable[[object], BlockPolynomial],
    ) -> None:
        super().__init__()
        self.algebra = algebra
        self.shapes = shapes
        self.name = name
        self.entered = entered
        self.sources: dict[int, tuple[str, object]] = {}  # input blocks
        self.inverses: dict[int, BlockPolynomial] = {}  # of what was factored
        self.squares: dict[int, tuple[dict[tuple[int, int], BlockPolynomial], list[BlockPolynomial]]] = {}
        self.partitions: list[tuple[int, ...]] = []
        self.read(instructions)

    def value(self, i: Instruction) -> BlockPolynomial:
        return self.algebra.normal(super().value(i))

    def transposed(self, value: BlockPolynomial) -> BlockPolynomial:
        return self.algebra.t(value)

    def unread(self, i: Instruction) -> Exception:
        return Undecided(f"the operation {i.op!r} has no reading in blocks")

    # -- leaves -------------------------------------------------------------------------------

    def _input(self, i: Instruction) -> BlockPolynomial:
        letter, body = i.info
        if letter == "formula":
            return self.entered(body)
        self.sources[i.out] = (letter, body)
        return self.algebra.letter(self.name(letter, body), self.shapes[i.out], i.symmetric)

    def _eye(self, i: Instruction) -> BlockPolynomial:
        return one(i.info[0])

    def basis(self, letter: str, i: Instruction) -> BlockPolynomial:
        """B with H B = 1, or C with H C = 0."""
        (H,) = i.present
        basis = self.algebra.letter(self.name(letter, self.sources[H.value][1]), self.shapes[i.out])
        rows = self.shapes[H.value][0]
        known = one(rows) if letter == "B" else zero((rows, self.shapes[i.out][1]))
        self.algebra.know(self(H) @ basis, known)
        return basis

    def _divide(self, i: Instruction, a: BlockPolynomial) -> BlockPolynomial:
        return a.scaled(fmpq(1, i.info[0]))

    # -- pivots -------------------------------------------------------------------------------

    def _factor(self, i: Instruction, a: BlockPolynomial) -> BlockPolynomial:
        (of,), name = i.present, f"D{i.out}"
        if of.value in self.squares:
            self.inverses[i.out] = block_inverse(self.algebra, *self.squares[of.value], name)
        else:
            self.inverses[i.out] = self.algebra.pivot(a, name)[1]
        return a

    def _solve(self, i: Instruction, a: BlockPolynomial, c: BlockPolynomial) -> BlockPolynomial:
        return self.inverses[i.present[0].value] @ c

    def _forward(self, i: Instruction, a: BlockPolynomial, c: BlockPolynomial) -> BlockPolynomial:
        return self.algebra.factor(self.inverses[i.present[0].value])[0] @ c

    def _inner(
        self, i: Instruction, a: BlockPolynomial, y: BlockPolynomial, z: BlockPolynomial
    ) -> BlockPolynomial:
        factor, left, _ = i.present
        middle = self.inverses[factor.value]
        if self.shapes[factor.value][0] > 1:  # else L is 1, and was left out
            middle = self.algebra.factor(middle)[1]
        return self(left.T) @ middle @ z

    # -- blocks of blocks ---------------------------------------------------------------------

    def _stack(self, i: Instruction, *blocks: BlockPolynomial | None) -> BlockPolynomial:
        parts = self._parts(i.info[0])
        return total(
            (E @ block for E, block in zip(parts, blocks, strict=True) if block is not None),
            self.shapes[i.out],
        )

    def _square(self, i: Instruction, *upper: BlockPolynomial | None) -> BlockPolynomial:
        sizes, t = i.info[0], self.algebra.t
        parts, given = self._parts(sizes), iter(upper)
        blocks: dict[tuple[int, int], BlockPolynomial] = {}
        for r in range(len(sizes)):
            for c in range(r, len(sizes)):
                block = next(given)
                blocks[r, c] = zero((sizes[r], sizes[c])) if block is None else block
                blocks[c, r] = t(blocks[r, c])
        self.squares[i.out] = (blocks, parts)
        return total((parts[r] @ block @ t(parts[c]) for (r, c), block in blocks.items()), self.shapes[i.out])

    def _rows(self, i: Instruction, a: BlockPolynomial) -> BlockPolynomial:
        (of,), (first, last) = i.present, i.info
        for sizes in self.partitions:
            ends = list(accumulate(sizes))
            if ends[-1] == self.shapes[of.value][of.transposed] and last in ends:
                block = ends.index(last)
                if ends[block] - sizes[block] == first:
                    return self.algebra.t(self._parts(sizes)[block]) @ a
        raise Undecided(f"rows {first} to {last} are no block")

    def _parts(self, sizes: tuple[int, ...]) -> list[BlockPolynomial]:
        """E_1, E_2 ...: columns of the identity, E_i* E_j = 1 where i = j, else 0."""
        size = sum(sizes)
        parts = [self.algebra.letter(f"E_{r}{list(sizes)}", (size, m)) for r, m in enumerate(sizes)]
        if sizes not in self.partitions:
            self.partitions.append(sizes)
            for r, left in enumerate(parts):
                for c, right in enumerate(parts):
                    known = one(sizes[r]) if r == c else zero((sizes[r], sizes[c]))
                    self.algebra.know(self.algebra.t(left) @ right, known)
        return parts


def block_inverse(
    algebra: Algebra, blocks: dict[tuple[int, int], BlockPolynomial], parts: list[BlockPolynomial], name: str
) -> BlockPolynomial:
    """The inverse of sum E_r A_rc E_c* by pivots D_1, D_2 ... on its diagonal, opaque ones.

    Whatever a dense factor does with its scalars, this is the inverse that it stands for.
    """
    n, A = len(parts), dict(blocks)
    inverse = []
    for k in range(n):
        inverse.append(algebra.pivot(A[k, k], f"{name}.{k + 1}")[1])
        for r in range(k + 1, n):
            gain = algebra.normal(A[r, k] @ inverse[k])
            for c in range(k + 1, n):
                A[r, c] = algebra.normal(A[r, c] - gain @ A[k, c])
    columns = []
    for j in range(n):  # A x = E_j*, forward and back
        x: list[BlockPolynomial] = []
        for r in range(n):
            y = algebra.t(parts[j]) if r == j else zero((A[r, r].shape[0], parts[j].shape[0]))
            for k in range(r):
                y = y - A[r, k] @ x[k]
            x.append(algebra.normal(inverse[r] @ y))
        for r in reversed(range(n)):
            for c in range(r + 1, n):
                x[r] = algebra.normal(x[r] - inverse[r] @ A[r, c] @ x[c])
        columns.append(total((E @ row for E, row in zip(parts, x, strict=True)), _square(parts)))
    return algebra.normal(total(columns, _square(parts)))


def _square(parts: list[BlockPolynomial]) -> tuple[int, int]:
    return (parts[0].shape[0], parts[0].shape[0])


def polynomial(
    expression: MatrixExpr, algebra: Algebra, values: Mapping[str, BlockPolynomial]
) -> BlockPolynomial:
    """A formula in block letters as a polynomial; ``values`` are symbols that stand for others.

    An inverse is that of a pivot: what stands under it becomes an opaque letter.
    """

    def read(e: Any) -> BlockPolynomial:
        shape = (int(e.shape[0]), int(e.shape[1]))
        if isinstance(e, MatrixSymbol):
            return values[e.name] if e.name in values else algebra.letter(e.name, shape)
        if isinstance(e, Identity):
            return one(shape[0])
        if isinstance(e, ZeroMatrix):
            return zero(shape)
        if isinstance(e, MatAdd):
            return total((read(arg) for arg in e.args), shape)
        if isinstance(e, Transpose):
            return algebra.t(read(e.arg))
        if isinstance(e, MatPow) and not isinstance(e, Inverse):
            return read(MatMul(*[e.base] * int(e.exp), evaluate=False))
        if isinstance(e, Inverse):
            return algebra.pivot(read(e.arg), f"D({e.arg})")[1]
        if isinstance(e, MatMul):
            coefficient, factors = e.as_coeff_matrices()
            result = read(factors[0])
            for factor in factors[1:]:
                result = algebra.normal(result @ read(factor))
            return result.scaled(fmpq(int(coefficient.p), int(coefficient.q)))
        raise TypeError(f"formula holds {type(e).__name__}, which is no operation on blocks")

    return algebra.normal(read(expression))
