"""Forward dynamics of simulators for trees of hinges."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import networkx as nx
import numpy as np

from pivotree import kkt


def mujoco_forward(graph: nx.DiGraph) -> Callable[[], np.ndarray]:
    """qdd (N,) of the graph's own state by mj_forward, constraints disabled."""
    tree, spec = kkt.compile_tree(graph), mujoco.MjSpec()
    bodies = {-1: spec.worldbody}
    for k in range(tree.n):  # parents come first, depth first
        J = tree.inertia[k]
        body = bodies[int(tree.parent[k])].add_body(
            pos=tree.p[k], explicitinertial=True, mass=tree.mass[k], ipos=tree.com[k],
            fullinertia=J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
        )  # fmt: skip
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=tree.axis[k, 0])
        bodies[k] = body
    model = spec.compile()
    model.opt.gravity[:] = tree.gravity
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = graph.graph["q"], graph.graph["qd"]
    data.qfrc_applied[:] = graph.graph["tau"]

    def forward() -> np.ndarray:
        mujoco.mj_forward(model, data)
        return data.qacc.copy()

    return forward
