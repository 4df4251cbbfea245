"""How many roundings a number takes on its way, read off the tape that the engine plays.

The way of an articulated inertia through one body has four stages, and each instruction of the
program says by its place to which it belongs.  Of a stage the longest path is counted, from the
numbers that enter it to each entry that leaves it: products, quotients and sums count one, what
the tape folds away (zeros, ones, signs, a sum with zero) counts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.chunk import DIV, MUL
from ..program.program import Instruction
from ..tape.lowering import Lowering
from ..tape.tape import Tape

Counts = NDArray[np.int64]
STAGES = {
    "entry": "gathered",  # children's updates are summed, M_k is added
    "W": "product", "A": "pivot",  # H M^, and H (M^ H*) with the joint's own entry
    "solved": "inner", "gain": "inner", "inverse": "inner",  # Mbar, from L^-1 H M^ (label half)
    "X": "frame", "update": "frame",  # Mbar Phi*, and Phi of that
}  # fmt: skip


@dataclass(frozen=True)
class Roundings:
    """Longest paths, in roundings, of n bodies; zero where a body has no such stage."""

    gathered: Counts  # (n, 6, 6) from what children hand on to M^_k
    product: Counts  # (n,) from M^_k to H M^_k
    pivot: Counts  # (n,) from H M^_k to D_k
    inner: Counts  # (n,) from M^_k, H M^_k and factors of D_k to Mbar_k
    frame: Counts  # (n, 6, 6) from Mbar_k to Phi_k Mbar_k Phi_k*

    @property
    def beside(self) -> Counts:
        """(n,) of a term c c*/d: the last sum is of the result, and counted there."""
        return np.maximum(self.inner - 1, 0)


def roundings(tape: Tape) -> Roundings:
    """Counts of an order whose brackets are bodies, tip to base, as ABM's are."""
    counting = _Counting(tape)
    for _ in counting.run():
        pass
    return counting.found


class _Counting(Lowering):
    """Lowers the program once more, and keeps depths beside slots."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(tape.program, tape.inputs)
        self.bodies = {
            record.step: tape.inputs.names.index(record.blocks[0].body)
            for record in tape.program.pivots
        }
        self.depth: dict[int, tuple[tuple[int, str], int]] = {}  # of a slot: in a stage
        n = len(tape.inputs.names)
        gathered, frame = np.zeros((2, n, 6, 6), dtype=np.int64)
        product, pivot, inner = np.zeros((3, n), dtype=np.int64)
        self.found = Roundings(gathered, product, pivot, inner, frame)

    def lower(self, i: Instruction) -> None:
        before = self.written
        super().lower(i)
        place = self.program.places[i.out]
        if i.step < 0 or place.back or place.label not in STAGES:
            return
        body, name = self.bodies[i.step], STAGES[place.label]
        if self.written > before:
            self._deepen((i.step, name), self.parts[-1])
        slots = np.abs(self.values[i.out])
        deep = np.vectorize(lambda slot: self._of((i.step, name), slot), otypes=[int])(slots)
        if name in ("gathered", "frame"):
            if len(place.blocks) > 1 and place.blocks[-1] == place.blocks[-2]:
                counts = getattr(self.found, name)
                counts[body] = np.maximum(counts[body], deep)
        elif name != "inner" or (place.label == "inverse" and place.blocks[1] == place.blocks[2]):
            counts = getattr(self.found, name)
            counts[body] = max(counts[body], int(deep.max(initial=0)))

    def _deepen(self, stage: tuple[int, str], written: tuple) -> None:
        for op, dst, a, b in zip(*(column.tolist() for column in written), strict=True):
            rounds = op in (MUL, DIV) or (a != 0 and b != 0)
            self.depth[dst] = stage, max(self._of(stage, a), self._of(stage, b)) + rounds

    def _of(self, stage: tuple[int, str], slot: int) -> int:
        where, count = self.depth.get(slot, (stage, 0))
        return count if where == stage else 0
