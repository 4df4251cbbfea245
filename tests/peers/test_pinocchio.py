"""Pinocchio reads the same files and gives the same dynamics, or a refusal says why not.

Two right answers in double precision may differ by ``random_states.tolerance``; in practice all
robots agree to 2e-13 but iCub, whose inertias are not positive and whose joint-space inertia has
a condition number of 3e9: 6e-10, which is Pinocchio's error (ours: 2e-13, certified).
"""

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import pinocchio as pin  # noqa: E402
import pinocchio_peer as peers  # noqa: E402
from random_states import (  # noqa: E402
    difference,
    random_state,
    read_quietly,
    robots,
    stored_state,
    tolerance,
)

from pivotree import kkt, orderings  # noqa: E402

ROBOTS = robots()
BASES = {"fixed": False, "floating": True}
SINGULAR = {  # massless links at the end of a joint: no finite acceleration solves (4)
    "romeo": "qdd_LFinger13Link",
    "romeo_laas_small": "qdd_l_gripper",
}
ONE_LINK = ("hector", "iris")  # nothing moves unless the base floats
CASES = [
    pytest.param((name, floats, merge), id=f"{name}-{base}-{'merged' if merge else 'kept'}")
    for name in ROBOTS
    for base, floats in BASES.items()
    for merge in (False, True)
    if name not in SINGULAR and (floats or name not in ONE_LINK)
]


class Case:
    """One robot at one random state, in both conventions; each order is traced once."""

    def __init__(self, system, peer, seed):
        self.state = random_state(system, seed)
        values = self.state.q, self.state.qd, self.state.tau, self.state.f_ext
        self.system, self.peer = system.refresh(*values), peer
        self.M = peer.inertia_by_rnea(self.state)
        self.tapes = {name: kkt.trace(self.system, orderings.get(name)) for name in ("abm", "crbm")}

    def forward(self, name):
        result = kkt.eliminate(self.system, self.tapes[name], records=False)
        assert result.failed_at is None
        return difference(result.qdd, self.peer.aba(self.state))

    def inertia(self):
        return kkt.joint_space_inertia(self.system, self.tapes["crbm"])

    def inverse(self):
        # accelerations of order 1: those of aba can be large enough for tau to be all roundoff
        qdd = np.random.default_rng(7).uniform(-1.0, 1.0, len(self.M))
        tau = kkt.inverse_dynamics(self.system, qdd, orderings.get("inverse_dynamics")).tau
        return difference(tau, self.peer.rnea(self.state, qdd))


@pytest.fixture(scope="module")
def case(request):
    name, floats, merge = request.param
    return Case(*peers.read_pair(ROBOTS[name], floats, merge), seed=len(name))


@pytest.mark.skipif(not ROBOTS, reason="example-robot-data is missing")
def test_there_are_robots_enough():
    assert len(ROBOTS) >= 25 and len(CASES) >= 100


@pytest.mark.parametrize("case", CASES, indirect=True)
@pytest.mark.parametrize("order", ["abm", "crbm"])
def test_forward_dynamics_is_aba(case, order):
    assert case.forward(order) <= tolerance(case.M)


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_joint_space_inertia_is_crba_and_the_columns_of_rnea(case):
    # crba alone is no oracle: it is silently wrong for joints not numbered depth first; models
    # that Pinocchio reads from a file are numbered so, and both must agree with us there
    M = case.inertia()
    assert difference(M, case.M) <= 1e-10
    assert difference(M, case.peer.crba(case.state)) <= 1e-10


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_inverse_dynamics_is_rnea(case):
    assert case.inverse() <= 1e-10


# -- every kind of joint --------------------------------------------------------------------------

KINDS = ("revolute", "prismatic", "spherical", "planar", "floating", "universal")


@pytest.mark.parametrize("kinds", [*KINDS, "+".join(KINDS)])
@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_joint(kinds, seed):
    graph = kkt.random_tree(20, seed=seed, joints=kinds)
    for _, data in graph.nodes(data=True):
        if data["joint"] == "planar":
            data["axis"] = (0.0, 0.0, 1.0)  # Pinocchio knows no other plane
    system = kkt.build(graph)
    case = Case(system, peers.Peer(system, peers.model_of(graph)), seed)
    assert case.forward("abm") <= tolerance(case.M)
    assert case.forward("crbm") <= tolerance(case.M)
    assert difference(case.inertia(), case.M) <= 1e-10
    assert difference(case.inertia(), case.peer.crba(case.state)) <= 1e-10
    assert case.inverse() <= 1e-10


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


