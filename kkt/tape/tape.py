"""The tape: the block program lowered to scalar operations, one list for every number type.

Operations are ``op, dst, a, b`` int arrays: ``v[dst] = v[a] op v[b]``, or ``sqrt(v[a])`` with
b = 0.  Slot 0 holds zero, slot 1 one, the next slots the entries of (4).  Operations come in
chunks, so that a long tape needs little memory.

Here are also the results of an elimination: the solution, and a record for each pivot.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Chunk
from ..base.errors import OrderError
from ..base.shown import Shown, Tabled
from ..matrix.blocks import Block
from ..matrix.system import System
from ..program.program import Program
from ..program.tracer import as_counted
from ..structure.symbolic import SymbolicFactor
from .emit import Scalars
from .inputs import UNKNOWNS, InputSlots, near_centres
from .lowering import Lowering, Patterns

if TYPE_CHECKING:
    from ..program.readers import Bodies

LONGEST_KEPT = 60_000_000  # a tape up to this long is kept for the next number type
LONGEST_SHARED = 3_000_000  # a tape up to this long leaves its templates for the next order


@dataclass(frozen=True, repr=False, eq=False)
class Tape(Shown):
    """Scalar operations of a program on one robot's pattern of zeros and ones."""

    program: Program
    inputs: InputSlots
    slots: int  # length of the value array
    solution: dict[Block, Scalars]  # unknowns of every block
    pivots: dict[int, Scalars]  # number of the pivot record -> its d's, record after record
    inertia: Scalars | None  # joint-space inertia
    flops: int  # operations that qdd needs: with composite inertias as ten numbers, if not said otherwise
    played: int  # the same, as they are played
    first: NDArray[np.int64]  # (instructions + 1,) operations before each instruction, and in all
    length: int  # all operations
    kept: tuple[Chunk, ...] | None  # None where the tape is too long to keep
    # unknowns for more right-hand sides, (rows, columns) of every block, as in the program
    columns: tuple[dict[Block, Scalars], ...] = ()

    def facts(self) -> dict[str, Any]:
        name = self.program.name
        return {"name": name, "operations": self.length, "of them for qdd": self.flops, "slots": self.slots}

    def chunks(self) -> Iterator[Chunk]:
        """The operations in order; lowered anew each time where the tape is long."""
        if self.kept is not None:
            return iter(self.kept)
        return Lowering(self.program, self.inputs).run()

    @cached_property
    def found(self) -> Scalars:
        """Signed slots of all unknowns, first columns block by block, and of all pivots."""
        return np.concatenate([*(slots[:, 0] for slots in self.solution.values()), self.pivot_slots])

    def unknowns(self, system: System) -> Unknowns:
        """Signed slots of all unknowns, bodies in the tree's order."""
        return Unknowns.of(system, {b: x[:, 0] for b, x in self.solution.items()}, np.int64)

    @cached_property
    def pivot_slots(self) -> Scalars:
        """(P,) signed slots of all pivots, record after record."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *self.pivots.values()])

    @cached_property
    def pivot_records(self) -> NDArray[np.int64]:
        """(P,) the record of each."""
        return np.array([i for i, slots in self.pivots.items() for _ in slots], dtype=np.int64)

    def on_diagonal(self, first: int, last: int) -> NDArray[np.bool_]:
        """(last - first,) which of these operations make or use the diagonal blocks D_k."""
        return self._of_instructions(self._diagonal, first, last)

    def bodies(self, first: int, last: int, step: NDArray[np.integer]) -> NDArray[np.int64]:
        """(last - first,) the body of each of these operations, at steps ``step``; -1 for none."""
        instruction = self._of_instructions(np.arange(len(self.first) - 1), first, last)
        return self._bodies.of(instruction, step)

    def _of_instructions(self, values: NDArray[Any], first: int, last: int) -> NDArray[Any]:
        """The ``values`` of instructions, for each of their operations ``first`` to ``last``."""
        low = int(np.searchsorted(self.first, first, side="right")) - 1
        high = int(np.searchsorted(self.first, last, side="left"))
        bounds = np.clip(self.first[low : high + 1], first, last)
        return np.repeat(values[low:high], np.diff(bounds))

    @cached_property
    def _bodies(self) -> Bodies:
        from ..program.readers import Bodies

        return Bodies(self.program, self.inputs.parent)

    @cached_property
    def _diagonal(self) -> NDArray[np.bool_]:
        from ..program.readers import diagonal

        return diagonal(self.program)

    def _moved(self, system: System) -> Hashable | None:
        """A body whose joint has turned since the tape was traced, so that its force splits otherwise."""
        factor = self.program.symbolic
        split = factor is not None and factor.plan.along_the_joint
        return self.inputs.moved_joint(system.state.S) if split else None

    def reads(self, system: System) -> bool:
        """Whether a tape that was traced on this very pattern serves the system's state as well."""
        return system.pattern is self.inputs.pattern and self._moved(system) is None

    def require(self, system: System) -> None:
        """Raise OrderError unless this tape can be read with the system's entries."""
        inputs, tree, where = self.inputs, system.tree, f"order {self.program.name!r}"
        if system.pattern is not inputs.pattern and not (
            tuple(inputs.names) == tuple(tree.names)
            and np.array_equal(inputs.parent, tree.parent)
            and np.array_equal(inputs.dof, tree.dof)
            and inputs.ties == system.structure.ties
            and inputs.pattern.holds(system.entries)
        ):
            what = "its tape was traced on another tree, or where entries were zero that are not zero here"
            raise OrderError(where, what, "trace it again on this system")
        if (moved := self._moved(system)) is not None:
            what = f"the joint of body {moved!r} has turned since its tape was traced"
            raise OrderError(where, f"{what}, so that its force splits otherwise", "trace it again")


