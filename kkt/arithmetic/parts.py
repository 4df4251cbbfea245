"""What is seen of a run on Python objects: what its operations lose, and a run in more digits beside it.

Cancelled and absorbed bits, and sizes, are those of floats.  Exponents and errors of sums are computed
exactly, from numerator, denominator and power of two, so that nothing here rounds, in any number of
digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import flint
import numpy as np
from numpy.typing import NDArray

from ..base.compiled import njit
from ..base.errors import FormatError
from ..base.foreign import foreign
from .floats import two_sum
from .formats import Chunk
from .objects import InObjects

Floats = NDArray[np.float64]
Values = Sequence[Any] | NDArray[Any]  # of slots, or of operations


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


@njit(cache=True, error_model="numpy")
def looked_pairs(op, x, y, r, cancelled, absorbed, size):  # pragma: no cover
    """As :func:`kkt.arithmetic.shadows.looked`, for pairs high + low i."""
    part = np.empty(6)
    for i in range(len(op)):
        u, w, t = x[i], y[i], r[i]
        cancelled[i], absorbed[i] = 0, 0.0
        size[i] = abs(t.real) if t.real == t.real else 0.0
        if op[i] > 1 or u.real == 0.0 or w.real == 0.0 or not math.isfinite(t.real):
            continue
        w = -w if op[i] == 1 else w
        if t.real == 0.0:
            cancelled[i] = -1
        else:
            large = max(math.frexp(u.real)[1], math.frexp(w.real)[1])
            cancelled[i] = max(0, large - math.frexp(t.real)[1])
        # the exact u + w - t as an expansion of doubles that do not overlap (Shewchuk 1997)
        part[:] = 0.0
        for k, term in enumerate((u.real, u.imag, w.real, w.imag, -t.real, -t.imag)):
            for j in range(k):
                term, part[j] = two_sum(term, part[j])
            part[k] = term
        absorbed[i] = abs(part.sum()) / min(abs(u.real), abs(w.real))


def _seen(read: Read, x: Any) -> Seen:
    parts = read(x)
    return parts and (parts, leading(parts) if parts.numerator else None)


class Long:
    """A shadow in floating-point numbers of any precision, by python-flint; it is slow."""

    def __init__(self, v: Values, digits: int) -> None:
        self.bits: int = int(digits * 3.33) + 16
        parts = read_once(of_any, v.tolist() if isinstance(v, np.ndarray) else v)
        with flint.ctx.workprec(self.bits):
            self.v: list[Any] = [_long(*part) if part else flint.arf("nan") for part in parts]

    def follow(self, chunk: Chunk) -> None:
        InObjects(self.bits).run(chunk, self.v)

    def distances(self, values: Values, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        with flint.ctx.workprec(self.bits):
            own = [self.v[s] if s >= 0 else -self.v[-s] for s in slots.tolist()]
            pairs = zip(map(of_any, values), own, strict=True)  # a number that is not finite has no parts
            off = [abs(_pair(s - _long(*part))[0]) if part else float("nan") for part, s in pairs]
            return np.array(off, dtype=float), np.abs([_pair(s)[0] for s in own])


class Own:
    """No second run: for fractions, which are exact, and balls, which carry an error bound."""

    def follow(self, chunk: Chunk) -> None:
        """There is nothing to follow."""

    def distances(self, values: Values, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        parts = [of_any(x) for x in values]
        scale = [
            (size(*leading(part)) if part.numerator else 0.0) if part else float("nan") for part in parts
        ]
        off = [float(x.rad()) if hasattr(x, "rad") else 0.0 for x in values]
        return np.array(off, dtype=float), np.array(scale, dtype=float)


def _long(numerator: int, denominator: int, power: int) -> Any:
    found = flint.arf((numerator, power))
    return found if denominator == 1 else found / flint.arf((denominator, 0))


def _pair(x: Any) -> tuple[float, float]:
    """The double nearest to x and the rest; float() of these numbers truncates, hence two steps."""
    high = float(x)
    if not np.isfinite(high):
        return high, 0.0
    high += float(x - high)
    return high, float(x - high)


def linearise_objects(
    read: Read, bits: int, op: NDArray[Any], x: Values, y: Values, r: Values, error: Floats, slopes: Floats
) -> None:
    """As :func:`kkt.arithmetic.shadows.linearise`, for objects (m,).

    Errors are in units of 2^-bits, derivatives at the run's values.  Errors are found in more than twice
    as many bits; one that is not a number stays so.
    """
    k = 0
    with flint.ctx.workprec(2 * bits + 64):
        unit, none = flint.arf((1, bits)), flint.arf("nan")
        parts = read_once(read, [*x, *y, *r])
        numbers = [_long(*part) if part else none for part in parts]
        triples = zip(op.tolist(), *(numbers[j * len(op) :][: len(op)] for j in range(3)), strict=True)
        for i, (kind, u, w, t) in enumerate(triples):
            right = u * w if kind == 2 else u + w if kind == 0 else u - w if kind == 1 else u / w
            error[i] = float((t - right) * unit)
            if kind > 1:
                slopes[k] = (float(w), float(u)) if kind == 2 else (float(1 / w), float(-t / w))
                k += 1
