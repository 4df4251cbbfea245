"""Templates: what a block operation becomes in scalars, by the patterns of its operands alone.

A pattern says of each entry of a block whether it is zero, one, minus one, or plus or minus a slot.
An operation on blocks of known patterns is written once, on local slots, and copied ever after
(:mod:`.lowering`).  Patterns are found without a slot, so that counts need nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..program.program import Instruction, Program, Ref
from . import operations
from .emit import Emitter, Scalars, column
from .inputs import InputSlots

SHARED = 128  # entries of operands up to which templates are kept for other tapes
LARGEST = 24  # rows of a factor that is a template; a larger one is written in place


class Template(NamedTuple):
    """One block operation on local slots: 0, 1, then the operands' entries, then results."""

    op: NDArray[np.int8]
    a: Scalars
    b: Scalars
    out: Scalars  # signed local slot of each entry of the result
    first: int  # local slot of the first operation's result
    passed: Scalars  # local slots of operands' entries that the result holds unchanged
    renames: bool  # whether the result only renames operands' entries


@lru_cache(maxsize=4096)
def _template(
    op: str,
    symmetric: bool,
    info: tuple,
    gain: bool,
    present: tuple[bool, ...],
    blocks: tuple[tuple[tuple, bytes], ...],
) -> Template:
    """An operation on blocks, each given as the shape and bytes of its pattern.

    ``present`` are the arguments that are no blocks of zeros.
    """
    local, start = [], 2
    for shape, content in blocks:
        local.append(_local(np.frombuffer(content, np.int8).reshape(shape), start))
        start += local[-1].size
    numbers = iter(range(len(blocks)))
    args = tuple(Ref(next(numbers)) if there else None for there in present)
    columns = blocks[0][0][1] if blocks else 0

    def take(ref: Ref | None) -> Scalars:
        assert ref is not None
        return local[ref.value]

    emitter = Emitter(start)
    renamed = operations.arranged(Instruction(op, -1, args, -1, symmetric, info), take, columns)
    out = operations.emitted(emitter, op, symmetric, local, info, gain) if renamed is None else renamed
    slots = np.abs(out)
    none = np.zeros(0, dtype=np.int64)
    return Template(
        np.concatenate([none.astype(np.int8), *emitter.op]),
        np.concatenate([none, *emitter.a]),
        np.concatenate([none, *emitter.b]),
        out,
        start,
        np.unique(slots[(slots > 1) & (slots < start)]),
        renamed is not None,
    )


def _local(codes: NDArray[np.int8], start: int) -> Scalars:
    """A pattern as signed scalars, whose slots follow each other."""
    whole = codes.astype(np.int64)
    slots = start + np.arange(codes.size).reshape(codes.shape)
    return np.where(np.abs(whole) <= 1, whole, np.sign(whole) * slots)


def large_factor(
    A: Scalars, place: Scalars, columns: Scalars, scratch: int, gain: bool
) -> Iterator[tuple[int, NDArray, Scalars, Scalars, Scalars]]:
    """L D L^T of A (n, n) in place, column by column: n^2 slots for n^3/3 operations.

    Entry (i, j) is kept in slot ``place[i, j]``, and of L in ``columns[i, j]``, since the column c
    is still read while L is written.  Results are first numbered from ``scratch`` on.  Yields for
    each column its number and its operations; A holds the factor at the end.
    """
    for k in range(len(A) - 1):
        emitter = Emitter(scratch)
        below, r, s, new, L = column(emitter, A, k, gain)
        if not below.size:
            continue
        target, A[below, k] = place[r, s], L
        new = _unshared(emitter, new, L)
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
        yield k, op, home, _moved(a, home, scratch), _moved(b, home, scratch)


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


def _moved(x: NDArray, home: Scalars, scratch: int) -> Scalars:
    inside = (x >= scratch) & (x < scratch + len(home))
    out = x.copy()
    out[inside] = home[x[inside] - scratch]
    return out


