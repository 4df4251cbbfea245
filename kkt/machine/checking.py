"""What a checked kernel asks of its own answer, as further operations of the same program.

Two questions, since either alone can be fooled.

*Is a pivot zero for the format?*  D_k of a joint is at most what the joint would move if all joints
beyond it were stuck, and what rounding leaves of that is left of every D_k: a D_k no larger than
:data:`ROUNDING` u times it has no digit.  In coordinates in any direction rounding mixes moments of
inertia, so that the size is their trace about the joint's origin, |w|^2 tr J + |v|^2 m for a motion
(w, v).  Rotations never form D_k as a difference, but as weighted squares of a column: there it is
the column that keeps u of its size, and D_k u^2.  Pivots that are no joint's are those of bodies,
which no state changes: they are looked at when a kernel is made.

*Does the answer solve the equations?*  tau - ID(qdd), what inverse dynamics leaves of the efforts,
is solved for by the same factor: one step of iterative refinement, whose size is the error of qdd
as the order sees it (Higham 2002, chapter 12), in the same format.  It is bounded by half of the
format's digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..elimination.idle import idle_motion
from ..elimination.rounding import rounded_entries
from ..elimination.run import run_floats, run_objects
from ..elimination.tape import Tape
from ..errors import SingularError
from ..spatial import Array, matvec
from ..system import System, assemble, build
from .states import Fields

ROUNDING = 4.0  # roundings of its size that a pivot which is zero is left with, at most
OVERFLOW, INEXACT = -1, -2  # status of an answer; 0: it holds; k: the k-th pivot is zero
WORDS = {
    OVERFLOW: "qdd: overflow or not a number in {}",
    INEXACT: "qdd: fewer than half of the digits of {}",
}
KINDS = ("pdd", "qdd")  # of pivots that are looked at
NO_BIT = 0.5  # a pivot that is so far from itself in more digits, relatively, has no correct bit
BITS = 256  # of the balls that they are held against
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Judged:
    """Rows that follow the outputs: of each order qdd, correction, pdd, pivots and their sizes."""

    shown: int  # numbers of a state that are outputs, each order's status its last
    N: int
    bodies: int
    pivots: tuple[int, ...]  # of each order
    zero: tuple[float, ...]  # a pivot is zero up to so much of its size
    bound: float  # of the correction, relative to qdd: half of the format's digits

    def parts(self) -> list[tuple[int, list[slice]]]:
        """Of each order the row of its status, and its rows among all outputs."""
        each, first, found = self.shown // len(self.pivots), self.shown, []
        for o, count in enumerate(self.pivots):
            slices = []
            for size in (self.N, self.N, 6 * self.bodies, count, count):
                slices.append(slice(first, first + size))
                first += size
            found.append(((o + 1) * each - 1, slices))
        return found

    def judge(self, rows: NDArray) -> NDArray:
        """The outputs (m, shown) of rows (m, outputs), with their status, as machine code does."""
        out = rows[:, : self.shown].copy()
        with np.errstate(all="ignore"):
            for (status, parts), zero in zip(self.parts(), self.zero, strict=True):
                qdd, correction, pdd, pivot, size = (np.abs(rows[:, part]) for part in parts)
                reach = self.bound * pdd.max(axis=1, initial=0.0)
                allowed = self.bound * np.maximum(qdd.max(axis=1, initial=0.0), reach)
                out[:, status] = np.where(correction.max(axis=1, initial=0.0) > allowed, INEXACT, 0)
                numbers = np.concatenate([qdd, correction, pivot], axis=1)
                out[~np.isfinite(numbers).all(axis=1), status] = OVERFLOW
                limit = zero * size
                lost = (pivot <= limit) & np.isfinite(limit)
                first = lost.argmax(axis=1) + 1 if lost.shape[1] else np.zeros(len(rows))
                out[:, status] = np.where(lost.any(axis=1), first, out[:, status])
        return out


def judged_by(
    pivots: Sequence[Rows], rotations: Sequence[bool], fields: Fields, unit: float
) -> Judged:
    """How kernels of some orders judge; ``rotations``: which of them eliminate by rotations."""
    return Judged(
        fields.numbers, fields.N, fields.n, tuple(map(len, pivots)),
        tuple(ROUNDING * unit ** (2 if rotates else 1) for rotates in rotations),
        float(np.sqrt(unit)),
    )  # fmt: skip


def pivots_of(tape: Tape, system: System) -> Rows:
    """(P, 6) scalar pivots of bodies and joints: kind, body, row, step, signed slot, record."""
    found = []
    for number, slots in sorted(tape.pivots.items()):
        record = tape.program.pivots[number]
        k = system.structure.index.get(record.blocks[0].body)
        kind = record.blocks[0].kind
        if k is not None and kind in KINDS and len(slots) == (6, system.tree.dof[k])[kind == "qdd"]:
            found += [
                (KINDS.index(kind), k, i, record.step, slot, number)
                for i, slot in enumerate(slots.ravel().tolist())
            ]
    return np.array(found, dtype=np.int64).reshape(-1, 6)


def by_rotations(tape: Tape) -> bool:
    factor = tape.program.symbolic
    return factor is not None and factor.plan.sequence.rules.elimination == "orthogonal"


def sizes_of_pivots(
    system: System, R: Array, p: Array, subspaces: Sequence[Array]
) -> tuple[list[list[Any]], list[list[Any]]]:
    """By kind, body and row: |w|^2 tr J + |v|^2 m, J and m of all that the body carries.

    Of a body's own pivots the motions (w, v) are the unit ones, of a joint's the columns of S;
    poses R (n, 3, 3), p (n, 3) and S_k (6, N_k) are those of :func:`.kinematics.kinematics`.
    """
    tree = system.tree
    mass, moment, trace = tree.mass.tolist(), list(tree.mass[:, None] * tree.com.astype(object)), []
    for m, d, J in zip(mass, tree.com, tree.inertia, strict=True):
        trace.append(float(np.trace(J) + 2.0 * m * (d @ d)))
    for k in system.structure.order.tolist():  # children before their parents
        up = int(tree.parent[k])
        if up >= 0 and mass[k]:
            turned = matvec(R[k], moment[k])
            along, square = (p[k] * turned).sum(), (p[k] * p[k]).sum()
            trace[up] = trace[up] + (trace[k] + (along * 4.0 + square * (2.0 * mass[k])))
            moment[up] = moment[up] + (turned + p[k] * mass[k])
            mass[up] += mass[k]
    return (
        [[trace[k]] * 3 + [mass[k]] * 3 for k in range(tree.n)],
        [
            [(s[:3] * s[:3]).sum() * trace[k] + (s[3:] * s[3:]).sum() * mass[k] for s in S.T]
            for k, S in enumerate(subspaces)
        ],
    )


def require_pivots(system: System, tapes: Sequence[Tape], chosen: Format) -> None:
    """Raise SingularError for a pivot that is zero for a format in any state, as far as two tell.

    Where all bodies have a mass and inertia about every axis no state has such a pivot; else an
    order's pivots are held against those of the model in balls, in two states drawn at random.
    """
    tree, N = system.tree, int(system.tree.offset[-1])
    moments = np.linalg.eigvalsh(tree.inertia)
    if (moments[:, 0] > 16 * ROUNDING * chosen.unit * moments[:, -1]).all() and tree.mass.all():
        return
    draw = np.random.default_rng(N)
    states = [build(system.graph, draw.uniform(-1.0, 1.0, N)) for _ in range(2)]
    for tape in tapes:
        lost = [_lost(tape, state, chosen) for state in states]
        if all(lost):
            record = tape.program.pivots[min(set.intersection(*lost), default=min(lost[0]))]
            block = record.blocks[0]
            idle = idle_motion(states[0], states[0].entries, get_format("float64").unit)
            why = f"; give body {block.body!r} a full inertia, or use abm"
            if block.kind == "qdd":
                why = f": {idle.why}" if idle else "; give what it moves an inertia"
            raise SingularError(
                f"order {tape.program.name!r}: pivot {block} at step {record.step + 1} is zero for "
                f"{chosen.name} in any state{why}"
            )


def _lost(tape: Tape, system: System, chosen: Format) -> set[int]:
    """Pivots by number that are zero in one state: without a correct bit, or to their size."""
    import flint

    _, own, v = run_floats(tape, rounded_entries(system, chosen), chosen)
    with flint.ctx.workprec(BITS):
        try:
            _, balls, _ = run_objects(tape, assemble(system.state, flint.arb), flint.arb)
        except SingularError:
            balls = {}
        exact = {i: np.array([float(d.mid()) for d in values]) for i, values in balls.items()}
    state = system.state
    sizes = sizes_of_pivots(system, state.R, state.p, state.S)
    found = set()
    with np.errstate(all="ignore"):
        for number, values in own.items():
            a = chosen.shown(values).astype(float).ravel()
            b = exact.get(number, a)  # none behind a zero, which its size tells
            if not (np.abs(a - b) < NO_BIT * np.maximum(np.abs(a), np.abs(b))).all():
                found.add(number)
        zero = ROUNDING * chosen.unit ** (2 if by_rotations(tape) else 1)
        for kind, k, row, _, slot, number in pivots_of(tape, system).tolist():
            value = abs(float(chosen.shown(v[abs(slot) : abs(slot) + 1])[0]))
            if number not in exact and value <= zero * sizes[kind][k][row]:
                found.add(number)
    return found
