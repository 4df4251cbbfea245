"""Block programs and typed formulas, entry by entry, in flint's polynomials and fractions.

No rule is known here, and nothing of :mod:`analysis.algebra` is used.  Every value of the engine is
computed from the instructions of its program, and two blocks are equal if their entries are.  A block
is a numpy array of scalars, so that sums, products and transposes are numpy's.

* :class:`Symbols`: every entry of every letter is a symbol of its own, and scalars are rational
  functions, a :class:`Ratio` each.  The algebra does not depend on the number of rows of a spatial
  vector, which is 2 here, and 1 of a joint.  It is taken wherever its polynomials stay small, which
  does not depend on the machine.
* :class:`Point`: every entry is a random whole number; blocks have the sizes of the statement.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

import numpy as np
from flint import Ordering, fmpq, fmpz_mpoly, fmpz_mpoly_ctx
from numpy.typing import NDArray
from sympy import Identity, Inverse, MatAdd, MatMul, MatPow, MatrixExpr, MatrixSymbol, Transpose, ZeroMatrix

from pivotree.kkt.program.program import Instruction, Ref
from pivotree.kkt.program.readers import BlockReader

LARGEST = 3000


class TooLarge(Exception):
    """A polynomial would have too many terms."""


class Singular(Exception):
    """What is inverted has no inverse."""


class Ratio:
    """A rational function: polynomials p over q without a common factor."""

    __slots__ = ("p", "q")

    def __init__(self, p: Any, q: Any) -> None:
        self.p: Any = p
        self.q: Any = q

    def _of(self, other: Any) -> Ratio:
        return other if isinstance(other, Ratio) else Ratio(self.q * 0 + other, self.q * 0 + 1)

    def __add__(self, other: Any) -> Ratio:
        x = self._of(other)
        common = self.q.gcd(x.q)
        d, e = self.q / common, x.q / common
        p, q = product(self.p, e) + product(x.p, d), product(self.q, e)
        left = p.gcd(common)  # nothing else can have become common
        return Ratio(p / left, q / left)

    def __mul__(self, other: Any) -> Ratio:
        x = self._of(other)
        a, b = self.p.gcd(x.q), x.p.gcd(self.q)
        return Ratio(product(self.p / a, x.p / b), product(self.q / b, x.q / a))

    def __truediv__(self, other: Any) -> Ratio:
        x = self._of(other)
        return self * Ratio(x.q, x.p)

    def __rtruediv__(self, other: Any) -> Ratio:
        return self._of(other) / self

    def __neg__(self) -> Ratio:
        return Ratio(-self.p, self.q)

    def __sub__(self, other: Any) -> Ratio:
        return self + -self._of(other)

    def __rsub__(self, other: Any) -> Ratio:
        return self._of(other) + -self

    def __bool__(self) -> bool:
        return bool(self.p != 0)

    def __eq__(self, other: object) -> bool:
        x = self._of(other)  # in lowest terms, up to a sign
        return (self.p, self.q) in ((x.p, x.q), (-x.p, -x.q))

    __hash__ = None  # type: ignore[assignment]
    __radd__, __rmul__ = __add__, __mul__


def product(a: Any, b: Any) -> Any:
    """Raises TooLarge where it would have too many terms."""
    if len(a) * len(b) > LARGEST:
        raise TooLarge
    return a * b


def inverse(A: NDArray[Any]) -> NDArray[Any]:
    """By Gauss and Jordan.  Raises Singular."""
    n = len(A)
    left = np.hstack([A, np.eye(n, dtype=int).astype(object)])
    for k in range(n):
        r = next((r for r in range(k, n) if left[r, k]), None)
        if r is None:
            raise Singular
        left[[k, r]] = left[[r, k]]
        left[k] = left[k] / left[k, k]
        for i in (i for i in range(n) if i != k and left[i, k]):
            left[i] = left[i] - left[k] * left[i, k]
    return left[:, n:]


def found(value: Any) -> Any:
    """A value, or what was raised where it was to be found."""
    if isinstance(value, TooLarge):
        raise value
    return value


SMALLER = {6: 2, 5: 1, 4: 1, 2: 1, 1: 1, 0: 0}  # rows here of so many rows


class Field:
    """The values of a bench's letters, and of what its engines make of them."""

    def __init__(self, bench: Any) -> None:
        self.bench: Any = bench
        self.letters: frozenset[str] = frozenset(bench.letters)
        self.free: dict[str, tuple[int, int]] = dict(self._free())
        self.blocks: dict[str, NDArray[Any] | TooLarge] = {}
        self.runs: dict[str, Run] = {}

    def size(self, rows: int) -> int:
        """How many rows stand here for so many."""
        raise NotImplementedError

    def entry(self, name: str, i: int, j: int) -> Any:
        """An entry of a letter of any value."""
        raise NotImplementedError

    def number(self, p: int, q: int = 1) -> Any:
        """p / q."""
        raise NotImplementedError

    # -- letters ------------------------------------------------------------------------------

    def _free(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Letters of any value, with their shapes; of a basis, what is free in it."""
        for name, shape in self.bench.letters.items():
            if self.bench.basis_of(name) is None and name not in self.bench.inverses:
                yield name, shape
        for k in self.bench.bodies:
            N = self.bench.dof(k)
            yield f"Y_{k}", (6 - N, N)

    def letter(self, name: str) -> NDArray[Any]:
        """The block that a name stands for.  Raises TooLarge or Singular."""
        if name not in self.blocks:
            try:
                self.blocks[name] = self._block(name)
            except TooLarge as error:
                self.blocks[name] = error
        return found(self.blocks[name])

    def _block(self, name: str) -> NDArray[Any]:
        bench = self.bench
        for engine in bench.engines:
            if name in engine.refs:
                if engine.label not in self.runs:
                    self.runs[engine.label] = Run(self, engine)
                return self.runs[engine.label](engine.refs[name])
        if name in bench.formulas:
            return self.value(bench.formulas[name])
        if name in bench.inverses:
            return inverse(self.letter(bench.inverses[name]))
        if (found := bench.basis_of(name)) is not None:
            return self._basis(*found)
        shape = tuple(self.size(m) for m in self.free[name])
        block = np.empty(shape, dtype=object)
        for i, j in np.ndindex(shape):
            block[i, j] = block[j, i] if name in bench.symmetric and j < i else self.entry(name, i, j)
        return block

    def _basis(self, letter: str, k: int) -> NDArray[Any]:
        """H = [F G]: C = [-F^-1 G; 1] has H C = 0, and B = [F^-1; 0] + C Y has H B = 1."""
        H = self.letter(f"H_{k}")
        n, s = H.shape
        back = inverse(H[:, :n])
        C = np.vstack([-(back @ H[:, n:]), self.one(s - n)])
        return C if letter == "C" else np.vstack([back, self.zero(s - n, n)]) + C @ self.letter(f"Y_{k}")

    # -- formulas -----------------------------------------------------------------------------

    def value(self, e: Any) -> NDArray[Any]:
        """A typed formula; an inverse is that of all that stands under it."""
        if isinstance(e, MatrixSymbol):
            return self.letter(e.name)
        if isinstance(e, Identity):
            return self.one(self.size(e.shape[0]))
        if isinstance(e, ZeroMatrix):
            return self.zero(self.size(e.shape[0]), self.size(e.shape[1]))
        if isinstance(e, MatAdd):
            result = self.value(e.args[0])
            for arg in e.args[1:]:
                result = result + self.value(arg)
            return result
        if isinstance(e, Transpose):
            return self.value(e.arg).T
        if isinstance(e, Inverse):
            return inverse(self.value(e.arg))
        if isinstance(e, MatPow):
            return self.value(MatMul(*[e.base] * int(e.exp), evaluate=False))
        if isinstance(e, MatMul):
            coefficient, factors = e.as_coeff_matrices()
            result = self.value(factors[-1])  # from the right, where vectors are
            for factor in reversed(factors[:-1]):
                result = self.value(factor) @ result
            return result * self.number(int(coefficient.p), int(coefficient.q))
        raise TypeError(f"formula holds {type(e).__name__}, which is no operation on blocks")

    def equal(self, left: MatrixExpr, right: MatrixExpr) -> bool:
        """Raises TooLarge, or Singular where a side has no value."""
        return bool(np.all(self.value(left) == self.value(right)))

    def one(self, size: int) -> NDArray[Any]:
        return np.eye(size, dtype=int) * self.number(1)

    def zero(self, rows: int, columns: int) -> NDArray[Any]:
        return np.zeros((rows, columns), dtype=int) * self.number(1)


class Symbols(Field):
    """Rational functions of all entries of all letters."""

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        names = list(self._entries())
        self.context: fmpz_mpoly_ctx = fmpz_mpoly_ctx.get(names, Ordering.lex)
        self.symbols: dict[str, fmpz_mpoly] = dict(zip(names, self.context.gens(), strict=True))

    def size(self, rows: int) -> int:
        return SMALLER[int(rows)]

    def _entries(self) -> Iterator[str]:
        for name, (rows, columns) in self.free.items():
            for i in range(self.size(rows)):
                for j in range(self.size(columns)):
                    if name not in self.bench.symmetric or i <= j:
                        yield f"{name}[{i},{j}]"

    def entry(self, name: str, i: int, j: int) -> Any:
        return Ratio(self.symbols[f"{name}[{i},{j}]"], self.context.constant(1))

    def number(self, p: int, q: int = 1) -> Ratio:
        return Ratio(self.context.constant(p), self.context.constant(q))


class Point(Field):
    """Rational numbers; ``instance`` says which random ones."""

    def __init__(self, bench: Any, instance: int) -> None:
        super().__init__(bench)
        self.instance = instance

    def size(self, rows: int) -> int:
        return int(rows)

    def entry(self, name: str, i: int, j: int) -> Any:
        # a joint axis of one entry must not be zero
        return fmpq(random.Random(f"{name} {i} {j} {self.instance}").randint(-9, 8) or 9)

    def number(self, p: int, q: int = 1) -> fmpq:
        return fmpq(p, q)


class Run(BlockReader):
    """The values of a program that are asked for, and of what they need."""

    def __init__(self, field: Field, engine: Any) -> None:
        super().__init__()
        self.field = field
        self.engine = engine
        self.instructions: Mapping[int, Instruction] = {i.out: i for i in engine.instructions}
        self.partitions: dict[int, Any] = {
            sum(i.info[0]): i.info[0] for i in engine.instructions if i.op in ("square", "stack")
        }
        self.inverses: dict[int, NDArray[Any]] = {}  # of pivots

    def __call__(self, ref: Ref) -> NDArray[Any]:
        """Raises TooLarge, the second time at once."""
        wanted, waiting = set(), [ref.value]
        while waiting:
            out = waiting.pop()
            if out not in wanted and out not in self.values:
                wanted.add(out)
                waiting += [r.value for r in self.instructions[out].present]
        for out in sorted(wanted):  # in the order of the program
            try:
                self.values[out] = self.value(self.instructions[out])
            except TooLarge as error:
                self.values[out] = self.values[ref.value] = error
                break
        found(self.values[ref.value])
        return super().__call__(ref)

    def _input(self, i: Instruction) -> NDArray[Any]:
        letter, body = i.info
        if letter == "formula":
            return self.field.value(self.engine.formulas[body])
        return self.field.letter(self.field.bench.name(letter, body))

    def _eye(self, i: Instruction) -> NDArray[Any]:
        return self.field.one(self.field.size(i.info[0]))

    def basis(self, letter: str, i: Instruction) -> NDArray[Any]:
        body = self.instructions[i.present[0].value].info[1]
        return self.field.letter(self.field.bench.name(letter, body))

    def _divide(self, i: Instruction, a: NDArray[Any]) -> NDArray[Any]:
        return a * self.field.number(1, i.info[0])

    # a pivot A = L D L* is read with L = 1 and D = A: of L^-1 C nothing is used but Y* D^-1 Z

    def _solve(self, i: Instruction, a: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
        return self._inverse_of(i, a) @ c

    def _forward(self, i: Instruction, a: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
        return c

    def _inner(self, i: Instruction, a: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
        return y.T @ self._inverse_of(i, a) @ z

    def _inverse_of(self, i: Instruction, a: NDArray[Any]) -> NDArray[Any]:
        """Once for each factor, which many instructions read."""
        of = i.present[0].value
        if of not in self.inverses:
            self.inverses[of] = inverse(a)
        return self.inverses[of]

    def _stack(self, i: Instruction, *args: NDArray[Any] | None) -> NDArray[Any]:
        columns = next(a for a in args if a is not None).shape[1]
        sizes = map(self.field.size, i.info[0])
        pairs = zip(args, sizes, strict=True)
        return np.vstack([self.field.zero(size, columns) if a is None else a for a, size in pairs])

    def _rows(self, i: Instruction, a: NDArray[Any]) -> NDArray[Any]:
        """Rows of blocks that were put together."""
        first, last = i.info
        (of,) = i.present
        whole = self.engine.shapes[of.value][of.transposed]
        sizes = self.partitions[whole]
        there = [0, *accumulate(sizes)]
        here = [0, *accumulate(map(self.field.size, sizes))]
        last = whole if last is None else last
        return a[here[there.index(first)] : here[there.index(last)]]

    def _square(self, i: Instruction, *args: NDArray[Any] | None) -> NDArray[Any]:
        sizes = [self.field.size(m) for m in i.info[0]]
        n, upper = len(sizes), iter(args)
        blocks: list[list[Any]] = [[None] * n for _ in range(n)]
        for r in range(n):
            for c in range(r, n):
                found = next(upper)
                blocks[r][c] = self.field.zero(sizes[r], sizes[c]) if found is None else found
                blocks[c][r] = blocks[r][c].T
        return np.block(blocks)
