"""C99 and CUDA: what the two languages write differently for the same operations."""

from __future__ import annotations

from dataclasses import dataclass

from ..arithmetic.chunk import SQRT

SIGN = "+-*/"
CUDA = ("add", "sub", "mul", "div")


@dataclass(frozen=True)
class Dialect:
    """``number`` is double or float."""

    number: str

    functions = "static void"
    tables = "static const"

    @property
    def suffix(self) -> str:
        return "f" if self.number == "float" else ""

    def constant(self, value: float) -> str:
        """Hexadecimal, which is exact."""
        return f"{float(value).hex()}{self.suffix}"

    def operation(self, op: int, a: str, b: str) -> str:
        """``a op b``, rounded once."""
        return f"sqrt{self.suffix}({a})" if op == SQRT else f"{a} {SIGN[op]} {b}"


class Cuda(Dialect):
    """Operations are named by their rounding, and so never fused, whatever the compiler's flags."""

    functions = "static __device__ __noinline__ void"  # inlined, a humanoid compiles for minutes
    tables = "static __device__ const"

    def operation(self, op: int, a: str, b: str) -> str:
        letter = "f" if self.number == "float" else "d"
        if op == SQRT:
            return f"__{letter}sqrt_rn({a})"
        return f"__{letter}{CUDA[op]}_rn({a}, {b})"
