"""Large trees whose joints have inertia, damping, springs and friction of their own."""

import networkx as nx
import numpy as np
import pytest
from armature import bare, with_terms
from helpers import every_joint

from pivotree import kkt, orderings
from pivotree.kkt.scale import front_solve
from pivotree.kkt.scale.large import SOLVED, UNIT

TREES = {
    "every_joint": every_joint,
    "branched": lambda: kkt.random_tree(12, seed=1),
    "spherical": lambda: kkt.star(5, "spherical"),
}
OTHERS = ("projected_abm", "square_root_abm")  # numbers that are not those of (4) itself


def mixed(name, every=2):
    """A tree of which every second joint is as it was."""
    tree = with_terms(TREES[name](), 3)
    for body in list(tree)[::every]:
        for term in ("armature", "damping", "stiffness"):
            tree.nodes[body].pop(term, None)
    return tree


def state(tree, seed=0):
    rng, N = np.random.default_rng(seed), int(kkt.compile_tree(tree).offset[-1])
    return rng.uniform(-1.0, 1.0, N), rng.normal(size=N), rng.normal(size=N)


@pytest.mark.slow
@pytest.mark.parametrize("implicit", [None, 0.02])
@pytest.mark.parametrize("name", TREES)
def test_no_bit_differs_from_the_tape(name, implicit):
    tree = mixed(name)
    system = kkt.build(tree, *state(tree), implicit=implicit)
    for order in set(orderings.names()) - set(OTHERS):
        made = orderings.get(order)
        tape = kkt.eliminate(system, made, records=False)
        np.testing.assert_array_equal(kkt.solve_large(system, made).qdd, tape.qdd, order)


def joints_first(structure):
    """Each qdd, then its pair (pdd f), which takes inertia of every joint's own."""
    tip_to_base = structure.order[::-1]
    return [
        [(kind, structure.names[k]) for kind in kinds]
        for k in tip_to_base
        for kinds in (("qdd",), ("pdd", "f"))
    ]


@pytest.mark.thorough
def test_an_order_that_starts_with_joints_has_the_bits_of_the_tape():
    system = kkt.build(with_terms(kkt.binary(4), 1))
    order = kkt.PivotSequence(joints_first(system.structure), "joints first")
    tape = kkt.eliminate(system, order, records=False)
    found = kkt.solve_large(system, order)
    np.testing.assert_array_equal(found.qdd, tape.qdd)
    np.testing.assert_array_equal(found.f, tape.f)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["crbm", "virtual_work_split", "lagrange", "natural"])
def test_panels_have_the_block_too(order, monkeypatch):
    tree = mixed("branched")
    system = kkt.build(tree, *state(tree))
    tape = kkt.eliminate(system, orderings.get(order), records=False)
    monkeypatch.setattr(front_solve, "analysis_of", lambda factor: None)
    found = kkt.solve_large(system, orderings.get(order))
    assert found.backward_error.normwise <= 1e-13
    np.testing.assert_allclose(found.qdd, tape.qdd, rtol=0, atol=1e-9 * np.abs(tape.qdd).max())


@pytest.mark.thorough
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("implicit", [None, 0.02])
@pytest.mark.parametrize("name", TREES)
def test_a_kernel_takes_all_terms_of_joints(name, implicit, check):
    tree = mixed(name)
    q, qd, tau = state(tree, seed=2)
    system = kkt.build(tree, q, qd, tau, implicit=implicit)
    wanted = kkt.eliminate(system, orderings.get("abm"), records=False).qdd
    found = kkt.compile_large(system, check=check)(q, qd, tau)
    if check:
        found, status = found
        assert status == 0
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
    assert np.abs(kkt.compile_large(bare(tree))(q, qd, tau) - wanted).max() > 1e-3


def test_a_joint_with_inertia_of_its_own_needs_no_other():
    tree = kkt.chain(3)
    tree.nodes["j3"].update(mass=0.0, inertia=np.zeros((3, 3)), com=np.zeros(3))
    with pytest.raises(kkt.SingularError, match="qdd_j3 is singular in any state"):
        kkt.solve_large(kkt.build(tree))
    tree.nodes["j3"]["armature"] = 0.5
    system = kkt.build(tree)
    tape = kkt.eliminate(system, orderings.get("abm"), records=False)
    np.testing.assert_array_equal(kkt.solve_large(system).qdd, tape.qdd)
    N = np.zeros(3)
    found = kkt.compile_large(tree)(N, N, N)
    wanted = kkt.eliminate(kkt.build(tree, N, N, N), orderings.get("abm"), records=False).qdd
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("armature", [1e-6, 1.0, 1e6])
def test_backward_error_of_a_hundred_thousand_bodies(armature):
    tree = kkt.chain(100_000)
    nx.set_node_attributes(tree, armature, "armature")
    assert kkt.solve_large(kkt.build(tree)).backward_error.normwise <= SOLVED * UNIT


@pytest.mark.peers
def test_against_pinocchio():
    pin = pytest.importorskip("pinocchio")
    model, rng = pin.Model(), np.random.default_rng(5)
    tree = kkt.new_tree("geared", gravity=tuple(model.gravity.linear))
    for k in range(30):
        name, up = f"b{k}", int(rng.integers(-1, k)) if k else -1
        mass, com, p, armature = (rng.uniform(1, 2), rng.normal(size=3), rng.normal(size=3), rng.random())
        J = np.diag(rng.uniform(1, 2, 3))
        joint = model.addJoint(up + 1, pin.JointModelRZ(), pin.SE3(np.eye(3), p), name)
        model.appendBodyToJoint(joint, pin.Inertia(mass, com, J), pin.SE3.Identity())
        kkt.add_body(
            tree,
            name,
            None if up < 0 else f"b{up}",
            mass=mass,
            com=com,
            inertia=J,
            p=p,
            axis=(0, 0, 1),
            armature=armature,
        )
        model.armature[joint - 1] = armature
    q, qd, tau = state(tree)
    wanted = pin.aba(model, model.createData(), q, qd, tau)
    for found in (kkt.solve_large(kkt.build(tree, q, qd, tau)).qdd, kkt.compile_large(tree)(q, qd, tau)):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
