"""The derivatives of qdd beside those of Pinocchio and of MuJoCo, each in its own tangents.

Pinocchio's computeABADerivatives and computeMinverse give the same matrices to 1e-9.

MuJoCo's ``mjd_transitionFD`` moves positions by ``mj_integratePos`` and rates as they stand: a free
joint's linear half lies along the world's axes, all else in the body's frame.  With a step h of
Euler's method the rates after it are v + h qacc: its lower half is h d qacc / dq and 1 + h d qacc / dv.
"""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import mujoco  # noqa: E402
import mujoco_peer  # noqa: E402
import pinocchio as pin  # noqa: E402
import pinocchio_peer  # noqa: E402
from random_states import difference, random_state, robots, tolerance  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402
from pivotree.kkt.model.spatial import skew  # noqa: E402

ROBOTS = robots()
NAMES = ("ur5", "panda", "talos", "anymal", "solo12", "double_pendulum", "kinova", "hyq", "tiago", "go2")
CASES = [
    pytest.param(name, floats, id=f"{name}-{'floating' if floats else 'fixed'}")
    for k, name in enumerate(NAMES)
    if name in ROBOTS
    for floats in ((True,), (False, True))[k % 2]
]
MUJOCOS = [case for case in CASES if case.values[0] not in ("anymal", "hyq", "tiago")]  # these it refuses
STEP, EPSILON = 0.01, 1e-6


# -- Pinocchio -------------------------------------------------------------------------------------


def theirs(peer, state):
    """ddq_dq, ddq_dv and M^-1 of Pinocchio, in this project's order of freedoms."""
    q, v, tau = peer.q(state.q), peer.theirs(state.qd), peer.theirs(state.tau)
    pin.computeABADerivatives(peer.model, peer.data, q, v, tau, peer.forces(state.f_ext))
    by_q, by_v = peer.data.ddq_dq.copy(), peer.data.ddq_dv.copy()
    inverse = np.triu(pin.computeMinverse(peer.model, peer.data, q))
    inverse = inverse + np.triu(inverse, 1).T
    own = np.ix_(peer.columns, peer.columns)
    return by_q[own], by_v[own], inverse[own]


def compared(system, peer, seed):
    state = random_state(system, seed)
    now = system.refresh(state.q, state.qd, state.tau, state.f_ext)
    found = kkt.derivatives(now, orderings.get("abm"))
    M = kkt.joint_space_inertia(now, orderings.get("crbm"))
    close = max(1e-9, tolerance(M))
    for own, other in zip((found.dq, found.dqd, found.dtau), theirs(peer, state), strict=True):
        assert difference(own, other) <= close


@pytest.mark.skipif(not ROBOTS, reason="example-robot-data is missing")
def test_there_are_robots_enough():
    assert len(CASES) >= 15 and len(MUJOCOS) >= 10


@pytest.mark.parametrize("name, floats", CASES)
def test_robots_have_pinocchio_s_derivatives(name, floats):
    compared(*pinocchio_peer.read_pair(ROBOTS[name], floats, merge_fixed=True), seed=len(name))


def mixture(joints):
    tree = kkt.random_tree(6, seed=len(joints), joints=joints)
    for _, data in tree.nodes(data=True):
        if data["joint"] == "planar":  # Pinocchio's have this normal alone
            data["axis"] = (0.0, 0.0, 1.0)
    system = kkt.build(tree)
    return system, pinocchio_peer.Peer(system, pinocchio_peer.model_of(tree))


@pytest.mark.parametrize("joints", ["revolute+prismatic", "spherical+revolute", "floating+planar"])
def test_joints_have_pinocchio_s_tangents(joints):
    compared(*mixture(joints), seed=3)


