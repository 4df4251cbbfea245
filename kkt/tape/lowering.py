"""Lower a block program to scalar operations, chunk by chunk.

A block operation whose operands have the same pattern of zeros, ones and signs is lowered once, to
a template, and then copied.  Slots of values that are no longer needed are handed out again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.chunk import Chunk
from ..base.errors import SizeError
from ..matrix.blocks import Block
from ..program.program import Instruction, Program, Ref
from . import operations
from .emit import Emitter, Scalars, column
from .inputs import InputSlots

CHUNK = 1 << 18  # operations in a chunk
LIMIT = 2_000_000_000  # a longer tape is refused
SLOTS = 2**31 - 1  # 32 bits number so many
SHARED = 128  # entries of operands up to which templates are kept for other tapes
_CONSTANTS = np.array([0, 1])  # the first two slots of every template


class Lowered(NamedTuple):
    """One block operation on local slots: 0, 1, then the operands' entries, then results."""

    op: NDArray[np.int8]
    a: Scalars
    b: Scalars
    sign: Scalars  # of each entry of the result
    out: Scalars  # its local slot
    pattern: int  # of the result
    passed: Scalars  # local slots of operands' entries that the result holds unchanged


@lru_cache(maxsize=4096)
def _template(
    op: str, symmetric: bool, info: tuple, gain: bool, blocks: tuple[tuple[tuple, bytes], ...]
) -> Lowered:
    """An operation on blocks, each given as the shape and bytes of its pattern."""
    local, start = [], 2
    for shape, content in blocks:
        codes = np.frombuffer(content, np.int8).reshape(shape).astype(np.int64)
        slots = start + np.arange(codes.size).reshape(shape)
        local.append(np.where(np.abs(codes) <= 1, codes, np.sign(codes) * slots))
        start += codes.size
    emitter = Emitter(start)
    out = operations.emitted(emitter, op, symmetric, local, info, gain)
    slots = np.abs(out)
    none = np.zeros(0, dtype=np.int64)
    return Lowered(
        np.concatenate([none.astype(np.int8), *emitter.op]),
        np.concatenate([none, *emitter.a]),
        np.concatenate([none, *emitter.b]),
        np.sign(out),
        slots,
        -1,  # a tape numbers its patterns itself
        np.unique(slots[(slots > 1) & (slots < start)]),
    )


