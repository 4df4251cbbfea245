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
MAX_PRECISION = 25  # 2 p + 2 <= 53: a float64 rounded once more is the operation itself
LEAST, MOST = -510, 511  # exponents whose products a float64 holds exactly, subnormals too


@dataclass(frozen=True)
class Binary(Format):
    """Numbers +-m 2^(e - p + 1) with whole m < 2^p and emin <= e <= emax, gradual underflow.

    Computed on float64, exactly: every + - * / sqrt is rounded once, as by IEEE 754.  Raises
    FormatError for a precision beyond 25 bits, or exponents beyond -510 ... 511.

    >>> from pivotree.kkt.arithmetic import Binary
    >>> mine = Binary("mine", precision=12)
    >>> mine.unit == 2.0**-12, mine.cast(np.array([0.1])).tolist()
    (True, [0.100006103515625])
    """

    name: str
    precision: int  # p, bits of the significand with the leading one
    emin: int = -126  # exponent of the smallest normal number
    emax: int = 127  # exponent of the largest number
    rounding: str = "nearest"  # even; or zero, up, down, stochastic
    seed: int = 0  # of stochastic rounding
    infinite: bool = True  # there are infinities; otherwise an overflow is nan
    largest: float = 0.0  # finite number; (2 - 2^(1 - p)) 2^emax where not given
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
                f"format {self.name!r}: rounding {self.rounding!r} is unknown; "
                f"use {', '.join(MODES)}"
            )
        if not self.largest:
            top = math.ldexp(2.0 - math.ldexp(1.0, 1 - self.precision), self.emax)
            object.__setattr__(self, "largest", top)

    @property
    def unit(self) -> float:
        """2^-p to nearest, 2^(1 - p) in the other modes."""
        return math.ldexp(1.0, -self.precision + (self.rounding != "nearest"))

    @property
    def places(self) -> int:
        return math.ceil(1.0 + self.precision * math.log10(2.0))

    @property
    def smallest_normal(self) -> float:
        return math.ldexp(1.0, self.emin)

    @property
    def smallest(self) -> float:
        """The smallest positive number, a subnormal one."""
        return math.ldexp(1.0, self.emin - self.precision + 1)

    @property
    def grid(self) -> NDArray:
        """(1,) the format as the compiled loops want it."""
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

    def cast(self, x: NDArray) -> NDArray:
        from . import carrier

        values = np.ascontiguousarray(x, dtype=np.float64)
        out = np.empty_like(values)
        carrier.cast(values.ravel(), self.grid, out.reshape(-1))
        return out

    def runner(self, tape: Any) -> Runner:
        return Nearest(self.grid) if self.rounding == "nearest" else Rounded(self.grid)


class Nearest(Runner):
    """Every operation rounded to nearest on one grid."""

    def __init__(self, grid: NDArray) -> None:
        self.grid = grid

    def record(self, chunk: Chunk, v: NDArray, x: NDArray, y: NDArray, r: NDArray) -> None:
        from . import carrier

        carrier.nearest(chunk.op, chunk.dst, chunk.a, chunk.b, v, self.grid, x, y, r)


class Rounded(Runner):
    """Every operation rounded in a mode; random numbers are counted from the first chunk on."""

    def __init__(self, grid: NDArray) -> None:
        self.grid = grid
        self.done = 0  # operations that went before

    def record(self, chunk: Chunk, v: NDArray, x: NDArray, y: NDArray, r: NDArray) -> None:
        from . import carrier

        first = np.zeros(len(chunk), dtype=np.int8)
        carrier.rounded(chunk, v, first, first - np.int8(1), self.grid, self.done, (x, y, r))
        self.done += len(chunk)
