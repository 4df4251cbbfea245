"""The interface of number formats, and those of the processor, of fractions and of balls.

A format runs a tape chunk by chunk: consecutive scalar operations, each with a code.  Double-double has
106 bits from two float64, about 31 digits.
"""

from __future__ import annotations

import math
import operator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.errors import FormatError

ADD, SUB, MUL, DIV, SQRT = range(5)
"""The codes of operations, on tapes and in functions of :class:`kkt.arithmetic.Custom`; some refuse roots.

>>> from pivotree.kkt.arithmetic import ADD, SQRT, Custom
>>> fixed = Custom("fixed", 2.0**-16, lambda op, x, y: round((x + y) * 2**16) / 2**16)
>>> fixed.operate(ADD, 0.1, 0.2)
0.3000030517578125
>>> abm = pt.trace(pt.build(pt.chain(3)), pt.orderings.get("abm"))
>>> any((chunk.op == SQRT).any() for chunk in abm.chunks())  # ABM takes none
False
"""
ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv)  # of two numbers, by these codes


class Chunk(NamedTuple):
    """Consecutive operations v[dst] = v[a] op v[b] of a tape; arrays (m,)."""

    op: NDArray[np.int8]
    dst: NDArray[np.int32]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    step: NDArray[np.int32]  # group to which each operation belongs, -1 before the first group

    def __len__(self) -> int:
        return len(self.op)

    def part(self, here: slice) -> Chunk:
        """Some of the operations, as views of the same arrays."""
        return Chunk(self.op[here], self.dst[here], self.a[here], self.b[here], self.step[here])


class Runner:
    """Applies the chunks of a tape, one after another, to the values v (slots,) of a format.

    A compiled ``loop`` takes op, dst, a and b of a chunk, v, what is ``given`` beside, and x, y, r.
    """

    def __init__(self, loop: Any = None, *given: Any) -> None:
        self.loop: Any = loop
        self.given: tuple[Any, ...] = given

    def run(self, chunk: Chunk, v: NDArray[Any]) -> None:
        """Apply a chunk to v in place."""
        none = np.empty(0, dtype=v.dtype)
        self.record(chunk, v, none, none, none)

    def record(
        self, chunk: Chunk, v: NDArray[Any], x: NDArray[Any], y: NDArray[Any], r: NDArray[Any]
    ) -> None:
        """As ``run``; operands and results go to x, y, r (len(chunk),), or nowhere where (0,)."""
        self.loop(chunk.op, chunk.dst, chunk.a, chunk.b, v, *self.given, x, y, r)


def precision(bits: int) -> AbstractContextManager[Any]:
    """A context in which balls have ``bits`` bits; without it even a negation would round them.

    It does nothing where ``bits`` is 0.
    """
    if not bits:
        return nullcontext()
    import flint

    return flint.ctx.workprec(bits)


class Format:
    """A number format in which a tape is run.

    >>> from pivotree.kkt.arithmetic import Format, get_format
    >>> bfloat16 = get_format("bfloat16")
    >>> isinstance(bfloat16, Format), bfloat16.kind, bfloat16.unit == 2.0**-8
    (True, 'float', True)
    """

    name: str  # as written: float32, bfloat16:zero, mp:50
    kind: str  # "float", "dd", "object" (a user's class), "exact", "mp" or "ball"
    dtype: type | None  # numpy type that carries its numbers, None for Python objects
    digits: int = 0  # decimal digits that mp and ball are asked for

    if TYPE_CHECKING:  # a property here, a field there

        @property
        def unit(self) -> float:
            """Unit roundoff: the largest relative error of one rounding of a normal number."""

    @property
    def relative(self) -> bool:
        """Whether ``unit`` bounds the relative error of one rounding; else the absolute one."""
        return True

    @property
    def places(self) -> int:
        """Decimal digits needed to print a number without loss: 9 for float32, 17 for float64."""
        return math.ceil(1.0 - math.log10(self.unit))

    def cast(self, x: NDArray[Any]) -> NDArray[Any]:
        """Data rounded to nearest in the format, whatever its mode, in the carrying type."""
        raise FormatError(f"format {self.name!r}", "rounds no data", "use float64 or a shorter format")

    def runner(self, tape: Any) -> Runner:
        """A new runner, for one run of a tape."""
        raise NotImplementedError

    def shown(self, values: NDArray[Any]) -> NDArray[Any]:
        """Results as a user gets them, from values in the carrying type."""
        return values

    @property
    def on_arrays(self) -> bool:
        """Whether values are a numpy array of ``dtype``, for a runner; else a list of objects."""
        return self.dtype is not None

    @property
    def from_model(self) -> bool:
        """Whether spatial algebra, bias and assembly run in this format too."""
        return False


@dataclass(frozen=True)
class Hardware(Format):
    """The processor's own float32 and float64, rounded to nearest."""

    name: str
    dtype: type
    kind: str = field(default="float", init=False)

    @property
    def unit(self) -> float:
        return float(np.finfo(self.dtype).eps) / 2

    def cast(self, x: NDArray[Any]) -> NDArray[Any]:
        with np.errstate(over="ignore"):
            return np.asarray(x, dtype=float).astype(self.dtype)

    def runner(self, tape: Any) -> Runner:
        from . import floats

        return Runner(floats.plain)


@dataclass(frozen=True)
class Digits(Format):
    """Exact fractions, mpmath numbers or balls, with as many digits as are asked for."""

    name: str
    kind: str  # "exact", "mp" or "ball"
    digits: int = 0
    dtype: type | None = field(default=None, init=False)

    @property
    def unit(self) -> float:
        """0 for exact fractions; 10^-digits for mpmath numbers and balls."""
        return 10.0**-self.digits if self.digits else 0.0

    @property
    def places(self) -> int:
        return self.digits or 50

    from_model = True

    def shown(self, values: NDArray[Any]) -> NDArray[Any]:
        """Exact fractions, of "sympy" as its rational numbers."""
        if self.name != "sympy":
            return values
        from sympy import Rational

        return np.frompyfunc(Rational, 1, 1)(values)


BITS = 160  # precision of the mpmath number made from a pair, ample for pairs without a gap


@cache
def _context() -> Any:
    """Numbers of BITS, made once: a context takes a millisecond."""
    import mpmath

    context = mpmath.MPContext()
    context.prec = BITS
    return context


@dataclass(frozen=True)
class DoubleDouble(Format):
    """Unevaluated sums of two float64 numbers, with the exponents of float64.

    The data are the entries of (4) in float64, exactly: answers in float64 and in dd differ only by
    rounding in the arithmetic.

    >>> from pivotree.kkt.arithmetic import DoubleDouble
    >>> DoubleDouble().unit == pt.kkt.arithmetic.get_format("dd").unit
    True
    """

    name: str = "dd"
    kind: str = field(default="dd", init=False)
    dtype: type = field(default=np.complex128, init=False)  # hi + lo i

    @property
    def unit(self) -> float:
        """2^-104; sums, products and quotients err by at most 3, 5 and 10 times 2^-106."""
        return 2.0**-104

    def cast(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(x, dtype=float).astype(np.complex128)

    def runner(self, tape: Any) -> Runner:
        from . import floats

        return Runner(floats.pairs)

    def shown(self, values: NDArray[Any]) -> NDArray[Any]:
        """mpmath numbers equal to the pairs, in a context of their own."""
        context = _context()
        flat = [context.mpf(z.real) + context.mpf(z.imag) for z in values.ravel().tolist()]
        return np.array([*flat, None], dtype=object)[:-1].reshape(values.shape)
