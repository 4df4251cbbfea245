"""A symmetric matrix of one's own, A x = b, for the engine that eliminates robots.

The program is traced on the matrix's blocks as on those of (4), its tape is lowered and played by the
same code; the entries are inputs beside (4), of which there is none.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..arithmetic.objects import each
from ..arithmetic.shadows import InResidues, residue
from ..base.errors import CertificationError, FormatError, ModelError, OrderError, UnreadableError
from ..base.reading import read_bytes
from ..base.shown import LARGEST, Shown, spy
from ..matrix.blocks import QDD, Block, Partition
from ..matrix.entries import Entries, Pattern
from ..model.fields import checked
from ..order.sequence import as_sequence, plan
from ..program.tracer import Tracer
from ..proof.certify import certify
from ..proof.trust import ZERO, Longer, ball_of, longer_name, mark
from ..structure.symbolic import symbolic
from ..tape.inputs import Given, InputSlots
from ..tape.player import first_bad, number_of, played, run, signed, started
from ..tape.tape import BackwardError, Elimination, Tape, lowered
from ..tape.trace import kept

if TYPE_CHECKING:
    import scipy.sparse as sp

NONE = Entries(*(np.zeros(x) for x in ((0, 6, 6), (0, 6, 6), (0, 6), (0, 6), (0, 6), (0,))))  # of (4)


@dataclass(frozen=True, repr=False, eq=False)
class Matrix(Shown):
    """A symmetric A in blocks, and b; see :func:`matrix`.

    >>> import scipy.sparse as sp
    >>> A = sp.diags_array([1.0, 4.0, 1.0], offsets=[-1, 0, 1], shape=(3, 3))
    >>> made = pt.matrix(A, rhs=[6.0, 12.0, 14.0])
    >>> pt.eliminate(made, "natural").x.round(6).tolist()
    [1.0, 2.0, 3.0]
    """

    name: str
    matrix: sp.csc_array  # (size, size), both triangles, rows block after block as they were given
    rhs: NDArray[np.float64]  # (size,)
    structure: Partition
    rows: tuple[NDArray[np.int64], ...]  # of each block, the rows of the matrix
    plans: dict[Any, Any] = field(default_factory=dict, repr=False)

    def facts(self) -> dict[str, Any]:
        n = self.structure.n
        return {"name": self.name, "blocks": n, "unknowns": self.size, "nonzeros": self.matrix.nnz}

    def picture(self) -> str:
        return spy(self.matrix, self.name) if self.size <= LARGEST else ""

    @property
    def size(self) -> int:
        """Rows of the matrix."""
        return len(self.rhs)

    @property
    def entries(self) -> Entries:
        """Those of (4), of which there are none."""
        return NONE

    @cached_property
    def pattern(self) -> Pattern:
        """Theirs: a pattern of its own, by which a tape knows its matrix."""
        like = (NONE.M, NONE.Phi, NONE.S, NONE.Phi, NONE.S, NONE.tau)
        return Pattern(*(np.zeros(x.shape, dtype=bool) for x in like))

    @cached_property
    def given(self) -> list[tuple[int, int, NDArray[np.float64]]]:
        """(row block, column block, entries) of A's upper triangle, where a block has an entry."""
        own = np.flatnonzero(self.structure.armature)
        ends = np.concatenate([np.tile(own, (2, 1)), self.structure.pairs], axis=1)
        table = self.matrix.tocsr()
        return [(i, j, table[self.rows[i]][:, self.rows[j]].toarray()) for i, j in ends.T.tolist()]

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """All that programs take as inputs, whatever the order: entries of A, then those of b."""
        return np.concatenate([*(x.ravel() for *_, x in self.given), *(self.rhs[at] for at in self.rows)])

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """What these inputs are called, block by block: A_i,j and b_i."""
        names = self.structure.names
        return (*(f"A_{names[i]},{names[j]}" for i, j, _ in self.given), *(f"b_{name}" for name in names))

    @cached_property
    def unknowns(self) -> list[str]:
        """(size,) a name for each row's x: x_i, or x_i[k] in a block of several."""
        found = [""] * self.size
        for name, rows in zip(self.structure.names, self.rows, strict=True):
            for k, row in enumerate(rows.tolist()):
                found[row] = f"x_{name}[{k}]" if len(rows) > 1 else f"x_{name}"
        return found

    def slots(self, tape: Tape) -> NDArray[np.int64]:
        """(size,) signed slots of x on a tape, in the order of the matrix's rows."""
        slots = np.zeros(self.size, dtype=np.int64)
        for block, rows in self.blocks.items():
            slots[rows] = tape.solution[block][:, 0]
        return slots

    def inputs(self, tracer: Entering) -> InputSlots:
        """Where what has been traced finds ``numbers``, once the whole program is written."""
        none, beside = np.zeros(0, dtype=np.int64), tracer.given.patterns
        return InputSlots(self.pattern, (), self.structure.parent, none, (), beside=beside)

    def eliminated(self, order: Any, chosen: Format) -> Elimination:
        return eliminated(self, tape_of(self, order), chosen)

    def require_like(self, other: object) -> None:
        """Raise OrderError for what is no matrix with the same blocks, and entries in the same places."""
        if isinstance(other, Matrix) and self.structure.names == other.structure.names:
            own, its = ((*x.rows, x.matrix.indptr, x.matrix.indices) for x in (self, other))
            if all(map(np.array_equal, own, its)):
                return
        what = "its factor is that of a matrix with these blocks, and entries in these places"
        raise OrderError(self.name, what, "call factor for another")

    # -- what :func:`kkt.certify` asks of a system that is not (4) --------------------------------

    def traced(self, order: Any) -> Tape:
        """The tape of an order, or of one bracket of all blocks."""
        return tape_of(self, [list(self.structure.names)] if order is None else order)

    def numbers_in_balls(self, rounded_to: str | Format | None) -> NDArray[Any]:
        """``numbers``, or what a format makes of them, as exact balls."""
        if rounded_to is None:
            return each(ball_of, self.numbers)
        chosen = get_format(rounded_to)
        data = chosen.shown(chosen.cast(self.numbers))
        if not np.isfinite(data).all():
            raise CertificationError(self.name, f"an entry overflows {chosen.name}", "use a larger range")
        return each(ball_of, data)

    def left(self, solution: dict[Block, Any], beside: NDArray[Any]) -> dict[Block, NDArray[Any]]:
        """A x - b by blocks of A, not by the program; ``solution`` gets all of x in one block."""
        x = [solution[block] for block in self.blocks]
        *parts, b = np.split(beside, np.cumsum([values.size for *_, values in self.given]))
        left = [-part for part in np.split(b, np.cumsum([len(rows) for rows in self.rows])[:-1])]
        for (i, j, values), part in zip(self.given, parts, strict=True):
            A = part.reshape(values.shape)
            left[i] = left[i] + A @ x[j]
            if i != j:
                left[j] = left[j] + A.T @ x[i]
        solution[Block("x", "all")] = np.concatenate(x)[np.argsort(np.concatenate(self.rows))]
        return dict(zip(self.blocks, left, strict=True))

    @cached_property
    def blocks(self) -> Mapping[Block, NDArray[np.int64]]:
        """("x", name) -> the rows of a block."""
        return {Block("x", name): rows for name, rows in zip(self.structure.names, self.rows, strict=True)}


