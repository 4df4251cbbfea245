"""MuJoCo's forward dynamics, without contacts, limits and friction, is the solution of (4)."""

import pytest

pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

import mujoco_peer as peers  # noqa: E402
from random_states import (  # noqa: E402
    difference,
    random_state,
    robots,
    stored_state,
    tolerance,
)

from pivotree import kkt, orderings  # noqa: E402

FILES = robots()
# The files that MuJoCo's compiler takes as they are.  It refuses the others for massless links on
# joints (human, romeo), and for inertias of single links that are not positive or break the
# triangle inequality: moving ones (icub, allegro hands), but also a small part fixed to a body
# whose total is sound, which is all that matters here (anymal, b1, go1, hyq, pr2, tiago).  It takes
# bolt, but drops the inertia of its feet, which have no mass: 7e-3 of the lower leg's inertia.
LOADED = [
    "a1",
    "alex_nub_hands",
    "alex_sake_hands",
    "alexander_v1.lowerBodyOnly",
    "asr_twodof",
    "baxter",
    "borinot",
    "centauro",
    "double_pendulum",
    "double_pendulum_continuous",
    "double_pendulum_simple",
    "g1",
    "g1_hands",
    "go2",
    "hextilt",
    "kinova",
    "laikago",
    "panda",
    "panda_collision",
    "quadruped",
    "simple_humanoid",
    "simple_humanoid_classical",
    "so100",
    "so101",
    "solo8",
    "solo12",
    "talos",
    "talos_arm",
    "talos_box",
    "talos_full",
    "talos_full_box",
    "talos_reduced_corrected",
    "tiago_pro",
    "ur3",
    "ur3_gripper",
    "ur3_limited",
    "ur5",
    "ur5_gripper",
    "ur5_limited",
    "ur10",
    "ur10_limited",
    "xarm7",
    "z1",
]
ROBOTS = [name for name in LOADED if name in FILES]
FLOATING_ONLY = [name for name in ("hector", "iris") if name in FILES]
CASES = [
    pytest.param(name, floats, id=f"{name}-{'floating' if floats else 'fixed'}")
    for floats in (False, True)
    for name in ROBOTS + floats * FLOATING_ONLY
]


def compare(system, peer, seed):
    """Relative differences of qdd by two orders and of the joint-space inertia; the tolerance."""
    state = random_state(system, seed, forces=False)
    system = system.refresh(state.q, state.qd, state.tau)
    qdd = peer.qdd(state)
    M = peer.inertia(state)
    tapes = {name: kkt.trace(system, orderings.get(name)) for name in ("abm", "crbm")}
    inertia = difference(kkt.joint_space_inertia(system, tapes["crbm"]), M)
    ours = [kkt.eliminate(system, tape, records=False).qdd for tape in tapes.values()]
    return max(difference(x, qdd) for x in ours), inertia, tolerance(M)


@pytest.mark.skipif(not FILES, reason="example-robot-data is missing")
def test_there_are_robots_enough():
    assert len(ROBOTS) >= 10


@pytest.mark.parametrize("name, floats", CASES)
@pytest.mark.parametrize("merge", [False, True], ids=["kept", "merged"])
def test_forward_dynamics_and_joint_space_inertia(name, floats, merge):
    forward, inertia, allowed = compare(*peers.read_pair(FILES[name], floats, merge), seed=3)
    assert forward <= allowed
    assert inertia <= 1e-10


@pytest.mark.parametrize("kinds", ["revolute", "prismatic", "spherical"])
@pytest.mark.parametrize("seed", range(3))
def test_trees_that_come_from_no_file(kinds, seed):
    graph = kkt.random_tree(20, seed=seed, joints=kinds)
    system = kkt.build(graph)
    forward, inertia, allowed = compare(system, peers.Peer(system, peers.model_of(graph)), seed)
    assert forward <= allowed
    assert inertia <= 1e-10


@pytest.mark.parametrize("links", [100, 400, 1000])
def test_long_chains(links, record_property):
    """MuJoCo factors the joint-space inertia, whose condition grows as the fourth power of n."""
    graph = kkt.chain(links)
    system = kkt.build(graph)
    exact = kkt.certify(system, 30, rounded_to="float64")
    ours = exact.error(kkt.eliminate(system, orderings.get("abm"), records=False).qdd)
    theirs = exact.error(peers.Peer(system, peers.model_of(graph)).qdd(stored_state(system)))
    record_property("ours", f"{ours:.1e}")
    record_property("mujoco", f"{theirs:.1e}")
    print(f"chain of {links}: ours {ours:.1e}, MuJoCo {theirs:.1e}")
    assert ours <= 1e-14
    assert ours < theirs
