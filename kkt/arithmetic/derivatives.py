"""Compiled loops for local rounding errors, partial derivatives, and the reverse sweep."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .floats import _two_product, _two_sum


@njit(cache=True, error_model="numpy")
def local_errors(op, x, y, r, out):  # pragma: no cover
    """out[i] = r - (x op y), exact but for one last rounding; arrays (m,), out float64."""
    for i in range(len(op)):
        u, w, t = np.float64(x[i]), np.float64(y[i]), np.float64(r[i])
        if op[i] == 2:
            high, low = _two_product(u, w)
            out[i] = (t - high) - low
        elif op[i] < 2:
            if op[i] == 1:
                w = -w
            high, low = _two_sum(u, w)
            out[i] = (t - high) - low
        elif op[i] == 3:
            high, low = _two_product(t, w)
            out[i] = ((high - u) + low) / w
        else:
            high, low = _two_product(t, t)
            out[i] = ((high - u) + low) / (t + math.sqrt(u))


@njit(cache=True, error_model="numpy")
def partials(op, x, y, r, xs, ys, rs, pa, pb):  # pragma: no cover
    """Discrete gradient of every operation between a run and its shadow; arrays (m,).

    r - rs = pa (x - xs) + pb (y - ys) + the local error, an identity and not a first-order
    statement: the derivatives are taken halfway between computed and shadow values.
    """
    for i in range(len(op)):
        if op[i] == 2:
            pa[i] = 0.5 * (y[i] + ys[i])
            pb[i] = 0.5 * (x[i] + xs[i])
        elif op[i] == 0:
            pa[i] = pb[i] = 1.0
        elif op[i] == 1:
            pa[i], pb[i] = 1.0, -1.0
        elif op[i] == 3:
            inverse = 2.0 / (y[i] + ys[i])
            pa[i] = inverse
            # x/y is not the rounded r: the local error is told apart
            pb[i] = -0.5 * (np.float64(x[i]) / np.float64(y[i]) + rs[i]) * inverse
        else:
            pa[i] = 1.0 / (math.sqrt(np.float64(x[i])) + rs[i])
            pb[i] = 0.0


@njit(cache=True)
def sweep(dst, a, b, pa, pb, adjoint, bars):  # pragma: no cover
    """Reverse sweep for one output: adjoint (slots,) in place; bars (m,) of every result."""
    for i in range(len(dst) - 1, -1, -1):
        bar = adjoint[dst[i]]
        adjoint[dst[i]] = 0.0
        bars[i] = bar
        if bar != 0.0:
            adjoint[a[i]] += pa[i] * bar
            adjoint[b[i]] += pb[i] * bar


@njit(cache=True)
def sweep_many(dst, a, b, pa, pb, adjoint, bar):  # pragma: no cover
    """Reverse sweep for several outputs: adjoint (slots, outputs) in place; bar (outputs,)."""
    for i in range(len(dst) - 1, -1, -1):
        d, p, q = dst[i], a[i], b[i]
        for j in range(len(bar)):
            bar[j] = adjoint[d, j]
            adjoint[d, j] = 0.0
        for j in range(len(bar)):
            adjoint[p, j] += pa[i] * bar[j]
        if pb[i] != 0.0:
            for j in range(len(bar)):
                adjoint[q, j] += pb[i] * bar[j]
