"""Numeric factor and solution of (4) in any order, in float64, on arrays: no tape, no record.

:func:`solve_in_order` has three ways.  Orders that go body by body run through templates of machine
code (:mod:`.template`), others group after group through templates of block operations
(:mod:`.front_solve`).  Both have the tape's bits.  The third way, panels, is in this file.  It is
for orders whose groups are of too many kinds to be traced, since their fronts grow with the tree,
and for right-looking orders that do not go body by body.

The symbolic factor says with which later blocks each block is coupled when it is eliminated; each
block has a panel for these couplings, so that storage is the factor itself
(:mod:`.numeric_storage`).  Updates are subtracted from the panels of later blocks as they are made,
in the order of the tape's sums (:mod:`.waiting`); the matrix's own entry is added last, when the
block's group opens.  Each pivot's operations are those of :mod:`kkt.program` one by one, so that
virtual_work and the orders like it, crbm and natural have the tape's bits.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError, OrderError, SingularError, SizeError
from ..base.kinds import is_whole
from ..matrix.blocks import QDD
from ..matrix.system import System
from ..order.pivots import Plan, plan
from ..structure.symbolic import SINGLE, SymbolicFactor, symbolic
from . import front_solve
from . import numeric_kernels as kernels
from .bodywise import Bodies, _rows, bodywise
from .front_solve import MOST_BYTES, Kinds
from .large import LargeSolution, body_by_body, trusted
from .numeric_storage import Layout, Matrix, Scratch, Storage, enter, split_forces
from .schedule import Schedule, schedule
from .waiting import at_once, in_sums_of_the_tape

MOST_BLOCKS = 20_000_000  # a factor of more blocks is refused, listing which takes a gigabyte


@dataclass(frozen=True)
class Analysis:
    """A factor by panels without its values: for all systems of one structure, in one order."""

    factor: SymbolicFactor
    schedule: Schedule
    layout: Layout


def analyse(chosen: Plan) -> Analysis | Kinds | Bodies:
    """What all solutions of a plan share; :func:`kkt.solve_large` takes it in place of the order.

    It is :class:`.bodywise.Bodies` for an order that goes body by body, :class:`.front_solve.Kinds`
    for another, and :class:`Analysis` where the kinds of groups are too many.  Raises OrderError
    for an order that none of them can run, and SizeError for a factor that would not fit.
    """
    own = bodywise(chosen)
    if own is not None:
        return own
    if not front_solve.takes(chosen):
        _require_own_numbers(chosen)
    factor = symbolic(chosen, most=MOST_BLOCKS)
    if front_solve.takes(chosen):
        kinds = front_solve.analysis_of(factor)
        if kinds is not None:
            return kinds
    _require_own_numbers(chosen)
    return _analysis(factor)


def solve_in_order(system: System, order: Any, threads: int = 1) -> LargeSolution:
    """Factor and solve (4) in an order, a plan or an analysis; see :func:`kkt.solve_large`."""
    if not is_whole(threads, 1):
        raise ModelError(f"threads is {threads!r}; give 1 or more")
    system.structure.require_tree("solve_large", "use kkt.eliminate, which takes it")
    if not isinstance(order, Analysis | Kinds | Bodies):
        order = analyse(order if isinstance(order, Plan) else plan(order, system.structure))
    if isinstance(order, Bodies):
        order.require_tree_of(system.tree)
        return body_by_body(system, order, threads)
    analysis, name = order, order.factor.plan.sequence.name
    _require_tree_of(system, analysis.factor.plan)
    if isinstance(analysis, Kinds):
        kinds = analysis
        return trusted(system, name, lambda given: front_solve.solved(given, kinds, threads), False)
    panels = analysis
    return trusted(system, name, lambda given: _solved(given, panels, threads), False)


def _solved(system: System, order: Analysis, threads: int) -> LargeSolution:
    factor, layout = order.factor, order.layout
    matrix, storage = _matrix(system, factor), _storage(layout)
    delayed = factor.plan.sequence.rules.assembly == "multifrontal"
    if not delayed:
        enter(layout, storage, matrix, 0, len(layout.size))
    failed = _run(layout, storage, matrix, order.schedule, delayed, threads)
    if failed >= 0:
        raise SingularError(_singular(factor, failed))
    turned = np.zeros(system.tree.n, dtype=np.int64)
    if factor.plan.graph.split:
        _rows(system.tree.offset, system.entries.S, turned)
    return front_solve.by_body(system, factor, storage.x, layout.first, turned)


def _require_own_numbers(chosen: Plan) -> None:
    other = [
        f"{switch} {value!r}"
        for switch, value in vars(chosen.sequence.rules).items()
        if value in ("unassembled", "projected", "child_frame", "joseph", "orthogonal")
    ]
    if chosen.graph.structure.carrier is not None:
        other.append("links 'stretched'")
    if other:
        raise OrderError(
            f"order {chosen.sequence.name!r}: has {other[0]}, whose numbers are not those of "
            "equation (4) itself; kkt.eliminate runs it"
        )


def _require_tree_of(system: System, chosen: Plan) -> None:
    own, same = chosen.graph.structure, system.structure.with_links(chosen.sequence.links)
    if not (np.array_equal(own.parent, same.parent) and np.array_equal(own.dof, same.dof)):
        raise OrderError(
            f"order {chosen.sequence.name!r}: is a plan of another tree; make it of this structure"
        )


def _analysis(factor: SymbolicFactor) -> Analysis:
    """The analysis of a factor by panels; raises SizeError where the panels would not fit."""
    chosen, size = factor.plan, factor.size
    split = schedule(factor, np.searchsorted(chosen.group, np.arange(chosen.groups + 1)))
    graph, rules = chosen.graph, chosen.sequence.rules
    first = np.concatenate([[0], np.cumsum(size)])
    columns = np.concatenate([[0], np.cumsum(size[factor.column_index])])
    start = columns[:-1] - np.repeat(columns[factor.column_pointer[:-1]], factor.counts)
    panel = np.concatenate([[0], np.cumsum(size * (size + factor._widths))])
    pivots = np.add.reduceat(factor.pivot < 2, split.first[:-1])
    whole = rules.couple == "inverse" and rules.assembly == "multifrontal"
    singles = np.minimum.reduceat(factor.pivot, split.first[:-1]) == SINGLE
    alone = np.maximum.reduceat(factor.pivot, split.first[:-1]) == SINGLE
    bracket = whole & (pivots > 1) & ~(singles & alone)
    joints = np.minimum.reduceat(graph.kind[chosen.blocks] == QDD, split.first[:-1])
    from_ = len(joints) - int(np.argmin(joints[::-1]))  # the first of the groups that end it
    tail = np.arange(len(size)) >= split.first[from_]
    own = np.diff(first[split.first])
    inner = np.concatenate([[0], np.cumsum(np.where(bracket, own * own, 0))])
    layout = Layout(
        graph.kind[chosen.blocks],
        graph.member[chosen.blocks],
        size,
        first,
        factor.pivot,
        tail,
        factor.column_pointer,
        factor.column_index,
        start,
        factor._widths,
        panel,
        split.first,
        bracket,
        inner,
        split.task,
        at_once(len(size), len(joints)),
    )
    if rules.assembly == "multifrontal":
        split, layout = in_sums_of_the_tape(split, layout, from_)
    else:  # updates go to the matrix at once, one after another
        split = replace(split, task=np.full_like(split.task, -1))
    further = int(layout.waiting.more.sum())
    room = 8.0 * (panel[-1] + inner[-1] + further + 4 * first[-1] + 2 * len(start))
    if room > MOST_BYTES:
        raise SizeError(
            f"order {chosen.sequence.name!r}: its factor takes {room / 1e9:.1g} GB "
            f"({factor.fill_blocks} blocks of fill), more than {MOST_BYTES / 1e9:.1g} GB; "
            "use an order with less fill, such as abm"
        )
    return Analysis(factor, split, layout)


def _storage(layout: Layout) -> Storage:
    unknowns, (more, more_y) = int(layout.first[-1]), layout.waiting.more
    sizes = (layout.panel[-1] + more, layout.inner[-1], unknowns + more_y, unknowns)
    return Storage(*(np.zeros(int(size)) for size in sizes))


def _scratch(layout: Layout) -> Scratch:
    """Working arrays of one thread, large enough for every pivot and bracket."""
    own = np.diff(layout.first[layout.group])
    inside = int(np.max(own[layout.bracket], initial=0))
    two = layout.width + np.append(layout.width[1:], 0)  # of a pair's two blocks
    wide = int(np.max(two, initial=0))
    if layout.bracket.any():
        groups = np.add.reduceat(layout.width, layout.group[:-1])
        wide = max(wide, int(np.max(groups[layout.bracket])))
    wide = min(wide, int(layout.first[-1]))
    rows, blocks = max(12, inside), len(layout.size)
    many = min(wide, blocks) + 2
    return Scratch(
        P=np.empty((rows, wide)),
        Q=np.empty((rows, wide)),
        h=np.empty(rows),
        B=np.empty((inside, inside)),
        inverse=np.empty((inside, inside)),
        z=np.empty(rows),
        D=np.empty((6, 6)),
        row=np.empty(wide),
        more=np.empty(wide),
        outside=np.empty(many, dtype=np.int64),
        at=np.empty(many, dtype=np.int64),
        where=np.empty(many, dtype=np.int64),
        stride=np.empty(many, dtype=np.int64),
        active=np.empty(rows, dtype=np.int64),
        mark=np.full(blocks, -1),
    )


def _matrix(system: System, factor: SymbolicFactor) -> Matrix:
    """The blocks of (4); where bodies are split into pieces, those of the pieces."""
    tree, e, structure = system.tree, system.entries, factor.plan.graph.structure
    parent, offset, a, b, M, Phi = tree.parent, tree.offset, e.a, e.b, e.M, e.Phi
    if structure.copy_of is not None and structure.pieces is not None:
        of, more = structure.copy_of, structure.n - tree.n
        parent = structure.parent
        offset = np.concatenate([offset, np.full(more, offset[-1])])
        M, b = M[of] / structure.pieces[:, None, None], b[of] / structure.pieces[:, None]
        Phi = np.concatenate([Phi, np.broadcast_to(np.eye(6), (more, 6, 6))])
        a = np.concatenate([a, np.zeros((more, 6))])
    basis = np.empty((structure.n if factor.plan.graph.split else 0, 6, 6))
    moved = np.empty_like(basis)
    turned = np.zeros(len(basis), dtype=np.int64)
    if len(basis):
        _rows(tree.offset, e.S, turned[: tree.n])
    split_forces(offset, np.ascontiguousarray(e.S).ravel(), turned, Phi, basis, moved)
    return Matrix(parent, offset, M, Phi, e.S, a, b, e.tau, e.A, basis, moved)


def _run(layout: Layout, to: Storage, matrix: Matrix, split: Schedule, delayed: bool, threads: int) -> int:
    """Eliminate the subtrees side by side, then the top; find the unknowns in reverse.

    Returns the first block whose pivot is zero or not a number, or -1.
    """

    spare = [_scratch(layout) for _ in range(threads)]

    def forward(groups: NDArray) -> int:
        room = spare.pop()
        failed = kernels.eliminate(layout, to, matrix, room, groups, delayed)
        spare.append(room)
        return int(failed)

    def back(groups: NDArray) -> None:
        room = spare.pop()
        kernels.back(layout, to, room, groups)
        spare.append(room)

    with ThreadPoolExecutor(threads) as pool:
        side_by_side = pool.map if threads > 1 else map
        failed = list(side_by_side(forward, split.bins))
        failed.append(forward(split.top))
        back(split.top)
        list(side_by_side(back, split.bins))
    return min((t for t in failed if t >= 0), default=-1)


def _singular(factor: SymbolicFactor, position: int) -> str:
    chosen = factor.plan
    block = chosen.graph.block(int(chosen.blocks[position]))
    return (
        f"order {chosen.sequence.name!r}: pivot {block} at step {chosen.group[position] + 1} is "
        "zero or not a number for these numbers; give the massless links an inertia, or use an "
        "order that pairs pdd with f, such as abm"
    )
