"""Equation (4), Ascher, Pai & Cloutier 1996: against dense formulas, printed digits, energy."""

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.io
from helpers import MODELS, Mechanics, by_body, every_joint, printed, relisted
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import spsolve

from pivotree import kkt


def accelerations(system):
    """qdd in the tree's order, from scipy's sparse LU."""
    x = spsolve(system.matrix, system.rhs)
    return np.concatenate([x[system.blocks["qdd", b]] for b in system.tree.names])


def states(tree, seed=0):
    """A generic state away from 0, so that no term of the bias vanishes."""
    rng = np.random.default_rng(seed)
    N = len(tree.graph["q"])
    return rng.uniform(-1.0, 1.0, N), rng.normal(size=N), rng.normal(size=N)


def test_matrix_and_right_hand_side_are_the_dense_formulas():
    tree = every_joint()
    q, qd, tau = states(tree)
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


@pytest.mark.parametrize("layout", ["kind", "body"])
def test_matrix_is_symmetric_indefinite_and_has_a_unit_of_size(layout):
    system = kkt.build(every_joint(), layout=layout)
    n, N = system.tree.n, len(system.entries.tau)
    assert system.size == 12 * n + N == system.matrix.shape[0] == len(system.rhs)
    assert abs(system.matrix - system.matrix.T).max() == 0.0
    eigenvalues = np.linalg.eigvalsh(system.matrix.toarray())
    # Sylvester: M > 0, and 0 with a coupling of full rank adds a positive and a negative each
    assert (eigenvalues > 0).sum() == 6 * n + N and (eigenvalues < 0).sum() == 6 * n


def test_stored_entries_per_body():
    """Structural zeros are not stored: a joint of one freedom, a box turned in its frame."""
    rng = np.random.default_rng(0)
    tree = kkt.new_tree("full")
    for k in range(4):
        kkt.add_body(
            tree,
            k,
            k - 1 if k else None,
            mass=1.0,
            inertia=np.eye(3) + 0.1 * np.ones((3, 3)),
            com=rng.normal(size=3),
            axis=rng.normal(size=3),
            p=rng.normal(size=3),
        )
    inner, stored = 3, kkt.build(tree).matrix.nnz
    # M: 9 + 6 + 6 + 3 (skew and scalar blocks have zeros); H: 3, twice; 1: 6, twice; Phi: 27, twice
    assert stored == 4 * (9 + 6 + 6 + 3 + 2 * 3 + 2 * 6) + inner * 2 * 27


@pytest.mark.product
@pytest.mark.parametrize("layout", ["kind", "body"])
@pytest.mark.parametrize("model", MODELS)
def test_a_sparse_solve_gives_the_printed_digits(model, layout):
    system = kkt.build(kkt.load(MODELS[model]), layout=layout)
    exact = np.array([float(x) for x in printed(model)])
    assert np.abs(accelerations(system) - exact).max() <= 1e-12 * np.abs(exact).max()


def test_equation_6_is_equation_4_permuted():
    tree = every_joint()
    four, six = kkt.build(tree), kkt.build(tree, layout="body")
    assert set(four.blocks) == set(six.blocks) and len(four.blocks) == 3 * four.tree.n
    to = np.concatenate([np.r_[four.blocks[block]] for block in six.blocks]).astype(int)
    assert sorted(to) == list(range(four.size))
    assert (six.matrix.toarray() == four.matrix.toarray()[np.ix_(to, to)]).all()
    assert (six.rhs == four.rhs[to]).all()
    # (4) sorts by kind; (6) by body, pdd qdd f, children before parents
    assert [k for k, _ in itertools.groupby(b.kind for b in four.blocks)] == ["pdd", "qdd", "f"]
    assert [b.kind for b in six.blocks][:6] == ["pdd", "qdd", "f"] * 2
    place = {b.body: i for i, b in enumerate(six.blocks)}
    assert all(place[child] < place[parent] for parent, child in tree.edges)


def test_blocks_say_where_unknowns_lie():
    system = kkt.build(every_joint())
    names, dof = system.tree.names, system.tree.dof
    covered = np.concatenate([np.r_[s] for s in system.blocks.values()])
    assert (np.sort(covered) == np.arange(system.size)).all()
    for name, N in zip(names, dof, strict=True):
        at = system.blocks["qdd", name]
        assert at.stop - at.start == N
    with pytest.raises(kkt.ModelError, match="layout 'rows' is unknown"):
        kkt.build(every_joint(), layout="rows")


@pytest.mark.parametrize("layout", ["kind", "body"])
def test_refresh_changes_values_only(layout):
    tree = every_joint()
    q, qd, tau = states(tree, 1)
    first = kkt.build(tree, layout=layout)
    before = first.matrix.copy()
    for new in (q, np.zeros_like(q), -2 * q):  # at 0 many entries vanish: they stay stored
        built = kkt.build(tree, q=new, qd=qd, tau=tau, layout=layout)
        second = first.refresh(new, qd, tau)
        for name in ("indptr", "indices"):
            assert (getattr(second.matrix, name) == getattr(first.matrix, name)).all()
            assert np.shares_memory(getattr(second.matrix, name), getattr(first.matrix, name))
        assert (second.matrix.data == built.matrix.data).all()
        assert (second.matrix.indices == built.matrix.indices).all()
        assert (second.rhs == built.rhs).all()
    assert (first.matrix.data == before.data).all()  # the old system is as it was
    assert (first.refresh(q).matrix.data != before.data).any()


