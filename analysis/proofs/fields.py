"""Block programs and typed formulas, entry by entry, in sympy's fields.

No rule is known here, and nothing of :mod:`analysis.algebra` is used.  Every value of the engine is
computed from the instructions of its program, and two blocks are equal if their entries are.

* :class:`Symbols`: every entry of every letter is a symbol of its own, and values are rational
  functions.  The algebra does not depend on the number of rows of a spatial vector, which is 2 here,
  and 1 of a joint.  It is taken wherever its polynomials stay small, which does not depend on the
  machine.
* :class:`Point`: every entry is a random whole number; blocks have the sizes of the statement.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from flint import Ordering, fmpz_mpoly_ctx
from sympy import (
    ZZ,
    Identity,
    Inverse,
    MatAdd,
    MatMul,
    MatPow,
    MatrixExpr,
    MatrixSymbol,
    Symbol,
    Transpose,
    ZeroMatrix,
)
from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyElement

from pivotree.kkt.program.program import BlockReader, Instruction, Ref

LARGEST = 3000


class TooLarge(Exception):
    """A polynomial would have too many terms."""


class Singular(Exception):
    """What is inverted has no inverse."""


@dataclass(frozen=True, eq=False)
class Fraction:
    """A block over one denominator; factors that both have are cancelled where sums are formed."""

    numer: DomainMatrix  # over ZZ[x, y ...] or ZZ
    denom: Any  # of the same ring

    @property
    def shape(self) -> tuple[int, int]:
        return self.numer.shape

    @property
    def T(self) -> Fraction:
        return Fraction(self.numer.transpose(), self.denom)

    def __neg__(self) -> Fraction:
        return Fraction(-self.numer, self.denom)

    def __add__(self, other: Fraction) -> Fraction:
        a, d, b, e = self.numer, self.denom, other.numer, other.denom
        if d == e:
            return reduced(a + b, d)
        g = common_factor(d, e)
        d, e = quotient(a, d, g), quotient(a, e, g)
        for numer, factor in ((a, e), (b, d)):
            _fits(largest(numer), factor)
        return reduced(a * e + b * d, d * e * g)

    def __sub__(self, other: Fraction) -> Fraction:
        return self + -other

    def __matmul__(self, other: Fraction) -> Fraction:
        _fits(largest(self.numer), largest(other.numer))
        numer, denom = self.numer * other.numer, self.denom * other.denom
        if any(terms(d) == 1 for d in (self.denom, other.denom)):  # what cancels does so in a sum
            return Fraction(numer, denom)
        return reduced(numer, denom)

    def same(self, other: Fraction) -> bool:
        """By multiplying out."""
        a, d, b, e = self.numer, self.denom, other.numer, other.denom
        return bool(a == b if d == e else a * e == b * d)

    def times(self, p: int, q: int) -> Fraction:
        """A p / q."""
        one = self.numer.domain.one
        return Fraction(self.numer * (one * p), self.denom * q)

    def inverse(self) -> Fraction:
        """Raises Singular."""
        if self.shape[0] > 1:
            _fits(largest(self.numer), largest(self.numer))
        adjugate, determinant = self.numer.adj_det()
        if not determinant:
            raise Singular
        return reduced(adjugate.to_dense() * self.denom, determinant)

    def part(self, rows: tuple[int, int], columns: tuple[int, int] | None = None) -> Fraction:
        """Rows and columns from the first to before the last."""
        columns = columns or (0, self.shape[1])
        return Fraction(self.numer.extract(range(*rows), range(*columns)), self.denom)

    @staticmethod
    def stacked(parts: list[Fraction]) -> Fraction:
        """Blocks one above another."""
        first, common = parts[0].numer, parts[0].denom
        for part in parts[1:]:
            common = common * quotient(first, part.denom, common_factor(common, part.denom))
        numer = [part.numer * quotient(first, common, part.denom) for part in parts]
        return Fraction(numer[0].vstack(*numer[1:]), common)


def lower(A: Fraction) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Scalars of L, below its diagonal, and of D: A = L D L* without pivoting."""
    n = A.shape[0]
    left = [[A.part((r, r + 1), (c, c + 1)) for c in range(n)] for r in range(n)]
    L: list[list[Fraction]] = [[] for _ in range(n)]
    for k in range(n):
        back = left[k][k].inverse()
        for r in range(k + 1, n):
            L[r].append(left[r][k] @ back)
            left[r] = [x - L[r][k] @ y for x, y in zip(left[r], left[k], strict=True)]
    return L, [left[k][k] for k in range(n)]


