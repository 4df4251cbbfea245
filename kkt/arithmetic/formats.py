"""Names of number formats: what each one is, and how a name is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from .chunk import Chunk

MAX_DIGITS = 100_000


@dataclass(frozen=True)
class Format:
    """A number format that reads a tape."""

    name: str  # as written: float32, mp:50
    kind: str  # "float", "exact", "mp" or "ball"
    dtype: type | None = None  # numpy type of a float
    digits: int = 0  # decimal digits asked of mp and ball

    @property
    def unit(self) -> float:
        """Unit roundoff: the largest relative error of one rounding to nearest; floats only."""
        return float(np.finfo(self.dtype).eps) / 2  # type: ignore[arg-type]

    def cast(self, x: NDArray) -> NDArray:
        """Data rounded to the format, in the numpy type that carries it."""
        with np.errstate(over="ignore"):
            return np.asarray(x, dtype=float).astype(self.dtype)

    def runner(self, tape: Any) -> Runner:
        """What reads the chunks of one run of a tape, in order."""
        return Native()

    @property
    def from_model(self) -> bool:
        """Spatial algebra, bias and assembly run in this format too."""
        return self.kind != "float"


class Runner(Protocol):
    """Reads the chunks of a tape one after another, on the values v (slots,) of a format."""

    def run(self, chunk: Chunk, v: NDArray) -> None:
        """Apply a chunk, in place."""

    def record(self, chunk: Chunk, v: NDArray, x: NDArray, y: NDArray, r: NDArray) -> None:
        """As ``run``; operands and results of each operation go to (len(chunk),) arrays."""


class Native:
    """The processor's own float32 and float64."""

    def run(self, chunk: Chunk, v: NDArray) -> None:
        from . import floats

        floats.run(chunk, v)

    def record(self, chunk: Chunk, v: NDArray, x: NDArray, y: NDArray, r: NDArray) -> None:
        from . import floats

        floats.record(chunk, v, x, y, r)


_FIXED = {
    "float64": Format("float64", "float", np.float64),
    "float32": Format("float32", "float", np.float32),
    "exact": Format("exact", "exact"),
}


def get_format(name: str | Format) -> Format:
    """The format of a name: float64, float32, exact, mp:DIGITS or ball:DIGITS."""
    if isinstance(name, Format):
        return name
    if name in _FIXED:
        return _FIXED[name]
    kind, _, digits = str(name).partition(":")
    if kind in ("mp", "ball"):
        try:
            asked = int(digits or "50")
        except ValueError:
            asked = 0
        if 1 <= asked <= MAX_DIGITS:
            return Format(f"{kind}:{asked}", kind, digits=asked)
        raise FormatError(
            f"format {name!r}: {digits!r} is no number of digits; use 1 to {MAX_DIGITS}, "
            f"as in {kind}:50"
        )
    raise FormatError(
        f"format {name!r} is unknown; use float32, float64, exact, mp:DIGITS or ball:DIGITS"
    )