def test_matrix_market_and_back(tmp_path):
    matrix = kkt.build(every_joint()).matrix
    scipy.io.mmwrite(tmp_path / "four.mtx", matrix, precision=17)
    again = scipy.io.mmread(tmp_path / "four.mtx").tocsc()
    assert (again.toarray() == matrix.toarray()).all()
    assert (scipy.io.mminfo(tmp_path / "four.mtx"))[:2] == matrix.shape


def test_several_roots_are_trees_side_by_side():
    tree = every_joint()
    together = by_body(kkt.build(tree), accelerations(kkt.build(tree)))
    for root in (b for b in tree.nodes if tree.in_degree(b) == 0):
        bodies = [b for b in tree.nodes if b in nx.descendants(tree, root) | {root}]
        part = tree.subgraph(bodies).copy()
        for key in ("q", "qd", "tau"):
            whole = by_body(kkt.build(tree), np.asarray(tree.graph[key]))
            part.graph[key] = np.concatenate([whole[b] for b in part.nodes])
        alone = kkt.build(part)
        for body, qdd in by_body(alone, accelerations(alone)).items():
            np.testing.assert_allclose(qdd, together[body], rtol=1e-9, atol=1e-12)


@pytest.mark.product
@given(listing=st.permutations(list(every_joint().nodes)))
@settings(max_examples=8)
def test_listing_and_names_of_bodies_do_not_matter(listing):
    tree = every_joint()
    names = {body: (i, frozenset({i}), f"b{i}", -i)[i % 4] for i, body in enumerate(listing)}
    other = relisted(tree, listing, names.__getitem__)
    assert list(other.nodes) == [names[b] for b in listing]
    before = by_body(kkt.build(tree), accelerations(kkt.build(tree)))
    after = by_body(kkt.build(other), accelerations(kkt.build(other)))
    for body, qdd in before.items():
        np.testing.assert_allclose(after[names[body]], qdd, rtol=1e-9, atol=1e-11)


