"""How many roundings a number takes on its way, read off the tape that the engine plays.

The way of an articulated inertia through one body has four stages, and each instruction of the
program says by its place to which it belongs.  Of a stage the longest path is counted, from the
numbers that enter it to each entry that leaves it: products, quotients and sums count one, what
the tape folds away (zeros, ones, signs, a sum with zero) counts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import DIV, MUL
from ..program.program import Instruction, Place
from ..tape.lowering import Lowering
from ..tape.tape import Tape

Counts = NDArray[np.float64]
STAGES = {
    "entry": "gathered",  # children's updates are summed, M_k is added
    "W": "product",
    "A": "pivot",  # H M^, and H (M^ H*) with the joint's own entry
    "solved": "inner",
    "gain": "inner",
    "inverse": "inner",  # Mbar, from L^-1 H M^ (label half)
    "X": "frame",
    "update": "frame",  # Mbar Phi*, and Phi of that
}


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
        return np.where(self.inner > 0, np.maximum(self.inner - 1.0, 1.0), 0.0)

    @property
    def before(self) -> Counts:
        """(n, 6, 6) of what children hand on, but for the last sum, which is one of M^_k."""
        return np.maximum(self.gathered - 1.0, 0.0)

    @property
    def last(self) -> Counts:
        """(n, 6, 6) of the last sum, of M_k and what the children hand on."""
        return np.where(self.gathered > 0, 1.0, 0.0)


def roundings(tape: Tape) -> Roundings:
    """Counts of an order whose brackets are bodies, tip to base, as ABM's are."""
    counting = Counting(tape)
    for i, written, slots in operations(tape):
        counting.count(i, written, slots)
    return counting.found


def operations(tape: Tape) -> Iterator[tuple[Instruction, tuple[NDArray[Any], ...], NDArray[np.int64]]]:
    """Each instruction, its operations ``op, dst, a, b``, and the slots of its result.

    Large factors are passed over.
    """
    lowering, program = Lowering(tape.program, tape.inputs), tape.program
    chunks = (chunk[:4] for chunk in lowering.run())
    columns = [np.concatenate(column) for column in zip(*chunks, strict=True)]
    for place in np.flatnonzero(program.kept & ~lowering.large).tolist():
        i = program.instructions[place]
        written = slice(*lowering.first[place : place + 2])
        yield i, tuple(x[written] for x in columns), np.abs(lowering.value(i.out))


def eliminated(N: int) -> Counts:
    """(N,) roundings of an entry in row i of K, i pivots before it: i terms c c/d, and sums.

    The terms and what is left after each sum are at most sigma sigma together, so that 2 i of the
    terms and i of the sums come to i + 1.
    """
    i = np.arange(N, dtype=float)
    return np.where(i > 0, i + 1.0, 0.0)


class Counting:
    """Walks through the program's operations, and keeps depths beside slots."""

    def __init__(self, tape: Tape) -> None:
        self.program, names = tape.program, tape.inputs.names
        self.bodies = {record.step: names.index(record.blocks[0].body) for record in tape.program.pivots}
        self.depth: dict[int, tuple[tuple[int, str], float]] = {}  # of a slot: in a stage
        gathered, frame = np.zeros((2, len(names), 6, 6))
        product, pivot, inner = np.zeros((3, len(names)))
        self.found = Roundings(gathered, product, pivot, inner, frame)

    def count(self, i: Instruction, written: tuple[NDArray, ...], slots: NDArray) -> None:
        """The depths of one instruction's operations and of its result."""
        place = self.program.places[i.out]
        if i.step < 0 or place.back or place.label not in STAGES:
            return
        stage = i.step, STAGES[place.label]
        self._deepen(stage, written)
        deep = np.vectorize(lambda slot: self._of(stage, slot), otypes=[float])(slots)
        self._note(place, self.bodies[i.step], deep)

    def _note(self, place: Place, body: int, deep: Counts) -> None:
        """Keep the depths of what an instruction leaves in its slots."""
        name = STAGES[place.label]
        counts = getattr(self.found, name)
        if name in ("gathered", "frame"):
            if len(place.blocks) > 1 and place.blocks[-1] == place.blocks[-2]:
                counts[body] = np.maximum(counts[body], deep)
        elif name != "inner" or (place.label == "inverse" and place.blocks[1] == place.blocks[2]):
            counts[body] = max(counts[body], float(deep.max(initial=0.0)))

    def _deepen(self, stage: tuple[int, str], written: tuple[NDArray, ...]) -> None:
        for op, dst, a, b in zip(*(column.tolist() for column in written), strict=True):
            rounds = op in (MUL, DIV) or (a != 0 and b != 0)
            self.depth[dst] = stage, max(self._of(stage, a), self._of(stage, b)) + rounds

    def _of(self, stage: tuple[int, str], slot: int) -> float:
        where, count = self.depth.get(slot, (stage, 0.0))
        return count if where == stage else 0.0
