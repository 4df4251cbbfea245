"""Derivatives of the joint accelerations by the pivots of an order, in any number type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..base.errors import ModelError
from ..base.shown import Shown
from ..matrix.blocks import Block
from ..matrix.system import System
from ..model.joints import GENERAL, TYPES
from ..model.spatial import cross_motion
from ..order.sequence import OrderFunction, PivotSequence
from ..program.columns import Columns
from ..program.derivatives import Motion, Moved, Pairs
from ..tape.tape import Tape, lower
from ..tape.trace import tape_for
from .columns import Given, inverse_columns, inverse_slots, played

CLOSED = 1e-9  # of a motion's size, that a bracket of two may leave their span by


@dataclass(frozen=True, repr=False)
class Derivatives(Shown):
    """Of qdd by q, qd and tau: row i is qdd_i, column j a freedom, both in the tree's order.

    Columns of dq are motions of the joint in its tangent space: by S_k in the frame of the body
    that it carries, as its rates qd are.  Where q are angles and lengths that is q itself.

    >>> system = pt.build(pt.chain(3))
    >>> found = pt.derivatives(system, pt.orderings.get("abm"))
    >>> found.dq.shape, np.array_equal(found.dtau, found.dtau.T)
    ((3, 3), True)
    """

    order: str
    format: str
    qdd: NDArray  # (N,) [rad/s^2, m/s^2]
    dq: NDArray  # (N, N) [1/s^2] and, where lengths and angles meet, [m/s^2] or [1/(m s^2)]
    dqd: NDArray  # (N, N) [1/s] and so on
    dtau: NDArray  # (N, N) [1/(kg m^2), 1/(kg m), 1/kg], symmetric: M^-1
    operations: int  # scalar operations, those of qdd included

    def facts(self) -> dict[str, Any]:
        return {
            "name": f"{self.order} in {self.format}", "freedoms": len(self.qdd),
            "operations": self.operations,
        }  # fmt: skip


def derivatives(
    system: System,
    order: PivotSequence | OrderFunction | Tape | Any,
    format: str | Format = "float64",
) -> Derivatives:
    """d qdd / dq, dqd and dtau (N, N) of forward dynamics, by the same pivots as qdd.

    Equation (4) of Ascher, Pai & Cloutier 1996 is K x = r, so that dx = K^-1 (dr - dK x): more
    right-hand sides, which follow from the model's own formulas (:mod:`kkt.program.derivatives`).
    Number types as in :func:`kkt.eliminate`; the digits of ``ball:D`` are proved.  Armature,
    damping, springs and implicit steps count; dry friction is constant but for its jump at rest.
    External wrenches keep their components in the frames of their bodies.

    Raises LoopError where there are closed loops or contacts, OrderError for an order by rotations,
    ModelError for a general joint whose motions S are no tangent space, SingularError where a pivot
    is zero, FormatError and CertificationError as :func:`kkt.eliminate` does.

    >>> system = pt.build(pt.rr_arm(), q=[0.3, 0.5], qd=[1.0, -1.0])
    >>> found = pt.derivatives(system, pt.orderings.get("abm"))
    >>> moved = system.refresh(q=[0.3 + 1e-7, 0.5], qd=[1.0, -1.0])
    >>> difference = (pt.eliminate(moved, pt.orderings.get("abm")).qdd - found.qdd) / 1e-7
    >>> np.allclose(difference, found.dq[:, 0], rtol=1e-4)
    True
    """
    structure, tree = system.structure, system.tree
    structure.require_tree("kkt.derivatives")
    _require_tangents(system)
    chosen = get_format(format)
    base = tape_for(system, order)
    columns = Columns(base.program)
    given = Given(columns.write)
    moved = Moved(columns, structure, _motion(system, given))
    joints = [k for k in range(tree.n) if tree.dof[k]]
    wanted = {Block("qdd", tree.names[k]) for k in joints}
    for k in joints:
        columns.solve(moved.by_q(k), wanted)
    for k in joints:
        columns.solve(moved.by_qd(k), wanted)
    inverse_columns(columns)
    tape = lower(columns.program(), system, given.patterns)
    at, N = len(joints), int(tree.offset[-1])
    slots = np.concatenate(
        [
            tape.unknowns(system).qdd[None],
            _matrix(system, tape.columns[:at]),
            _matrix(system, tape.columns[at : 2 * at]),
            inverse_slots(system, tape.columns[2 * at :]),
        ]
    )
    found = played(system, tape, chosen, slots, given.numbers)
    own = int(tape.first[len(base.program.instructions)])
    return Derivatives(
        base.program.name, chosen.name,
        found[0], found[1 : 1 + N], found[1 + N : 1 + 2 * N], found[1 + 2 * N :],
        base.flops + tape.length - own,
    )  # fmt: skip


def _matrix(system: System, found: Any) -> NDArray[np.int64]:
    """(N, N) signed slots from the columns of every joint, bodies in the tree's order."""
    tree, index = system.tree, system.structure.index
    slots = np.zeros((int(tree.offset[-1]),) * 2, dtype=np.int64)
    joints = [k for k in range(tree.n) if tree.dof[k]]
    for k, column in zip(joints, found, strict=True):
        for block, x in column.items():
            i = index[block.body]
            rows = slice(tree.offset[i], tree.offset[i + 1])
            slots[rows, tree.offset[k] : tree.offset[k + 1]] = x
    return slots


