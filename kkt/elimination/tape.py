"""The tape: the block program lowered to scalar operations, one list for every number type.

Operations are ``op, dst, a, b`` int arrays: ``v[dst] = v[a] op v[b]``.  Slot 0 holds zero, slot 1
one, the next slots the entries of (4).  Slots of values that are no longer needed are used again,
and operations come in chunks, so that a long tape needs little memory.  A block operation whose
operands have the same pattern of zeros, ones and signs is lowered once and then copied.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..blocks import Block
from ..errors import SizeError
from ..system import Entries, Pattern, System
from . import emit
from .emit import Emitter, Scalars
from .program import Instruction, Program, Ref

CHUNK = 1 << 18  # operations in a chunk
KEEP = 60_000_000  # a tape up to this long is kept for the next number type
LIMIT = 2_000_000_000  # a longer one is refused
_CONSTANTS = np.array([0, 1])  # the first two slots of every template


class Chunk(NamedTuple):
    """Consecutive operations of a tape."""

    op: NDArray[np.int8]
    dst: NDArray[np.int32]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    step: NDArray[np.int32]  # group that each operation belongs to, -1 before the first

    def __len__(self) -> int:
        return len(self.op)


class Template(NamedTuple):
    """One block operation on local slots: 0, 1, then the operands' entries, then results."""

    op: NDArray[np.int8]
    a: Scalars
    b: Scalars
    sign: Scalars  # of each entry of the result
    out: Scalars  # its local slot
    pattern: int  # of the result
    passed: Scalars  # local slots of operands' entries that the result holds unchanged


@dataclass
class Tape:
    """Scalar operations of a program on one robot's pattern of zeros and ones."""

    program: Program
    inputs: InputSlots
    slots: int = 0  # length of the value array, known once the tape has been written
    solution: dict[Block, Scalars] = field(default_factory=dict)
    pivots: dict[int, Scalars] = field(default_factory=dict)  # record -> slots of its d's
    inertia: Scalars | None = None
    flops: int = 0  # operations that qdd needs
    length: int = 0  # all operations
    _kept: list[Chunk] | None = None

    def chunks(self) -> Iterator[Chunk]:
        """The operations in order; lowered anew each time where the tape is long."""
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[Chunk] | None = []
        lowering = _Lowering(self)
        for chunk in lowering.run():
            if kept is not None:
                kept.append(chunk)
                if lowering.written > KEEP:
                    kept = None
            yield chunk
        self._kept = kept

    def write(self) -> Tape:
        """Lower the program once, so that slots, solution and flops are known."""
        for _ in self.chunks():
            pass
        return self


@dataclass(frozen=True)
class InputSlots:
    """Where the entries of (4) stand among the slots; a slot for each structural nonzero."""

    pattern: Pattern
    dof: NDArray[np.int64]
    subspaces: tuple[NDArray, ...]  # S_k of the state that the tape is made from
    integers: tuple[int, ...] = ()

    @cached_property
    def offset(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.dof)])

    @cached_property
    def M(self) -> Scalars:
        """(n, 6, 6); one slot for (i, j) and (j, i)."""
        mask = self.pattern.M & np.triu(np.ones((6, 6), dtype=bool))
        out = np.zeros(mask.shape, dtype=np.int64)
        out[mask] = 2 + np.arange(mask.sum())
        return out + np.triu(out, 1).swapaxes(1, 2)

    def _place(self, after: Scalars, mask: NDArray[np.bool_], one: NDArray | None) -> Scalars:
        out = np.zeros(mask.shape, dtype=np.int64)
        free = mask if one is None else mask & ~one
        out[free] = max(int(after.max(initial=1)), 1) + 1 + np.arange(free.sum())
        if one is not None:
            out[one] = 1
        return out

    def _last(self, *arrays: Scalars) -> Scalars:
        return np.array([int(a.max(initial=1)) for a in arrays])

    @cached_property
    def Phi(self) -> Scalars:
        return self._place(self._last(self.M), self.pattern.Phi, self.pattern.Phi_one)

    @cached_property
    def S(self) -> Scalars:
        after = self._last(self.M, self.Phi)
        return self._place(after, self.pattern.S, self.pattern.S_one)

    @cached_property
    def a(self) -> Scalars:
        mask = np.repeat(self.pattern.a[:, None], 6, axis=1)
        return self._place(self._last(self.M, self.Phi, self.S), mask, None)

    @cached_property
    def b(self) -> Scalars:
        mask = np.ones((len(self.dof), 6), dtype=bool)
        return self._place(self._last(self.M, self.Phi, self.S, self.a), mask, None)

    @cached_property
    def tau(self) -> Scalars:
        mask = np.ones(int(self.offset[-1]), dtype=bool)
        return self._place(self._last(self.b), mask, None)

    @cached_property
    def whole(self) -> dict[int, int]:
        """Slots of the whole numbers that pieces of split links divide by."""
        start = int(self._last(self.b, self.tau).max()) + 1
        return {number: start + i for i, number in enumerate(self.integers)}

    @property
    def count(self) -> int:
        """Slots of zero, one and all inputs."""
        return int(self._last(self.b, self.tau).max()) + 1 + len(self.integers)

    def pivot_rows(self, k: int) -> tuple[int, ...]:
        """Rows of S_k that the split of forces solves for: large pivots, in a stable order.

        Chosen once, from the state that the tape is made from; no number type chooses again.
        """
        S = np.array(self.subspaces[k], dtype=float)
        rows: list[int] = []
        for j in range(S.shape[1]):
            row = int(np.argmax(np.abs(S[:, j])))
            rows.append(row)
            S = S - S[:, j : j + 1] * (S[row] / S[row, j])
            S[row] = 0.0
        return tuple(rows)

    def block(self, letter: str, k: int) -> Scalars:
        if letter == "H":
            return self.S[self.offset[k] : self.offset[k + 1]]
        if letter == "tau":
            return self.tau[self.offset[k] : self.offset[k + 1], None]
        array = getattr(self, letter)[k]
        return array if array.ndim == 2 else array[:, None]

    def values(self, entries: Entries) -> tuple[Scalars, NDArray]:
        """Slots and values of the inputs, in the number type of the entries."""
        places, values = [], []
        for letter in ("M", "Phi", "S", "a", "b", "tau"):
            slots = getattr(self, letter)
            if letter == "M":
                slots = np.triu(slots)
            take = slots > 1
            places.append(slots[take])
            values.append(getattr(entries, letter)[take])
        return np.concatenate(places), np.concatenate(values)


