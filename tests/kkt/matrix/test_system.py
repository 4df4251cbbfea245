"""Equation (4), Ascher, Pai & Cloutier 1996: against dense formulas, printed digits, energy."""

import itertools

import numpy as np
import pytest
from designs import listed
from helpers import MODELS, Mechanics, by_body, drawn_state, every_joint, one_sentence, printed, system_of
from scipy.sparse.linalg import spsolve
from scipy.spatial.transform import Rotation

from pivotree import kkt
from pivotree.kkt.tape.inputs import pivot_rows


def accelerations(system):
    """qdd in the tree's order, from scipy's sparse LU."""
    x = spsolve(system.matrix, system.rhs)
    return np.concatenate([x[system.blocks["qdd", b]] for b in system.tree.names])


def test_matrix_and_right_hand_side_are_the_dense_formulas():
    tree = every_joint()
    q, qd, tau = drawn_state(tree)
    wrench = np.random.default_rng(3).normal(size=(tree.number_of_nodes(), 6))
    system = kkt.build(tree, q, qd, tau, wrench)
    K, rhs = Mechanics(tree, q, qd).equation4(tau, wrench)
    np.testing.assert_allclose(system.matrix.toarray(), K, rtol=1e-13, atol=1e-13)
    # dS/dt of the universal joint is a difference quotient here
    np.testing.assert_allclose(system.rhs, rhs, rtol=1e-8, atol=1e-8)
    assert (np.abs(rhs) > 1e-3).sum() > 12 * tree.number_of_nodes() / 2  # generic enough


def test_wrenches_by_name_are_wrenches_by_row():
    tree = every_joint()
    wrench = np.zeros((tree.number_of_nodes(), 6))
    wrench[3] = np.arange(6.0)
    named = kkt.build(tree, f_ext={list(tree.nodes)[3]: np.arange(6.0)})
    assert (named.rhs == kkt.build(tree, f_ext=wrench).rhs).all()
    assert (named.rhs != kkt.build(tree).rhs).sum() == 5  # 0 in the first place changes nothing


def test_quaternions_are_rotation_vectors_and_come_after_the_position():
    tree = every_joint()
    q, _, _ = drawn_state(tree)
    long = by_body(kkt.build(tree, q), q)
    for body, x in long.items():
        if tree.nodes[body]["joint"] in ("spherical", "floating"):
            long[body] = np.r_[x[3:], 2.0 * Rotation.from_rotvec(x[:3]).as_quat()]
    for given in (long, np.concatenate(list(long.values()))):
        assert np.allclose(kkt.build(tree, given).state.q, q, atol=1e-14)


@pytest.mark.parametrize("axis", range(3))
def test_a_point_mass_on_an_axis_has_all_its_entries(axis):
    tree = kkt.new_tree("point")
    kkt.add_body(tree, "a", joint="floating", mass=2.0, com=0.3 * np.eye(3)[axis], inertia=np.zeros((3, 3)))
    K, _ = Mechanics(tree, np.zeros(6), np.zeros(6)).equation4(np.zeros(6))
    assert np.array_equal(kkt.build(tree).matrix.toarray(), K)


def test_stored_entries_per_body():
    """Structural zeros are not stored: a joint of one freedom, a box turned in its frame."""
    rng = np.random.default_rng(0)
    tree = kkt.new_tree("full")
    for k in range(4):
        com, axis, p = rng.normal(size=(3, 3))
        inertia = np.eye(3) + 0.1 * np.ones((3, 3))
        kkt.add_body(tree, k, k - 1 if k else None, mass=1.0, inertia=inertia, com=com, axis=axis, p=p)
    inner, stored = 3, kkt.build(tree).matrix.nnz
    # M: 9 + 6 + 6 + 3 (skew and scalar blocks have zeros); H: 3, twice; 1: 6, twice; Phi: 27, twice
    assert stored == 4 * (9 + 6 + 6 + 3 + 2 * 3 + 2 * 6) + inner * 2 * 27


@pytest.mark.parametrize("model", listed(MODELS, unmarked=1))
def test_a_sparse_solve_gives_the_printed_digits(model):
    system = system_of(model)
    exact = np.array([float(x) for x in printed(model)])
    assert np.abs(accelerations(system) - exact).max() <= 1e-12 * np.abs(exact).max()


