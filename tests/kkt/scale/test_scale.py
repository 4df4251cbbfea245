"""Large trees: arrays in a graph's place, orders as arrays, and ABM body by body without a tape."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.linalg as spla
from armature import bare, with_terms
from designs import covering, listed
from helpers import MODELS, every_joint, printed

from pivotree import kkt, orderings
from pivotree.kkt.matrix.blocks import KINDS
from pivotree.kkt.scale import front_solve
from pivotree.kkt.scale.large import SOLVED, UNIT

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
    fields = ("mass", "com", "inertia", "joint", "R", "p", "gravity", "names", "name")
    axis = tree.axis if "universal" in tree.joint else tree.axis[:, 0]
    return kkt.tree_from_arrays(tree.parent, axis=axis, **{x: getattr(tree, x) for x in fields})


def massless_tip():
    """A chain of two whose last body has neither mass nor inertia: no order can solve for it."""
    tree = kkt.new_tree("massless")
    kkt.add_body(tree, "base", mass=1.0, inertia=np.eye(3))
    kkt.add_body(tree, "tip", "base", mass=0.0)
    return tree


def assert_same_unknowns(one, two):
    for letter in ("qdd", "pdd", "f"):
        np.testing.assert_array_equal(getattr(one, letter), getattr(two, letter))


def states(graph):
    return (graph.graph[key] for key in ("q", "qd", "tau"))


@pytest.fixture(params=TREES)
def graph(request):
    return TREES[request.param]()


@pytest.mark.uncached
def test_no_bit_differs_from_the_tape(graph):
    system = kkt.build(graph)
    assert_same_unknowns(kkt.solve_large(system), kkt.eliminate(system, orderings.get("abm"), records=False))


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
        np.testing.assert_array_equal(getattr(mine.entries, letter), getattr(theirs.entries, letter))
    assert (mine.matrix != theirs.matrix).nnz == 0
    np.testing.assert_array_equal(mine.rhs, theirs.rhs)
    np.testing.assert_array_equal(mine.refresh().rhs, theirs.rhs)


@pytest.mark.parametrize(
    "spec",
    ["chain:500", "random_tree:n=500,seed=1", "random_tree:n=500,seed=2,joints=prismatic+revolute+universal"],
)
def test_the_compiled_matrix_is_the_other(spec, monkeypatch):
    graph = kkt.from_spec(spec)
    compiled = kkt.build(graph)
    compiled.matrix.check_format()
    for module in ("bias", "state", "system"):
        monkeypatch.setattr(f"pivotree.kkt.matrix.{module}.MANY", 10**9)
    slow = kkt.build(graph)
    for letter in ("M", "Phi", "S", "a", "b", "tau"):
        np.testing.assert_array_equal(getattr(compiled.entries, letter), getattr(slow.entries, letter))
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(compiled.matrix, part), getattr(slow.matrix, part))


@pytest.mark.parametrize("n", listed([1000, 10_000], unmarked=1))
def test_backward_error_and_superlu(n):
    system = kkt.build(of_arrays(kkt.chain(n)), *states(kkt.chain(n)))
    large = kkt.solve_large(system)
    assert large.backward_error.normwise <= 1e-15
    x = spla.splu(system.matrix).solve(system.rhs)
    assert np.abs(x - large.unknowns).max() <= 1e-11 * np.abs(x).max()
    relaxed = kkt.solve_large(system, relaxed=True)
    assert not np.array_equal(relaxed.qdd, large.qdd) and relaxed.backward_error.normwise <= 1e-15
    off = large.pdd.copy()
    off[1, 1] += 1e-9
    assert replace(large, pdd=off).backward_error.normwise > 1e-13


@pytest.mark.parametrize(
    ("tree", "name"), covering(TREES, ["abm", "crbm", "bad_abm", "virtual_work", "minimum_degree"])
)
def test_an_order_as_arrays_has_the_same_plan(tree, name):
    structure = kkt.build(TREES[tree]()).structure
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
    system = kkt.build(massless_tip())
    with pytest.raises(kkt.SingularError, match="qdd_tip"):
        kkt.solve_large(system)
    with pytest.raises(kkt.SingularError, match="order 'abm': pivot qdd_tip"):
        kkt.solve_large(system, orderings.get("abm"))
    with pytest.raises(kkt.SingularError, match="pivot pdd_tip"):
        kkt.solve_large(system, orderings.get("virtual_work"))
    with pytest.raises(kkt.SingularError, match="qdd_tip"):
        kkt.compile_large(massless_tip())(np.zeros(2))


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
    with pytest.raises(kkt.LoopError, match="compile_large"):
        kkt.compile_large(graph)


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
    assert_same_unknowns(large, kkt.eliminate(system, orderings.get("abm"), records=False))
    patterns = np.concatenate([system.pattern.M, system.pattern.Phi], axis=1).reshape(n, -1)
    assert len(np.unique(patterns, axis=0)) > 16 >= len(system.plans["abm"].kinds)
    kernel = kkt.compile_large(tree)
    np.testing.assert_allclose(kernel(q, qd, tau), large.qdd, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("tree", "relaxed"), covering(TREES, [False, True], unmarked=1))
def test_a_large_kernel_goes_from_q_to_qdd(tree, relaxed):
    graph = TREES[tree]()
    q, qd, tau = states(graph)
    exact = kkt.eliminate(kkt.build(graph), orderings.get("abm"), "mp:40").qdd.astype(float)
    kernel = kkt.compile_large(graph, relaxed=relaxed)
    other = kkt.solve_large(kkt.build(graph)).qdd
    allowed = 4 * np.abs(other - exact).max() + 1e-14 * np.abs(exact).max()
    assert np.abs(kernel(q, qd, tau) - exact).max() <= allowed
    still = kernel(0 * q)
    assert not np.array_equal(still, kernel(q, qd, tau))
    np.testing.assert_array_equal(still, kernel(0 * q))


@pytest.mark.parametrize("model", listed(["ur5", *(model for model in MODELS if model != "ur5")], unmarked=1))
def test_a_large_kernel_against_printed_accelerations(model):
    graph = kkt.load(MODELS[model])
    exact = np.array([float(x) for x in printed(model)])
    found = kkt.compile_large(graph)(*states(graph))
    assert np.abs(found - exact).max() <= 1e-13 * np.abs(exact).max()


@pytest.mark.parametrize("shape", listed(["wide", "random", "forest"], unmarked=1))
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
    assert_same_unknowns(one, two)
    kernel = kkt.compile_large(tree, threads=2)
    np.testing.assert_array_equal(kernel(q, qd, tau), kkt.compile_large(tree)(q, qd, tau))
    assert one.backward_error.normwise <= 1e-14


def test_what_a_large_kernel_cannot_take_is_one_sentence():
    tree = kkt.chain(3)
    kernel, zero = kkt.compile_large(tree), np.zeros(3)
    strange = [zero + 1j, np.zeros(3, "m8[s]"), "abc", np.ma.array(zero, mask=True)]
    for wrong in ([10**400] * 3, [[1.0], [1.0, 2.0]], *strange):
        for field, state in (("q", (wrong,)), ("qd", (zero, wrong)), ("tau", (zero, zero, wrong))):
            with pytest.raises(kkt.ModelError, match=f"field '{field}' holds no real numbers"):
                kernel(*state)
    for state, said in (
        ((np.zeros(2),), "field 'q' has shape"),
        ((zero, np.zeros(2)), "field 'qd' has shape"),
        ((np.array([0.0, np.inf, 0.0]),), "field 'q' holds a number that is not finite"),
    ):
        with pytest.raises(kkt.ModelError, match=said):
            kernel(*state)
    assert np.array_equal(kernel([0, 0, 0], (0.0, 0, 0)), kernel(zero, zero.astype(">f8")))
    for threads in (0, -1, 2.5, True, "2", None):
        with pytest.raises(kkt.ModelError, match="threads is"):
            kkt.compile_large(tree, threads=threads)
        with pytest.raises(kkt.ModelError, match="threads is"):
            kkt.solve_large(kkt.build(tree), threads=threads)


@pytest.mark.parametrize("length", [0.01, 0.1, 1.0, 100.0])
def test_whether_bodies_are_light_beside_others_is_no_matter_of_units(length):
    even = kkt.build(kkt.chain(30, length=length, width=length / 5))
    assert kkt.solve_large(even).error_estimate is None  # nothing to look at
    light = kkt.chain(30, length=length, width=length / 5)
    light.nodes["j7"]["mass"] *= 1e-6
    assert kkt.solve_large(kkt.build(light)).error_estimate is not None


# -- joints with inertia, damping, springs and friction of their own ------------------------------


GEARED = {
    "every_joint": every_joint,
    "branched": lambda: kkt.random_tree(12, seed=1),
    "spherical": lambda: kkt.star(5, "spherical"),
}
OTHERS = ("projected_abm", "square_root_abm")  # numbers that are not those of (4) itself


def mixed(name, every=2):
    """A tree of which every second joint is as it was."""
    tree = with_terms(GEARED[name](), 3)
    for body in list(tree)[::every]:
        for term in ("armature", "damping", "stiffness"):
            tree.nodes[body].pop(term, None)
    return tree


def drawn_state(tree, seed=0):
    rng, N = np.random.default_rng(seed), int(kkt.compile_tree(tree).offset[-1])
    return rng.uniform(-1.0, 1.0, N), rng.normal(size=N), rng.normal(size=N)


MECHANISMS = ("abm", "crbm", "virtual_work", "lagrange", "divide_and_conquer")  # of pivots, one order each
ORDERS = [*MECHANISMS, *(name for name in orderings.names() if name not in (*MECHANISMS, *OTHERS))]


@pytest.mark.parametrize(("name", "tree", "implicit"), covering(ORDERS, GEARED, [None, 0.02]))
def test_no_bit_differs_from_the_tape_with_terms_of_joints(name, tree, implicit):
    tree = mixed(tree)
    system, order = kkt.build(tree, *drawn_state(tree), implicit=implicit), orderings.get(name)
    tape = kkt.eliminate(system, order, records=False)
    np.testing.assert_array_equal(kkt.solve_large(system, order).qdd, tape.qdd)


def joints_first(structure):
    """Each qdd, then its pair (pdd f), which takes inertia of every joint's own."""
    tip_to_base = structure.order[::-1]
    return [
        [(kind, structure.names[k]) for kind in kinds]
        for k in tip_to_base
        for kinds in (("qdd",), ("pdd", "f"))
    ]