def test_parameters_are_those_of_pinocchio():
    """The ten numbers of a body; its joint torque regressor Y, for d qdd = -M^-1 Y d theta."""
    system, peer = mixture("spherical+revolute")
    state = random_state(system, 2)
    now = system.refresh(state.q, state.qd, state.tau, state.f_ext)
    found = kkt.derivatives(now, orderings.get("abm"), also=["parameters"])
    assert found.dparameters is not None
    qdd = peer.theirs(found.qdd)
    arguments = peer.q(state.q), peer.theirs(state.qd), qdd
    Y = pin.computeJointTorqueRegressor(peer.model, peer.data, *arguments)[peer.columns]
    theta = kkt.inertial_parameters(now)
    for k, joint in peer.joint.items():
        ten = peer.model.inertias[joint].toDynamicParameters()
        assert theta[k] == pytest.approx(ten, rel=1e-12, abs=1e-15)
        expected = -found.dtau @ Y[:, 10 * (joint - 1) : 10 * joint]
        off = np.abs(found.dparameters[:, k] - expected).max()
        assert off <= 1e-9 * np.abs(found.dparameters).max()


def test_universal_joints_are_held_against_differences():
    """Pinocchio's derivatives leave out that the first axis turns with the second angle.

    (Version 4.1.) Differences of its aba do not, and they are ours.
    """
    system, peer = mixture("floating+universal")
    state = random_state(system, 3)
    now = system.refresh(state.q, state.qd, state.tau, state.f_ext)
    found = kkt.derivatives(now, orderings.get("abm"))
    q, v, tau = peer.q(state.q), peer.theirs(state.qd), peer.theirs(state.tau)

    def aba(dq, dv):
        moved = pin.integrate(peer.model, q, peer.theirs(dq))
        forces = peer.forces(state.f_ext)
        qdd = pin.aba(peer.model, peer.data, moved, v + peer.theirs(dv), tau, forces)
        return qdd[peer.columns].copy()

    none, step = np.zeros(peer.model.nv), 1e-6
    for own, turned in ((found.dq, False), (found.dqd, True)):
        columns = []
        for move in step * np.eye(peer.model.nv):
            ends = [aba(none, s * move) if turned else aba(s * move, none) for s in (1, -1)]
            columns.append((ends[0] - ends[1]) / (2.0 * step))
        assert np.abs(own - np.array(columns).T).max() <= 1e-6 * np.abs(own).max()


# -- MuJoCo -----------------------------------------------------------------------------------------


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


def compared_with_mujoco(system, peer, seed):
    state = random_state(system, seed, forces=False)
    order, wanted = orderings.get("inverse_dynamics"), state.tau / 10.0  # efforts for a calm motion
    now = system.refresh(state.q, state.qd, np.zeros_like(state.tau))
    state = replace(state, tau=kkt.inverse_dynamics(now, wanted, order).tau)
    now = system.refresh(state.q, state.qd, state.tau)
    found = kkt.derivatives(now, orderings.get("abm"))
    theirs = differences(peer, state)
    for own, other in zip(in_their_tangents(peer, state, found), theirs, strict=True):
        assert difference(own, other) <= 1e-6


@pytest.mark.parametrize("name, floats", MUJOCOS)
def test_robots_have_mujoco_s_derivatives(name, floats):
    compared_with_mujoco(*mujoco_peer.read_pair(ROBOTS[name], floats, merge_fixed=True), seed=len(name))


@pytest.mark.parametrize(
    "joints", ["revolute+prismatic", "spherical+revolute", "universal+prismatic", "spherical+universal"]
)
@pytest.mark.parametrize("floats", [False, True])
def test_joints_have_mujoco_s_tangents(joints, floats):
    """Hinges, slides, balls, two hinges for a universal joint, and a free root."""
    tree = kkt.random_tree(6, seed=len(joints), joints=joints)
    root = next(name for name, degree in tree.in_degree() if not degree)
    if floats:
        tree.nodes[root].update(joint="floating", R=np.eye(3), p=np.zeros(3))
        for field in ("q", "qd", "tau"):  # of as many freedoms as it had
            tree.graph.pop(field, None)
    system = kkt.build(tree)
    compared_with_mujoco(system, mujoco_peer.Peer(system, mujoco_peer.model_of(tree)), seed=3)
