"""A floating robot that hangs on another of its bodies: the same mechanism, and the same accelerations.

The floating base is six freedoms that any body may have.  Where another one has them, joints between the
two roots carry their parents: of a joint that moves child against parent by S qd, the parent moves against
the child by -X^-1 S qd, X being motion's way from parent to child.  Rate, effort and acceleration of the
joint stay as they are; what acted at the old base is a wrench on its body.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise

import networkx as nx
import numpy as np

from pivotree.kkt import ModelError, System, build
from pivotree.kkt.machine.frames import in_frames
from pivotree.kkt.model.spatial import force_transform

JOINT = ("joint", "R", "p", "S", "bias", "armature")  # what a body's joint is, in a tree


def rooted(system: System, body: Hashable) -> System:
    """Equation (4) of a floating robot in one state, with ``body`` as its root.

    Joints are general ones, as of :func:`kkt.aligned`, and bodies keep their frames.  Raises ModelError
    for a body that hangs on none that floats freely, without armature.

    >>> from pivotree.analysis.check.rooted import rooted
    >>> system = pt.build(pt.quadruped())
    >>> rooted(system, "front_left_shank").structure.parent_of("trunk")
    'front_left_hip'
    """
    s = system.state
    up = [s.names.index(body)]
    while s.parent[up[-1]] >= 0:
        up.append(int(s.parent[up[-1]]))
    if not _free(system, root := up[-1]):
        raise ModelError(f"body {body!r}", "its root does not float freely, so that no other can be the root")
    written = in_frames(system, np.broadcast_to(np.eye(3), (len(s.names), 3, 3)), tidy=False)
    tree = written.graph.copy()
    own = [slice(*ends) for ends in pairwise(s.S.offset.tolist())]
    rates = {name: s.qd[own[k]] for k, name in enumerate(s.names)}
    efforts = {name: system.entries.tau[own[k]] for k, name in enumerate(s.names)}
    joints = {k: {x: tree.nodes[s.names[k]].pop(x) for x in JOINT if x in tree.nodes[s.names[k]]} for k in up}
    held = np.linalg.solve(s.S[root].T, efforts[s.names[root]])
    tree.nodes[s.names[root]]["wrench"] = s.wrench[root] + held
    v, R, p = s.S[root] @ s.qd[own[root]], s.R[root], s.p[root]
    for parent, child in pairwise(reversed(up)):
        name, joint, motion = s.names[parent], joints[child], force_transform(s.R[child], s.p[child]).T
        turned = {x: -np.linalg.solve(motion, joint[x]) for x in ("S", "bias") if x in joint}
        tree.nodes[name].update(joint | turned, R=s.R[child].T, p=-s.R[child].T @ s.p[child])
        tree.remove_edge(name, s.names[child])
        tree.add_edge(s.names[child], name)
        rates[name], efforts[name] = s.qd[own[child]], system.entries.tau[own[child]]
        v = motion @ v + s.S[child] @ s.qd[own[child]]
        R, p = R @ s.R[child], p + R @ s.p[child]
    tree.nodes[body].update(joint="general", R=R, p=p, S=np.eye(6))
    rates[body], efforts[body] = v, np.zeros(6)
    qd, tau = (np.concatenate([given[name] for name in tree]) for given in (rates, efforts))
    return build(tree, np.zeros(len(qd)), qd, tau, loops=written.loops)


def other_roots(system: System) -> list[Hashable]:
    """The heaviest body, and one from which the farthest is nearest, of those that are not the root."""
    s = system.state
    if not _floats(system):
        return []
    tree = nx.Graph((s.names[k], s.names[up]) for k, up in enumerate(s.parent.tolist()) if up >= 0)
    chosen = [s.names[int(np.argmax(s.mass))], *nx.center(tree)[:1]] if len(tree) else []
    return [body for body in dict.fromkeys(chosen) if s.parent[s.names.index(body)] >= 0]


def no_other(system: System) -> str:
    """Why a robot has no other root that is worth a try; empty where it has one."""
    if not _floats(system):
        return "its base does not float, which leaves no other root"
    return "" if other_roots(system) else "its base is its heaviest body, and in the middle of the tree"


def _floats(system: System) -> bool:
    first, *more = np.flatnonzero(system.state.parent < 0).tolist()
    return not more and _free(system, first)


def _free(system: System, root: int) -> bool:
    """Whether nothing holds a root: six freedoms without a rotor, or a damper of an implicit step."""
    return system.state.S[root].shape[1] == 6 and not system.entries.A[system.tree.freedoms_of(root)].any()
