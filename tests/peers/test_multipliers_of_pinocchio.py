"""Accelerations and multipliers of mechanisms and of robots on their feet, beside Pinocchio's.

``pin.constraintDynamics`` factors the matrix of Featherstone 2008, section 8.5, and
``pin.lcaba`` eliminates constraints within the tree (Sathya & Carpentier 2025); both iterate
proximally, to convergence here.  Velocities keep the loops.
"""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import pinocchio as pin  # noqa: E402
import pinocchio_peer  # noqa: E402
from random_states import RandomState, difference, random_state, robots  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402

ORDERS = ("abm", "crbm", "closed_early", "lagrange")
FEET = {
    "anymal": ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
    "go2": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
}


class Held:
    """A system whose points are held, and the same rows in Pinocchio."""

    def __init__(self, system, peer, q, loops, seed):
        self.peer, self.q, draw = peer, peer.q(q), np.random.default_rng(seed)
        model, data = peer.model, peer.data
        pin.computeJointJacobians(model, data, self.q)
        bodies = {name: k for k, name in enumerate(system.tree.names)}
        at = kkt.build(system.graph, q, loops=loops).state.loops
        self.loops = [closure.loop for closure in at]
        rows = [self.row(loop, bodies) for loop in self.loops]
        self.rows = pin.StdVec_RigidConstraintModel(rows)
        J = np.concatenate([self.rates(row) for row in rows])[:, peer.columns]
        qd = draw.normal(size=model.nv)
        for _ in range(2):
            qd -= np.linalg.lstsq(J, J @ qd, rcond=1e-9)[0]
        assert np.abs(J @ qd).max() < 1e-12
        self.state = RandomState(q, qd, 5.0 * draw.normal(size=model.nv), {})
        self.system = kkt.build(system.graph, q, qd, self.state.tau, loops=loops)

    def row(self, loop, bodies):
        """Where a contact is, on its body and in the world; else the cut joint, on both bodies."""
        first, second = reversed(loop.bodies) if loop.point else loop.bodies
        joints = [0 if b is None else self.peer.joint[bodies[b]] for b in (first, second)]
        side = int(loop.point)
        there = pin.SE3(loop.R[side], loop.p[side])
        poses = [self.peer.data.oMi[joint] for joint in joints]
        far = poses[1].actInv(poses[0].act(there))
        kind, local = pin.ContactType.CONTACT_3D, pin.ReferenceFrame.LOCAL
        return pin.RigidConstraintModel(kind, self.peer.model, joints[0], there, joints[1], far, local)

    def rates(self, row):
        """The point's velocity on the second body beside the first, in world axes (3, nv)."""
        model, data = self.peer.model, self.peer.data
        point = data.oMi[row.joint1_id].act(row.joint1_placement).translation
        one, two = (
            pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.WORLD)
            for joint in (row.joint1_id, row.joint2_id)
        )
        return (two - one)[:3] - pin.skew(point) @ (two - one)[3:]

    def theirs(self, solve, mu):
        """qdd (N,) and the forces on each row's first body, in its frame (3,)."""
        model, data, peer = self.peer.model, self.peer.model.createData(), self.peer
        datas = pin.StdVec_RigidConstraintData([row.createData() for row in self.rows])
        if solve is pin.lcaba:
            pin.computeJointMinimalOrdering(model, data, self.rows)
        else:
            pin.initConstraintDynamics(model, data, self.rows, datas)
        v, tau = peer.theirs(self.state.qd), peer.theirs(self.state.tau)
        settings = pin.ProximalSettings(1e-15, mu, 300)
        qdd = solve(model, data, self.q, v, tau, self.rows, datas, settings).copy()
        assert difference(qdd[peer.columns], peer.aba(self.state)) > 1e-3  # the rows do something
        return qdd[peer.columns], [d.contact_force.linear.copy() for d in datas]

    def forces(self, lam):
        """Those of an answer here, as Pinocchio has them."""
        result, place = [], 0
        for loop, row in zip(self.loops, self.rows, strict=True):
            force = loop.C[3:] @ lam[place : place + loop.rows]
            place += loop.rows
            if loop.point:  # lambda is along the world's axes, on the body
                force = self.peer.data.oMi[row.joint1_id].rotation.T @ force
                result.append(row.joint1_placement.rotation.T @ force)
            else:
                result.append(-force)
        return result

    def agree(self):
        """qdd and lambda by every order, and certified, within 1e-9 of Pinocchio's."""
        qdd, forces = self.theirs(pin.constraintDynamics, 1e-8)
        there, opposite = self.theirs(pin.lcaba, 1e-4)  # with less it keeps fewer digits
        assert difference(there, qdd) < 1e-9
        assert difference(-np.array(opposite), np.array(forces)) < 1e-9
        exact = kkt.certify(self.system, 50)
        lam = np.array([float(x) for x in exact.lam])
        assert exact.error(qdd) < 1e-12
        assert difference(np.array(self.forces(lam)), np.array(forces)) < 1e-9
        for name in ORDERS:
            ours = kkt.eliminate(self.system, orderings.get(name))
            assert difference(ours.qdd, qdd) < 1e-9, name
            assert exact.error(ours.qdd) < 1e-11, name
            assert difference(np.array(self.forces(ours.lam)), np.array(forces)) < 1e-9, name


