"""Polynomials with rational coefficients: fitted exactly, printed, compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

Monomial = tuple[int, ...]  # exponent of each variable
"""Exponents of the variables, in their order: (2, 1) is n^2 N where these are n and N.

>>> from pivotree.analysis.counts import Monomial, text_of
>>> term: Monomial = (2, 1)
>>> text_of({term: 3}, ("n", "N"))
'3 n^2 N'
"""


@dataclass(frozen=True)
class Polynomial:
    """A polynomial in one variable, c_0 + c_1 n + ..., with fractions.

    >>> from pivotree.analysis.counts import Polynomial
    >>> crbm = Polynomial.of(-109, "481/3", "23/2", "1/6")
    >>> crbm.text(), int(crbm(6))
    ('1/6 n^3 + 23/2 n^2 + 481/3 n - 109', 1303)
    """

    coefficients: tuple[Fraction, ...]  # no zero at the end; () is zero

    @classmethod
    def of(cls, *coefficients: Fraction | int | str) -> Polynomial:
        """From c_0, c_1, ...; texts such as "481/3" are read exactly."""
        values = [Fraction(c) for c in coefficients]
        while values and values[-1] == 0:
            values.pop()
        return cls(tuple(values))

    @property
    def degree(self) -> int:
        """0 for a constant, zero included."""
        return max(len(self.coefficients) - 1, 0)

    def __call__(self, n: Fraction | int) -> Fraction:
        total = Fraction(0)
        for c in reversed(self.coefficients):
            total = total * n + c
        return total

    def __add__(self, other: Polynomial) -> Polynomial:
        size = max(len(self.coefficients), len(other.coefficients))
        pairs = (
            [p.coefficients[i] if i < len(p.coefficients) else Fraction(0) for p in (self, other)]
            for i in range(size)
        )
        return Polynomial.of(*(a + b for a, b in pairs))

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple(-c for c in self.coefficients))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + (-other)

    def text(self, variable: str = "n") -> str:
        """As in "1/6 n^3 + 7 n^2 - 102"."""
        terms: dict[Monomial, Fraction] = {(i,): c for i, c in enumerate(self.coefficients)}
        return text_of(terms, (variable,))


def text_of(terms: Mapping[Monomial, Fraction], variables: Sequence[str]) -> str:
    """A polynomial in several variables as text, highest degree first.

    >>> from pivotree.analysis.counts import text_of
    >>> text_of({(0, 1): -3, (2, 0): 1}, ("n", "N"))
    'n^2 - 3 N'
    """
    order = sorted(terms, key=lambda m: (-sum(m), tuple(-e for e in m)))
    out = ""
    for monomial in order:
        c = terms[monomial]
        if not c:
            continue
        powers = [name if e == 1 else f"{name}^{e}" for name, e in zip(variables, monomial, strict=True) if e]
        size = abs(c)
        number = [] if powers and size == 1 else [str(size)]
        sign = ("-" if c < 0 else "") if not out else (" - " if c < 0 else " + ")
        out += sign + " ".join(number + powers)
    return out or "0"


def through(points: Sequence[tuple[int, int | Fraction]]) -> Polynomial:
    """The polynomial of least degree through points (n, value), n distinct (Newton's form)."""
    xs = [Fraction(x) for x, _ in points]
    table = [Fraction(y) for _, y in points]
    for level in range(1, len(points)):
        for i in range(len(points) - 1, level - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (xs[i] - xs[i - level])
    result = Polynomial.of()
    for i in range(len(points) - 1, -1, -1):  # Horner: result (n - x_i) + c_i
        shifted = Polynomial.of(0, *result.coefficients)
        scaled = Polynomial.of(*(xs[i] * c for c in result.coefficients))
        result = shifted - scaled + Polynomial.of(table[i])
    return result


def fit(values: Mapping[int, int], most: int = 4, spare: int = 3) -> tuple[Polynomial, int] | None:
    """The polynomial of least degree that meets the counts from some n on, and that n.

    ``values`` are counts at increasing n.  The fit uses degree + 1 of them and must meet at least
    ``spare`` others that took no part in it; None where there is no such polynomial.  Of several
    starts the first is taken.

    >>> from pivotree.analysis.counts import fit
    >>> counts = {1: 10, 2: 7, 3: 12, 4: 19, 5: 28, 6: 39, 7: 52}
    >>> found, start = fit(counts)
    >>> found.text(), start  # the first count is another case
    ('n^2 + 3', 2)
    """
    sizes = sorted(values)
    for degree in range(most + 1):
        used = sizes[len(sizes) - degree - 1 :]
        if len(used) < degree + 1:
            return None
        polynomial = through([(n, values[n]) for n in used])
        start = len(sizes)
        while start > 0 and polynomial(sizes[start - 1]) == values[sizes[start - 1]]:
            start -= 1
        if len(sizes) - start >= degree + 1 + spare:
            return polynomial, sizes[start]
    return None


def solve_exactly(
    rows: Sequence[Sequence[int]], values: Sequence[Sequence[int]]
) -> list[list[Fraction]] | None:
    """Coefficients x with rows x = v, exactly, for each v of values; None where one has none.

    Columns that earlier ones span get the coefficient 0.
    """
    from flint import fmpq_mat, fmpz_mat

    columns = len(rows[0])
    whole = [[*row, *more] for row, more in zip(rows, zip(*values, strict=True), strict=True)]
    reduced, rank = fmpq_mat(fmpz_mat(whole)).rref()
    result = [[Fraction(0)] * columns for _ in values]
    for i in range(rank):
        lead = next(j for j in range(columns + len(values)) if reduced[i, j] != 0)
        if lead >= columns:
            return None
        for x, j in zip(result, range(columns, columns + len(values)), strict=True):
            entry = reduced[i, j]
            x[lead] = Fraction(int(entry.p), int(entry.q))
    return result


def largest_root(polynomial: Polynomial) -> float | None:
    """The largest positive real root, to double precision; None where there is none."""
    if polynomial.degree == 0:
        return None
    roots = np.roots([float(c) for c in reversed(polynomial.coefficients)])
    real = [float(r.real) for r in roots if abs(r.imag) <= 1e-9 * max(1.0, abs(r)) and r.real > 0]
    return max(real, default=None)
