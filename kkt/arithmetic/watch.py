"""Compiled loops over recorded operations: bits that each cancels and absorbs, and its error.

For float32 and float64, no logarithm, frexp or branch is taken for an operation: exponents are read
from the bits, and magnitudes are compared as whole numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import njit
from .floats import _two_sum

LAYOUT: dict[np.dtype[Any], tuple[type, tuple[int, int, int]]] = {
    # whole numbers of the same width; bits of the fraction, all bits but the sign, and infinity
    np.dtype(np.float32): (np.int32, (23, 0x7FFFFFFF, 0x7F800000)),
    np.dtype(np.float64): (np.int64, (52, 0x7FFFFFFFFFFFFFFF, 0x7FF0000000000000)),
}


def looked(
    op: NDArray[Any],
    x: NDArray[Any],
    y: NDArray[Any],
    r: NDArray[Any],
    cancelled: NDArray[Any],
    absorbed: NDArray[Any],
    size: NDArray[Any],
) -> None:
    """Fill cancelled, absorbed and size from operations r = x op y; all (m,).

    Numbers are float32, float64, or pairs high + low i; the exponent of a pair is that of high.

    cancelled  for a sum of two nonzeros: largest exponent of the operands minus the exponent of
               the result [bits] (a subnormal number counts as the smallest normal one), 0 where
               the result is the larger, -1 where it is exactly zero; 0 for other operations
    absorbed   exact error of the sum over the smaller operand; 0 for other operations
    size       magnitude of the result, 0 for one that is not a number
    """
    if x.dtype == np.complex128:
        return _looked_pairs(op, x, y, r, cancelled, absorbed, size)
    whole, layout = LAYOUT[x.dtype]
    _looked(op, (x, y, r), (x.view(whole), y.view(whole), r.view(whole)), layout, cancelled, absorbed, size)


@njit(cache=True, error_model="numpy")
def _looked(op, numbers, bits_of, layout, cancelled, absorbed, size):  # pragma: no cover
    (x, y, r), (xi, yi, ri), (shift, magnitude, infinity) = numbers, bits_of, layout
    for i in range(len(op)):
        u, w, t, kind = x[i], y[i], r[i], op[i]
        w = -w if kind == 1 else w
        s = u + w  # the carrier's own sum; a shorter format rounds it once more
        q = s - u
        lost = abs((t - s) - ((u - (s - q)) + (w - q)))
        a, b, c = xi[i] & magnitude, yi[i] & magnitude, ri[i] & magnitude
        large, small = max(a, b), min(a, b)
        least = min(abs(u), abs(w))
        counts = (kind < 2) & (small > 0) & (c < infinity)
        bits = (large >> shift) - (c >> shift) if counts else 0  # -1 where a sum carries
        cancelled[i] = max(bits, 0) if c > 0 else (-1 if counts else 0)
        absorbed[i] = lost / least if counts & (lost < np.inf) else 0.0
        size[i] = abs(t) if t == t else 0.0


@njit(cache=True, error_model="numpy")
def _looked_pairs(op, x, y, r, cancelled, absorbed, size):  # pragma: no cover
    part = np.empty(6)
    for i in range(len(op)):
        u, w, t = x[i], y[i], r[i]
        cancelled[i], absorbed[i] = 0, 0.0
        size[i] = abs(t.real) if t.real == t.real else 0.0
        if op[i] > 1 or u.real == 0.0 or w.real == 0.0 or not math.isfinite(t.real):
            continue
        w = -w if op[i] == 1 else w
        if t.real == 0.0:
            cancelled[i] = -1
        else:
            large = max(math.frexp(u.real)[1], math.frexp(w.real)[1])
            cancelled[i] = max(0, large - math.frexp(t.real)[1])
        # the exact u + w - t as an expansion of doubles that do not overlap (Shewchuk 1997)
        part[:] = 0.0
        for k, term in enumerate((u.real, u.imag, w.real, w.imag, -t.real, -t.imag)):
            for j in range(k):
                term, part[j] = _two_sum(term, part[j])
            part[k] = term
        absorbed[i] = abs(part.sum()) / min(abs(u.real), abs(w.real))
