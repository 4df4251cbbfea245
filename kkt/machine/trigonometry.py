"""sin and cos by additions, subtractions and multiplications, with the same bits on every machine.

The angle is reduced by multiples k of pi/2 as by Cody & Waite (1980): pi/2 is a sum of parts so
short that k times a part is exact, and the rounding errors of the differences are kept.  Taylor
polynomials give s and c, the sine and cosine of the reduced angle in [-pi/4, pi/4].  The quadrant
j = k - 4 round(k/4), between -2 and 2, enters without a branch: C = 1 - j^2 (7 - j^2)/6 and
S = j (4 - j^2)/3 are 0 or +-1, and sin = s C + c S, cos = c C - s S.

For |x| <= LARGEST both are within one unit in the last place, in float64 and in float32; beyond,
the error grows with x (no argument is refused).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from .recorder import COS, SIN, Recorder
from .scalar_program import ScalarProgram, finished

MULTIPLES = 13  # bits of k for which the reduction is exact
LARGEST = 2**MULTIPLES * math.pi / 2  # [rad], 12867
HALF_PI = Fraction(0x1921FB54442D18469898CC51701B839A252049C1114CF98E804, 1 << 200)


@dataclass(frozen=True)
class Series:
    """The constants for a precision of p bits."""

    magic: float  # 1.5 2^(p-1): adding and subtracting it rounds to a whole number
    parts: tuple[float, ...]  # of pi/2
    sin: tuple[float, ...]  # of r^3, r^5, ...
    cos: tuple[float, ...]  # of r^4, r^6, ...


@cache
def series(precision: int) -> Series:
    """Parts of pi/2 and coefficients, so many that the next term is below 1/32 of a rounding."""
    short, rest = precision - MULTIPLES, HALF_PI
    parts = []
    while rest > Fraction(1, 1 << (2 * precision + MULTIPLES + 8)):
        bits = short - 1 - math.floor(math.log2(rest))
        part = Fraction(math.floor(rest * (1 << bits)), 1 << bits)
        parts.append(float(part))
        rest -= part
    small = 2.0 ** (-precision - 5)
    odd: list[float] = []
    even: list[float] = []
    for n in range(3, 40):
        if (math.pi / 4) ** (n - 1) / math.factorial(n) > small:
            sign = -1.0 if n % 4 > 1 else 1.0
            (odd if n % 2 else even).append(sign / math.factorial(n))
    return Series(1.5 * 2.0 ** (precision - 1), tuple(parts), tuple(odd), tuple(even))


def sine_and_cosine(e: Recorder, x: int, precision: int) -> tuple[int, int]:
    """References of sin and cos of a reference [rad]."""
    known, constant = series(precision), e.constant
    magic = constant(known.magic)

    def whole(y: int) -> int:
        return e.sub(e.add(y, magic), magic)

    def horner(coefficients: tuple[float, ...], z: int) -> int:
        total = constant(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = e.add(constant(c), e.mul(z, total))
        return total

    k = whole(e.mul(x, constant(2.0 / math.pi)))
    high = e.sub(x, e.mul(k, constant(known.parts[0])))  # exact
    low = 0
    for part in known.parts[1:]:
        shift = e.mul(k, constant(part))
        next_high = e.sub(high, shift)
        low = e.add(low, e.sub(e.sub(high, next_high), shift))
        high = next_high
    z = e.mul(high, high)
    s = e.add(high, e.add(low, e.mul(e.mul(high, z), horner(known.sin, z))))
    half = e.mul(z, constant(0.5))
    near = e.sub(1, half)
    rest = e.sub(e.mul(e.mul(z, z), horner(known.cos, z)), e.mul(high, low))
    c = e.add(near, e.add(e.sub(e.sub(1, near), half), rest))
    j = e.sub(k, e.mul(constant(4.0), whole(e.mul(k, constant(0.25)))))
    square = e.mul(j, j)
    C = e.sub(1, e.mul(e.mul(square, e.sub(constant(7.0), square)), constant(1.0 / 6.0)))
    S = e.mul(e.mul(j, e.sub(constant(4.0), square)), constant(1.0 / 3.0))
    return e.add(e.mul(s, C), e.mul(c, S)), e.sub(e.mul(c, C), e.mul(s, S))


def expanded(program: ScalarProgram, e: Recorder, precision: int) -> ScalarProgram:
    """The program with sines and cosines replaced by arithmetic; ``e`` is an empty recorder."""
    place = list(range(2 + program.inputs))
    place += [e.constant(x) for x in program.constants.tolist()]
    place += [0] * len(program)
    done, before = dict[int, tuple[int, int]](), 0
    for i in np.flatnonzero((program.op == SIN) | (program.op == COS)).tolist():
        e.replay(program.chunk.part(slice(before, i)), place)
        before, a = i + 1, int(program.a[i])
        if a not in done:
            done[a] = sine_and_cosine(e, place[a], precision)
        place[program.first + i] = done[a][int(program.op[i]) - SIN]
    e.replay(program.chunk.part(slice(before, len(program))), place)
    outputs = [place[s] if s >= 0 else -place[-s] for s in program.outputs.tolist()]
    return finished(e, program.inputs, outputs)
