"""Pinocchio's computeABADerivatives and computeMinverse give the same matrices to 1e-9."""

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import pinocchio as pin  # noqa: E402
import pinocchio_peer as peers  # noqa: E402
from random_states import random_state, robots, tolerance  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402

ROBOTS = robots()
NAMES = ("ur5", "panda", "talos", "anymal", "solo12", "double_pendulum", "kinova", "hyq", "tiago")
CASES = [
    pytest.param((name, floats), id=f"{name}-{'floating' if floats else 'fixed'}")
    for name in NAMES
    if name in ROBOTS
    for floats in (False, True)
]


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
        assert np.abs(own - other).max() <= close * np.abs(other).max()


@pytest.mark.skipif(not ROBOTS, reason="example-robot-data is missing")
def test_there_are_robots_enough():
    assert len(CASES) >= 12


@pytest.mark.parametrize("case", CASES)
def test_robots_have_the_same_derivatives(case):
    name, floats = case
    compared(*peers.read_pair(ROBOTS[name], floats, merge_fixed=True), seed=len(name))


def mixture(joints):
    tree = kkt.random_tree(6, seed=len(joints), joints=joints)
    for _, data in tree.nodes(data=True):
        if data["joint"] == "planar":  # Pinocchio's have this normal alone
            data["axis"] = (0.0, 0.0, 1.0)
    system = kkt.build(tree)
    return system, peers.Peer(system, peers.model_of(tree))


@pytest.mark.parametrize("joints", ["revolute+prismatic", "spherical+revolute", "floating+planar"])
def test_joints_have_the_same_tangents(joints):
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
