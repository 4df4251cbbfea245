"""Native float32 and float64: one operation after another, never fused, never reordered.

The traced run carries a double-double shadow of every slot, so that the true error of a pivot is
known, and measures what each addition cancels and absorbs.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .chunk import Chunk

# Columns of the statistics that a traced run gathers for each step.
CANCELLED, ABSORBED, GROWTH = range(3)


def run(chunk: Chunk, v: NDArray) -> None:
    """Apply a chunk to the values v (slots,), float32 or float64, in place."""
    _run(chunk.op, chunk.dst, chunk.a, chunk.b, v)


def record(chunk: Chunk, v: NDArray, x: NDArray, y: NDArray, r: NDArray) -> None:
    """As :func:`run`; operands x, y and results r of every operation go to (len(chunk),) arrays."""
    _record(chunk.op, chunk.dst, chunk.a, chunk.b, v, x, y, r)


def run_traced(
    chunk: Chunk, v: NDArray, hi: NDArray[np.float64], lo: NDArray[np.float64], stats: NDArray
) -> None:
    """As :func:`run`, with the shadow hi + lo and stats (steps + 1, 3); row 0 is step -1.

    cancelled: largest exponent of the operands minus the exponent of the result [bits];
    absorbed: bits of the smaller operand that the sum does not keep (all of them: the precision);
    growth: largest magnitude of any result.
    """
    bits = np.finfo(v.dtype).nmant + 1
    _traced(chunk.op, chunk.dst, chunk.a, chunk.b, chunk.step, v, hi, lo, stats, bits)


@njit(cache=True, error_model="numpy")
def _run(op, dst, a, b, v):  # pragma: no cover
    for i in range(len(op)):
        x, y = v[a[i]], v[b[i]]
        if op[i] == 2:
            v[dst[i]] = x * y
        elif op[i] == 0:
            v[dst[i]] = x + y
        elif op[i] == 1:
            v[dst[i]] = x - y
        elif op[i] == 3:
            v[dst[i]] = x / y
        else:
            v[dst[i]] = np.sqrt(x)


@njit(cache=True, error_model="numpy")
def _record(op, dst, a, b, v, xs, ys, rs):  # pragma: no cover
    for i in range(len(op)):
        x, y = v[a[i]], v[b[i]]
        if op[i] == 2:
            r = x * y
        elif op[i] == 0:
            r = x + y
        elif op[i] == 1:
            r = x - y
        elif op[i] == 3:
            r = x / y
        else:
            r = np.sqrt(x)
        v[dst[i]] = r
        xs[i], ys[i], rs[i] = x, y, r


@njit(cache=True, error_model="numpy", inline="always")
def _two_sum(x, y):  # pragma: no cover
    s = x + y
    t = s - x
    return s, (x - (s - t)) + (y - t)


@njit(cache=True, error_model="numpy", inline="always")
def _two_product(x, y):  # pragma: no cover
    p = x * y
    c = 134217729.0 * x
    xh = c - (c - x)
    xl = x - xh
    c = 134217729.0 * y
    yh = c - (c - y)
    yl = y - yh
    return p, ((xh * yh - p) + xh * yl + xl * yh) + xl * yl


@njit(cache=True, error_model="numpy", inline="always")
def _dd_add(xh, xl, yh, yl):  # pragma: no cover
    s, e = _two_sum(xh, yh)
    t, f = _two_sum(xl, yl)
    e += t
    s, e = _two_sum(s, e)
    e += f
    return _two_sum(s, e)


@njit(cache=True, error_model="numpy", inline="always")
def _dd_mul(xh, xl, yh, yl):  # pragma: no cover
    p, e = _two_product(xh, yh)
    return _two_sum(p, e + (xh * yl + xl * yh))


@njit(cache=True, error_model="numpy", inline="always")
def _dd_div(xh, xl, yh, yl):  # pragma: no cover
    q = xh / yh
    ph, pl = _dd_mul(q, 0.0, yh, yl)
    rh, rl = _dd_add(xh, xl, -ph, -pl)
    return _two_sum(q, (rh + rl) / yh)


@njit(cache=True, error_model="numpy", inline="always")
def _dd_sqrt(xh, xl):  # pragma: no cover
    s = math.sqrt(xh)
    ph, pl = _two_product(s, s)
    rh, rl = _dd_add(xh, xl, -ph, -pl)
    return _two_sum(s, (rh + rl) / (2.0 * s))


@njit(cache=True, error_model="numpy")
def _traced(op, dst, a, b, step, v, hi, lo, stats, bits):  # pragma: no cover
    for i in range(len(op)):
        x, y, d = v[a[i]], v[b[i]], dst[i]
        xh, xl, yh, yl = hi[a[i]], lo[a[i]], hi[b[i]], lo[b[i]]
        row = stats[step[i] + 1]
        if op[i] == 2:
            r = x * y
            hi[d], lo[d] = _dd_mul(xh, xl, yh, yl)
        elif op[i] == 3:
            r = x / y
            hi[d], lo[d] = _dd_div(xh, xl, yh, yl)
        elif op[i] == 4:
            r = np.sqrt(x)
            hi[d], lo[d] = _dd_sqrt(xh, xl)
        else:
            if op[i] == 1:
                y, yh, yl = -y, -yh, -yl
            r = x + y
            hi[d], lo[d] = _dd_add(xh, xl, yh, yl)
            if x != 0 and y != 0 and math.isfinite(r):
                if r != 0:
                    _, ex = math.frexp(max(abs(x), abs(y)))
                    _, er = math.frexp(abs(r))
                    if ex - er > row[0]:
                        row[0] = ex - er
                t = r - x
                lost = abs((x - (r - t)) + (y - t))
                if lost > 0:
                    gone = bits + math.log2(lost / min(abs(x), abs(y)))
                    if gone > row[1]:
                        row[1] = gone
        v[d] = r
        if abs(r) > row[2]:
            row[2] = abs(r)
