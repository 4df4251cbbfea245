"""The factor of (4), or a matrix of one's own, by an order's pivots: P A P^T = L D L^T, and solves.

A program that is traced for an order holds each pivot, and what it is coupled with when its turn
comes; L and D are read off these.  D has 1 x 1 blocks, and 2 x 2 blocks [[x, 1], [1, 0]] where a pair
(pdd, f) is used through its exact inverse: of a pair's block X the entries beside the diagonal
stand in L as they are, since nothing is divided by a 1.

Solves do not use L.  They play the operations of the order's own substitution that depend on the
right-hand side, in its brackets, on numbers that are kept: a right-hand side has the bits that
:func:`kkt.eliminate` gives it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from ..arithmetic import Format, get_format
from ..arithmetic.formats import Chunk, Hardware, Runner
from ..arithmetic.grids import lanes_native
from ..base.compiled import njit, uncollected
from ..base.errors import FormatError, ModelError, OrderError, SingularError
from ..base.shown import Shown
from ..matrix.blocks import Block
from ..matrix.system import System, require_system
from ..order.sequence import TEN, OrderLike, Plan, as_sequence, plan, unknowns_of
from ..program.bracket import BasePivot, DensePivot, PairPivot
from ..program.columns import ContinuedProgram
from ..program.program import Program, Ref
from ..program.tracer import Tracer
from ..structure.symbolic import symbolic
from ..tape.emit import Scalars
from ..tape.inputs import Given
from ..tape.player import entered, rounded_entries, started
from ..tape.tape import Tape, lower, lowered
from ..tape.trace import structurally_singular, unphysical
from .eliminate import eliminate
from .matrix import NONE, Entering, Matrix, eliminated

Couplings = dict[int, dict[int, Ref]]  # C[o][b]: of a block o outside with a block b of the group
Floats = NDArray[np.floating[Any]]
LANES = 64  # right-hand sides that are played side by side, in a desk that a processor's cache holds


class Group(NamedTuple):
    """Pivots that are eliminated together; each with its couplings to those before it."""

    stages: list[tuple[BasePivot, Couplings]]
    outside: Couplings


class Keeping(Tracer):
    """A tracer that keeps the pivots and couplings that a factor consists of."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.done: list[Group] = []

    def back(self, pivot: BasePivot, C: Couplings, *more: Any) -> None:
        self.done.append(Group([(pivot, {})], C))
        super().back(pivot, C, *more)

    def bracket(self, members: list[tuple[int, ...]], rows: list[int]) -> None:
        super().bracket(members, rows)
        assert self.last is not None
        self.done.append(Group([(stage.pivot, stage.E) for stage in self.last.stages], self.last.C))


class KeepingOwn(Keeping, Entering):
    """The same of a matrix of one's own."""


class Part(NamedTuple):
    """Operations of a tape, each with a slot of its own."""

    operations: Chunk
    slots: int


@dataclass(frozen=True)
class Symbolic:
    """What a factor keeps from one state to the next: tape, places of its numbers, unknowns."""

    tape: Tape
    groups: list[Group]
    numbers: dict[int, NDArray[np.int64]]  # slots of each program value that L and D are read off
    perm: NDArray[np.int64]  # (unknowns,) of the system, in the order of elimination
    place: dict[int, NDArray[np.int64]]  # of each block, the places of its unknowns in that order
    first: Part  # what does not depend on the right-hand side
    then: Part  # what does, on a desk of its own
    desk: NDArray[np.int64]  # (desk,) the slots of ``first`` that the desk begins with
    right: NDArray[np.int64]  # (unknowns,) places of the right-hand side on the desk
    found: NDArray[np.int64]  # (unknowns,) signed places of the solution