class Patterns:
    """The pattern of each value of a program, and the template of each instruction.

    Instructions are given to :meth:`meet` in the program's order.
    """

    def __init__(self, program: Program, inputs: InputSlots) -> None:
        self.program, self.inputs = program, inputs
        self.templates: list[Template] = []
        self.pattern = [-1] * len(program.shapes)  # of each value: number of an entry of ``codes``
        self.codes: list[NDArray[np.int8]] = []  # 0, +-1, and +-2 for slots
        self._met: dict[tuple, tuple[int, int]] = {}  # number of a template, pattern of its result
        self._known: dict[tuple, int] = {}
        self._variants: dict[tuple[int, bool, int], int] = {}
        self._whole = self.number(np.full((1, 1), 2))  # a whole number that an instruction divides by

    def share(self, other: Patterns) -> None:
        """Take over what another program's instructions were written to, for the same robot."""
        self.templates, self.codes, self._met = other.templates, other.codes, other._met
        self._known, self._variants = other._known, other._variants

    def number(self, scalars: Scalars) -> int:
        """The pattern of zeros, ones and signs of a block, as a number."""
        codes = np.minimum(np.maximum(scalars, -2), 2).astype(np.int8)
        key = (codes.shape, codes.tobytes())
        if key not in self._known:
            self._known[key] = len(self.codes)
            self.codes.append(codes)
        return self._known[key]

    def variant(self, ref: Ref) -> int:
        """The pattern of a reference: transposed, negated."""
        own = self.pattern[ref.value]
        if not ref.transposed and ref.sign > 0:
            return own
        key = (own, ref.transposed, ref.sign)
        if key not in self._variants:
            codes = self.codes[own].T if ref.transposed else self.codes[own]
            self._variants[key] = self.number(codes.astype(np.int64) * ref.sign)
        return self._variants[key]

    def is_large(self, i: Instruction) -> bool:
        """Whether an instruction is a factor that :func:`large_factor` writes."""
        return i.op == "factor" and bool(i.info or self.program.shapes[i.out][0] > LARGEST)

    def meet(self, i: Instruction) -> int:
        """The number of an instruction's template, -1 for an input; keeps the result's pattern."""
        if i.op == "input":
            self.pattern[i.out] = self.number(self.inputs.block(*i.info))
            return -1
        patterns = [self.variant(ref) for ref in i.args if ref is not None]
        if i.op == "divide":
            patterns.append(self._whole)
        key = (i.op, i.symmetric, self._info(i), *patterns)
        if i.op in ("stack", "square"):  # which blocks are there
            key = (*key, *(ref is None for ref in i.args))
        met = self._met.get(key)
        if met is None:
            met = self._met[key] = self._new(i, patterns)
        number, self.pattern[i.out] = met
        return number

    def walk(self, keep: NDArray[np.bool_]) -> Iterator[tuple[int, Template | None, list[int]]]:
        """The instructions to ``keep``: place, template, and operations, of a large factor by row.

        Inputs and large factors have no template.
        """
        for place in np.flatnonzero(keep).tolist():
            instruction = self.program.instructions[place]
            if self.is_large(instruction):
                yield place, None, self._meet_large(instruction)
                continue
            number = self.meet(instruction)
            template = self.templates[number] if number >= 0 else None
            yield place, template, [len(template.op) if template else 0]

    def _meet_large(self, i: Instruction) -> list[int]:
        (ref,) = i.args
        assert ref is not None
        A = np.tril(_local(self.codes[self.variant(ref)], 2))
        place = 2 + A.size + np.arange(A.size).reshape(A.shape)
        gain, counts = self.program.gain, [0] * len(A)
        for k, op, *_ in large_factor(A, place, place + A.size, 2 + 3 * A.size, gain):
            counts[k] = len(op)
        self.pattern[i.out] = self.number(A)
        return counts

    def _new(self, i: Instruction, patterns: list[int]) -> tuple[int, int]:
        """A template, which tapes share where its blocks are small, and its result's pattern."""
        codes = [self.codes[pattern] for pattern in patterns]
        write = _template if sum(c.size for c in codes) <= SHARED else _template.__wrapped__
        blocks = tuple((c.shape, c.tobytes()) for c in codes)
        present = tuple(ref is not None for ref in i.args)
        self.templates.append(write(i.op, i.symmetric, self._info(i), self.program.gain, present, blocks))
        return len(self.templates) - 1, self.number(self.templates[-1].out)

    def _info(self, i: Instruction) -> tuple:
        """What an operation takes beside its blocks: its own sizes, or rows and columns of a joint."""
        if i.op in ("along", "across", "basis"):
            assert i.args[0] is not None
            return self.inputs.pivot_rows(self._input_body[i.args[0].value])
        if i.op in ("weigh", "rotate"):
            dof, k = i.info
            return (dof, self.inputs.concentric(k), self.inputs.linear_columns(k))
        return i.info if i.op in operations.SIZED else ()

    @cached_property
    def _input_body(self) -> dict[int, int]:
        return {i.out: int(i.info[1]) for i in self.program.instructions if i.op == "input"}
