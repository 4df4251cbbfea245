"""The tape of an order with derivatives of its qdd: columns of dr - dK x behind its own pivots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError, SizeError
from ..matrix.blocks import Block
from ..matrix.system import System
from ..model.joints import GENERAL, TYPES
from ..model.spatial import cross_motion
from ..program.columns import Columns
from ..program.derivatives import Motion, Moved, Pairs
from .beside import Given
from .emit import mirrored
from .tape import Tape, lower

DERIVATIVES = ("dqdd_dq", "dqdd_dqd", "dqdd_dtau")
MOST = 90_000  # columns of joints times bodies that they meet: minutes of tracing
CLOSED = 1e-9  # of a motion's size, that a bracket of two may leave their span by


class Differentiated(NamedTuple):
    """A longer tape, where its derivatives stand, and its inputs beside (4)."""

    tape: Tape
    slots: dict[str, NDArray[np.int64]]  # (N, N) signed, bodies in the tree's order
    numbers: NDArray


def differentiated(
    base: Tape, system: System, qd: NDArray | None = None, wanted: Sequence[str] = DERIVATIVES
) -> Differentiated:
    """The tape that goes on with derivatives; ``qd`` (N,) in place of the system's rates.

    Raises LoopError, OrderError or ModelError for what has none, SizeError for large trees.
    """
    columns, given = _begun(base, system, system.tree.n)
    tree = system.tree
    joints = [k for k in range(tree.n) if tree.dof[k]]
    if set(wanted) - {"dqdd_dtau"}:
        moved = _moved(system, columns, given, qd)
        blocks = {Block("qdd", tree.names[k]) for k in joints}
        for name, rows_of in (("dqdd_dq", moved.by_q), ("dqdd_dqd", moved.by_qd)):
            for k in joints if name in wanted else ():
                columns.solve(rows_of(k), blocks)
    if "dqdd_dtau" in wanted:
        inverse_columns(columns)
    tape = lower(columns.program(), system, given.patterns)
    slots, at = {}, 0
    for name in DERIVATIVES:
        if name in wanted:
            found = tape.columns[at : at + len(joints)]
            slots[name] = (inverse_slots if name == "dqdd_dtau" else _matrix)(system, found)
            at += len(joints)
    return Differentiated(tape, slots, given.numbers)


def directed(base: Tape, system: System, steps: dict[str, NDArray]) -> Differentiated:
    """Derivatives along ``steps`` (N, m) of q, qd and tau, in slots "qdd": one solve more."""
    columns, given = _begun(base, system)
    tree = system.tree
    own = {k: slice(tree.offset[k], tree.offset[k + 1]) for k in range(tree.n) if tree.dof[k]}
    dq, dqd, dtau = (
        {k: given.block(steps[name][at]) for k, at in own.items()} for name in DERIVATIVES
    )
    moved = _moved(system, columns, given)
    rows = moved.along(dq, dqd)
    for k in own:
        moved.more(rows, Block("qdd", tree.names[k]), dtau[k])
    columns.solve(rows, {Block("qdd", tree.names[k]) for k in own})
    tape = lower(columns.program(), system, given.patterns)
    width = steps["dqdd_dq"].shape[1]
    return Differentiated(tape, {"qdd": _stood(system, tape.columns[0], width)}, given.numbers)


def weighed(base: Tape, system: System, weights: NDArray) -> Differentiated:
    """The weights (m, N) times the derivatives, in slots (m, N): K is symmetric, one solve more."""
    columns, given = _begun(base, system)
    tree = system.tree
    own = {k: slice(tree.offset[k], tree.offset[k + 1]) for k in range(tree.n) if tree.dof[k]}
    names = {k: Block("qdd", tree.names[k]) for k in own}
    y = columns.solve({names[k]: given.block(weights.T[at]) for k, at in own.items()})
    for by in _moved(system, columns, given).against(y):
        columns.found.append({names[k]: ref for k, ref in by.items() if ref is not None})
    tape = lower(columns.program(), system, given.patterns)
    dtau, dq, dqd = (_stood(system, found, len(weights)).T for found in tape.columns)
    return Differentiated(tape, dict(zip(DERIVATIVES, (dq, dqd, dtau), strict=True)), given.numbers)


def _begun(base: Tape, system: System, columns: int = 1) -> tuple[Columns, Given]:
    """A program that goes on, of a system that has derivatives."""
    system.structure.require_tree("differentiation")
    _require_tangents(system)
    joints, n = int(np.count_nonzero(system.tree.dof)), system.tree.n
    if columns > 1 and joints * n > MOST:
        raise SizeError(
            f"{system.name}: derivatives of {joints} joints on {n} bodies are too long a "
            f"program; up to {MOST:,} joints times bodies are traced"
        )
    further = Columns(base.program)
    return further, Given(further.write)


def _moved(system: System, columns: Columns, given: Given, qd: NDArray | None = None) -> Moved:
    rates = system.state.qd if qd is None else qd
    return Moved(columns, system.structure, _motion(system, given, rates))


def inverse_columns(columns: Columns) -> None:
    """Columns of M^-1, body by body: of the joints that are eliminated with the body or later."""
    structure, w = columns.structure, columns.write
    joints = [block for block in columns.base.solution if block.kind == "qdd"]
    assert columns.base.symbolic is not None
    plan = columns.base.symbolic.plan
    when = {plan.graph.block(b): t for t, b in enumerate(plan.blocks.tolist())}
    for block in joints:
        size = int(structure.dof[structure.index[block.body]])
        columns.solve({block: w.eye(size)}, {b for b in joints if when[b] >= when[block]})


def inverse_slots(system: System, found: Any) -> NDArray[np.int64]:
    """(N, N) signed slots of M^-1 from those of its columns, bodies in the tree's order."""
    offset, index = system.tree.offset, system.structure.index
    at = {b: slice(offset[k], offset[k + 1]) for b, k in index.items()}
    slots = np.zeros((int(offset[-1]),) * 2, dtype=np.int64)
    joints = [name for name in system.tree.names if at[name].stop > at[name].start]
    for name, column in zip(joints, found, strict=True):
        for block, x in column.items():
            x = mirrored(x) if block.body == name else x
            slots[at[block.body], at[name]] = x
            slots[at[name], at[block.body]] = x.T
    return slots


