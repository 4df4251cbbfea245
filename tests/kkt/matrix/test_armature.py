"""The joint diagonal: H f + A qdd = tau - damping qd - stiffness (q - rest) - friction sign(qd)."""

from itertools import permutations

import numpy as np
import pytest
from armature import bare, terms_of, with_terms
from designs import listed
from helpers import drawn_state, every_joint, tilted
from scipy.sparse.linalg import spsolve

from pivotree import analysis, kkt, orderings
from pivotree.kkt.matrix.system import least_size
from pivotree.papers.cloutier1995.complements import Complement

TREES = {
    "every_joint": every_joint,
    "chain": lambda: kkt.chain(3),
    "branched": lambda: kkt.random_tree(7, seed=1),
}
STEPS = (None, 0.02)


def case(name, implicit, seed=0):
    """The system, and qdd from the bare tree's dense joint-space inertia and bias."""
    tree = with_terms(TREES[name](), seed)
    q, qd, tau = drawn_state(tree, seed)
    A, D, friction, K, rest = terms_of(tree)
    without = kkt.build(bare(tree), q, qd, np.zeros_like(tau))
    M = kkt.joint_space_inertia(without, orderings.get("crbm"))
    x = spsolve(without.matrix, without.rhs)
    bias = -M @ np.concatenate([x[without.blocks["qdd", b]] for b in without.tree.names])
    h = implicit or 0.0
    left = M + np.diag(A + h * D + h * h * K)
    right = tau - D * qd - K * (q + h * qd - rest) - friction * np.sign(qd) - bias
    return kkt.build(tree, q, qd, tau, implicit=implicit), np.linalg.solve(left, right), left


@pytest.mark.parametrize(("name", "implicit"), listed([("chain", 0.02), ("branched", None)], unmarked=1))
def test_every_order_solves_the_dense_equation_of_motion(name, implicit):
    system, qdd, M = case(name, implicit)
    size, cond = np.abs(qdd).max(), np.linalg.cond(M)
    certified = np.array([float(x) for x in kkt.certify(system, 50).qdd])
    assert np.abs(certified - qdd).max() <= 1e-13 * cond * size
    for order in orderings.names():
        result = kkt.eliminate(system, orderings.get(order))
        assert result.failed_at is None
        assert np.abs(result.qdd - certified).max() <= 1e-13 * cond * size, order
    inertia = kkt.joint_space_inertia(system, orderings.get("crbm"))
    np.testing.assert_allclose(inertia, M, rtol=0, atol=1e-12 * np.abs(M).max())


@pytest.mark.product
@pytest.mark.parametrize("implicit", STEPS)
def test_the_matrix_is_symmetric_with_the_block_where_it_stands_and_counts_it(implicit):
    system, _, _ = case("every_joint", implicit)
    K = system.matrix.toarray()
    assert (K == K.T).all() and system.nonzeros == np.count_nonzero(system.pattern.A) + len(
        kkt.build(bare(system.graph)).matrix.data
    )
    A, D, _, stiffness, _ = terms_of(system.graph)
    h, first = implicit or 0.0, 6 * system.tree.n
    own = K[first : first + len(A), first : first + len(A)]
    np.testing.assert_array_equal(own, np.diag(A + h * D + h * h * stiffness))


@pytest.mark.product
def test_joints_first_make_no_fill_and_more_orders_are_feasible():
    """docs/armature.md: the table of a chain of two, every order of its six blocks."""

    def feasible(tree):
        system = kkt.build(tree)
        blocks = [(kind, k) for k in system.tree.names for kind in ("pdd", "qdd", "f")]
        fills = []
        for order in permutations(blocks):
            try:
                groups = [[block] for block in order]
                fill = kkt.symbolic(kkt.plan(groups, system.structure)).fill_blocks
                tape = kkt.trace(system, groups)
            except kkt.OrderError:
                continue
            fills.append((fill, order[0][0]))
            if order[0][0] == "qdd" and fill == 0:
                found, right = (kkt.eliminate(system, x).qdd for x in (tape, orderings.get("abm")))
                np.testing.assert_allclose(found, right, rtol=1e-10)
        return len(fills), sum(first == "qdd" for _, first in fills), min(fills)[0]

    geared = kkt.chain(2)
    for _, data in geared.nodes(data=True):
        data["armature"] = 0.1
    assert feasible(kkt.chain(2)) == (24, 0, 1)
    assert feasible(geared) == (210, 70, 0)


@pytest.mark.parametrize(
    ("format", "implicit"), listed([("float64", 0.02), ("exact", None), ("mp:30", 0.02)], unmarked=1)
)
def test_inverse_dynamics_gives_back_the_efforts(format, implicit):
    system, _, M = case("every_joint", implicit)
    qdd = kkt.eliminate(system, orderings.get("abm"), "float64").qdd
    tau = kkt.inverse_dynamics(system, qdd, orderings.get("inverse_dynamics"), format).tau
    off = np.abs(np.array([float(x) for x in tau]) - system.state.tau)
    assert off.max() <= 1e-12 * np.abs(M).max() * np.abs(qdd).max()