@pytest.mark.uncached
@pytest.mark.product
@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (1.0, -9.0, 3.0)])
@pytest.mark.parametrize(
    "joint", ["revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "floating", "all"]
)
def test_power_balance(joint, gravity):
    """d(energy)/dt = qd . tau along the motion: holds only with the right a_k, b_k and S° qd."""
    if joint == "all":
        tree = every_joint(general=False)  # exp(S q) is no chart of a general joint's rates
    else:
        tree = kkt.new_tree("one kind")
        rng = np.random.default_rng(5)
        for k, parent in enumerate((None, 0, 0, 2)):
            axis = rng.normal(size=(2, 3) if joint == "universal" else 3)
            kkt.add_body(
                tree,
                k,
                parent,
                mass=1.0 + k,
                com=rng.normal(size=3) / 4,
                inertia=np.diag([2.0, 3.0, 4.0]) / 10,
                joint=joint,
                axis=(0.0, 0.0, 1.0) if joint == "planar" else axis,
                p=rng.normal(size=3) / 3,
            )
        kkt.default_state(tree)
    tree.graph["gravity"] = gravity
    q, qd, tau = states(tree, 2)
    here = Mechanics(tree, q, qd)
    qdd = accelerations(kkt.build(tree, q, qd, tau))
    h = 1e-4
    rate = (here.moved(qdd, h).energy() - here.moved(qdd, -h).energy()) / (2 * h)
    # what a missing term would add: power of the velocity products
    scale = max(abs(qd @ tau), here.energy())
    assert abs(rate - qd @ tau) <= 2e-6 * scale
    # the same balance with the bias left out misses by far more, where there is any bias
    still = accelerations(kkt.build(tree, q, 0.0 * qd, tau))
    if joint != "prismatic":
        wrong = (here.moved(still, h).energy() - here.moved(still, -h).energy()) / (2 * h)
        assert abs(wrong - qd @ tau) > 1e-3 * scale


def test_an_external_wrench_does_work_on_its_body():
    tree = every_joint(general=False)
    q, qd, tau = states(tree, 4)
    wrench = np.random.default_rng(6).normal(size=(tree.number_of_nodes(), 6))
    here = Mechanics(tree, q, qd)
    qdd = accelerations(kkt.build(tree, q, qd, tau, wrench))
    h = 1e-4
    rate = (here.moved(qdd, h).energy() - here.moved(qdd, -h).energy()) / (2 * h)
    power = sum(wrench[k] @ here.v[b] for k, b in enumerate(tree.nodes))
    assert abs(power) > 0.1
    assert abs(rate - qd @ tau - power) <= 2e-6 * max(abs(power), here.energy())


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
        dense = np.linalg.solve(system.matrix.toarray(), system.rhs)
        result = kkt.eliminate(system, [[(x, k) for x in ("pdd", "qdd", "f")] for k in "ba"])
        for k, x in zip("ab", result.qdd, strict=True):
            assert x == pytest.approx(dense[system.blocks["qdd", k]][0], rel=1e-12)
        qdd.append(result.qdd)
    np.testing.assert_allclose(*qdd, rtol=1e-12)


def test_a_tape_is_read_only_where_it_fits():
    order = [[(x, k) for x in ("pdd", "qdd", "f")] for k in "ba"]
    still = kkt.build(pendulum("general"))
    tape = kkt.trace(still, order)
    faster = still.refresh(qd=[1.0, 2.0])
    assert (kkt.eliminate(faster, tape).qdd == kkt.eliminate(faster, order).qdd).all()
    with pytest.raises(kkt.OrderError, match="trace it again"):
        kkt.eliminate(still.refresh(q=[0.3, 0.7]), tape)
    with pytest.raises(kkt.OrderError, match="trace it again"):
        kkt.eliminate(kkt.build(kkt.chain(3)), tape)


def test_a_tape_belongs_to_one_tree():
    """Four like bodies, as a chain and as a star: the same blocks, another parent."""

    def four(parents):
        tree = kkt.new_tree("four")
        for k, up in enumerate(parents):
            kkt.add_body(
                tree,
                f"b{k}",
                None if up < 0 else f"b{up}",
                mass=1,
                com=[0.1, 0.2, 0.3],
                inertia=np.eye(3),
                axis=[1, 2, 3],
                p=[0.3, 0.2, 0.1],
            )
        return kkt.build(tree, tau=np.ones(4))

    chain, star = four([-1, 0, 1, 2]), four([-1, 0, 0, 0])
    tape = kkt.trace(chain, [[(x, f"b{k}") for x in ("pdd", "qdd", "f")] for k in (3, 2, 1, 0)])
    for use in (kkt.eliminate, lambda s, t: kkt.certify(s, 20, tape=t)):
        with pytest.raises(kkt.OrderError, match="trace it again"):
            use(star, tape)


def test_split_forces_follow_a_universal_joint():
    """Rows that the split solves for are chosen where it is traced; a turned joint has others."""
    tree = kkt.new_tree("universal")
    link = {"mass": 1, "com": [0.1, 0.2, 0.3], "inertia": np.eye(3)}
    kkt.add_body(tree, "u", joint="universal", axis=[[1, 0, 0], [0, 1, 0]], **link)
    still = kkt.build(tree, q=[0.1, 0.0])
    tape = kkt.trace(still, [[("pdd", "u")], [("qdd", "u"), ("fJ", "u")], [("fC", "u")]])
    with pytest.raises(kkt.OrderError, match="'u' has turned"):
        kkt.eliminate(still.refresh(q=[0.1, np.pi / 2]), tape)


def test_data_beyond_a_format_are_named():
    system = kkt.build(kkt.example3(m1=1e39, case=2))
    with pytest.raises(kkt.CertificationError, match=r"body 1: field 'M' .*overflows float32"):
        kkt.certify(system, 20, rounded_to="float32")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"q": ["x"] * 4}, "state: field 'q' holds no numbers; give 3"),
        ({"q": [[1], [1, 2]]}, "state: field 'q' holds no numbers; give 3"),
        ({"q": [1.0, 2.0]}, "state: field 'q' has shape (2,); this tree needs 3 numbers"),
        ({"q": {"arm": ["x"] * 4}}, "body 'arm': field 'q' is ['x', 'x', 'x', 'x']; its spherical"),
        ({"q": {"arm": [1, 2]}}, "body 'arm': field 'q' has 2 numbers; its spherical joint needs 3"),
        ({"q": [0, 0, 0, 0]}, "field 'q' holds the quaternion [0.0, 0.0, 0.0, 0.0]; give x, y, z, w"),
        ({"q": {"am": [1, 2, 3]}}, "field 'q' names the unknown body 'am'; did you mean arm?"),
        ({"qd": [1, np.nan, 0]}, "state: field 'qd' holds nan at 1; give finite numbers"),
        ({"f_ext": {"am": np.ones(6)}}, "'f_ext' names the unknown body 'am'; did you mean arm?"),
        ({"f_ext": "x"}, "field 'f_ext' has shape (0,); give 1 x 6 finite numbers, moment first"),
    ],
)
def test_a_state_that_is_none_is_one_sentence(given, told):
    tree = kkt.new_tree("t")
    kkt.add_body(tree, "arm", joint="spherical", mass=1.0, inertia=np.eye(3))
    with pytest.raises(kkt.ModelError) as error:
        kkt.build(tree, **given)
    assert told in str(error.value) and "\n" not in str(error.value)


def test_a_wrench_on_a_body_has_six_numbers():
    tree = kkt.chain(2)
    tree.nodes["j2"]["wrench"] = [1.0, 2.0]
    with pytest.raises(kkt.ModelError, match="body 'j2': field 'wrench' has shape"):
        kkt.build(tree)
