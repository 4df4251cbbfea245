"""The tape of an order with derivatives of its qdd: columns of dr - dK x behind its own pivots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError, OrderError, SizeError
from ..matrix.blocks import Block
from ..matrix.closures import Closure
from ..matrix.system import System
from ..model.joints import GENERAL, TYPES
from ..model.rotations import brackets
from ..program.columns import Closing, ContinuedProgram, Motion, MotionColumns, Pair, Pairs, Right, solve
from ..program.program import Program, Writer
from .emit import Scalars, mirrored
from .inputs import Given
from .tape import Tape, lower

BY = ("q", "qd", "tau")
DERIVED = {  # names of outputs: what is differentiated, and by what
    f"d{of}_d{by}": (kind, by) for of, kind in (("qdd", "qdd"), ("lambda", "lam")) for by in BY
}
DERIVATIVES = tuple(f"dqdd_d{by}" for by in BY)
MOST_COLUMNS = 90_000  # columns of joints times bodies that they meet: minutes of tracing
CLOSED = 1e-9  # relative part of two motions' Lie bracket outside S that counts as rounding


class Differentiated(NamedTuple):
    """A tape with derivatives, the slots of these, and the tape's inputs beside (4)."""

    tape: Tape
    slots: dict[str, NDArray[np.int64]]  # (N, columns) signed, bodies in the tree's order
    numbers: NDArray[Any]
    names: tuple[str, ...] = ()  # of the blocks that these numbers are in

    def operations(self, base: Tape) -> int:
        """Scalar operations, those of qdd by the base tape included."""
        return base.flops + self.tape.length - int(self.tape.first[len(base.program.instructions)])


def differentiated(
    base: Tape,
    system: System,
    wanted: Sequence[str] = DERIVATIVES,
    traced: tuple[NDArray[Any], Sequence[Closure], Callable[[MotionColumns, Program], Any]] | None = None,
) -> Differentiated:
    """The tape of an order, continued with the ``wanted`` derivatives, names in ``DERIVED``.

    ``traced`` has rates (N,) and closures to be taken in place of the system's own, and a function
    that gives columns in the rows qdd alone, or None (:mod:`kkt.machine.reduced`).  Raises
    OrderError or ModelError for an order or robot that has none, SizeError for large trees.
    """
    asked = {name: DERIVED[name] for name in DERIVED if name in wanted}
    columns, given = _begun(base, system)
    tree = system.tree
    joints = [k for k in range(tree.n) if tree.dof[k]]
    moved = None
    if any(by != "tau" for _, by in asked.values()):
        qd, held = (system.state.qd, system.state.loops) if traced is None else traced[:2]
        moved = MotionColumns(columns, system.structure, _motion(system, given, qd))
        moved.closings += [Closing(moved, pair) for pair in tied(given, held)]
    # columns in the rows qdd alone need exact rotations, which traced entries are and rounded ones are not
    reduced = None if moved is None or traced is None else traced[2](moved, columns.base)
    parts, rights = {}, list[Right]()
    for by in dict.fromkeys(by for _, by in asked.values()):
        kinds = [kind for kind in ("qdd", "lam") if (kind, by) in asked.values()]
        blocks = [block for kind in kinds for block in _places(system, kind)]
        first = len(rights)
        if by == "tau" and "dqdd_dtau" in asked:
            rights += inverse_rights(columns, [b for b in blocks if b.kind == "lam"])
        elif moved is None or by == "tau":
            eyes = ((k, columns.write.eye(int(tree.dof[k]))) for k in joints)
            rights += [Right({Block("qdd", tree.names[k]): eye}, blocks) for k, eye in eyes]
        elif reduced is not None:
            both = map(reduced.by_q if by == "q" else reduced.by_qd, joints)
            rights += [Right(rows, blocks, more) for rows, more in both]
        else:
            each = map(moved.by_q if by == "q" else moved.by_qd, joints)
            rights += [Right(rows, blocks) for rows in each]
        parts[by] = slice(first, len(rights))
    solve(columns, rights)
    tape = lower(columns.program(), system, given.patterns)
    slots = {}
    for name, (kind, by) in asked.items():
        found = tape.columns[parts[by]]
        if (kind, by) == ("qdd", "tau"):
            slots[name] = inverse_slots(system, found)
        else:
            slots[name] = _side_by_side(system, found, kind)
    return Differentiated(tape, slots, given.numbers, tuple(given.names))


