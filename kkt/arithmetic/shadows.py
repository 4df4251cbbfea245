"""Shadows: runs in more digits beside a format's run, on the same rounded data.

A shadow repeats every operation, so that the error of each result is seen.  Compiled loops find local
rounding errors, partial derivatives, and the reverse sweep; they handle sums, differences, products
and quotients: the tape of an elimination has no roots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import njit
from .floats import _two_product, _two_sum, pairs
from .formats import Chunk, Format, Runner
from .objects import InObjects, Read, leading, of_any, read_once, size


@njit(cache=True, error_model="numpy")
def linearise(op, x, y, r, xs, ys, rs, error, slopes):  # pragma: no cover
    """Fill the local rounding errors and derivatives that a reverse sweep needs.

    error (m,): local rounding errors r - (x op y), exact but for one last rounding; slopes
    (products and quotients, 2): derivatives by both operands, halfway between the run and its
    shadow; those of sums are 1 and -1 and are not stored.
    """
    k = 0
    for i in range(len(op)):
        u, w, t = np.float64(x[i]), np.float64(y[i]), np.float64(r[i])
        us, ws, ts = xs[i], ys[i], rs[i]
        if op[i] < 2:
            high, low = _two_sum(u, -w if op[i] == 1 else w)
            error[i] = (t - high) - low
            continue
        if op[i] == 2:
            high, low = _two_product(u, w)
            error[i] = (t - high) - low
            slopes[k, 0], slopes[k, 1] = 0.5 * (w + ws), 0.5 * (u + us)
        else:
            high, low = _two_product(t, w)
            error[i] = ((high - u) + low) / w
            slopes[k, 0], slopes[k, 1] = 2.0 / (w + ws), -(u / w + ts) / (w + ws)
        k += 1


@njit(cache=True, error_model="numpy")
def contribute(op, dst, a, b, error, slopes, adjoint, out):  # pragma: no cover
    """Reverse sweep: adjoint (slots,) in place; out (m,) is each result's adjoint times its error.

    error and slopes are those of ``linearise``.
    """
    k = len(slopes)
    for i in range(len(op) - 1, -1, -1):
        kind, d = op[i], dst[i]
        if kind > 1:
            k -= 1
        bar = adjoint[d]
        if bar == 0.0:
            out[i] = 0.0
            continue
        adjoint[d] = 0.0
        out[i] = bar * error[i]
        if kind == 0:
            adjoint[a[i]] += bar
            adjoint[b[i]] += bar
        elif kind == 1:
            adjoint[a[i]] += bar
            adjoint[b[i]] -= bar
        else:
            adjoint[a[i]] += slopes[k, 0] * bar
            adjoint[b[i]] += slopes[k, 1] * bar


Floats = NDArray[np.float64]
Values = Sequence[Any] | NDArray[Any]  # of slots, or of operations


class Shadow(Protocol):
    """Runs a tape in more digits."""

    def follow(self, chunk: Chunk) -> None:
        """Apply a chunk."""

    def distances(self, values: Values, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """|value - shadow| and |shadow| at signed slots, given the format's values there."""


def shadow_of(format: Format, v: Values) -> Shadow:
    """A run from values v (slots,) that shows the rounding errors of a format: in twice its digits.

    Fractions and balls need no second run: they know their error.
    """
    if format.kind in ("exact", "ball"):
        return Own()
    if isinstance(v, np.ndarray) and format.kind == "float":
        return DoublePairs(v)
    return Long(v, 2 * math.ceil(format.digits or -math.log10(format.unit)) + 40)


class DoublePairs:
    """A shadow in sums high + low i of two float64, about 32 digits (Dekker 1971)."""

    def __init__(self, v: NDArray[Any]) -> None:
        self.v: NDArray[np.complex128] = v.astype(np.complex128)

    def follow(self, chunk: Chunk) -> None:
        Runner(pairs).run(chunk, self.v)

    def distances(self, values: Values, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        own = np.sign(slots) * self.v[np.abs(slots)]
        with np.errstate(all="ignore"):
            return np.abs((np.asarray(values, dtype=float) - own.real) - own.imag), np.abs(own.real)


class Long:
    """A shadow in floating-point numbers of any precision, by python-flint; it is slow."""

    def __init__(self, v: Values, digits: int) -> None:
        import flint

        self.bits: int = int(digits * 3.33) + 16
        parts = read_once(of_any, v.tolist() if isinstance(v, np.ndarray) else v)
        with flint.ctx.workprec(self.bits):
            self.v: list[Any] = [_long(*part) if part else flint.arf("nan") for part in parts]

    def follow(self, chunk: Chunk) -> None:
        InObjects(self.bits).run(chunk, self.v)

    def distances(self, values: Values, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        import flint

        with flint.ctx.workprec(self.bits):
            own = [self.v[s] if s >= 0 else -self.v[-s] for s in slots.tolist()]
            off = [self._distance(x, s) for x, s in zip(values, own, strict=True)]
            return np.array(off, dtype=float), np.abs([_pair(s)[0] for s in own])

    def _distance(self, value: Any, exact: Any) -> float:
        """|value - exact| in this precision, rounded to a double; nan where value is not finite."""
        part = of_any(value)
        return abs(_pair(exact - _long(*part))[0]) if part else float("nan")


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
    import flint

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
    """As :func:`linearise`, for objects (m,): errors in units of 2^-bits, derivatives at the run's values.

    Errors are found in more than twice as many bits; one that is not a number stays so.
    """
    import flint

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
