"""Binary points for every operation of ABM, chosen from bounds over all states of a robot.

The tape is walked once.  A result is at most what its operands allow; where it is an entry of a
quantity that the theorem of docs/guarantee.md bounds in every state, it is at most that, too, and
what has been rounded on its way there.  The smaller of the two says how many bits stand before the
binary point.  So a bound never grows from body to body, and no operation can leave its word.

Beside it goes what is rounded within a stage (:mod:`.roundings`): absolute, half a unit of each
result's last place, and carried through the stage's own operations.  Across stages nothing is
carried: the theorem takes what a stage reads as exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.chunk import ADD, DIV, MUL, SUB
from ..arithmetic.words import SCALED, Words, aligned
from ..program.program import Instruction, Place
from ..tape.lowering import Lowering
from ..tape.tape import Tape
from .reach import UP

Floats = NDArray[np.float64]
FINEST = 60  # binary point of a number that is almost nothing
SHIFTED = 62  # bits that a dividend moves to the left, at most

Off = dict[tuple[int, str], Floats]  # of a body and a quantity, in its shape
# bounds of a quantity's entries in every state, None where none is known, from what is rounded
Named = Callable[[int, str, Off], Floats | None]


@dataclass
class Walked:
    """A program on words, and what is known of it in every state."""

    words: Words
    size: Floats  # (values,) largest magnitudes
    slot: dict[int, int]  # of the tape, at the end -> value
    # what a stage has rounded into a quantity, by body and quantity, in the quantity's shape
    off: dict[tuple[int, str], Floats]
    points: dict[tuple[int, str], NDArray[np.int64]]  # its binary points
    largest: dict[tuple[int, str], Floats]  # how large it may be


# quantities: of matrices, of columns on the way to the base, and back
MATRICES = {"entry": "M^", "W": "U", "A": "D", "inverse": "Mbar", "X": "Mbar Phi*", "update": "Phi Mbar Phi*"}
COLUMNS = {"entry": "b^", "s": "b'", "residual": "tau - H b'", "solve": "alpha", "z": "h", "update": "Phi h"}
BACK = {"right": "a'", "u": "tau - H b^ - U* a'", "solve": "qdd", "now": "w"}
# that end in another's
STAGES = {"U": "D", "U D^-1 U*": "Mbar", "Mbar Phi*": "Phi Mbar Phi*", "b'": "tau - H b'", "H* qdd": "w"}


def quantity(place: Place, i: Instruction, root: bool) -> str | None:
    """What an instruction of ABM's program is part of."""
    if i.op == "solve" and place.label in ("s", "x"):
        return COLUMNS["solve"] if place.label == "s" and not root else BACK["solve"]
    if place.back or (place.label == "z" and root):
        found = BACK.get("now" if place.label == "z" else place.label)
        return "H* qdd" if found == "w" and i.op == "mul" else found
    if i.op == "inner":
        return "U D^-1 U*" if place.label == "inverse" else None
    columns = place.label in ("s", "residual", "z") or place.blocks[-1:] == (-1,)
    return (COLUMNS if columns else MATRICES).get(place.label)


def point_of(size: float, bits: int) -> int:
    """The finest binary point with which numbers of this size, rounded, stay in a word."""
    top, size = float((1 << (bits - 1)) - 1) - 0.5, size * UP
    if not size * 2.0**FINEST > top:
        return FINEST
    point = math.floor(math.log2(top / size))
    return point if size * 2.0**point <= top else point - 1


