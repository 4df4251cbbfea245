"""Large trees: arrays in a graph's place, orders as arrays, and ABM body by body without a tape."""

import numpy as np
import pytest
import scipy.sparse.linalg as spla

import kkt
import orderings
from kkt.blocks import KINDS
from kkt.elimination.large import residual_of

TREES = {
    "chain": lambda: kkt.chain(40),
    "all joints": lambda: kkt.random_tree(60, seed=3),
    "heavy": lambda: kkt.random_tree(60, seed=4, mass_ratio=1e6),
    "fixed": lambda: kkt.random_tree(30, seed=5, joints="fixed+spherical+revolute"),
    "binary": lambda: kkt.binary(5),
    "star": lambda: kkt.star(7, "spherical"),
    "universal": lambda: kkt.comb(9, "universal"),
    "humanoid": kkt.humanoid,
}


def of_arrays(graph):
    """The same tree without its graph."""
    tree = kkt.compile_tree(graph)
    axis = tree.axis if any(kind == "universal" for kind in tree.joint) else tree.axis[:, 0]
    return kkt.tree_from_arrays(
        tree.parent, mass=tree.mass, com=tree.com, inertia=tree.inertia, joint=tree.joint,
        axis=axis, R=tree.R, p=tree.p, gravity=tree.gravity, names=tree.names, name=tree.name,
    )  # fmt: skip


def states(graph):
    return (graph.graph[key] for key in ("q", "qd", "tau"))


@pytest.fixture(params=TREES)
def graph(request):
    return TREES[request.param]()


def test_no_bit_differs_from_the_tape(graph):
    system = kkt.build(graph)
    large = kkt.solve_large(system)
    tape = kkt.eliminate(system, orderings.get("abm"), records=False)
    for letter in ("qdd", "pdd", "f"):
        np.testing.assert_array_equal(getattr(large, letter), getattr(tape, letter))


def test_a_forest_and_bodies_numbered_tip_to_base():
    tree = kkt.new_tree("forest")
    for name, parent in (("a", None), ("b", "a"), ("c", None), ("d", "c"), ("e", "c"), ("f", "c")):
        kkt.add_body(tree, name, parent, mass=1.0, inertia=np.eye(3), p=(0.1, 0.2, 0.3))
    whole = kkt.compile_tree(kkt.default_state(tree))
    back = np.arange(6)[::-1]
    parent = np.where(whole.parent[back] < 0, -1, 5 - whole.parent[back])
    turned = kkt.tree_from_arrays(parent, mass=1.0, inertia=np.eye(3), p=(0.1, 0.2, 0.3))
    q, qd, tau = states(tree)
    system = kkt.build(turned, q[::-1], qd[::-1], tau[::-1])
    exact = kkt.eliminate(kkt.build(tree), orderings.get("crbm"), "exact")
    found = kkt.solve_large(system).qdd[::-1]
    np.testing.assert_allclose(found, exact.qdd.astype(float), rtol=1e-12)
    tape = kkt.eliminate(system, orderings.get("abm"), records=False)
    np.testing.assert_array_equal(kkt.solve_large(system).f, tape.f)


def test_arrays_and_graph_make_the_same_system(graph):
    mine, theirs = kkt.build(of_arrays(graph), *states(graph)), kkt.build(graph)
    for letter in ("M", "Phi", "S", "a", "b", "tau"):
        np.testing.assert_array_equal(
            getattr(mine.entries, letter), getattr(theirs.entries, letter)
        )
    assert (mine.matrix != theirs.matrix).nnz == 0
    np.testing.assert_array_equal(mine.rhs, theirs.rhs)
    np.testing.assert_array_equal(mine.refresh().rhs, theirs.rhs)


@pytest.mark.parametrize("make", [kkt.chain, lambda n: kkt.random_tree(n, seed=1)])
def test_the_compiled_matrix_is_the_other(make, monkeypatch):
    graph = make(1500)
    compiled = kkt.build(graph)
    compiled.matrix.check_format()
    monkeypatch.setattr("kkt.system.MANY", 10**9)
    monkeypatch.setattr("kkt.bias.MANY", 10**9)
    slow = kkt.build(graph)
    for letter in ("a", "b"):
        np.testing.assert_array_equal(
            getattr(compiled.entries, letter), getattr(slow.entries, letter)
        )
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(compiled.matrix, part), getattr(slow.matrix, part))


