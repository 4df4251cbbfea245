"""Native float32 and float64: one operation after another, never fused, never reordered."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .chunk import Chunk


def run(chunk: Chunk, v: NDArray) -> None:
    """Apply a chunk to the values v (slots,), float32 or float64, in place."""
    _run(chunk.op, chunk.dst, chunk.a, chunk.b, v)


def record(chunk: Chunk, v: NDArray, x: NDArray, y: NDArray, r: NDArray) -> None:
    """As :func:`run`; operands x, y and results r of every operation go to (len(chunk),) arrays."""
    _record(chunk.op, chunk.dst, chunk.a, chunk.b, v, x, y, r)


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
