"""How many roundings a number takes on its way, read off the tape that the engine plays.

The way of an articulated inertia through one body has four stages, and each instruction of the
program says by its place to which it belongs.  Of a stage the longest path is counted, from the
numbers that enter it to each entry that leaves it: products, quotients and sums count one, what
the tape folds away (zeros, ones, signs, a sum with zero) counts nothing.

In a format by role or by body an operation rounds operands that a longer format holds, too.  One
that rounds all three counts one, and every other what it rounds of that, so that a sum of float64
counts little beside a product of float32.  Which format holds a slot is known: that of the
operation that wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, Mixed, get_format
from ..arithmetic.chunk import ADD, DIV, MUL, SUB
from ..arithmetic.mixed import Kind, holds
from ..program.program import Instruction, Place, diagonal, instruction_bodies
from ..tape.lowering import Lowering
from ..tape.tape import Tape

Counts = NDArray[np.float64]
Rounds = tuple[list[float], list[float], list[float]]  # of operands and of results
ENTRANCES = ("entry", "right")  # where what children or the parent wrote is read
CARRIED = 2.0**-53  # what the carrier of a format by role may round before
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
class Costs:
    """What operations of one body round, relative to the most that one may round in any body."""

    result: Counts  # (5,) of each operation, as operations are numbered
    operand: Counts  # (5,) of an operand, where some of the body's are held by a finer format
    entering: Counts  # (5,) of one that another body wrote
    inside: Counts  # (5,) result and both operands, of operations on D_k

    @property
    def whole(self) -> Counts:
        """(5,) result and both operands."""
        return np.asarray(self.result + 2.0 * self.operand)

    @property
    def most(self) -> float:
        """Of one operation."""
        return float(max(self.whole.max(), self.inside.max()))

    @property
    def divided(self) -> float:
        """A quotient by D_k on the way to qdd, at most."""
        return float(max(self.whole[DIV], self.inside[DIV]))

    @property
    def entered(self) -> float:
        """What rounding a number of another body adds on a path."""
        return float(self.entering[[ADD, SUB, MUL]].max())

    def path(self, length: float) -> float:
        """A product, and sums after it."""
        return float(self.whole[MUL] + (length - 1.0) * self.whole[ADD])


class Weights:
    """Units of the operations of a format, by kind of body, on D_k or not, and operation."""

    def __init__(self, chosen: Format) -> None:
        by_role = isinstance(chosen, Mixed)
        kinds = chosen.kinds if isinstance(chosen, Mixed) else (Kind.of(chosen),)
        parts = list(dict.fromkeys(chosen.parts)) if isinstance(chosen, Mixed) else [chosen]
        number = {part: i for i, part in enumerate(parts)}
        self.base = number[chosen.base if isinstance(chosen, Mixed) else chosen]
        self.held = np.array([[not by_role or holds(x, y) for y in parts] for x in parts])
        units = np.array([part.unit + CARRIED * by_role for part in parts])
        self.of_result, self.of_operand = (
            np.array([[[number[x] for x in row] for row in kind[i]] for kind in kinds]) for i in (0, 1)
        )
        rounds = np.where(self.held.all(axis=1), 0.0, units - CARRIED * by_role)
        largest = units[self.of_result] + 2.0 * rounds[self.of_operand]
        self.unit = float(max(largest.max(), units[self.base]))
        self.result = units[self.of_result] / self.unit  # (kinds, 2, 5)
        self.operand = rounds[self.of_operand] / self.unit


def unit_of(chosen: Format) -> float:
    """The most that one operation may round, relative to its operands' and result's sizes.

    The unit roundoff, but in a format by role, where operands are rounded beside the result.

    >>> from pivotree.kkt.arithmetic import get_format
    >>> from pivotree.kkt.theorem.roundings import unit_of
    >>> unit_of(get_format("float32")) == 2.0**-24
    True
    >>> round(unit_of(get_format("float64+mul=float32")) * 2.0**24, 6)
    3.0
    """
    return Weights(chosen).unit


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
    costs: tuple[Costs, ...]  # (n,)
    operands: float = 0.0  # 1 in a format by role, where an operation rounds its operands as well

    @property
    def beside(self) -> Counts:
        """(n,) of a term c c*/d: the last sum is of the result, and counted there.

        M^ itself may be rounded as an operand of that sum.
        """
        last, first = self._each("result", SUB), self._each("operand", SUB)
        return np.where(self.inner > 0, np.maximum(self.inner - last, last) + first, 0.0)

    @property
    def before(self) -> Counts:
        """(n, 6, 6) of what children hand on, but for the last sum, which is one of M^_k."""
        return np.maximum(self.gathered - self._each("result", ADD)[:, None, None], 0.0)

    @property
    def last(self) -> Counts:
        """(n, 6, 6) of the last sum: its result, and M_k as its operand."""
        one = self._each("result", ADD) + self._each("operand", ADD)
        return np.where(self.gathered > 0, one[:, None, None], 0.0)

    def _each(self, what: str, op: int) -> Counts:
        return np.array([getattr(own, what)[op] for own in self.costs])


def roundings(tape: Tape, chosen: Format | None = None) -> Roundings:
    """Counts of an order whose brackets are bodies, tip to base, as ABM's are.

    ``chosen`` matters where it is a format by role or by body.
    """
    return Counting(tape, chosen).counted()


def eliminated(N: int, operands: float = 0.0) -> Counts:
    """(N,) roundings of an entry in row i of K, i pivots before it: i terms c c/d, and sums.

    The terms and what is left after each sum are at most sigma sigma together, so that 2 i of the
    terms and i of the sums come to i + 1; to one more at most where sums round their ``operands``.
    """
    i = np.arange(N, dtype=float)
    return np.where(i > 0, i + 1.0 + operands, 0.0)


class Counting:
    """Walks through the program's operations, and keeps depths beside slots."""

    stages: ClassVar[dict[str, str]] = STAGES

    def __init__(self, tape: Tape, chosen: Format | None) -> None:
        self.program, self.inputs = tape.program, tape.inputs
        names = tape.inputs.names
        n = len(names)
        self.weights = Weights(chosen or get_format("float32"))  # any that is not by role
        self.by_role = isinstance(chosen, Mixed)
        of_body = chosen.kind_of(names) if isinstance(chosen, Mixed) else np.zeros(n + 1, int)
        self.kinds = of_body
        made = [i.out for i in tape.program.instructions]
        self.inside = dict(zip(made, diagonal(tape.program).astype(int), strict=True))
        owners = instruction_bodies(tape.program, tape.inputs.parent)
        self.owners = dict(zip(made, owners.tolist(), strict=True))
        self.holder = np.full(tape.slots, self.weights.base)  # of each slot: number of a format
        # bodies that round operands of their own, and of others; last, what is no body's
        self.rounding = np.zeros((2, n + 1), dtype=bool)
        self.bodies = {record.step: names.index(record.blocks[0].body) for record in tape.program.pivots}
        self.depth: dict[int, tuple[tuple[int, str], float]] = {}  # of a slot: in a stage
        gathered, frame = np.zeros((2, n, 6, 6))
        product, pivot, inner = np.zeros((3, n))
        self.found = Roundings(gathered, product, pivot, inner, frame, self._costs())

    def counted(self) -> Roundings:
        """All that there is to count."""
        for i, written, slots in Lowering(self.program, self.inputs).operations():
            self._count(i, written, slots)
        return replace(self.found, costs=self._costs(), operands=float(self.by_role))

    def _costs(self) -> tuple[Costs, ...]:
        weights, found = self.weights, []
        for own, other, kind in zip(*self.rounding, self.kinds.tolist(), strict=True):
            result, operand = weights.result[kind], weights.operand[kind]
            own_operand = operand * float(own or self.rounding[0, -1])
            entering = operand[0] * float(own or other or self.rounding[:, -1].any())
            inside = result[1] + 2.0 * own_operand[1]
            found.append(Costs(result[0], own_operand[0], entering, inside))
        return tuple(found[:-1])

    def _count(self, i: Instruction, written: tuple[NDArray, ...], slots: NDArray) -> None:
        """The depths of one instruction's operations and of its result."""
        place = self.program.places[i.out]
        rounds = self._rounds(i, place, written)
        if i.step < 0 or place.back or place.label not in self.stages:
            return
        body, name = self.bodies[i.step], self.stages[place.label]
        self._deepen((i.step, name), written, rounds)
        deep = np.vectorize(lambda slot: self._of((i.step, name), slot), otypes=[float])(slots)
        self.note(i, place, body, deep, slots)

    def _rounds(self, i: Instruction, place: Place, written: tuple[NDArray, ...]) -> Rounds:
        """Units of both operands and of the result, of an instruction's operations."""
        op, dst, a, b = written
        body, weights = self.owners[i.out], self.weights
        which = self.kinds[body], self.inside[i.out], op
        self.holder[dst] = weights.of_result[which]
        enters = place.label in ENTRANCES
        units = []
        for slots in (a, b):
            needed = ~weights.held[weights.of_operand[which], self.holder[slots]] & (slots > 1)
            foreign = needed & (slots >= self.inputs.count) & enters
            self.rounding[0, body] |= (needed & ~foreign).any()
            self.rounding[1, body] |= foreign.any()
            units.append((weights.operand[which] * needed).tolist())
        return units[0], units[1], weights.result[which].tolist()

    def note(self, i: Instruction, place: Place, body: int, deep: Counts, slots: NDArray) -> None:
        """Keep the depths of what an instruction leaves in these slots."""
        name = self.stages[place.label]
        if name in ("gathered", "frame"):
            if len(place.blocks) > 1 and place.blocks[-1] == place.blocks[-2]:
                counts = getattr(self.found, name)
                counts[body] = np.maximum(counts[body], deep)
        elif name != "inner" or (place.label == "inverse" and place.blocks[1] == place.blocks[2]):
            counts = getattr(self.found, name)
            counts[body] = max(counts[body], float(deep.max(initial=0.0)))

    def _deepen(self, stage: tuple[int, str], written: tuple[NDArray, ...], units: Rounds) -> None:
        columns = (*(column.tolist() for column in written), *units)
        for op, dst, a, b, of_a, of_b, result in zip(*columns, strict=True):
            rounds = op in (MUL, DIV) or (a != 0 and b != 0) or of_a > 0 or of_b > 0
            deep_a, deep_b = self._of(stage, a), self._of(stage, b)
            if op in (MUL, DIV):
                deepest = max(deep_a, deep_b) + of_a + of_b
            else:  # of a sum each operand's rounding is its own
                deepest = max(deep_a + of_a, deep_b + of_b)
            self.depth[dst] = stage, deepest + rounds * result

    def _of(self, stage: tuple[int, str], slot: int) -> float:
        where, count = self.depth.get(slot, (stage, 0.0))
        return count if where == stage else 0.0
