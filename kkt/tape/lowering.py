"""Lower a block program to scalar operations, chunk by chunk.

Instructions are met one by one, which finds their templates (:mod:`.templates`); the templates of
a chunk are copied at once, in a compiled loop that hands out slots.  Slots of values that are no
longer needed are handed out again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Chunk
from ..base.compiled import interpreted
from ..base.errors import SizeError
from ..matrix.blocks import Block
from ..program.program import Instruction, Program, Ref
from .emit import Scalars
from .inputs import InputSlots
from .lowering_kernels import LARGE, Packed, Regions, Values, allocated, copy, given_back, release
from .templates import Known, Patterns, large_factor, starts

CHUNK = 1 << 18  # operations in a chunk
LIMIT = 2_000_000_000  # a longer tape is refused
SLOTS = 2**31 - 1  # 32 bits number so many


class Lowering(Patterns):
    """One pass over the program that writes chunks and hands out slots."""

    def __init__(self, program: Program, inputs: InputSlots, known: Known | None = None) -> None:
        super().__init__(program, inputs, known)
        count = len(program.instructions)
        # operations written before each instruction, and in all
        self.first: NDArray[np.int64] = np.zeros(count + 1, dtype=np.int64)
        self.played: int = 0  # operations that qdd needs
        self.written: int = 0
        first, rows, columns, held, holds = np.zeros((5, len(self.pattern)), dtype=np.int64)
        entries = np.zeros(36 * count + 16, dtype=np.int32)
        self._values = Values(first, rows, columns, held, holds, entries)
        self._entries = 0  # that are taken
        self._put(self.blocks)
        room = count + 3 * np.count_nonzero(self.large)
        start, stop, kind, users, after, free, seen = np.zeros((7, room), dtype=np.int64)
        free[:] = -1
        self._regions = Regions(start, stop, kind, users, after, free, seen, np.array([0, inputs.count]))
        self._listed = np.zeros(2 * count + 16, dtype=np.int64)
        end, ends = self._last_uses()
        self.steps = self.steps._replace(end=end, ends=ends)
        self._parts: list[Chunk] = []  # written, and not a whole chunk yet
        self._done = np.zeros(4, dtype=np.int64)

    @property
    def top(self) -> int:
        """How many slots have been handed out."""
        return int(self._regions.counts[1])

    def run(self) -> Iterator[Chunk]:
        program = self.program
        operations = np.zeros(len(program.instructions), dtype=np.int64)
        # a large factor is written in pieces, the others a chunk at a time
        for places, numbers in self.runs(program.kept, CHUNK):
            if numbers[0] == LARGE:
                before = self.written
                yield from self._large(int(places[0]), program.instructions[places[0]])
                operations[places] = self.written - before
                continue
            packed = self.known.packed()
            operations[places] = np.diff(packed.first)[numbers]
            count = int(operations[places].sum())
            self._write(count)
            self._copy(places, numbers, count, packed)
            if count >= CHUNK:
                yield from self._full(CHUNK)
        yield from self._full(1)
        np.cumsum(operations, out=self.first[1:])
        self.played = int(operations[program.live(("qdd", "x"))].sum())

    # -- results ------------------------------------------------------------------------------

    def value(self, number: int) -> Scalars:
        """Signed slots of a value; they are told even when they have been handed out again."""
        values = self._values
        shape = values.rows[number], values.columns[number]
        first = values.first[number]
        return values.entries[first : first + shape[0] * shape[1]].astype(np.int64).reshape(shape)

    def take(self, ref: Ref) -> Scalars:
        array = self.value(ref.value)
        if ref.transposed:
            array = array.T
        return array if ref.sign > 0 else -array

    def solved(self, found: Mapping[Block, Ref]) -> dict[Block, Scalars]:
        """Scalars of unknowns, once the program has been written."""
        return {block: self.take(ref) for block, ref in found.items()}

    def pivots(self) -> dict[int, Scalars]:
        """Scalars on the factor's diagonal, by the number of the pivot's record."""
        return {
            number: self.value(record.factor).diagonal()[slice(*record.rows)].copy()
            for number, record in enumerate(self.program.pivots)
            if record.factor >= 0
        }

    def operations(self) -> Iterator[tuple[Instruction, tuple[NDArray[Any], ...], Scalars]]:
        """Writes the program; then each instruction, its operations, and the slots of its result.

        Operations are ``op, dst, a, b``.  Large factors are passed over.
        """
        chunks = [chunk[:4] for chunk in self.run()]
        columns = [np.concatenate(column) for column in zip(*chunks, strict=True)]
        for place in np.flatnonzero(self.program.kept & ~self.large).tolist():
            i = self.program.instructions[place]
            written = slice(*self.first[place : place + 2])
            yield i, tuple(x[written] for x in columns), np.abs(self.value(i.out))

    # -- before ------------------------------------------------------------------------------

    def _last_uses(self) -> tuple[Scalars, Scalars]:
        """Values to release after each instruction, those made first first; results stay."""
        out, counts, used = self.steps.out, np.diff(self.steps.arg), self.steps.args >> 2
        program, total = self.program, len(self._values.first)
        owner = np.repeat(np.arange(len(out)), counts)
        last, made = np.full((2, total), -1, dtype=np.int64)
        made[out] = np.arange(len(out))
        last[out[program.kept]] = made[out[program.kept]]
        here = program.kept[owner]
        np.maximum.at(last, used[here], owner[here])
        results = [ref.value for found in (program.solution, *program.columns) for ref in found.values()]
        results += [record.factor for record in program.pivots if record.factor >= 0]
        results += [] if program.inertia is None else [program.inertia.value]
        last[[*results, *self.wholes.values()]] = -1
        ended = np.flatnonzero(last >= 0)
        ended = ended[np.lexsort((made[ended], last[ended]))]
        return starts(np.bincount(last[ended], minlength=len(out))), ended

    # -- chunks ------------------------------------------------------------------------------

    def _full(self, least: int) -> Iterator[Chunk]:
        """What is written, as one chunk, where that has so many operations."""
        if sum(len(part) for part in self._parts) >= least:
            columns = zip(*self._parts, strict=True)
            self._parts, whole = [], self._parts
            yield whole[0] if len(whole) == 1 else Chunk(*map(np.concatenate, columns))

    def _copy(self, places: Scalars, numbers: Scalars, operations: int, packed: Packed) -> None:
        """Write instructions, by the numbers of their templates."""
        most = max(t.first + len(t.op) for t in map(self.known.templates.__getitem__, set(numbers.tolist())))
        lookup = np.zeros(max(2, most), dtype=np.int64)
        lookup[1] = 1
        self._require_lists()
        self._place(self.steps.out[places], *(x[numbers] for x in packed.shape))
        chunk = Chunk(np.empty(operations, np.int8), *np.empty((4, operations), dtype=np.int32))
        self._done[:2] = 0
        while self._done[0] < len(places):
            copy(
                *(places, numbers, self.steps, packed, self._regions),
                *(self._values, self._listed, lookup, tuple(chunk), self._done),
            )
            if self._done[0] < len(places):
                self._listed = np.concatenate([self._listed, np.zeros_like(self._listed)])
        self._require_slots()
        if operations:
            self._parts.append(chunk)

    def _large(self, place: int, i: Instruction) -> Iterator[Chunk]:
        """L D L^T of a large matrix in place, with a scratch for the results of a column."""
        (ref,) = i.args
        assert ref is not None
        A, gain = np.tril(self.take(ref)), self.program.gain
        n = len(A)
        size = n * (n + 1) // 2
        # an entry of an update takes a product, a quotient, and a difference or a copy
        own, scratch = self._allocate(size), self._allocate(3 * size)
        row, col = np.tril_indices(n)
        home = np.zeros((n, n), dtype=np.int64)
        home[row, col] = self._regions.start[own] + np.arange(size)
        columns, owned = home, [own]
        if gain:
            owned.append(self._allocate(size))
            columns = home + (self._regions.start[owned[1]] - self._regions.start[own])
        self._require_slots()
        first = self._regions.start[scratch]
        # column by column, so that no more than a chunk waits to be handed on
        for k, op, dst, a, b in large_factor(A, home, columns, int(first), gain):
            self._write(len(op))
            step = np.full(len(op), i.info[k] if i.info else i.step)
            self._parts.append(Chunk(op, *(x.astype(np.int32) for x in (dst, a, b, step))))
            yield from self._full(CHUNK)
        # the factor has its own slots; those of the scratch, and of what was used last, are free again
        self.pattern[i.out] = self.known.number(A)
        self._put({i.out: A})
        self._own(i.out, owned, ref.value)
        interpreted(given_back)(self._regions, scratch)
        for value in self.steps.ends[self.steps.end[place] : self.steps.end[place + 1]]:
            interpreted(release)(self._regions, self._values, self._listed, value)

    def _allocate(self, size: int) -> int:
        kind = self.known.kind(size)
        self._require_lists()
        return int(interpreted(allocated)(self._regions, kind, size))

    def _require_lists(self) -> None:
        """A list of free regions for each size."""
        missing = len(self.known.sizes) - len(self._regions.free)
        if missing > 0:
            free = np.append(self._regions.free, np.full(missing, -1))
            self._regions = self._regions._replace(free=free)

    def _own(self, value: int, regions: list[int], operand: int) -> None:
        """Keep the regions of a value: its own, and its operand's."""
        first, count = self._values.held[operand], self._values.holds[operand]
        held = [*regions, *self._listed[first : first + count]]
        used = int(self._done[2])
        if used + len(held) > len(self._listed):
            self._listed = np.concatenate([self._listed, np.zeros(used + len(held), dtype=np.int64)])
        self._listed[used : used + len(held)] = held
        self._values.held[value], self._values.holds[value] = used, len(held)
        self._regions.users[held] += 1
        self._done[2] += len(held)

    def _place(self, value: Scalars, rows: Scalars, columns: Scalars) -> None:
        """Room for values of these shapes."""
        values, ends = self._values, self._entries + np.cumsum(rows * columns)
        values.first[value], values.rows[value], values.columns[value] = ends - rows * columns, rows, columns
        self._entries = int(ends[-1]) if len(ends) else self._entries
        missing = self._entries - len(values.entries)
        if missing > 0:
            more = np.zeros(missing + len(values.entries), dtype=np.int32)
            self._values = values._replace(entries=np.concatenate([values.entries, more]))

    def _put(self, blocks: dict[int, Scalars]) -> None:
        """The scalars of some values."""
        first = self._entries
        self._place(np.array([*blocks], dtype=np.int64), *np.array([x.shape for x in blocks.values()]).T)
        self._values.entries[first : self._entries] = np.concatenate([x.ravel() for x in blocks.values()])

    def _require_slots(self) -> None:
        if self.top > SLOTS:
            raise SizeError(f"tape: needs more than {SLOTS:,} slots; use an order with less fill")

    def _write(self, count: int) -> None:
        self.written += count
        if self.written > LIMIT:
            raise SizeError(
                f"order {self.program.name!r}: needs more than {LIMIT:.0e} operations "
                "on this tree; use an order with less fill, such as abm"
            )
