"""Block counts: every block of (4) full, as polynomials in the joints' freedoms and the children.

On a tree the count is a sum over bodies k of a polynomial in

    N  N_k, freedoms of its joint (1 to 5; a fixed or a free joint has blocks of size zero)
    m  m_k, its children
    C  the sum of its children's freedoms
    Q  the sum of their squares
    d  its depth: its ancestors, each of which makes a pair with it
    A  the sum of its ancestors' freedoms

and of one more polynomial in N for every root, and for every leaf, whose acceleration nobody asks
for.  Only what is charged to pairs of a body and its
ancestors (CRBM) needs d and A.  Coefficients are found exactly, from random trees of mixed joints;
columns that the others span on all trees are left out (roots are bodies minus children: what
every body that is not a root costs more than a root is charged to its parent, per child).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from flint import fmpq, fmpq_mat, fmpq_mpoly, fmpz_mat

from pivotree.analysis.counts import KINDS, fit, text_of
from pivotree.analysis.counts.counting import count_blocks
from pivotree.analysis.counts.polynomials import ring, through

MOST = 3  # degree
FREEDOMS = (1, 2, 3, 4, 5)  # a fixed or a free joint has blocks of size zero
BODY = ring("N", "m", "C", "Q", "d", "A")
PARTS = ("body", "root", "leaf", "lone")  # every body, roots, leaves, roots without children
Monomial = tuple[int, ...]  # exponents of the variables of BODY
Column = tuple[str, Monomial]  # of which bodies, and exponents


@dataclass(frozen=True)
class BlockCount:
    """Sums over bodies of p(N, m, C, Q, d, A), over roots, leaves, lone bodies of others."""

    order: str
    parts: dict[str, dict[str, fmpq_mpoly]]  # kind of operation -> one of PARTS -> polynomial

    def __call__(self, parent: Sequence[int], dof: Sequence[int]) -> tuple[fmpq, ...]:
        """(mul, add, div, sqrt) of a tree, parents before children, -1 at a root."""
        about = _about(parent, dof)
        return tuple(
            sum((p(*x) for part, p in self.parts[kind].items() for x in about[part]), fmpq(0))
            for kind in KINDS
        )

    def text(self, kind: str, part: str = "body") -> str:
        return text_of(self.parts[kind][part])


def block_count(order: Callable[..., Any], trees: int = 96, seed: int = 1) -> BlockCount | None:
    """The polynomials of an order; None where its count is no such sum.

    Fitted on random trees of up to seven bodies; a third of them take no part in the fit and must
    be met exactly.
    """
    sample = [random_tree(seed + i) for i in range(trees)]
    counts = [count_blocks(order, parent, dof).total for parent, dof in sample]
    names = _columns()
    held = trees // 3
    features = [_features(parent, dof) for parent, dof in sample[held:]]
    table = [[row[name] for name in names] for row in features]
    found = solve_exactly(table, list(zip(*counts[held:], strict=True)))
    if found is None:
        return None
    parts = {}
    for kind, x in zip(KINDS, found, strict=True):
        terms: dict[str, dict[Monomial, fmpq]] = {part: {} for part in PARTS}
        for (part, monomial), c in zip(names, x, strict=True):
            terms[part][monomial] = c
        parts[kind] = {part: BODY.from_dict(chosen) for part, chosen in terms.items()}
    result = BlockCount(order.name, parts)
    met = all(
        result(parent, dof) == count
        for (parent, dof), count in zip(sample[:held], counts[:held], strict=True)
    )
    return result if met else None


def solve_exactly(rows: Sequence[Sequence[int]], values: Sequence[Sequence[int]]) -> list[list[fmpq]] | None:
    """Coefficients x with rows x = v, exactly, for each v of values; None where one has none.

    Columns that earlier ones span get the coefficient 0.
    """
    columns = len(rows[0])
    whole = [[*row, *more] for row, more in zip(rows, zip(*values, strict=True), strict=True)]
    reduced, rank = fmpq_mat(fmpz_mat(whole)).rref()
    result = [[fmpq(0)] * columns for _ in values]
    for i in range(rank):
        lead = next(j for j in range(columns + len(values)) if reduced[i, j] != 0)
        if lead >= columns:
            return None
        for x, j in zip(result, range(columns, columns + len(values)), strict=True):
            x[lead] = reduced[i, j]
    return result


def random_tree(seed: int, most: int = 7) -> tuple[list[int], list[int]]:
    """Parents and freedoms of a random forest, some of it chains and stars."""
    draw = random.Random(seed)
    n = draw.randint(1, most)
    shape = draw.choice(("any", "any", "chain", "star"))
    parent = [-1]
    for k in range(1, n):
        up = {"chain": k - 1, "star": 0, "any": draw.randrange(k)}[shape]
        parent.append(-1 if draw.random() < 0.1 else up)
    return parent, [draw.choice(FREEDOMS) for _ in range(n)]


def _variables(parent: Sequence[int], dof: Sequence[int]) -> list[tuple[int, ...]]:
    """(N, m, C, Q, d, A) of every body."""
    n = len(parent)
    m, C, Q, d, A = ([0] * n for _ in range(5))
    for k, p in enumerate(parent):
        if p >= 0:
            m[p] += 1
            C[p] += dof[k]
            Q[p] += dof[k] ** 2
            d[k], A[k] = d[p] + 1, A[p] + dof[p]
    return list(zip(dof, m, C, Q, d, A, strict=True))


def _power(x: Sequence[int], monomial: Monomial) -> int:
    result = 1
    for value, exponent in zip(x, monomial, strict=True):
        result *= value**exponent
    return result


def _columns() -> list[Column]:
    """Simple columns first: of columns that span each other, the first are kept."""
    body = [
        e
        for e in product(range(MOST + 1), repeat=BODY.nvars())
        if sum(e) + e[3] <= MOST and not (any(e[1:4]) and any(e[4:]))
    ]
    # what a body costs by itself, then by its children, then by pairs
    body.sort(key=lambda e: (any(e[4:]), any(e[1:4]), sum(e), e[::-1]))
    own = [("body", e) for e in body if not any(e[1:])]
    ends = [(part, (i, 0, 0, 0, 0, 0)) for part in PARTS[1:] for i in range(1, MOST + 1)]
    leaf = [(part, (0, 0, 0, 0, 0, 0)) for part in PARTS[2:]]
    return [*own, *ends, *leaf, *(("body", e) for e in body if any(e[1:]))]


def _features(parent: Sequence[int], dof: Sequence[int]) -> dict[Column, int]:
    """Every column summed over the bodies that it is about."""
    about = _about(parent, dof)
    return {(part, monomial): sum(_power(x, monomial) for x in about[part]) for part, monomial in _columns()}


def _about(parent: Sequence[int], dof: Sequence[int]) -> dict[str, list[tuple[int, ...]]]:
    """The variables of all bodies, of roots, of leaves, and of lone bodies."""
    bodies = _variables(parent, dof)
    return {
        "body": bodies,
        "root": [x for x, p in zip(bodies, parent, strict=True) if p < 0],
        "leaf": [x for x in bodies if not x[1]],
        "lone": [x for x, p in zip(bodies, parent, strict=True) if p < 0 and not x[1]],
    }


def chain_count(order: Callable[..., Any]) -> dict[str, fmpq_mpoly] | None:
    """Of a chain of n joints with N freedoms each: by kind, a polynomial in n and N.

    Found from chains of up to eight; three sizes, and one of the five N, take no part in each
    fit and must be met.  None where there is no such polynomial.
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