def test_equation_6_is_equation_4_permuted():
    tree = every_joint()
    four = kkt.build(tree)
    assert len(four.blocks) == 3 * four.tree.n
    rates = [four.blocks["qdd", name] for name in four.tree.names]
    assert [at.stop - at.start for at in rates] == list(four.tree.dof)
    # (4) sorts by kind; (6) by body, pdd f qdd as listed
    assert [k for k, _ in itertools.groupby(b.kind for b in four.blocks)] == ["pdd", "qdd", "f"]
    six = [np.r_[four.blocks[kind, k]] for k in tree for kind in ("pdd", "f", "qdd")]
    assert np.array_equal(kkt.permutation(four, "natural"), np.concatenate(six))


def test_refresh_changes_values_only():
    tree = every_joint()
    q, qd, tau = drawn_state(tree, 1)
    first = kkt.build(tree)
    before = first.matrix.copy()
    for new in (q, np.zeros_like(q), -2 * q):  # at 0 many entries vanish: they stay stored
        built = kkt.build(tree, q=new, qd=qd, tau=tau)
        second = first.refresh(new, qd, tau)
        for name in ("indptr", "indices"):
            assert (getattr(second.matrix, name) == getattr(first.matrix, name)).all()
            assert np.shares_memory(getattr(second.matrix, name), getattr(first.matrix, name))
        assert (second.matrix.data == built.matrix.data).all()
        assert (second.matrix.indices == built.matrix.indices).all()
        assert (second.rhs == built.rhs).all()
    assert (first.matrix.data == before.data).all()  # the old system is as it was
    assert (first.refresh(q).matrix.data != before.data).any()


@pytest.mark.uncached
@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (1.0, -9.0, 3.0)])
def test_power_balance(gravity):
    """d(energy)/dt = qd . tau + the wrench's power: holds only with the right a_k, b_k and S° qd."""
    tree = every_joint(general=False)  # exp(S q) is no chart of a general joint's rates
    tree.graph["gravity"] = gravity
    q, qd, tau = drawn_state(tree, 2)
    wrench = np.random.default_rng(6).normal(size=(tree.number_of_nodes(), 6))
    here, h = Mechanics(tree, q, qd), 1e-4

    def rate(qdd):
        return (here.moved(qdd, h).energy() - here.moved(qdd, -h).energy()) / (2 * h)

    pushed = sum(wrench[k] @ here.v[b] for k, b in enumerate(tree.nodes))
    power, scale = qd @ tau + pushed, max(abs(qd @ tau), here.energy())
    assert abs(rate(accelerations(kkt.build(tree, q, qd, tau, wrench))) - power) <= 2e-6 * scale
    # the same balance with the bias left out misses by far more
    assert abs(rate(accelerations(kkt.build(tree, q, 0.0 * qd, tau, wrench))) - power) > 1e-3 * scale
    assert abs(pushed) > 1e-3 * scale


def pendulum(joint):
    """Two links on parallel axes, as revolute joints or as general ones with the same S."""
    tree, S = kkt.new_tree(joint), {}
    if joint == "general":
        S = {"S": [[0], [0], [1], [0], [0], [0]]}
    link = {"mass": 1, "com": [0.1, 0, 0], "inertia": 0.1 * np.eye(3), "joint": joint, **S}
    kkt.add_body(tree, "a", **link)
    kkt.add_body(tree, "b", "a", p=[0.3, 0, 0], **link)
    return tree


@pytest.mark.parametrize("refreshed", [False, True])
def test_a_general_joint_away_from_zero_is_the_joint_that_it_equals(refreshed):
    """Zeros of the pose at q = 0 are no structure once such a joint has moved."""
    state = {"q": [0.3, 0.7], "qd": [1.0, -2.0], "tau": [1.0, 2.0]}
    qdd = []
    for joint in ("general", "revolute"):
        tree = pendulum(joint)
        system = kkt.build(tree).refresh(**state) if refreshed else kkt.build(tree, **state)
        qdd.append(kkt.eliminate(system, [[(x, k) for x in ("pdd", "qdd", "f")] for k in "ba"]).qdd)
    np.testing.assert_allclose(*qdd, rtol=1e-12)


