"""Number types that are Python objects: exact fractions, mpmath numbers, balls."""

from __future__ import annotations

from typing import Any

from ..errors import FormatError
from ..foreign import foreign
from .chunk import Chunk


class ZeroDivisor(ArithmeticError):
    """A division by zero, with the step in which it stood."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step


def square_root(x: Any) -> Any:
    """The root in x's own type; raises FormatError for fractions, which have none."""
    if hasattr(x, "sqrt"):  # balls
        return x.sqrt()
    if hasattr(x, "context"):  # mpmath
        return x.context.sqrt(x)
    if hasattr(x, "numerator"):
        raise FormatError("format 'exact': fractions have no square root; use mp:50 or ball:50")
    raise FormatError(
        f"numbers of class {type(x).__name__!r} have no square root; give the class a method "
        "sqrt, or use an order that takes none"
    )


def run(chunk: Chunk, v: list[Any]) -> None:
    """Apply a chunk to the values v, a list of numbers, in place."""
    columns = (chunk.op, chunk.dst, chunk.a, chunk.b)
    done = 0
    try:
        with foreign(f"numbers of class {type(v[0]).__name__!r}", FormatError, (ZeroDivisionError,)):
            for op, d, a, b in zip(*(column.tolist() for column in columns), strict=True):
                if op == 2:
                    v[d] = v[a] * v[b]
                elif op == 1:
                    v[d] = v[a] - v[b]
                elif op == 0:
                    v[d] = v[a] + v[b]
                elif op == 3:
                    v[d] = v[a] / v[b]
                else:
                    v[d] = square_root(v[a])
                done += 1
    except ZeroDivisionError:
        raise ZeroDivisor(int(chunk.step[done])) from None
