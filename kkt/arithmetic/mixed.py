"""Mixed formats: a base for data and sums, others for the operations of a role."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import FormatError
from .binary import Binary
from .chunk import Chunk
from .formats import Format, Hardware, Runner

ROLES = ("add", "mul", "div", "sqrt", "D", "operands")
ROLE_OF_OPERATION = ("add", "add", "mul", "div", "sqrt")  # as operations are numbered


@dataclass(frozen=True)
class Mixed(Format):
    """A base format, and others for some operations: ``float32+mul=bfloat16``.

    An operation rounds its operands to its own format, and its result once.  ``D`` is the format of
    all that forms, factors and solves with the diagonal blocks D_k
    (:mod:`kkt.program.owners`), whatever the operation; ``operands`` that of the operands of
    products alone, whose results are rounded to ``mul`` or the base: what tensor cores do.
    Raises FormatError for a part that is neither float64 nor has at most 25 bits.

    >>> from pivotree.kkt.arithmetic import Mixed, get_format
    >>> float32, bfloat16 = get_format("float32"), get_format("bfloat16")
    >>> Mixed("core", float32, operands=bfloat16).unit == bfloat16.unit
    True
    """

    name: str
    base: Format  # data, and operations without a format of their own
    add: Format | None = None  # sums and differences
    mul: Format | None = None
    div: Format | None = None
    sqrt: Format | None = None
    D: Format | None = None
    operands: Format | None = None
    kind: str = field(default="float", init=False)
    dtype: type = field(default=np.float64, init=False)

    def __post_init__(self) -> None:
        for part in self.parts:
            if not isinstance(part, Binary | Hardware):
                raise FormatError(
                    f"format {self.name!r}: {part.name} cannot be mixed; use float64 and formats "
                    "of at most 25 bits"
                )

    @property
    def parts(self) -> tuple[Format, ...]:
        """The base and the formats of the roles that have one."""
        chosen = (getattr(self, role) for role in ROLES)
        return (self.base, *(part for part in chosen if part is not None))

    @property
    def unit(self) -> float:
        """The largest of the parts' unit roundoffs: the coarsest operation decides."""
        return max(part.unit for part in self.parts)

    @property
    def places(self) -> int:
        return max(part.places for part in self.parts)

    def cast(self, x: NDArray) -> NDArray:
        return self.base.cast(x).astype(np.float64)

    def runner(self, tape: Any) -> ByRole:
        return ByRole(self, tape)


class ByRole(Runner):
    """Reads a tape, each operation in the format of its role."""

    def __init__(self, mixed: Mixed, tape: Any) -> None:
        from . import carrier

        numbered = {part: i for i, part in enumerate(dict.fromkeys(mixed.parts))}  # rows of grids
        self.grids = np.concatenate([_grid(part) for part in numbered]).astype(carrier.GRID)
        row = {role: numbered[getattr(mixed, role) or mixed.base] for role in ROLES}
        self.result = np.array([row[role] for role in ROLE_OF_OPERATION], dtype=np.int8)
        self.operand = self.result.copy()
        if mixed.operands is not None:
            self.operand[ROLE_OF_OPERATION.index("mul")] = row["operands"]
        # where a format holds whatever may stand in a slot, nothing is to be rounded first
        needed = [not all(holds(part, other) for other in numbered) for part in numbered]
        self.operand[~np.array(needed)[self.operand]] = -1
        self.diagonal = row["D"], row["D"] if needed[row["D"]] else -1
        self.tape = tape if mixed.D is not None else None
        self.done = 0  # operations that went before

    def record(self, chunk: Chunk, v: NDArray, x: NDArray, y: NDArray, r: NDArray) -> None:
        """x and y are what the slots held: rounding them first is part of the operation."""
        from . import carrier

        result, operand = self.result[chunk.op], self.operand[chunk.op]
        if self.tape is not None:
            inside = self.tape.on_diagonal(self.done, self.done + len(chunk))
            result[inside], operand[inside] = self.diagonal
        carrier.rounded(
            chunk.op, chunk.dst, chunk.a, chunk.b, v,
            result, operand, self.grids, self.done, x, y, r,
        )  # fmt: skip
        self.done += len(chunk)


def holds(part: Format, other: Format) -> bool:
    """Whether every number of another format is one of this."""
    if part.dtype is np.float64 and isinstance(part, Hardware):
        return True
    a, b = _grid(part)[0], _grid(other)[0]
    return bool(
        a["shift"] <= b["shift"] and a["step"] <= b["step"] and a["top"] >= b["top"]
        and b["mode"] >= 0
    )  # fmt: skip


def _grid(part: Format) -> NDArray:
    if isinstance(part, Binary):
        return part.grid
    if part.dtype is np.float32:
        return Binary("float32", 24).grid
    from . import carrier

    native = np.zeros(1, dtype=carrier.GRID)
    native["mode"] = carrier.NATIVE
    return native
