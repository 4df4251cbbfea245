"""Longer arithmetics that run beside a format on the same rounded data, operation by operation."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..errors import FormatError
from . import floats
from .chunk import Chunk
from .floats import _dd_add, _dd_div, _dd_mul, _dd_sqrt

Floats = NDArray[np.float64]
NAMES = ("float64", "dd", "ball:DIGITS")


class Shadow(Protocol):
    """Runs a tape in more digits; values and results come as unevaluated sums high + low."""

    def follow(self, chunk: Chunk, r: NDArray, high: Floats, low: Floats, off: Floats) -> None:
        """Apply a chunk: results of its operations go to high, low, and |r - (high + low)| to off.

        Arrays are (len(chunk),); r are the results of the format that is followed.
        """

    def values(self, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Values of signed slots."""


def shadow_of(name: str, v: NDArray) -> Shadow:
    """The shadow "float64", "dd" (double-double) or "ball:DIGITS" that starts from values v.

    Raises FormatError for another name.
    """
    kind, _, digits = name.partition(":")
    if name == "float64":
        return Float64(v)
    if name == "dd":
        return DoubleDouble(v)
    if kind == "ball" and digits.isdigit() and int(digits) > 0:
        return Ball(v, int(digits))
    raise FormatError(f"shadow {name!r} is unknown; use {', '.join(NAMES)}, as in ball:50")


class Float64:
    """float64 for formats of up to about 30 bits."""

    def __init__(self, v: NDArray) -> None:
        self.v = v.astype(np.float64)

    def follow(self, chunk: Chunk, r: NDArray, high: Floats, low: Floats, off: Floats) -> None:
        x, y = np.empty_like(high), np.empty_like(high)
        with np.errstate(all="ignore"):
            floats.record(chunk, self.v, x, y, high)  # low stays 0
            np.abs(np.subtract(r, high, out=off), out=off)

    def beside(
        self,
        chunk: Chunk,
        v: NDArray,
        x: NDArray,
        y: NDArray,
        r: NDArray,
        high: Floats,
        off: Floats,
    ) -> None:
        """Record a chunk of the hardware's own float32 and follow it in one loop."""
        _beside(chunk.op, chunk.dst, chunk.a, chunk.b, v, x, y, r, self.v, high, off)

    def values(self, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        high = np.sign(slots) * self.v[np.abs(slots)]
        return high, np.zeros_like(high)


class DoubleDouble:
    """Sums high + low of two float64, about 32 digits (Dekker 1971)."""

    def __init__(self, v: NDArray) -> None:
        self.high = v.astype(np.float64)
        self.low = np.zeros_like(self.high)

    def follow(self, chunk: Chunk, r: NDArray, high: Floats, low: Floats, off: Floats) -> None:
        _follow_dd(chunk.op, chunk.dst, chunk.a, chunk.b, self.high, self.low, r, high, low, off)

    def values(self, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        sign, at = np.sign(slots), np.abs(slots)
        return sign * self.high[at], sign * self.low[at]


class Ball:
    """python-flint balls, midpoints given: slow, and as exact as is asked."""

    def __init__(self, v: NDArray, digits: int) -> None:
        import flint

        self.bits = int(digits * 3.33) + 16
        self.v: list[Any] = [flint.arb(float(x)) for x in v]

    def follow(self, chunk: Chunk, r: NDArray, high: Floats, low: Floats, off: Floats) -> None:
        import flint

        from . import objects

        with flint.ctx.workprec(self.bits):
            for i in range(len(chunk)):
                objects.run(chunk.part(slice(i, i + 1)), self.v)
                high[i], low[i] = _parts(self.v[int(chunk.dst[i])])
        with np.errstate(invalid="ignore"):
            off[:] = np.abs((r.astype(float) - high) - low)

    def values(self, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        import flint

        flat = slots.ravel().tolist()
        with flint.ctx.workprec(self.bits):
            parts = [_parts(self.v[s] if s >= 0 else -self.v[-s]) for s in flat]
        high, low = np.array(parts, dtype=float).reshape(-1, 2).T
        return high.reshape(slots.shape), low.reshape(slots.shape)


def _parts(ball: Any) -> tuple[float, float]:
    high = float(ball.mid()) if ball.is_finite() else float("nan")
    return high, float((ball - high).mid()) if np.isfinite(high) else 0.0


@njit(cache=True, error_model="numpy")
def _beside(op, dst, a, b, v, xs, ys, rs, exact, high, off):  # pragma: no cover
    for i in range(len(op)):
        kind, p, q, d = op[i], a[i], b[i], dst[i]
        x, y, u, w = v[p], v[q], exact[p], exact[q]
        if kind == 2:
            r, t = x * y, u * w
        elif kind == 0:
            r, t = x + y, u + w
        elif kind == 1:
            r, t = x - y, u - w
        elif kind == 3:
            r, t = x / y, u / w
        else:
            r, t = np.sqrt(x), np.sqrt(u)
        v[d], exact[d] = r, t
        xs[i], ys[i], rs[i] = x, y, r
        high[i] = t
        off[i] = abs(np.float64(r) - t)


@njit(cache=True, error_model="numpy")
def _follow_dd(op, dst, a, b, hi, lo, rs, high, low, off):  # pragma: no cover
    for i in range(len(op)):
        xh, xl, yh, yl = hi[a[i]], lo[a[i]], hi[b[i]], lo[b[i]]
        if op[i] == 2:
            rh, rl = _dd_mul(xh, xl, yh, yl)
        elif op[i] == 3:
            rh, rl = _dd_div(xh, xl, yh, yl)
        elif op[i] == 4:
            rh, rl = _dd_sqrt(xh, xl)
        elif op[i] == 1:
            rh, rl = _dd_add(xh, xl, -yh, -yl)
        else:
            rh, rl = _dd_add(xh, xl, yh, yl)
        hi[dst[i]], lo[dst[i]] = rh, rl
        high[i], low[i] = rh, rl
        off[i] = abs((np.float64(rs[i]) - rh) - rl)
