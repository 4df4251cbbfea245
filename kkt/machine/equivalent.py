"""A robot with the same qdd whose equation (4) takes fewer operations: for relaxed programs.

*Frames.* z of a body's frame becomes its joint's axis, x the common normal with the axis of the next
joint, and the origin lies where the two meet (Denavit & Hartenberg 1955), so that placements have more
zeros and ones.  Where axes are all but parallel they meet far off, and the origin stays beside the
parent's, as for parallel ones: any frame with z along the axis has the same qdd.  The turn about the
joint's own axis that is left of a placement is added to q.  A body that is fixed takes the frame of its
parent.

*Inertias.* Of a body's ten numbers those of an X with X S = 0 that the joint's motion does not change
move to the parent (Khalil & Kleinfinger 1987): behind a joint that turns about z the mass, its moment
along z, and a moment of inertia that is equal about x and y; behind one that slides all moments of
inertia; of a fixed body all ten.  Pivots of joints are the same numbers.  Such an inertia is not that
of any body: orders that pivot on M_k alone, or take its root, keep the robot that they were given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..matrix.configuration import Configuration, in_general
from ..matrix.system import System, build
from ..model.fields import Floats
from ..model.spatial import force_transform, skew
from ..order.sequence import TEN, Order, PivotSequence, as_sequence
from ..tape.tape import Tape
from .factored import factored

OUTPUTS = {"qdd", "inertia", "dqdd_dq", "dqdd_dqd", "dqdd_dtau"}  # of the joints alone
TURNING, ALONG = ("revolute", "continuous"), ("revolute", "continuous", "prismatic")
ROUNDING = 2e-15  # of products of a few rotations
FAR = 4.0  # lengths of a link up to which the foot of a common normal may lie: a farther one loses digits
BENT = 1e-3  # sine of an angle up to which two directions are all but parallel
Z = np.array([0.0, 0.0, 1.0])


def takes(order: Any, system: System) -> bool:
    """Whether an order may run on the robot of :func:`equivalent`."""
    if isinstance(order, Tape) or not (callable(order) or isinstance(order, str | Order)):
        return False
    if system.loops or system.state.wrench.any():
        return False
    sequence = as_sequence(order, system.structure)
    groups = [{(block[0], block[1]) for block in group} for group in sequence.groups]
    whole = all(("f", body) in group for group in groups for kind, body in group if kind == "pdd")
    plain = sequence.links == "whole" and sequence.composites != "centre"
    return whole and plain and sequence.rules.elimination == "gauss"


def in_fewer_operations(sequence: PivotSequence) -> PivotSequence:
    """The same pivots in the same sequence, with (c/d) c* for (c c*)/d, and composites as ten numbers."""
    rules = sequence.rules
    if rules.rank_update == "outer":
        rules = replace(rules, rank_update="gain")
    rigid = sequence.composites not in TEN and rules.symmetry == "mirrored"
    return replace(sequence, rules=rules, composites="rigid" if rigid else sequence.composites)


def joints_last(sequence: PivotSequence) -> bool:
    """Whether all pdd and f are eliminated before the first qdd."""
    kinds = [block[0] for group in sequence.groups for block in group]
    return "qdd" in kinds and set(kinds[kinds.index("qdd") :]) == {"qdd"}


def equivalent(system: System) -> tuple[System, tuple[float, ...]]:
    """A system with other frames and inertias, M (n, 6, 6) among its entries, and what is added to x (nx,).

    It may have more bodies than the one given, of no mass; its freedoms are the same in the same order.
    """
    tree, M = system.tree, system.entries.M
    graph, frames = system.graph.copy(), [(np.eye(3), np.zeros(3))] * tree.n
    R, p, turn = np.zeros((tree.n, 3, 3)), np.zeros((tree.n, 3)), np.zeros(tree.n)
    for k in system.structure.order.tolist()[::-1]:  # parents before their children
        up = int(tree.parent[k])
        above, origin = frames[up] if up >= 0 else (np.eye(3), np.zeros(3))
        upwards = tree.R[k].T @ (origin - tree.p[k])  # to the parent's new origin
        if tree.joint[k] == "fixed":
            frames[k] = tree.R[k].T @ above, upwards
        elif tree.joint[k] in ALONG:
            frames[k] = _frame(system, k, upwards, tree.R[k].T @ above)
        own, at = frames[k]
        R[k] = above.T @ tree.R[k] @ own
        p[k] = _clean(above.T @ (tree.p[k] + tree.R[k] @ at - origin), np.abs(tree.p).max())
        if tree.joint[k] in TURNING:
            R[k], turn[k] = _without_turn(R[k])
        R[k] = _clean(R[k], 1.0)
    tens = _regrouped(system, frames, R, p)
    for k, name in enumerate(tree.names):
        own, at = frames[k]
        com, inertia = own.T @ (tree.com[k] - at), own.T @ tree.inertia[k] @ own
        graph.nodes[name].update(R=R[k], p=p[k], com=com, inertia=(inertia + inertia.T) / 2.0)
        if tree.joint[k] in ALONG:
            graph.nodes[name]["axis"] = Z
            if tree.terms is not None and turn[k]:
                rest = tree.terms.rest[tree.freedoms_of(k)]
                graph.nodes[name]["rest"] = rest + turn[k]
    _in_the_root(graph, system, R)
    made = in_general(build(factored(graph), implicit=system.state.step or None))
    M = np.array([tens.get(name, np.zeros((6, 6))) for name in made.tree.names])
    entries, biased = made.entries._replace(M=M), np.ones(len(M), dtype=np.bool_)
    pattern = replace(made.pattern, M=M != 0.0, a=biased)  # of_points gives a to every body
    configuration = Configuration(tree, system.graph)
    shifts = np.zeros(configuration.size)
    for k in np.flatnonzero(turn).tolist():
        shifts[configuration.of(k)] = turn[k]
    return replace(made, entries=entries, pattern=pattern, plans={}), tuple(shifts.tolist())


def _frame(system: System, k: int, upwards: Floats, above: Floats) -> tuple[Floats, Floats]:
    """The new frame of body k in its own one, a rotation and an origin.

    ``upwards`` (3,) leads to the parent's, whose directions are the columns of ``above``.
    """
    tree = system.tree
    z, foot = tree.axis[k, 0], (upwards @ tree.axis[k, 0]) * tree.axis[k, 0]
    children = [c for c in np.flatnonzero(tree.parent == k).tolist() if tree.joint[c] in ALONG]
    if children:
        child = max(
            children,
            key=lambda c: (tree.joint[c] in TURNING, len(nx.descendants(system.graph, tree.names[c]))),
        )
        along, there = tree.R[child] @ tree.axis[child, 0], tree.p[child]
        normal = np.cross(z, along)
        height = float(np.cross(there, along) @ normal)  # of the normal's foot, times its square
        near = abs(height) <= FAR * np.linalg.norm(there) * float(normal @ normal)
        if near and np.linalg.norm(normal) > BENT:
            wanted = normal
            foot = height / (normal @ normal) * z if tree.joint[child] in TURNING else np.zeros(3)
        else:  # all but parallel
            wanted = there
    else:
        wanted = tree.com[k] if tree.joint[k] in TURNING else np.cross(above[:, 2], z)
    x = _across(z, wanted)
    if x is None:
        x = _across(z, above[:, np.abs(above.T @ z).argmin()])
    assert x is not None  # of three directions one lies across
    if tree.joint[k] == "prismatic":  # any origin does
        foot = upwards
    return np.column_stack([x, np.cross(z, x), z]), foot


def _across(z: Floats, wanted: Floats) -> Floats | None:
    """The unit vector across z in the plane of z and another vector; None where both are all but parallel."""
    size = np.linalg.norm(wanted)
    x = wanted / size if size > 0.0 else wanted
    for _ in range(2):  # the second time takes what rounding has left along z
        x = x - (x @ z) * z
        if np.linalg.norm(x) <= BENT:
            return None
        x = x / np.linalg.norm(x)
    return x


def _without_turn(R: Floats) -> tuple[Floats, float]:
    """Q with most zeros, and an angle: R is Q times a turn about z by the angle."""
    z = R[:, 2]
    found: list[tuple[int, int, Floats]] = []
    for wanted in (R[:, 0], np.cross(Z, z), *np.eye(3)):
        x = _across(z, wanted)
        if x is not None:
            Q = _clean(np.column_stack([x, np.cross(z, x), z]), 1.0)
            found.append((np.count_nonzero(Q) - np.isin(Q, (1.0, -1.0)).sum(), len(found), Q))
    Q = min(found, key=lambda each: each[:2])[2]
    turned = Q.T @ R
    angle = float(np.arctan2(turned[1, 0], turned[0, 0]))
    return Q, angle if abs(angle) > ROUNDING else 0.0


def _clean(x: Floats, size: float) -> Floats:
    """x with numbers that are 0, and in rotations 1 or -1, but for rounding."""
    x = np.where(np.abs(x) <= ROUNDING * size, 0.0, x)
    return np.where(np.abs(np.abs(x) - 1.0) <= ROUNDING, np.sign(x), x) if x.ndim == 2 else x


def _regrouped(
    system: System, frames: list[tuple[Floats, Floats]], R: Floats, p: Floats
) -> dict[Any, Floats]:
    """M_k (6, 6) by body in the new frames, less what moved to parents, with what came from children."""
    tree, tens = system.tree, np.zeros((system.tree.n, 6, 6))
    for k, (own, at) in enumerate(frames):
        back = force_transform(own.T[None], -(own.T @ at)[None])[0]
        tens[k] = back @ system.entries.M[k] @ back.T
    for k in system.structure.order.tolist():  # children before their parents
        J, h, m = (tens[k][:3, :3] + tens[k][:3, :3].T) / 2.0, tens[k][(2, 0, 1), (4, 5, 3)], tens[k][5, 5]
        J = np.where(np.abs(J) <= ROUNDING * np.abs(J).max(initial=0.0), 0.0, J)
        h = np.where(np.abs(h) <= ROUNDING * max(np.abs(h).max(), m * np.abs(p).max()), 0.0, h)
        left = _spatial(J, h, m)
        if tree.joint[k] == "fixed":
            moved = left
        elif tree.joint[k] == "prismatic":
            moved = _spatial(J, 0.0 * h, 0.0)
        elif tree.joint[k] in TURNING:
            moved = _spatial(np.diag([J[1, 1], J[1, 1], 0.0]), h * Z, m)
        else:
            moved = np.zeros((6, 6))
        tens[k], up = left - moved, int(tree.parent[k])
        if up >= 0:
            Phi = force_transform(R[k][None], p[k][None])[0]
            tens[up] += Phi @ moved @ Phi.T
    return dict(zip(tree.names, tens, strict=True))


def _spatial(J: Floats, h: Floats, m: float) -> Floats:
    """The spatial inertia (6, 6) of ten numbers: moments about the origin, first moments, mass."""
    side = skew(h)
    return np.block([[J, side], [side.T, m * np.eye(3)]])


def _in_the_root(graph: nx.DiGraph[Any], system: System, R: NDArray[Any]) -> None:
    """Turn the world's frame to that of the only root, so that gravity alone is turned."""
    roots = np.flatnonzero(system.tree.parent < 0).tolist()
    if len(roots) == 1:
        graph.graph["gravity"] = tuple((R[roots[0]].T @ system.tree.gravity).tolist())
        graph.nodes[system.tree.names[roots[0]]].update(R=np.eye(3), p=np.zeros(3))
