"""From joint positions, rates and efforts to accelerations: three passes over a large tree.

The first, from base to tip, finds poses, velocities and the bias; the second, from tip to base,
eliminates the brackets; the third, from base to tip, finds qdd.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..machine.recorder import Scalar
from ..model.spatial import cross_force, cross_motion, force_transform, matmul, matvec, skew, transpose
from ..model.spatial import turned as turned_about
from .classes import ANY, UPPER
from .factor import MOST, OWN, BodyBracket, diagonal
from .moving import GIVEN, MODEL, Moving
from .passes import Numbers, Pass
from .steps import Array, Place, Record, Step, StepWriter
from .template import Bodywise

UPDATE = 27  # numbers that a body hands to its parent, in either pass from tip to base
NUMBERS = (
    Numbers("model", "body", MODEL, fetched=True),
    Numbers("gravity", "body", 0),
    Numbers("cos", "joint", 1, fetched=True),
    Numbers("sin", "joint", 1, fetched=True),
    Numbers("q", "joint", 1, fetched=True),
    Numbers("qd", "joint", 1, fetched=True),
    Numbers("tau", "joint", 1, fetched=True),
    OWN,
    Numbers("turn", "body", 9),  # of joints that are given: pose,
    Numbers("shift", "body", 3),
    Numbers("S", "joint", 6),  # motion subspace,
    Numbers("slip", "body", 6),  # and S° qd
    Numbers("wrench", "body", 6),
    Numbers("v_up", "parent", 6),
    Numbers("v", "body", 6),
    Numbers("pdd_up", "parent", 6),
    Numbers("pdd", "body", 6),
    Numbers("qdd", "joint", 1),
    Numbers("pivot", "joint", 1),
    Numbers("left", "joint", 1),
    Numbers("size", "joint", 1),
    Numbers("moved", "stream"),
    Numbers("record", "stream"),
)


def passes(order: Bodywise, kinds: Sequence[Moving]) -> tuple[Pass, ...]:
    """The three passes for a tree of these kinds of bodies."""
    return _passes(order, kinds, ("move", "factor", "solve"))


def checked_passes(order: Bodywise, kinds: Sequence[Moving]) -> tuple[Pass, ...]:
    """The three passes and a fourth, tip to base: the defect of the efforts, and pivots' sizes."""
    return _passes(order, kinds, ("move", "factor", "solve", "defect"))


def _passes(order: Bodywise, kinds: Sequence[Moving], names: tuple[str, ...]) -> tuple[Pass, ...]:
    traced = [steps_of(order, kind, "defect" in names) for kind in kinds]
    sizes = {
        "moved": tuple(moved for _, moved, _ in traced),
        "record": tuple(record for _, _, record in traced),
    }
    sums, root = tuple(k.sums(order) for k in kinds), tuple(k.root for k in kinds)
    made = []
    for name in names:
        steps = tuple(own[name] for own, _, _ in traced)
        used = {array for step in steps for array in step.used}
        arrays = tuple(a for a in NUMBERS if a.name in used)
        own = {stream: size for stream, size in sizes.items() if stream in used}
        upwards = name in ("factor", "defect")
        made.append(Pass(name, upwards, arrays, steps, own, sums, root, order.update))
    return tuple(made)


def steps_of(order: Bodywise, kind: Moving, checked: bool = False) -> tuple[dict[str, Step], int, int]:
    """The steps of a body by pass, and the counts of numbers that the first two record."""
    N, any6 = kind.dof, (ANY,) * 6
    given = {"model": MODEL, "gravity": 3, "turn": 9, "shift": 3, "slip": 6, "wrench": 6, "S": 6 * N}
    given |= dict.fromkeys(("cos", "sin", "q", "qd", "tau"), N)
    given["A"] = len(kind.A)
    first = StepWriter({**given, "v_up": 6})
    there = StepWriter({**given, "moved": 31, "children": UPDATE})
    back = StepWriter({**given, "moved": 31, "pdd_up": 6, "record": MOST})

    M = _inertia(first.array("model", kind.model)[15:])
    R, p, H, v, a, b = whole = _moved(first, kind, M)
    moved = Record("moved", first, there, "v_up")
    R, p, H, a, tau = map(moved.array, (R, p, H, a, first.array("tau", (ANY,) * N)))
    # Phi is formed again, which takes less time than to read it
    own = {"Phi": force_transform(R, p), "S": H, "a": a, "tau": tau}
    own |= {"M": symmetric(moved.array(M.ravel()[UPPER])), "b": moved.array(b)}
    if kind.A:
        own["A"] = diagonal(there.array("A", kind.A))
    step = BodyBracket(order, kind, there)
    out = step.there(own)

    record = Record("record", there, back, "children")
    R, p = record.array(R), record.array(p)
    own = {x: record.array(block) for x, block in own.items()} | {"Phi": force_transform(R, p)}
    up = None if kind.root else back.array("pdd_up", any6)
    answer = step.back(back, record, own, up)
    qdd, pdd = ([answer[name, i] for i in range(size)] for name, size in (("qdd", N), ("pdd", 6)))
    found: dict[Place, Any] = {("qdd", j): x for j, x in enumerate(qdd)}
    if checked or not kind.leaf:
        found |= {("pdd", i): x for i, x in enumerate(pdd)}
    solve, slots = record.tightened(back.step(found))
    out |= {("record", i): Scalar(there.recorder, slot) for i, slot in enumerate(slots)}
    start: dict[Place, Any] = {
        ("moved", i): Scalar(first.recorder, slot) for i, slot in enumerate(moved.slots)
    }
    if not kind.leaf:
        start |= {("v", i): x for i, x in enumerate(v)}
    steps = {"move": first.step(start), "factor": there.step(out), "solve": solve}
    if checked:
        asks = StepWriter({**given, "moved": 31, "pdd": 6, "qdd": N, "children": UPDATE})
        again = Record("moved", first, asks, "v_up")
        again.slots = moved.slots  # the stream that the factor reads
        R, p, H, _, _, b = whole
        tau = first.array("tau", (ANY,) * N)
        steps["defect"] = asks.step(_defect(asks, kind, *map(again.array, (R, p, H, b, M, tau))))
    return steps, len(moved.slots), len(slots)