def lower(program: Program, system: System, beside: tuple[Scalars, ...] = ()) -> Tape:
    """The tape of a program on the structural zeros and ones of one robot.

    ``beside`` are the zeros (0), ones (1) and other entries (2) of the blocks that the program
    takes as inputs beside those of (4).
    """
    return lowered(program, inputs_of(program, system, beside), system.plans)


def lowered(program: Program, inputs: InputSlots, plans: dict[Any, Any]) -> Tape:
    """The tape of a program whose inputs stand in these slots; ``plans`` keeps what other tapes share."""
    # templates of other orders; taken out meanwhile, so that no other thread writes to them
    kind = f"templates, {'gains' if program.gain else 'updates'}"
    known = plans.pop(kind, None)
    lowering = Lowering(program, inputs, known)
    kept: list[Chunk] = []
    for chunk in lowering.run():
        if lowering.written > LONGEST_KEPT:
            kept.clear()
        else:
            kept.append(chunk)
    counted, flops = as_counted(program), lowering.played
    if counted is not program:  # other operations, many of which have the same templates
        flops = int(Patterns(counted, inputs, lowering.known).work().sum())
    if lowering.written <= LONGEST_SHARED:
        plans[kind] = lowering.known
    return Tape(
        program,
        inputs,
        slots=lowering.top,
        solution=lowering.solved(program.solution),
        pivots=lowering.pivots(),
        inertia=None if program.inertia is None else lowering.take(program.inertia),
        flops=flops,
        played=lowering.played,
        first=lowering.first,
        length=lowering.written,
        kept=None if lowering.written > LONGEST_KEPT else tuple(kept),
        columns=tuple(map(lowering.solved, program.columns)),
    )


def inputs_of(program: Program, system: System, beside: tuple[Scalars, ...] = ()) -> InputSlots:
    """The entries of (4) that a program reads on one robot, and ``beside`` as in :func:`lower`."""
    read = {(i.op, i.info[0]) for i in program.instructions if i.op in ("divide", "input", "rotate")}
    numbers, letters = ({x for op, x in read if op == kind} for kind in ("divide", "input"))
    rotations = any(op == "rotate" for op, _ in read)
    tree = system.tree
    return InputSlots(
        system.pattern,
        tree.names,
        tree.parent,
        tree.dof,
        system.state.S,
        tuple(sorted(numbers)),
        tuple(letter for letter in UNKNOWNS if letter in letters),
        near=near_centres(tree, system.pattern) if rotations else None,
        ties=system.structure.ties,
        beside=beside,
    )


