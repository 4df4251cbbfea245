"""What is seen beside a format's run: what its operations lose, more digits, and residues.

A shadow repeats every operation in more digits, on the same rounded data, so that the error of each
result is seen.  Compiled loops find local rounding errors, partial derivatives, and the reverse
sweep; they handle sums, differences, products and quotients: the tape of an elimination has no roots.

Residues modulo a prime show which results are zero in exact arithmetic, without fractions.  With
random entries in the matrix's pattern, a result whose residue is zero is zero as a rational function,
for every robot of that structure (Schwartz 1980): this finds a block of rank 5 where 6 is needed,
which a count of zeros does not.  With the entries of one robot, whose doubles are rational numbers,
such a result is zero for that robot.  Either answer is wrong with a probability of about 1e-18 an
operation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import flint
import numpy as np
from numpy.typing import NDArray

from ..base.compiled import leaf, njit
from ..base.errors import FormatError
from .floats import pairs, two_product, two_sum
from .formats import SQRT, Chunk, Format, Runner


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
        us, ws, ts = xs[i], ys[i], rs[i]
        if op[i] < 2:
            high, low = two_sum(u, -w if op[i] == 1 else w)
            error[i] = (t - high) - low
            continue
        if op[i] == 2:
            high, low = two_product(u, w)
            error[i] = (t - high) - low
            slopes[k, 0], slopes[k, 1] = 0.5 * (w + ws), 0.5 * (u + us)
        else:
            high, low = two_product(t, w)
            error[i] = ((high - u) + low) / w
            slopes[k, 0], slopes[k, 1] = 2.0 / (w + ws), -(u / w + ts) / (w + ws)
        k += 1


@njit(cache=True, error_model="numpy")
def contribute(op, dst, a, b, error, slopes, settled, adjoint, out):  # pragma: no cover
    """Reverse sweep: adjoint (slots,) in place; out (m,) is each result's adjoint times its error.

    error and slopes are those of ``linearise``, or error and settled, if any, those of ``settle``.
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
        if len(settled) and settled[i]:
            continue
        if kind == 0:
            adjoint[a[i]] += bar
            adjoint[b[i]] += bar
        elif kind == 1:
            adjoint[a[i]] += bar
            adjoint[b[i]] -= bar
        else:
            adjoint[a[i]] += slopes[k, 0] * bar
            adjoint[b[i]] += slopes[k, 1] * bar


# what operations cancel and absorb ---------------------------------------------------------------

# For float32 and float64, no logarithm, frexp or branch is taken for an operation: exponents are read
# from the bits, and magnitudes are compared as whole numbers.
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
        from .parts import looked_pairs

        return looked_pairs(op, x, y, r, cancelled, absorbed, size)
    whole, layout = LAYOUT[x.dtype]
    bits = [z.view(whole).astype(np.int64, copy=False) for z in (x, y, r)]
    wide = [z.astype(np.float64, copy=False) for z in (x, y, r)]  # one type, which compiles once
    _looked(op, tuple(wide), tuple(bits), layout, cancelled, absorbed, size)
    if x.dtype == np.float32:
        absorbed[:] = absorbed.astype(np.float32)


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


# runs in more digits ----------------------------------------------------------------------------

Floats = NDArray[np.float64]
Values = Sequence[Any] | NDArray[Any]  # of slots, or of operations


class Shadow(Protocol):
    """Runs a tape in more digits."""

    def follow(self, chunk: Chunk) -> None:
        """Apply a chunk."""

    def distances(self, values: Values, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """|value - shadow| and |shadow| at signed slots, given the format's values there."""


def shadow_of(format: Format, v: Values) -> Shadow:
    """A run from values v (slots,) that shows the rounding errors of a format: in twice its digits.

    Fractions and balls need no second run: they know their error.
    """
    if isinstance(v, np.ndarray) and format.kind == "float":
        return DoublePairs(v)
    from .parts import Long, Own

    if format.kind in ("exact", "ball"):
        return Own()
    return Long(v, 2 * math.ceil(format.digits or -math.log10(format.unit)) + 40)


class DoublePairs:
    """A shadow in sums high + low i of two float64, about 32 digits (Dekker 1971)."""

    def __init__(self, v: NDArray[Any]) -> None:
        self.v: NDArray[np.complex128] = v.astype(np.complex128)

    def follow(self, chunk: Chunk) -> None:
        Runner(pairs).run(chunk, self.v)

    def distances(self, values: Values, slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
        own = np.sign(slots) * self.v[np.abs(slots)]
        with np.errstate(all="ignore"):
            return np.abs((np.asarray(values, dtype=float) - own.real) - own.imag), np.abs(own.real)


# residues modulo a prime ------------------------------------------------------------------------

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
        raise FormatError("residues", "numbers modulo a prime have no square root", "run the tape in floats")
    _follow(chunk.op, chunk.dst, chunk.a, chunk.b, v, zero)


@leaf(forceinline=True)
def _product(x, y):  # pragma: no cover
    """x y modulo the prime, from halves of 31 and 30 bits: no partial sum needs 64 bits."""
    high, low = x >> 31, x & 0x7FFFFFFF
    top, rest = y >> 31, y & 0x7FFFFFFF
    middle = low * top + rest * high
    total = 2 * high * top + (middle >> 30) + ((middle & 0x3FFFFFFF) << 31) + low * rest
    total = (total >> 61) + (total & PRIME)
    return total - PRIME if total >= PRIME else total


@leaf()
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