def _defect(
    writer: StepWriter, kind: Moving, R: Array, p: Array, H: Array, b: Array, M: Array, tau: Array
) -> dict[Place, Any]:
    """The defect tau - ID(qdd), and |w|^2 tr J + |v|^2 m + A for each motion (w, v) of the joint.

    ID is inverse dynamics, from pdd; J and m are those of the whole subtree.  The update holds the
    subtree's mass, first moment, trace of J, and force.
    """
    known = (ANY,) * UPDATE if not kind.leaf else (0,) * UPDATE
    children = writer.array("children", known)
    pdd = writer.array("pdd", (ANY,) * 6)
    f = (b - matvec(M, pdd)) + children[21:]
    out: dict[Place, Any] = {("left", j): tau[j] - (H[j] * f).sum() for j in range(len(H))}
    mass = M[3, 3] + children[0]
    moment = np.array([M[2, 4], M[0, 5], M[1, 3]], dtype=object) + children[1:4]
    trace = M[0, 0] + M[1, 1] + M[2, 2] + children[4]
    for j, h in enumerate(H):
        turning, sliding = (h[:3] * h[:3]).sum() * trace, (h[3:] * h[3:]).sum() * mass
        out[("size", j)] = turning + sliding
    qdd = writer.array("qdd", (ANY,) * len(H))
    for j, A in enumerate(writer.array("A", kind.A)):
        out[("left", j)] = out["left", j] - A * qdd[j]
        out[("size", j)] = out["size", j] + A
    if not kind.root:
        turned = matvec(R, moment)
        trace = trace + ((p * turned).sum() * 4.0 + (p * p).sum() * (2.0 * mass))
        carried = [mass, *(turned + p * mass), trace, *[0.0] * 16]
        update = [*carried, *matvec(force_transform(R, p), f)]
        out |= {("update", i): x for i, x in enumerate(update)}
    return out


def symmetric(upper: Array) -> Array:
    """A symmetric matrix (6, 6) from its upper triangle (21,), row by row."""
    M = np.empty((6, 6), dtype=object)
    rows, columns = np.triu_indices(6)
    M[rows, columns] = M[columns, rows] = upper
    return M


def _inertia(rigid: Array) -> Array:
    """(6, 6) from J (6), m d (3), m."""
    M = np.zeros((6, 6), dtype=object)
    rows, columns = np.triu_indices(3)
    M[rows, columns] = M[columns, rows] = rigid[:6]
    M[:3, 3:] = skew(rigid[6:9])
    M[3:, :3] = M[:3, 3:].T
    M[range(3, 6), range(3, 6)] = rigid[9]
    return M


def _moved(writer: StepWriter, kind: Moving, M: Array) -> tuple[Array, ...]:
    """R (3, 3), p (3,), H (N, 6), v, a, b (6,) of a body, as in :mod:`kkt.matrix.bias`."""
    model, N = writer.array("model", kind.model), kind.dof
    R, p, axis = model[:9].reshape(3, 3), model[9:12], model[12:15]
    qd = writer.array("qd", (ANY,) * N)
    H = np.zeros((N, 6), dtype=object)
    slip = np.zeros(6, dtype=object)
    if kind.joint == "revolute":
        H[0, :3] = axis
        c, s = (writer.array(name, (ANY,)) for name in ("cos", "sin"))
        R = matmul(R, turned_about(axis[None], c, s)[0])
    elif kind.joint == "prismatic":
        H[0, 3:] = axis
        p = p + matvec(R, axis * writer.variable("q", 0))
    elif kind.joint == GIVEN:
        H = writer.array("S", kind.S).reshape(N, 6)
        p = p + matvec(R, writer.array("shift", (ANY,) * 3))
        R = matmul(R, writer.array("turn", (ANY,) * 9).reshape(3, 3))
        slip = writer.array("slip", (ANY,) * 6)
    Phi = force_transform(R, p)
    rates = np.zeros(6, dtype=object)
    for j in range(N):
        rates = rates + H[j] * qd[j]
    v, a = rates, slip
    if kind.root:  # gravity enters as the base's acceleration
        fall = np.concatenate([np.zeros(3), -writer.array("gravity", (ANY,) * 3)])
        a = a + matvec(transpose(Phi), fall)
    else:
        v = matvec(transpose(Phi), writer.array("v_up", (ANY,) * 6)) + rates
        a = cross_motion(v, rates) + slip
    b = cross_force(v, matvec(M, v))
    if kind.pushed:
        b = b - writer.array("wrench", (ANY,) * 6)
    return R, p, H, v, a, b