def _motion(system: System, given: Given) -> Motion:
    """The state's rates, gravity and joint terms as inputs of a program."""
    tree, state, w = system.tree, system.state, given.write
    by_q, by_qd, qd = {}, {}, {}
    for k in range(tree.n):
        own = slice(tree.offset[k], tree.offset[k + 1])
        if own.start == own.stop:
            continue
        rates = state.qd[own, None]
        ref = given.block(rates, np.full(rates.shape, 2))
        assert ref is not None
        qd[k] = ref
        if state.terms is not None:
            spring, damper = (
                given.block(np.diag(x[own])) for x in (state.terms.stiffness, state.terms.damping)
            )
            step = given.block(np.diag(np.full(own.stop - own.start, state.step)))
            by_q[k] = w.neg(spring)
            by_qd[k] = w.neg(w.add(damper, w.mul(step, spring)))
    up = np.concatenate([np.zeros(3), state.gravity])[:, None]
    return Motion(qd, given.block(up), by_q, by_qd, _carried(system))


def _carried(system: System) -> dict[int, Pairs]:
    """Columns of S that move with q, each with the columns after it, which carry it."""
    found = {}
    for k, kind in enumerate(system.tree.joint):
        moving = () if kind == GENERAL else TYPES[kind].moving
        if moving:
            found[k] = tuple((i, j) for i in moving for j in range(i + 1, int(system.tree.dof[k])))
    return found


def _require_tangents(system: System) -> None:
    """General joints must move within what S spans, and springs need coordinates with rates qd."""
    tree, terms = system.tree, system.state.terms
    for k in tree.by_joint.get(GENERAL, ()):
        S = np.asarray(tree.S[k])
        size = np.sqrt((S * S).sum(axis=0))
        pairs = [(i, j) for i in range(S.shape[1]) for j in range(i)]
        brackets = np.array([cross_motion(S[:, i], S[:, j]) for i, j in pairs]).reshape(-1, 6).T
        far = CLOSED * max(1.0, float(size.max(initial=0.0))) ** 2
        if np.abs(brackets).max(initial=0.0) <= far:
            continue
        left = brackets - S @ np.linalg.lstsq(S, brackets, rcond=None)[0]
        where = f"body {tree.names[k]!r}: the motions S of its general joint"
        if np.abs(left).max() > far:
            raise ModelError(
                f"{where} lead out of what they span, so that q has no tangent space to "
                "differentiate in; use joints of one freedom, with massless links between them"
            )
        own = slice(tree.offset[k], tree.offset[k + 1])
        if terms is not None and terms.stiffness[own].any():
            raise ModelError(
                f"{where} do not commute, so that the rates of its spring's q are not qd; leave "
                "the spring out, or give its effort as tau"
            )
