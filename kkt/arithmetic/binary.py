"""Binary floating-point formats of up to 25 bits, in any rounding mode."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import FormatError
from .chunk import Chunk
from .formats import Format, Runner

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
        if not 2 <= self.precision <= MAX_PRECISION:
            raise FormatError(
                f"format {self.name!r}: {self.precision} bits; use 2 to {MAX_PRECISION} bits, "
                "which a float64 carries exactly, or float64, dd or mp:DIGITS"
            )
        if not LEAST <= self.emin <= self.emax <= MOST:
            raise FormatError(
                f"format {self.name!r}: exponents {self.emin} to {self.emax}; "
                f"use a range within {LEAST} to {MOST}"
            )
        if self.rounding not in MODES:
            raise FormatError(
                f"format {self.name!r}: rounding {self.rounding!r} is unknown; use {', '.join(MODES)}"
            )
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
    def smallest_normal(self) -> float:
        return math.ldexp(1.0, self.emin)

    @property
    def smallest(self) -> float:
        """The smallest positive number, which is subnormal."""
        return math.ldexp(1.0, self.emin - self.precision + 1)

    @property
    def grid(self) -> NDArray[Any]:
        """(1,) the format as a record for compiled loops (:data:`.carrier.GRID`)."""
        from . import carrier

        return np.array(
            [
                (
                    MODES.index(self.rounding),
                    (53 - self.precision) << 52,
                    (1023 + self.emin) << 52,
                    (1023 + self.emax) << 52,
                    self.largest,
                    math.inf if self.infinite else math.nan,
                    self.smallest,
                    carrier.mixed_seed(self.seed),
                )
            ],
            dtype=carrier.GRID,
        )

    def cast(self, x: NDArray[Any]) -> NDArray[Any]:
        from . import carrier

        values = np.ascontiguousarray(x, dtype=np.float64)
        out = np.empty_like(values)
        carrier.cast(values.ravel(), self.grid, out.reshape(-1))
        return out

    def runner(self, tape: Any) -> Runner:
        from . import carrier

        return Runner(carrier.nearest, self.grid) if self.rounding == "nearest" else Rounded(self.grid)


class Rounded(Runner):
    """Every operation rounded in one mode; random numbers are numbered by the operation."""

    def __init__(self, grid: NDArray[Any]) -> None:
        self.grid = grid
        self.done: int = 0  # operations of earlier chunks

    def record(
        self, chunk: Chunk, v: NDArray[Any], x: NDArray[Any], y: NDArray[Any], r: NDArray[Any]
    ) -> None:
        from . import carrier

        first = np.zeros(len(chunk), dtype=np.int8)
        carrier.rounded(chunk, v, first, first - np.int8(1), self.grid, self.done, (x, y, r))
        self.done += len(chunk)
