"""Pinocchio reads the same files and gives the same dynamics, or a refusal says why not.

Two right answers in double precision may differ by ``random_states.tolerance``; in practice all
robots agree to 2e-13 but iCub, whose inertias are not positive and whose joint-space inertia has
a condition number of 3e9: 6e-10, which is Pinocchio's error (ours: 2e-13, certified).
"""

from dataclasses import replace

import numpy as np
import pytest
from helpers import one_sentence

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import pinocchio as pin  # noqa: E402
import pinocchio_peer as peers  # noqa: E402
from random_states import difference, random_state, read_quietly, robots, stored_state, tolerance  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402
from pivotree.kkt.matrix.system import efforts_alone  # noqa: E402

ROBOTS = robots()
SINGULAR = {  # massless links at the end of a joint: no finite acceleration solves (4)
    "romeo": "LFinger13Link",
    "romeo_laas_small": "l_gripper",
}


class Case:
    """One robot at one random state, in both conventions; each order is traced once."""

    def __init__(self, system, peer, seed):
        self.state = random_state(system, seed)
        values = self.state.q, self.state.qd, self.state.tau, self.state.f_ext
        self.system, self.peer = system.refresh(*values), peer
        self.M = peer.crba(self.state)
        self.tapes = {name: kkt.trace(self.system, orderings.get(name)) for name in ("abm", "crbm")}

    def forward(self, name):
        result = kkt.eliminate(self.system, self.tapes[name], records=False)
        assert result.failed_at is None
        return difference(result.qdd, self.peer.aba(self.state))

    def inverse(self):
        # accelerations of order 1: those of aba can be large enough for tau to be all roundoff
        qdd = np.random.default_rng(7).uniform(-1.0, 1.0, len(self.M))
        tau = kkt.inverse_dynamics(self.system, qdd, orderings.get("inverse_dynamics")).tau
        return difference(tau, self.peer.rnea(self.state, qdd))

    def alone(self):
        """Efforts that hold gravity and rates alone, and the inertia that each joint moves."""
        efforts, inertia = efforts_alone(self.system.tree, self.system.entries)
        zero = np.zeros(len(self.M))
        held = self.peer.rnea(replace(self.state, qd=zero, f_ext={}), zero)
        rates = self.peer.rnea(self.state, zero) - held
        right = np.vstack([self.state.tau, held, rates])
        return max(difference(efforts.ravel(), right.ravel()), difference(inertia, np.diag(self.M)))

    def agree(self, allowed=None):
        allowed = allowed or tolerance(self.M)
        inertia = kkt.joint_space_inertia(self.system, self.tapes["crbm"])
        assert self.forward("abm") <= allowed and self.forward("crbm") <= allowed
        assert difference(inertia, self.M) <= 1e-10
        assert self.inverse() <= 1e-10 and self.alone() <= 1e-10


# -- robots of files: right, or refused in a sentence ----------------------------------------------


def refusal(name, floats, merge):
    """Words of the expected refusal, None where the answer must be right."""
    if name in SINGULAR:
        return f"is singular: the massless body {SINGULAR[name]!r} is on a revolute joint"
    if not floats and (name == "hector" or (name == "iris" and merge)):
        return f"link '{'base_link' if name == 'hector' else 'iris__base_link'}': no body is left"
    return None


@pytest.mark.skipif(not ROBOTS, reason="example-robot-data is missing")
def test_there_are_robots_enough():
    assert len(ROBOTS) >= 25