class Unknowns(NamedTuple):
    """All unknowns of (4), or something for each, such as its slot; bodies in the tree's order."""

    pdd: NDArray[Any]  # (n, 6)
    qdd: NDArray[Any]  # (N,)
    f: NDArray[Any]  # (n, 6)
    lam: NDArray[Any]  # (m,) multipliers of all loops

    @property
    def size(self) -> float:
        """max |qdd|; nan where any number is not finite."""
        if not all(np.isfinite(x).all() for x in self):
            return float("nan")
        return float(np.abs(self.qdd).max(initial=0.0))

    @staticmethod
    def of(system: System, blocks: Mapping[Block, NDArray[Any]], dtype: Any = object) -> Unknowns:
        """From pdd (6,) and f (6,) of every body, qdd (N_k,) and lam of those that have any."""
        names, loops, none = system.tree.names, system.structure.constraints, np.zeros(0, dtype)
        pdd, f = (np.array([blocks[Block(x, b)] for b in names], dtype) for x in ("pdd", "f"))
        qdd, lam = (
            np.concatenate([none, *(blocks[Block(x, b)] for b in of if Block(x, b) in blocks)])
            for x, of in (("qdd", names), ("lam", loops))
        )
        return Unknowns(pdd, qdd, f, lam)


@dataclass(frozen=True)
class StepRecord:
    """One pivot (group of blocks) of a sequence.

    >>> result = pt.eliminate(pt.build(pt.chain(2)), pt.orderings.get("abm"), "float32")
    >>> for step in result.steps:
    ...     print(step.step, [block.kind for block in step.blocks], step.fill_blocks)
    1 ['pdd', 'f', 'qdd'] 1
    2 ['pdd', 'f', 'qdd'] 0
    """

    step: int  # 1-based
    blocks: tuple[Block, ...]
    fill_blocks: int  # blocks that may become nonzero in this step
    fill_entries: int
    flops: int  # scalar operations as they were played, forward and backward
    error: float | None  # of the block's unknowns against the certified answer, where known
    pivots: tuple[Any, ...] = ()  # the diagonal of L D L^T, D_k where it is 1 x 1
    # None with records=False:
    growth: float | None = None  # largest result over the largest entry of (4)
    cancelled_bits: int | None = None  # largest in one sum that is not zero
    absorbed_bits: float | None = None  # most bits of a smaller operand lost in one sum
    pivot_error: float | None = None  # largest relative error of the pivot's own diagonal
    absorbed: float | None = None  # largest fraction of a smaller operand lost in one sum
    exact_zeros: int | None = None  # sums of nonzeros that are exactly zero
    reached: float | None = None  # error by its operations in qdd, in units of rounding, if asked for


@dataclass(frozen=True)
class BackwardError:
    """The least relative change of (4) for which an answer solves it exactly."""

    normwise: float  # in the maximum norm (Rigal & Gaches 1967)
    componentwise: float  # entry by entry (Oettli & Prager 1964)


@dataclass(frozen=True)
class Refinement:
    """Iterative refinement of one answer, in its own number format.

    >>> system = pt.build(pt.chain(50))
    >>> result = pt.eliminate(system, pt.orderings.get("crbm"), "float32", refine=2)
    >>> result.refinement.kept, len(result.refinement.corrections)
    (2, 2)
    """

    residual: str  # "dynamics" or "equations"
    corrections: tuple[float, ...]  # max |correction| / max |first answer| of qdd, one each
    status: str  # done, converged, stalled, drowned or diverged, and the correction that showed it
    kept: int  # corrections that the answer holds


@dataclass(frozen=True, repr=False, eq=False)
class Solved(Shown):
    """Numbers that follow from further right-hand sides of (4), and what they are worth.

    ``values`` has the shape and the units of what was asked for; numpy takes the whole as that
    array.  It is judged by the rule of :mod:`kkt.proof.trust`, as an answer of :func:`kkt.eliminate`.

    >>> system, abm = pt.build(pt.chain(3)), pt.orderings.get("abm")
    >>> found = pt.joint_space_inverse(system, abm, "float32")
    >>> found.values.shape, found.marked is None, found.error_estimate < 1e-6
    ((3, 3), True, True)
    """

    values: NDArray[Any]
    error_estimate: float | None = None  # its distance to itself in twice the digits; None of balls
    marked: str | None = None  # why it should not be relied on

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype, copy=bool(copy)) if copy else np.asarray(self.values, dtype)

    def facts(self) -> dict[str, Any]:
        name = " x ".join(map(str, self.values.shape)) + " numbers"
        return {"name": name, "error about": self.error_estimate, "marked:": self.marked}


