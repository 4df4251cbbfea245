"""Compiled loops for local rounding errors, partial derivatives, and the reverse sweep.

They handle sums, differences, products and quotients: the tape of an elimination has no roots.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .floats import _two_product, _two_sum


@njit(cache=True, error_model="numpy")
def partials(op, x, y, r, pa, pb):  # pragma: no cover
    """Fill pa and pb with the derivatives of every operation by its operands; arrays (m,)."""
    for i in range(len(op)):
        if op[i] == 2:
            pa[i], pb[i] = y[i], x[i]
        elif op[i] == 0:
            pa[i] = pb[i] = 1.0
        elif op[i] == 1:
            pa[i], pb[i] = 1.0, -1.0
        else:
            pa[i], pb[i] = 1.0 / y[i], -r[i] / y[i]


@njit(cache=True)
def sweep(dst, a, b, pa, pb, adjoint, bar):  # pragma: no cover
    """Reverse sweep for some outputs: adjoint (slots, outputs) in place; bar (outputs,)."""
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


@njit(cache=True, error_model="numpy", inline="always")
def _linear(kind, u, w, t, us, ws, ts):  # pragma: no cover
    """Local rounding error of t = u op w, and the derivatives by both operands.

    Derivatives are taken halfway between the run and its shadow ts = us op ws.
    """
    if kind == 2:
        high, low = _two_product(u, w)
        return (t - high) - low, 0.5 * (w + ws), 0.5 * (u + us)
    if kind < 2:
        if kind == 1:
            w = -w
        high, low = _two_sum(u, w)
        return (t - high) - low, 1.0, 1.0
    high, low = _two_product(t, w)
    inverse = 2.0 / (w + ws)
    return ((high - u) + low) / w, inverse, -0.5 * (u / w + ts) * inverse


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
        e, p, q = _linear(op[i], u, w, t, xs[i], ys[i], rs[i])
        error[i] = e
        if op[i] > 1:
            slopes[k, 0], slopes[k, 1] = p, q
            k += 1


@njit(cache=True, error_model="numpy")
def side_by_side(op, dst, a, b, v, vs, error, slopes):  # pragma: no cover
    """Run v (slots,) in its own type and vs in float64, and ``linearise``, without recording.

    Returns the first operation whose result is not a number, len(op) if there is none.
    """
    k, bad = 0, len(op)
    for i in range(len(op)):
        kind = op[i]
        x, y, us, ws = v[a[i]], v[b[i]], vs[a[i]], vs[b[i]]
        if kind == 2:
            r, ts = x * y, us * ws
        elif kind == 0:
            r, ts = x + y, us + ws
        elif kind == 1:
            r, ts = x - y, us - ws
        else:
            r, ts = x / y, us / ws
        v[dst[i]], vs[dst[i]] = r, ts
        e, p, q = _linear(kind, np.float64(x), np.float64(y), np.float64(r), us, ws, ts)
        error[i] = e
        if kind > 1:
            slopes[k, 0], slopes[k, 1] = p, q
            k += 1
        if not math.isfinite(r):
            bad = min(bad, i)
    return bad


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
