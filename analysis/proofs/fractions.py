"""Blocks of numbers by sympy: rational functions, as polynomials over one polynomial, and rationals.

sympy multiplies, adds, divides and compares; flint finds the common factors, since sympy's search
for them took two thirds of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import Ordering, fmpz_mpoly_ctx
from sympy import QQ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

LARGEST = 3000


class TooLarge(Exception):
    """A polynomial would have too many terms."""


class Singular(Exception):
    """What is inverted has no inverse."""


@dataclass(frozen=True)
class Rational:
    """A block of rational numbers."""

    matrix: DomainMatrix  # over QQ

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    @property
    def T(self) -> Rational:
        return Rational(self.matrix.transpose())

    def __neg__(self) -> Rational:
        return Rational(-self.matrix)

    def __add__(self, other: Rational) -> Rational:
        return Rational(self.matrix + other.matrix)

    def __sub__(self, other: Rational) -> Rational:
        return Rational(self.matrix - other.matrix)

    def __matmul__(self, other: Rational) -> Rational:
        return Rational(self.matrix * other.matrix)

    def same(self, other: Rational) -> bool:
        return bool(self.matrix == other.matrix)

    def times(self, p: int, q: int) -> Rational:
        """A p / q."""
        return Rational(self.matrix * QQ(p, q))

    def inverse(self) -> Rational:
        """Raises Singular."""
        try:
            return Rational(self.matrix.inv())
        except DMNonInvertibleMatrixError:
            raise Singular from None

    def part(self, rows: tuple[int, int], columns: tuple[int, int] | None = None) -> Rational:
        """Rows and columns from the first to before the last."""
        return Rational(self.matrix.extract(range(*rows), range(*(columns or (0, self.shape[1])))))

    @staticmethod
    def stacked(parts: list[Rational]) -> Rational:
        """Blocks one above another."""
        first, *rest = (part.matrix for part in parts)
        return Rational(first.vstack(*rest))


@dataclass(frozen=True)
class Fraction:
    """A block over one denominator; factors that both have are cancelled where sums are formed."""

    numer: DomainMatrix  # over ZZ[x, y ...]
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
        d, e = d.exquo(g), e.exquo(g)
        for numer, factor in ((a, e), (b, d)):
            _fits(largest(numer), factor)
        return reduced(a * e + b * d, d * e * g)

    def __sub__(self, other: Fraction) -> Fraction:
        return self + -other

    def __matmul__(self, other: Fraction) -> Fraction:
        _fits(largest(self.numer), largest(other.numer))
        numer, denom = self.numer * other.numer, self.denom * other.denom
        if self.denom.is_ground or other.denom.is_ground:  # what cancels does so in a sum
            return Fraction(numer, denom)
        return reduced(numer, denom)

    def same(self, other: Fraction) -> bool:
        """By multiplying out."""
        a, d, b, e = self.numer, self.denom, other.numer, other.denom
        return bool(a == b if d == e else a * e == b * d)

    def times(self, p: int, q: int) -> Fraction:
        """A p / q."""
        one = self.denom.ring.one
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
        common = parts[0].denom
        for part in parts[1:]:
            common = common * part.denom.exquo(common_factor(common, part.denom))
        numer = [part.numer * common.exquo(part.denom) for part in parts]
        return Fraction(numer[0].vstack(*numer[1:]), common)


def lower(A: Any) -> tuple[list[list[Any]], list[Any]]:
    """Scalars of L, below its diagonal, and of D: A = L D L* without pivoting."""
    n = A.shape[0]
    left = [[A.part((r, r + 1), (c, c + 1)) for c in range(n)] for r in range(n)]
    L: list[list[Any]] = [[] for _ in range(n)]
    for k in range(n):
        back = left[k][k].inverse()
        for r in range(k + 1, n):
            L[r].append(left[r][k] @ back)
            left[r] = [x - L[r][k] @ y for x, y in zip(left[r], left[k], strict=True)]
    return L, [left[k][k] for k in range(n)]


def common_factor(p: Any, q: Any) -> Any:
    """The greatest one, by flint, up to a sign; what it is good for, sympy's exact division sees."""
    names = fmpz_mpoly_ctx.get(("x", p.ring.ngens), Ordering.lex)
    found = names.from_dict(dict(p)).gcd(names.from_dict(dict(q)))
    return p.ring.from_dict({powers: int(c) for powers, c in found.to_dict().items()})


def entries(a: DomainMatrix) -> list[Any]:
    return [x for row in a.to_list() for x in row if x]


def largest(a: DomainMatrix) -> Any:
    """The entry of most terms."""
    return max(entries(a), key=len, default=a.domain.one)


def _fits(a: Any, b: Any) -> None:
    """Raises TooLarge if a product of polynomials would have too many terms."""
    if len(a) * len(b) > LARGEST and a.ring.ngens > 1:
        raise TooLarge


def reduced(numer: DomainMatrix, denom: Any) -> Fraction:
    """In lowest terms, the denominator's leading coefficient positive."""
    common = denom
    for x in sorted(entries(numer), key=len):
        if common.is_ground and abs(common.LC) == 1:
            break
        _fits(common, x)
        common = common_factor(common, x)
    if denom.LC * common.LC < 0:
        common = -common
    if common != 1:
        numer = numer.applyfunc(lambda x: x.exquo(common) if x else x)
        denom = denom.exquo(common)
    return Fraction(numer, denom)
