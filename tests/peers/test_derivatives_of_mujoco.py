"""MuJoCo's own differences, in its own tangents, are what the derivatives of qdd say.

``mjd_transitionFD`` moves positions by ``mj_integratePos`` and rates as they stand: a free joint's
linear half lies along the world's axes, all else in the body's frame.  With a step h of Euler's
method the rates after it are v + h qacc: its lower half is h d qacc / dq and 1 + h d qacc / dv.
"""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

import mujoco  # noqa: E402
import mujoco_peer as peers  # noqa: E402
from random_states import random_state, robots  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402
from pivotree.kkt.model.spatial import skew  # noqa: E402

FILES = robots()
NAMES = ("ur5", "panda", "kinova", "double_pendulum", "go2", "solo12", "talos")
CASES = [
    pytest.param(name, floats, id=f"{name}-{'floating' if floats else 'fixed'}")
    for name in NAMES
    if name in FILES
    for floats in (False, True)
]
STEP, EPSILON = 0.01, 1e-6


def differences(peer, state):
    """d qacc / dq, dv and d qfrc (nv, nv) of MuJoCo, by central differences in its tangents."""
    model, data = peer.model, peer.data
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_EULER
    peer.put(state)
    mujoco.mj_forward(model, data)
    nv = model.nv
    A = np.zeros((2 * nv + model.na,) * 2)
    mujoco.mjd_transitionFD(model, data, EPSILON, True, A, None, None, None)
    by_q, by_v = A[nv : 2 * nv, :nv] / STEP, (A[nv : 2 * nv, nv : 2 * nv] - np.eye(nv)) / STEP
    peer.put(state)
    mujoco.mj_forward(model, data)
    M = np.zeros((nv, nv))
    mujoco.mj_fullM(model, data, M)
    return by_q, by_v, np.linalg.inv(M)


def in_their_tangents(peer, state, found):
    """Ours in MuJoCo's: axes of the world for a free joint's linear half, that of qacc too.

    There v = R' v_w, so that a turn of the body by d moves v by -d x v where v_w is held, and so
    with the force; and qacc is R (a + w x v).
    """
    tree, nv = peer.tree, peer.model.nv
    own, held, pushed, out = (np.zeros((nv, nv)) for _ in range(4))
    more_q, more_v = np.zeros((nv, nv)), np.zeros((nv, nv))
    for k, number in peer.joint.items():
        first, at = int(tree.offset[k]), int(peer.model.jnt_dofadr[number])
        if tree.joint[k] != "floating":
            size = int(tree.dof[k])
            own[first : first + size, at : at + size] = np.eye(size)
            out[at : at + size, first : first + size] = np.eye(size)
            continue
        R = peer._turn(state, k)
        turn, slide = slice(first, first + 3), slice(first + 3, first + 6)
        moves, turns = slice(at, at + 3), slice(at + 3, at + 6)
        own[turn, turns], own[slide, moves] = np.eye(3), R.T
        out[turns, turn], out[moves, slide] = np.eye(3), R
        w, v = np.split(state.qd[first : first + 6], 2)
        force, a = state.tau[slide], found.qdd[slide]
        held[slide, turns], pushed[slide, turns] = skew(v), skew(force)  # -d x v is v x d
        more_q[moves, turns] = R @ (skew(w) @ skew(v) - skew(a + np.cross(w, v)))
        more_v[moves, turns], more_v[moves, moves] = -R @ skew(v), R @ skew(w) @ R.T
    by_q = out @ (found.dq @ own + found.dqd @ held + found.dtau @ pushed) + more_q
    return by_q, out @ found.dqd @ own + more_v, out @ found.dtau @ own


def compared(system, peer, seed):
    state = random_state(system, seed, forces=False)
    order, wanted = orderings.get("inverse_dynamics"), state.tau / 10.0  # efforts for a calm motion
    now = system.refresh(state.q, state.qd, np.zeros_like(state.tau))
    state = replace(state, tau=kkt.inverse_dynamics(now, wanted, order).tau)
    now = system.refresh(state.q, state.qd, state.tau)
    found = kkt.derivatives(now, orderings.get("abm"))
    theirs = differences(peer, state)
    for own, other in zip(in_their_tangents(peer, state, found), theirs, strict=True):
        assert np.abs(own - other).max() <= 1e-6 * np.abs(other).max()


@pytest.mark.skipif(not FILES, reason="example-robot-data is missing")
def test_there_are_robots_enough():
    assert len(CASES) >= 10


@pytest.mark.parametrize("name, floats", CASES)
def test_robots_have_the_same_derivatives(name, floats):
    compared(*peers.read_pair(FILES[name], floats, merge_fixed=True), seed=len(name))


@pytest.mark.parametrize(
    "joints", ["revolute+prismatic", "spherical+revolute", "universal+prismatic", "spherical+universal"]
)
@pytest.mark.parametrize("floats", [False, True])
def test_joints_have_the_same_tangents(joints, floats):
    """Hinges, slides, balls, two hinges for a universal joint, and a free root."""
    tree = kkt.random_tree(6, seed=len(joints), joints=joints)
    root = next(name for name, degree in tree.in_degree() if not degree)
    if floats:
        tree.nodes[root].update(joint="floating", R=np.eye(3), p=np.zeros(3))
        for field in ("q", "qd", "tau"):  # of as many freedoms as it had
            tree.graph.pop(field, None)
    system = kkt.build(tree)
    compared(system, peers.Peer(system, peers.model_of(tree)), seed=3)
