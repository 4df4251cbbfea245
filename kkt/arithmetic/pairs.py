"""Compiled loop of double-double numbers: pairs hi + lo of float64, |lo| at most half an ulp of hi.

Dekker (1971); sums and quotients as in Li et al. (2002).  A pair travels as a complex number,
hi + lo i, so that arrays of pairs are ordinary arrays that can be negated and asked for zeros.
"""

from __future__ import annotations

import math

from numba import njit

from .floats import _dd_add, _dd_div, _dd_mul, _dd_sqrt


@njit(cache=True, error_model="numpy")
def run(op, dst, a, b, v, xs, ys, rs):  # pragma: no cover
    """Apply operations to v (slots,) complex in place; xs, ys, rs are (m,), or (0,) for none."""
    keep = len(xs) > 0
    for i in range(len(op)):
        x, y = v[a[i]], v[b[i]]
        if op[i] == 2:
            hi, lo = _dd_mul(x.real, x.imag, y.real, y.imag)
        elif op[i] == 0:
            hi, lo = _dd_add(x.real, x.imag, y.real, y.imag)
        elif op[i] == 1:
            hi, lo = _dd_add(x.real, x.imag, -y.real, -y.imag)
        elif op[i] == 3:
            hi, lo = _dd_div(x.real, x.imag, y.real, y.imag)
        elif x.real == 0.0:
            hi, lo = x.real, 0.0
        else:
            hi, lo = _dd_sqrt(x.real, x.imag)
        r = complex(hi, lo if math.isfinite(hi) else 0.0)
        v[dst[i]] = r
        if keep:
            xs[i], ys[i], rs[i] = x, y, r