class Lowering:
    """One pass over the program that writes chunks and hands out slots."""

    def __init__(self, program: Program, inputs: InputSlots) -> None:
        self.program, self.inputs = program, inputs
        self.pivots: dict[int, Scalars] = {}  # record -> scalars on the factor's diagonal
        self.inertia: Scalars | None = None
        self.flops = 0  # operations that qdd needs
        self.templates: dict[tuple, Lowered] = {}
        self.latest: tuple[Lowered, int] | None = None  # used last, and its first own slot
        self.values: dict[int, Scalars] = {}
        self.pattern: dict[int, int] = {}  # of each value: number of an entry of ``codes``
        self.codes: list[NDArray[np.int8]] = []  # 0, +-1, and +-2 for slots
        self.known: dict[tuple, int] = {}
        self.variants: dict[tuple[int, bool, int], int] = {}
        self.regions: dict[int, tuple[tuple[int, int], ...]] = {}  # slots a value lives in
        self.users: dict[tuple[int, int], int] = defaultdict(int)
        self.free: dict[int, list[int]] = defaultdict(list)
        self.top = self.inputs.count
        self.parts: list[tuple[NDArray, Scalars, Scalars, Scalars]] = []
        self.steps: list[int] = []
        self.pending = 0
        self.written = 0
        # operations written before each instruction, and in all
        self.first = np.zeros(len(program.instructions) + 1, dtype=np.int64)

    def run(self) -> Iterator[Chunk]:
        program = self.program
        keep = program.live(("pdd", "qdd", "f", "lam"), columns=True)
        qdd_only = program.live(("qdd",))
        last = self._last_uses(keep)
        factors = defaultdict(list)
        for number, record in enumerate(program.pivots):
            factors[record.factor].append(number)
        for place, instruction in enumerate(program.instructions):
            before = self.first[place] = self.written
            if not keep[place]:
                continue
            if instruction.op == "factor" and (instruction.info or program.shapes[instruction.out][0] > 24):
                yield from self.large_factor(instruction)
            else:
                self.lower(instruction)
            if qdd_only[place]:
                self.flops += self.written - before
            for number in factors.get(instruction.out, ()):
                rows = slice(*program.pivots[number].rows)
                self.pivots[number] = self.values[instruction.out].diagonal()[rows]
            if program.inertia is not None and instruction.out == program.inertia.value:
                self.inertia = self.take(program.inertia)  # with its sign
            for value in last.get(place, ()):
                self.release(value)
            if self.pending >= CHUNK:
                yield self.flush()
        self.first[-1] = self.written
        if self.pending:
            yield self.flush()

    def solution(self) -> dict[Block, Scalars]:
        """Scalars of every block of unknowns, once the program has been written."""
        return {block: self.take(ref) for block, ref in self.program.solution.items()}

    def columns(self) -> tuple[dict[Block, Scalars], ...]:
        """The same of every set of right-hand sides beyond (4)'s own."""
        return tuple({b: self.take(r) for b, r in x.items()} for x in self.program.columns)

    def _last_uses(self, keep: NDArray[np.bool_]) -> dict[int, list[int]]:
        """Values to release after each instruction; results of the program stay."""
        last: dict[int, int] = {}
        for place, instruction in enumerate(self.program.instructions):
            if keep[place]:
                last[instruction.out] = place
                for ref in instruction.args:
                    if ref is not None:
                        last[ref.value] = place
        for found in (self.program.solution, *self.program.columns):
            for ref in found.values():
                last.pop(ref.value, None)
        for record in self.program.pivots:
            last.pop(record.factor, None)
        if self.program.inertia is not None:
            last.pop(self.program.inertia.value, None)
        result: dict[int, list[int]] = defaultdict(list)
        for value, place in last.items():
            result[place].append(value)
        return result

    # -- slots --------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        if self.free[size]:
            return self.free[size].pop()
        self.top += size
        if self.top > SLOTS:
            raise SizeError(f"tape: needs more than {SLOTS:,} slots; use an order with less fill")
        return self.top - size

    def own(self, value: int, regions: tuple[tuple[int, int], ...]) -> None:
        self.regions[value] = regions
        for region in regions:
            self.users[region] += 1

    def release(self, value: int) -> None:
        self.values.pop(value, None)
        self.pattern.pop(value, None)
        for region in self.regions.pop(value, ()):
            self.users[region] -= 1
            if not self.users[region]:
                del self.users[region]
                self.free[region[1]].append(region[0])

    def take(self, ref: Ref | None) -> Scalars:
        assert ref is not None
        array = self.values[ref.value]
        if ref.transposed:
            array = array.T
        return array if ref.sign > 0 else -array

    # -- patterns -----------------------------------------------------------------------------

    def number(self, scalars: Scalars) -> int:
        """The pattern of zeros, ones and signs of a block, as a number."""
        codes = np.where(np.abs(scalars) <= 1, scalars, 2 * np.sign(scalars)).astype(np.int8)
        key = (codes.shape, codes.tobytes())
        if key not in self.known:
            self.known[key] = len(self.codes)
            self.codes.append(codes)
        return self.known[key]

    def variant(self, ref: Ref) -> int:
        """The pattern of a reference: transposed, negated."""
        own = self.pattern[ref.value]
        if not ref.transposed and ref.sign > 0:
            return own
        key = (own, ref.transposed, ref.sign)
        if key not in self.variants:
            codes = self.codes[own].T if ref.transposed else self.codes[own]
            self.variants[key] = self.number(codes.astype(np.int64) * ref.sign)
        return self.variants[key]

    # -- one instruction ----------------------------------------------------------------------

    def lower(self, i: Instruction) -> None:
        args = [ref for ref in i.args if ref is not None]
        view = self.view(i)
        self.latest = None
        if view is not None:
            self.values[i.out], self.pattern[i.out] = view, self.number(view)
            self.own(i.out, self.all_regions(args))
            return
        operands = [self.take(ref) for ref in args]
        patterns = [self.variant(ref) for ref in args]
        info: tuple = ()
        if i.op in ("along", "across", "basis"):
            info = self.inputs.pivot_rows(self.body_of(args[0]))
        elif i.op in ("weigh", "rotate"):
            dof, k = i.info
            info = (dof, self.inputs.concentric(k), self.inputs.linear_columns(k))
        elif i.op == "merge":
            info = i.info
        elif i.op == "divide":
            operands.append(np.array([[self.inputs.whole[i.info[0]]]]))
            patterns.append(self.number(operands[-1]))
        key = (i.op, i.symmetric, info, *patterns)
        template = self.templates.get(key)
        if template is None:
            codes = [self.codes[pattern] for pattern in patterns]
            template = self.templates[key] = self.template(i, codes, info)
        count = len(template.op)
        self.latest = template, 2 + sum(x.size for x in operands)
        lookup = np.concatenate([_CONSTANTS, *(x.ravel() for x in operands), np.zeros(count, int)])
        np.abs(lookup, out=lookup)
        regions: tuple[tuple[int, int], ...] = ()
        if count:
            start = self.allocate(count)
            regions = ((start, count),)
            dst = np.arange(start, start + count)
            lookup[-count:] = dst
            self.append(template.op, dst, lookup[template.a], lookup[template.b], i.step)
        if template.passed.size:  # an entry that is passed on lives in its operand's slots
            slots = lookup[template.passed].tolist()
            held = self.all_regions(args)
            regions += tuple(r for r in held if any(r[0] <= x < r[0] + r[1] for x in slots))
        self.values[i.out] = template.sign * lookup[template.out]
        self.pattern[i.out] = template.pattern
        self.own(i.out, regions)

    def all_regions(self, refs: list[Ref]) -> tuple[tuple[int, int], ...]:
        return tuple(dict.fromkeys(r for ref in refs for r in self.regions[ref.value]))

    def body_of(self, ref: Ref | None) -> int:
        assert ref is not None
        return int(self._input_body[ref.value])

    @cached_property
    def _input_body(self) -> dict[int, int]:
        return {i.out: i.info[1] for i in self.program.instructions if i.op == "input"}

    def view(self, i: Instruction) -> Scalars | None:
        """The result of an instruction that only renames scalars, else None."""
        if i.op == "input":
            return self.inputs.block(*i.info)
        return operations.arranged(i, self.take, self.program.shapes[i.out][1])

    def template(self, i: Instruction, codes: list[NDArray], info: tuple) -> Lowered:
        """An operation on blocks of these patterns; tapes share those of small blocks."""
        write = _template if sum(c.size for c in codes) <= SHARED else _template.__wrapped__
        blocks = tuple((c.shape, c.tobytes()) for c in codes)
        lowered = write(i.op, i.symmetric, info, self.program.gain, blocks)
        return lowered._replace(pattern=self.number(lowered.sign * lowered.out))

    def large_factor(self, i: Instruction) -> Iterator[Chunk]:
        """L D L^T of a large matrix in place, column by column: n^2 slots for n^3/3 operations."""
        A = np.tril(self.take(i.args[0])).copy()
        n = len(A)
        gain = self.program.gain
        size = n * (n + 1) // 2
        # an entry of an update takes a product, a quotient, and a difference or a copy
        room = 3 * size
        start, scratch = self.allocate(size), self.allocate(room)
        row, col = np.tril_indices(n)
        place = np.zeros((n, n), dtype=np.int64)
        place[row, col] = start + np.arange(size)
        columns = place  # where the columns of L go; c is still read while they are written
        owned = [(start, size)]
        if gain:
            owned.append((self.allocate(size), size))
            columns = place + (owned[1][0] - start)
        for k in range(n - 1):
            emitter = Emitter(scratch)
            below, r, s, new, L = column(emitter, A, k, gain)
            if not below.size:
                continue
            target, A[below, k] = place[r, s], L
            new = self._unshared(emitter, new, L)
            op, a, b = (np.concatenate(x) for x in (emitter.op, emitter.a, emitter.b))
            # results move from scratch to their own place: last operation that wrote each
            home = np.arange(scratch, scratch + emitter.count)
            moved = np.abs(new) >= scratch
            moved &= np.abs(new) < scratch + emitter.count
            home[np.abs(new[moved]) - scratch] = target[moved]
            A[r, s] = np.where(moved, np.sign(new) * target, new)
            if gain:
                inside = np.abs(L) >= scratch
                renamed = columns[below[inside], k]
                home[np.abs(L[inside]) - scratch] = renamed
                A[below[inside], k] = np.sign(L[inside]) * renamed
            a, b = (self._renamed(x, home, scratch) for x in (a, b))
            self.append(op, home, a, b, i.info[k] if i.info else i.step)
            if self.pending >= CHUNK:
                yield self.flush()
        self.values[i.out], self.pattern[i.out] = A, self.number(A)
        self.own(i.out, (*owned, *self.all_regions([ref for ref in i.args if ref is not None])))
        self.free[room].append(scratch)

    @staticmethod
    def _unshared(emitter: Emitter, new: Scalars, column: Scalars) -> Scalars:
        """Copy (x + 0) results that stand for two entries, or also for one of L's column.

        A factor c/d times an entry 1 is such a result; but each entry needs a slot of its own.
        """
        slots = np.abs(new)
        first = np.zeros(len(new), dtype=bool)
        first[np.unique(slots, return_index=True)[1]] = True
        shared = (slots >= emitter.first) & (slots < emitter.first + emitter.count)
        shared &= ~first | np.isin(slots, np.abs(column))
        if shared.any():
            x = new[shared]
            copies = emitter.copy(x)
            new = new.copy()
            new[shared] = np.sign(x) * copies
        return new

    @staticmethod
    def _renamed(x: NDArray, home: Scalars, scratch: int) -> Scalars:
        inside = (x >= scratch) & (x < scratch + len(home))
        out = x.copy()
        out[inside] = home[x[inside] - scratch]
        return out

    def append(self, op: NDArray, dst: Scalars, a: Scalars, b: Scalars, step: int) -> None:
        self.parts.append((op, dst, a, b))
        self.steps.append(step)
        self.pending += len(op)
        self.written += len(op)
        if self.written > LIMIT:
            raise SizeError(
                f"order {self.program.name!r}: needs more than {LIMIT:.0e} operations "
                "on this tree; use an order with less fill, such as abm"
            )

    def flush(self) -> Chunk:
        op, dst, a, b = (np.concatenate(column) for column in zip(*self.parts, strict=True))
        step = np.repeat(self.steps, [len(part[0]) for part in self.parts])
        self.parts, self.steps, self.pending = [], [], 0
        return Chunk(op, *(x.astype(np.int32) for x in (dst, a, b, step)))