def matrix(A: Any, blocks: Any = None, rhs: Any = None, *, name: str = "matrix") -> Matrix:
    """A symmetric matrix of one's own, of which orders are compared as those of robots are.

    ``A`` (m, m) is a scipy.sparse matrix, an array, the path of a Matrix Market file, a networkx
    graph (its Laplacian plus the identity: edges' ``weight``, 1 where there is none), or a pair
    (H, A) of an optimisation min x'Hx/2, A x = b: the matrix [[H, A'], [A, 0]].  ``blocks`` cuts its
    rows: a mapping from names to lists of rows, a list of such lists, or a list of sizes; None makes
    every row a block.  ``rhs`` (m,) is A (1, ..., 1) where it is None.  Units are the user's.

    Raises ModelError for a matrix that is not square, symmetric and finite, or whose rows are not all
    in one block each.

    >>> A = np.array([[4.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 5.0]])
    >>> for order in ([[0], [1], [2]], [[1], [2], [0]]):
    ...     print(pt.eliminate(pt.matrix(A), order).fill)
    1
    0
    """
    full, name = _read(A, name)
    size = full.shape[0]
    names, rows = _cut(blocks, size)
    b = full @ np.ones(size) if rhs is None else checked(name, "rhs", rhs, (size,))
    of = np.empty(size, dtype=np.int64)
    for k, at in enumerate(rows):
        of[at] = k
    entries = full.tocoo()
    ends = np.unique(np.sort(np.stack([of[entries.row], of[entries.col]]), axis=0), axis=1)
    own = np.zeros(len(rows), dtype=bool)
    own[ends[0, ends[0] == ends[1]]] = True
    structure = Partition(
        names,
        np.full(len(rows), -1, dtype=np.int64),
        np.array([len(x) for x in rows], dtype=np.int64),
        armature=own,
        pairs=ends[:, ends[0] != ends[1]],
    )
    return Matrix(name, full, b, structure, rows)


