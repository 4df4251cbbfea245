"""Large trees: arrays in a graph's place, orders as arrays, and ABM body by body without a tape."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse.linalg as spla
from helpers import MODELS, printed

from pivotree import kkt, orderings
from pivotree.kkt.matrix.blocks import KINDS

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
        tree.parent,
        mass=tree.mass,
        com=tree.com,
        inertia=tree.inertia,
        joint=tree.joint,
        axis=axis,
        R=tree.R,
        p=tree.p,
        gravity=tree.gravity,
        names=tree.names,
        name=tree.name,
    )


def states(graph):
    return (graph.graph[key] for key in ("q", "qd", "tau"))


@pytest.fixture(params=TREES)
def graph(request):
    return TREES[request.param]()


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_arrays_and_graph_make_the_same_system(graph):
    mine, theirs = kkt.build(of_arrays(graph), *states(graph)), kkt.build(graph)
    for letter in ("M", "Phi", "S", "a", "b", "tau"):
        np.testing.assert_array_equal(getattr(mine.entries, letter), getattr(theirs.entries, letter))
    assert (mine.matrix != theirs.matrix).nnz == 0
    np.testing.assert_array_equal(mine.rhs, theirs.rhs)
    np.testing.assert_array_equal(mine.refresh().rhs, theirs.rhs)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "make",
    [
        kkt.chain,
        lambda n: kkt.random_tree(n, seed=1),
        lambda n: kkt.random_tree(3 * n, seed=2, joints="prismatic+revolute+universal"),
    ],
)
def test_the_compiled_matrix_is_the_other(make, monkeypatch):
    graph = make(1500)
    compiled = kkt.build(graph)
    compiled.matrix.check_format()
    for module in ("bias", "state", "system"):
        monkeypatch.setattr(f"pivotree.kkt.matrix.{module}.MANY", 10**9)
    slow = kkt.build(graph)
    for letter in ("M", "Phi", "S", "a", "b", "tau"):
        np.testing.assert_array_equal(getattr(compiled.entries, letter), getattr(slow.entries, letter))
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(compiled.matrix, part), getattr(slow.matrix, part))


@pytest.mark.thorough
@pytest.mark.parametrize("n", [1000, 10_000])
def test_backward_error_and_superlu(n):
    system = kkt.build(of_arrays(kkt.chain(n)), *states(kkt.chain(n)))
    large = kkt.solve_large(system)
    assert large.backward_error.normwise <= 1e-15
    x = spla.splu(system.matrix).solve(system.rhs)
    assert np.abs(x - large.unknowns).max() <= 1e-11 * np.abs(x).max()
    off = large.pdd.copy()
    off[1, 1] += 1e-9
    assert replace(large, pdd=off).backward_error.normwise > 1e-13


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_a_pivot_that_is_zero_but_for_rounding_is_named():
    """Behind a massless link a body floats: rank 43 of 44, and a pivot of some 1e-16."""
    draw = np.random.default_rng(0)
    tree = kkt.new_tree("massless")
    more = {"p": (0.1, 0.2, 0.3), "axis": draw.normal(size=3)}
    kkt.add_body(tree, "base", mass=1.0, inertia=np.eye(3))
    kkt.add_body(tree, "link", "base", mass=0.0, **more)
    heavy = {"mass": 1.3, "com": draw.normal(size=3), "inertia": np.diag([1.0, 1.2, 1.3])}
    kkt.add_body(tree, "tip", "link", joint="floating", p=draw.normal(size=3), **heavy)
    system = kkt.build(tree, *draw.normal(size=(3, 8)))
    with pytest.raises(kkt.PivotreeError, match=r"qdd_link .* structurally singular \(rank 0 of 1"):
        kkt.eliminate(system, orderings.get("abm"))
    for solve in (kkt.solve_large, kkt.compile_large):
        with pytest.raises(kkt.SingularError, match=r"qdd_link .* \(rank 0 of 1\)"):
            solve(system)
    tree.nodes["tip"]["joint"], tree.nodes["tip"]["axis"] = "revolute", (1.0, 0.0, 0.0)
    system = kkt.build(tree, *draw.normal(size=(3, 3)))  # five of the six are left
    truth = kkt.eliminate(system, orderings.get("abm"), records=False).qdd
    np.testing.assert_array_equal(kkt.solve_large(system).qdd, truth)


def test_loops_are_refused():
    graph = kkt.chain(3)
    graph.graph["loops"] = (kkt.contact("j3", (0.1, 0.0, 0.0)),)
    with pytest.raises(kkt.LoopError, match="solve_large"):
        kkt.solve_large(kkt.build(graph))


@pytest.mark.thorough
def test_more_kinds_of_bodies_than_are_told_apart():
    n, draw = 80, np.random.default_rng(7)
    k = np.arange(n)
    some = draw.integers(0, 2, (n, 9))
    joint = tuple(draw.choice(["revolute", "prismatic", "fixed", "spherical"], n))
    joint = ("revolute", *joint[1:])
    axis = np.where(some[:, 6:7] == 1, np.eye(3)[k % 3], draw.normal(size=(n, 3)))
    tree = kkt.tree_from_arrays(
        k - 1 - (draw.random(n) * np.minimum(k, 3)).astype(int),
        mass=1.0,
        com=some[:, :3] * draw.random((n, 3)),
        p=some[:, 3:6] * draw.random((n, 3)),
        inertia=np.eye(3),
        joint=joint,
        axis=axis,
    )
    N = int(tree.offset[-1])
    q, qd, tau = draw.normal(size=(3, N))
    system = kkt.build(tree, q, qd, tau)
    large = kkt.solve_large(system)
    tape = kkt.eliminate(system, orderings.get("abm"), records=False)
    for letter in ("qdd", "pdd", "f"):
        np.testing.assert_array_equal(getattr(large, letter), getattr(tape, letter))
    patterns = np.concatenate([system.pattern.M, system.pattern.Phi], axis=1).reshape(n, -1)
    assert len(np.unique(patterns, axis=0)) > 16 >= len(system.plans["abm"].kinds)
    kernel = kkt.compile_large(tree)
    np.testing.assert_allclose(kernel(q, qd, tau), large.qdd, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("relaxed", [False, True])
def test_a_large_kernel_goes_from_q_to_qdd(graph, relaxed):
    q, qd, tau = states(graph)
    exact = kkt.eliminate(kkt.build(graph), orderings.get("abm"), "mp:40").qdd.astype(float)
    kernel = kkt.compile_large(graph, relaxed=relaxed)
    other = kkt.solve_large(kkt.build(graph)).qdd
    allowed = 4 * np.abs(other - exact).max() + 1e-14 * np.abs(exact).max()
    assert np.abs(kernel(q, qd, tau) - exact).max() <= allowed
    still = kernel(0 * q)
    assert not np.array_equal(still, kernel(q, qd, tau))
    np.testing.assert_array_equal(still, kernel(0 * q))


@pytest.mark.thorough
@pytest.mark.parametrize("model", MODELS)
def test_a_large_kernel_against_printed_accelerations(model):
    graph = kkt.load(MODELS[model])
    exact = np.array([float(x) for x in printed(model)])
    found = kkt.compile_large(graph)(*states(graph))
    assert np.abs(found - exact).max() <= 1e-13 * np.abs(exact).max()


@pytest.mark.thorough
def test_a_large_kernel_agrees_with_the_compiled_program():
    graph = kkt.humanoid()
    q, qd, tau = states(graph)
    straight = kkt.compile(graph, orderings.get("abm"))
    x = straight.configuration()
    np.testing.assert_allclose(kkt.compile_large(graph)(q, qd, tau), straight(x, qd, tau), rtol=0, atol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("shape", ["wide", "random", "forest"])
def test_threads_change_no_bit(shape):
    n = 24_000
    k = np.arange(n)
    parent = {
        "wide": np.where(k % 12 == 1, 0, k - 1),
        "random": k - 1 - np.random.default_rng(1).integers(0, 8, n),
        "forest": np.where(k % 3000 == 0, -1, k - 1 - (k % 3)),
    }[shape]
    parent = np.maximum(parent, -1)
    axis = np.where((k % 2 == 0)[:, None], (0.0, 0.0, 1.0), (0.0, 0.6, 0.8))
    tree = kkt.tree_from_arrays(
        parent, mass=1.0, com=(0.05, 0, 0), inertia=np.eye(3), p=(0.1, 0, 0.1), axis=axis
    )
    q, qd, tau = 0.3 * np.sin(k), 0.2 * np.cos(k), 0.1 * np.sin(2.0 * k)
    system = kkt.build(tree, q, qd, tau)
    one, two = kkt.solve_large(system), kkt.solve_large(system, threads=2)
    assert len(system.plans["abm"].shares(2).parts) > 1
    for letter in ("qdd", "pdd", "f"):
        np.testing.assert_array_equal(getattr(one, letter), getattr(two, letter))
    kernel = kkt.compile_large(tree, threads=2)
    np.testing.assert_array_equal(kernel(q, qd, tau), kkt.compile_large(tree)(q, qd, tau))
    assert one.backward_error.normwise <= 1e-14


@pytest.mark.thorough
def test_relaxed_arithmetic_is_as_good():
    system = kkt.build(of_arrays(kkt.chain(10_000)), *states(kkt.chain(10_000)))
    strict, relaxed = kkt.solve_large(system), kkt.solve_large(system, relaxed=True)
    assert not np.array_equal(strict.qdd, relaxed.qdd)
    assert relaxed.backward_error.normwise <= 1e-15


@pytest.mark.parametrize(
    ("q", "qd", "said"),
    [
        (np.zeros(4), None, "'q' has shape"),
        (np.zeros(3), np.zeros(2), "'qd' has shape"),
        (np.zeros(3), ["a", "b", "c"], "holds no real numbers"),
        (np.array([0.0, np.inf, 0.0]), None, "'q' holds"),
    ],
)
def test_wrong_states_of_a_large_kernel_are_one_sentence(q, qd, said):
    with pytest.raises(kkt.ModelError, match=said):
        kkt.compile_large(kkt.chain(3))(q, qd)


@pytest.mark.thorough
def test_a_large_kernel_refuses_loops_and_names_a_pivot_that_is_zero():
    graph = kkt.chain(3)
    graph.graph["loops"] = (kkt.contact("j3", (0.1, 0.0, 0.0)),)
    with pytest.raises(kkt.LoopError, match="compile_large"):
        kkt.compile_large(graph)
    tree = kkt.new_tree("massless")
    kkt.add_body(tree, "base", mass=1.0, inertia=np.eye(3))
    kkt.add_body(tree, "tip", "base", mass=0.0)
    with pytest.raises(kkt.SingularError, match="qdd_tip"):
        kkt.compile_large(tree)(np.zeros(2))


def test_what_a_large_kernel_cannot_take_is_one_sentence():
    tree = kkt.chain(3)
    kernel, zero = kkt.compile_large(tree), np.zeros(3)
    for wrong in (
        [10**400] * 3,
        [[1.0], [1.0, 2.0]],
        zero + 1j,
        np.zeros(3, "m8[s]"),
        "abc",
        np.ma.array(zero, mask=True),
    ):
        for field, state in (("q", (wrong,)), ("qd", (zero, wrong)), ("tau", (zero, zero, wrong))):
            with pytest.raises(kkt.ModelError, match=f"field '{field}' holds no real numbers"):
                kernel(*state)
    with pytest.raises(kkt.ModelError, match="field 'q' has shape"):
        kernel(np.zeros(2))
    assert np.array_equal(kernel([0, 0, 0], (0.0, 0, 0)), kernel(zero, zero.astype(">f8")))
    for threads in (0, -1, 2.5, True, "2", None):
        with pytest.raises(kkt.ModelError, match="threads is"):
            kkt.compile_large(tree, threads=threads)
        with pytest.raises(kkt.ModelError, match="threads is"):
            kkt.solve_large(kkt.build(tree), threads=threads)


@pytest.mark.thorough
@pytest.mark.parametrize("length", [0.01, 0.1, 1.0, 100.0])
def test_whether_bodies_are_light_beside_others_is_no_matter_of_units(length):
    even = kkt.build(kkt.chain(30, length=length, width=length / 5))
    assert kkt.solve_large(even).error_estimate is None  # nothing to look at
    light = kkt.chain(30, length=length, width=length / 5)
    light.nodes["j7"]["mass"] *= 1e-6
    assert kkt.solve_large(kkt.build(light)).error_estimate is not None
