"""C99 and CUDA: how the two languages write the same operations, constants and declarations."""

from __future__ import annotations

from dataclasses import dataclass

from ..arithmetic.chunk import SQRT

SIGN = "+-*/"
CUDA = ("add", "sub", "mul", "div")


@dataclass(frozen=True)
class Dialect:
    """C99, with numbers of the type ``number``: double or float."""

    number: str
    functions: str = "static void"

    tables = "static const"

    @property
    def suffix(self) -> str:
        return "f" if self.number == "float" else ""

    def constant(self, value: float) -> str:
        """A constant in hexadecimal, which is exact."""
        return f"{float(value).hex()}{self.suffix}"

    def operation(self, op: int, a: str, b: str) -> str:
        """``a op b``, rounded once."""
        return f"sqrt{self.suffix}({a})" if op == SQRT else f"{a} {SIGN[op]} {b}"


class Cuda(Dialect):
    """CUDA: operations are functions with a rounding mode, which no compiler flag can fuse."""

    tables = "static __device__ const"

    def operation(self, op: int, a: str, b: str) -> str:
        letter = "f" if self.number == "float" else "d"
        if op == SQRT:
            return f"__{letter}sqrt_rn({a})"
        return f"__{letter}{CUDA[op]}_rn({a}, {b})"
