"""Trees and mechanisms in other simulators."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import networkx as nx
import numpy as np

from pivotree import kkt


def mujoco_model(graph: nx.DiGraph) -> mujoco.MjModel:
    """The model of :func:`mujoco_spec`, compiled."""
    return mujoco_spec(graph).compile()


def mujoco_spec(graph: nx.DiGraph) -> mujoco.MjSpec:
    """Hinges, slides, universal joints (two hinges) and floating roots; balls and pins connected.

    A loop of rows that hold a point becomes ``connect``, whose three rows MuJoCo keeps softly.
    """
    tree, spec = kkt.compile_tree(graph), mujoco.MjSpec()
    bodies = {-1: spec.worldbody}
    hinge, slide = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
    for k in range(tree.n):  # parents come first, depth first
        J, turn = tree.inertia[k], np.zeros(4)
        mujoco.mju_mat2Quat(turn, tree.R[k].ravel())
        heavy = (
            {}
            if not tree.mass[k] and not J.any()
            else {
                "explicitinertial": True,
                "mass": tree.mass[k],
                "ipos": tree.com[k],
                **({"fullinertia": J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]} if J.any() else {}),
            }
        )
        parent = bodies[int(tree.parent[k])]  # a frame without mass is a body without inertia
        body = parent.add_body(name=str(tree.names[k]), pos=tree.p[k], quat=turn, **heavy)
        if tree.joint[k] == "floating":
            body.add_freejoint()
        else:
            kind = slide if tree.joint[k] == "prismatic" else hinge
            for j in range(int(tree.dof[k])):
                at = int(tree.offset[k]) + j
                spring = (
                    {}
                    if tree.terms is None
                    else {"stiffness": tree.terms.stiffness[at], "springref": tree.terms.rest[at]}
                )
                body.add_joint(type=kind, axis=tree.axis[k, j], **spring)
        bodies[k] = body
    index = {name: k for k, name in enumerate(tree.names)} | {None: -1}
    for loop in graph.graph.get("loops", ()):
        ends = [f"{loop.name}{end}" for end in range(2)]
        for end, name, p in zip(ends, loop.bodies, loop.p, strict=True):
            bodies[index[name]].add_site(name=end, pos=p)
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE, name1=ends[0], name2=ends[1]
        )
    spec.option.gravity[:] = tree.gravity
    return spec


def mujoco_forward(graph: nx.DiGraph) -> Callable[[], np.ndarray]:
    """qdd (N,) of the graph's own state by mj_forward, constraints disabled; trees of hinges."""
    model = mujoco_model(graph)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = graph.graph["q"], graph.graph["qd"]
    data.qfrc_applied[:] = graph.graph["tau"]

    def forward() -> np.ndarray:
        mujoco.mj_forward(model, data)
        return data.qacc.copy()

    return forward
