"""The block program read with letters instead of numbers: every value is a polynomial of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate

from kkt.elimination.program import Instruction, Ref

from .algebra import Algebra, Undecided
from .polynomial import Polynomial, one, total, zero

Name = Callable[[str, object], str]  # letter and body to the name of a block


class Reading:
    """Values of a program as polynomials, in the order of its instructions.

    ``name`` gives the name of an input block, ``pivot`` that of a dense pivot by its value,
    ``entered`` what a block is that was entered as a formula.
    """

    def __init__(
        self,
        algebra: Algebra,
        instructions: Iterable[Instruction],
        shapes: Sequence[tuple[int, int]],
        name: Name,
        pivot: Callable[[int], str],
        entered: Callable[[object], Polynomial] | None = None,
    ) -> None:
        self.algebra, self.shapes, self.name, self.pivot = algebra, shapes, name, pivot
        self.entered = entered
        self.values: dict[int, Polynomial] = {}
        self.sources: dict[int, tuple[str, object]] = {}  # input blocks
        self.factored: dict[int, Polynomial] = {}  # factors, before they were factored
        self.partitions: list[tuple[int, ...]] = []
        for i in instructions:
            value = self._read(i)
            self.values[i.out] = algebra.normal(value)

    def __call__(self, ref: Ref) -> Polynomial:
        """A use of a value: transposed, or with the other sign."""
        p = self.values[ref.value]
        if ref.transposed:
            p = self.algebra.t(p)
        return p if ref.sign > 0 else -p

    def _read(self, i: Instruction) -> Polynomial:
        reader = getattr(self, f"_{i.op}", None)
        if reader is None:
            raise Undecided(f"the operation {i.op!r} has no reading in blocks")
        return reader(i)

    # -- leaves -------------------------------------------------------------------------------

    def _input(self, i: Instruction) -> Polynomial:
        letter, body = i.info
        if letter == "formula" and self.entered is not None:
            return self.entered(body)
        self.sources[i.out] = (letter, body)
        return self.algebra.letter(self.name(letter, body), self.shapes[i.out], i.symmetric)

    def _eye(self, i: Instruction) -> Polynomial:
        return one(i.info[0])

    def _along(self, i: Instruction) -> Polynomial:
        return self._basis("B", i)

    def _across(self, i: Instruction) -> Polynomial:
        return self._basis("C", i)

    def _basis(self, letter: str, i: Instruction) -> Polynomial:
        """B with H B = 1, or C with H C = 0."""
        (H,) = _present(i)
        basis = self.algebra.letter(
            self.name(letter, self.sources[H.value][1]), self.shapes[i.out]
        )
        rows = self.shapes[H.value][0]
        known = one(rows) if letter == "B" else zero((rows, self.shapes[i.out][1]))
        self.algebra.know(self(H) @ basis, known)
        return basis

    # -- arithmetic ---------------------------------------------------------------------------

    def _mul(self, i: Instruction) -> Polynomial:
        a, b = _present(i)
        return self(a) @ self(b)

    def _add(self, i: Instruction) -> Polynomial:
        a, b = _present(i)
        return self(a) + self(b)

    def _divide(self, i: Instruction) -> Polynomial:
        (a,) = _present(i)
        return self(a).scaled(Fraction(1, i.info[0]))

    def _mirror(self, i: Instruction) -> Polynomial:
        (a,) = _present(i)
        return self(a)

    # -- pivots -------------------------------------------------------------------------------

    def _factor(self, i: Instruction) -> Polynomial:
        (a,) = _present(i)
        self.factored[i.out] = self.algebra.normal(self(a))
        return self.algebra.pivot(self.factored[i.out], self.pivot(i.out))[0]

    def _solve(self, i: Instruction) -> Polynomial:
        factor, c = _present(i)
        return self._inverse(factor) @ self(c)

    def _forward(self, i: Instruction) -> Polynomial:
        factor, c = _present(i)
        L, _ = self.algebra.factor(self.factored[factor.value], self.pivot(factor.value))
        return L @ self(c)

    def _inner(self, i: Instruction) -> Polynomial:
        factor, y1, y2 = _present(i)
        if self.shapes[factor.value][0] == 1:  # L is 1, and was left out
            middle = self._inverse(factor)
        else:
            _, middle = self.algebra.factor(self.factored[factor.value], self.pivot(factor.value))
        return self(y1.T) @ middle @ self(y2)

    def _inverse(self, factor: Ref) -> Polynomial:
        return self.algebra.pivot(self.factored[factor.value], self.pivot(factor.value))[1]

    # -- blocks of blocks ---------------------------------------------------------------------

    def _stack(self, i: Instruction) -> Polynomial:
        parts = self._parts(i.info[0])
        return total(
            (E @ self(ref) for E, ref in zip(parts, i.args, strict=True) if ref is not None),
            self.shapes[i.out],
        )

    def _square(self, i: Instruction) -> Polynomial:
        parts = self._parts(i.info[0])
        result, refs = zero(self.shapes[i.out]), iter(i.args)
        for r, left in enumerate(parts):
            for right in parts[r:]:
                ref = next(refs)
                if ref is not None:
                    block = left @ self(ref) @ self.algebra.t(right)
                    result = result + block
                    if left is not right:
                        result = result + self.algebra.t(block)
        return result

    def _rows(self, i: Instruction) -> Polynomial:
        (a,) = _present(i)
        first, last = i.info
        for sizes in self.partitions:
            ends = list(accumulate(sizes))
            if ends[-1] == (self.shapes[a.value][a.transposed]) and last in ends:
                block = ends.index(last)
                if ends[block] - sizes[block] == first:
                    return self.algebra.t(self._parts(sizes)[block]) @ self(a)
        raise Undecided(f"rows {first} to {last} are no block")

    def _parts(self, sizes: tuple[int, ...]) -> list[Polynomial]:
        """E_1, E_2 ...: columns of the identity, E_i* E_j = 1 where i = j, else 0."""
        size = sum(sizes)
        parts = [
            self.algebra.letter(f"E_{r}{list(sizes)}", (size, m)) for r, m in enumerate(sizes)
        ]
        if sizes not in self.partitions:
            self.partitions.append(sizes)
            for r, left in enumerate(parts):
                for c, right in enumerate(parts):
                    known = one(sizes[r]) if r == c else zero((sizes[r], sizes[c]))
                    self.algebra.know(self.algebra.t(left) @ right, known)
        return parts


def _present(i: Instruction) -> tuple[Ref, ...]:
    return tuple(ref for ref in i.args if ref is not None)
