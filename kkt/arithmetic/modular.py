"""Residues modulo a prime: they show which results are zero in exact arithmetic, without fractions.

A tape is run in residues for two purposes.  With random entries in the matrix's pattern, a result
whose residue is zero is zero as a rational function, for every robot of that structure (Schwartz
1980): this finds a block of rank 5 where 6 is needed, which a count of zeros does not.  With the
entries of one robot, whose doubles are rational numbers, such a result is zero for that robot.
Either answer is wrong with a probability of about 1e-18 an operation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import njit
from ..base.errors import FormatError
from .chunk import SQRT, Chunk
from .formats import Runner

PRIME = (1 << 61) - 1  # modulo it 2^61 = 1, so that powers of two are cheap
Residues = NDArray[np.int64]


def random_residues(count: int) -> Residues:
    """Fixed random nonzero residues (count,)."""
    return np.random.default_rng(1983).integers(1, PRIME, count, dtype=np.int64)


def residue(numerator: int, denominator: int = 1, power: int = 0) -> int:
    """The residue of numerator / denominator * 2^power, for whole numbers of any size."""
    whole = int(numerator) % PRIME * (1 << power % 61)
    if denominator != 1:
        whole = whole % PRIME * pow(int(denominator), -1, PRIME)
    return whole % PRIME


class Residue:
    """The residue of a double, as a number for spatial algebra: it has + - * and negation."""

    __slots__ = ("value",)

    def __init__(self, x: float) -> None:
        self.value: int = residue(*x.as_integer_ratio())

    def __add__(self, other: Residue | int) -> Residue:
        return _of(self.value + _value(other))

    def __sub__(self, other: Residue | int) -> Residue:
        return _of(self.value - _value(other))

    def __mul__(self, other: Residue | int) -> Residue:
        return _of(self.value * _value(other))

    def __rsub__(self, other: Residue | int) -> Residue:
        return _of(_value(other) - self.value)

    def __neg__(self) -> Residue:
        return _of(-self.value)

    __radd__, __rmul__ = __add__, __mul__

    def __index__(self) -> int:
        return self.value


def _of(value: int) -> Residue:
    made = Residue.__new__(Residue)
    made.value = value % PRIME
    return made


def _value(x: Residue | int) -> int:
    return x.value if isinstance(x, Residue) else residue(*x.as_integer_ratio())


class InResidues(Runner):
    """Runs a tape on residues v (slots,); a division by 0 gives 0."""

    def run(self, chunk: Chunk, v: Residues) -> None:
        follow(chunk, v, np.empty(0, dtype=np.int8))


def follow(chunk: Chunk, v: Residues, zero: NDArray[np.int8]) -> bool:
    """As a run of :class:`InResidues`; fills ``zero`` (m,), tells whether nothing was divided by 0.

    zero is 2 where an operand is zero, else 1 where the result is, else 0.  Raises FormatError for
    a square root, which has no residue.
    """
    if (chunk.op == SQRT).any():
        raise FormatError("residues modulo a prime have no square root; run the tape in floats")
    return bool(_follow(chunk.op, chunk.dst, chunk.a, chunk.b, v, zero))


@njit(cache=True, inline="always")
def _product(x, y):  # pragma: no cover
    """x y modulo the prime, from halves of 31 and 30 bits: no partial sum needs 64 bits."""
    high, low = x >> 31, x & 0x7FFFFFFF
    top, rest = y >> 31, y & 0x7FFFFFFF
    middle = low * top + rest * high
    total = 2 * high * top + (middle >> 30) + ((middle & 0x3FFFFFFF) << 31) + low * rest
    total = (total >> 61) + (total & PRIME)
    return total - PRIME if total >= PRIME else total


@njit(cache=True)
def _inverse(y):  # pragma: no cover
    """y^(PRIME - 2), which is 0 for 0."""
    power, factor, exponent = np.int64(1), y, PRIME - 2
    while exponent:
        if exponent & 1:
            power = _product(power, factor)
        factor = _product(factor, factor)
        exponent >>= 1
    return power


@njit(cache=True)
def _follow(op, dst, a, b, v, zero):  # pragma: no cover
    sound, keep = True, len(zero) > 0
    for i in range(len(op)):
        x, y, kind = v[a[i]], v[b[i]], op[i]
        if kind == 2:
            r = _product(x, y)
        elif kind == 0:
            r = x + y
            r = r - PRIME if r >= PRIME else r
        elif kind == 1:
            r = x - y
            r = r + PRIME if r < 0 else r
        else:
            sound &= y != 0
            r = _product(x, _inverse(y))
        v[dst[i]] = r
        if keep:
            zero[i] = 2 if x == 0 or y == 0 else (1 if r == 0 else 0)
    return sound
