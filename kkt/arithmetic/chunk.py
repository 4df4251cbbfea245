"""A piece of a tape: consecutive scalar operations, and the codes of operations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ADD = 0
"""A sum; one of the codes of operations on tapes and in functions of :class:`.custom.Custom`.

>>> from pivotree.kkt.arithmetic import ADD, Custom
>>> fixed = Custom("fixed", 2.0**-16, lambda op, x, y: round((x + y) * 2**16) / 2**16)
>>> fixed.operate(ADD, 0.1, 0.2)
0.3000030517578125
"""
SUB = 1
"""A difference; ``operate(SUB, x, 0.0)`` rounds a datum.

>>> from pivotree.kkt.arithmetic import SUB
>>> SUB
1
"""
MUL = 2
"""A product.

>>> from pivotree.kkt.arithmetic import MUL
>>> MUL
2
"""
DIV = 3
"""A quotient.

>>> from pivotree.kkt.arithmetic import DIV
>>> DIV
3
"""
SQRT = 4
"""A square root of the first operand; a user's function without roots may raise.

>>> from pivotree.kkt.arithmetic import SQRT
>>> abm = pt.trace(pt.build(pt.chain(3)), pt.orderings.get("abm"))
>>> any((chunk.op == SQRT).any() for chunk in abm.chunks())  # ABM takes none
False
"""


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