def _read(A: Any, name: str) -> tuple[sp.csc_array, str]:
    """The matrix in whatever form it is given, and its name."""
    import scipy.sparse as sp

    where = name
    if isinstance(A, str | Path):
        from scipy.io import mminfo, mmread

        where, name = str(A), Path(A).stem if name == "matrix" else name
        remedy = "give a Matrix Market file"
        try:
            read_bytes(A)  # refuses what is no plain file of bounded size; mmread unpacks .gz and .bz2
            rows, columns, entries, _, field, _ = mminfo(A)
            if field == "pattern":
                remedy = "give numbers, or pt.matrix(scipy.io.mmread(file)), whose entries are 1"
                raise ValueError("holds a pattern without numbers")
            if max(rows, columns) > 2 * entries:  # however large, in a small file
                remedy = "give a matrix of full rank"
                raise ValueError(f"has shape {(rows, columns)}, and rows or columns of zeros alone")
            A = mmread(A, spmatrix=False)
        except (OSError, EOFError, ValueError, OverflowError, MemoryError, UnreadableError) as error:
            why = str(error).rstrip(".") if isinstance(error, ValueError | OverflowError) else error
            raise ModelError(A, why, remedy) from None
    masked = any(map(np.ma.is_masked, A if isinstance(A, tuple) else (A,)))
    try:
        if isinstance(A, nx.Graph):
            A = nx.laplacian_matrix(A) + sp.eye_array(len(A))
        elif isinstance(A, tuple):
            H, C = (sp.csc_array(np.atleast_2d(x) if not sp.issparse(x) else x) for x in A)
            A = sp.block_array([[H, C.T], [C, None]])
        full = sp.csc_array(A)
    except (TypeError, ValueError, nx.NetworkXError) as error:
        raise ModelError(where, f"{type(A).__name__} is no matrix ({error})", "give one, or (H, A)") from None
    if full.dtype.kind == "c" or masked:
        what = "holds complex numbers" if full.dtype.kind == "c" else "has masked entries"
        raise ModelError(where, what, "give real numbers, all of them")
    data = checked(where, "A", full.data, full.data.shape, "real, finite numbers")
    full = sp.csc_array((data, full.indices, full.indptr), shape=full.shape)
    full.sum_duplicates()
    full.eliminate_zeros()
    if full.ndim != 2 or full.shape[0] != full.shape[1] or not full.shape[0]:
        raise ModelError(where, f"has shape {full.shape}", "give a square matrix with a row or more")
    if not (held := np.diff(full.indptr)).all():
        raise ModelError(where, f"row {held.argmin()} holds zeros alone", "give a matrix of full rank")
    if (full != full.T).nnz:
        i, j = (x[0] for x in (full != full.T).nonzero())
        raise ModelError(where, f"entries ({i}, {j}) and ({j}, {i}) differ", "give a symmetric matrix")
    return full, name


def _cut(blocks: Any, size: int) -> tuple[tuple[Hashable, ...], tuple[NDArray[np.int64], ...]]:
    """Names of the blocks and the rows of each."""
    if blocks is None:
        return tuple(range(size)), tuple(np.arange(size)[:, None])
    wanted = f"give names and lists of rows, lists of rows, or sizes, of the rows 0 to {size - 1}"
    try:
        if not isinstance(blocks, Mapping):
            listed = list(blocks)
            if all(isinstance(x, int | np.integer) for x in listed):  # sizes
                ends = np.cumsum([0, *listed])
                listed = [np.arange(a, b) for a, b in pairwise(ends.tolist())]
            blocks = dict(enumerate(listed))
        rows = tuple(np.atleast_1d(np.array(x, dtype=np.int64)) for x in blocks.values())
    except (TypeError, ValueError):
        raise ModelError("matrix", f"blocks are {blocks!r}", wanted) from None
    every = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *rows]))
    if not np.array_equal(every, np.arange(size)) or any(not len(x) for x in rows):
        what = f"blocks do not hold each of the rows 0 to {size - 1} once"
        raise ModelError("matrix", what, "list them all")
    return tuple(blocks), rows


# -- its program and tape -------------------------------------------------------------------------


class Entering(Tracer):
    """A tracer that begins with a matrix of a user's in the place of (4)."""

    def __init__(self, factor: Any, of: Matrix) -> None:
        super().__init__(factor)
        self.of: Matrix = of
        self.given: Given = Given(self.write)

    def enter_matrix(self) -> None:
        n = self.n
        for i, j, values in self.of.given:
            ref = self.given.block(values, np.where(values == 0.0, 0, 2))
            self.fronts.set(QDD * n + i, QDD * n + j, self.write.mirror(ref) if i == j else ref)
        for i, at in enumerate(self.of.rows):
            full = np.full((len(at), 1), 2)
            self.fronts.set_rhs(QDD * n + i, self.given.block(self.of.rhs[at, None], full))

    def merges(self, pivot: tuple[int, ...]) -> bool:
        return False  # a matrix is as sparse at its end as an order leaves it

    def solution(self) -> dict[Block, Any]:
        return {Block("x", name): self.x[QDD * self.n + k] for k, name in enumerate(self.of.structure.names)}


