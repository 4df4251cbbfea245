"""Orders: every registered one on trees of all joint types, a user's own, and what is refused."""

import json
import random

import mechanisms
import numpy as np
import pytest
from designs import covering, listed
from helpers import ALL_JOINTS, MODELS, ROOT, by_body, every_joint, relisted, system_of, tape_of

from pivotree import kkt, orderings

TREES = {
    "every joint": every_joint,
    "mixture": lambda: kkt.from_spec(f"random_tree:n=14,seed=1,mass_ratio=10,joints={ALL_JOINTS}"),
    "free bodies": lambda: kkt.from_spec("random_tree:n=6,seed=9,joints=floating"),
    "welded": lambda: kkt.from_spec("random_tree:n=12,seed=5,joints=fixed+fixed+revolute"),
}


@pytest.fixture(scope="module", params=TREES)
def system(request):
    return kkt.build(TREES[request.param]())


@pytest.fixture(scope="module")
def certified(system):
    return kkt.certify(system, 30, rounded_to="float64")


@pytest.mark.uncached
@pytest.mark.parametrize(("system", "order"), covering(TREES, orderings.names()), indirect=["system"])
def test_every_order_on_every_joint(order, system, certified):
    result = kkt.eliminate(system, orderings.get(order), reference=certified)
    assert result.failed_at is None and certified.error(result.qdd) <= 1e-11
    # pdd and f solve the rows of (4) as well: residual of the whole system
    residual = system.matrix @ result.x - system.rhs
    assert np.abs(residual).max() <= 1e-10 * max(np.abs(result.x).max(), np.abs(system.rhs).max())


@pytest.mark.parametrize("spec", ["chain:5", "binary:3", "four_bar"])
def test_an_answer_is_one_vector_whose_rows_are_the_matrix_s(spec):
    system = kkt.build(kkt.from_spec(spec))
    x = kkt.eliminate(system, orderings.get("abm"), "exact").x.astype(float)
    assert np.abs(system.matrix @ x - system.rhs).max() <= 1e-12 * np.abs(x).max()


@pytest.mark.parametrize(
    ("model", "format"), covering(sorted(MODELS.keys() - {"chain_100"}), ["float64", "float32"])
)
def test_the_joint_space_inertia_is_the_peers(model, format):
    """H Phi M Phi* H* of equation (3) as CRBM leaves it, against Pinocchio's crba in the files."""
    expected = np.array(json.loads(MODELS[model].read_text())["expected"]["M"])
    M = kkt.joint_space_inertia(system_of(model), tape_of(model, "crbm"), format)
    most = {"float64": 1e-12, "float32": 1e-5}[format]
    assert (M == M.T).all() and np.abs(M - expected).max() <= most * np.abs(expected).max()


@pytest.mark.parametrize(("name", "format"), covering(TREES, ["float64", "float32", "exact"]))
def test_inverse_dynamics_is_a_product_with_the_matrix(name, format):
    """Every row of (4), qdd given and tau found, by scipy's product."""
    system = kkt.build(TREES[name]())
    wanted = np.random.default_rng(8).normal(size=len(system.entries.tau))
    result = kkt.inverse_dynamics(system, wanted, orderings.get("inverse_dynamics"), format)
    pdd, f, tau = (np.array(x, dtype=float) for x in (result.pdd, result.f, result.tau))
    x = np.concatenate([pdd.ravel(), wanted, f.ravel()])
    rows, rhs = system.matrix @ x, system.rhs.copy()
    n, N = system.tree.n, len(wanted)
    rhs[6 * n : 6 * n + N] = tau
    most = {"float64": 1e-11, "float32": 1e-5, "exact": 1e-13}[format]
    assert result.fill == 0 and np.abs(rows - rhs).max() <= most * np.abs(x).max()