class Walk(Lowering):
    """Lowers the program once more, and keeps sizes and errors beside slots."""

    def __init__(
        self, tape: Tape, bits: int, inputs: Floats, places: NDArray[np.int64], named: Named, pivots: Floats
    ) -> None:
        """``inputs`` (p,) are sizes of the entries of (4) in the slots ``places`` (p,).

        ``named`` bounds quantities by body; ``pivots`` (n,) are lower bounds of D_k.
        """
        super().__init__(tape.program, tape.inputs)
        self.bits, self.named, self.least = bits, named, pivots
        self.bodies = {
            record.step: tape.inputs.names.index(record.blocks[0].body) for record in tape.program.pivots
        }
        wanted = tape.program.live(("qdd",))
        self.wanted = {i.out for i, keep in zip(tape.program.instructions, wanted, strict=True) if keep}
        self.at = {0: 0, 1: 1, **{int(s): 2 + i for i, s in enumerate(places)}}
        self.count = len(places)
        sizes = [0.0, 1.0, *inputs.tolist()]
        self.point = [point_of(x, bits) for x in sizes]
        self.size = [x * UP + 2.0 ** (-p - 1) for x, p in zip(sizes, self.point, strict=True)]
        self.error, self.stage = [0.0] * len(sizes), [(-1, "")] * len(sizes)
        self.low = [0.0] * len(sizes)  # lower bounds of divisors
        self.operations: list[tuple[int, int, int, int]] = []
        self.roots = {k for k, up in enumerate(tape.inputs.parent.tolist()) if up < 0}
        self.off: dict[tuple[int, str], Floats] = {}
        self.points: dict[tuple[int, str], NDArray[np.int64]] = {}
        self.largest: dict[tuple[int, str], Floats] = {}

    def walked(self) -> Walked:
        for _ in self.run():
            pass
        op, a, b, d = np.array(self.operations, dtype=np.int64).reshape(-1, 4).T
        point = np.array(self.point, dtype=np.int64)
        words = Words(self.bits, op.astype(np.int8), a, b, d, point, self.count)
        slot = dict(self.at)
        return Walked(words, np.array(self.size), slot, self.off, self.points, self.largest)

    def lower(self, i: Instruction) -> None:
        before = self.written
        super().lower(i)
        if i.step < 0 or i.out not in self.wanted:
            return
        body = self.bodies[i.step]
        what = quantity(self.program.places[i.out], i, body in self.roots)
        slots = np.abs(self.values[i.out])
        bounds = None if what is None else self.named(body, what, self.off)
        limit: dict[int, float] = {}
        if bounds is not None and bounds.size == slots.size:
            for slot, most in zip(slots.ravel().tolist(), bounds.ravel().tolist(), strict=True):
                limit[slot] = min(most, limit.get(slot, math.inf))
        stage = i.step, STAGES.get(what or "", what or "")
        if self.written > before:
            self.append_to(stage, limit, self.parts[-1])
        if what is None:
            return
        values = np.vectorize(self.at.__getitem__, otypes=[int])(slots)
        for slot, most in limit.items():  # what is handed on unchanged
            value = self.at[slot]
            if value > 1:
                self.size[value] = min(self.size[value], most + self._of(stage, value))
        off = np.vectorize(lambda v: self._of(stage, v), otypes=[float])(values)
        if what == "D":
            self.low[int(values[0, 0])] = self.least[body] - float(off[0, 0])
        self.off[body, what] = off
        self.points[body, what] = np.array(self.point)[values]
        self.largest[body, what] = np.array(self.size)[values]

    def append_to(
        self, stage: tuple[int, str], limit: dict[int, float], written: tuple[NDArray, ...]
    ) -> None:
        operations = list(zip(*(column.tolist() for column in written), strict=True))
        met = [x for _, _, a, b in operations for x in (a, b)]
        products: dict[int, tuple[int, int]] = {}
        scaled = {a for op, _, a, _ in operations if op == DIV and met.count(a) == 1}
        for op, dst, a, b in operations:
            if op == MUL and dst in scaled:  # keeps its 64 bits: it is divided at once
                products[dst] = self.at[a], self.at[b]
            elif op == DIV and a in products:
                self.result(stage, dst, SCALED, *products[a], self.at[b], limit.get(dst))
            else:
                self.result(stage, dst, op, self.at[a], self.at[b], 0, limit.get(dst))

    def result(
        self, stage: tuple[int, str], dst: int, op: int, a: int, b: int, d: int, limit: float | None
    ) -> None:
        """One operation: its size, its binary point and what is rounded in it."""
        (x, y), (e, f) = (self.size[a], self.size[b]), (self._of(stage, a), self._of(stage, b))
        exact = math.inf  # the finest binary point that says more
        if op in (ADD, SUB):
            size, off = x + y, e + f
            common = int(aligned(self.point[a], self.point[b]))
            off += sum(2.0 ** (-common - 1) for v in (a, b) if self.point[v] > common)
            exact = common
        elif op == MUL:
            size, off = x * y, e * y + f * x + e * f
            exact = self.point[a] + self.point[b]
        else:
            by = b if op == DIV else d
            low, g = self.low[by], self._of(stage, by)
            if not low > 0.0:
                raise NoPivot(stage[0])
            top, error = (x, e) if op == DIV else (x * y, e * y + f * x + e * f)
            size = top / low
            most = size if limit is None else min(size, limit)
            off = (error + most * g) / low
            exact = self.point[a] - self.point[by] + (self.point[b] if op == SCALED else 0)
            exact += SHIFTED  # so that 64 bits are not left on the way
        if limit is not None:
            size = min(size, limit + off)
        point = min(point_of(size, self.bits), exact)
        if op in (DIV, SCALED) and point < exact - SHIFTED - 31:
            raise NoPivot(stage[0])  # a divisor without digits
        if point < exact or op in (DIV, SCALED):
            off += 2.0 ** (-point - 1)
        self.at[dst] = len(self.size)
        self.size.append(size * UP + 2.0 ** (-point - 1))
        self.point.append(int(point))
        self.error.append(off * UP)
        self.stage.append(stage)
        self.low.append(0.0)
        self.operations.append((op, a, b, d))

    def _of(self, stage: tuple[int, str], value: int) -> float:
        """What was rounded into a value in this stage."""
        return self.error[value] if self.stage[value] == stage else 0.0


class NoPivot(ArithmeticError):
    """A pivot that is not bounded away from zero; its step."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step
