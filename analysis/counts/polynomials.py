"""Polynomials are flint's, with rational coefficients: fitted exactly, and printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import Ordering, fmpq, fmpq_mat, fmpq_mpoly, fmpq_mpoly_ctx, fmpq_poly


def ring(*variables: str) -> fmpq_mpoly_ctx:
    """Polynomials in several variables, the highest degree first."""
    return fmpq_mpoly_ctx.get(variables, Ordering.deglex)


def text_of(polynomial: fmpq_poly | fmpq_mpoly, variable: str = "n") -> str:
    """A polynomial as text, highest degree first; one in several variables knows their names.

    >>> from flint import fmpq, fmpq_poly
    >>> from pivotree.analysis.counts import text_of
    >>> crbm = fmpq_poly([-109, fmpq("481/3"), fmpq("23/2"), fmpq("1/6")])
    >>> text_of(crbm), int(crbm(6))
    ('1/6 n^3 + 23/2 n^2 + 481/3 n - 109', 1303)
    """
    if isinstance(polynomial, fmpq_poly):
        polynomial = ring(variable).from_dict({(i,): c for i, c in enumerate(polynomial.coeffs())})
    return str(polynomial).replace("*", " ")


def through(points: Sequence[tuple[int, int | fmpq]]) -> fmpq_poly:
    """The polynomial of least degree through points (n, value), n distinct."""
    powers = fmpq_mat([[n**i for i in range(len(points))] for n, _ in points])
    return fmpq_poly(powers.solve(fmpq_mat([[value] for _, value in points])).entries())


def fit(values: Mapping[int, int], most: int = 4, spare: int = 3) -> tuple[fmpq_poly, int] | None:
    """The polynomial of least degree that meets the counts from some n on, and that n.

    ``values`` are counts at increasing n.  The fit uses degree + 1 of them and must meet at least
    ``spare`` others that took no part in it; None where there is no such polynomial.  Of several
    starts the first is taken.

    >>> from pivotree.analysis.counts import fit, text_of
    >>> counts = {1: 10, 2: 7, 3: 12, 4: 19, 5: 28, 6: 39, 7: 52}
    >>> found, start = fit(counts)
    >>> text_of(found), start  # the first count is another case
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


def fits(
    counts: Mapping[int, Sequence[int]], kinds: Sequence[str]
) -> tuple[dict[str, fmpq_poly], int] | None:
    """The polynomial of each kind of operation, and n from which all hold; None where one has none.

    ``counts`` have the kinds in their order, at increasing n.
    """
    found = {kind: fit({n: count[j] for n, count in counts.items()}) for j, kind in enumerate(kinds)}
    whole = {kind: one for kind, one in found.items() if one is not None}
    if len(whole) < len(kinds):
        return None
    return {kind: polynomial for kind, (polynomial, _) in whole.items()}, max(n for _, n in whole.values())


def largest_root(polynomial: fmpq_poly) -> float | None:
    """The largest positive real root, to double precision; None where there is none."""
    if polynomial.degree() < 1:
        return None
    roots = (root for root, _ in polynomial.complex_roots())  # type: ignore[has-type, misc]
    return max((float(r.real.mid()) for r in roots if r.imag == 0 and r.real > 0), default=None)
