"""Double-double: 106 bits from two float64, about 31 digits."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .formats import Format, InFloats

BITS = 160  # precision of the mpmath number made from a pair, ample for pairs without a gap


@cache
def _context() -> Any:
    """Numbers of BITS, made once: a context takes a millisecond."""
    import mpmath

    context = mpmath.MPContext()
    context.prec = BITS
    return context


@dataclass(frozen=True)
class DoubleDouble(Format):
    """Unevaluated sums of two float64 numbers, with the exponents of float64.

    The data are the entries of (4) in float64, exactly: answers in float64 and in dd differ only by
    rounding in the arithmetic.

    >>> from pivotree.kkt.arithmetic import DoubleDouble
    >>> DoubleDouble().unit == pt.kkt.arithmetic.get_format("dd").unit
    True
    """

    name: str = "dd"
    kind: str = field(default="dd", init=False)
    dtype: type = field(default=np.complex128, init=False)  # hi + lo i

    @property
    def unit(self) -> float:
        """2^-104; sums, products and quotients err by at most 3, 5 and 10 times 2^-106."""
        return 2.0**-104

    def cast(self, x: NDArray) -> NDArray:
        return np.asarray(x, dtype=float).astype(np.complex128)

    def runner(self, tape: Any) -> InFloats:
        return InFloats()

    def shown(self, values: NDArray) -> NDArray:
        """mpmath numbers equal to the pairs, in a context of their own."""
        context = _context()
        flat = [context.mpf(z.real) + context.mpf(z.imag) for z in values.ravel().tolist()]
        return np.array([*flat, None], dtype=object)[:-1].reshape(values.shape)
