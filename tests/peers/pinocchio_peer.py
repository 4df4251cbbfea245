"""Pinocchio's conventions beside this project's: the map between the two, and nothing else.

=============  ===========================================  ===================================
what           here                                         Pinocchio
=============  ===========================================  ===================================
spatial        angular first                                linear first
fixed joints   bodies on joints of 0 dof, or merged         always merged; links stay as frames
continuous     q is the angle                               q is (cos, sin)
planar         q is x, y, angle; normal to the axis         q is x, y, cos, sin; axis always z
floating       q is position + quaternion xyzw; rates are   the same q; rates are linear, then
               angular, then linear, in the body's frame    angular, in the body's frame
mimic          free (or fixed)                              free, unless ``mimic=True``
f_ext          on each body, in its frame, at its origin    on each joint's body, likewise
=============  ===========================================  ===================================

Joints are numbered differently (Pinocchio sorts children by name), so they meet by joint name.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pinocchio as pin
from random_states import QUATERNION, Floats, RandomState, read_quietly

from pivotree import kkt

ANGULAR_FIRST = np.r_[3:6, 0:3]  # the same six numbers, the other half first


def read_pair(path: Path, floating: bool, merge_fixed: bool) -> tuple[kkt.System, Peer]:
    """The same URDF file read by both; both read a floating base as the joint ``root_joint``."""
    system = read_quietly(path, floating, merge_fixed)
    base = [pin.JointModelFreeFlyer()] if floating else []
    return system, Peer(system, pin.buildModelFromUrdf(str(path), *base))


def model_of(graph: nx.DiGraph) -> pin.Model:
    """A Pinocchio model of a tree that comes from no file; planar joints must have the axis z.

    The joint of body b is named ``str(b)``, and so is b's frame.  Joints are numbered depth
    first, because crba is silently wrong where they are not.
    """
    tree = kkt.compile_tree(graph)
    model = pin.Model()
    number = {name: k for k, name in enumerate(tree.names)}
    joints: dict[int, int] = {-1: 0}
    for root in (name for name in graph if graph.in_degree(name) == 0):
        for body in nx.dfs_preorder_nodes(graph, root):
            k = number[body]
            place, origin = pin.SE3(tree.R[k], tree.p[k]), pin.SE3.Identity()
            joint = _joint(tree.joint[k], tree.axis[k])
            joints[k] = model.addJoint(joints[int(tree.parent[k])], joint, place, str(body))
            mass = pin.Inertia(tree.mass[k], tree.com[k], tree.inertia[k])
            model.appendBodyToJoint(joints[k], mass, origin)
            model.addBodyFrame(str(body), joints[k], origin, 0)
    return model


def _joint(kind: str, axis: Floats) -> Any:
    first, second = axis
    if kind in ("revolute", "continuous"):
        return pin.JointModelRevoluteUnaligned(first)
    if kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(first)
    if kind == "universal":
        return pin.JointModelUniversal(first, second)
    if kind == "planar" and (first == [0.0, 0.0, 1.0]).all():
        return pin.JointModelPlanar()
    if kind == "spherical":
        return pin.JointModelSpherical()
    if kind == "floating":
        return pin.JointModelFreeFlyer()
    raise ValueError(f"no joint of Pinocchio is {kind} about {first}")


class Peer:
    """A Pinocchio model whose inputs and outputs are in the conventions and order of ``system``."""

    def __init__(self, system: kkt.System, model: pin.Model) -> None:
        self.tree, self.model, self.data = system.tree, model, model.createData()
        if model.nv != system.tree.N:
            raise ValueError(f"{system.name}: {model.nv} degrees of freedom in Pinocchio")
        self.model.gravity.linear = system.tree.gravity
        self.joint: dict[int, int] = {}  # body -> joint of Pinocchio, for bodies that move
        self.columns = np.empty(model.nv, dtype=int)  # our degree of freedom -> Pinocchio's
        joint_name = system.graph.nodes(data="joint_name")
        for k, body in enumerate(self.tree.names):
            dof = int(self.tree.dof[k])
            if not dof:
                continue
            number = model.getJointId(joint_name[body] or str(body))
            self.joint[k] = number
            there = model.joints[number].idx_v + np.arange(dof)
            if self.tree.joint[k] == "floating":
                there = there[ANGULAR_FIRST]
            at = int(self.tree.offset[k])
            self.columns[at : at + dof] = there

    def q(self, coordinates: Mapping[Hashable, Floats]) -> Floats:
        """Pinocchio's configuration from coordinates by body."""
        q = pin.neutral(self.model)
        for k, number in self.joint.items():
            joint = self.model.joints[number]
            x = coordinates[self.tree.names[k]]
            if joint.nq == joint.nv + 1 and self.tree.joint[k] not in QUATERNION:  # angle is last
                x = np.r_[x[:-1], np.cos(x[-1]), np.sin(x[-1])]
            q[joint.idx_q : joint.idx_q + joint.nq] = x
        return q

    def theirs(self, x: Floats) -> Floats:
        """Rates, accelerations or efforts (N,) in Pinocchio's order."""
        y = np.empty(self.model.nv)
        y[self.columns] = x
        return y

    def forces(self, f_ext: Mapping[Hashable, Floats]) -> Any:
        """Wrenches on bodies, fixed ones too, gathered on the joints that carry these."""
        total = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for body, wrench in f_ext.items():
            frame = self.model.frames[self.model.getFrameId(str(body), pin.BODY)]
            on_link = pin.Force(np.asarray(wrench)[ANGULAR_FIRST])
            total[frame.parentJoint] += frame.placement.act(on_link)
        return pin.StdVec_Force(total)

    def aba(self, state: RandomState) -> Floats:
        """qdd (N,) by Pinocchio's articulated-body algorithm."""
        v, tau = self.theirs(state.qd), self.theirs(state.tau)
        qdd = pin.aba(self.model, self.data, self.q(state.q), v, tau, self.forces(state.f_ext))
        return qdd[self.columns]

    def rnea(self, state: RandomState, qdd: Floats) -> Floats:
        """tau (N,) for given qdd by Pinocchio's recursive Newton-Euler algorithm."""
        v, a = self.theirs(state.qd), self.theirs(qdd)
        tau = pin.rnea(self.model, self.data, self.q(state.q), v, a, self.forces(state.f_ext))
        return tau[self.columns]

    def crba(self, state: RandomState) -> Floats:
        """Joint-space inertia (N, N); Pinocchio fills the upper triangle only."""
        upper = np.triu(pin.crba(self.model, self.data, self.q(state.q)))
        M = upper + np.triu(upper, 1).T
        return M[np.ix_(self.columns, self.columns)]
