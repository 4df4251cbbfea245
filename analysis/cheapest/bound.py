"""A proved lower bound on the operations of every order of the family.

Zeros of an inertia only go away as joints are eliminated, and a waiting joint only adds columns, so
that the operations of a step are at least those of its parts on the sparsest blocks that it can
meet.  Behind every body either all joints wait, and its step is CRBM's, counted exactly; or one has
been eliminated.  Then the inertia is carried as 21 numbers (ten where it is rigid up to here), the
force as six, and the acceleration too where a joint further out needs it.  From there on, every
joint j pays for the way to its place: a column through each body at which it waits, and its
rank-one update there, both counted on CRBM's columns, which are the sparsest.  A dynamic program
chooses, for every subtree, where CRBM ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import Structure
from pivotree.kkt.tape import emit, rigid
from pivotree.kkt.tape.inputs import InputSlots

Slots = NDArray[np.int64]


@dataclass(frozen=True)
class _Parts:
    """Least operations of the parts of a body's step."""

    general: int  # Phi M^ Phi^T of a general M^
    first: int  # the same, where M^ is still rigid
    joint: int  # M^ H^T, H M^ H^T and H p of its own joint
    force: int  # p = b + M^ a, and Phi p
    acceleration: int  # Phi^T pdd of the parent
    column: dict[int, int]  # of each joint that waits: Phi w
    update: dict[int, int]  # of each joint that is eliminated: its rank-one updates


def lower_bound(structure: Structure, inputs: InputSlots, composites: str, crbm: NDArray[np.int64]) -> int:
    """A lower bound on the operations of the family's orders; ``crbm`` (n,): CRBM's, by step."""
    parts = _parts(structure, inputs, composites != "general")
    parent, dof = structure.parent.tolist(), structure.dof.tolist()
    pays: dict[tuple[int, int], int] = {}  # of joint j, where waiting at k begins to be paid

    def pay(j: int, k: int) -> int:
        if parent[k] < 0:
            return dof[j]  # a quotient
        if (j, k) not in pays:
            wait = parts[k].column[j] + pay(j, parent[k])
            pays[j, k] = min(parts[k].update[j], wait)
        return pays[j, k]

    behind: dict[int, list[int]] = {k: [] for k in range(structure.n)}  # joints, own one included
    waiting, begun = crbm.astype(int).tolist(), [0] * structure.n
    children: dict[int, list[int]] = {k: [] for k in range(structure.n)}
    total = 0
    for k in structure.order.tolist():
        own = [k] if dof[k] else []
        below = children[k]
        waiting[k] += sum(waiting[c] for c in below)
        here = parts[k].joint + sum(pay(j, k) for j in own)
        ends = [waiting[c] + sum(pay(j, k) for j in behind[c]) for c in below]
        part = parts[k]
        choices = [here + part.force + part.first + sum(ends)]
        for i, c in enumerate(below):  # at least child i has eliminated a joint
            rest = sum(min(ends[m], begun[d]) for m, d in enumerate(below) if m != i)
            carried = part.force + part.general + part.acceleration
            choices.append(here + carried + begun[c] + rest)
        begun[k] = min(choices)
        behind[k] = own + [j for c in below for j in behind[c]]
        if not behind[k]:  # nothing to eliminate: CRBM's step is the only one
            begun[k] = waiting[k]
        if parent[k] < 0:
            total += min(waiting[k], begun[k])
        else:
            children[parent[k]].append(k)
    return total


