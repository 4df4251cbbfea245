"""The results of an elimination: the solution, and a record for each pivot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.shown import Shown, Tabled
from ..matrix.blocks import Block
from ..matrix.system import System
from ..structure.symbolic import SymbolicFactor


class Unknowns(NamedTuple):
    """All unknowns of (4), or something for each, such as its slot; bodies in the tree's order."""

    pdd: NDArray  # (n, 6)
    qdd: NDArray  # (N,)
    f: NDArray  # (n, 6)
    lam: NDArray  # (m,) multipliers of all loops

    @staticmethod
    def of(system: System, blocks: Mapping[Block, NDArray], dtype: Any = object) -> Unknowns:
        """From pdd (6,) and f (6,) of every body, qdd (N_k,) and lam of those that have any."""
        names, loops, none = system.tree.names, system.structure.constraints, np.zeros(0, dtype)
        pdd, f = (np.array([blocks[Block(x, b)] for b in names], dtype) for x in ("pdd", "f"))
        qdd, lam = (
            np.concatenate([none, *(blocks[Block(x, b)] for b in of if Block(x, b) in blocks)])
            for x, of in (("qdd", names), ("lam", loops))
        )
        return Unknowns(pdd, qdd, f, lam)


class Against(NamedTuple):
    """Cancellation beside that of exact arithmetic on the same data: of one pivot, or (groups,).

    Bits are compared where neither has a zero among the operands or for the result.
    """

    order: Any  # most bits that exact arithmetic cancels in one sum: the order's own
    format: Any  # most bits that the format cancels
    more: Any  # most bits that the format cancels in one sum and exact arithmetic does not
    less: Any  # the reverse: rounding stands where digits should have gone
    residues: Any  # sums that are zero exactly, where rounding leaves a number
    vanished: Any  # sums that are zero in the format, where there is a number


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
    flops: int  # scalar operations, forward and backward
    error: float | None  # of the block's unknowns against the certified answer, where known
    pivots: tuple[Any, ...] = ()  # the diagonal of L D L^T, D_k where it is 1 x 1
    # None with records=False:
    growth: float | None = None  # largest result over the largest entry of (4)
    cancelled_bits: int | None = None  # largest in one sum that is not zero
    absorbed_bits: float | None = None  # most bits of a smaller operand lost in one sum
    pivot_error: float | None = None  # largest relative error of the pivot's own diagonal
    absorbed: float | None = None  # largest fraction of a smaller operand lost in one sum
    exact_zeros: int | None = None  # sums of nonzeros that are exactly zero
    radius_bits: float | None = None  # balls alone: bits that the pivot's radius has taken
    against: Against | None = None  # exact arithmetic on the same data, where that was asked for


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


@dataclass(frozen=True, repr=False)
class Solved(Shown):
    """Numbers that follow from further right-hand sides of (4), and what they are worth.

    ``values`` has the shape and the units of what was asked for; numpy takes the whole as that
    array.  It is judged by the rule of :mod:`kkt.tape.trust`, as an answer of :func:`kkt.eliminate`.

    >>> system, abm = pt.build(pt.chain(3)), pt.orderings.get("abm")
    >>> found = pt.joint_space_inverse(system, abm, "float32")
    >>> found.values.shape, found.marked is None, found.error_estimate < 1e-6
    ((3, 3), True, True)
    """

    values: NDArray
    error_estimate: float | None = None  # its distance to itself in twice the digits; None of balls
    marked: str | None = None  # why it should not be relied on

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        return np.array(self.values, dtype, copy=bool(copy)) if copy else np.asarray(self.values, dtype)

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"name": " x ".join(map(str, self.values.shape)) + " numbers"}
        if self.error_estimate is not None:
            facts["error about"] = self.error_estimate
        return facts | ({"marked:": self.marked} if self.marked else {})


@dataclass(frozen=True, repr=False, kw_only=True)
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
    """The outcome of a proximal iteration (:mod:`kkt.solution.proximal`)."""

    mu: float  # compliance that each iteration gives the rows
    iterations: int
    residual: float  # largest of the rigid rows' [rad/s^2, m/s^2]
    status: str  # converged, settled (at rounding), not settled or diverged


@dataclass(frozen=True, repr=False)
class Elimination(Tabled):
    """The outcome of one order in one number format.

    >>> result = pt.eliminate(pt.build(pt.chain(3)), pt.orderings.get("crbm"), "float32")
    >>> result.fill, result.flops, result.height, result.qdd.shape
    (6, 416, 9, (3,))
    >>> result.failed_at is None, result.marked is None
    (True, True)
    """

    order: str
    format: str
    qdd: NDArray  # (N,) joint accelerations [rad/s^2, m/s^2], bodies in the tree's order
    pdd: NDArray  # (n, 6) minus the spatial acceleration of each body, as in (4)
    f: NDArray  # (n, 6) spatial force through each joint [N m, N]
    steps: tuple[StepRecord, ...]
    symbolic: SymbolicFactor
    flops: int  # scalar operations that qdd needs
    failed_at: str | None = None  # why there is no answer: a pivot that is zero, and its step
    refinement: Refinement | None = None
    proximal: Proximal | None = None
    lam: NDArray = field(default_factory=lambda: np.zeros(0))  # (m,) multipliers of all loops
    backward_error: BackwardError | None = None  # None where the elimination failed
    error_estimate: float | None = None  # of qdd: its distance to itself in twice the digits
    marked: str | None = None  # why the answer should not be relied on, though there is one
    columns: Columns | None = None  # solutions for more right-hand sides, where there were any
    shown = ("step", "blocks", "fill_blocks", "flops", "cancelled_bits", "absorbed_bits")

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "name": f"{self.order} in {self.format}",
            "bodies": len(self.pdd),
            "freedoms": len(self.qdd),
            "blocks of fill": self.fill,
            "operations": self.flops,
        }
        if self.failed_at is not None:
            return facts | {"failed at": self.failed_at}
        if self.backward_error is not None:
            facts["backward error"] = float(self.backward_error.componentwise)
        return facts | ({"marked:": self.marked} if self.marked else {})

    def records(self) -> list[dict[str, Any]]:
        """The steps, with the names of their blocks in one text."""
        return [step.__dict__ | {"blocks": " ".join(map(str, step.blocks))} for step in self.steps]

    @property
    def fill(self) -> int:
        """As :attr:`SymbolicFactor.fill_blocks`."""
        return self.symbolic.fill_blocks

    @property
    def height(self) -> int:
        """Blocks on the longest path of pivots that must wait for each other."""
        return self.symbolic.height
