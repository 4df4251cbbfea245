"""Numeric factor and solution of (4) in any order, in float64, group after group.

Orders that go body by body run through templates of machine code (:mod:`.template`).  In other
orders the blocks around a group differ from body to body.  A walk over the groups finds the kind of
each (:mod:`.fronts`), every kind is traced once, as the tape's program is (:mod:`.front_template`),
and its block operations are run in the order of the tape's sums (:mod:`.block_kernels`): the bits
are those of ``kkt.eliminate``, but for the sign of zero.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..base.errors import SingularError, SizeError
from ..matrix.blocks import FC, FJ, PDD, QDD, F
from ..matrix.system import System
from ..order.pivots import Plan
from ..structure.symbolic import SymbolicFactor
from . import block_kernels as kernels
from .bodywise import _rows
from .fronts import Units, Walked, units_of, walk
from .large import LargeSolution
from .schedule import Schedule, schedule

MOST_BYTES = 8e9  # a larger factor is refused
MOST_OPERATIONS = 50_000  # block operations of all templates together: two seconds of tracing
MORE = 0.1  # further operations allowed for each group: a large tree may have more kinds

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Kinds:
    """The groups of an order by kind, and the places of their numbers: a factor without values."""

    factor: SymbolicFactor
    schedule: Schedule
    units: Units
    walked: Walked
    programs: kernels.KindPrograms
    left: int  # length of the array of all updates
    store: int  # length of the array that the way back reads
    room: int  # length of the working array of one thread

    @property
    def count(self) -> int:
        """Templates, each traced once."""
        return len(self.programs.there) - 1


def takes(chosen: Plan) -> bool:
    """Whether the groups of an order can be sorted by kind.

    They cannot in right-looking orders, whose updates change the matrix at once, nor under rules
    that read how a child's update was made (``projected``, ``child_frame``).  Rotations are not
    among the block operations, and closed loops are no tree.
    """
    rules = chosen.sequence.rules
    return (
        rules.elimination == "gauss"
        and rules.assembly == "multifrontal"
        and rules.accumulate in ("assembled", "unassembled")
        and not chosen.graph.structure.ties
    )


def analysis_of(factor: SymbolicFactor) -> Kinds | None:
    """Kinds of groups, and places of all numbers; None where the kinds are too many.

    Raises SizeError where the numbers would not fit.
    """
    units = units_of(factor)
    found = walk(factor, units, int(MOST_OPERATIONS + MORE * len(units.first)))
    if found is None:
        return None
    walked, templates = found
    split = schedule(factor, units.first)
    sizes = np.array([u.size for t in templates for u in t.updates], dtype=np.int64)
    made = np.cumsum([0, *(len(t.updates) for t in templates)])
    kept = np.array([t.kept for t in templates], dtype=np.int64)[walked.kind]
    count = int(walked.update[-1])
    of = np.repeat(np.arange(len(walked.kind)), np.diff(walked.update))
    size = sizes[made[walked.kind[of]] + np.arange(count) - walked.update[of]]
    handed, left = np.cumsum(size) - size, int(size.sum())
    room = max((t.room for t in templates), default=0)
    total = 8.0 * (left + kept.sum() + room)
    if total > MOST_BYTES:
        raise SizeError(
            f"order {factor.plan.sequence.name!r}: its factor takes {total / 1e9:.1g} GB "
            f"({factor.fill_blocks} blocks of fill), more than {MOST_BYTES / 1e9:.1g} GB; "
            "use an order with less fill, such as abm"
        )
    parts = [part for t in templates for part in (t.there, t.back)]
    code = np.concatenate([np.zeros((0, kernels.WIDTH), dtype=np.int64), *parts])
    bounds = np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)
    programs = kernels.KindPrograms(
        code,
        bounds[::2],
        bounds[1::2],
        walked.kind,
        walked.at,
        walked.place,
        walked.body_at,
        walked.body,
        walked.arrival_at,
        walked.arrival,
        walked.update,
        handed,
        np.cumsum(kept) - kept,
    )
    return Kinds(factor, split, units, walked, programs, left, int(kept.sum()), room)


def solved(system: System, order: Kinds, threads: int) -> LargeSolution:
    """The solution of a system; raises SingularError where a pivot is zero or not a number."""
    factor, graph, e = order.factor, order.factor.plan.graph, system.entries
    chosen = factor.plan
    first = np.concatenate([[0], np.cumsum(factor.size)])
    offset = system.tree.offset
    turned = np.zeros((system.tree.n, 2), dtype=np.int64)
    if graph.split:
        _rows(offset, e.S, turned[:, 1])
    M, Phi, S, a, b, tau, A = (
        np.ascontiguousarray(x).ravel() for x in (e.M, e.Phi, e.S, e.a, e.b, e.tau, e.A)
    )
    x = np.zeros(int(first[-1]))
    place, rows = offset.astype(np.int64), turned[:, 1].copy()
    numbers = kernels.Stored(M, Phi, S, a, b, tau, A, place, rows, x, first)
    left, store = np.empty(order.left), np.empty(order.store)
    spare = [np.empty(order.room) for _ in range(threads)]

    def run(units: NDArray, ahead: bool) -> int:
        room = spare.pop()
        failed = kernels.run(order.programs, numbers, left, store, room, units, ahead)
        spare.append(room)
        return int(failed)

    bins, top = order.schedule.bins, order.schedule.top
    with ThreadPoolExecutor(threads) as pool:
        side_by_side = pool.map if threads > 1 else map
        failed = [*side_by_side(lambda units: run(units, True), bins), run(top, True)]
        run(top[::-1].copy(), False)
        list(side_by_side(lambda units: run(units[::-1].copy(), False), bins))
    wrong = [t for t in failed if t >= 0]
    if wrong:
        block = graph.block(int(chosen.blocks[min(wrong)]))
        raise SingularError(
            f"order {chosen.sequence.name!r}: pivot {block} at step "
            f"{chosen.group[min(wrong)] + 1} is zero or not a number for these numbers; give the "
            "massless links an inertia, or use an order that pairs pdd with f, such as abm"
        )
    return by_body(system, factor, x, first, turned[:, 1])


def by_body(
    system: System, factor: SymbolicFactor, x: Floats, first: NDArray, turned: NDArray
) -> LargeSolution:
    """Unknowns by body; the parts of a force that was split or shared with a carrier are added."""
    graph, tree = factor.plan.graph, system.tree
    structure, n, N = graph.structure, tree.n, int(tree.offset[-1])
    place = np.zeros(graph.count, dtype=np.int64)
    place[factor.plan.blocks] = first[:-1]
    m, six = structure.n, np.arange(6)
    within = np.arange(N) - np.repeat(tree.offset[:-1], tree.dof)
    pdd = x[place[PDD * m : PDD * m + n, None] + six]
    qdd = x[np.repeat(place[QDD * m : QDD * m + n], tree.dof) + within]
    if graph.split:
        f = np.empty((n, 6))
        S = np.ascontiguousarray(system.entries.S).ravel()
        starts = (place[kind * m : kind * m + n] for kind in (FJ, FC))
        _forces(f, S, tree.offset, turned, x, *starts)
        return LargeSolution(system, qdd, pdd, f)
    f = x[place[F * m : F * m + n, None] + six]
    for k, carrier in structure.carriers.items():
        f[k] += x[place[F * m + carrier] + six]
    return LargeSolution(system, qdd, pdd, f)


@njit(cache=True, nogil=True)
def _forces(f, S, offset, turned, x, along, across):  # pragma: no cover
    """f = B fJ + C fC of every body."""
    v, total = np.empty(36), np.empty(6)
    for k in range(len(f)):
        dof = offset[k + 1] - offset[k]
        if dof == 0:
            f[k] = x[across[k] : across[k] + 6]
            continue
        H = S[6 * offset[k] : 6 * offset[k + 1]]
        for part in range(2 if dof < 6 else 1):
            columns, at = (dof, along[k]) if part == 0 else (6 - dof, across[k])
            kernels.split(v, H, 0, 0, 6, columns, turned[k], part == 0)
            for i in range(6):
                total[i] = v[i * columns] * x[at]
                for j in range(1, columns):
                    total[i] += v[i * columns + j] * x[at + j]
                f[k, i] = total[i] if part == 0 else f[k, i] + total[i]
