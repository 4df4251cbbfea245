"""Runs of a tape on Python objects: exact fractions, mpmath numbers, balls, a user's numbers.

Cancelled and absorbed bits, and sizes, are those of floats.  Exponents and errors of sums are computed
exactly, from numerator, denominator and power of two, so that nothing here rounds, in any number of
digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.errors import FormatError
from ..base.foreign import foreign
from .formats import Chunk, Runner, precision


class Parts(NamedTuple):
    """A number as numerator / denominator * 2^power."""

    numerator: int
    denominator: int
    power: int


Read = Callable[[Any], Parts | None]  # None for infinity, and for what is not a number
Seen = tuple[Parts, tuple[float, int] | None] | None  # a number; fraction, exponent if not zero


def of_mpf(x: Any) -> Parts | None:
    """The parts of an mpmath number."""
    sign, mantissa, power, _ = x._mpf_
    if not mantissa and power:
        return None
    return Parts(-int(mantissa) if sign else int(mantissa), 1, power)


def of_ball(x: Any) -> Parts | None:
    """The parts of a ball's midpoint."""
    if not x.is_finite():
        return None
    mantissa, power = x.mid().man_exp()
    return Parts(int(mantissa), 1, int(power))


def of_any(x: Any) -> Parts | None:
    """The parts of a fraction, a float, a double-double pair, an mpmath or a user's number.

    A user's number is read by as_integer_ratio() or else by float(); raises FormatError for a class
    that has neither.
    """
    if isinstance(x, Fraction):
        return Parts(x.numerator, x.denominator, 0)
    if isinstance(x, complex):
        return _of_doubles(x.real, x.imag)
    if isinstance(x, float | np.floating):
        return _of_doubles(float(x))
    if hasattr(x, "_mpf_"):
        return of_mpf(x)
    name = type(x).__name__
    try:
        with foreign(f"numbers of class {name!r}", FormatError, (ArithmeticError, ValueError)):
            own = x if hasattr(x, "as_integer_ratio") else float(x)
            numerator, denominator = own.as_integer_ratio()
            return Parts(int(numerator), int(denominator), 0)
    except FormatError:
        raise
    except (ArithmeticError, ValueError):  # infinite, or not a number
        return None


def _of_doubles(*parts: float) -> Parts | None:
    if not all(map(math.isfinite, parts)):
        return None
    total = sum(map(Fraction, parts))
    return Parts(total.numerator, total.denominator, 0)


def read_once(read: Read, values: Sequence[Any]) -> list[Parts | None]:
    """The parts of many values; an object that occurs many times, such as a zero, is read once."""
    known = {id(x): x for x in values}
    parts = {key: read(x) for key, x in known.items()}
    return [parts[id(x)] for x in values]


def leading(x: Parts) -> tuple[float, int]:
    """The double nearest to |x| as fraction * 2^exponent, 0.5 <= fraction < 1; x is not zero."""
    n, d = abs(x.numerator), x.denominator
    up = 66 - n.bit_length() + d.bit_length()  # so that the quotient has a dozen bits to spare
    quotient = (n << up) // d if up >= 0 else n // (d << -up)
    part, exponent = math.frexp(quotient | 1)  # what is cut off breaks ties
    return part, exponent + x.power - up


def size(fraction: float, exponent: int) -> float:
    """fraction * 2^exponent as a double: infinite, or 0, where that is out of range."""
    try:
        return math.ldexp(fraction, exponent)
    except OverflowError:
        return math.inf


def log2(x: Parts) -> float:
    fraction, exponent = leading(x)
    return math.log2(fraction) + exponent


def lost(op: int, x: Parts, y: Parts, r: Parts) -> Parts:
    """The exact |r - (x + y)|, or |r - (x - y)| where op is 1."""
    if x.denominator == y.denominator == r.denominator == 1:
        power = min(x.power, y.power, r.power)
        p, q, s = (z.numerator << (z.power - power) for z in (x, y, r))
        return Parts(abs(s - (p - q if op == 1 else p + q)), 1, power)
    one, other, sum_of = map(fraction, (x, y, r))
    missing = abs(sum_of - (one - other if op == 1 else one + other))
    return Parts(missing.numerator, missing.denominator, 0)


def fraction(x: Parts) -> Fraction:
    return Fraction(x.numerator, x.denominator) * Fraction(2) ** x.power


