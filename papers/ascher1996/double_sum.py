"""An order's block program read in single precision, with D = H M H* summed entry by entry.

The engine forms M H* first and then H (M H*).  The digits of Table 2 appear where D is the double
sum over i, then j, of fl(fl(h_i M_ij) h_j) instead; all other operations are the engine's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt
from pivotree.kkt.program import BlockReader, Instruction, Program

Single = NDArray[np.float32]


def read(program: Program, system: kkt.System) -> tuple[dict[Any, np.float32], list[np.float32]]:
    """qdd of every body and the pivots D_k in the order of elimination, joints of one freedom."""
    reader = _Reader(program, system)
    with np.errstate(all="ignore"):  # a pivot of 0 is shown, not stopped at
        reader.read(program.instructions)
    qdd = {block.body: reader(ref)[0, 0] for block, ref in program.solution.items() if block.kind == "qdd"}
    return qdd, [reader.values[p.factor][0, 0] for p in program.pivots if not p.pair]


class _Reader(BlockReader):
    def __init__(self, program: Program, system: kkt.System) -> None:
        super().__init__()
        self.entries = system.entries
        self.offset = system.tree.offset
        self.made = {i.out: i for i in program.instructions}

    def _eye(self, i: Instruction) -> Single:
        return np.eye(i.info[0], dtype=np.float32)

    def _mul(self, i: Instruction, a: Single, b: Single) -> Single:
        quadratic = self.quadratic(i)
        return product(a, b) if quadratic is None else quadratic

    def _solve(self, i: Instruction, d: Single, c: Single) -> Single:
        return c / d

    def _inner(self, i: Instruction, d: Single, y: Single, z: Single) -> Single:
        return product(y.T, z) / d  # (c c*) / d

    def _input(self, i: Instruction) -> Single:
        letter, body = i.info
        joint = slice(self.offset[body], self.offset[body + 1])
        if letter in ("H", "tau"):
            value = (self.entries.S if letter == "H" else self.entries.tau[:, None])[joint]
        else:
            value = getattr(self.entries, letter)[body]
        return np.atleast_2d(value if value.ndim == 2 else value[:, None]).astype(np.float32)

    def quadratic(self, i: Instruction) -> Single | None:
        """H X H* as a double sum, where this product is the second half of one."""
        left, right = i.args
        assert left is not None and right is not None
        for half, h in ((left, right), (right, left)):
            made = self.made[half.value]
            if not (i.symmetric and made.op == "mul" and self(h).size == 6):
                continue
            inner = {arg.value for arg in made.args if arg is not None}
            if h.value not in inner or self(half).size != 6:
                continue
            X = next(arg for arg in made.args if arg is not None and arg.value != h.value)
            sign = np.float32(half.sign * h.sign)
            for arg in made.args:
                if arg is not None and arg.value == h.value:
                    sign *= np.float32(arg.sign)
            return sign * double_sum(self.values[h.value].ravel(), self(X))
        return None


def double_sum(h: Single, X: Single) -> Single:
    """(1, 1): sum over i, then j, of fl(fl(h_i X_ij) h_j), each operation rounded."""
    total = np.float32(0.0)
    for i in range(len(h)):
        for j in range(len(h)):
            total += (h[i] * X[i, j]) * h[j]
    return np.array([[total]], dtype=np.float32)


def product(A: Single, B: Single) -> Single:
    """A B, index after index, every operation rounded to single precision."""
    total = np.zeros((len(A), B.shape[1]), dtype=np.float32)
    for k in range(A.shape[1]):
        total = total + A[:, k : k + 1] * B[k : k + 1]
    return total
