"""Closed loops, contacts and blows beside Pinocchio's: accelerations, forces, derivatives.

Pinocchio knows two kinds of rows: 6 (a cut fixed joint) and 3 (a cut spherical joint, a sticking
contact).  ``pin.constraintDynamics`` factors the matrix of Featherstone 2008, section 8.5, and
``pin.lcaba`` eliminates constraints within the tree (Sathya & Carpentier 2025); both iterate
proximally, to convergence here.  Velocities keep the loops, where both differentiate the same rows.
"""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import pinocchio as pin  # noqa: E402
import pinocchio_peer as peers  # noqa: E402
from helpers import by_body  # noqa: E402
from mechanisms import arms  # noqa: E402
from random_states import RandomState, difference, random_state, robots  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402
from pivotree.analysis import contact  # noqa: E402

ABM = orderings.get("abm")
HANDS = (0, 5), (1, 6)  # the last bodies of two arms
ORDERS = ("abm", "crbm", "closed_early", "lagrange")
WORLD = pin.ReferenceFrame.WORLD
FEET = {
    "anymal": ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
    "go2": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
}


class Held:
    """A system with loops in a motion that keeps them, and the same rows in Pinocchio."""

    def __init__(self, system, peer, q, loops, draw):
        self.peer, self.q = peer, peer.q(q)
        model, data = peer.model, peer.data
        pin.computeJointJacobians(model, data, self.q)
        bodies = {name: k for k, name in enumerate(system.tree.names)}
        self.loops = [closure.loop for closure in kkt.build(system.graph, q, loops=loops).state.loops]
        self.rows = pin.StdVec_RigidConstraintModel([self.row(loop, bodies) for loop in self.loops])
        J, qd = self.jacobian(self.q), draw.normal(size=model.nv)
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
        kind = pin.ContactType.CONTACT_6D if loop.rows == 6 else pin.ContactType.CONTACT_3D
        model, local = self.peer.model, pin.ReferenceFrame.LOCAL
        return pin.RigidConstraintModel(kind, model, joints[0], there, joints[1], far, local)

    def jacobian(self, q):
        """Rows on the rates: motion of the second body beside the first, at the frame, in world axes."""
        model, data, found = self.peer.model, self.peer.data, []
        pin.computeJointJacobians(model, data, q)
        for row in self.rows:
            point = data.oMi[row.joint1_id].act(row.joint1_placement).translation
            one, two = (pin.getJointJacobian(model, data, x, WORLD) for x in (row.joint1_id, row.joint2_id))
            found.append((two - one)[:3] - pin.skew(point) @ (two - one)[3:])
            if row.type == pin.ContactType.CONTACT_6D:
                found.append((two - one)[3:])
        return np.concatenate(found)[:, self.peer.columns]

    def solved(self, solve=pin.constraintDynamics, mu=1e-14, most=300, dq=0.0, dqd=0.0):
        """Pinocchio's data, its rows' and its settings, behind its answer a step away; qdd (N,)."""
        model, peer = self.peer.model, self.peer
        data, datas = model.createData(), [row.createData() for row in self.rows]
        datas = pin.StdVec_RigidConstraintData(datas)
        if solve is pin.lcaba:
            pin.computeJointMinimalOrdering(model, data, self.rows)
        else:
            pin.initConstraintDynamics(model, data, self.rows, datas)
        q = pin.integrate(model, self.q, peer.theirs(np.zeros(model.nv) + dq))
        v, tau = peer.theirs(self.state.qd + dqd), peer.theirs(self.state.tau)
        settings = pin.ProximalSettings(1e-15, mu, most)
        qdd = solve(model, data, q, v, tau, self.rows, datas, settings)[peer.columns]
        return data, datas, settings, qdd

    def theirs(self, solve, mu):
        """qdd (N,) and the forces on each row's first body, in its frame (3,)."""
        _, datas, _, qdd = self.solved(solve, mu)
        assert difference(qdd, self.peer.aba(self.state)) > 1e-3  # the rows do something
        return qdd, [d.contact_force.linear.copy() for d in datas]

    def forces(self, lam):
        """Those of an answer here, as Pinocchio has them."""
        result, place = [], 0
        for loop, row in zip(self.loops, self.rows, strict=True):
            force = loop.C[3:] @ lam[place : place + loop.rows]
            place += loop.rows
            if loop.point:  # lambda is along the axes of what it sticks to, on the body
                turns = [self.peer.data.oMi[joint].rotation for joint in (row.joint1_id, row.joint2_id)]
                result.append(row.joint1_placement.rotation.T @ turns[0].T @ turns[1] @ force)
            else:
                result.append(-force)
        return np.array(result)

    def agree(self, lcaba=False):
        """qdd and lambda by every order, and certified, within 1e-9 of Pinocchio's."""
        qdd, forces = self.theirs(pin.constraintDynamics, 1e-8)
        if lcaba:  # between two arms it keeps seven digits, with a smaller mu fewer
            there, opposite = self.theirs(pin.lcaba, 1e-4)
            assert difference(there, qdd) < 1e-9
            assert difference(-np.array(opposite), np.array(forces)) < 1e-9
        exact = kkt.certify(self.system, 50)
        lam = np.array([float(x) for x in exact.lam])
        assert exact.error(qdd) < 1e-12
        assert difference(self.forces(lam), np.array(forces)) < 1e-9
        for name in ORDERS:
            ours = kkt.eliminate(self.system, orderings.get(name))
            assert difference(ours.qdd, qdd) < 1e-9, name
            assert exact.error(ours.qdd) < 1e-11, name
            assert difference(self.forces(ours.lam), np.array(forces)) < 1e-9, name

    def derivatives_apart(self):
        """Largest relative difference of each matrix from computeConstraintDynamicsDerivatives."""
        data, datas, settings, _ = self.solved()
        pin.computeConstraintDynamicsDerivatives(self.peer.model, data, self.rows, datas, settings)
        own, found = np.ix_(self.peer.columns, self.peer.columns), kkt.derivatives(self.system, ABM)
        theirs = (data.ddq_dq, data.ddq_dv, data.ddq_dtau)
        return [difference(x, y[own]) for x, y in zip((found.dq, found.dqd, found.dtau), theirs, strict=True)]