@pytest.mark.parametrize("n", [1000, 10_000])
def test_backward_error_and_superlu(n):
    system = kkt.build(of_arrays(kkt.chain(n)), *states(kkt.chain(n)))
    large = kkt.solve_large(system)
    assert large.residual.normwise <= 1e-15
    x = spla.splu(system.matrix).solve(system.rhs)
    assert np.abs(x - large.unknowns).max() <= 1e-11 * np.abs(x).max()
    off = large.unknowns
    off[7] += 1e-9
    assert residual_of(system, off).normwise > 1e-13


@pytest.mark.parametrize("name", ["abm", "crbm", "bad_abm", "virtual_work", "minimum_degree"])
def test_an_order_as_arrays_has_the_same_plan(graph, name):
    structure = kkt.build(graph).structure
    plan = kkt.plan(orderings.get(name), structure)
    blocks = [
        (KINDS.index(kind), structure.index[body], step)
        for step, group in enumerate(plan.sequence.groups)
        for kind, body in group
    ]
    other = kkt.plan_from_arrays(structure, *np.array(blocks).T, name=name)
    for part in ("blocks", "group", "paired"):
        np.testing.assert_array_equal(getattr(plan, part), getattr(other, part))
    assert kkt.symbolic(other).fill_entries == kkt.symbolic(plan).fill_entries


def test_leaf_to_root_is_abm(graph):
    structure = kkt.build(graph).structure
    plan, other = kkt.plan(orderings.get("abm"), structure), kkt.leaf_to_root(structure)
    for part in ("blocks", "group", "paired"):
        np.testing.assert_array_equal(getattr(plan, part), getattr(other, part))


def test_counts_of_a_long_chain_are_those_of_theory():
    n = 10_000
    structure = kkt.Structure(tuple(range(n)), np.arange(-1, n - 1), np.ones(n, dtype=np.int64))
    factor = kkt.symbolic(kkt.leaf_to_root(structure))
    assert factor.fill_blocks == n - 1  # each joint meets its parent's acceleration
    assert factor.counts.sum() == (3 * n - 1) + (n - 1)
    assert factor.height == 3 * n


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parent": [1, 0]}, "cycle"),
        ({"parent": [-1, 2]}, "holds 2 at 1"),
        ({"parent": [[-1], [0]]}, "one integer for each body"),
        ({"mass": [1.0, -1.0]}, "mass"),
        ({"mass": [1.0, np.nan]}, "mass"),
        ({"com": np.zeros((3, 3))}, "com"),
        ({"joint": "hinge"}, "hinge"),
        ({"joint": ("revolute",)}, "1 entries"),
        ({"axis": (0.0, 0.0, 0.0)}, "axis"),
        ({"names": ("a", "a")}, "different names"),
    ],
)
def test_wrong_arrays_are_one_sentence(change, said):
    right = {"parent": [-1, 0], "mass": 1.0, "inertia": np.eye(3)}
    with pytest.raises(kkt.PivotreeError, match=said) as error:
        kkt.tree_from_arrays(**{**right, **change})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (([0, 2, 1], [0, 0, 0], [0, 0, 0]), "leaves out"),
        (([0, 2, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]), "twice"),
        (([9], [0], [0]), "kind 9"),
        (([0], [7], [0]), "body 7"),
        (([0, 2], [0, 0], [1, 0]), "ascend"),
        (([0, 2], [0], [1]), "equally many"),
    ],
)
def test_wrong_orders_are_one_sentence(blocks, said):
    structure = kkt.build(kkt.chain(2)).structure
    with pytest.raises(kkt.OrderError, match=said):
        kkt.plan_from_arrays(structure, *blocks)


def test_a_pivot_that_is_zero_is_named():
    tree = kkt.new_tree("massless")
    kkt.add_body(tree, "base", mass=1.0, inertia=np.eye(3))
    kkt.add_body(tree, "tip", "base", mass=0.0)
    with pytest.raises(kkt.SingularError, match="qdd_tip"):
        kkt.solve_large(kkt.build(tree))


def test_loops_are_refused():
    graph = kkt.chain(3)
    graph.graph["loops"] = (kkt.contact("j3", (0.1, 0.0, 0.0)),)
    with pytest.raises(kkt.LoopError, match="solve_large"):
        kkt.solve_large(kkt.build(graph))