def numbers_of(tape: Tape, system: System) -> NDArray[Any]:
    """The inputs beside (4) of a tape with derivatives, in another state of its robot.

    Raises OrderError where one of them was zero or one when the tape was traced, and is not here.
    """
    given = Given(Writer())
    _motion(system, given, system.state.qd)
    tied(given, system.state.loops)
    numbers, slots = given.numbers, tape.inputs.given.get("beside", np.zeros(0, dtype=np.int64))
    if len(numbers) != len(slots) or (numbers != slots)[slots < 2].any():
        raise OrderError(
            f"order {tape.program.name!r}",
            "its derivatives were traced where rates, gravity or poses of loops were zero that are not zero "
            "here",
            "trace them again on this system",
        )
    return numbers


def _begun(base: Tape, system: System) -> tuple[ContinuedProgram, Given]:
    """A program to continue, of a system that has derivatives."""
    _require_tangents(system)
    n, joints = system.tree.n, int(np.count_nonzero(system.tree.dof))
    if joints * n > MOST_COLUMNS:
        raise SizeError(
            system.name,
            f"derivatives of {joints} joints on {n} bodies are too long a program",
            f"up to {MOST_COLUMNS:,} joints times bodies are traced",
        )
    further = ContinuedProgram(base.program)
    return further, Given(further.write)


def _places(system: System, kind: str) -> dict[Block, slice]:
    """Where each joint's qdd, or each loop's multipliers, stand among all of them."""
    tree, sizes = system.tree, [(tie.name, tie.rows) for tie in system.structure.ties]
    sizes = sizes if kind == "lam" else list(zip(tree.names, tree.dof.tolist(), strict=True))
    ends = pairwise(np.cumsum([0, *(size for _, size in sizes)]).tolist())
    return {Block(kind, name): slice(*at) for (name, size), at in zip(sizes, ends, strict=True) if size}


def inverse_rights(columns: ContinuedProgram, also: Sequence[Block] = ()) -> list[Right]:
    """The right-hand sides for columns of M^-1, body by body; blocks ``also`` are solved for with each.

    Columns are of the joints that are eliminated with the body or later.
    """
    structure, w, rights = columns.structure, columns.write, list[Right]()
    joints = [block for block in columns.base.solution if block.kind == "qdd"]
    plan = columns.base.factor.plan
    when = {plan.graph.block(b): t for t, b in enumerate(plan.blocks.tolist())}
    for block in joints:
        size = int(structure.dof[structure.index[block.body]])
        later = {b for b in joints if when[b] >= when[block]}
        rights.append(Right({block: w.eye(size)}, later.union(also)))
    return rights


def inertia_slots(system: System, tape: Tape) -> Scalars:
    """(N, N) signed slots of H Phi M Phi* H*, bodies in the tree's order.

    Raises OrderError for an order that does not eliminate all pdd and f before any qdd.
    """
    tree, N = system.tree, system.tree.N
    matrix = np.zeros((N, N), dtype=np.int64)
    if N and tape.inertia is None:
        what = "does not leave all qdd to the end, so that no joint-space inertia appears"
        raise OrderError(f"order {tape.program.name!r}", what, "use crbm")
    if tape.inertia is not None:
        bodies = (system.structure.index[b] for b in tape.program.inertia_bodies)
        at = np.concatenate([np.arange(N)[tree.freedoms_of(k)] for k in bodies])
        matrix[np.ix_(at, at)] = tape.inertia[:N, :N]  # multipliers follow
    return matrix


def inverse_slots(system: System, found: Any) -> NDArray[np.int64]:
    """(N, N) signed slots of M^-1 from those of its columns, bodies in the tree's order."""
    at = _places(system, "qdd")
    slots = np.zeros((system.tree.N,) * 2, dtype=np.int64)
    for own, column in zip(at, found, strict=True):
        for block, x in ((b, x) for b, x in column.items() if b.kind == "qdd"):
            x = mirrored(x) if block == own else x
            slots[at[block], at[own]] = x
            slots[at[own], at[block]] = x.T
    return slots