def looked(
    read: Read,
    precision: float,
    op: NDArray[Any],
    x: NDArray[Any],
    y: NDArray[Any],
    r: NDArray[Any],
    cancelled: NDArray[np.int64],
    absorbed: NDArray[np.float64],
    size_of: NDArray[np.float64],
) -> None:
    """As :func:`kkt.arithmetic.shadows.looked`, for objects (m,).

    The exponent of a number is that of the nearest double of unbounded range.  ``absorbed`` is in
    bits: log2 of the fraction over the unit roundoff 2^-precision, 0 where nothing is lost.  The
    precision of numbers that never round is infinite.
    """
    rounds = not math.isinf(precision)
    cancelled[:], absorbed[:], size_of[:] = 0, 0.0, 0.0
    seen: dict[int, Seen] = {}  # by identity, so that an object is read once
    for i, (kind, u, w, t) in enumerate(zip(op.tolist(), x.tolist(), y.tolist(), r.tolist(), strict=True)):
        result = seen[id(t)] = _seen(read, t)
        if result is None:
            continue
        top = result[1]
        if top is not None:
            size_of[i] = size(*top)
        if kind > 1:
            continue
        one = seen[id(u)] if id(u) in seen else seen.setdefault(id(u), _seen(read, u))
        other = seen[id(w)] if id(w) in seen else seen.setdefault(id(w), _seen(read, w))
        if one is None or other is None or one[1] is None or other[1] is None:
            continue
        large = max(one[1][1], other[1][1])
        cancelled[i] = -1 if top is None else max(0, large - top[1])
        if not rounds:
            continue
        missing = lost(kind, one[0], other[0], result[0])
        if missing.numerator:
            least = min(math.log2(f) + e for f, e in (one[1], other[1]))
            absorbed[i] = max(0.0, log2(missing) - least + precision)


def _seen(read: Read, x: Any) -> Seen:
    parts = read(x)
    return parts and (parts, leading(parts) if parts.numerator else None)


class ZeroDivisor(ArithmeticError):
    """A division by zero, with the step of its operation."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step


def square_root(x: Any) -> Any:
    """The root in the type of x; raises FormatError for fractions and classes without a root."""
    if hasattr(x, "sqrt"):  # balls
        return x.sqrt()
    if hasattr(x, "context"):  # mpmath
        return x.context.sqrt(x)
    if hasattr(x, "numerator"):
        raise FormatError("format 'exact'", "fractions have no square root", "use mp:50 or ball:50")
    raise FormatError(
        f"numbers of class {type(x).__name__!r} have no square root",
        remedy="give the class a method sqrt, or use an order that takes none",
    )


def each(make: Callable[[Any], Any], values: NDArray[Any]) -> NDArray[Any]:
    """What a function makes of every element, as objects in an array of the same shape."""
    return _column([make(x) for x in values.ravel().tolist()]).reshape(values.shape)


class InObjects(Runner):
    """Runs a tape on a list of Python objects; balls have ``bits`` bits, unless that is 0."""

    def __init__(self, bits: int = 0) -> None:
        self.bits = bits

    def run(self, chunk: Chunk, v: Any) -> None:
        with precision(self.bits):
            _apply(chunk, v, None)

    def record(self, chunk: Chunk, v: Any, x: NDArray[Any], y: NDArray[Any], r: NDArray[Any]) -> None:
        before: list[Any] = [None] * (3 * len(chunk))
        with precision(self.bits):
            _apply(chunk, v, before)
        x[:], y[:], r[:] = (_column(before[k::3]) for k in range(3))


def _column(values: list[Any]) -> NDArray[Any]:
    """A one-dimensional array of objects, even if these are sequences themselves."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _apply(chunk: Chunk, v: list[Any], kept: list[Any] | None) -> None:
    columns = (chunk.op, chunk.dst, chunk.a, chunk.b)
    done = 0
    what = f"numbers of class {type(v[0]).__name__!r}"
    try:
        with foreign(what, FormatError, through=(ZeroDivisionError,)):
            for op, d, a, b in zip(*(column.tolist() for column in columns), strict=True):
                x, y = v[a], v[b]
                if op == 2:
                    r = x * y
                elif op == 1:
                    r = x - y
                elif op == 0:
                    r = x + y
                elif op == 3:
                    r = x / y
                else:
                    r = square_root(x)
                v[d] = r
                if kept is not None:
                    kept[3 * done : 3 * done + 3] = x, y, r
                done += 1
    except ZeroDivisionError:
        raise ZeroDivisor(int(chunk.step[done])) from None
