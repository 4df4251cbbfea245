"""The derivatives of qdd beside those of Pinocchio and of MuJoCo, in the tangents of joints.

Pinocchio's computeABADerivatives and computeMinverse give the same matrices to 1e-9.  With a step h of
Euler's method, MuJoCo's rates are v + h qacc after it: the lower half of ``mjd_transitionFD`` is
h d qacc / dq and 1 + h d qacc / dv.  Its free joints slide along the axes of the world, unlike here.
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

ROBOTS = robots()
NAMES = ("solo12", "ur5", "go2", "panda", "talos", "hyq", "anymal", "double_pendulum", "kinova")
CASES = [(name, k % 2 == 0) for k, name in enumerate(NAMES) if name in ROBOTS]  # and whether the base floats
MUJOCOS = [name for name, _ in CASES if name not in ("anymal", "hyq")]  # these it refuses
STEP, EPSILON = 0.01, 1e-6


# -- Pinocchio -------------------------------------------------------------------------------------


def theirs(peer, state):
    """ddq_dq, ddq_dv and M^-1 of Pinocchio, in this project's order of freedoms.

    For universal joints it (4.1) leaves out that the first axis turns with the second angle.
    """
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
    close = max(1e-9, tolerance(kkt.joint_space_inertia(now, orderings.get("crbm"))))
    for own, other in zip((found.dq, found.dqd, found.dtau), theirs(peer, state), strict=True):
        assert difference(own, other) <= close


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


def compared_with_mujoco(system, peer, seed):
    state = random_state(system, seed, forces=False)
    order, wanted = orderings.get("inverse_dynamics"), state.tau / 10.0  # efforts for a calm motion
    now = system.refresh(state.q, state.qd, np.zeros_like(state.tau))
    state = replace(state, tau=kkt.inverse_dynamics(now, wanted, order).tau)
    now = system.refresh(state.q, state.qd, state.tau)
    found = kkt.derivatives(now, orderings.get("abm"))
    theirs = differences(peer, state)
    columns = peer._from_world(state, np.arange(peer.model.nv)).astype(int)
    at = np.ix_(columns, columns)
    for own, other in zip((found.dq, found.dqd, found.dtau), theirs, strict=True):
        assert difference(own, other[at]) <= 1e-6


@pytest.mark.parametrize("name", MUJOCOS)
def test_robots_have_mujoco_s_derivatives(name):
    compared_with_mujoco(*mujoco_peer.read_pair(ROBOTS[name], False, merge_fixed=True), seed=len(name))


def test_joints_have_mujoco_s_tangents():
    """Hinges, slides, balls, and two hinges for a universal joint."""
    tree = kkt.random_tree(8, seed=1, joints="revolute+prismatic+spherical+universal")
    system = kkt.build(tree)
    assert set(system.tree.joint) == {"revolute", "prismatic", "spherical", "universal"}
    compared_with_mujoco(system, mujoco_peer.Peer(system, mujoco_peer.model_of(tree)), seed=3)
