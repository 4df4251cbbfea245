"""The checks of a checked kernel on its own answer, as further operations of the same program.

The rule is that of :mod:`kkt.proof.trust`.  *Is a pivot zero for the format?*  D_k of a joint is at
most the inertia that the joint would move if all joints beyond it were locked.  Rounding errors of
D_k are some roundings of that inertia, so that a D_k no larger than these has no correct digit.  In
general directions rounding mixes moments of inertia, so that the inertia is bounded by their trace
about the joint's origin: |w|^2 tr J + |v|^2 m for a motion (w, v).  Rotations form D_k not as a
difference but as a weighted sum of squares of a column; there rounding leaves u of the size of a
column, and u^2 in D_k.  Pivots of bodies do not depend on the state: they are checked when a kernel
is made.  For pivots of multipliers, the rows are checked.

*Does the answer solve (4)?*  Inverse dynamics at qdd and lambda gives pdd and f that solve all rows
of (4) to rounding, but those of efforts and of loops, whose residuals are tau - ID(qdd) and
-gamma - G pdd + compliance lambda.  The largest residual is divided by the largest entry of
(pdd, qdd) times (1 plus the largest row sum of the M_k).  This is no less than the normwise
backward error, since the norms of (4) and of its unknowns are no smaller.  *What is the error?*
The residual is solved for by the same factor: a step of iterative refinement, whose size estimates
the error of qdd in this order.  Where a robot nearly holds still, it is held against a part of what
the efforts would do alone (:mod:`kkt.matrix.system`), each over the bound above of the inertia
that its joint moves.  Both have the bound of :func:`kkt.proof.trust.bound`.  *Are the poses
right?*  Numbers beside the residuals are infinite where an angle or a quaternion is so large that
its sine or rotation is wrong (:func:`.kinematics.outside`).

In formats that are shorter than float64 inverse dynamics runs in float64, on poses and bias of its
own, so that both numbers tell what the kinematics lost too.  In float64 the entries of
(4) are judged as they were formed.

A short format cannot tell what its own rounding of poses and bias does to qdd: a residual of the
entries that it formed is small whatever they are.  So a checked program in a format that is shorter
than float64 runs in three stages: the first finds the answer; the second, in float64, forms poses and
bias anew from the state, and inverse dynamics of the answer from these; the third goes on with this
residual in the format, and solves for it by the first one's factor.  This is iterative refinement
with residuals in twice the digits, of equation (4) as the model's own numbers make it (Higham,
Accuracy and Stability of Numerical Algorithms, 2nd ed., section 12.1).

*Do rows of loops and contacts depend on each other?*  J (m, N) are the rigid rows as functions of the
joints' rates.  Where a row depends on those before it, the matrix of lambda, J M^-1 J*, has a zero
pivot, whatever the masses are, and so has J J*, which is cheaper.  This is the rule of
:mod:`kkt.matrix.state` for systems, here as operations of a program.  The r-th pivot of L D L* is
wrong by up to r + 1 roundings of the row's size (Higham 2002, theorem 10.3); that size is computed
with it.  Rows with a compliance have a nonzero pivot in any state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..base.errors import SingularError
from ..matrix.configuration import Configuration
from ..matrix.entries import ROUNDINGS, Entries
from ..matrix.system import SHARE, System
from ..model.loops import paths
from ..model.spatial import Array, matmul, matvec
from ..proof.soundness import by_chance
from ..proof.trust import FEWER, bound
from ..solution.eliminate import eliminate
from ..tape.idle import all_resist
from ..tape.player import NO_NUMBER
from ..tape.tape import Tape
from .kinematics import arguments
from .recorder import ScalarProgram
from .states import Fields


def divided(program: ScalarProgram, inputs: int, heads: int) -> tuple[ScalarProgram, ScalarProgram]:
    """The operations that need none of the inputs from number ``inputs`` on, and the others.

    The first program's outputs are the first ``heads`` of the whole, and all that the second one
    reads; its inputs are these and then the late ones, its outputs the rest of the whole's.
    """
    first, total = program.first, program.first + len(program)
    late = [False] * total
    late[2 + inputs : 2 + program.inputs] = [True] * (program.inputs - inputs)
    for slot, (a, b) in enumerate(zip(program.a.tolist(), program.b.tolist(), strict=True), first):
        late[slot] = late[a] or late[b]
    after = np.array(late)
    own = after[first:]
    constant = np.zeros(total, dtype=bool)
    constant[[0, 1, *range(2 + program.inputs, first)]] = True
    read = np.zeros(total, dtype=bool)
    for slots in (program.a[own], program.b[own], np.abs(program.outputs[heads:])):
        read[slots] = True
    passed = np.flatnonzero(read & ~after & ~constant)

    def part(op: NDArray[np.bool_], given: Sequence[Any], outputs: NDArray[Any]) -> ScalarProgram:
        """The operations in ``op``, where ``given`` are the slots of inputs."""
        place = np.zeros(total, dtype=np.int32)
        slots = np.concatenate([*given, np.arange(2 + program.inputs, first), first + np.flatnonzero(op)])
        place[slots.astype(int)] = 2 + np.arange(len(slots))
        place[:2] = 0, 1
        signed = (np.sign(outputs) * place[np.abs(outputs)]).astype(np.int32)
        count, a, b = sum(map(len, given)), place[program.a[op]], place[program.b[op]]
        return ScalarProgram(count, program.constants, program.op[op], a, b, signed)

    unused = np.zeros(heads)  # the second stage reads them, the third does not
    held = np.concatenate([program.outputs[:heads], passed])
    return (
        part(~own, [2 + np.arange(inputs)], held),
        part(own, [unused, passed, np.flatnonzero(after[: 2 + program.inputs])], program.outputs[heads:]),
    )


def in_stages(
    stages: Sequence[ScalarProgram],
    chosen: Format,
    states: NDArray[Any],
    run: Callable[[int, Format, NDArray[Any]], NDArray[Any]],
) -> NDArray[Any]:
    """(m, outputs) of a program in one stage or three; ``run`` gives those of one, by its number."""
    found = run(0, chosen, states)
    if not stages[1:]:
        return found
    answer = found[:, : stages[1].inputs - states.shape[1]]
    given = np.concatenate([chosen.cast(states), answer], axis=1).astype(float)
    with np.errstate(over="ignore"):
        left = chosen.cast(run(1, get_format("float64"), given))
    return run(2, chosen, np.concatenate([found, left], axis=1))


def rigid_rows(system: System) -> list[tuple[int, int]]:
    """Loop and row of each multiplier without a compliance."""
    return [
        (c, r) for c, loop in enumerate(system.loops) for r in np.flatnonzero(loop.compliance == 0.0).tolist()
    ]


def places_of_rows(tape: Tape, system: System) -> NDArray[np.int64]:
    """(P, 3) of each rigid row: its loop, its number there, and the step of its multiplier."""
    steps = {
        block.body: record.step
        for record in tape.program.pivots
        for block in record.blocks
        if block.kind == "lam"
    }
    names = system.structure.constraints
    found = [(c, r, steps.get(names[c], 0)) for c, r in rigid_rows(system)]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def pivots_of_rows(system: System, traced: Entries) -> tuple[list[Any], list[Any]]:
    """The pivots of J J*, one for each rigid row, and the size of each row times r + 1."""
    rates, sizes = _rates(system, traced)
    m = len(rates)
    A: dict[tuple[int, int], Any] = {}
    for r in range(m):
        for s in range(r + 1):
            for j in rates[r].keys() & rates[s].keys():
                _add(A, (r, s), rates[r][j] * rates[s][j])
    for t in range(m):
        for r in range(t + 1, m):
            if (r, t) in A:
                factor = A[r, t] / A[t, t]
                for s in range(t + 1, r + 1):
                    if (s, t) in A:
                        _add(A, (r, s), -(factor * A[s, t]))
    return [A[r, r] for r in range(m)], [size * (r + 1.0) for r, size in enumerate(sizes)]


def _rates(system: System, traced: Entries) -> tuple[list[dict[int, Any]], list[Any]]:
    """J by row and joint rate, and for each row the sum of |g|^2 |S|^2 over joints that move it."""
    tree, offset = system.tree, system.tree.offset
    rows: list[dict[int, Any]] = []
    sizes: list[Any] = []
    first = 0
    for c, tie in enumerate(system.structure.ties):
        g: dict[int, Any] = {}
        for k, sign in zip(tie.bodies, tie.signs, strict=True):
            block = traced.G[first : first + tie.rows]
            _add(g, k, block if sign > 0 else -block)
            first += tie.rows
        found: list[dict[int, Any]] = [{} for _ in range(tie.rows)]
        size: list[Any] = [0.0] * tie.rows
        moving = set(paths(tie.bodies, tree.parent))
        for k in (k for k in system.structure.order.tolist() if k in moving):
            S = traced.S[offset[k] : offset[k + 1]]
            J, square = matmul(g[k], S.T), (S * S).sum()
            for r in range(tie.rows):
                found[r].update(enumerate(J[r], int(offset[k])))
                size[r] = size[r] + (g[k][r] * g[k][r]).sum() * square
            if int(tree.parent[k]) in (*moving, *tie.bodies):
                _add(g, int(tree.parent[k]), matmul(g[k], traced.Phi[k].T))
        for r in np.flatnonzero(system.loops[c].compliance == 0.0).tolist():
            rows.append(found[r])
            sizes.append(size[r])
    return rows, sizes


def _add(sums: dict[Any, Any], key: Any, x: Any) -> None:
    sums[key] = sums[key] + x if key in sums else x


OVERFLOW, INEXACT = -1, -2  # status of an answer; 0: no fault; k: the k-th pivot is zero
WORDS = {OVERFLOW: NO_NUMBER.format("qdd"), INEXACT: FEWER}
KINDS = ("pdd", "qdd", "lam")  # kinds of pivots that are checked
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Judged:
    """The rows that a checked program has after its outputs, and the limits for them.

    They are qdd (N,), correction (N,), pdd (6 n,), tau - ID(qdd) (N,), residuals of rows of loops
    (m,), what efforts would do (N,), pivots, and the sizes of the pivots.
    """

    shown: int  # output numbers of a state; the last is its status
    N: int
    bodies: int
    pivots: int
    zero: float  # up to so much of its size a pivot is zero
    bound: float  # of the correction relative to qdd, and of the backward error
    norm: float  # a lower bound of the norm of (4)
    rows: int = 0  # m, of loops and contacts, and of arguments that must not be too large

    def judge(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The outputs (m, shown) with their status, from rows (m, outputs)."""
        sizes = (self.N, self.N, 6 * self.bodies, self.N + self.rows, self.N, self.pivots, self.pivots)
        out, parts = rows[:, : self.shown].copy(), np.split(rows, self.shown + np.cumsum((0, *sizes)), axis=1)
        with np.errstate(all="ignore"):
            *checked, pivot, size = (np.abs(part) for part in parts[1:-1])
            qdd, correction = checked[:2]
            checked[4] = np.nan_to_num(checked[4], nan=0.0, posinf=np.inf)  # 0 over 0: a pivot is
            x, d, y, r, pushed = (z.max(axis=1, initial=0.0) for z in checked)
            far = d > self.bound * np.maximum(np.maximum(x, SHARE * pushed), self.bound * y)
            far |= r > self.bound * self.norm * np.maximum(x, y)
            status = np.where(far, INEXACT, 0)
            numbers = np.concatenate([qdd, correction, pivot], axis=1)
            status[~np.isfinite(numbers).all(axis=1)] = OVERFLOW
            limit = self.zero * size
            lost = (pivot <= limit) & np.isfinite(limit)
            first = lost.argmax(axis=1) + 1 if self.pivots else np.zeros(len(rows))
            out[:, -1] = np.where(lost.any(axis=1), first, status)
        return out