def lower(program: Program, system: System) -> Tape:
    """The tape of a program on the structural zeros and ones of one robot."""
    numbers = {i.info[0] for i in program.instructions if i.op == "divide"}
    inputs = InputSlots(system.pattern, system.tree.dof, system.state.S, tuple(sorted(numbers)))
    return Tape(program, inputs).write()


class _Lowering:
    """One pass over the program that writes chunks and hands out slots."""

    def __init__(self, tape: Tape) -> None:
        self.tape, self.program, self.inputs = tape, tape.program, tape.inputs
        self.operations = emit.GAIN if self.program.gain else emit.OUTER
        self.templates: dict[tuple, Template] = {}
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

    def run(self) -> Iterator[Chunk]:
        program, tape = self.program, self.tape
        keep = program.live(("pdd", "qdd", "f"))
        qdd_only = program.live(("qdd",))
        last = self._last_uses(keep)
        factors = defaultdict(list)
        for number, record in enumerate(program.pivots):
            factors[record.factor].append(number)
        flops = 0
        for place, instruction in enumerate(program.instructions):
            if not keep[place]:
                continue
            before = self.written
            if instruction.op == "factor" and (
                instruction.info or program.shapes[instruction.out][0] > 24
            ):
                yield from self.large_factor(instruction)
            else:
                self.lower(instruction)
            if qdd_only[place]:
                flops += self.written - before
            for number in factors.get(instruction.out, ()):
                rows = slice(*program.pivots[number].rows)
                tape.pivots[number] = self.values[instruction.out].diagonal()[rows]
            if program.inertia is not None and instruction.out == program.inertia.value:
                tape.inertia = self.values[instruction.out]
            for value in last.get(place, ()):
                self.release(value)
            if self.pending >= CHUNK:
                yield self.flush()
        if self.pending:
            yield self.flush()
        tape.slots, tape.flops, tape.length = self.top, flops, self.written
        tape.solution = {block: self.take(ref) for block, ref in program.solution.items()}

    def _last_uses(self, keep: NDArray[np.bool_]) -> dict[int, list[int]]:
        """Values to release after each instruction; what comes out of the program stays."""
        last: dict[int, int] = {}
        for place, instruction in enumerate(self.program.instructions):
            if keep[place]:
                last[instruction.out] = place
                for ref in instruction.args:
                    if ref is not None:
                        last[ref.value] = place
        for ref in self.program.solution.values():
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
        if self.top > np.iinfo(np.int32).max:
            raise SizeError("tape: needs more than 2^31 slots; use an order with less fill")
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
        if view is not None:
            self.values[i.out], self.pattern[i.out] = view, self.number(view)
            self.own(i.out, self.all_regions(args))
            return
        operands = [self.take(ref) for ref in args]
        patterns = [self.variant(ref) for ref in args]
        info: tuple = ()
        if i.op in ("along", "across"):
            info = self.inputs.pivot_rows(self.body_of(args[0]))
        elif i.op == "divide":
            operands.append(np.array([[self.inputs.whole[i.info[0]]]]))
            patterns.append(self.number(operands[-1]))
        key = (i.op, i.symmetric, info, *patterns)
        template = self.templates.get(key)
        if template is None:
            codes = [self.codes[pattern] for pattern in patterns]
            template = self.templates[key] = self.template(i, codes, info)
        count = len(template.op)
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
        """Instructions that only rename scalars."""
        if i.op == "input":
            return self.inputs.block(*i.info)
        if i.op == "eye":
            return np.eye(i.info[0], dtype=np.int64)
        if i.op == "mirror":
            return emit.mirrored(self.take(i.args[0]))
        if i.op == "rows":
            return self.take(i.args[0])[i.info[0] : i.info[1]]
        if i.op == "stack":
            columns = self.program.shapes[i.out][1]
            parts = [
                np.zeros((rows, columns), dtype=np.int64) if ref is None else self.take(ref)
                for ref, rows in zip(i.args, i.info[0], strict=True)
            ]
            return np.concatenate(parts)
        if i.op == "square":
            (sizes,) = i.info
            at = np.concatenate([[0], np.cumsum(sizes)])
            out = np.zeros((int(at[-1]),) * 2, dtype=np.int64)
            blocks = iter(i.args)
            for r in range(len(sizes)):
                for c in range(r, len(sizes)):
                    ref = next(blocks)
                    if ref is not None:
                        out[at[r] : at[r + 1], at[c] : at[c + 1]] = self.take(ref)
            return emit.mirrored(out)
        return None

    def template(self, i: Instruction, codes: list[NDArray], info: tuple) -> Template:
        count = sum(c.size for c in codes)
        emitter = Emitter(2 + count)
        local, start = [], 2
        for c in codes:
            slots = (start + np.arange(c.size)).reshape(c.shape)
            local.append(np.where(np.abs(c) <= 1, c, np.sign(c) * slots))
            start += c.size
        if i.op in ("along", "across"):
            out = getattr(emit, i.op)(emitter, local[0], info)
        elif i.op == "divide":
            out = emitter.div(local[0], local[1])
            out = emit.mirrored(out) if i.symmetric else out
        elif i.op in self.operations:
            out = self.operations[i.op](emitter, *local)
        else:
            out = emit.OPERATIONS[i.op, i.symmetric](emitter, *local)
        slots = np.abs(out)
        none = np.zeros(0, dtype=np.int64)
        return Template(
            np.concatenate([none.astype(np.int8), *emitter.op]),
            np.concatenate([none, *emitter.a]),
            np.concatenate([none, *emitter.b]),
            np.sign(out),
            slots,
            self.number(out),
            np.unique(slots[(slots > 1) & (slots < 2 + count)]),
        )

    def large_factor(self, i: Instruction) -> Iterator[Chunk]:
        """L D L^T of a large matrix in place, column by column: n^2 slots for n^3/3 operations."""
        A = np.tril(self.take(i.args[0])).copy()
        n = len(A)
        gain = self.operations is emit.GAIN
        size = n * (n + 1) // 2
        room = (
            3 * size
        )  # a product, a quotient and a difference for each entry of a column's update
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
            below = k + 1 + np.flatnonzero(A[k + 1 :, k])
            if not below.size:
                continue
            r, s = np.tril_indices(len(below))
            c = A[below, k]
            target = place[below[r], below[s]]
            old = A[below[r], below[s]]
            emitter = Emitter(scratch)
            if gain:
                factor = emitter.div(c, A[k, k])
                update = emitter.mul(factor[r], c[s])
                A[below, k] = factor
            else:
                update = emitter.div(emitter.mul(c[r], c[s]), A[k, k])
            new = emitter.sub(old, update)
            op, a, b = (np.concatenate(x) for x in (emitter.op, emitter.a, emitter.b))
            # results move from scratch to their own place: last operation that wrote each
            home = np.arange(scratch, scratch + emitter.count)
            moved = np.abs(new) >= scratch
            moved &= np.abs(new) < scratch + emitter.count
            home[np.abs(new[moved]) - scratch] = target[moved]
            A[below[r], below[s]] = np.where(moved, np.sign(new) * target, new)
            if gain:
                inside = (np.abs(A[below, k]) >= scratch) & (A[below, k] != 0)
                renamed = columns[below[inside], k]
                home[np.abs(A[below, k][inside]) - scratch] = renamed
                A[below[inside], k] = np.sign(A[below[inside], k]) * renamed
            a, b = (self._renamed(x, home, scratch) for x in (a, b))
            self.append(op, home, a, b, i.info[k] if i.info else i.step)
            if self.pending >= CHUNK:
                yield self.flush()
        self.values[i.out], self.pattern[i.out] = A, self.number(A)
        self.own(i.out, (*owned, *self.all_regions([ref for ref in i.args if ref is not None])))
        self.free[room].append(scratch)

    @staticmethod
    def _renamed(x: Scalars, home: Scalars, scratch: int) -> Scalars:
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
