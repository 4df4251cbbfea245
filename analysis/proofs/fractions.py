"""Blocks of entries by sympy: polynomials, or whole numbers, over one of them.

sympy multiplies, adds, divides and compares; flint finds the common factors of polynomials, since
sympy's search for them took two thirds of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import Ordering, fmpz_mpoly_ctx
from sympy import ZZ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyElement

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
