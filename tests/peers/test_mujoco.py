"""MuJoCo's forward dynamics, without contacts, limits and friction, is the solution of (4)."""

from itertools import product

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

import mujoco_peer as peers  # noqa: E402
from random_states import difference, random_state, robots, tolerance  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402
from pivotree.analysis import readings  # noqa: E402

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


def composites(model, data, kind):
    """M (nv, nv) by MuJoCo's own inertias and axes about the tree's centre of mass, in a number type."""
    inertia, axis = data.cinert.astype(kind), data.cdof.astype(kind)
    for body in range(model.nbody - 1, 0, -1):
        inertia[model.body_parentid[body]] += inertia[body] * (model.body_parentid[body] > 0)
    M = np.zeros((model.nv, model.nv), dtype=kind)
    for i in range(model.nv):
        xx, yy, zz, xy, xz, yz, *moment, mass = inertia[model.dof_bodyid[i]]
        turn, shift = axis[i, :3], axis[i, 3:]
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        force = np.concatenate([J @ turn + np.cross(moment, shift), mass * shift - np.cross(moment, turn)])
        j = i
        while j >= 0:
            M[i, j] = M[j, i] = axis[j] @ force.astype(kind)
            j = model.dof_parentid[j]
    return M


@pytest.mark.parametrize(
    ("name", "floating", "least", "most"), [("g1", True, 3.0, 5.5), ("ur5", False, 5.5, 7.3)]
)
def test_what_frames_about_the_centre_of_mass_cost(name, floating, least, most):
    """The reading of MJX loses the digits that MuJoCo's own arrays lose when they are float32."""
    system, peer = peers.read_pair(FILES[name], floating, True)
    kept = []
    for seed in range(6):
        state = random_state(system, seed, forces=False)
        system = system.refresh(state.q, state.qd, state.tau)
        exact = kkt.certify(system, digits=20)
        predicted = readings.error(readings.get("mjx"), system, exact)
        peer.qdd(state)
        M, rounded = (composites(peer.model, peer.data, kind).astype(float) for kind in (float, np.float32))
        qdd = np.linalg.solve(M, peer.data.qfrc_applied - peer.data.qfrc_bias)
        off = np.linalg.solve(rounded, peer.data.qfrc_applied - peer.data.qfrc_bias) - qdd
        kept.append([-np.log10(predicted), -np.log10(np.abs(off).max() / np.abs(qdd).max())])
    ours, theirs = np.median(kept, axis=0)
    assert abs(ours - theirs) < 0.5 and least < theirs < most
