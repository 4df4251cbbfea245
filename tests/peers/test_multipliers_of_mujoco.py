"""Accelerations and multipliers of mechanisms and of robots on their feet, beside MuJoCo's.

MuJoCo softens every constraint: at rest it solves J qacc + R f = 0, a compliance R of ours.  Hard
ones at any velocity are solved with its inertia, forces and Jacobians (see
:mod:`test_mjcf_loops`).
"""

from dataclasses import replace

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

import mujoco_peer  # noqa: E402
from random_states import difference, read_quietly, robots  # noqa: E402
from test_mjcf_loops import Closed, agree  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402

FEET = {  # MuJoCo refuses anymal, one of whose links has a singular inertia
    "solo12": ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
    "go2": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
}


def tied(spec, first, second, anchor):
    """A point of a body held to another body, or to the world, in all three directions."""
    names = {"name1": str(first), "name2": str(second or "world")}
    equality = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY, **names)
    equality.data[:3] = anchor


def mechanism(spec, seed):
    """Of the gallery: free roots at the world's origin, cut joints as points that stay together."""
    tree = kkt.from_spec(spec)
    at = np.split(tree.graph["q"], kkt.compile_tree(tree).offset[1:-1])
    q = dict(zip(tree.nodes, map(np.array, at), strict=True))
    for name, data in tree.nodes(data=True):
        if data["joint"] == "floating":
            q[name] = np.r_[q[name][:3] + data["p"], 0.0, 0.0, 0.0, 1.0]
            data["p"] = np.zeros(3)
    model = mujoco_peer.spec_of(tree)
    for loop in tree.graph["loops"]:
        tied(model, *loop.bodies, loop.p[0])
    compiled = model.compile()
    for i, loop in enumerate(tree.graph["loops"]):
        compiled.eq_data[i, 3:6] = loop.p[1]
    return Closed(tree, compiled, seed, q)


def quadruped(name, feet, seed):
    tree = read_quietly(robots()[name], True, True).graph
    held = [kkt.contact(x, (0, 0, 0), tangents=np.eye(3)[:2]) for x in FEET[name][:feet]]
    tree.graph["loops"] = [kkt.model.loops.on_bodies(x, tree.graph["merged"]) for x in held]
    model = mujoco.MjSpec.from_string(mujoco_peer.bare_urdf(robots()[name], True))
    for loop in tree.graph["loops"]:
        tied(model, loop.bodies[1], None, loop.p[1])
    return Closed(tree, model.compile(), seed)


def forces(there, loops, lam):
    """Of an answer here, as MuJoCo has them: of a connect (3,) on the first body, in world axes."""
    result = []
    parts = np.split(lam, np.cumsum([loop.rows for loop in loops])[:-1])
    for loop, own, kind in zip(loops, parts, there.model.eq_type, strict=True):
        force = own if kind == mujoco.mjtEq.mjEQ_JOINT else loop.C[3:] @ own
        if kind != mujoco.mjtEq.mjEQ_JOINT and not loop.point:
            # in the first body's frame, on the second
            body = there.data.body(str(loop.bodies[0]))
            force = -body.xmat.reshape(3, 3) @ loop.R[0] @ force
        result.append(force)
    return np.concatenate(result)


def soft_ones_agree(there):
    """At rest, with what mj_forward solves to convergence."""
    state = there.state(moving=0.0)
    data, loops = there.data, there.tree.graph["loops"]
    R = [data.efc_R[data.efc_id == i][0] for i in range(len(loops))]
    soft = [replace(x, compliance=np.full(x.rows, r)) for x, r in zip(loops, R, strict=True)]
    expected = there.peer._from_world(state, data.qacc)
    for name in ("abm", "crbm", "closed_early", "lambda_first"):
        ours = kkt.eliminate(there.system(state, soft), orderings.get(name))
        assert difference(ours.qdd, expected) <= 1e-9, name
        assert difference(forces(there, loops, ours.lam), data.efc_force) <= 1e-9, name


@pytest.mark.parametrize("spec", ["four_bar", "stewart", "stewart:height=1.1"])
def test_mechanisms_are_mujoco_s(spec):
    agree(mechanism(spec, 2))
    soft_ones_agree(mechanism(spec, 3))


@pytest.mark.parametrize("feet", [1, 2, 3, 4])
@pytest.mark.parametrize("name", [x for x in FEET if x in robots()])
def test_quadrupeds_on_their_feet_are_mujoco_s(name, feet):
    agree(quadruped(name, feet, feet))
    soft_ones_agree(quadruped(name, feet, feet))
