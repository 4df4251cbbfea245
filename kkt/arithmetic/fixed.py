"""Fixed point: whole multiples of 2^-n in words of at most 53 bits, signal processors' Q formats.

float64 carries the words: the float64 result of an operation is rounded again, and where it is a
tie, the exact residual of the float64 operation decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import njit
from ..base.errors import FormatError
from .carrier import _residual
from .floats import _operation, _two_product
from .formats import Format, Runner

LONGEST = 53  # bits of a word with the sign, at most, whose sums a float64 holds exactly


@dataclass(frozen=True)
class Fixed(Format):
    """Numbers k 2^-fraction, k a word of ``whole`` + ``fraction`` bits in two's complement.

    The sign bit is one of ``whole``.  The least word, -2^(bits - 1), is not used, so that every
    number has a negative.  Sums are exact; products, quotients and roots are rounded to nearest,
    ties to even.  A result that a word cannot hold is nan and never wraps around; entries of (4)
    that do not fit are refused with body and field.  ``unit`` bounds the absolute error of one
    rounding, so that a small number has fewer digits.  Raises FormatError for less than two bits
    before the point, or more than 53 in all.

    >>> from pivotree.kkt.arithmetic import Fixed
    >>> mine = Fixed("q4.4", 4, 4)
    >>> mine.largest, mine.cast(np.array([0.1, 7.97, 8.1])).tolist()
    (7.9375, [0.125, nan, nan])
    """

    name: str
    whole: int  # bits before the binary point, the sign bit included
    fraction: int  # bits behind it
    kind: str = field(default="float", init=False)
    dtype: type = field(default=np.float64, init=False)

    def __post_init__(self) -> None:
        if self.whole < 2 or self.fraction < 0 or self.bits > LONGEST:
            raise FormatError(
                f"format {self.name!r}: {self.whole} bits before the point and {self.fraction} "
                "behind it; use at least 2 before it, for the sign and for the ones of (4), and "
                f"at most {LONGEST} in all, as in q16.16"
            )

    @property
    def bits(self) -> int:
        """Bits of a word."""
        return self.whole + self.fraction

    @property
    def unit(self) -> float:
        return math.ldexp(1.0, -self.fraction - 1)

    @property
    def relative(self) -> bool:
        return False

    @property
    def places(self) -> int:
        return math.ceil(1.0 + self.bits * math.log10(2.0))

    @property
    def top(self) -> int:
        """The largest word."""
        return (1 << (self.bits - 1)) - 1

    @property
    def largest(self) -> float:
        """The largest number, to float64."""
        return float(Fraction(self.top, 1 << self.fraction))

    def cast(self, x: NDArray[Any]) -> NDArray[Any]:
        values = np.asarray(x, dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):
            k = np.rint(values * 2.0**self.fraction) + 0.0
            return np.where(np.abs(k) <= self.top, k, np.nan) * 2.0**-self.fraction

    def runner(self, tape: Any) -> Runner:
        return Runner(_record, 2.0**self.fraction, float(self.top))


@njit(cache=True, error_model="numpy")
def _record(op, dst, a, b, v, scale, top, xs, ys, rs):  # pragma: no cover
    """Apply operations to v (slots,) in place.

    Operands and results go to xs, ys and rs (m,), or nowhere where these are (0,).
    """
    keep = len(xs) > 0
    for i in range(len(op)):
        kind, x, y = op[i], v[a[i]], v[b[i]]
        z = _operation(kind, x, y)  # of sums it is exact
        p = z * scale
        k = np.rint(p)
        if kind > 1 and abs(p - k) == 0.5:  # a tie in float64, which need not be one exactly
            rest = _two_product(x, y)[1] if kind == 2 else _residual(kind, x, y, z)[0]
            if rest != 0.0:
                k = math.floor(p) + (1.0 if rest > 0.0 else 0.0)
        r = (k + 0.0) / scale if abs(k) <= top else math.nan
        v[dst[i]] = r
        if keep:
            xs[i], ys[i], rs[i] = x, y, r
