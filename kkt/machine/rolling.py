"""Roll a program up: find repeated segments, and assign places to the values that they share.

Results whose last reader is the same segment get consecutive rows of the work array, and the
constants of a call are consecutive too, so that distances between places are the same in all calls.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.chunk import SQRT
from .rolled import Address, Function, Ints, Rolled
from .scalar_program import ScalarProgram
from .segments import LONGEST, segments_of


def rolled(program: ScalarProgram, longest: int = LONGEST) -> Rolled:
    """A program with its segments as functions; ``longest`` bounds the operations of a segment."""
    return _Rolling(program, longest).result()


class _Rolling:
    """A program that is rolled up, and the places of its values so far."""

    def __init__(self, program: ScalarProgram, longest: int) -> None:
        self.program = program
        self.first = program.first
        T, segments = len(program), segments_of(program, longest)
        self.start, S = segments.start, len(segments.kind)
        own = np.repeat(np.arange(S), np.diff(self.start))  # segment of each operation
        self.groups = self._groups(segments.kind)  # segments of each function, ascending
        # the last segment that reads a result; S for an output
        last = own.copy()
        for operand, used in ((program.a, program.op >= 0), (program.b, program.op != SQRT)):
            made = used & (operand >= self.first)
            np.maximum.at(last, operand[made] - self.first, own[made])
        kept = np.abs(program.outputs)
        last[kept[kept >= self.first] - self.first] = S
        self.last, self.own = last, own
        self.row = np.full(self.first + T, -1, dtype=np.int64)
        self.row[2 : 2 + program.inputs] = np.arange(program.inputs)
        self.top = program.inputs + len(program.outputs)
        # one, the program's constants, zero, then constants of calls
        self.pool = np.concatenate([np.ones(1), program.constants, np.zeros(1)])
        self.constants, self.constant_top = [self.pool], len(self.pool)
        self.constant_of = np.arange(self.first) - 1 - program.inputs  # of a slot
        self.constant_of[0], self.constant_of[1] = len(self.pool) - 1, 0

    def _groups(self, kind: Ints) -> list[Ints]:
        """Sets of segments with the same operations on the same of their own results."""
        found: dict[bytes, list[int]] = {}
        order = np.argsort(kind, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1):
            if not len(members):
                continue
            code = self._local(members)[:3]
            for t, *row in zip(members.tolist(), *code, strict=True):
                found.setdefault(b"".join(x.tobytes() for x in row), []).append(t)
        return [np.array(sorted(group)) for group in found.values()]

    def _local(self, members: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """(K, L) operations of K segments, codes of both operands, and slots of both operands.

        A code is the number of an own result, else -1 for a row, -2 for a constant, -3 for none.
        """
        program, start = self.program, self.start[members]
        at = start[:, None] + np.arange(int(self.start[members[0] + 1] - start[0]))
        op = program.op[at].astype(np.int64)
        codes, slots = [], []
        for operand in (program.a, program.b):
            slot = operand[at].astype(np.int64)
            number = slot - self.first - start[:, None]
            row = (slot >= self.first) | ((slot >= 2) & (slot < 2 + program.inputs))
            codes.append(np.where(number >= 0, number, np.where(row, -1, -2)))
            slots.append(slot)
        codes[1][op == SQRT] = -3
        return op, codes[0], codes[1], slots[0], slots[1]

    def result(self) -> Rolled:
        """The program as functions and calls of them."""
        program, start = self.program, self.start
        S = len(start) - 1
        of = np.zeros(S, dtype=np.int64)
        for g, members in enumerate(self.groups):
            of[members] = g
        self._stand()
        made = [self._function(members) for members in self.groups]
        tables = [table for _, table in made]
        position = np.zeros(S, dtype=np.int64)
        for members in self.groups:
            position[members] = np.arange(len(members))
        change = np.flatnonzero(np.diff(of, prepend=-1)) if S else np.zeros(0, dtype=np.int64)
        count = np.diff(np.append(change, S))
        rows = [
            tables[of[t]][position[t] : position[t] + n].ravel()
            for t, n in zip(change.tolist(), count.tolist(), strict=True)
        ]
        none = np.zeros(0, dtype=np.int64)
        columns = np.array([function.columns for function, _ in made], dtype=np.int64)
        outputs = self._outputs()
        return Rolled(
            program.inputs,
            len(program),
            tuple(function for function, _ in made),
            np.stack([of[change], count, columns[of[change]]], 1).astype(np.int32),
            np.concatenate([none, *rows]).astype(np.int32),
            np.concatenate(self.constants),
            self.top,
            *outputs,
        )

    def _stand(self) -> None:
        """Assign rows to results that other segments read; those with one last reader together."""
        S = len(self.start) - 1
        blocks: list[list[tuple[Ints, Ints]]] = []  # of each group: results, and last readers
        for members in self.groups:
            L = int(self.start[members[0] + 1] - self.start[members[0]])
            last = self.last[self.start[members][:, None] + np.arange(L)]
            outside = np.flatnonzero((last > members[:, None]).any(0))
            together: dict[bytes, list[int]] = {}
            for j in outside.tolist():
                together.setdefault(last[:, j].tobytes(), []).append(j)
            blocks.append([(np.array(b), last[:, b[0]]) for b in together.values()])
        todo: list[tuple[int, int]] = [(0, 0)] * S
        for g, members in enumerate(self.groups):
            for i, t in enumerate(members.tolist()):
                todo[t] = g, i
        free: dict[int, list[int]] = {}
        leaving: list[list[tuple[int, int]]] = [[] for _ in range(S + 1)]
        for t, (g, i) in enumerate(todo):
            base = self.first + int(self.start[t])
            for results, last in blocks[g]:
                size, until = len(results), int(last[i])
                if free.get(size):
                    row = free[size].pop()
                else:
                    row, self.top = self.top, self.top + size
                self.row[base + results] = row + np.arange(size)
                leaving[max(until, t)].append((size, row))
            for size, row in leaving[t]:  # free once this segment is over
                free.setdefault(size, []).append(row)
            leaving[t] = []

    def _function(self, members: Ints) -> tuple[Function, Ints]:
        """The function of equal segments, and the rows of its table (K, columns)."""
        op, a, b, slot_a, slot_b = self._local(members)
        K = len(members)
        reads: list[Address] = []
        table: list[Ints] = []
        bases: dict[tuple[bool, bytes], tuple[int, int]] = {}
        codes = []

        def place(constant: bool, value: Ints) -> Address:
            moved = value - value[0]
            if not moved.any():
                return Address(constant, -1, int(value[0]))
            key = constant, moved.tobytes()
            if key not in bases:
                bases[key] = len(table), int(value[0])
                table.append(value)
            column, zero = bases[key]
            return Address(constant, column, int(value[0]) - zero)

        known: dict[tuple[bool, bytes], int] = {}
        own: list[tuple[int, Ints]] = []  # constants that differ from call to call
        for code, slot in ((a, slot_a), (b, slot_b)):
            local = code[0].copy()
            for j in np.flatnonzero(local < 0).tolist():
                if local[j] == -3:
                    continue
                constant = bool(local[j] == -2)
                value = self.constant_of[slot[:, j]] if constant else self.row[slot[:, j]]
                key = constant, value.tobytes()
                if key not in known:
                    known[key] = len(reads)
                    reads.append(Address(constant, -1, 0))
                    if constant and (value != value[0]).any():
                        own.append((known[key], value))
                    else:
                        reads[-1] = place(constant, value)
                local[j] = -1 - known[key]
            codes.append(local)
        if own:  # side by side
            first = self.constant_top + len(own) * np.arange(K)
            self.constants.append(self.pool[np.stack([value for _, value in own], 1)].ravel())
            self.constant_top += K * len(own)
            for j, (number, _) in enumerate(own):
                reads[number] = place(True, first + j)
        base = self.first + self.start[members]
        L = op.shape[1]
        writes = {
            j: place(False, self.row[base + j])
            for j in np.flatnonzero(self.row[base[0] : base[0] + L] >= 0).tolist()
        }
        rows = np.stack(table, 1) if table else np.zeros((K, 0), dtype=np.int64)
        code_a, code_b = codes
        return Function(op[0].astype(np.int8), code_a, code_b, tuple(reads), writes, len(table)), rows

    def _outputs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        program = self.program
        slot = np.abs(program.outputs).astype(np.int64)
        number, sign = np.arange(len(slot)), program.outputs < 0
        constant = (slot <= 1) | ((slot >= 2 + program.inputs) & (slot < self.first))
        where = self.constant_of[np.where(constant, slot, 0)]
        rows = np.stack([number, self.row[slot], sign], 1)[~constant]
        constants = np.stack([number, where, sign], 1)[constant]
        return rows.astype(np.int32), constants.astype(np.int32)
