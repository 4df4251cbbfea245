"""How many roundings a number takes on its way, read off the tape that the engine plays.

The way of an articulated inertia through one body has four stages, and each instruction of the
program says by its place to which it belongs.  Of a stage the longest path is counted, from the
numbers that enter it to each entry that leaves it: products, quotients and sums count one, what
the tape folds away (zeros, ones, signs, a sum with zero) counts nothing.

In a format by role an operation rounds its operands, too.  One that rounds all three counts one,
and every other what it rounds of that, so that a sum of float64 counts little beside a product of
float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, Mixed
from ..arithmetic.chunk import ADD, DIV, MUL, SUB
from ..arithmetic.mixed import ROLE_OF_OPERATION, holds
from ..program.owners import diagonal
from ..program.program import Instruction, Place
from ..tape.lowering import Lowering
from ..tape.tape import Tape

Counts = NDArray[np.float64]
CARRIED = 2.0**-53  # what the carrier of a format by role may round before
STAGES = {
    "entry": "gathered",  # children's updates are summed, M_k is added
    "W": "product", "A": "pivot",  # H M^, and H (M^ H*) with the joint's own entry
    "solved": "inner", "gain": "inner", "inverse": "inner",  # Mbar, from L^-1 H M^ (label half)
    "X": "frame", "update": "frame",  # Mbar Phi*, and Phi of that
}  # fmt: skip


@dataclass(frozen=True)
class Costs:
    """What one operation rounds, relative to ``unit``, the most that one may round."""

    unit: float
    result: Counts  # (5,) of each operation, as operations are numbered; of a quotient by D_k
    operand: Counts  # (5,) of an operand that a finer format holds

    @property
    def whole(self) -> Counts:
        """(5,) result and both operands."""
        return np.asarray(self.result + 2.0 * self.operand)

    def path(self, length: float) -> float:
        """A product, and sums after it."""
        return float(self.whole[MUL] + (length - 1.0) * self.whole[ADD])


def unit_of(chosen: Format) -> float:
    """The most that one operation may round, relative to its operands' and result's sizes.

    The unit roundoff, but in a format by role, where operands are rounded beside the result.

    >>> from pivotree.kkt.arithmetic import get_format
    >>> from pivotree.kkt.proof.roundings import unit_of
    >>> unit_of(get_format("float32")) == 2.0**-24
    True
    >>> round(unit_of(get_format("float64+mul=float32")) * 2.0**24, 6)
    3.0
    """
    return _costs(chosen)[0].unit


def _costs(chosen: Format) -> tuple[Costs, Costs]:
    """Outside the blocks D_k, and inside."""
    one, none = np.ones(5), np.zeros(5)
    if not isinstance(chosen, Mixed):
        same = Costs(chosen.unit, one, none)
        return same, same
    rounds = {part: not all(holds(part, other) for other in chosen.parts) for part in chosen.parts}
    found = []
    for diagonal_too in (False, True):
        result, operand = none.copy(), none.copy()
        for op, role in enumerate(ROLE_OF_OPERATION):
            part = getattr(chosen, role) or chosen.base
            before = chosen.operands if op == MUL and chosen.operands is not None else part
            if diagonal_too and chosen.D is not None:
                part = before = chosen.D
            result[op] = part.unit + CARRIED
            operand[op] = before.unit if rounds[before] else 0.0
        found.append((result, operand))
    unit = max(float((result + 2.0 * operand).max()) for result, operand in found)
    outside, inside = (Costs(unit, result / unit, operand / unit) for result, operand in found)
    return outside, inside


@dataclass(frozen=True)
class Roundings:
    """Longest paths, in roundings, of n bodies; zero where a body has no such stage.

    In a format by role roundings are weighed: :class:`Costs`.
    """

    gathered: Counts  # (n, 6, 6) from what children hand on to M^_k
    product: Counts  # (n,) from M^_k to H M^_k
    pivot: Counts  # (n,) from H M^_k to D_k
    inner: Counts  # (n,) from M^_k, H M^_k and factors of D_k to Mbar_k
    frame: Counts  # (n, 6, 6) from Mbar_k to Phi_k Mbar_k Phi_k*
    costs: Costs
    divided: float  # a quotient by D_k on the way to qdd, at most
    operands: float = 0.0  # 1 in a format by role, where an operation rounds its operands as well

    @property
    def beside(self) -> Counts:
        """(n,) of a term c c*/d: the last sum is of the result, and counted there.

        M^ itself may be rounded as an operand of that sum.
        """
        last, first = self.costs.result[SUB], self.costs.operand[SUB]
        return np.where(self.inner > 0, np.maximum(self.inner - last, last) + first, 0.0)

    @property
    def before(self) -> Counts:
        """(n, 6, 6) of what children hand on, but for the last sum, which is one of M^_k."""
        return np.maximum(self.gathered - self.costs.result[ADD], 0.0)

    @property
    def last(self) -> Counts:
        """(n, 6, 6) of the last sum: its result, and M_k as its operand."""
        one = self.costs.result[ADD] + self.costs.operand[ADD]
        return np.where(self.gathered > 0, one, 0.0)


def roundings(tape: Tape, chosen: Format | None = None) -> Roundings:
    """Counts of an order whose brackets are bodies, tip to base, as ABM's are.

    ``chosen`` matters where it is a format by role.
    """
    counting = Counting(tape, chosen)
    for _ in counting.run():
        pass
    return counting.found


def eliminated(N: int, operands: float = 0.0) -> Counts:
    """(N,) roundings of an entry in row i of K, i pivots before it: i terms c c/d, and sums.

    The terms and what is left after each sum are at most sigma sigma together, so that 2 i of the
    terms and i of the sums come to i + 1; to one more at most where sums round their ``operands``.
    """
    i = np.arange(N, dtype=float)
    return np.where(i > 0, i + 1.0 + operands, 0.0)


class Counting(Lowering):
    """Lowers the program once more, and keeps depths beside slots."""

    stages: ClassVar[dict[str, str]] = STAGES

    def __init__(self, tape: Tape, chosen: Format | None) -> None:
        super().__init__(tape.program, tape.inputs)
        same = Costs(1.0, np.ones(5), np.zeros(5))
        self.costs = (same, same) if chosen is None else _costs(chosen)
        self.inside = dict(
            zip((i.out for i in tape.program.instructions), diagonal(tape.program), strict=True)
        )
        self.bodies = {
            record.step: tape.inputs.names.index(record.blocks[0].body)
            for record in tape.program.pivots
        }
        self.depth: dict[int, tuple[tuple[int, str], float]] = {}  # of a slot: in a stage
        n = len(tape.inputs.names)
        gathered, frame = np.zeros((2, n, 6, 6))
        product, pivot, inner = np.zeros((3, n))
        divided = max(float(costs.whole[DIV]) for costs in self.costs)
        by_role = float(isinstance(chosen, Mixed))
        given = gathered, product, pivot, inner, frame
        self.found = Roundings(*given, self.costs[0], divided, by_role)

    def lower(self, i: Instruction) -> None:
        before = self.written
        super().lower(i)
        place = self.program.places[i.out]
        if i.step < 0 or place.back or place.label not in self.stages:
            return
        body, name = self.bodies[i.step], self.stages[place.label]
        if self.written > before:
            self._deepen((i.step, name), self.parts[-1], self.costs[int(self.inside[i.out])])
        slots = np.abs(self.values[i.out])
        deep = np.vectorize(lambda slot: self._of((i.step, name), slot), otypes=[float])(slots)
        self.note(i, place, body, deep)

    def note(self, i: Instruction, place: Place, body: int, deep: Counts) -> None:
        """Keep the depths of what an instruction leaves."""
        name = self.stages[place.label]
        if name in ("gathered", "frame"):
            if len(place.blocks) > 1 and place.blocks[-1] == place.blocks[-2]:
                counts = getattr(self.found, name)
                counts[body] = np.maximum(counts[body], deep)
        elif name != "inner" or (place.label == "inverse" and place.blocks[1] == place.blocks[2]):
            counts = getattr(self.found, name)
            counts[body] = max(counts[body], float(deep.max(initial=0.0)))

    def _deepen(self, stage: tuple[int, str], written: tuple, costs: Costs) -> None:
        for op, dst, a, b in zip(*(column.tolist() for column in written), strict=True):
            rounds = op in (MUL, DIV) or (a != 0 and b != 0) or costs.operand[op] > 0
            own = costs.operand[op] * (2.0 if op in (MUL, DIV) else 1.0) + costs.result[op]
            deepest = max(self._of(stage, a), self._of(stage, b))
            self.depth[dst] = stage, deepest + rounds * float(own)

    def _of(self, stage: tuple[int, str], slot: int) -> float:
        where, count = self.depth.get(slot, (stage, 0.0))
        return count if where == stage else 0.0