def mechanism(spec, seed):
    tree = kkt.from_spec(spec)
    base = kkt.build(tree, loops=())
    peer = pinocchio_peer.Peer(base, pinocchio_peer.model_of(tree))
    q = dict(zip(base.tree.names, np.split(tree.graph["q"], base.tree.offset[1:-1]), strict=True))
    for name, kind in zip(base.tree.names, base.tree.joint, strict=True):
        if kind == "floating":
            q[name] = np.r_[q[name][:3], 0.0, 0.0, 0.0, 1.0]
    return Held(base, peer, q, tree.graph["loops"], seed)


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.0])
def test_a_four_bar_linkage_is_pinocchio_s(angle):
    """Two rows here; three there, the third of which the joints hold by themselves."""
    mechanism(f"four_bar:angle={angle}", 3).agree()


@pytest.mark.parametrize("height", [0.5, 0.8, 1.1])
def test_a_stewart_platform_is_pinocchio_s(height):
    mechanism(f"stewart:height={height}", 4).agree()


@pytest.mark.parametrize("feet", [1, 2, 3, 4])
@pytest.mark.parametrize("name", [x for x in FEET if x in robots()])
def test_a_quadruped_on_its_feet_is_pinocchio_s(name, feet):
    system, peer = pinocchio_peer.read_pair(robots()[name], True, True)
    across = np.eye(3)[:2]
    held = [kkt.contact(foot, (0, 0, 0), tangents=across) for foot in FEET[name][:feet]]
    Held(system, peer, random_state(system, feet).q, held, feet).agree()


@pytest.mark.parametrize("spec", ["four_bar", "stewart", "delta", "gripper"])
def test_the_order_lcaba_has_the_pivots_of_pinocchio_s(spec):
    """1 / mu there is the weight of a row, mu here its compliance; joints go in its own order."""
    held, mu = mechanism(spec, 5), 1e-3
    model, data = held.peer.model, held.peer.model.createData()
    datas = pin.StdVec_RigidConstraintData([row.createData() for row in held.rows])
    pin.computeJointMinimalOrdering(model, data, held.rows)
    given = (held.peer.theirs(held.state.qd), held.peer.theirs(held.state.tau))
    once = pin.ProximalSettings(1e-15, mu, 1)
    pin.lcaba(model, data, held.q, *given, held.rows, datas, once)
    soft = [replace(loop, compliance=np.full(loop.rows, mu)) for loop in held.loops]
    state = held.state
    system = kkt.build(held.system.graph, state.q, state.qd, state.tau, loops=soft)

    def furthest(name):
        """Of det(D_k) from that of the joint's matrix there, over all joints."""
        ours = {}
        for step in kkt.eliminate(system, orderings.get(name)).steps:
            for block in step.blocks:
                if block.kind == "qdd":
                    ours[system.structure.index[block.body]] = np.prod(np.float64(step.pivots))
        theirs = {k: np.linalg.det(data.joints[j].Dinv) for k, j in held.peer.joint.items()}
        return max(abs(abs(ours[k] * theirs[k]) - 1.0) for k in ours)

    assert furthest("lcaba") < 1e-9
    assert furthest("lambda_first_abm") > 1.0  # ABM with the joints in another order


@pytest.mark.parametrize("order", ["abm", "lcaba"])
def test_proximal_iteration_over_redundant_rows_is_pinocchio_s(order):
    """The pin's third row holds by itself; Pinocchio iterates with all three, as here."""
    held = mechanism("four_bar", 6)
    place = {"p": (3, 0, 0), "p_second": (2.5, 0, 0)}
    pin_joint = kkt.cut_joint("coupler", "rocker", rows=(2, 3, 4), name="pin", **place)
    state = held.state
    given = (held.system.graph, state.q, state.qd, state.tau)
    system = kkt.build(*given, loops=kkt.softened([pin_joint], 1e-4))
    found = kkt.eliminate(system, orderings.get(order), proximal=100)
    qdd, forces = held.theirs(pin.constraintDynamics, 1e-8)
    assert found.marked is None and difference(found.qdd, qdd) < 1e-9
    assert difference(-found.lam, forces[0]) < 1e-9
