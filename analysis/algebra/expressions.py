"""Formulas as sympy writes them, read as polynomials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import fmpq
from sympy import Identity, Inverse, MatAdd, MatMul, MatPow, MatrixExpr, MatrixSymbol, Transpose, ZeroMatrix

from .algebra import Algebra
from .polynomial import BlockPolynomial, one, total, zero


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
