"""MuJoCo's forward dynamics, without contacts, limits and friction, is the solution of (4)."""

from itertools import product

import pytest

pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

import mujoco_peer as peers  # noqa: E402
from random_states import difference, random_state, robots, stored_state, tolerance  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402

FILES = robots()
# MuJoCo's compiler refuses these files: for massless links on joints (human, romeo), and for inertias
# of single links that are not positive or break the triangle inequality, moving ones (icub, allegro
# hands), but also a small part fixed to a body whose total is sound, which is all that matters here
# (anymal, b1, go1, hyq, pr2, tiago).  It takes bolt, but drops the inertia of its feet, which have no
# mass: 7e-3 of the lower leg's inertia.  Of hector and iris nothing moves unless the base floats.
REFUSED = {"alex_psyonic_hands", "bolt", "finger_edu", "human", "hyq", "pr2", "tiago_dual", "tiago_no_hand"}
REFUSED |= {x for x in FILES if x.startswith(("allegro", "anymal", "b1", "go1", "icub", "romeo"))} | {"tiago"}
FLOATING_ONLY = {"hector", "iris"} & {*FILES}
ROBOTS = [name for name in FILES if name not in REFUSED | FLOATING_ONLY]


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


@pytest.mark.parametrize(
    "name, floats", [*product(ROBOTS, (False, True)), *((name, True) for name in sorted(FLOATING_ONLY))]
)
def test_forward_dynamics_and_joint_space_inertia(name, floats):
    merge = bool((list(FILES).index(name) + floats) % 2)  # fixed joints are kept, or merged
    forward, inertia, allowed = compare(*peers.read_pair(FILES[name], floats, merge), seed=3)
    assert forward <= allowed
    assert inertia <= 1e-10


@pytest.mark.uncached
@pytest.mark.parametrize("kinds", ["revolute", "prismatic", "spherical"])
def test_trees_that_come_from_no_file(kinds):
    graph = kkt.random_tree(12, seed=1, joints=kinds)
    system = kkt.build(graph)
    forward, inertia, allowed = compare(system, peers.Peer(system, peers.model_of(graph)), 1)
    assert forward <= allowed
    assert inertia <= 1e-10


def test_a_long_chain_is_lost_by_the_joint_space_inertia():
    """MuJoCo factors it, and its condition grows as the fourth power of the number of links."""
    graph = kkt.chain(150)
    system = kkt.build(graph)
    exact = kkt.certify(system, 30, rounded_to="float64")
    ours = exact.error(kkt.eliminate(system, orderings.get("abm"), records=False).qdd)
    theirs = exact.error(peers.Peer(system, peers.model_of(graph)).qdd(stored_state(system)))
    assert ours <= 1e-14
    assert ours < theirs