def judged_by(
    pivots: Rows, rotates: bool, fields: Fields, unit: float, system: System, configuration: Configuration
) -> Judged:
    """The checks for a kernel of an order; ``rotates``: whether it eliminates by rotations."""
    each = [1 if speed else 2 for _, speed in arguments(configuration)]
    return Judged(
        fields.numbers,
        fields.N,
        fields.n,
        len(pivots),
        ROUNDINGS * unit ** (2 if rotates else 1),
        bound(unit),
        norm_of(system),
        fields.rows + sum(each),
    )


def norm_of(system: System) -> float:
    """1 plus the largest row sum of all |M_k|, or a lever, which bounds the norm of (4) below.

    In any state: a row of the skew matrix of p, turned by any R, has a sum of at least sqrt(2/3) |p|.
    Joints that slide change p, and those of the roots are no part of (4).
    """
    tree, M = system.tree, system.entries.M
    levers = np.linalg.norm(tree.p, axis=1)
    turning = [up >= 0 and not S[3:].any() for up, S in zip(tree.parent, system.state.S, strict=True)]
    long = float(levers[turning].max(initial=0.0)) * (2.0 / 3.0) ** 0.5
    return 1.0 + max(float(np.abs(M).sum(axis=-1).max(initial=0.0)), long)


