"""A piece of a tape."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ADD, SUB, MUL, DIV, SQRT = range(5)  # operations, as a tape numbers them


class Chunk(NamedTuple):
    """Consecutive operations of a tape."""

    op: NDArray[np.int8]
    dst: NDArray[np.int32]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    step: NDArray[np.int32]  # group that each operation belongs to, -1 before the first

    def __len__(self) -> int:
        return len(self.op)

    def part(self, here: slice) -> Chunk:
        """Some of the operations, on the same arrays."""
        return Chunk(self.op[here], self.dst[here], self.a[here], self.b[here], self.step[here])
