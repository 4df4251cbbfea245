"""The block program: what an elimination does, as straight-line instructions on named blocks.

A program depends on the tree and the sequence of pivots only, never on a number.  It is built by
:mod:`kkt.program.tracer` and read by the tape, the listing and the proofs.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import loop
from ..matrix.blocks import Block
from ..structure.symbolic import SymbolicFactor

_new = tuple.__new__  # of a named tuple: in half the time of its own constructor
Places = NDArray[np.int64]


class Ref(int):
    """A use of a value, as arrays take it: 4 times its number, + 1 if transposed, + 2 with the other sign."""

    __slots__ = ()

    @property
    def value(self) -> int:
        return self >> 2

    @property
    def transposed(self) -> bool:
        return bool(self & 1)

    @property
    def sign(self) -> int:
        return 1 - (self & 2)

    @property
    def T(self) -> Ref:
        return Ref(self ^ 1)

    def __neg__(self) -> Ref:
        return Ref(self ^ 2)

    def used_as(self, other: Ref) -> Ref:
        """Transposed, and with the other sign, where the other one is."""
        return Ref(self ^ (other & 3))

    def __bool__(self) -> bool:  # of the first value, too
        return True


class Instruction(NamedTuple):
    """``out = op(args)``.  Values are numbered in the order in which they are made.

    ==========  =============================================================================
    input       a block of (4): info = (letter, body); letters M H Phi a b tau A; of loops, info =
                ("G", side) and (gamma or compliance, loop); in a residual also the unknowns pdd
                qdd f lam, and their corrections dpdd dqdd df dlam; other
                numbers, and more right-hand sides, are ("beside", number of the block)
    eye         the identity; info = size
    same        A under a name of its own, in programs that are read as formulas
    mul         A B; with ``symmetric`` the upper triangle is formed and mirrored
    add         A + B (signs are in the references)
    factor      A = L D L^T without pivoting; the pivots D_k of the paper stand on its diagonal;
                info = group of each row, where several groups are factored at once
    forward     L^-1 C for a factor
    solve       A^-1 C for a factor
    inner       Y1^T D^-1 Y2 for a factor and two results of ``forward``; (c c^T)/d for one row
    stack       blocks one above another; info = (rows, columns), None for a zero block
    rows        info = (first, last), last None for the end
    square      a symmetric matrix from the blocks of its upper triangle; info = sizes
    mirror      the upper triangle, mirrored
    along       S -> B, a basis of joint forces with H B = 1
    across      S -> C, a basis of constraint forces with H C = 0
    divide      A / info, info a whole number
    shift       Phi M Phi^T of a rigid inertia, by ten numbers
    join        the sum of two rigid inertias, by ten numbers
    centred     M -> a rigid inertia as [[E, c~], [-c~, m 1]], about its centre of mass
    carried     the same in the parent's frame, of Phi and such a block
    met         two such blocks as one body
    about_joint such a block -> M
    basis       S -> [S E], E the identity beside the rows that ``along`` uses
    weigh       K, u -> rows [D R, R^-T u, D] of K = R^T D R; info = (N, body)
    unweighed   the entries of u in rows without weight
    rotate      such rows, and G, z, w of one set of weighted rows after another -> unit rows
                [r, z, w], the N pivot rows first; rows that are zero are left out; info = (N,)
    pivot       the N pivot rows -> the factor L D L^T of D_k
    weight      w_i v_i, row by row
    back        L^-T (D^-1 y - r) for a factor
    cross       of a motion u, the matrix u x for motions; with info = ("force",) of a force f,
                the matrix from a motion v to v x* f
    ==========  =============================================================================
    """

    op: str
    out: int
    args: tuple[Ref | None, ...]
    step: int  # group that it belongs to, -1 for what precedes the elimination
    symmetric: bool = False
    info: tuple[Any, ...] = ()

    @property
    def present(self) -> tuple[Ref, ...]:
        """The operands that are no block of zeros."""
        return tuple(ref for ref in self.args if ref is not None)


class Place(NamedTuple):
    """Where in the elimination an instruction stands: what it works on, and in whose pivot."""

    label: str  # entry, pivot, update, half, right, x and so on
    blocks: tuple[int, ...] = ()  # numbers in the block graph; -1 for the right-hand side
    pivot: int = -1  # base pivot that is at work, as a number of ``Program.pivots``
    back: bool = False  # in the backward pass


class PivotRecord(NamedTuple):
    """One base pivot of the sequence, in the order of elimination."""

    blocks: tuple[Block, ...]
    step: int  # group
    pair: bool  # used through the exact inverse [[0, 1], [1, -X]]
    factor: int  # value of the factor, -1 for a pair
    rows: tuple[int, int] = (0, 0)  # of the factor that belong to these blocks


@dataclass(frozen=True)
class Program:
    """Instructions in order, with their results."""

    name: str  # of the sequence
    gain: bool  # updates (c/d) c^T instead of (c c^T)/d
    groups: int  # steps
    symbolic: SymbolicFactor | None  # None for a substitution, which fills nothing
    instructions: tuple[Instruction, ...]
    shapes: tuple[tuple[int, int], ...]  # (rows, columns) of each value
    pivots: tuple[PivotRecord, ...]
    solution: dict[Block, Ref]  # pdd, qdd and f of every body of the tree, lam of every loop
    inertia: Ref | None  # joint-space inertia, where the last pivots are all the qdd, then lam
    inertia_bodies: tuple[Hashable, ...]  # bodies of its rows
    places: tuple[Place, ...] = ()  # of each instruction, for who reads the program as formulas
    composites: str = "counted"  # or as said, see :mod:`.tracer`
    # solutions for more right-hand sides, (rows, columns) each: see :mod:`.columns`
    columns: tuple[dict[Block, Ref], ...] = ()

    @property
    def factor(self) -> SymbolicFactor:
        """The symbolic factor, of a program that is no substitution."""
        assert self.symbolic is not None
        return self.symbolic

    @cached_property
    def kept(self) -> NDArray[np.bool_]:
        """(instructions,) those that a tape has: of the whole solution, columns too."""
        return self.live(("pdd", "qdd", "f", "lam", "x"), columns=True)

    def live(self, kinds: tuple[str, ...], columns: bool = False) -> NDArray[np.bool_]:
        """(instructions,) those that the solution's blocks of these kinds need.

        With ``columns``, those that the solutions for more right-hand sides need as well.
        """
        wanted = np.zeros(len(self.shapes), dtype=bool)
        for block, ref in self.solution.items():
            if block.kind in kinds:
                wanted[ref.value] = True
        for column in self.columns if columns else ():
            wanted[[ref.value for ref in column.values()]] = True
        for record in self.pivots:
            if record.factor >= 0:
                wanted[record.factor] = True
        keep, operands = np.zeros(len(self.instructions), dtype=bool), self.operands
        needed(keep, wanted, *operands)
        return keep

    @cached_property
    def operands(self) -> Operands:
        """The operands of all instructions, as arrays."""
        args = [*map(attrgetter("args"), self.instructions)]
        refs = [ref for ref in chain.from_iterable(args) if ref is not None]
        counts = np.fromiter(map(len, args), np.int64, len(args))
        if counts.sum() > len(refs):  # blocks of zeros among them
            counts -= np.fromiter((found.count(None) for found in args), np.int64, len(args))
        out = np.fromiter(map(attrgetter("out"), self.instructions), np.int64, len(args))
        first = np.concatenate([[0], np.cumsum(counts)])
        return Operands(out, first, np.array(array("q", refs)))


class Operands(NamedTuple):
    """Instructions' results, and where among the references theirs begin."""

    out: NDArray[np.int64]
    first: NDArray[np.int64]  # (instructions + 1,)
    refs: NDArray[np.int64]


