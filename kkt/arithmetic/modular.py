"""Residues modulo a prime: they show which results are zero in exact arithmetic, without fractions.

A tape is run in residues for two purposes.  With random entries in the matrix's pattern, a result
whose residue is zero is zero as a rational function, for every robot of that structure (Schwartz
1980): this finds a block of rank 5 where 6 is needed, which a count of zeros does not.  With the
entries of one robot, whose doubles are rational numbers, such a result is zero for that robot.
Either answer is wrong with a probability of about 1e-18 an operation.
"""

from __future__ import annotations

from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ..base.compiled import njit
from ..base.errors import FormatError
from .formats import SQRT, Chunk, Runner

PRIME = (1 << 61) - 1  # modulo it 2^61 = 1, so that powers of two are cheap
Residues = NDArray[np.int64]


def random_residues(count: int) -> Residues:
    """Fixed random nonzero residues (count,)."""
    return np.random.default_rng(1983).integers(1, PRIME, count, dtype=np.int64)


def residue(x: float) -> Any:
    """The residue of a double, as a number of python-flint: it has + - * / and negation."""
    numerator, denominator = x.as_integer_ratio()
    return flint.nmod(numerator, PRIME) / flint.nmod(denominator, PRIME)


class InResidues(Runner):
    """Runs a tape on residues v (slots,); a division by 0 gives 0."""

    def run(self, chunk: Chunk, v: Residues) -> None:
        follow(chunk, v, np.empty(0, dtype=np.int8))


def follow(chunk: Chunk, v: Residues, zero: NDArray[np.int8]) -> None:
    """As a run of :class:`InResidues`, which fills ``zero`` (m,).

    zero is 2 where an operand is zero, else 1 where the result is, else 0.  Raises FormatError for
    a square root, which has no residue.
    """
    if (chunk.op == SQRT).any():
        raise FormatError("residues modulo a prime have no square root; run the tape in floats")
    _follow(chunk.op, chunk.dst, chunk.a, chunk.b, v, zero)


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
    keep = len(zero) > 0
    last, inverse = np.int64(0), np.int64(0)  # an entry after another is divided by one pivot
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
            if y != last:
                last, inverse = y, _inverse(y)
            r = _product(x, inverse)
        v[dst[i]] = r
        if keep:
            zero[i] = 2 if x == 0 or y == 0 else (1 if r == 0 else 0)
