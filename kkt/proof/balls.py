"""Balls and the numbers around them: magnitudes, distances, decimal strings.

A ball of python-flint (Johansson 2017) is a midpoint and a radius, and holds the exact value.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_UP, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import flint
import numpy as np


class DecimalBall(NamedTuple):
    """A ball in decimals: the exact value lies within ``rad`` of ``mid``."""

    mid: str
    rad: str  # the ball's own radius, and what rounding its midpoint to decimals adds


def decimal_ball(ball: Any, digits: int) -> DecimalBall:
    """A finite ball as a midpoint of ``digits`` significant digits and a radius of two or three.

    The radius is rounded up, and the arithmetic is exact: what the ball holds, this one holds.
    """
    middle, radius = _fraction(ball.mid()), _fraction(ball.rad())
    mid = _rounded(middle, Context(prec=digits, rounding=ROUND_HALF_EVEN))
    off = abs(Fraction(mid) - middle) + radius
    rad = _rounded(off, Context(prec=3, rounding=ROUND_UP))
    return DecimalBall(f"{mid:.{digits - 1}e}" if mid else "0", f"{rad:e}" if rad else "0")


def _rounded(x: Fraction, context: Context) -> Decimal:
    """One correctly rounded division, in as large a range of exponents as there is."""
    context.Emax, context.Emin = 10**15, -(10**15)
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))


def _fraction(x: Any) -> Fraction:
    """The value of an exact ball."""
    mantissa, exponent = (int(part) for part in x.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def ball_of(x: Any) -> Any:
    if isinstance(x, flint.arb):
        return x
    if isinstance(x, float | np.floating):
        return flint.arb(float(x))
    if isinstance(x, Fraction):
        return flint.arb(flint.fmpq(x.numerator, x.denominator))
    if isinstance(x, complex):  # double-double, as it travels
        return flint.arb(x.real) + flint.arb(x.imag)
    if not hasattr(x, "_mpf_"):  # a user's number
        return ball_of(Fraction(*x.as_integer_ratio()) if hasattr(x, "as_integer_ratio") else float(x))
    sign, mantissa, exponent, _ = x._mpf_  # mpmath
    ball = flint.arb(flint.fmpz(int(mantissa))) * flint.arb(2) ** int(exponent)
    return -ball if sign else ball


def distance(x: Any, y: Any) -> float:
    """|x - y| at most; 0 for a fraction that lies in the ball y, since both are exact."""
    difference = ball_of(x) - y
    if isinstance(x, Fraction) and 0 in difference:
        return 0.0
    return magnitude(difference)


def magnitude(ball: Any) -> float:
    return float(abs(ball).upper()) if ball.is_finite() else float("inf")


def decimal(x: Any, digits: int) -> str:
    """A number as a decimal string of ``digits`` significant digits."""
    import mpmath

    if isinstance(x, flint.arb):
        mantissa, exponent = x.mid().man_exp()
        value = mpmath.MPContext()
        value.dps = digits + 20
        number = value.ldexp(value.mpf(int(mantissa)), int(exponent))
        return mpmath.nstr(number, digits, strip_zeros=False)
    if hasattr(x, "_mpf_"):
        return mpmath.nstr(x, digits, strip_zeros=False)
    context = mpmath.MPContext()
    context.dps = digits + 20
    return mpmath.nstr(context.mpf(x.numerator) / x.denominator, digits, strip_zeros=False)
