"""A reader that goes through a block program, for blocks with any kind of values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..base.errors import OrderError
from ..program.program import Instruction, Ref


class BlockReader:
    """Values of a block program; a subclass says what each operation makes of its operands.

    The method for ``mul`` is ``_mul(i, a, b)``: it takes the instruction and the values of its
    operands, None for a block of zeros.  Operations that mean the same for all values are defined
    here; values need ``@``, ``+``, a minus sign and, unless :meth:`transposed` is given, ``T``.
    """

    def __init__(self) -> None:
        self.values: dict[int, Any] = {}

    def read(self, instructions: Iterable[Instruction]) -> None:
        for i in instructions:
            self.values[i.out] = self.value(i)

    def __call__(self, ref: Ref) -> Any:
        """A use of a value: transposed, or with the other sign."""
        value = self.values[ref.value]
        if ref.transposed:
            value = self.transposed(value)
        return value if ref.sign > 0 else -value

    def value(self, i: Instruction) -> Any:
        """The result of an instruction; raises what :meth:`unread` gives for an unknown one."""
        method = getattr(self, f"_{i.op}", None)
        if method is None:
            raise self.unread(i)
        return method(i, *(None if ref is None else self(ref) for ref in i.args))

    def transposed(self, value: Any) -> Any:
        return value.T

    def unread(self, i: Instruction) -> Exception:
        return OrderError(f"operation {i.op!r}: has no meaning in what this program is read in")

    def basis(self, letter: str, i: Instruction) -> Any:
        """B, of which H B = 1, or C, of which H C = 0, where H is the operand of i."""
        raise self.unread(i)

    def _mul(self, i: Instruction, a: Any, b: Any) -> Any:
        return a @ b

    def _add(self, i: Instruction, a: Any, b: Any) -> Any:
        return a + b

    def _factor(self, i: Instruction, a: Any) -> Any:
        return a

    _mirror = _same = _factor

    def _along(self, i: Instruction, H: Any) -> Any:
        return self.basis("B", i)

    def _across(self, i: Instruction, H: Any) -> Any:
        return self.basis("C", i)