def quotient(of: DomainMatrix, p: Any, q: Any) -> Any:
    """p / q in the ring of a matrix, where it has no rest."""
    return of.domain.exquo(p, q)


def common_factor(p: Any, q: Any) -> Any:
    """The greatest one, by flint, up to a sign; what it is good for, sympy's exact division sees."""
    if not isinstance(p, PolyElement):
        return ZZ.gcd(p, q)
    names = fmpz_mpoly_ctx.get(("x", p.ring.ngens), Ordering.lex)
    found = names.from_dict(dict(p)).gcd(names.from_dict(dict(q)))
    return p.ring.from_dict({powers: int(c) for powers, c in found.to_dict().items()})


def terms(x: Any) -> int:
    return len(x) if isinstance(x, PolyElement) else 1


def entries(a: DomainMatrix) -> list[Any]:
    return sorted((x for row in a.to_list() for x in row if x), key=terms)


def largest(a: DomainMatrix) -> Any:
    """The entry of most terms."""
    return max(entries(a), key=terms, default=a.domain.one)


def _fits(a: Any, b: Any) -> None:
    """Raises TooLarge if a product of polynomials would have too many terms."""
    if terms(a) * terms(b) > LARGEST and a.ring.ngens > 1:
        raise TooLarge


def reduced(numer: DomainMatrix, denom: Any) -> Fraction:
    """In lowest terms, the denominator's leading coefficient positive."""
    common, negative = denom, numer.domain.is_negative
    for x in entries(numer):
        if common in (1, -1):
            break
        _fits(common, x)
        common = common_factor(common, x)
    if negative(denom) != negative(common):
        common = -common
    if common != 1:
        numer = numer.applyfunc(lambda x: quotient(numer, x, common) if x else x)
        denom = quotient(numer, denom, common)
    return Fraction(numer, denom)


SMALLER = {6: 2, 5: 1, 4: 1, 2: 1, 1: 1, 0: 0}  # rows here of so many rows