def _side_by_side(system: System, found: Any, kind: str) -> NDArray[np.int64]:
    """Signed slots (N or multipliers, N) by the columns of one joint after another."""
    at, joints = _places(system, kind), _places(system, "qdd").values()
    rows, columns = (max((x.stop for x in places), default=0) for places in (at.values(), joints))
    slots = np.zeros((rows, columns), dtype=np.int64)
    for own, column in zip(joints, found, strict=True):
        for block, x in ((b, x) for b, x in column.items() if b.kind == kind):
            slots[at[block], own] = x
    return slots


def _motion(system: System, given: Given, qd: NDArray[Any]) -> Motion:
    """Rates, gravity and joint terms as inputs of a program."""
    tree, state, w = system.tree, system.state, given.write
    by_q, by_qd, rates = {}, {}, {}
    for k in range(tree.n):
        own, dof, body = tree.freedoms_of(k), int(tree.dof[k]), tree.names[k]
        if not dof:
            continue
        ref = given.block(qd[own, None], np.full((dof, 1), 2), f"qd_{body}")
        assert ref is not None
        rates[k] = ref
        if state.terms is not None:
            spring, damper = (
                given.block(np.diag(getattr(state.terms, name)[own]), name=f"{name}_{body}")
                for name in ("stiffness", "damping")
            )
            step = given.block(np.diag(np.full(dof, state.step)), name="step")
            by_q[k] = w.neg(spring)
            by_qd[k] = w.neg(w.add(damper, w.mul(step, spring)))
    up = np.concatenate([np.zeros(3), state.gravity])[:, None]
    return Motion(rates, given.block(up, name="gravity"), by_q, by_qd, carried=_carried(system))


def tied(given: Given, held: Sequence[Closure]) -> list[Pair]:
    """The pairs of bodies that rows of loops tie."""
    found = []
    for number, closure in enumerate(held):
        for pair in closure.pairs:
            loop = pair.loop
            C, (a, b) = given.block(loop.C, name=f"C_{loop.name}"), loop.baumgarte
            assert C is not None
            R, p = (
                [given.block(x.reshape(3, -1), name=f"{letter}_{loop.name}") for x in side]
                for letter, side in (("R", pair.R), ("p", pair.p))
            )
            damping = given.block(np.diag(np.full(loop.rows, a)), name=f"a_{loop.name}")
            gap = given.block(b * pair.gap_rate, name=f"b_{loop.name}") if b else None
            found.append(Pair(number, pair.bodies, tuple(R), tuple(p), C, loop.point, damping, gap))
    return found


def _carried(system: System) -> dict[int, Pairs]:
    """Columns of S that change with q, each with the later columns, whose joints move it."""
    found = {}
    for k, kind in enumerate(system.tree.joint):
        moving = () if kind == GENERAL else TYPES[kind].moving
        if moving:
            found[k] = tuple((i, j) for i in moving for j in range(i + 1, int(system.tree.dof[k])))
    return found


def _require_tangents(system: System) -> None:
    """Refuse general joints whose motions leave S's span, and springs where dq/dt is not qd."""
    tree = system.tree
    for k in tree.by_joint.get(GENERAL, ()):
        S = np.asarray(tree.S[k])
        size = np.sqrt((S * S).sum(axis=0))
        turned = brackets(S)
        far = CLOSED * max(1.0, float(size.max(initial=0.0))) ** 2
        if np.abs(turned).max(initial=0.0) <= far:
            continue
        left = turned - S @ np.linalg.lstsq(S, turned, rcond=None)[0]
        if np.abs(left).max() > far:
            raise ModelError(
                f"body {tree.names[k]!r}",
                "the motions S of its general joint lead out of what they span, so that q has no tangent "
                "space to differentiate in",
                "use joints of one freedom, with massless links between them",
            )
    for k in tree.turning_springs:
        raise ModelError(
            f"body {tree.names[k]!r}",
            f"the motions of its {tree.joint[k]} joint do not commute, so that the rates of its spring's q "
            "are not qd",
            "leave the spring out, or give its effort as tau",
        )
