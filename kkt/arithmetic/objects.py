"""Runs of a tape on Python objects: exact fractions, mpmath numbers, balls, a user's numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import FormatError
from ..base.foreign import foreign
from .formats import Chunk, Runner, precision


class ZeroDivisor(ArithmeticError):
    """A division by zero, with the step of its operation."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step


def square_root(x: Any) -> Any:
    """The root in the type of x; raises FormatError for fractions and classes without a root."""
    if hasattr(x, "sqrt"):  # balls
        return x.sqrt()
    if hasattr(x, "context"):  # mpmath
        return x.context.sqrt(x)
    if hasattr(x, "numerator"):
        raise FormatError("format 'exact'", "fractions have no square root", "use mp:50 or ball:50")
    raise FormatError(
        f"class {type(x).__name__!r}",
        "its numbers have no square root",
        "give the class a method sqrt, or use an order that takes none",
    )


def each(make: Callable[[Any], Any], values: NDArray[Any]) -> NDArray[Any]:
    """What a function makes of every element, as objects in an array of the same shape."""
    return column([make(x) for x in values.ravel().tolist()]).reshape(values.shape)


class InObjects(Runner):
    """Runs a tape on a list of Python objects; balls have ``bits`` bits, unless that is 0."""

    def __init__(self, bits: int = 0) -> None:
        self.bits = bits

    def run(self, chunk: Chunk, v: Any) -> None:
        with precision(self.bits):
            _apply(chunk, v, None)

    def record(self, chunk: Chunk, v: Any, x: NDArray[Any], y: NDArray[Any], r: NDArray[Any]) -> None:
        before: list[Any] = [None] * (3 * len(chunk))
        with precision(self.bits):
            _apply(chunk, v, before)
        x[:], y[:], r[:] = (column(before[k::3]) for k in range(3))


def column(values: Sequence[Any]) -> NDArray[Any]:
    """A one-dimensional array of objects, even if these are sequences themselves."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _apply(chunk: Chunk, v: list[Any], kept: list[Any] | None) -> None:
    columns = (chunk.op, chunk.dst, chunk.a, chunk.b)
    done = 0
    what = f"numbers of class {type(v[0]).__name__!r}"
    try:
        with foreign(what, FormatError, through=(ZeroDivisionError,)):
            for op, d, a, b in zip(*(column.tolist() for column in columns), strict=True):
                x, y = v[a], v[b]
                if op == 2:
                    r = x * y
                elif op == 1:
                    r = x - y
                elif op == 0:
                    r = x + y
                elif op == 3:
                    r = x / y
                else:
                    r = square_root(x)
                v[d] = r
                if kept is not None:
                    kept[3 * done : 3 * done + 3] = x, y, r
                done += 1
    except ZeroDivisionError:
        raise ZeroDivisor(int(chunk.step[done])) from None