class Field:
    """The values of a bench's letters, and of what its engines make of them."""

    domain: Any  # ZZ, or a ring over it

    def __init__(self, bench: Any) -> None:
        self.bench, self.letters = bench, frozenset(bench.letters)
        self.free: dict[str, tuple[int, int]] = dict(self._free())
        self.blocks: dict[str, Fraction] = {}
        self.large: set[str] = set()
        self.runs: dict[str, Run] = {}

    def size(self, rows: int) -> int:
        """How many rows stand here for so many."""
        raise NotImplementedError

    def entry(self, name: str, i: int, j: int) -> Any:
        """An entry of a letter of any value."""
        raise NotImplementedError

    def block(self, rows: list[list[Any]], columns: int) -> Fraction:
        """A block of entries, or of whole numbers."""
        entries = [[self.domain.convert(x) for x in row] for row in rows]
        return Fraction(DomainMatrix(entries, (len(rows), columns), self.domain), self.domain.one)

    # -- letters ------------------------------------------------------------------------------

    def _free(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Letters of any value, with their shapes; of a basis, what is free in it."""
        for name, shape in self.bench.letters.items():
            if self.bench.basis_of(name) is None and name not in self.bench.inverses:
                yield name, shape
        for k in self.bench.bodies:
            N = self.bench.dof(k)
            yield f"Y_{k}", (6 - N, N)

    def letter(self, name: str) -> Fraction:
        """The block that a name stands for.  Raises TooLarge or Singular."""
        if name in self.large:
            raise TooLarge
        if name not in self.blocks:
            try:
                self.blocks[name] = self._block(name)
            except TooLarge:
                self.large.add(name)
                raise
        return self.blocks[name]

    def _block(self, name: str) -> Fraction:
        bench = self.bench
        for engine in bench.engines:
            if name in engine.refs:
                if engine.label not in self.runs:
                    self.runs[engine.label] = Run(self, engine)
                return self.runs[engine.label](engine.refs[name])
        if name in bench.formulas:
            return self.value(bench.formulas[name])
        if name in bench.inverses:
            return self.letter(bench.inverses[name]).inverse()
        if (found := bench.basis_of(name)) is not None:
            return self._basis(*found)
        rows, columns = (self.size(m) for m in self.free[name])
        entries: list[list[Any]] = []
        for i in range(rows):
            known = [row[i] for row in entries] if name in bench.symmetric else []
            entries.append([*known, *(self.entry(name, i, j) for j in range(len(known), columns))])
        return self.block(entries, columns)

    def _basis(self, letter: str, k: int) -> Fraction:
        """H = [F G]: C = [-F^-1 G; 1] has H C = 0, and B = [F^-1; 0] + C Y has H B = 1."""
        H = self.letter(f"H_{k}")
        n, s = H.shape
        back = H.part((0, n), (0, n)).inverse()
        C = Fraction.stacked([-(back @ H.part((0, n), (n, s))), self.one(s - n)])
        if letter == "C":
            return C
        return Fraction.stacked([back, self.zero(s - n, n)]) + C @ self.letter(f"Y_{k}")

    # -- formulas -----------------------------------------------------------------------------

    def value(self, e: Any) -> Fraction:
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
            return self.value(e.arg).inverse()
        if isinstance(e, MatPow):
            return self.value(MatMul(*[e.base] * int(e.exp), evaluate=False))
        if isinstance(e, MatMul):
            coefficient, factors = e.as_coeff_matrices()
            result = self.value(factors[-1])  # from the right, where vectors are
            for factor in reversed(factors[:-1]):
                result = self.value(factor) @ result
            return result.times(int(coefficient.p), int(coefficient.q))
        raise TypeError(f"formula holds {type(e).__name__}, which is no operation on blocks")

    def equal(self, left: MatrixExpr, right: MatrixExpr) -> bool:
        """Raises TooLarge, or Singular where a side has no value."""
        return self.value(left).same(self.value(right))

    def one(self, size: int) -> Fraction:
        return self.block([[int(r == c) for c in range(size)] for r in range(size)], size)

    def zero(self, rows: int, columns: int) -> Fraction:
        return self.block([[0] * columns for _ in range(rows)], columns)


class Symbols(Field):
    """Rational functions of all entries of all letters."""

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        names = list(self._entries())
        self.domain = ZZ[tuple(map(Symbol, names))]
        self.symbols = dict(zip(names, self.domain.gens, strict=True))

    def size(self, rows: int) -> int:
        return SMALLER[int(rows)]

    def _entries(self) -> Iterator[str]:
        for name, (rows, columns) in self.free.items():
            for i in range(self.size(rows)):
                for j in range(self.size(columns)):
                    if name not in self.bench.symmetric or i <= j:
                        yield f"{name}[{i},{j}]"

    def entry(self, name: str, i: int, j: int) -> Any:
        return self.symbols[f"{name}[{i},{j}]"]


class Point(Field):
    """Rational numbers; ``instance`` says which random ones."""

    domain = ZZ

    def __init__(self, bench: Any, instance: int) -> None:
        super().__init__(bench)
        self.instance = instance

    def size(self, rows: int) -> int:
        return int(rows)

    def entry(self, name: str, i: int, j: int) -> Any:
        # a joint axis of one entry must not be zero
        return random.Random(f"{name} {i} {j} {self.instance}").randint(-9, 8) or 9


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
        self.large: set[int] = set()  # values that are too large
        self.factors: dict[int, tuple[list[list[Fraction]], list[Fraction]]] = {}  # L and D^-1

    def __call__(self, ref: Ref) -> Fraction:
        """Raises TooLarge, the second time at once."""
        wanted, waiting = set(), [ref.value]
        while waiting:
            out = waiting.pop()
            if out not in wanted and out not in self.values:
                wanted.add(out)
                waiting += [r.value for r in self.instructions[out].present]
        if wanted & self.large:
            raise TooLarge
        for out in sorted(wanted):  # in the order of the program
            try:
                self.values[out] = self.value(self.instructions[out])
            except TooLarge:
                self.large |= {out, ref.value}
                raise
        return super().__call__(ref)

    def _input(self, i: Instruction) -> Fraction:
        letter, body = i.info
        if letter == "formula":
            return self.field.value(self.engine.formulas[body])
        return self.field.letter(self.field.bench.name(letter, body))

    def _eye(self, i: Instruction) -> Fraction:
        return self.field.one(self.field.size(i.info[0]))

    def basis(self, letter: str, i: Instruction) -> Fraction:
        body = self.instructions[i.present[0].value].info[1]
        return self.field.letter(self.field.bench.name(letter, body))

    def _divide(self, i: Instruction, a: Fraction) -> Fraction:
        return a.times(1, i.info[0])

    def _solve(self, i: Instruction, a: Fraction, c: Fraction) -> Fraction:
        return a.inverse() @ c

    def _forward(self, i: Instruction, a: Fraction, c: Fraction) -> Fraction:
        """L^-1 C for A = L D L*."""
        rows: list[Fraction] = []
        for r, L in enumerate(self._factor_of(i, a)[0]):
            row = c.part((r, r + 1))
            for factor, above in zip(L, rows, strict=True):
                row = row - factor @ above
            rows.append(row)
        return Fraction.stacked(rows)

    def _inner(self, i: Instruction, a: Fraction, y: Fraction, z: Fraction) -> Fraction:
        """Y* D^-1 Z."""
        back = self._factor_of(i, a)[1]
        return y.T @ Fraction.stacked([d @ z.part((r, r + 1)) for r, d in enumerate(back)])

    def _factor_of(self, i: Instruction, a: Fraction) -> tuple[list[list[Fraction]], list[Fraction]]:
        """Once for each factor, which many instructions read."""
        of = i.present[0].value
        if of not in self.factors:
            L, D = lower(a)
            self.factors[of] = L, [d.inverse() for d in D]
        return self.factors[of]

    def _stack(self, i: Instruction, *args: Fraction | None) -> Fraction:
        columns = next(a for a in args if a is not None).shape[1]
        sizes = map(self.field.size, i.info[0])
        return Fraction.stacked(
            [self.field.zero(size, columns) if a is None else a for a, size in zip(args, sizes, strict=True)]
        )

    def _rows(self, i: Instruction, a: Fraction) -> Fraction:
        """Rows of blocks that were put together."""
        first, last = i.info
        (of,) = i.present
        whole = self.engine.shapes[of.value][of.transposed]
        sizes = self.partitions[whole]
        there = [0, *accumulate(sizes)]
        here = [0, *accumulate(map(self.field.size, sizes))]
        last = whole if last is None else last
        return a.part((here[there.index(first)], here[there.index(last)]))

    def _square(self, i: Instruction, *args: Fraction | None) -> Fraction:
        sizes = [self.field.size(m) for m in i.info[0]]
        n, upper = len(sizes), iter(args)
        blocks: dict[tuple[int, int], Fraction] = {}
        for r in range(n):
            for c in range(r, n):
                found = next(upper)
                blocks[r, c] = self.field.zero(sizes[r], sizes[c]) if found is None else found
                blocks[c, r] = blocks[r, c].T
        columns = [Fraction.stacked([blocks[r, c] for r in range(n)]).T for c in range(n)]
        return Fraction.stacked(columns).T