@pytest.mark.parametrize("order", listed(orderings.names()))
def test_listing_and_names_of_bodies_do_not_matter(order):
    tree = every_joint()
    listing = list(tree.nodes)
    random.Random(order).shuffle(listing)
    names = {body: (i, frozenset({i}), f"b{i}", -i)[i % 4] for i, body in enumerate(listing)}
    first, second = kkt.build(tree), kkt.build(relisted(tree, listing, names.__getitem__))
    before, after = (
        by_body(s, kkt.eliminate(s, orderings.get(order), records=False).qdd) for s in (first, second)
    )
    size = max(np.abs(x).max(initial=0.0) for x in before.values())
    for body in listing:
        assert np.abs(before[body] - after[names[body]]).max(initial=0.0) <= 1e-11 * size


@pytest.mark.parametrize("seed", listed(range(5), unmarked=1))
def test_random_orders_are_feasible(seed):
    system = kkt.build(kkt.from_spec(f"random_tree:n=7,seed={seed},joints={ALL_JOINTS}+revolute"))
    order = orderings.get(f"random:{seed}")
    groups = list(order(system.structure))
    assert sorted(map(str, groups)) == sorted(
        str([(kind, k)]) for k in system.tree.names for kind in ("pdd", "f", "qdd")
    )
    assert groups == list(orderings.get(f"random:{seed}")(system.structure))
    assert groups != list(orderings.get(f"random:{seed + 1}")(system.structure))
    error = kkt.certify(system, 20).error(kkt.eliminate(system, order).qdd)
    assert error is not None and error <= 1e-10


# -- what goes before what -----------------------------------------------------------------------


def with_a_hand():
    """A four-bar linkage whose rocker carries a body: between bodies of a cluster goes another."""
    tree, q, _, pin = mechanisms.four_bar(1.0)
    kkt.add_body(tree, "hand", "rocker", mass=1.0, inertia=np.eye(3))
    tree.graph.update(q=np.array([*q, 0.0]), loops=(pin,))
    return tree


def tied_arms():
    """Three links on a base, each tied to each other, and a free link on the first."""
    tree = mechanisms.arms((2, 1, 1))
    ends = ((0, 1), (0, 2), (1, 2))
    tree.graph["loops"] = tuple(kkt.contact((i, 0), (0.1, 0.2, 0.3), on=(k, 0)) for i, k in ends)
    return tree


@pytest.mark.parametrize(
    ("order", "tree", "kind", "bodies"),
    [
        ("constraint_force", lambda: kkt.chain(8), "fC", "j7 j5 j3 j1 j6 j2 j4 j8"),
        ("divide_and_conquer", lambda: kkt.chain(8), "fC", "j1 j3 j2 j5 j8 j7 j6 j4"),
        ("lcaba", lambda: kkt.load("binary:2"), "pdd", "j7 j6 j3 j5 j4 j2 j1"),
        ("lcaba", tied_arms, "pdd", "(0, 1) (0, 0) (2, 0) (1, 0) base"),
        ("clusters", with_a_hand, "pdd", "hand coupler crank rocker"),
    ],
)
def test_bodies_go_in_the_order_that_its_author_gives(order, tree, kind, bodies):
    groups = kkt.plan(order, kkt.build(tree()).structure).sequence.groups
    assert " ".join(str(k) for group in groups for own, k in group if own == kind) == bodies


# -- the registry -------------------------------------------------------------------------------


def test_minimum_degree_has_no_pivot_of_a_fixed_joint():
    structure = system_of("random_tree:n=8,seed=2,joints=revolute+fixed").structure
    found = {k for group in orderings.get("minimum_degree")(structure) for kind, k in group if kind == "qdd"}
    assert found == {k for k, N in zip(structure.names, structure.dof, strict=True) if N}


def test_orders_of_loops_are_those_of_trees_without_rotations_and_some_of_multipliers():
    assert {*orderings.names(loops=True)} == {*orderings.names(), *orderings.LOOPS} - {"square_root_abm"}


def test_files_are_short_and_name_their_source_first():
    """One method a file, citation in its first line, at most 60 lines."""
    infrastructure = {"__init__", "catalogue", "graphs", "load", "registry"}
    files = [p for p in (ROOT / "orderings").rglob("*.py") if p.stem not in infrastructure]
    assert len(files) >= 12
    for path in files:
        lines = path.read_text().splitlines()
        assert len(lines) <= 60 and lines[0].startswith('"""'), path.name
    for name, function in orderings.ORDERS.items():
        assert function.name == name and function.source
