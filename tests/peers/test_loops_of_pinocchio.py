"""Closed loops and contacts beside Pinocchio's constrained dynamics (proximal, many iterations).

Pinocchio knows two kinds of rows: 6 (a cut fixed joint) and 3 (a cut spherical joint, a sticking
contact).  Velocities keep the loops, where both differentiate the same rows.
"""

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import pinocchio as pin  # noqa: E402
import pinocchio_peer as peers  # noqa: E402
from random_states import RandomState, difference  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402

ROWS = {"fixed": pin.ContactType.CONTACT_6D, "spherical": pin.ContactType.CONTACT_3D}


def two_arms(seed, lengths=(6, 7)):
    """Two arms on a turning base, axes in any direction, one joint of each spherical."""
    draw = np.random.default_rng(seed)
    tree = kkt.new_tree("two arms", (0.3, -0.5, -9.7))
    kkt.add_body(tree, "base", mass=3.0, com=draw.normal(size=3), inertia=np.eye(3), axis=(0, 1, 1))
    for arm, length in zip("ab", lengths, strict=True):
        up = "base"
        for i in range(length):
            body = f"{arm}{i}"
            kkt.add_body(
                tree,
                body,
                up,
                mass=draw.uniform(0.5, 2.0),
                com=draw.normal(size=3) * 0.2,
                inertia=np.diag(draw.uniform(0.1, 0.15, 3)),
                axis=draw.normal(size=3),
                R=Rotation.random(random_state=seed + i).as_matrix(),
                p=draw.normal(size=3) * 0.5,
                joint="spherical" if i == 1 else "revolute",
            )
            up = body
    return tree


class Case:
    """A tree at random positions, and where its bodies are in Pinocchio."""

    def __init__(self, seed):
        self.tree, self.draw = two_arms(seed), np.random.default_rng(100 + seed)
        self.bare = kkt.build(self.tree)
        self.peer = peers.Peer(self.bare, peers.model_of(self.tree))
        self.N = len(self.bare.entries.tau)
        tree = self.bare.tree
        self.q = {b: self.draw.normal(size=d) for b, d in zip(tree.names, tree.dof, strict=True)}
        for name, kind in zip(tree.names, tree.joint, strict=True):
            if kind == "spherical":
                x = self.draw.normal(size=4)
                self.q[name] = x / np.linalg.norm(x)
        model, data = self.peer.model, self.peer.data
        pin.forwardKinematics(model, data, self.peer.q(self.q))

    def pose(self, body):
        """Of a body in the world, by Pinocchio; of the world where it is None."""
        if body is None:
            return pin.SE3.Identity()
        return self.peer.data.oMi[self.peer.model.getJointId(body)]

    def rigid(self, kind, first, second, on_first):
        """The same rows in Pinocchio, and the frame's pose on the second body."""
        on_second = self.pose(second).actInv(self.pose(first).act(on_first))
        model = self.peer.model
        joints = [model.getJointId(b) if b else 0 for b in (first, second)]
        there = pin.RigidConstraintModel(
            ROWS[kind], model, joints[0], on_first, joints[1], on_second, pin.ReferenceFrame.LOCAL
        )
        return there, on_second

    def apart(self, there):
        """Rows on the rates: motion of the second beside the first, at the frame, in world axes."""
        data = self.peer.data
        J = [
            pin.getJointJacobian(self.peer.model, data, joint, pin.ReferenceFrame.WORLD)
            for joint in (there.joint1_id, there.joint2_id)
        ]
        point = data.oMi[there.joint1_id].act(there.joint1_placement).translation
        here = J[1] - J[0]
        linear = here[:3] - pin.skew(point) @ here[3:]
        return linear if there.type == ROWS["spherical"] else np.concatenate([linear, here[3:]])

    def compare(self, loops, theirs):
        """Largest relative difference of qdd over some orders, at a velocity that keeps loops."""
        model, data, peer = self.peer.model, self.peer.data, self.peer
        theirs = pin.StdVec_RigidConstraintModel(theirs)
        datas = pin.StdVec_RigidConstraintData([c.createData() for c in theirs])
        q = peer.q(self.q)
        pin.computeJointJacobians(model, data, q)
        J = np.concatenate([self.apart(c) for c in theirs])[:, peer.columns]
        qd, tau = self.draw.normal(size=self.N), self.draw.normal(size=self.N) * 5.0
        qd -= np.linalg.lstsq(J, J @ qd, rcond=None)[0]
        system = kkt.build(self.tree, self.q, qd, tau, loops=loops)
        state = RandomState(self.q, qd, tau, {})
        settings = pin.ProximalSettings(1e-14, 1e-14, 200)
        pin.initConstraintDynamics(model, data, theirs, datas)
        v, u = peer.theirs(state.qd), peer.theirs(state.tau)
        qdd = pin.constraintDynamics(model, data, q, v, u, theirs, datas, settings)[peer.columns]
        free = peer.aba(state)
        assert difference(qdd, free) > 1e-3  # the constraints do something
        assert np.abs(J @ qd).max() < 1e-12
        ours = [kkt.eliminate(system, orderings.get(o)) for o in ("abm", "crbm", "lagrange")]
        return max(difference(x.qdd, qdd) for x in ours)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["fixed", "spherical"])
def test_arms_that_hold_each_other(kind, seed):
    case = Case(seed)
    place = pin.SE3(Rotation.random(random_state=seed).as_matrix(), case.draw.normal(size=3) * 0.3)
    there, far = case.rigid(kind, "a5", "b6", place)
    loop = kkt.cut_joint(
        "a5",
        "b6",
        kind,
        R=place.rotation,
        p=place.translation,
        R_second=far.rotation,
        p_second=far.translation,
    )
    assert case.compare([loop], [there]) < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_a_hand_held_by_the_world_and_another_that_sticks_to_it(seed):
    case = Case(seed)
    fixed, far = case.rigid("fixed", "a5", None, pin.SE3.Identity())
    point = case.draw.normal(size=3) * 0.2
    sticking, _ = case.rigid("spherical", "b6", None, pin.SE3(np.eye(3), point))
    loops = [
        kkt.cut_joint("a5", None, "fixed", R_second=far.rotation, p_second=far.translation),
        kkt.contact("b6", point, (0, 0, 1), [(1, 0, 0), (0, 1, 0)]),
    ]
    assert case.compare(loops, [fixed, sticking]) < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_a_hand_that_sticks_to_the_other(seed):
    case = Case(seed)
    point = case.draw.normal(size=3) * 0.2
    there, _ = case.rigid("spherical", "b6", "a5", pin.SE3(np.eye(3), point))
    turns = Rotation.random(random_state=seed).as_matrix()
    loop = kkt.contact("b6", point, turns[0], turns[1:], on="a5")
    assert case.compare([loop], [there]) < 1e-9