# -- two arms --------------------------------------------------------------------------------------


def in_any_position(seed):
    """Two arms, the peer, positions (for the peer too), and what draws more."""
    system, draw = kkt.build(arms((6, 7), seed)), np.random.default_rng(100 + seed)
    peer, tree = peers.Peer(system, peers.model_of(system.graph)), system.tree
    q = dict(zip(tree.names, draw.normal(size=(len(tree.names), 1)), strict=True))
    pin.forwardKinematics(peer.model, peer.data, peer.q(q))
    return system, peer, q, draw


def closed(kind, seed, first=HANDS[0], second=HANDS[1]):
    """Two arms, a joint of which is cut where Pinocchio says that its second frame is."""
    system, peer, q, draw = in_any_position(seed)
    place = pin.SE3(Rotation.random(random_state=seed).as_matrix(), draw.normal(size=3) * 0.3)
    one, two = (peer.data.oMi[peer.model.getJointId(str(b)) if b else 0] for b in (first, second))
    far = two.actInv(one.act(place))
    near = {"R": place.rotation, "p": place.translation}
    loop = kkt.cut_joint(first, second, kind, R_second=far.rotation, p_second=far.translation, **near)
    return Held(system, peer, q, [loop], draw)


@pytest.mark.parametrize("seed, kind", [(0, "fixed"), (1, "spherical"), (2, "fixed")])
def test_a_cut_joint_has_the_same_motion_and_a_fixed_one_the_same_matrices(seed, kind):
    """Between two hands, of the first with the world, and of the world with the second."""
    held = closed(kind, seed, *(HANDS, (HANDS[0], None), (None, HANDS[1]))[seed])
    held.agree()
    if kind == "fixed":
        assert max(held.derivatives_apart()) <= 1e-9


def test_hands_that_stick_to_the_world_or_to_each_other():
    """Of two contacts, of one on another body, and of one beside a cut joint."""
    system, peer, q, draw = in_any_position(2)
    points, turns = draw.normal(size=(2, 3)) * 0.2, Rotation.random(random_state=2).as_matrix()
    one, two = (
        kkt.contact(hand, point, (0, 0, 1), [(1, 0, 0), (0, 1, 0)], name=str(hand))
        for hand, point in zip(HANDS, points, strict=True)
    )
    both = Held(system, peer, q, [one, two], draw)
    both.agree()
    assert max(both.derivatives_apart()) <= 1e-9
    hand = kkt.contact(HANDS[1], points[0], turns[0], turns[1:], on=HANDS[0])
    Held(system, peer, q, [hand], draw).agree()
    far = peer.data.oMi[peer.model.getJointId(str(HANDS[0]))]
    held = kkt.cut_joint(HANDS[0], None, "fixed", R_second=far.rotation, p_second=far.translation)
    Held(system, peer, q, [held, two], draw).agree()