def pivots_of(tape: Tape, system: System) -> Rows:
    """(P, 6) scalar pivots of bodies and joints: kind, body, row, step, signed slot, record."""
    found = []
    for number, slots in sorted(tape.pivots.items()):
        record = tape.program.pivots[number]
        k = system.structure.index.get(record.blocks[0].body)
        kind = record.blocks[0].kind
        if k is None or kind not in KINDS[:2]:
            continue
        if len(slots) == (6, system.tree.dof[k])[kind == "qdd"]:
            found += [
                (KINDS.index(kind), k, i, record.step, slot, number)
                for i, slot in enumerate(slots.ravel().tolist())
            ]
    return np.array(found, dtype=np.int64).reshape(-1, 6)


def looked_at(tape: Tape, system: System) -> Rows:
    """(P, 3) kind, body or loop, and step of the pivots that a status numbers from 1 on."""
    rows = places_of_rows(tape, system)[:, [0, 2]]
    rows = np.column_stack([np.full(len(rows), KINDS.index("lam")), rows])
    return np.concatenate([pivots_of(tape, system)[:, [0, 1, 3]], rows])


def by_rotations(tape: Tape) -> bool:
    factor = tape.program.symbolic
    return factor is not None and factor.plan.sequence.rules.elimination == "orthogonal"


