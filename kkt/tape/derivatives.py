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
from ..program.model_data import WIDTHS, holders, rows_of
from .beside import Given
from .emit import mirrored
from .tape import Tape, lower

DERIVATIVES = ("dqdd_dq", "dqdd_dqd", "dqdd_dtau")
DATA = {f"dqdd_d{name}": name for name in WIDTHS}  # by the model's numbers
MOST = 90_000  # columns of joints times bodies that they meet: minutes of tracing
CLOSED = 1e-9  # of a motion's size, that a bracket of two may leave their span by


class Differentiated(NamedTuple):
    """A longer tape, where its derivatives stand, and its inputs beside (4)."""

    tape: Tape
    slots: dict[str, NDArray[np.int64]]  # (N, columns) signed, bodies in the tree's order
    numbers: NDArray


def differentiated(
    base: Tape, system: System, qd: NDArray | None = None, wanted: Sequence[str] = DERIVATIVES
) -> Differentiated:
    """The tape that goes on with derivatives; ``qd`` (N,) in place of the system's rates.

    Raises LoopError, OrderError or ModelError for what has none, SizeError for large trees.
    """
    columns, given = _begun(base, system, wanted)
    tree = system.tree
    joints = [k for k in range(tree.n) if tree.dof[k]]
    blocks = {Block("qdd", tree.names[k]) for k in joints}
    moved = None
    if set(wanted) - {"dqdd_dtau"}:
        moved = _moved(system, columns, given, qd)
    ends = [0]
    for name in (name for name in (*DERIVATIVES, *DATA) if name in wanted):
        if moved is None or name == "dqdd_dtau":
            inverse_columns(columns)
        elif name in DATA:
            for k in holders(moved, DATA[name]):
                columns.solve(rows_of(moved, DATA[name], k), blocks)
        else:
            for k in joints:
                columns.solve((moved.by_q if name == "dqdd_dq" else moved.by_qd)(k), blocks)
        ends.append(len(columns.found))
    tape = lower(columns.program(), system, given.patterns)
    slots = {}
    shown = (name for name in (*DERIVATIVES, *DATA) if name in wanted)
    for name, first, last in zip(shown, ends, ends[1:], strict=False):
        found = tape.columns[first:last]
        if name == "dqdd_dtau":
            slots[name] = inverse_slots(system, found)
        else:
            widths = (
                [WIDTHS[DATA[name]]] * len(found) if name in DATA else tree.dof[joints].tolist()
            )
            slots[name] = _beside(system, found, widths)
    return Differentiated(tape, slots, given.numbers)


def directed(base: Tape, system: System, steps: dict[str, NDArray]) -> Differentiated:
    """Derivatives along ``steps`` of q, qd and tau (N, m), and of the model's numbers (rows, m).

    In slots "qdd": one solve more.
    """
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
    for output, name in DATA.items():
        for k in holders(moved, name) if output in steps else ():
            at = slice(WIDTHS[name] * k, WIDTHS[name] * (k + 1))
            if (step := given.block(steps[output][at])) is not None:
                for block, ref in rows_of(moved, name, k).items():
                    moved.more(rows, block, columns.write.mul(ref, step))
    columns.solve(rows, {Block("qdd", tree.names[k]) for k in own})
    tape = lower(columns.program(), system, given.patterns)
    width = steps["dqdd_dq"].shape[1]
    return Differentiated(tape, {"qdd": _stood(system, tape.columns[0], width)}, given.numbers)


def weighed(
    base: Tape, system: System, weights: NDArray, wanted: Sequence[str] = DERIVATIVES
) -> Differentiated:
    """The weights (m, N) times the derivatives, in slots (m, columns): one solve more."""
    columns, given = _begun(base, system)
    tree = system.tree
    own = {k: slice(tree.offset[k], tree.offset[k + 1]) for k in range(tree.n) if tree.dof[k]}
    names = {k: Block("qdd", tree.names[k]) for k in own}
    y = columns.solve({names[k]: given.block(weights.T[at]) for k, at in own.items()})
    moved = _moved(system, columns, given)
    for by in moved.against(y):
        columns.found.append({names[k]: ref for k, ref in by.items() if ref is not None})
    for name in (name for output, name in DATA.items() if output in wanted):
        for k in holders(moved, name):
            met = moved.met(rows_of(moved, name, k), y)
            columns.found.append({} if met is None else {Block("pdd", tree.names[k]): met})
    tape = lower(columns.program(), system, given.patterns)
    dtau, dq, dqd = (_stood(system, found, len(weights)).T for found in tape.columns[:3])
    slots, found = dict(zip(DERIVATIVES, (dq, dqd, dtau), strict=True)), iter(tape.columns[3:])
    for output, name in ((o, x) for o, x in DATA.items() if o in wanted):
        none = np.zeros((WIDTHS[name], len(weights)), dtype=np.int64)
        parts = [next(iter(next(found).values()), none) for _ in holders(moved, name)]
        slots[output] = np.concatenate(parts).T
    return Differentiated(tape, slots, given.numbers)


def _begun(base: Tape, system: System, matrices: Sequence[str] = ()) -> tuple[Columns, Given]:
    """A program that goes on, of a system that has derivatives."""
    system.structure.require_tree("differentiation")
    _require_tangents(system)
    n = system.tree.n
    counts = [(int(np.count_nonzero(system.tree.dof)), "joints")] if matrices else []
    counts += [(WIDTHS[DATA[x]] * n, f"numbers ({DATA[x]})") for x in matrices if x in DATA]
    for count, what in counts:
        if count * n > MOST:
            raise SizeError(
                f"{system.name}: derivatives of {count} {what} on {n} bodies are too long a "
                f"program; up to {MOST:,} {what} times bodies are traced"
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


def _beside(system: System, found: Any, widths: Sequence[int]) -> NDArray[np.int64]:
    """Signed slots of qdd (N, columns) by one set of columns after another."""
    sides = [_stood(system, x, width) for x, width in zip(found, widths, strict=True)]
    return np.hstack([np.zeros((int(system.tree.offset[-1]), 0), dtype=np.int64), *sides])


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
