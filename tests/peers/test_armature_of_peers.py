"""Armature, damping, springs and dry friction against Pinocchio and MuJoCo, robot by robot.

Pinocchio has ``model.armature``, MuJoCo ``dof_armature``, ``dof_damping`` and ``jnt_stiffness``;
what acts as an effort is given to Pinocchio as one.
"""

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

import warnings  # noqa: E402

import mujoco  # noqa: E402
import mujoco_peer  # noqa: E402
import pinocchio as pin  # noqa: E402
import pinocchio_peer  # noqa: E402
from armature import terms_of, with_terms  # noqa: E402
from random_states import difference, random_state, robots  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402
from pivotree.analysis.simulation import Motion  # noqa: E402
from pivotree.kkt.matrix.state import coordinates  # noqa: E402

SINGULAR = ("romeo", "romeo_laas_small", "hector", "iris")


def efforts(tree, state, q):
    """tau with what resists the motion taken off it."""
    _, damping, friction, stiffness, rest = terms_of(tree)
    resist = damping * state.qd + stiffness * (q - rest) + friction * np.sign(state.qd)
    return state.tau - resist


@pytest.mark.parametrize("name", [x for x in robots() if x not in SINGULAR][:20:5])
def test_robots_with_random_armature_are_pinocchio_s(name):
    system, peer = pinocchio_peer.read_pair(robots()[name], False, True)
    tree = with_terms(system.graph, len(name))
    state = random_state(system, len(name))
    ours = kkt.build(tree, state.q, state.qd, state.tau, state.f_ext)
    peer.model.armature[peer.columns] = terms_of(tree)[0]
    q = coordinates(ours.tree, tree, state.q)
    given = type(state)(state.q, state.qd, efforts(tree, state, q), state.f_ext)
    qdd = kkt.eliminate(ours, orderings.get("abm")).qdd
    M = kkt.joint_space_inertia(ours, orderings.get("crbm"))
    assert difference(qdd, peer.aba(given)) <= 1e-10 * max(1.0, np.linalg.cond(M))
    assert difference(qdd, peer.aba(given)) <= 1e-9
    exact = kkt.certify(ours, 50)
    assert exact.error(qdd) <= 1e-13 * max(1.0, np.linalg.cond(M)) and exact.error(qdd) <= 1e-9
    assert difference(M, peer.crba(given)) <= 1e-10
    tau = kkt.inverse_dynamics(ours, qdd, orderings.get("inverse_dynamics")).tau
    assert difference(tau, state.tau) <= 1e-9


@pytest.mark.parametrize("name", [x for x in ("panda", "ur5", "talos", "pr2") if x in robots()])
def test_damping_and_friction_of_a_file_are_those_that_pinocchio_reads(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = kkt.read_urdf(robots()[name], merge_fixed=True, dynamics=True)
    terms = kkt.compile_tree(tree).terms
    model = pin.buildModelFromUrdf(str(robots()[name]))
    found = {joint: tree.nodes[body] for body, joint in tree.nodes(data="joint_name")}
    for joint, number in zip(model.names, range(model.njoints), strict=True):
        at = model.joints[number].idx_v
        for field, theirs in (("damping", model.damping), ("friction", model.friction)):
            if joint in found:
                assert found[joint].get(field, 0.0) == pytest.approx(theirs[at]), joint
    assert terms is None or (terms.damping >= 0.0).all()


def drawn(seed, joints):
    """A random tree with random terms, and MuJoCo's model of it with the same."""
    tree = kkt.random_tree(8, seed=seed, joints=joints)
    model = mujoco_peer.model_of(tree)
    tree = with_terms(tree, seed)
    for _, data in tree.nodes(data=True):
        data.pop("friction", None)  # MuJoCo's is a constraint
        if data["joint"] == "spherical":  # MuJoCo has one number for all freedoms of a joint
            data["armature"], data["damping"] = data["armature"][0], data["damping"][0]
    system = kkt.build(tree)
    peer = mujoco_peer.Peer(system, model)
    A, damping, _, stiffness, rest = terms_of(tree)
    for k, number in peer.joint.items():
        at, own = model.jnt_dofadr[number], system.tree.freedoms_of(k)
        size = own.stop - own.start
        model.dof_armature[at : at + size] = A[own]
        model.dof_damping[at : at + size] = damping[own]
        if size == 1:
            model.jnt_stiffness[number] = stiffness[own][0]
            model.qpos_spring[model.jnt_qposadr[number]] = rest[own][0]
    return tree, system, peer


def test_energies_are_mujoco_s():
    """Potentials differ by a constant."""
    tree, system, peer = drawn(0, "revolute+prismatic")
    motion = Motion.of(tree, orderings.get("abm"))
    energies = []
    for draw in range(2):
        state = random_state(system, draw, forces=False)
        peer.qdd(state)
        mujoco.mj_energyPos(peer.model, peer.data)
        mujoco.mj_energyVel(peer.model, peer.data)
        mine = motion.energies(motion.start(state.q, state.qd)[None])[0]
        energies.append((*peer.data.energy, *mine))
    (U0, T0, t0, u0), (U1, T1, t1, u1) = energies
    assert [t0, t1, u1 - u0] == pytest.approx([T0, T1, U1 - U0], rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_trees_with_every_term_are_mujoco_s(seed):
    """qdd and joint-space inertia to 1e-10, the first relative to cond(M)."""
    tree, system, peer = drawn(seed, "revolute+prismatic+spherical")
    state = random_state(system, seed, forces=False)
    ours = kkt.build(tree, state.q, state.qd, state.tau)
    qdd = kkt.eliminate(ours, orderings.get("abm")).qdd
    M = kkt.joint_space_inertia(ours, orderings.get("crbm"))
    assert difference(qdd, peer.qdd(state)) <= 1e-10 * max(1.0, np.linalg.cond(M))
    assert difference(M, peer.inertia(state)) <= 1e-10