def _matrix(system: System, found: Any) -> NDArray[np.int64]:
    """(N, N) signed slots from the columns of every joint, bodies in the tree's order."""
    tree = system.tree
    joints = [k for k in range(tree.n) if tree.dof[k]]
    sides = [
        _stood(system, column, int(tree.dof[k])) for k, column in zip(joints, found, strict=True)
    ]
    return np.hstack([np.zeros((int(tree.offset[-1]), 0), dtype=np.int64), *sides])


def _stood(system: System, column: Any, width: int) -> NDArray[np.int64]:
    """(N, width) signed slots of blocks qdd."""
    tree, index = system.tree, system.structure.index
    slots = np.zeros((int(tree.offset[-1]), width), dtype=np.int64)
    for block, x in ((b, x) for b, x in column.items() if b.kind == "qdd"):
        i = index[block.body]
        slots[tree.offset[i] : tree.offset[i + 1]] = x
    return slots


def _motion(system: System, given: Given, qd: NDArray) -> Motion:
    """Rates, gravity and joint terms as inputs of a program."""
    tree, state, w = system.tree, system.state, given.write
    by_q, by_qd, rates = {}, {}, {}
    for k in range(tree.n):
        own = slice(tree.offset[k], tree.offset[k + 1])
        if own.start == own.stop:
            continue
        ref = given.block(qd[own, None], np.full((own.stop - own.start, 1), 2))
        assert ref is not None
        rates[k] = ref
        if state.terms is not None:
            spring, damper = (
                given.block(np.diag(x[own])) for x in (state.terms.stiffness, state.terms.damping)
            )
            step = given.block(np.diag(np.full(own.stop - own.start, state.step)))
            by_q[k] = w.neg(spring)
            by_qd[k] = w.neg(w.add(damper, w.mul(step, spring)))
    up = np.concatenate([np.zeros(3), state.gravity])[:, None]
    return Motion(rates, given.block(up), by_q, by_qd, _carried(system))


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
