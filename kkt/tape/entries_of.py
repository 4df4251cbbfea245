"""The entry of its instruction's result to which each operation of a tape contributes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..program.program import Instruction
from .lowering import Lowered, Lowering
from .tape import Tape


def entries_of(tape: Tape, instructions: Iterable[int]) -> dict[int, NDArray[np.int64]]:
    """Entries (i, j), 0-based, of the result for each operation of some instructions.

    Arrays (operations of the instruction, 2), in the tape's order; -1 where an operation serves no
    entry of its own, and for large factors.  An operation that serves several entries is counted
    for the last of them, one that serves (i, j) and (j, i) for the upper one.  The program is
    lowered once more, which takes as long as it took to trace it.
    """
    wanted = {tape.program.instructions[i].out: i for i in instructions}
    seen = _Watcher(tape, wanted)
    for _ in seen.run():
        if len(seen.found) == len(wanted):
            break
    none = np.full((0, 2), -1, dtype=np.int64)
    result = {}
    for i in wanted.values():
        count = int(tape.first[i + 1] - tape.first[i])
        found = seen.found.get(i, none)
        result[i] = found if len(found) == count else np.full((count, 2), -1, dtype=np.int64)
    return result


class _Watcher(Lowering):
    """Lowers a program again and keeps the entries served by operations of some instructions."""

    def __init__(self, tape: Tape, wanted: dict[int, int]) -> None:
        super().__init__(tape.program, tape.inputs)
        self.wanted = wanted
        self.found: dict[int, NDArray[np.int64]] = {}

    def lower(self, i: Instruction) -> None:
        super().lower(i)
        if i.out in self.wanted:
            none = np.full((0, 2), -1, dtype=np.int64)
            self.found[self.wanted[i.out]] = none if self.latest is None else _served(*self.latest)


def _served(template: Lowered, first: int) -> NDArray[np.int64]:
    """(operations, 2) the entry that each operation of a template leads to."""
    count = len(template.op)
    entry = np.full((count, 2), -1, dtype=np.int64)
    rows, columns = np.nonzero(template.out >= first)
    for r, c in zip(rows[::-1].tolist(), columns[::-1].tolist(), strict=True):
        entry[template.out[r, c] - first] = r, c  # the upper of two mirrored ones is set last
    for k in range(count - 1, -1, -1):
        for operand in (template.a[k], template.b[k]):
            if operand >= first and entry[operand - first, 0] < 0:
                entry[operand - first] = entry[k]
    return entry
