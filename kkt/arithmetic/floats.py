"""Compiled loops over the operations of a tape: in turn, never fused, never reordered.

Double-double numbers are Dekker's (1971); sums and quotients are as in Li et al. (2002).
"""

from __future__ import annotations

import math

import numpy as np

from ..base.compiled import leaf, njit


@leaf(error_model="numpy", forceinline=True)
def operation(op, x, y):  # pragma: no cover
    """One operation of a tape, in the type of its operands."""
    if op == 2:
        return x * y
    if op == 0:
        return x + y
    if op == 1:
        return x - y
    if op == 3:
        return x / y
    return np.sqrt(x)


@njit(cache=True, error_model="numpy")
def plain(op, dst, a, b, v, xs, ys, rs):  # pragma: no cover
    """Apply operations to v (slots,), float32 or float64, in place.

    Operands and results go to xs, ys and rs (m,), or nowhere where these are (0,).
    """
    keep = len(xs) > 0
    for i in range(len(op)):
        x, y = v[a[i]], v[b[i]]
        r = operation(op[i], x, y)
        v[dst[i]] = r
        if keep:
            xs[i], ys[i], rs[i] = x, y, r


@leaf(error_model="numpy", forceinline=True)
def two_sum(x, y):  # pragma: no cover
    s = x + y
    t = s - x
    return s, (x - (s - t)) + (y - t)


@leaf(error_model="numpy", forceinline=True)
def two_product(x, y):  # pragma: no cover
    p = x * y
    c = 134217729.0 * x
    xh = c - (c - x)
    xl = x - xh
    c = 134217729.0 * y
    yh = c - (c - y)
    yl = y - yh
    return p, ((xh * yh - p) + xh * yl + xl * yh) + xl * yl


@leaf(error_model="numpy", forceinline=True)
def _dd_add(xh, xl, yh, yl):  # pragma: no cover
    s, e = two_sum(xh, yh)
    t, f = two_sum(xl, yl)
    e += t
    s, e = two_sum(s, e)
    e += f
    return two_sum(s, e)


@leaf(error_model="numpy", forceinline=True)
def _dd_mul(xh, xl, yh, yl):  # pragma: no cover
    p, e = two_product(xh, yh)
    return two_sum(p, e + (xh * yl + xl * yh))


@leaf(error_model="numpy", forceinline=True)
def _dd_div(xh, xl, yh, yl):  # pragma: no cover
    q = xh / yh
    ph, pl = _dd_mul(q, 0.0, yh, yl)
    rh, rl = _dd_add(xh, xl, -ph, -pl)
    return two_sum(q, (rh + rl) / yh)


@leaf(error_model="numpy", forceinline=True)
def _dd_sqrt(xh, xl):  # pragma: no cover
    s = math.sqrt(xh)
    ph, pl = two_product(s, s)
    rh, rl = _dd_add(xh, xl, -ph, -pl)
    return two_sum(s, (rh + rl) / (2.0 * s))


@leaf(error_model="numpy", forceinline=True)
def dd_operation(op, xh, xl, yh, yl):  # pragma: no cover
    """One operation of a tape on double-double numbers."""
    if op == 2:
        return _dd_mul(xh, xl, yh, yl)
    if op == 0:
        return _dd_add(xh, xl, yh, yl)
    if op == 1:
        return _dd_add(xh, xl, -yh, -yl)
    if op == 3:
        return _dd_div(xh, xl, yh, yl)
    if xh == 0.0:
        return xh, 0.0
    return _dd_sqrt(xh, xl)


@njit(cache=True, error_model="numpy")
def pairs(op, dst, a, b, v, xs, ys, rs):  # pragma: no cover
    """The same of pairs of double-double: complex hi + lo i, |lo| at most half an ulp of hi."""
    keep = len(xs) > 0
    for i in range(len(op)):
        x, y = v[a[i]], v[b[i]]
        hi, lo = dd_operation(op[i], x.real, x.imag, y.real, y.imag)
        r = complex(hi, lo if math.isfinite(hi) else 0.0)
        v[dst[i]] = r
        if keep:
            xs[i], ys[i], rs[i] = x, y, r
