"""Formats that float64 carries: floating point of up to 25 bits in any rounding mode, and fixed point."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import FormatError
from .formats import Chunk, Format, Runner

MODES = ("nearest", "zero", "up", "down", "stochastic")
MAX_PRECISION = 25  # 2 p + 2 <= 53: the float64 result, rounded again, is correctly rounded
LEAST, MOST = -510, 511  # exponents whose products a float64 holds exactly, subnormals too


@dataclass(frozen=True)
class Binary(Format):
    """Numbers +-m 2^(e - p + 1) with whole m < 2^p and emin <= e <= emax, gradual underflow.

    float64 carries the numbers, and every + - * / sqrt is rounded correctly, as by IEEE 754.
    Raises FormatError for a precision outside 2 ... 25 bits, exponents outside -510 ... 511, or an
    unknown rounding mode.

    >>> from pivotree.kkt.arithmetic import Binary
    >>> mine = Binary("mine", precision=12)
    >>> mine.unit == 2.0**-12, mine.cast(np.array([0.1])).tolist()
    (True, [0.100006103515625])
    """

    name: str
    precision: int  # p, bits of the significand with the leading one
    emin: int = -126  # exponent of the smallest normal number
    emax: int = 127  # exponent of the largest number
    rounding: str = "nearest"  # ties to even; or zero, up, down, stochastic
    seed: int = 0  # of stochastic rounding
    infinite: bool = True  # whether there are infinities; otherwise an overflow is nan
    largest: float = 0.0  # the largest finite number; (2 - 2^(1 - p)) 2^emax where not given
    kind: str = field(default="float", init=False)
    dtype: type = field(default=np.float64, init=False)

    def __post_init__(self) -> None:
        where = f"format {self.name!r}"
        if not 2 <= self.precision <= MAX_PRECISION:
            carried = f"use 2 to {MAX_PRECISION} bits, which a float64 carries exactly"
            raise FormatError(where, f"{self.precision} bits", f"{carried}, or float64, dd or mp:DIGITS")
        if not LEAST <= self.emin <= self.emax <= MOST:
            what = f"exponents {self.emin} to {self.emax}"
            raise FormatError(where, what, f"use a range within {LEAST} to {MOST}")
        if self.rounding not in MODES:
            raise FormatError(where, f"rounding {self.rounding!r} is unknown", f"use {', '.join(MODES)}")
        if not self.largest:
            top = math.ldexp(2.0 - math.ldexp(1.0, 1 - self.precision), self.emax)
            object.__setattr__(self, "largest", top)

    @property
    def unit(self) -> float:
        """Unit roundoff: 2^-p to nearest, 2^(1 - p) in the other modes."""
        return math.ldexp(1.0, -self.precision + (self.rounding != "nearest"))

    @property
    def places(self) -> int:
        return math.ceil(1.0 + self.precision * math.log10(2.0))

    @property
    def smallest(self) -> float:
        """The smallest positive number, which is subnormal."""
        return math.ldexp(1.0, self.emin - self.precision + 1)

    @property
    def grid(self) -> NDArray[Any]:
        """(1,) the format as a record for compiled loops (:data:`.grids.GRID`)."""
        from . import grids

        least, most = ((1023 + exponent) << 52 for exponent in (self.emin, self.emax))
        mode, shift = MODES.index(self.rounding), (53 - self.precision) << 52
        over, seed = math.inf if self.infinite else math.nan, grids.mixed_seed(self.seed)
        row = (mode, shift, least, most, self.largest, over, self.smallest, seed)
        return np.array([row], dtype=grids.GRID)

    def cast(self, x: NDArray[Any]) -> NDArray[Any]:
        from . import grids

        values = np.ascontiguousarray(x, dtype=np.float64)
        out = np.empty_like(values)
        grids.cast(values.ravel(), self.grid, out.reshape(-1))
        return out

    def runner(self, tape: Any) -> Runner:
        return Rounded(self.grid)


class Rounded(Runner):
    """Every operation rounded in one mode; random numbers are numbered by the operation."""

    def __init__(self, grid: NDArray[Any]) -> None:
        self.grid = grid
        self.done: int = 0  # operations of earlier chunks

    def run(self, chunk: Chunk, v: NDArray[Any]) -> None:
        from . import grids

        if self.grid["mode"][0] != grids.NEAREST:
            return super().run(chunk, v)
        Runner(grids.lanes_nearest, self.grid).run(chunk, v[:, None])  # which compiles sooner

    def record(
        self, chunk: Chunk, v: NDArray[Any], x: NDArray[Any], y: NDArray[Any], r: NDArray[Any]
    ) -> None:
        from . import grids

        first = np.zeros(len(chunk), dtype=np.int8)
        grids.rounded(chunk, v, first, first - np.int8(1), self.grid, self.done, (x, y, r))
        self.done += len(chunk)


LONGEST = 53  # bits of a word with the sign, at most, whose sums a float64 holds exactly


@dataclass(frozen=True)
class Fixed(Format):
    """Numbers k 2^-fraction, k a word of ``whole`` + ``fraction`` bits in two's complement.

    These are the Q formats of signal processors, and float64 carries the words.  The sign bit is one
    of ``whole``.  The least word, -2^(bits - 1), is not used, so that every number has a negative.
    Sums are exact; products, quotients and roots are rounded to nearest, ties to even.  A result that
    a word cannot hold is nan and never wraps around; entries of (4) that do not fit are refused with
    body and field.  ``unit`` bounds the absolute error of one rounding, so that a small number has
    fewer digits.  Raises FormatError for less than two bits before the point, or more than 53 in all.

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
                f"format {self.name!r}",
                f"{self.whole} bits before the point and {self.fraction} behind it",
                f"use at least 2 before it, for the sign and for the ones of (4), and at most {LONGEST} in "
                "all, as in q16.16",
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
        from . import grids

        return Runner(grids.fixed, 2.0**self.fraction, float(self.top))