def test_a_tape_is_read_only_where_it_fits():
    order = [[(x, k) for x in ("pdd", "qdd", "f")] for k in "ba"]
    still = kkt.build(pendulum("general"))
    tape = kkt.trace(still, order)
    faster = still.refresh(qd=[1.0, 2.0])
    assert (kkt.eliminate(faster, tape).qdd == kkt.eliminate(faster, order).qdd).all()
    with pytest.raises(kkt.OrderError, match="trace it again"):
        kkt.eliminate(still.refresh(q=[0.3, 0.7]), tape)
    upside_down = kkt.build(pendulum("general"))
    for name, data in upside_down.graph.nodes(data=True):  # zeros in the same places, and -1 for 1
        data["R"] = np.diag([-1.0, -1.0, 1.0]) if name == "b" else data["R"]
    with pytest.raises(kkt.OrderError, match="trace it again"):
        kkt.eliminate(kkt.build(upside_down.graph), tape)
    with pytest.raises(kkt.OrderError, match="trace it again"):
        kkt.eliminate(kkt.build(kkt.chain(3)), tape)


def test_a_tape_belongs_to_one_tree():
    """Four like bodies, as a chain and as a star: the same blocks, another parent."""

    def four(parents):
        tree = kkt.new_tree("four")
        link = {
            "mass": 1,
            "com": [0.1, 0.2, 0.3],
            "inertia": np.eye(3),
            "axis": [1, 2, 3],
            "p": [0.3, 0.2, 0.1],
        }
        for k, up in enumerate(parents):
            kkt.add_body(tree, f"b{k}", None if up < 0 else f"b{up}", **link)
        return kkt.build(tree, tau=np.ones(4))

    chain, star = four([-1, 0, 1, 2]), four([-1, 0, 0, 0])
    tape = kkt.trace(chain, [[(x, f"b{k}") for x in ("pdd", "qdd", "f")] for k in (3, 2, 1, 0)])
    for use in (kkt.eliminate, lambda s, t: kkt.certify(s, 20, order=t)):
        with pytest.raises(kkt.OrderError, match="trace it again"):
            use(star, tape)


def test_columns_of_a_joint_that_are_nearly_parallel_are_told_apart_in_the_rows_where_they_differ():
    S = np.array([[1.0, 0.9, 0.1, 0.0, 0.0, 0.0], [1.0, 0.9, -0.1, 0.0, 0.0, 0.0]]).T
    assert pivot_rows(S) == (0, 2)


def test_split_forces_follow_a_universal_joint():
    """Rows that the split solves for are chosen where it is traced; a turned joint has others."""
    tree = kkt.new_tree("universal")
    link = {"mass": 1, "com": [0.1, 0.2, 0.3], "inertia": np.eye(3)}
    kkt.add_body(tree, "u", joint="universal", axis=[[1, 0, 0], [0, 1, 0]], **link)
    still = kkt.build(tree, q=[0.1, 0.0])
    tape = kkt.trace(still, [[("pdd", "u")], [("qdd", "u"), ("fJ", "u")], [("fC", "u")]])
    with pytest.raises(kkt.OrderError, match="'u' has turned"):
        kkt.eliminate(still.refresh(q=[0.1, np.pi / 2]), tape)


@pytest.mark.product
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"q": [[1], [1, 2]]}, "state: field 'q' is [[1], [1, 2]]; give 3 numbers, one for each degree"),
        (
            {"q": [1.0, 2.0]},
            "state: field 'q' has shape (2,); give 3 numbers, one for each degree of freedom",
        ),
        ({"q": {"arm": ["x"] * 4}}, "body 'arm': field 'q' is ['x', 'x', 'x', 'x'], and a text is no number"),
        (
            {"q": {"arm": [1, 2]}},
            "body 'arm': field 'q' has shape (2,); give 3 numbers for its spherical joint",
        ),
        (
            {"q": [0, 0, 0, 0]},
            "body 'arm': field 'q' holds a quaternion of zeros; give x, y, z, w of any length",
        ),
        ({"q": {"am": [1, 2, 3]}}, "field 'q' names the unknown body 'am'; did you mean arm?"),
        ({"qd": [1, np.nan, 0]}, "state: field 'qd' holds nan; give finite numbers"),
        (
            {"f_ext": "x"},
            "field 'f_ext' is 'x', and a text is no number; give 1 x 6 finite numbers, moment first",
        ),
    ],
)
def test_a_state_that_is_none_is_one_sentence(given, told):
    tree = kkt.new_tree("t")
    kkt.add_body(tree, "arm", joint="spherical", mass=1.0, inertia=np.eye(3))
    with one_sentence(kkt.ModelError, told=told):
        kkt.build(tree, **given)