def sizes_of_pivots(
    system: System, R: Array, p: Array, subspaces: Sequence[Array]
) -> tuple[list[list[Any]], list[list[Any]]]:
    """By kind, body and row: |w|^2 tr J + |v|^2 m, J and m of the body's subtree.

    The motions (w, v) are unit ones for a body's pivots and columns of S for a joint's; poses R
    (n, 3, 3), p (n, 3) and S_k (6, N_k) are those of :func:`.kinematics.kinematics`.
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
    offset = tree.offset
    rotors = (
        np.zeros(offset[-1])
        if system.state.terms is None
        else system.state.terms.diagonal(system.state.step, np.asarray)
    )
    return (
        [[trace[k]] * 3 + [mass[k]] * 3 for k in range(tree.n)],
        [
            [
                (s[:3] * s[:3]).sum() * trace[k] + (s[3:] * s[3:]).sum() * mass[k] + float(rotor)
                for s, rotor in zip(S.T, rotors[offset[k] : offset[k + 1]], strict=True)
            ]
            for k, S in enumerate(subspaces)
        ],
    )


def require_pivots(system: System, tape: Tape, chosen: Format) -> None:
    """Raise SingularError where :func:`kkt.eliminate` fails in two states drawn at random.

    A state fails where (4) is singular there, be it but for rounding of the model, and in the format
    or in float64: entries that are rounded to a short format may be regular where those that the
    kernel computes are not.  No state is tried where all bodies have a mass and inertia about every
    axis, since then no pivot is zero.
    """
    if all_resist(system.tree, chosen.unit):
        return
    N = system.tree.N
    draw = np.random.default_rng(N)
    states = [system.refresh(draw.uniform(-1.0, 1.0, N)) for _ in range(2)]
    why = [_refused(tape, state, chosen) for state in states]
    if all(why):
        raise SingularError(f"order {tape.program.name!r}", f"in any state {why[0]}")


def _refused(tape: Tape, state: System, chosen: Format) -> str | None:
    formats = {f.name: f for f in (get_format("float64"), chosen)}
    found = (eliminate(state, tape, f, records=False).failed_at for f in formats.values())
    return next(filter(None, found), None) or by_chance(state)