# by name ----------------------------------------------------------------------------------------

EXPONENT_BITS = (2, 10)
NAMED = {
    f.name: f
    for f in (
        Binary("float16", 11, -14, 15),
        Binary("bfloat16", 8, -126, 127),
        Binary("tf32", 11, -126, 127),
        # 8-bit formats of the Open Compute Project (2023): e4m3 has no infinities, but more range
        Binary("e4m3", 4, -6, 8, infinite=False, largest=448.0),
        Binary("e5m2", 3, -14, 15),
    )
}


def by_name(name: str) -> Format | None:
    """The format of a name such as bfloat16, float32:up, p11e5:zero or q16.16; None for other text."""
    point = re.fullmatch(r"q([0-9]{1,9})\.([0-9]{1,9})", name)
    if point is not None:
        return Fixed(name, int(point[1]), int(point[2]))
    base, colon, suffix = name.partition(":")
    found = Binary("float32", 24) if base == "float32" else NAMED.get(base) or _bits(name, base)
    return _in_mode(name, found, suffix) if found is not None and colon else found


def _bits(name: str, base: str) -> Binary | None:
    """pBITS or pBITSeEXPONENT: an IEEE 754 format by its bits of significand and exponent."""
    match = re.fullmatch(r"p([0-9]{1,9})(?:e([0-9]{1,9}))?", base)
    if match is None:
        return None
    exponent = int(match[2] or 8)
    least, most = EXPONENT_BITS
    if not least <= exponent <= most:
        raise FormatError(
            f"format {name!r}", f"{exponent} exponent bits", f"use {least} to {most}, as in p11e5"
        )
    emax = (1 << (exponent - 1)) - 1
    return Binary(base, int(match[1]), 1 - emax, emax)


def _in_mode(name: str, format: Binary, suffix: str) -> Format:
    mode, _, seed = suffix.partition(":")
    if mode == "nearest" and not seed:
        return format
    if mode not in MODES or (seed and (mode != "stochastic" or not re.fullmatch(r"[0-9]{1,18}", seed))):
        raise FormatError(
            f"format {name!r}",
            f"{suffix!r} is no rounding mode",
            f"use {format.name}:zero, :up, :down, :stochastic or :stochastic:SEED with a whole number",
        )
    return replace(format, name=name, rounding=mode, seed=int(seed or 0))
