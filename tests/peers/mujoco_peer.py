"""MuJoCo's conventions beside this project's: the map between the two, and nothing else.

=============  ===========================================  ===================================
what           here                                         MuJoCo
=============  ===========================================  ===================================
fixed joints   bodies on joints of 0 dof, or merged         fused (``fusestatic``)
floating       q is position + quaternion xyzw; rates are   position + quaternion wxyz; rates are
               angular, then linear, in the body's frame    linear in the world, then angular in
                                                            the body's frame
base           named by an option of the reader             free if it hangs from a link ``world``
                                                            by a joint of type floating
efforts        tau                                          qfrc_applied, in the rates' axes
=============  ===========================================  ===================================

Contacts, limits, friction and damping are left out of the model, and inertias stay as they are
(``balanceinertia`` is off): a file whose inertias no rigid body has is refused by the compiler.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

import mujoco
import networkx as nx
import numpy as np
from defusedxml.ElementTree import parse
from random_states import Floats, RandomState, read_quietly

from pivotree import kkt
from pivotree.kkt.model.spatial import cross

DYNAMIC = {"link": ("inertial",), "joint": ("origin", "parent", "child", "axis")}


def read_pair(path: Path, floating: bool, merge_fixed: bool) -> tuple[kkt.System, Peer]:
    """The same URDF file read by both.  Raises ValueError where MuJoCo refuses the file."""
    system = read_quietly(path, floating, merge_fixed)
    model = mujoco.MjModel.from_xml_string(bare_urdf(path, floating))
    return system, Peer(system, model)


def bare_urdf(path: Path, floating: bool) -> str:
    """The file with nothing but what dynamics needs, and the root link on a joint if it floats."""
    robot = parse(path).getroot()
    bare = Element("robot", name="robot")
    compiler = {"balanceinertia": "false", "fusestatic": "true", "autolimits": "false"}
    SubElement(SubElement(bare, "mujoco"), "compiler", compiler)
    for tag, wanted in DYNAMIC.items():
        for element in robot.findall(tag):
            kept = SubElement(bare, tag, element.attrib)
            kept.extend(child for child in element if child.tag in wanted)
    if floating:
        for link in bare.iter():  # a root link that is called world must not be taken for it
            for field in ("name", "link"):
                if link.get(field) == "world":
                    link.set(field, "world link")
        children = {joint.find("child").get("link") for joint in bare.iter("joint")}
        root = next(x.get("name") for x in bare.iter("link") if x.get("name") not in children)
        SubElement(bare, "link", name="world")
        joint = SubElement(bare, "joint", name="root_joint", type="floating")
        SubElement(joint, "parent", link="world")
        SubElement(joint, "child", link=root)
    return tostring(bare, encoding="unicode")


def model_of(graph: nx.DiGraph) -> mujoco.MjModel:
    """Hinges, slides, balls, and two hinges for a universal joint.

    Body b is named ``str(b)``, and so is its joint, or the first of its two.
    """
    kinds = {
        "revolute": mujoco.mjtJoint.mjJNT_HINGE,
        "prismatic": mujoco.mjtJoint.mjJNT_SLIDE,
        "universal": mujoco.mjtJoint.mjJNT_HINGE,
        "spherical": mujoco.mjtJoint.mjJNT_BALL,
    }
    tree = kkt.compile_tree(graph)
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    bodies = {-1: spec.worldbody}
    for level in tree.levels:
        for k in level:
            turn = np.zeros(4)
            mujoco.mju_mat2Quat(turn, tree.R[k].ravel())
            J = tree.inertia[k]
            body = bodies[int(tree.parent[k])].add_body(
                name=str(tree.names[k]),
                pos=tree.p[k],
                quat=turn,
                explicitinertial=True,
                mass=tree.mass[k],
                ipos=tree.com[k],
                fullinertia=J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
            )
            joint = {"name": str(tree.names[k]), "type": kinds[tree.joint[k]]}
            if tree.axis[k, 0].any():
                joint["axis"] = tree.axis[k, 0]
            body.add_joint(**joint)
            if tree.joint[k] == "universal":
                body.add_joint(name=f"{joint['name']} 2", type=joint["type"], axis=tree.axis[k, 1])
            bodies[k] = body
    return spec.compile()


def mjcf_model(path: Path) -> mujoco.MjModel:
    """An MJCF file without what the reader here leaves out; a joint without a name has ours."""
    spec = mujoco.MjSpec.from_file(str(path))
    for number, joint in enumerate(spec.joints):
        joint.name = joint.name or f"joint {number}"
    model = spec.compile()
    model.opt.density = model.opt.viscosity = 0.0
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    for array in (model.body_gravcomp, model.tendon_stiffness, model.tendon_damping):
        array[:] = 0.0
    return model


class Peer:
    """A MuJoCo model whose inputs and outputs are in the conventions and order of ``system``."""

    def __init__(self, system: kkt.System, model: mujoco.MjModel) -> None:
        self.tree, self.model, self.data = system.tree, model, mujoco.MjData(model)
        model.opt.gravity[:] = system.tree.gravity
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        joint_name = system.graph.nodes(data="joint_name")
        self.joint = {
            k: model.joint(joint_name[body] or str(body)).id
            for k, body in enumerate(self.tree.names)
            if self.tree.dof[k]
        }

    def qdd(self, state: RandomState) -> Floats:
        """qdd (N,) by MuJoCo's forward dynamics."""
        self.put(state)
        mujoco.mj_forward(self.model, self.data)
        return self._from_world(state, self.data.qacc)

    def put(self, state: RandomState) -> None:
        """Positions, rates and efforts of a state."""
        model, data = self.model, self.data
        for k, number in self.joint.items():
            x = state.q[self.tree.names[k]]
            if self.tree.joint[k] in ("floating", "spherical"):
                x = np.r_[x[:-4], x[-1], x[-4:-1]]  # xyzw -> wxyz
            at = model.jnt_qposadr[number]
            data.qpos[at : at + len(x)] = x
        data.qvel[:] = self._to_world(state, state.qd)
        data.qfrc_applied[:] = self._to_world(state, state.tau)

    def positions(self) -> dict[Hashable, Floats]:
        """q of every body that moves, as it stands; quaternions xyzw."""
        result = {}
        for k, number in self.joint.items():
            turns = self.tree.joint[k] in ("floating", "spherical")
            at = self.model.jnt_qposadr[number]
            x = self.data.qpos[at : at + int(self.tree.dof[k]) + turns].copy()
            if turns:
                x = np.r_[x[:-4], x[-3:], x[-4]]  # wxyz -> xyzw
            result[self.tree.names[k]] = x
        return result

    def inertia(self, state: RandomState) -> Floats:
        """Joint-space inertia (N, N) at the state of the last :meth:`qdd`."""
        full = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, full)
        rest = RandomState(state.q, np.zeros_like(state.qd), state.tau, {})
        half = np.array([self._from_world(rest, row) for row in full])
        return np.array([self._from_world(rest, row) for row in half.T])

    def _to_world(self, state: RandomState, x: Floats) -> Floats:
        """Rates or efforts in MuJoCo's order; a free joint's linear half in world axes."""
        y = np.empty(self.model.nv)
        for k, number in self.joint.items():
            mine = x[self.tree.freedoms_of(k)]
            if self.tree.joint[k] == "floating":
                mine = np.r_[self._turn(state, k) @ mine[3:], mine[:3]]
            at = self.model.jnt_dofadr[number]
            y[at : at + len(mine)] = mine
        return y

    def _from_world(self, state: RandomState, y: Floats) -> Floats:
        """Accelerations in our order: the body-frame rate v has d/dt (R v) = R (dv + w x v)."""
        x = np.empty(self.model.nv)
        for k, number in self.joint.items():
            mine = self.tree.freedoms_of(k)
            at = self.model.jnt_dofadr[number]
            theirs = y[at : at + self.tree.dof[k]]
            if self.tree.joint[k] == "floating":
                w, v = np.split(state.qd[mine], 2)
                linear = self._turn(state, k).T @ theirs[:3] - cross(w, v)
                theirs = np.r_[theirs[3:], linear]
            x[mine] = theirs
        return x

    def _turn(self, state: RandomState, k: int) -> Floats:
        """Orientation (3, 3) of a floating root; its joint frame at q = 0 is the world's."""
        quaternion = state.q[self.tree.names[k]][[6, 3, 4, 5]]
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, quaternion)
        return R.reshape(3, 3)