def test_derivatives_of_a_cut_spherical_joint_along_motions_that_keep_it():
    """J dq = 0 and J dqd + dJ qd = 0: there all formulations of the rows say the same.

    Pinocchio's derivatives by q of such a joint between two bodies (version 4.1) are not those of
    its own constraintDynamics; differences of that are ours.
    """
    held, step = closed("spherical", 1), 1e-6
    peer, J, qd = held.peer, held.jacobian(held.q), held.state.qd
    dq = np.random.default_rng(1).normal(size=len(qd))
    dq -= np.linalg.lstsq(J, J @ dq, rcond=None)[0]
    ends = [held.jacobian(pin.integrate(peer.model, held.q, peer.theirs(s * step * dq))) for s in (1, -1)]
    dqd = -np.linalg.lstsq(J, (ends[0] - ends[1]) / (2 * step) @ qd, rcond=None)[0]
    found = kkt.derivatives(held.system, ABM)
    along = found.dq @ dq + found.dqd @ dqd
    ends = [held.solved(dq=s * step * dq, dqd=s * step * dqd)[-1] for s in (1, -1)]
    exact = (ends[0] - ends[1]) / (2 * step)
    assert np.abs(along - exact).max() <= 1e-7 * np.abs(exact).max()
    assert held.derivatives_apart()[2] <= 1e-9


@pytest.mark.parametrize("rows", [1, 3])
def test_a_hand_that_hits(rows):
    """impulseDynamics of one point: normal alone with restitution, or sticking and plastic."""
    system, peer, where, draw = in_any_position(rows)
    model, data, q = peer.model, peer.data, peer.q(where)
    body, point = HANDS[0], draw.normal(size=3) * 0.2
    pin.computeJointJacobians(model, data, q)
    joint = model.getJointId(str(body))
    J, place = pin.getJointJacobian(model, data, joint, WORLD), data.oMi[joint].act(point)
    J = (J[:3] - pin.skew(place) @ J[3:])[[2, 0, 1]][:rows]
    e, pulled = 0.6 if rows == 1 else 0.0, True
    while pulled:  # a bilateral row may pull to hold a point that slides; a contact may not
        qd = draw.normal(size=model.nv)
        theirs = pin.impulseDynamics(model, data, q, peer.theirs(qd), J, e, 0.0)[peer.columns]
        pulled = J[0, peer.columns] @ qd > 0.0 or data.impulse_c[0] <= 0.0
    tangents = () if rows == 1 else ((1, 0, 0), (0, 1, 0))
    loop = kkt.contact(body, point, (0, 0, 1), tangents, name="p")
    hit = kkt.build(system.graph, where, qd, loops=[loop])
    ours = contact.impact(hit, restitution=e, friction=1e6 * (rows > 1))
    assert ours.qd == pytest.approx(theirs, abs=1e-9 * np.abs(theirs).max())
    assert ours.impulses["p"] == pytest.approx(data.impulse_c, abs=1e-9 * np.abs(theirs).max())


# -- mechanisms, and robots on their feet ----------------------------------------------------------


def mechanism(spec, seed):
    tree = kkt.from_spec(spec)
    base = kkt.build(tree, loops=())
    peer = peers.Peer(base, peers.model_of(tree))
    q = by_body(base, tree.graph["q"])
    for name, kind in zip(base.tree.names, base.tree.joint, strict=True):
        if kind == "floating":
            q[name] = np.r_[q[name][:3], 0.0, 0.0, 0.0, 1.0]
    return Held(base, peer, q, tree.graph["loops"], np.random.default_rng(seed))


@pytest.mark.parametrize("spec", ["four_bar", "stewart"])
def test_mechanisms_are_pinocchio_s(spec):
    """Of the four-bar two rows here, three there, the third of which the joints hold by themselves."""
    mechanism(spec, 3).agree(lcaba=True)


@pytest.mark.parametrize("feet", [1, 2, 4])
@pytest.mark.parametrize("name", [x for x in FEET if x in robots()])
def test_a_quadruped_on_its_feet_is_pinocchio_s(name, feet):
    system, peer = peers.read_pair(robots()[name], True, True)
    held = [kkt.contact(foot, (0, 0, 0), tangents=np.eye(3)[:2]) for foot in FEET[name][:feet]]
    Held(system, peer, random_state(system, feet).q, held, np.random.default_rng(feet)).agree(True)


@pytest.mark.parametrize("spec", ["four_bar", "stewart", "delta", "gripper"])
def test_the_order_lcaba_has_the_pivots_of_pinocchio_s(spec):
    """1 / mu there is the weight of a row, mu here its compliance; joints go in its own order."""
    held, mu = mechanism(spec, 5), 1e-3
    data = held.solved(pin.lcaba, mu, most=1)[0]
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
