"""Any order in float64: the block program of a whole tree, written as rows and played once.

Orders that go body by body run through templates of machine code (:mod:`.template`).  Every other
order is traced as for a tape, on the whole tree, and its block program (:mod:`kkt.program`) is
written as rows of integers, one an instruction, for the block kernels (:mod:`.block_kernels`).
These do a tape's operations in the order of its sums on dense blocks, so that the bits are those of
``kkt.eliminate``, but for the sign of zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import njit
from ..base.errors import OrderError, SingularError, SizeError
from ..matrix.system import System
from ..order.pivots import Plan, plan
from ..program.program import Instruction, PivotRecord, Program, Ref
from ..program.tracer import program_of
from ..structure.symbolic import symbolic
from . import block_kernels as kernels
from .large import LargeSolution, body_by_body, trusted
from .plan import Bodies, bodywise

MOST_BODIES = 20_000  # traced in a minute or two, at some 1 kB an instruction
MOST_BLOCKS = 300_000  # of a factor: those of crbm on a chain of 540 bodies
LETTERS = ("M", "Phi", "H", "a", "b", "tau", "A")
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """The block program of an order on a tree, for all systems of one structure."""

    plan: Plan
    code: Integers  # (operations, kernels.WIDTH)
    room: int  # numbers that it works on at a time
    pivots: tuple[PivotRecord, ...]


def analyse(chosen: Plan) -> Rows | Bodies:
    """What all solutions of a plan share; :func:`kkt.solve_large` takes it in place of the order.

    It is :class:`.plan.Bodies` for an order that goes body by body, and :class:`Rows` for any
    other.  Raises OrderError for rotations, and SizeError for a tree or a factor that is too large.
    """
    own = bodywise(chosen)
    return rows_of(chosen) if own is None else own


def rows_of(chosen: Plan) -> Rows:
    """The rows of a plan; composites stay 6 x 6 blocks, whatever the order says of them."""
    sequence = chosen.sequence
    if sequence.rules.elimination != "gauss":
        raise OrderError(
            f"order {sequence.name!r}: eliminates by rotations, which are no block operations; "
            "kkt.eliminate runs it"
        )
    instead = (
        "use abm, or another order that goes body by body, or factor equation (4) by a sparse solver "
        "in the sequence of kkt.permutation(system, order)"
    )
    if chosen.graph.structure.n > MOST_BODIES:
        raise SizeError(
            f"order {sequence.name!r}: does not go body by body, and such an order may have "
            f"{MOST_BODIES:,} bodies, not {chosen.graph.structure.n:,}; {instead}"
        )
    factor = symbolic(replace(chosen, sequence=replace(sequence, composites="counted")), most=MOST_BLOCKS)
    program = program_of(factor)
    writer = _Writer(program)
    return Rows(chosen, writer.code(), writer.top, program.pivots)


def solve_in_order(system: System, order: Any) -> LargeSolution:
    """Factor and solve (4) in an order, a plan or an analysis; see :func:`kkt.solve_large`."""
    system.structure.require_tree("solve_large", "use kkt.eliminate, which takes it")
    if not isinstance(order, Rows | Bodies):
        order = _kept(system, order if isinstance(order, Plan) else plan(order, system.structure))
    if isinstance(order, Bodies):
        order.require_tree_of(system.tree)
        return body_by_body(system, order)
    rows, sequence = order, order.plan.sequence
    own, same = rows.plan.graph.structure, system.structure.with_links(sequence.links)
    if not (np.array_equal(own.parent, same.parent) and np.array_equal(own.dof, same.dof)):
        raise OrderError(f"order {sequence.name!r}: is a plan of another tree; make it of this structure")
    return trusted(system, sequence.name, lambda given: _solved(given, rows), False)


def _kept(system: System, chosen: Plan) -> Rows | Bodies:
    """The analysis of a plan, made once for all states of a system."""
    own = repr((chosen.sequence.name, chosen.sequence.rules, chosen.sequence.links)).encode()
    key = "rows " + blake2b(own + chosen.blocks.tobytes() + chosen.group.tobytes()).hexdigest()
    if key not in system.plans:
        system.plans[key] = analyse(chosen)
    found: Rows | Bodies = system.plans[key]
    return found


def _solved(system: System, rows: Rows) -> LargeSolution:
    """The solution of a system; raises SingularError where a pivot is zero or not a number."""
    e, tree = system.entries, system.tree
    turned = pivot_rows_of(tree.offset, e.S) if rows.plan.graph.split else np.zeros(tree.n, dtype=np.int64)
    x, n, N = np.zeros(12 * tree.n + len(e.tau)), tree.n, len(e.tau)
    M, Phi, S, a, b, tau, A = (
        np.ascontiguousarray(it).ravel() for it in (e.M, e.Phi, e.S, e.a, e.b, e.tau, e.A)
    )
    numbers = kernels.Stored(M, Phi, S, a, b, tau, A, tree.offset.astype(np.int64), turned, x)
    factor, row = kernels.run(rows.code, numbers, np.empty(rows.room))
    if factor >= 0:
        wrong = next(r for r in rows.pivots if r.factor == factor and r.rows[0] <= row < r.rows[1])
        raise SingularError(
            f"order {rows.plan.sequence.name!r}: pivot {wrong.blocks[0]} at step {wrong.step + 1} is "
            "zero or not a number for these numbers; give the massless links an inertia, or use an "
            "order that pairs pdd with f, such as abm"
        )
    pdd, qdd, f = np.split(x, [6 * n, 6 * n + N])
    return LargeSolution(system, qdd, pdd.reshape(n, 6), f.reshape(n, 6))


class _Writer:
    """Writes a program's instructions as rows of integers, as in :mod:`.block_kernels`."""

    def __init__(self, program: Program) -> None:
        self.program, self.shapes = program, program.shapes
        self.rows: list[list[int]] = []
        self.place: dict[int, int] = {}  # of a value in the room
        self.free: dict[int, list[int]] = {}  # places that are not used any more, by their size
        self.top = 0
        self.body_of = {i.out: i.info[1] for i in program.instructions if i.op == "input"}

    def code(self) -> Integers:
        """(operations, kernels.WIDTH) the rows; values whose last reader is written make room."""
        program = self.program
        live = program.live(("pdd", "qdd", "f"))
        instructions = [i for i, wanted in zip(program.instructions, live, strict=True) if wanted]
        last = {ref.value: at for at, i in enumerate(instructions) for ref in i.present}
        found = {ref.value for ref in program.solution.values()}
        for at, i in enumerate(instructions):
            self.write(i)
            for value in {ref.value for ref in i.present} | {i.out}:
                if last.get(value, at) == at and value not in found:
                    self.free.setdefault(self.size(value), []).append(self.place[value])
        start = 0
        for kind in ("pdd", "qdd", "f"):
            for block, ref in program.solution.items():
                if block.kind == kind:
                    shape = self.shape(ref)
                    self.row(kernels.FOUND, start, *shape, *self.operand(ref))
                    start += shape[0]
        code = np.zeros((len(self.rows), kernels.WIDTH), dtype=np.int64)
        for at, row in enumerate(self.rows):
            code[at, : len(row)] = row
        return code

    def size(self, value: int) -> int:
        rows, columns = self.shapes[value]
        return rows * columns

    def shape(self, ref: Ref) -> tuple[int, int]:
        rows, columns = self.shapes[ref.value]
        return (columns, rows) if ref.transposed else (rows, columns)

    def new(self, value: int) -> int:
        spare = self.free.get(self.size(value))
        if spare:
            self.place[value] = spare.pop()
        else:
            self.place[value], self.top = self.top, self.top + self.size(value)
        return self.place[value]

    def operand(self, ref: Ref) -> tuple[int, int, int]:
        """Twice the block's place, plus 1 if negative; steps to its next row and column."""
        columns = self.shapes[ref.value][1]
        steps = (1, columns) if ref.transposed else (columns, 1)
        return (self.place[ref.value] * 2 + (ref.sign < 0), *steps)

    def row(self, op: int, *numbers: int) -> None:
        self.rows.append([op, *map(int, numbers)])

    def write(self, i: Instruction) -> None:
        """The rows of one instruction."""
        operands = [x for ref in i.present for x in self.operand(ref)]
        out = (self.new(i.out), *self.shapes[i.out])
        if i.op == "input":
            letter, body = i.info
            self.row(kernels.ENTRY + LETTERS.index(letter), *out, body)
        elif i.op in ("stack", "square"):
            self.assemble(i, *out)
        else:
            self.row(self.code_of(i), *out, *operands, *self.further(i))

    def code_of(self, i: Instruction) -> int:
        if i.op == "factor" and self.program.gain:
            return kernels.FACTOR_GAIN
        if i.op in ("mul", "inner") and i.symmetric:
            return {"mul": kernels.MUL_SYMMETRIC, "inner": kernels.INNER_SYMMETRIC}[i.op]
        return kernels.OF[i.op]

    def further(self, i: Instruction) -> Iterator[int]:
        """What a row holds after its operands."""
        if i.op == "mul":
            yield self.shape(i.present[0])[1]
        elif i.op == "inner":
            yield self.shape(i.present[0])[0]
        elif i.op in ("rows", "divide"):
            yield i.info[0]
        elif i.op == "factor":
            yield i.out
        elif i.op in ("forward", "solve"):
            yield self.program.gain
        elif i.op in ("along", "across"):
            yield self.body_of[i.present[0].value]

    def assemble(self, i: Instruction, out: int, rows: int, columns: int) -> None:
        """Rows that set zeros, copy every block to its place and, for a square, mirror it."""
        self.row(kernels.ZERO, out, rows, columns)
        at = np.concatenate([[0], np.cumsum(i.info[0])]).tolist()
        many = len(i.info[0])
        cells = [(r, c) for r in range(many) for c in range(r, many)]
        if i.op == "stack":
            cells = [(r, 0) for r in range(many)]
        for (r, c), ref in zip(cells, i.args, strict=True):
            if ref is not None:
                here = out + at[r] * columns + at[c]
                self.row(kernels.PUT, here, *self.shape(ref), *self.operand(ref), columns)
        if i.op == "square":
            self.row(kernels.MIRROR, out, rows, columns, 2 * out, columns, 1)


def pivot_rows_of(offset: Integers, S: NDArray[Any]) -> NDArray[np.int64]:
    """(n,) for each body a word of the rows of S that a split of its forces solves for."""
    words = np.zeros(len(offset) - 1, dtype=np.int64)
    _rows(offset, S, words)
    return words


@njit(cache=True)
def _rows(offset, S, word):  # pragma: no cover
    """Fill ``word`` (n,) with pivot rows of S, those of :func:`kkt.tape.inputs.pivot_rows`."""
    A = np.empty((6, 6))
    for k in range(len(word)):
        dof = offset[k + 1] - offset[k]
        for j in range(dof):
            for i in range(6):
                A[i, j] = S[offset[k] + j, i]
        for j in range(dof):
            row = 0
            for i in range(1, 6):
                if abs(A[i, j]) > abs(A[row, j]):
                    row = i
            word[k] |= (row + 1) << (3 * j)
            pivot = A[row, j]
            column = A[:, j].copy()
            for m in range(dof):
                ratio = A[row, m] / pivot
                for i in range(6):
                    A[i, m] -= column[i] * ratio
            A[row, :dof] = 0.0