@pytest.mark.parametrize("floats", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_has_pinocchio_s_dynamics_or_is_refused(name, floats):
    """Forward dynamics by two orders, joint-space inertia, inverse dynamics; certified, too.

    Fixed joints are kept on the one base and merged on the other, in turns.
    """
    merge = bool((list(ROBOTS).index(name) + floats) % 2)
    words = refusal(name, floats, merge)
    if words:
        with one_sentence(kkt.PivotreeError, words):
            kkt.trace(read_quietly(ROBOTS[name], floats, merge), orderings.get("abm"))
        return
    case = Case(*peers.read_pair(ROBOTS[name], floats, merge), seed=len(name))
    if len(case.M):
        case.agree()
    tape = case.tapes["abm"]
    result = kkt.eliminate(case.system, tape, records=False)
    assert kkt.certify(case.system, 30, order=tape).error(result.qdd) <= 1e-6


@pytest.mark.parametrize("order", ["virtual_work", "lagrange"])
@pytest.mark.parametrize("name", sorted({"icub", "icub_reduced", "human"} & {*ROBOTS}))
def test_inertias_that_are_not_positive_are_refused_by_orders_that_need_them(name, order):
    system = read_quietly(ROBOTS[name], True, True)
    told = r"body '\w+': field 'inertia'.*use an order that|pivot pdd_\w+ .* singular"
    with pytest.raises(kkt.PivotreeError, match=told):
        kkt.trace(system, orderings.get(order))


# -- every kind of joint --------------------------------------------------------------------------

KINDS = ("revolute", "prismatic", "spherical", "planar", "floating", "universal")


@pytest.mark.parametrize(("seed", "kinds"), [*enumerate((*KINDS, "+".join(KINDS)))])
def test_every_kind_of_joint(seed, kinds):
    graph = kkt.random_tree(12, seed=seed, joints=kinds)
    for _, data in graph.nodes(data=True):
        if data["joint"] == "planar":
            data["axis"] = (0.0, 0.0, 1.0)  # Pinocchio knows no other plane
    system = kkt.build(graph)
    Case(system, peers.Peer(system, peers.model_of(graph)), seed).agree()


LINK = (
    '<link name="{0}"><inertial><origin xyz="0.1 0 0.2" rpy="0.3 0 1"/><mass value="1.5"/>'
    '<inertia ixx="1" ixy="0.1" ixz="0" iyy="1.2" iyz="0" izz="1.4"/></inertial></link>'
)
JOINT = (
    '<joint name="on_{1}" type="{2}"><parent link="{0}"/><child link="{1}"/>{3}'
    '<origin xyz="0.1 0.2 -0.3" rpy="0.4 -0.5 0.6"/>'
    '<limit effort="1" velocity="1" lower="-1" upper="1"/></joint>'
)
SLANTED, UPRIGHT = '<axis xyz="1 2 -2"/>', '<axis xyz="0 0 1"/>'


@pytest.mark.uncached
@pytest.mark.parametrize("floats", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("merge", [False, True], ids=["kept", "merged"])
def test_every_kind_of_joint_of_a_urdf(written, floats, merge):
    joints = [
        ("w", "f", "revolute", SLANTED),
        ("f", "e", "continuous", SLANTED),
        ("e", "d", "fixed", ""),
        ("d", "c", "prismatic", SLANTED),
        ("d", "b", "planar", UPRIGHT),
        ("b", "a", "fixed", ""),
        ("a", "g", "revolute", SLANTED + '<mimic joint="on_f" multiplier="2" offset="0.5"/>'),
        ("w", "h", "floating", ""),
    ]
    text = "".join(LINK.format(name) for name in "wfedcbagh")
    text += "".join(JOINT.format(*joint) for joint in joints)
    path = written(f'<robot name="every">{text}</robot>', "every.urdf")
    case = Case(*peers.read_pair(path, floats, merge), seed=11)
    assert len(case.M) == 13 + 6 * floats
    case.agree(1e-10)


@pytest.mark.parametrize("name", sorted({"panda", "baxter", "talos_full"} & {*ROBOTS}))
def test_mimic_joints_held_are_joints_locked(name):
    free = read_quietly(ROBOTS[name], False, False)
    held = read_quietly(ROBOTS[name], False, False, mimic="fixed")
    locked = [
        held.graph.nodes[body]["joint_name"]
        for body, before, after in zip(held.tree.names, free.tree.dof, held.tree.dof, strict=True)
        if before != after
    ]
    assert locked
    model = pin.buildModelFromUrdf(str(ROBOTS[name]))
    at_zero = pin.neutral(model)  # the offsets of these files are all 0
    numbers = [model.getJointId(joint) for joint in locked]
    case = Case(held, peers.Peer(held, pin.buildReducedModel(model, numbers, at_zero)), seed=5)
    case.agree()


# -- a long chain ---------------------------------------------------------------------------------


def test_a_long_chain_is_lost_by_composite_inertias_alone():
    """The joint-space inertia's condition, of the fourth power of n, costs digits; (4) has none."""
    graph = kkt.chain(150)
    system = kkt.build(graph)
    exact = kkt.certify(system, 30, rounded_to="float64")
    ours = exact.error(kkt.eliminate(system, orderings.get("abm"), records=False).qdd)
    peer, state = peers.Peer(system, peers.model_of(graph)), stored_state(system)
    bias = peer.rnea(state, np.zeros(150))
    crba = exact.error(np.linalg.solve(peer.crba(state), state.tau - bias))
    assert ours <= 1e-14
    assert ours < min(crba, exact.error(peer.aba(state)))
