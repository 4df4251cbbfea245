"""Compiled loops over many states at a time: v (slots, m), one column a state.

Each operation is applied to all columns before the next one, so that many states cost little more
than one.  Every column has the same bits as a run on that state alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.compiled import njit
from .carrier import _nearest
from .chunk import Chunk
from .floats import _dd_operation, _operation
from .formats import Runner


class Lanes(Runner):
    """Runs a tape on many states by a loop below; for :func:`pairs` v is a pair (high, low)."""

    def run(self, chunk: Chunk, v: Any) -> None:
        parts = v if isinstance(v, tuple) else (v,)
        self.loop(chunk.op, chunk.dst, chunk.a, chunk.b, *parts, *self.given)


@njit(cache=True, error_model="numpy")
def native(op, dst, a, b, v):  # pragma: no cover
    """Apply operations in place, in float64 or float32."""
    m = v.shape[1]
    for i in range(len(op)):
        x, y, r = v[a[i]], v[b[i]], v[dst[i]]
        if op[i] == 2:
            for j in range(m):
                r[j] = x[j] * y[j]
        elif op[i] == 0:
            for j in range(m):
                r[j] = x[j] + y[j]
        elif op[i] == 1:
            for j in range(m):
                r[j] = x[j] - y[j]
        elif op[i] == 3:
            for j in range(m):
                r[j] = x[j] / y[j]
        else:
            for j in range(m):
                r[j] = np.sqrt(x[j])


@njit(cache=True, error_model="numpy")
def nearest(op, dst, a, b, v, grids):  # pragma: no cover
    """Apply operations in place, each rounded to nearest on the first grid."""
    g = grids[0]
    shift, least, most, top, over = g.shift, g.least, g.most, g.top, g.over
    m = v.shape[1]
    for i in range(len(op)):
        o, x, y, r = op[i], v[a[i]], v[b[i]], v[dst[i]]
        for j in range(m):
            r[j] = _nearest(_operation(o, x[j], y[j]), shift, least, most, top, over)


@njit(cache=True, error_model="numpy")
def pairs(op, dst, a, b, high, low):  # pragma: no cover
    """Apply operations in place, in double-double: sums of high and low (slots, m), float64."""
    m = high.shape[1]
    for i in range(len(op)):
        o = op[i]
        xh, xl, yh, yl = high[a[i]], low[a[i]], high[b[i]], low[b[i]]
        rh, rl = high[dst[i]], low[dst[i]]
        for j in range(m):
            h, t = _dd_operation(o, xh[j], xl[j], yh[j], yl[j])
            rh[j] = h
            rl[j] = t if math.isfinite(h) else 0.0