@pytest.mark.parametrize("floats", BASES.values(), ids=BASES)
@pytest.mark.parametrize("merge", [False, True], ids=["kept", "merged"])
def test_every_kind_of_joint_of_a_urdf(tmp_path, floats, merge):
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
    path = tmp_path / "every.urdf"
    path.write_text(f'<robot name="every">{text}</robot>')
    case = Case(*peers.read_pair(path, floats, merge), seed=11)
    assert len(case.M) == 13 + 6 * floats
    assert max(case.forward("abm"), case.forward("crbm")) <= 1e-10
    assert difference(case.inertia(), case.M) <= 1e-10
    assert case.inverse() <= 1e-10


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
    assert case.forward("abm") <= tolerance(case.M)
    assert difference(case.inertia(), case.M) <= 1e-10
    assert case.inverse() <= 1e-10


# -- right, or refused in a sentence --------------------------------------------------------------


def refusal(name, floats, merge):
    """Words of the expected refusal, None where the answer must be right."""
    if name in SINGULAR:
        return f"pivot {SINGULAR[name]} .*singular"
    if not floats and (name == "hector" or (name == "iris" and merge)):
        return f"link '{'base_link' if name == 'hector' else 'iris__base_link'}': no body is left"
    return None


@pytest.mark.parametrize("merge", [False, True], ids=["kept", "merged"])
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", ROBOTS)
def test_never_a_silent_wrong_number(name, base, merge):
    words = refusal(name, BASES[base], merge)
    if words:
        with pytest.raises(kkt.PivotreeError, match=words) as caught:
            kkt.trace(read_quietly(ROBOTS[name], BASES[base], merge), orderings.get("abm"))
        assert "\n" not in str(caught.value)
        return
    system = read_quietly(ROBOTS[name], BASES[base], merge)
    state = random_state(system, 1996)
    system = system.refresh(state.q, state.qd, state.tau, state.f_ext)
    tape = kkt.trace(system, orderings.get("abm"))
    result = kkt.eliminate(system, tape, records=False)
    assert result.failed_at is None
    assert kkt.certify(system, 30, tape=tape).error(result.qdd) <= 1e-6


@pytest.mark.parametrize("order", ["virtual_work", "lagrange"])
@pytest.mark.parametrize("name", sorted({"icub", "icub_reduced", "human"} & {*ROBOTS}))
def test_inertias_that_are_not_positive_are_refused_by_orders_that_need_them(name, order):
    system = read_quietly(ROBOTS[name], True, True)
    told = r"body '\w+': field 'inertia'.*use an order that|pivot pdd_\w+ .* singular"
    with pytest.raises(kkt.PivotreeError, match=told):
        kkt.trace(system, orderings.get(order))


# -- a long chain ---------------------------------------------------------------------------------


def test_a_long_chain_is_lost_by_composite_inertias_alone(record_property):
    """400 links: the joint-space inertia's condition, 8e9, costs half the digits; (4) has none."""
    graph = kkt.chain(400)
    system = kkt.build(graph)
    exact = kkt.certify(system, 30, rounded_to="float64")
    ours = exact.error(kkt.eliminate(system, orderings.get("abm"), records=False).qdd)
    peer, state = peers.Peer(system, peers.model_of(graph)), stored_state(system)
    bias = peer.rnea(state, np.zeros(400))
    crba = exact.error(np.linalg.solve(peer.crba(state), state.tau - bias))
    aba = exact.error(peer.aba(state))
    for what, error in (("ours", ours), ("pinocchio crba", crba), ("pinocchio aba", aba)):
        record_property(what, f"{error:.1e}")
    print(f"chain of 400: ours {ours:.1e}, Pinocchio's crba {crba:.1e}, aba {aba:.1e}")
    assert ours <= 1e-14
    assert ours < min(crba, aba)