def _parts(structure: Structure, inputs: InputSlots, ten: bool) -> list[_Parts]:
    """The parts on CRBM's patterns: composite inertias, columns and forces, and accelerations."""
    n, parent = structure.n, structure.parent.tolist()
    e = emit.Emitter(1 << 40)

    def counted(function: Callable[..., Slots], *blocks: Slots) -> tuple[Slots, int]:
        before = e.count
        out = function(e, *blocks)
        return out, e.count - before

    def congruence(_: emit.Emitter, Phi: Slots, M: Slots) -> Slots:
        return emit.mul_symmetric(e, Phi, emit.mul(e, M, Phi.T))

    M = [inputs.block("M", k) for k in range(n)]
    p = [inputs.block("b", k) for k in range(n)]
    columns: list[dict[int, Slots]] = [{} for _ in range(n)]
    found: list[_Parts | None] = [None] * n
    join = rigid.join if ten else emit.add_symmetric
    accelerations: dict[int, Slots] = {}
    rates: list[Slots] = []  # accelerations without the body's own joint's
    for k in structure.order[::-1].tolist():
        rate = inputs.block("a", k)
        if parent[k] >= 0:
            carried = emit.mul(e, inputs.block("Phi", k).T, accelerations[parent[k]])
            rate = emit.add(e, carried, rate)
        moves = structure.dof[k] > 0
        along = np.abs(inputs.block("H", k)).max(axis=0)[:, None] if moves else 0 * rate
        rates.append(rate)
        accelerations[k] = np.where(rate == 0, along, rate)
    rate_of = dict(zip(structure.order[::-1].tolist(), rates, strict=True))
    for k in structure.order.tolist():
        H = inputs.block("H", k) if structure.dof[k] else np.zeros((0, 6), dtype=np.int64)
        joint = e.count
        if len(H):
            columns[k][k] = emit.mul(e, M[k], H.T)
            D = emit.mul_symmetric(e, H, columns[k][k])
            if structure.armature[k]:
                emit.add_symmetric(e, D, inputs.block("A", k))
        joint = e.count - joint
        up = parent[k]
        moving, met = counted(emit.mul, M[k], inputs.block("a", k))
        p[k], more = counted(emit.add, p[k], moving)
        joint += counted(emit.mul, H, p[k])[1] if len(H) else 0
        if up < 0:
            found[k] = _Parts(0, 0, joint, met + more, 0, {}, {})
            continue
        Phi = inputs.block("Phi", k)
        unit = (H == 1).any(axis=0)[:, None] & (np.abs(H).sum() == len(H))
        moved, first = counted(rigid.shift if ten else congruence, Phi, M[k])
        # after its own joint there is no row along it; after another, its column's square as well
        general = []
        for j in columns[k].keys() - {k} or [-1]:
            c = np.abs(columns[k].get(j, 0 * p[k])).max(axis=1, keepdims=True)
            filled = np.where((M[k] == 0) & (c * c.T > 0), 1 << 39, M[k])
            for block in (filled, np.where(unit | unit.T, 0, filled)):
                general.append(counted(congruence, Phi, block)[1])
        alone = [M[k], np.where(unit | unit.T, 0, M[k])]
        own = [counted(congruence, Phi, block)[1] for block in alone]
        force, cost = counted(emit.mul, Phi, p[k])
        _, back = counted(emit.mul, Phi.T, accelerations[up])
        column, update = {}, {}
        for j, w in columns[k].items():
            columns[up][j], column[j] = counted(emit.mul, Phi, w)
            kept = np.where(unit, 0, w) if j == k else w
            here = _update(kept, M[k], p[k], rate_of[k])
            update[j] = min(here, _update(columns[up][j], moved, force, accelerations[up]))
        least = min(general)
        cost += met + more
        found[k] = _Parts(least, min(first, *own), joint, cost, back, column, update)
        M[up] = join(e, M[up], moved)
        p[up] = emit.add(e, p[up], force)
    return [part for part in found if part is not None]


def _update(w: Slots, M: Slots, p: Slots, pdd: Slots) -> int:
    """The cost of the columns c of w (6, N): M - (c/d) c^T, p - (c/d) u, and (u - c^T pdd)/d."""
    total = 0
    for c in w.T[:, :, None]:
        size = int(np.count_nonzero(c))
        total += 2 * size + size * (size + 1) // 2  # c/d, (c/d) u, (c/d) c^T
        total += int(np.count_nonzero(np.triu((c != 0) & (c.T != 0) & (M != 0))))
        total += int(np.count_nonzero(c * p) + 2 * np.count_nonzero(c * pdd))
    return total