def test_an_order_that_starts_with_joints_has_the_bits_of_the_tape():
    system = kkt.build(with_terms(kkt.binary(4), 1))
    order = kkt.PivotSequence(joints_first(system.structure), "joints first")
    tape = kkt.eliminate(system, order, records=False)
    found = kkt.solve_large(system, order)
    np.testing.assert_array_equal(found.qdd, tape.qdd)
    np.testing.assert_array_equal(found.f, tape.f)


@pytest.mark.parametrize("order", listed(["crbm", "virtual_work_split", "lagrange", "natural"], unmarked=1))
def test_panels_have_the_block_too(order, monkeypatch):
    tree = mixed("branched")
    system = kkt.build(tree, *drawn_state(tree))
    tape = kkt.eliminate(system, orderings.get(order), records=False)
    monkeypatch.setattr(front_solve, "analysis_of", lambda factor: None)
    found = kkt.solve_large(system, orderings.get(order))
    assert found.backward_error.normwise <= 1e-13
    np.testing.assert_allclose(found.qdd, tape.qdd, rtol=0, atol=1e-9 * np.abs(tape.qdd).max())


@pytest.mark.parametrize(
    ("name", "implicit", "check"),
    listed([("spherical", 0.02, True), ("every_joint", None, True), ("branched", 0.02, False)], unmarked=1),
)
def test_a_kernel_takes_all_terms_of_joints(name, implicit, check):
    tree = mixed(name)
    q, qd, tau = drawn_state(tree, seed=2)
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


@pytest.mark.parametrize(("n", "armature"), listed([(1_000, 1e-6), (1_000, 1.0), (100_000, 1e6)]))
def test_backward_error_does_not_grow_with_the_tree(n, armature):
    tree = kkt.chain(n)
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
        body = {"mass": mass, "com": com, "inertia": J, "p": p, "axis": (0, 0, 1), "armature": armature}
        kkt.add_body(tree, name, None if up < 0 else f"b{up}", **body)
        model.armature[joint - 1] = armature
    q, qd, tau = drawn_state(tree)
    wanted = pin.aba(model, model.createData(), q, qd, tau)
    for found in (kkt.solve_large(kkt.build(tree, q, qd, tau)).qdd, kkt.compile_large(tree)(q, qd, tau)):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
