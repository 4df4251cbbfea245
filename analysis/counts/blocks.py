"""Block counts of chains: every block of (4) full, as polynomials in n and the joints' freedoms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import fmpq, fmpq_mpoly

from .counting import KINDS, count_blocks
from .polynomials import fit, ring, through

MOST = 3  # degree
FREEDOMS = (1, 2, 3, 4, 5)  # a fixed or a free joint has blocks of size zero


def chain_count(order: Callable[..., Any]) -> dict[str, fmpq_mpoly] | None:
    """Of a chain of n joints with N freedoms each: by kind, a polynomial in n and N.

    Found from chains of up to eight; three sizes, and one of the five N, take no part in each
    fit and must be met.  None where there is no such polynomial.

    >>> from pivotree.analysis.counts import chain_count, text_of
    >>> text_of(chain_count(pt.orderings.get("abm"))["div"])
    '1/6 n N^3 + 185/6 n N - 8 n - 29 N + 7'
    """
    sizes = range(2, 9)
    counts = {(n, N): count_blocks(order, range(-1, n - 1), [N] * n).total for n in sizes for N in FREEDOMS}
    result: dict[str, fmpq_mpoly] = {}
    for j, kind in enumerate(KINDS):
        fits = [fit({n: counts[n, N][j] for n in sizes}, most=MOST) for N in FREEDOMS]
        found = [polynomial for polynomial, start in filter(None, fits) if start == sizes[0]]
        if len(found) < len(FREEDOMS):
            return None
        terms: dict[tuple[int, ...], fmpq] = {}
        for i in range(MOST + 1):
            coefficient = through([(N, p[i]) for N, p in zip(FREEDOMS, found, strict=True)])
            if coefficient.degree() > MOST:
                return None
            terms |= {(i, e): c for e, c in enumerate(coefficient.coeffs())}
        result[kind] = ring("n", "N").from_dict(terms)
    return result