@pytest.mark.product
def test_zero_armature_is_the_tree_of_before_bit_by_bit():
    tree = kkt.humanoid()
    before = kkt.build(tree)
    zero = tree.copy()
    for _, data in zero.nodes(data=True):
        data.update(armature=0.0, damping=0.0, friction=0.0, stiffness=0.0)
    after = kkt.build(zero, implicit=0.1)
    assert not after.structure.armature.any() and after.tree.terms is None
    assert (after.matrix.data == before.matrix.data).all()
    for order in ("abm", "crbm", "square_root_abm"):
        tapes = [kkt.trace(s, orderings.get(order)) for s in (before, after)]
        assert tapes[0].flops == tapes[1].flops
        answers = [kkt.eliminate(s, t, "float32").qdd for s, t in zip((before, after), tapes, strict=True)]
        assert (answers[0] == answers[1]).all()


def test_other_states_frames_and_the_condition_number_know_the_block():
    system, qdd, M = case("chain", None)
    q, qd, tau = drawn_state(system.graph)
    again = kkt.build(system.graph).refresh(q, qd, tau)
    abm = orderings.get("abm")
    np.testing.assert_allclose(kkt.eliminate(again, abm).qdd, qdd, rtol=1e-11)
    np.testing.assert_allclose(kkt.eliminate(tilted(system), abm).qdd, qdd, rtol=1e-11)
    found = kkt.conditioning(system)
    assert found.shares["A"] > 0.0
    np.testing.assert_allclose(found.inverse_inertia, np.linalg.inv(M), rtol=1e-10)


def test_another_state_keeps_the_implicit_step():
    system, _, _ = case("chain", 0.02)
    given = drawn_state(system.graph, 5)
    fresh, built = system.refresh(*given), kkt.build(system.graph, *given, implicit=0.02)
    assert (fresh.rhs == built.rhs).all() and (fresh.matrix != built.matrix).nnz == 0


def test_the_size_that_errors_are_relative_to_knows_the_rotor():
    tree = kkt.new_tree("wheel", (0.0, 0.0, 0.0))
    kkt.add_body(tree, "wheel", mass=1.0, inertia=2.0 * np.eye(3), axis=(0, 0, 1), armature=3.0)
    assert least_size(kkt.build(tree, tau=[10.0])) == pytest.approx(0.01 * 10.0 / 5.0)


def test_a_robot_that_is_held_still_is_not_told_to_lose_its_digits():
    still = kkt.build(kkt.chain(5), qd=np.zeros(5))
    tau = kkt.inverse_dynamics(still, np.zeros(5), orderings.get("inverse_dynamics")).tau
    held = kkt.eliminate(still.refresh(qd=np.zeros(5), tau=tau), "abm", "float32")
    assert 0.0 < np.abs(held.qdd).max() < 1e-2 and held.failed_at is None and held.marked is None


def test_a_massless_link_with_armature_is_no_singular_robot():
    tree = kkt.new_tree("rotor")
    kkt.add_body(tree, "hub", mass=0.0, armature=2.0)
    system = kkt.build(tree, tau=[3.0])
    assert kkt.eliminate(system, orderings.get("abm")).qdd == [1.5]
    with pytest.raises(kkt.SingularError):
        kkt.eliminate(kkt.build(bare(tree), tau=[3.0]), orderings.get("abm"))


@pytest.mark.product
@pytest.mark.parametrize("implicit", STEPS)
def test_columns_of_inverse_dynamics_and_conjugate_gradients_know_the_block(implicit):
    system, qdd, M = case("chain", implicit)
    np.testing.assert_allclose(analysis.inertia.columns(system).M, M, rtol=1e-11)
    np.testing.assert_allclose(analysis.inertia.solve(system), qdd, rtol=1e-9)
    np.testing.assert_allclose(analysis.gradients.solve(system).x, qdd, rtol=1e-9)
    exact = np.asarray(analysis.gradients.solve(system, "exact").x, dtype=float)
    np.testing.assert_allclose(exact, qdd, rtol=1e-11)


@pytest.mark.parametrize(("form", "implicit"), [("first", 0.02), ("second", None)])
def test_complements_have_the_roots_of_armatures_as_rows(form, implicit):
    system, qdd, _ = case("branched", implicit)
    complement = Complement.of(system)
    np.testing.assert_allclose(getattr(complement, form)(), qdd, rtol=1e-9)
    D = [step.pivots for step in kkt.eliminate(system, orderings.get("abm")).steps]
    blocks = system.structure.tip_to_base
    pivots = complement.pivots()
    for body, found in zip(blocks, D, strict=True):
        at = system.tree.offset[system.structure.index[body]]
        np.testing.assert_allclose(pivots[at], found[0], rtol=1e-10)


@pytest.mark.product
def test_the_cheapest_order_is_counted_with_the_block():
    system, _, _ = case("chain", 0.02)
    found = analysis.search(system)
    assert found.cost == kkt.trace(system, found.sequence).flops
    for order in ("abm", "crbm", "gain_abm"):
        assert found.cost <= kkt.trace(system, orderings.get(order)).flops


# -- what does not know it says so ----------------------------------------------------------------


def test_efforts_against_damping_have_all_digits_of_double_double():
    damped, rates, order = (kkt.chain(4), np.linspace(-1.0, 1.0, 4), orderings.get("inverse_dynamics"))
    for data in damped.nodes.values():
        data["damping"] = 0.1
    with_it, without = (
        kkt.inverse_dynamics(kkt.build(tree, qd=rates), np.arange(4.0), order, "dd").tau
        for tree in (damped, kkt.chain(4))
    )
    for tau, free, rate in zip(with_it, without, rates.tolist(), strict=True):
        assert abs(float(tau - free - type(tau)(0.1) * rate)) < 1e-28