def tape_of(system: Matrix, order: Any) -> Tape:
    """The tape of an order on a matrix, traced once; raises OrderError, also for another's tape."""
    if isinstance(order, Tape):
        if not order.reads(system):  # type: ignore[arg-type]
            what = "its tape was traced on another matrix or a robot"
            raise OrderError(f"order {order.program.name!r}", what, "pass the order itself")
        return order
    sequence = as_sequence(order, system.structure)

    def traced() -> Tape:
        tracer = Entering(symbolic(plan(sequence, system.structure)), system)
        return lowered(tracer.program(), system.inputs(tracer), system.plans)

    return kept(system, sequence, traced)  # type: ignore[arg-type]


def regular(system: Matrix, tape: Tape) -> bool:
    """Whether no pivot is zero for the numbers of this matrix, by residues modulo a prime."""
    given = started(tape, NONE, get_format("float64"), {"beside": system.numbers})
    v = np.array([int(residue(float(x))) if x else 0 for x in given], dtype=np.int64)
    return bool(played(tape, InResidues(), v)[np.abs(tape.pivot_slots)].all())


def eliminated(system: Matrix, tape: Tape, chosen: Format) -> Elimination:
    """:func:`kkt.eliminate` with a tape of this matrix, or of one that is like it; ``qdd`` is ``x``."""
    numbers = system.numbers
    slots = system.slots(tape)
    failed, marked, error, backward = None, None, None, None
    if chosen.kind == "ball":
        x = np.array(certify(system, chosen.digits, order=tape).qdd, dtype=object)
    elif not chosen.on_arrays:
        number = number_of(chosen)
        x = chosen.shown(signed(run(tape, NONE, number, {"beside": each(number, numbers)})[2], slots))
    else:
        data = chosen.cast(numbers)
        if not np.isfinite(data).all():
            raise FormatError(system.name, f"an entry overflows {chosen.name}", "use a larger range")
        _, pivots, v = run(tape, NONE, chosen, {"beside": data})
        x, failed = chosen.shown(signed(v, slots)), first_bad(tape, pivots)
    if chosen.kind == "float" and failed is None:
        error, lost = _error_and_lost_pivot(tape, slots, chosen, x, pivots, chosen.shown(data))
        backward = _backward(system, x)
        marked = mark(error, backward.normwise, chosen.name, chosen.unit)
        if lost is not None and not error < 0.5:
            failed, marked = lost, None
    none = np.zeros((0, 6))
    return Elimination(
        *(tape.program.name, chosen.name, x, none, none, (), tape.program.factor, tape.flops, failed),
        backward_error=backward,
        error_estimate=error,
        marked=marked,
    )


def _error_and_lost_pivot(
    tape: Tape, slots: NDArray[np.int64], chosen: Format, x: NDArray[Any], pivots: Any, data: NDArray[Any]
) -> tuple[float, str | None]:
    """The distance of x to itself in more digits, and the pivot that has none right, if there is one."""
    carrier = get_format(longer_name(chosen))
    given = {"beside": carrier.cast(np.asarray(data, dtype=float))}
    v = played(tape, carrier.runner(tape), started(tape, NONE, carrier, given))
    high, own = (signed(v, here) for here in (tape.pivot_slots, slots))
    longer = Longer((high.real, high.imag), (own.real, own.imag))
    lost = longer.against(tape, pivots, chosen)
    if lost is None or not lost.zero:
        return longer.error(x), None
    record = tape.program.pivots[lost.number]
    return longer.error(x), ZERO.format(f"{record.blocks[0]}, step {record.step + 1}", chosen.name)


def _backward(system: Matrix, x: NDArray[Any]) -> BackwardError:
    """As :func:`kkt.proof.soundness.backward_error`, of A x = b."""
    A, b, wide = abs(system.matrix), np.abs(system.rhs), x.astype(np.longdouble)
    left = np.abs(system.matrix.astype(np.longdouble) @ wide - system.rhs)
    size = A @ np.abs(wide) + b
    scale = A.sum(axis=1).max() * np.abs(wide).max() + b.max()
    ratio = np.divide(left, size, out=np.zeros_like(left), where=size > 0)
    return BackwardError(float(left.max() / scale) if scale else 0.0, float(ratio.max()))