@loop(few=2_000)
def needed(
    keep: NDArray[np.bool_], wanted: NDArray[np.bool_], out: Places, first: Places, refs: Places
) -> None:  # pragma: no cover
    """``keep`` (instructions,) those that make ``wanted`` values, or what these are made of."""
    for i in range(len(out) - 1, -1, -1):
        if wanted[out[i]]:
            keep[i] = True
            for ref in refs[first[i] : first[i + 1]]:
                wanted[ref >> 2] = True


# -- writing --------------------------------------------------------------------------------------


class Writer:
    """Collects the instructions of a program; every method returns a reference or None for 0."""

    def __init__(self, apart: bool = False, mirrors: bool = True) -> None:
        self.apart = apart  # every assembled entry and unknown is a value of its own: see ``named``
        self.mirrors = mirrors  # a symmetric result is its upper triangle twice; else both are formed
        self.place: Place = Place("input")
        self.pivot = -1
        self.back = False
        self.places: list[Place] = []
        self.instructions: list[Instruction] = []
        self.shapes: list[tuple[int, int]] = []
        self.step = -1
        self._inputs: dict[tuple[Any, ...], Ref] = {}
        self._eyes: set[int] = set()
        self._symmetric: set[int] = set()

    @classmethod
    def after(cls, program: Program) -> Writer:
        """A writer that goes on where a program ends."""
        w = cls()
        w.instructions, w.shapes = list(program.instructions), list(program.shapes)
        w.places = list(program.places)
        for i in program.instructions:
            if i.symmetric:
                w._symmetric.add(i.out)
            if i.op == "eye":
                w._eyes.add(i.out)
            if i.op in ("input", "eye"):
                w._inputs[i.info if i.op == "input" else ("eye", *i.info)] = Ref(4 * i.out)
        return w

    def emit(
        self,
        op: str,
        args: tuple[Ref | None, ...],
        shape: tuple[int, int],
        symmetric: bool = False,
        info: tuple[Any, ...] = (),
    ) -> Ref:
        """An instruction as it stands; the methods below leave out those that do nothing."""
        out = len(self.shapes)
        self.shapes.append(shape)
        self.instructions.append(_new(Instruction, (op, out, args, self.step, symmetric, info)))
        self.places.append(self.place)
        if symmetric:
            self._symmetric.add(out)
        return Ref(4 * out)

    def program(self, name: str, solution: Mapping[Block, Ref | None], groups: int = 1) -> Program:
        """What was written, for these unknowns, without those that are zero; pivots are added by others."""
        found = {block: ref for block, ref in solution.items() if ref is not None}
        written = tuple(self.instructions), tuple(self.shapes)
        return Program(name, False, groups, None, *written, (), found, None, (), tuple(self.places))

    def at(self, label: str, *blocks: int) -> Self:
        """This writer, at the place of what it writes from here on: what a formula is called."""
        self.place = _new(Place, (label, blocks, self.pivot, self.back))
        return self

    @contextmanager
    def within(self, label: str, *blocks: int) -> Iterator[None]:
        """A place for some instructions; those after them have the earlier place again."""
        before = self.place
        self.at(label, *blocks)
        try:
            yield
        finally:
            self.place = before

    def named(self, ref: Ref | None, label: str, *blocks: int) -> Ref | None:
        """The same value; where values are kept ``apart``, a new one at this place."""
        if ref is None or not self.apart or ref.value in self._eyes:
            return ref
        with self.within(label, *blocks):
            return self.emit("same", (ref,), self.shape(ref), ref.value in self._symmetric)

    def shape(self, ref: Ref) -> tuple[int, int]:
        shape = self.shapes[ref >> 2]
        return shape[::-1] if ref & 1 else shape

    # -- leaves -------------------------------------------------------------------------------

    def input(self, letter: str, body: int, shape: tuple[int, int]) -> Ref:
        """A block of (4): of a body or a constraint; for G, of one side of a constraint."""
        key = (letter, body)
        if key not in self._inputs:
            symmetric = letter in ("M", "A", "compliance")
            self._inputs[key] = self.emit("input", (), shape, symmetric, key)
        return self._inputs[key]

    def eye(self, size: int) -> Ref:
        key = ("eye", size)
        if key not in self._inputs:
            self._inputs[key] = self.emit("eye", (), (size, size), True, (size,))
            self._eyes.add(self._inputs[key].value)
        return self._inputs[key]

    # -- free of arithmetic -------------------------------------------------------------------

    def t(self, ref: Ref | None) -> Ref | None:
        return None if ref is None else self.t_of(ref)

    def t_of(self, ref: Ref) -> Ref:
        return ref if ref >> 2 in self._symmetric else Ref(ref ^ 1)  # ref.T, without its call

    def neg(self, ref: Ref | None) -> Ref | None:
        return None if ref is None else Ref(ref ^ 2)

    def mirror(self, ref: Ref | None) -> Ref | None:
        if ref is None or ref.value in self._symmetric or not self.mirrors:
            return ref
        return self.emit("mirror", (ref,), self.shape(ref), True)

    def stack(self, refs: list[Ref | None], sizes: list[int], columns: int) -> Ref | None:
        """Blocks one above another; None where all of them are zero."""
        if all(ref is None for ref in refs):
            return None
        if len(refs) == 1:
            return refs[0]
        return self.emit("stack", tuple(refs), (sum(sizes), columns), info=(tuple(sizes),))

    def square(self, blocks: list[list[Ref | None]], sizes: list[int]) -> Ref:
        """A symmetric matrix from its blocks, of which the upper triangle is used."""
        if len(sizes) == 1:
            assert blocks[0][0] is not None
            return blocks[0][0]
        refs = tuple(blocks[i][j] for i in range(len(sizes)) for j in range(i, len(sizes)))
        size = sum(sizes)
        return self.emit("square", refs, (size, size), True, (tuple(sizes),))

    def rows(self, ref: Ref | None, first: int, last: int | None) -> Ref | None:
        """Rows first to last, not included; to the end where ``last`` is None."""
        if ref is None or (first, last) == (0, self.shape(ref)[0]):
            return ref
        rows, columns = self.shape(ref)
        size = (rows if last is None else last) - first
        return self.emit("rows", (ref,), (size, columns), info=(first, last))

    # -- arithmetic ---------------------------------------------------------------------------

    def mul(self, a: Ref | None, b: Ref | None, symmetric: bool = False) -> Ref | None:
        if a is None or b is None:
            return None
        if a >> 2 in self._eyes:
            return b if a.sign > 0 else -b
        if b >> 2 in self._eyes:
            return a if b.sign > 0 else -a
        shape = self.shapes[a >> 2][a & 1], self.shapes[b >> 2][~b & 1]
        return self.emit("mul", (a, b), shape, symmetric and self.mirrors)

    def add(self, a: Ref | None, b: Ref | None) -> Ref | None:
        if a is None or b is None:
            return b if a is None else a
        symmetric = a >> 2 in self._symmetric and b >> 2 in self._symmetric
        return self.emit("add", (a, b), self.shape(a), symmetric)

    def sub(self, a: Ref | None, b: Ref | None) -> Ref | None:
        return self.add(a, self.neg(b))

    def divide(self, a: Ref, by: int) -> Ref:
        return self.emit("divide", (a,), self.shape(a), a.value in self._symmetric, (by,))

    def factor(self, a: Ref, steps: tuple[int, ...]) -> Ref:
        """``steps``: group of each row; one group needs no list."""
        info = steps if len(set(steps)) > 1 else ()
        return self.emit("factor", (a,), self.shape(a), info=info)

    def forward(self, factor: Ref, c: Ref | None) -> Ref | None:
        if c is None or (self.shapes[factor.value][0] == 1 and not self.apart):
            return c
        return self.emit("forward", (factor, c), self.shape(c))

    def solve(self, factor: Ref, c: Ref | None) -> Ref | None:
        return None if c is None else self.emit("solve", (factor, c), self.shape(c))

    def inner(self, factor: Ref, y1: Ref | None, y2: Ref | None, symmetric: bool = False) -> Ref | None:
        if y1 is None or y2 is None:
            return None
        shape = (self.shape(y1)[1], self.shape(y2)[1])
        return self.emit("inner", (factor, y1, y2), shape, symmetric and self.mirrors)
