"""Single operations of a number format, and the same by MPFR, which we did not write."""

import math
from types import SimpleNamespace

import gmpy2
import numpy as np

from pivotree.kkt.arithmetic.formats import Chunk
from pivotree.kkt.tape.player import started, watched

OPERATIONS = ("add", "sub", "mul", "div", "sqrt")  # as numbered on the tape
ROUNDING = {
    "nearest": gmpy2.RoundToNearest,
    "zero": gmpy2.RoundToZero,
    "up": gmpy2.RoundUp,
    "down": gmpy2.RoundDown,
}


def record(tape, entries, format):
    """Operands x, y and results r of every operation of a run; its slots at the start, and v after it."""
    v = started(tape, entries, format)
    start = v.copy()
    pieces = [(p.x.copy(), p.y.copy(), p.r.copy()) for p in watched(tape, format.runner(tape), v)]
    x, y, r = map(np.concatenate, zip(*pieces, strict=True))
    return SimpleNamespace(x=x, y=y, r=r, start=start, v=v)


def operate(format, operation, x, y):
    """x op y in a format, element by element, through its runner."""
    m = len(x)
    v = np.concatenate([x, y, np.zeros(m)]).astype(format.dtype)
    at = np.arange(m, dtype=np.int32)
    second = 0 * at if operation == "sqrt" else m + at
    op = np.full(m, OPERATIONS.index(operation), dtype=np.int8)
    chunk = Chunk(op, 2 * m + at, at, second.astype(np.int32), 0 * at)
    recorded = [np.empty(m, dtype=format.dtype) for _ in range(3)]
    runner, again = format.runner(None), v.copy()
    with np.errstate(all="ignore"):
        runner.run(chunk, v)
        format.runner(None).record(chunk, again, *recorded)
    assert same(v, again).all() and same(recorded[2], v[2 * m :]).all()
    return v[2 * m :]


def same(x, y):
    """Equal to the bit, nan to nan: a zero has a sign."""
    x, y = np.asarray(x), np.asarray(y)
    if np.iscomplexobj(x):
        return same(x.real, y.real) & same(x.imag, y.imag)
    return ((x == y) & (np.signbit(x) == np.signbit(y))) | (np.isnan(x) & np.isnan(y))


def mpfr(format, operation, x, y):
    """x op y by MPFR with the format's precision, exponents, subnormals and rounding mode."""
    p, emin, emax = format.precision, format.emin, format.emax
    context = gmpy2.context(
        precision=p,
        emin=emin - p + 2,
        emax=emax + 1,  # MPFR's significands lie in [1/2, 1)
        subnormalize=True,
        round=ROUNDING[format.rounding],
    )
    given = (x,) if operation == "sqrt" else (x, y)
    exact = (map(gmpy2.mpfr, z.tolist()) for z in given)  # 53 bits
    return np.array([float(z) for z in map(getattr(context, operation), *exact)])


def numbers(format, count, rng):
    """Random numbers of a format: all binades alike, subnormals among them, either sign."""
    p = format.precision
    exponent = rng.integers(format.emin - p, format.emax + 1, count, endpoint=True)
    value = np.ldexp(rng.integers(2 ** (p - 1), 2**p, count) * 1.0, exponent - p + 1)
    tiny, unit = value < 2.0**format.emin, format.smallest
    value[tiny] = np.round(value[tiny] / unit) * unit
    value = np.where(value > format.largest, format.largest, value)
    return value * rng.choice([-1.0, 1.0], count)


def pairs(format, operation, count, rng):
    """Operands whose results meet every case: cancellation, absorption, overflow, underflow."""
    x, y = numbers(format, count, rng), numbers(format, count, rng)
    if operation in ("add", "sub"):  # most pairs within some binades of each other
        near = np.ldexp(np.abs(y), np.frexp(x)[1] - np.frexp(y)[1] + rng.integers(-30, 31, count))
        near = format.cast(np.copysign(near, y))
        take = (rng.random(count) < 0.9) & np.isfinite(near)
        y = np.where(take, near, y)
    if operation in ("mul", "div"):  # most results within the range, many at its ends
        goal = rng.integers(format.emin - format.precision - 2, format.emax + 3, count)
        sign = 1 if operation == "mul" else -1
        shift = (goal - np.frexp(x)[1]) * sign - np.frexp(y)[1]
        with np.errstate(over="ignore"):
            near = format.cast(np.ldexp(y, shift))
        take = (rng.random(count) < 0.8) & np.isfinite(near) & (near != 0)
        y = np.where(take, near, y)
    if operation == "sqrt":
        x = np.abs(x)
    return x, y


def special(format):
    """Zeros, infinities, nan, subnormals, the largest, and their neighbours, of either sign."""
    p, tiny, least = format.precision, format.smallest, 2.0**format.emin
    eps = math.ldexp(1.0, 1 - p)
    values = [0.0, tiny, 2 * tiny, 3 * tiny, least - tiny, least, least * (1 + eps), least / 2]
    values += [1.0, 1 + eps, 1 - eps / 2, 2.0, 3.0, 0.5, 1.5, 1 + 2 * eps, 1 + 3 * eps]
    values += [eps / 2, eps, eps / 4, eps * 0.75, math.ldexp(1.0, format.emax), format.largest]
    values += [format.largest / 2, format.largest * eps / 4, format.largest * eps / 2]
    # half a unit beside a number: ties, and what is just beside them
    values += [eps / 2 * (1 + eps), eps / 2 * (1 - eps / 2), math.ldexp(1 + eps, p), 1 / 3]
    values += [math.inf, math.nan] if format.infinite else [math.nan]
    signed = np.array([*values, *(-v for v in values)])
    signed = np.unique(format.cast(signed[~np.isnan(signed)]))
    signed = np.concatenate([signed, [-0.0, 0.0, math.nan]])
    x, y = np.meshgrid(signed, signed)
    return x.ravel(), y.ravel()
