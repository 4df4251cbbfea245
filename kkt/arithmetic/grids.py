"""Compiled loops that round each operation, to at most 25 bits or to fixed point, and loops over states.

Formats of p <= 25 bits are carried by float64: each operation in float64, then one rounding to p bits.
For + - * / sqrt, two roundings to nearest give the same as one, since 53 >= 2 p + 2 (Figueroa 1995).
Every other mode needs the exact residual of the float64 operation: from TwoSum for sums, from the
remainder for quotients and roots; products are exact.  Values decide nothing in the loops but their
own rounding.

Many states at a time are v (slots, m), one column a state: each operation is applied to all columns
before the next one, so that many states cost little more than one.  Every column has the same bits
as a run on that state alone.
"""

from __future__ import annotations

import math

import numpy as np

from ..base.compiled import leaf, njit
from .floats import dd_operation, operation, two_product, two_sum

EXPONENT = 0x7FF0000000000000  # bits of a float64
QUIET = 0x0008000000000000  # leading bit of the fraction: the constant added is 1.5 2^e

NATIVE, NEAREST, ZERO, UP, DOWN, STOCHASTIC = range(-1, 5)  # modes; NATIVE leaves float64 alone


# The parameters of a format, as compiled loops read them.
GRID = np.dtype(
    [
        ("mode", np.int64),
        ("shift", np.int64),  # 53 - p, shifted to a float64's exponent field
        ("least", np.int64),  # bits of 2^emin
        ("most", np.int64),  # bits of 2^emax
        ("top", np.float64),  # largest finite number
        ("over", np.float64),  # result of an overflow: infinity, or nan in a format without one
        ("step", np.float64),  # spacing of subnormal numbers
        ("seed", np.uint64),
    ]
)


def mixed_seed(seed: int) -> int:
    """A seed hashed to 64 bits, so that seeds 0, 1, 2 give unrelated random numbers."""
    z = (seed + 1) * 0x9E3779B97F4A7C15 % (1 << 64)
    z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93 % (1 << 64)
    return z ^ (z >> 32)


@leaf(error_model="numpy", forceinline=True)
def _bits(z):  # pragma: no cover
    return np.float64(z).view(np.int64)


@leaf(error_model="numpy", forceinline=True)
def _float(bits):  # pragma: no cover
    return np.int64(bits).view(np.float64)


@leaf(error_model="numpy", forceinline=True)
def _nearest(z, shift, least, most, top, over):  # pragma: no cover
    """z rounded to p bits, ties to even, by adding and subtracting 1.5 2^(e + 53 - p)."""
    e = _bits(z) & EXPONENT
    if e > most:
        return z if z != z else math.copysign(over, z)
    if e < least:
        e = least
    c = _float((e + shift) | QUIET)
    r = (abs(z) + c) - c
    if r > top:
        r = over
    return math.copysign(r, z)


@leaf(error_model="numpy", forceinline=True)
def _uniform(seed, count):  # pragma: no cover
    """A number in [0, 1) from a counter (splitmix64; Steele, Lea & Flood 2014)."""
    z = seed + np.uint64(count) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * 2.0**-53


@njit(cache=True, error_model="numpy")
def _to_grid(z, rest, g, count):  # pragma: no cover
    """z + rest rounded to a format, in a mode other than to nearest.

    rest is the exact residual of z; count numbers the random number to be used.
    """
    if z == 0.0 or z != z:
        return z
    mode, shift, least, top, step = g.mode, g.shift, g.least, g.top, g.step
    a = abs(z)
    if a == math.inf:
        return math.copysign(g.over, z)
    if z < 0.0:
        rest = -rest
    tiny = _float(least)
    gap = np.int64(1) << (shift >> 52)
    # step is a power of two: exact
    below = math.floor(a / step) * step if a < tiny else _float(_bits(a) & ~(gap - 1))
    if below == a and rest == 0.0 and a <= top:
        return z
    if below == a and rest < 0.0:
        below = below - step if below <= tiny else _float(_bits(below) - gap)
    above = below + step if below < tiny else _float(_bits(below) + gap)
    if below > top:
        up = mode == STOCHASTIC  # an overflow
    elif mode == STOCHASTIC:
        up = _uniform(g.seed, count) * (above - below) < (a - below) + rest
    else:
        up = False
    if (mode == UP and z > 0.0) or (mode == DOWN and z < 0.0):
        up = True
    r = above if up else min(below, top)
    if r > top:
        r = g.over
    return math.copysign(r, z)


@njit(cache=True, error_model="numpy")
def cast(x, grids, out):  # pragma: no cover
    """Round x (m,) float64 to nearest in the first format, into out (m,)."""
    g = grids[0]
    shift, least, most, top, over = g.shift, g.least, g.most, g.top, g.over
    for i in range(len(x)):
        out[i] = _nearest(x[i], shift, least, most, top, over)