@dataclass(frozen=True, repr=False, eq=False)
class Factor(Shown):
    """P A P^T = L D L^T of one system, by the pivots of an order; see :func:`factor`.

    >>> system = pt.build(pt.chain(5))
    >>> made = pt.factor(system, pt.orderings.get("abm"))
    >>> made
    <Factor abm in float64: 65 unknowns, 297 nonzeros of L>
    >>> A = system.matrix[made.perm][:, made.perm]
    >>> np.allclose((made.L @ made.D @ made.L.T).toarray(), A.toarray())
    True
    """

    system: System | Matrix
    format: Format
    symbolic: Symbolic
    values: Floats = field(repr=False)  # of all slots that do not depend on the right-hand side
    marked: str | None = None  # why solutions should not be relied on, as :func:`eliminate` says it

    def facts(self) -> dict[str, Any]:
        name = f"{self.symbolic.tape.program.name} in {self.format.name}"
        return {"name": name, "unknowns": self.system.size, "nonzeros of L": self.L.nnz}

    @property
    def perm(self) -> NDArray[np.int64]:
        """(unknowns,) numbers of A's rows in the order of elimination: A[perm][:, perm] = L D L^T."""
        return self.symbolic.perm

    @property
    def L(self) -> sp.csc_array:
        """(unknowns, unknowns), unit lower triangular."""
        return self._parts[0]

    @property
    def D(self) -> sp.csc_array:
        """(unknowns, unknowns), symmetric: blocks of one row, and [[x, b], [b, 0]]; b is 1 in (4)."""
        return self._parts[1]

    def solve(self, b: ArrayLike) -> Floats:
        """x of A x = b for b (unknowns,) or (unknowns, m), rows as in ``system.blocks``, or the matrix's own.

        In the factor's number format.  Raises ModelError for another shape, and FormatError where
        the format cannot hold a number of b.
        """
        given = np.asarray(b)
        size = len(self.perm)
        if given.ndim not in (1, 2) or len(given) != size or given.dtype.kind not in "iuf":
            what = f"a right-hand side has shape {given.shape} and type {given.dtype}"
            raise ModelError("factor", what, f"give real numbers, ({size},) or ({size}, m)")
        right = self.format.cast(given)
        if not np.isfinite(right).all():
            where = f"format {self.format.name!r}"
            raise FormatError(where, "cannot hold a right-hand side", "give finite numbers")
        if right.ndim == 1:
            return self._solved(right)
        out, width = np.empty_like(right), LANES if isinstance(self.format, Hardware) else 1
        for at in range(0, right.shape[1], width):
            here = slice(at, at + width) if width > 1 else at
            out[:, here] = self._solved(right[:, here])
        return out

    @cached_property
    def inverse(self) -> LinearOperator:
        """A^-1 as scipy's LinearOperator, such as a preconditioner; it is symmetric."""
        size = len(self.perm)
        solve: Callable[[Any], Any] = self.solve
        many = {"matmat": solve, "rmatmat": solve}
        dtype = self.format.dtype
        return LinearOperator((size, size), matvec=solve, rmatvec=solve, dtype=dtype, **many)

    def update(self, system: System | Matrix) -> Factor:
        """The factor of the same robot in another state (``system.refresh``): numbers alone are new.

        Of a matrix it is that of another with the same blocks and places of entries.  Raises
        OrderError where the system is of another tree, or has entries where this one has none, and
        SingularError where a pivot is zero in the new state.
        """
        if isinstance(self.system, Matrix):
            self.system.require_like(system)
        else:
            require_system(system)
            self.symbolic.tape.require(system)  # type: ignore[arg-type]
        return _played(system, self.symbolic, self.format)

    # -- solving ------------------------------------------------------------------------------

    @cached_property
    def _desk(self) -> Floats:
        own = self.symbolic.desk
        return np.pad(self.values[own], (0, self.symbolic.then.slots - len(own)))

    @cached_property
    def _found(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        found = self.symbolic.found
        return np.abs(found), np.sign(found).astype(self.values.dtype)

    def _solved(self, right: Floats) -> Floats:
        """x for (unknowns,), or side by side for (unknowns, m) of the processor's own numbers."""
        desk, (found, sign), runner = self._desk.copy(), self._found, self.format.runner(self.symbolic.tape)
        if right.ndim == 2:
            desk, sign = np.repeat(desk[:, None], right.shape[1], axis=1), sign[:, None]
            runner = Runner(lanes_native)
        desk[self.symbolic.right] = right
        runner.run(self.symbolic.then.operations, desk)
        return desk[found] * sign

    # -- L and D ------------------------------------------------------------------------------

    def _value(self, ref: Ref) -> NDArray[np.float64]:
        slots = self.symbolic.numbers[ref.value]
        found = np.sign(slots) * self.values[np.abs(slots)].astype(float) * ref.sign
        return found.T if ref.transposed else found

    @cached_property
    def _parts(self) -> tuple[sp.csc_array, sp.csc_array]:
        size, place = len(self.perm), self.symbolic.place
        rows, columns, entries = [np.arange(size)], [np.arange(size)], [np.ones(size)]
        d, beside = np.zeros(size), np.zeros(size)
        for group in self.symbolic.groups:
            blocks = [b for pivot, _ in group.stages for b in pivot.blocks]
            own = np.sort(np.concatenate([place[b] for b in blocks]))
            local = _Local(self, own)
            for pivot, couplings in group.stages:
                local.add(pivot, couplings)
            d[own], beside[own] = local.d, local.beside
            outside = np.concatenate([np.zeros(0, np.int64), *(place[o] for o in group.outside)])
            whole = np.concatenate([local.L, local.coupled(group.outside)])
            i, j = np.nonzero(np.tril(whole, -1))
            rows.append(np.concatenate([own, outside])[i])
            columns.append(own[j])
            entries.append(whole[i, j])
        dtype = self.format.dtype
        at = tuple(map(np.concatenate, (rows, columns)))
        L = sp.csc_array((np.concatenate(entries).astype(dtype), at), shape=(size, size))
        first = np.flatnonzero(beside)
        D = sp.diags_array(d, dtype=dtype).tolil()
        D[first, first + 1] = D[first + 1, first] = beside[first]
        return L, sp.csc_array(D)


class _Local:
    """L and D of one group's own block, and what is coupled with it."""

    def __init__(self, made: Factor, own: NDArray[np.int64]) -> None:
        self.made, self.start = made, int(own[0])
        self.L, self.d, self.beside = np.eye(len(own)), np.zeros(len(own)), np.zeros(len(own))
        self.count = 0  # unknowns of the pivots so far

    def at(self, block: int) -> NDArray[np.int64]:
        """Where a block's unknowns stand in the group."""
        return self.made.symbolic.place[block] - self.start

    def add(self, pivot: BasePivot, couplings: Couplings) -> None:
        """A pivot behind the earlier ones; ``couplings[b][i]`` are its blocks' with theirs."""
        value, before = self.made._value, self.count
        own = np.sort(np.concatenate([self.at(b) for b in pivot.blocks]))
        turned = {b: {i: ref.T for i, ref in row.items()} for b, row in couplings.items()}
        rows = self.coupled(turned)
        if len(rows):
            self.L[np.concatenate([self.at(b) for b in turned]), :before] = rows
        self.count += len(own)
        if isinstance(pivot, PairPivot):
            x, z = (self.at(b) for b in pivot.blocks)
            X = np.zeros((len(x),) * 2) if pivot.X is None else value(pivot.X)
            self.d[x], self.beside[x] = X.diagonal(), 1.0 if pivot.unit is None else value(pivot.unit)[0, 0]
            self.L[x[:, None], z] = np.tril(X, -1)
        elif isinstance(pivot, DensePivot):
            F = value(pivot.factor)
            self.d[own] = F.diagonal()
            below = np.tril(F, -1)
            by_gain = self.made.symbolic.tape.program.gain  # else columns of the factor are those of L D
            self.L[own[:, None], own] += below if by_gain else below / F.diagonal()

    def coupled(self, outside: Couplings) -> NDArray[np.float64]:
        """Rows of L in the columns so far: (D^-1 L^-1 C)^T for C[o][b] of blocks o, in their order."""
        place, size = self.made.symbolic.place, self.count
        ends = np.cumsum([0, *(len(place[o]) for o in outside)])
        C = np.zeros((size, int(ends[-1])))
        for column, (start, stop) in zip(outside.values(), pairwise(ends.tolist()), strict=True):
            for b, ref in column.items():
                C[self.at(b), start:stop] = self.made._value(ref)
        if not C.size:
            return C.T
        y = C.copy()  # by columns of L, as LAPACK does, whose threads take longer than so small a block
        for k in range(size - 1):
            y[k + 1 :] -= self.L[k + 1 : size, k, None] * y[k]
        first = np.flatnonzero(self.beside[:size])
        plain = np.setdiff1d(np.arange(size), [first, first + 1])
        out = np.empty_like(y)
        out[plain] = y[plain] / self.d[plain, None]
        out[first] = y[first + 1]
        out[first + 1] = (y[first] - self.d[first, None] * y[first + 1]) / self.beside[first, None]
        return out.T


def factor(system: System | Matrix, order: OrderLike, format: str | Format = "float64") -> Factor:
    """P A P^T = L D L^T of (4), or of :func:`kkt.matrix`, by an order's pivots, and what solves with them.

    ``L``, ``D`` and ``perm`` are as scipy.sparse has them, ``solve`` takes right-hand sides, ``inverse``
    is a LinearOperator, and ``update`` gives the factor in another state.  L and D are the numbers of
    the order's own elimination in the format, a floating-point one (docs/factor.md); they are read
    off it in float64 and rounded to what carries the format.

    Raises OrderError for orders whose unknowns are not those of (4) (split forces, stretched links),
    that eliminate by rotations, or with composites of ten numbers; FormatError for formats that are
    no floats; SingularError where a pivot is zero, also but for rounding.  Source: Bunch & Parlett
    1971 for L D L^T with blocks; the pivots here are the order's, and none is searched for.

    >>> system = pt.build(pt.chain(3))
    >>> made = pt.factor(system, pt.orderings.get("crbm"))
    >>> qdd = made.solve(system.rhs)[system.blocks["qdd", "j2"]]
    >>> bool(qdd == pt.eliminate(system, pt.orderings.get("crbm")).qdd[1])
    True
    >>> other = made.update(system.refresh(q=[0.1, 0.2, 0.3]))
    """
    if not isinstance(system, Matrix):
        require_system(system)
    chosen = get_format(format)
    if chosen.kind != "float":
        told = "use float64, float32 or a shorter format, or eliminate, which solves in every format"
        raise FormatError(f"format {chosen.name!r}", "has no factor", told)
    return _played(system, _symbolic(system, order), chosen)


@uncollected()
def _symbolic(system: System | Matrix, order: OrderLike) -> Symbolic:
    sequence = as_sequence(order, system.structure)
    for wrong, use in (
        (sequence.rules.elimination == "orthogonal", "eliminates by rotations, which leave no L D L^T"),
        (sequence.composites in TEN, "has composites of ten numbers, which are no blocks of (4)"),
    ):
        if wrong:
            raise OrderError(f"order {sequence.name!r}", use, "use another order, such as abm or crbm")
    chosen = plan(sequence, system.structure)
    if isinstance(system, Matrix):
        return _of_matrix(system, chosen)
    unknowns = unknowns_of(chosen, system)
    tracer = Keeping(symbolic(chosen))
    program = tracer.program()
    unphysical(program, system)
    # one more right-hand side, of which nothing is zero
    columns = ContinuedProgram(program)
    given, at = Given(columns.write), {}
    for block, where in system.blocks.items():
        if where.stop > where.start:
            full = np.full((where.stop - where.start, 1), 2)
            at[block] = given.block(np.zeros(full.shape), full)
    columns.solve(at)
    tape = lower(_with_read(columns.program(), tracer), system, given.patterns)
    structurally_singular(tape, system)
    right, found = np.zeros((2, system.size), dtype=np.int64)
    for number, (block, where) in enumerate((b, system.blocks[b]) for b in at):
        right[where], found[where] = tape.inputs.others[number][:, 0], tape.columns[0][block][:, 0]
    return _arranged(tape, tracer, unknowns, right, found)


def _of_matrix(system: Matrix, chosen: Plan) -> Symbolic:
    """Its program has the right-hand side among its inputs, after the entries of A."""
    tracer = KeepingOwn(symbolic(chosen), system)
    program = _with_read(tracer.program(), tracer)
    tape = lowered(program, system.inputs(tracer), system.plans)
    right, count = np.zeros(system.size, dtype=np.int64), len(system.given)
    for number, rows in enumerate(system.rows):
        right[rows] = tape.inputs.others[count + number][:, 0]
    unknowns = np.concatenate([system.rows[k] for k in chosen.graph.member[chosen.blocks].tolist()])
    return _arranged(tape, tracer, unknowns, right, system.slots(tape))


def _with_read(program: Program, tracer: Keeping) -> Program:
    """The program, of which the values that L and D are read off are results, too."""
    more = {Block("value", ref.value): Ref(4 * ref.value) for group in tracer.done for ref in _read(group)}
    return replace(program, columns=(*program.columns, more))


def _arranged(
    tape: Tape, tracer: Keeping, unknowns: NDArray[np.int64], right: Scalars, found: Scalars
) -> Symbolic:
    """The parts of a tape, places and unknowns, of which a factor is made in every state."""
    groups = sorted(tracer.done, key=lambda group: tracer.fronts.position[group.stages[0][0].blocks[0]])
    numbers: dict[int, Any] = {block.body: slots for block, slots in tape.columns[-1].items()}  # type: ignore[misc]
    perm, place = _places(tracer.plan, groups, unknowns)
    return Symbolic(tape, groups, perm=perm, place=place, **_apart(tape, numbers, right, found))


@njit(cache=True)
def _renamed(dst, a, b, where, late):  # pragma: no cover
    """Give each operation's result a name of its own, and find those that depend on late ones."""
    first = len(late) - len(dst)
    for i in range(len(dst)):
        a[i], b[i] = where[a[i]], where[b[i]]
        where[dst[i]] = first + i
        late[first + i] = late[a[i]] or late[b[i]]


def _apart(
    tape: Tape, numbers: dict[int, NDArray[np.int64]], right: NDArray[np.int64], found: NDArray[np.int64]
) -> dict[str, Any]:
    """The operations of a tape before a right-hand side is known, and after: fields of Symbolic.

    A tape hands out a slot again when its value has been used; here every value keeps its own.
    """
    op, dst, a, b, step = map(np.concatenate, zip(*tape.chunks(), strict=True))
    count = tape.inputs.count
    where, late = np.arange(tape.slots, dtype=np.int32), np.zeros(count + len(op), dtype=np.bool_)
    late[right] = True
    _renamed(dst, a, b, where, late)
    after = late[count:]

    def part(here: NDArray[np.bool_], home: NDArray[np.int32], slots: int) -> Part:
        return Part(Chunk(op[here], home[count:][here], home[a[here]], home[b[here]], step[here]), slots)

    def signed(slots: NDArray[np.int64], home: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.asarray(np.sign(slots) * home[where[np.abs(slots)]], dtype=np.int64)

    early = np.where(late, 0, np.cumsum(~late) - 1).astype(np.int32)
    used = np.zeros(len(late), dtype=np.bool_)
    used[a[after]] = used[b[after]] = used[where[np.abs(found)]] = True
    kept = np.flatnonzero(used & ~late)
    own = np.zeros(len(late), dtype=np.int32)
    own[kept] = np.arange(len(kept))
    own[late] = len(kept) + np.arange(late.sum())
    return {
        "numbers": {value: signed(slots, early) for value, slots in numbers.items()},
        "first": part(~after, early, int((~late).sum())),
        "then": part(after, own, len(kept) + int(late.sum())),
        "desk": early[kept].astype(np.int64),
        "right": own[right].astype(np.int64),
        "found": signed(found, own),
    }


def _played(system: System | Matrix, made: Symbolic, chosen: Format) -> Factor:
    """The factor's numbers in one state, and what the rule of :func:`eliminate` says of them."""
    tape = made.tape
    if isinstance(system, Matrix):
        found = eliminated(system, tape, chosen)
        start = started(tape, NONE, chosen, {"beside": chosen.cast(system.numbers)})
    else:
        found = eliminate(system, tape, chosen, records=False)
        start = entered(tape, chosen, *tape.inputs.values(rounded_entries(system, chosen)))
    if found.failed_at is not None:
        raise SingularError(found.failed_at)
    own = tape.inputs.count - len(made.right)  # inputs that are entries of A
    values = np.zeros(made.first.slots, dtype=chosen.dtype)
    values[:own] = start[:own]
    with np.errstate(all="ignore"):
        chosen.runner(tape).run(made.first.operations, values)
    return Factor(system, chosen, made, values, found.marked)


def _read(group: Group) -> list[Ref]:
    """The values that a group's part of L and D is read off."""
    found = [ref for column in group.outside.values() for ref in column.values()]
    for pivot, couplings in group.stages:
        found += [ref for column in couplings.values() for ref in column.values()]
        if isinstance(pivot, PairPivot):
            found += [ref for ref in (pivot.X, pivot.unit) if ref is not None]
        elif isinstance(pivot, DensePivot):
            found.append(pivot.factor)
    return found


def _places(
    chosen: Plan, groups: list[Group], unknowns: NDArray[np.int64]
) -> tuple[NDArray[np.int64], dict[int, NDArray[np.int64]]]:
    """The permutation, in which the unknowns of a pair alternate, and each block's places in it."""
    size = chosen.graph.size[chosen.blocks]
    first = dict(zip(chosen.blocks.tolist(), (np.cumsum(size) - size).tolist(), strict=True))
    place, perm = {}, np.empty_like(unknowns)
    for pivot in (pivot for group in groups for pivot, _ in group.stages):
        start = min(first[b] for b in pivot.blocks)
        for i, b in enumerate(pivot.blocks):
            count = int(chosen.graph.size[b])
            alone = first[b] + np.arange(count)
            place[b] = start + i + 2 * np.arange(count) if isinstance(pivot, PairPivot) else alone
            perm[place[b]] = unknowns[alone]
    return perm, place