@dataclass(frozen=True, repr=False, kw_only=True, eq=False)
class Columns(Solved):
    """K^-1 B for more right-hand sides B, and its operations beyond those of (4)'s own.

    ``values`` is (unknowns, m), with rows as in ``system.blocks``.

    >>> system = pt.build(pt.chain(3))
    >>> B = np.eye(system.size)[:, system.blocks["f", "j1"]]
    >>> found = pt.eliminate(system, pt.orderings.get("abm"), rhs=B).columns
    >>> found.values.shape, found.nonzeros, found.operations
    ((39, 6), 203, 498)
    >>> np.allclose(system.matrix @ found.values, B)
    True
    """

    nonzeros: int  # entries of it that the tree does not make zero
    operations: int  # scalar operations beyond those of (4) with its own right-hand side

    def facts(self) -> dict[str, Any]:
        rows, columns = self.values.shape
        return {
            "name": f"{columns} right-hand sides",
            "unknowns": rows,
            "nonzeros": self.nonzeros,
            "operations": self.operations,
        } | {name: x for name, x in super().facts().items() if name != "name"}


@dataclass(frozen=True)
class Proximal:
    """The outcome of a proximal iteration (:mod:`kkt.solution.refine`)."""

    mu: float  # compliance that each iteration gives the rows
    iterations: int
    residual: float  # largest of the rigid rows' [rad/s^2, m/s^2]
    status: str  # converged, settled (at rounding), not settled or diverged


@dataclass(frozen=True, repr=False, eq=False)
class Elimination(Tabled):
    """The outcome of one order in one number format.

    ``qdd`` (N,) [rad/s^2, m/s^2], ``pdd`` (n, 6), minus spatial accelerations, and ``f`` (n, 6) [N m, N],
    bodies in the tree's order; ``lam`` (m,) are multipliers.  ``failed_at`` says why there is no
    answer, ``marked`` why one should not be relied on.

    >>> result = pt.eliminate(pt.build(pt.chain(3)), pt.orderings.get("crbm"), "float32")
    >>> result.fill, result.flops, result.height, result.qdd.shape
    (6, 279, 9, (3,))
    >>> result.failed_at is None, result.marked is None
    (True, True)
    """

    order: str
    format: str
    qdd: NDArray[Any]
    pdd: NDArray[Any]
    f: NDArray[Any]
    steps: tuple[StepRecord, ...]
    symbolic: SymbolicFactor
    flops: int  # scalar operations that qdd needs, as :attr:`Tape.flops` counts them
    failed_at: str | None = None  # why there is no answer: a pivot that is zero, and its step
    refinement: Refinement | None = None
    proximal: Proximal | None = None
    lam: NDArray[Any] = field(default_factory=lambda: np.zeros(0))  # (m,) multipliers of all loops
    backward_error: BackwardError | None = None  # None where the elimination failed
    error_estimate: float | None = None  # of qdd: its distance to itself in twice the digits
    marked: str | None = None  # why the answer should not be relied on, though there is one
    columns: Columns | None = None  # solutions for more right-hand sides, where there were any
    shown: ClassVar = ("step", "blocks", "fill_blocks", "flops", "cancelled_bits", "absorbed_bits")

    def facts(self) -> dict[str, Any]:
        return {
            "name": f"{self.order} in {self.format}",
            "bodies": len(self.pdd) or None,
            "freedoms" if len(self.pdd) else "unknowns": len(self.qdd),
            "blocks of fill": self.fill,
            "operations": self.flops,
            "failed at": self.failed_at,
            "backward error": self.backward_error and float(self.backward_error.componentwise),
            "marked:": self.marked,
        }

    def records(self) -> list[dict[str, Any]]:
        """The steps, with the names of their blocks in one text."""
        return [step.__dict__ | {"blocks": " ".join(map(str, step.blocks))} for step in self.steps]

    @property
    def x(self) -> NDArray[Any]:
        """(unknowns,) pdd, qdd, f and lam as one vector, in the order of the rows of ``system.matrix``.

        ``system.blocks`` says where each block lies.  Of a matrix of one's own it is x of A x = b.

        >>> system = pt.build(pt.chain(3))
        >>> found = pt.eliminate(system, "abm")
        >>> bool(abs(system.matrix @ found.x - system.rhs).max() < 1e-12)
        True
        >>> bool(found.x[system.blocks["qdd", "j2"]] == found.qdd[1])
        True
        """
        return np.concatenate(self.unknowns, axis=None)

    @property
    def unknowns(self) -> Unknowns:
        """pdd, qdd, f and lam together."""
        return Unknowns(self.pdd, self.qdd, self.f, self.lam)

    @property
    def fill(self) -> int:
        """As :attr:`SymbolicFactor.fill_blocks`."""
        return self.symbolic.fill_blocks

    @property
    def height(self) -> int:
        """Blocks on the longest path of pivots that must wait for each other."""
        return self.symbolic.height