@leaf(error_model="numpy", forceinline=True)
def _residual(op, x, y, z):  # pragma: no cover
    """(x op y) - z, exact or of the right sign and size, for operands of at most 25 bits; and z.

    A quotient beyond the range of every format is cut to 1e300, so that it is not infinite.
    """
    if op == 2 or not math.isfinite(x) or not math.isfinite(y):
        return 0.0, z
    if op < 2:
        _, rest = two_sum(x, -y if op == 1 else y)
        return rest, z
    if op == 3:
        if y == 0.0:
            return 0.0, z
        if abs(z) > 1e300:
            return 0.0, math.copysign(1e300, z)
        high, low = two_product(z, y)
        return ((x - high) - low) / y, z
    if z == 0.0 or z != z:
        return 0.0, z
    high, low = two_product(z, z)
    return ((x - high) - low) / (2.0 * z), z


@leaf(error_model="numpy", forceinline=True)
def _negative_zero(op, x, y):  # pragma: no cover
    """Whether a sum that is exactly zero is -0 when rounding down: unless both terms are +0."""
    if op == 1:
        y = -y
    return op < 2 and (math.copysign(1.0, x) < 0.0 or math.copysign(1.0, y) < 0.0)


@njit(cache=True, error_model="numpy")
def _operand(x, g, count):  # pragma: no cover
    if g.mode == NATIVE:
        return x
    if g.mode == NEAREST:
        return _nearest(x, g.shift, g.least, g.most, g.top, g.over)
    return _to_grid(x, 0.0, g, count)


@njit(cache=True, error_model="numpy")
def rounded(chunk, v, which, operand, grids, at, records):  # pragma: no cover
    """Apply operations to v (slots,) in place, each in formats of its own.

    which, operand (m,): rows of grids for the result and for both operands, -1 for operands that
    are not rounded; at: number of earlier operations; records: xs, ys and rs,
    to which operands and results go, or nowhere where these are (0,).
    """
    op, dst, a, b = chunk.op, chunk.dst, chunk.a, chunk.b
    xs, ys, rs = records
    keep = len(xs) > 0
    for i in range(len(op)):
        x, y = v[a[i]], v[b[i]]
        if keep:
            xs[i], ys[i] = x, y
        g, k, count = grids[which[i]], operand[i], 4 * (at + i)
        if k >= 0:
            x = _operand(x, grids[k], count + 1)
            y = _operand(y, grids[k], count + 2)
        r = operation(op[i], x, y)
        if g.mode == NEAREST:
            r = _nearest(r, g.shift, g.least, g.most, g.top, g.over)
        elif g.mode > NEAREST:
            rest, r = _residual(op[i], x, y, r)
            if r == 0.0 and g.mode == DOWN and _negative_zero(op[i], x, y):
                r = -0.0
            r = _to_grid(r, rest, g, count)
        v[dst[i]] = r
        if keep:
            rs[i] = r


@njit(cache=True, error_model="numpy")
def fixed(op, dst, a, b, v, scale, top, xs, ys, rs):  # pragma: no cover
    """The same in fixed point: whole multiples of 1 / scale, up to top of them.

    Where the result in float64 is a tie, the exact residual of the operation decides.
    """
    keep = len(xs) > 0
    for i in range(len(op)):
        kind, x, y = op[i], v[a[i]], v[b[i]]
        z = operation(kind, x, y)  # of sums it is exact
        p = z * scale
        k = np.rint(p)
        if kind > 1 and abs(p - k) == 0.5:  # a tie in float64, which need not be one exactly
            rest = two_product(x, y)[1] if kind == 2 else _residual(kind, x, y, z)[0]
            if rest != 0.0:
                k = math.floor(p) + (1.0 if rest > 0.0 else 0.0)
        r = (k + 0.0) / scale if abs(k) <= top else math.nan
        v[dst[i]] = r
        if keep:
            xs[i], ys[i], rs[i] = x, y, r


@njit(cache=True, error_model="numpy")
def lanes_native(op, dst, a, b, v, xs, ys, rs):  # pragma: no cover
    """Apply operations in place, in float64 or float32; nothing goes to xs, ys and rs."""
    m = v.shape[1]
    for i in range(len(op)):
        o, x, y, r = op[i], v[a[i]], v[b[i]], v[dst[i]]
        for j in range(m):
            r[j] = operation(o, x[j], y[j])


@njit(cache=True, error_model="numpy")
def lanes_nearest(op, dst, a, b, v, grids, xs, ys, rs):  # pragma: no cover
    """Apply operations in place, each rounded to nearest on the first grid."""
    g = grids[0]
    shift, least, most, top, over = g.shift, g.least, g.most, g.top, g.over
    m = v.shape[1]
    for i in range(len(op)):
        o, x, y, r = op[i], v[a[i]], v[b[i]], v[dst[i]]
        for j in range(m):
            r[j] = _nearest(operation(o, x[j], y[j]), shift, least, most, top, over)


@njit(cache=True, error_model="numpy")
def lanes_pairs(op, dst, a, b, v, xs, ys, rs):  # pragma: no cover
    """Apply operations in place, in double-double: v (2, slots, m) are sums of high and low."""
    (high, low), m = v, v.shape[2]
    for i in range(len(op)):
        o = op[i]
        xh, xl, yh, yl = high[a[i]], low[a[i]], high[b[i]], low[b[i]]
        rh, rl = high[dst[i]], low[dst[i]]
        for j in range(m):
            h, t = dd_operation(o, xh[j], xl[j], yh[j], yl[j])
            rh[j] = h
            rl[j] = t if math.isfinite(h) else 0.0
