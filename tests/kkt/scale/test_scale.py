"""Large trees: arrays in a graph's place, orders as arrays, and ABM body by body without a tape."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.linalg as spla
from armature import bare, with_terms
from designs import covering, listed
from helpers import drawn_state, every_joint, light_tip, one_sentence, relisted
from test_any_order import ORDERS, same_as_the_tape

from pivotree import kkt, orderings
from pivotree.kkt.matrix.blocks import KINDS
from pivotree.kkt.scale.large import SOLVED, UNIT

ABM = orderings.get("abm")
TREES = {
    "chain": lambda: kkt.chain(12),
    "all joints": lambda: kkt.random_tree(20, seed=3),
    "heavy": lambda: kkt.random_tree(14, seed=4, mass_ratio=1e6),
    "fixed": lambda: kkt.random_tree(14, seed=5, joints="fixed+spherical+revolute"),
    "binary": lambda: kkt.binary(4),
    "star": lambda: kkt.star(7, "spherical"),
    "tip to base": lambda: relisted(kkt.comb(9, "universal"), list(kkt.comb(9, "universal"))[::-1]),
    "humanoid": kkt.humanoid,
}


def of_arrays(graph):
    """The same tree without its graph; what is alike in all bodies is given once."""
    tree = kkt.compile_tree(graph)
    given = {x: getattr(tree, x) for x in ("mass", "com", "inertia", "joint", "R", "p", "gravity", "names")}
    given |= {x: given[x][0] for x in ("mass", "com", "inertia") if (given[x] == given[x][0]).all()}
    axis = tree.axis if "universal" in tree.joint else tree.axis[:, 0]
    return kkt.tree_from_arrays(tree.parent, axis=axis, **given)


def states(graph):
    return (graph.graph[key] for key in ("q", "qd", "tau"))


@pytest.fixture(params=listed(TREES))
def graph(request):
    return TREES[request.param]()


@pytest.mark.uncached
def test_no_bit_differs_from_the_tape(graph):
    same_as_the_tape(kkt.build(graph))


def test_arrays_and_graph_make_the_same_system(graph):
    mine, theirs = kkt.build(of_arrays(graph), *states(graph)), kkt.build(graph)
    assert all(x.tobytes() == y.tobytes() for x, y in zip(mine.entries, theirs.entries, strict=True))
    assert (mine.matrix != theirs.matrix).nnz == 0
    np.testing.assert_array_equal(mine.refresh().rhs, theirs.rhs)
    assert kkt.solve_large(mine).qdd.tobytes() == kkt.solve_large(theirs).qdd.tobytes()


@pytest.mark.parametrize("more", listed(["1", "2,joints=prismatic+revolute+universal"]))
def test_the_matrix_of_many_bodies_is_that_of_few(more, monkeypatch):
    """To the last bit, with children before parents, wrenches, and a contact, which asks for velocities."""
    graph = kkt.from_spec(f"random_tree:n=240,seed={more}")
    graph, loops = relisted(graph, list(graph)[::-1]), [kkt.contact("b7", (0.1, 0.2, 0.3), damping=1.0)]
    given = (None, None, None, np.random.default_rng(1).normal(size=(240, 6)))
    monkeypatch.setattr("pivotree.kkt.base.compiled.Loop.ready", False)
    few = kkt.build(graph, *given, loops=loops)
    few.matrix.check_format()
    for name in ("matrix.entries.MANY", "matrix.state.CACHED", "model.spatial.CACHED"):
        monkeypatch.setattr(f"pivotree.kkt.{name}", 64)
    many = kkt.build(graph, *given, loops=loops)
    assert all(x.tobytes() == y.tobytes() for x, y in zip(few.entries, many.entries, strict=True))
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(many.matrix, part), getattr(few.matrix, part))


@pytest.mark.parametrize("n", listed([1000, 4000], unmarked=1))
def test_backward_error_and_superlu(n):
    system = kkt.build(of_arrays(kkt.chain(n)), *states(kkt.chain(n)))
    large = kkt.solve_large(system)
    assert large.backward_error.normwise <= 1e-15
    x = spla.splu(system.matrix).solve(system.rhs)
    assert np.abs(x - large.unknowns).max() <= 1e-11 * np.abs(x).max()
    relaxed = kkt.solve_large(system, relaxed=True)
    assert not np.array_equal(relaxed.qdd, large.qdd) and relaxed.backward_error.normwise <= 1e-15
    assert np.array_equal(kkt.solve_large(system).qdd, large.qdd)  # whose code is kept beside the relaxed one
    off = large.pdd.copy()
    off[1, 1] += 1e-9
    assert replace(large, pdd=off).backward_error.normwise > 1e-13


@pytest.mark.parametrize(
    ("tree", "name"), covering(TREES, ["abm", "crbm", "bad_abm", "virtual_work", "minimum_degree"])
)
def test_an_order_as_arrays_has_the_same_plan_and_leaf_to_root_is_abm(tree, name):
    structure = kkt.build(TREES[tree]()).structure
    plan, abm = (kkt.plan(orderings.get(order), structure) for order in (name, "abm"))
    blocks = [
        (KINDS.index(kind), structure.index[body], step)
        for step, group in enumerate(plan.sequence.groups)
        for kind, body in group
    ]
    other = kkt.plan_from_arrays(structure, *np.array(blocks).T, name=name)
    for part in ("blocks", "group", "paired"):
        np.testing.assert_array_equal(getattr(plan, part), getattr(other, part))
        np.testing.assert_array_equal(getattr(abm, part), getattr(kkt.leaf_to_root(structure), part))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parent": [1, 0]}, "tree: body 0 hangs on a cycle"),
        ({"parent": [-1, 2]}, "holds 2 at 1"),
        ({"parent": [[-1], [0]]}, "one integer for each body"),
        ({"mass": [1.0, -1.0]}, "mass"),
        ({"mass": [[1], [1, 2]]}, r"tree: field 'mass' is \[\[1\], \[1, 2\]\]; give 2 numbers"),
        ({"com": np.zeros((3, 3))}, "com"),
        ({"joint": "hinge"}, "tree: field 'joint' holds 'hinge'; give 2 of"),
        ({"joint": 3}, "tree: field 'joint' is 3; give 2, one for each body"),
        ({"axis": (0.0, 0.0, 0.0)}, "body 0: field 'axis' is zero; give a direction"),
        ({"names": ("a", "a")}, "different names"),
        ({"names": ["a", []]}, "tree: field 'names' holds what names nothing"),
    ],
)
def test_wrong_arrays_are_one_sentence(change, said):
    right = {"parent": [-1, 0], "mass": 1.0, "inertia": np.eye(3)}
    with one_sentence(kkt.PivotreeError, said):
        kkt.tree_from_arrays(**{**right, **change})


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (([0, 2, 1], [0, 0, 0], [0, 0, 0]), "leaves out"),
        (([0, 2, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]), "twice"),
        (([9], [0], [0]), "block 0 is kind 9 of body 0; kinds run from 0 to"),
        (([0], [7], [0]), "body 7"),
        (([0, 2], [0, 0], [1, 0]), "groups must ascend; sort the blocks by group"),
        (([0, 2], [0], [1]), "kind, body and group must be integers, equally many"),
    ],
)
def test_wrong_orders_are_one_sentence(blocks, said):
    structure = kkt.build(kkt.chain(2)).structure
    with pytest.raises(kkt.OrderError, match=said):
        kkt.plan_from_arrays(structure, *blocks)


def test_a_pivot_that_is_zero_is_named_and_inertia_of_the_joint_s_own_mends_it():
    tree = kkt.chain(3)
    tree.nodes["j3"].update(mass=0.0, inertia=np.zeros((3, 3)), com=np.zeros(3))
    system = kkt.build(tree)
    with pytest.raises(kkt.SingularError, match="qdd_j3 is singular in any state"):
        kkt.solve_large(system)
    for name, pivot in (
        ("abm", "order 'abm': pivot qdd_j3"),
        ("virtual_work", "'virtual_work' pivots on M_k"),
    ):
        with pytest.raises(kkt.SingularError, match=pivot):
            kkt.solve_large(system, orderings.get(name))
    tree.nodes["j3"]["armature"] = 0.5
    same_as_the_tape(kkt.build(tree))
    with pytest.raises(kkt.SingularError, match="pivot qdd_tip is zero"):  # and not what comes after it
        kkt.solve_large(kkt.build(light_tip()))


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
    with pytest.raises(kkt.SingularError, match="the joints of 'link', 'tip' can move"):
        kkt.eliminate(system, ABM)
    with pytest.raises(kkt.SingularError, match=r"qdd_link .* \(rank 0 of 1\)"):
        kkt.solve_large(system)
    tree.nodes["tip"]["joint"], tree.nodes["tip"]["axis"] = "revolute", (1.0, 0.0, 0.0)
    system = kkt.build(tree, *draw.normal(size=(3, 3)))  # five of the six are left
    same_as_the_tape(system)


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
    q, qd, tau = draw.normal(size=(3, tree.N))
    system = kkt.build(tree, q, qd, tau)
    same_as_the_tape(system)
    patterns = np.concatenate([system.pattern.M, system.pattern.Phi], axis=1).reshape(n, -1)
    assert len(np.unique(patterns, axis=0)) > 16 >= len(system.plans["abm"].kinds)


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
    "branched": lambda: kkt.random_tree(8, seed=1),
    "spherical": lambda: kkt.star(5, "spherical"),
}


def mixed(name, every=2):
    """A tree of which every second joint is as it was."""
    tree = with_terms(GEARED[name](), 3)
    for body in list(tree)[::every]:
        for term in ("armature", "damping", "stiffness"):
            tree.nodes[body].pop(term, None)
    return tree


@pytest.mark.parametrize(("name", "tree", "implicit"), covering(ORDERS, GEARED, [None, 0.02]))
def test_no_bit_differs_from_the_tape_with_terms_of_joints(name, tree, implicit):
    tree = mixed(tree)
    same_as_the_tape(kkt.build(tree, *drawn_state(tree), implicit=implicit), orderings.get(name))


def test_an_order_that_starts_with_joints_has_the_bits_of_the_tape():
    """Each qdd, then its pair (pdd f), which takes inertia of every joint's own."""
    system = kkt.build(with_terms(kkt.binary(4), 1))
    pairs = [(k, kinds) for k in system.structure.tip_to_base for kinds in (("qdd",), ("pdd", "f"))]
    groups = [[(kind, k) for kind in kinds] for k, kinds in pairs]
    same_as_the_tape(system, kkt.PivotSequence(groups, "joints first"))


@pytest.mark.parametrize(
    ("name", "implicit", "relaxed"), covering(GEARED, [None, 0.02], [False, True], unmarked=2)
)
def test_a_refreshed_system_keeps_the_walk_of_the_first_and_all_terms_of_joints(name, implicit, relaxed):
    tree = mixed(name)
    rest, state = kkt.build(tree, implicit=implicit), drawn_state(tree, seed=2)
    still, own = kkt.solve_large(rest, relaxed=relaxed).qdd, dict(rest.plans)
    moving, system = rest.refresh(*state), kkt.build(tree, *state, implicit=implicit)
    found, same = (kkt.solve_large(each, relaxed=relaxed) for each in (moving, system))
    assert own["abm"] is moving.plans["abm"] and not np.array_equal(still, found.qdd)
    np.testing.assert_array_equal(found.unknowns, same.unknowns)
    assert relaxed or np.array_equal(found.qdd, kkt.eliminate(system, ABM, records=False).qdd)
    assert np.abs(kkt.solve_large(kkt.build(bare(tree), *state)).qdd - found.qdd).max() > 1e-3


@pytest.mark.parametrize(("n", "armature"), listed([(1_000, 1e-6), (10_000, 1e6), (1_000, 1.0)], 1))
def test_backward_error_does_not_grow_with_the_tree(n, armature):
    tree = kkt.chain(n)
    nx.set_node_attributes(tree, armature, "armature")
    assert kkt.solve_large(kkt.build(tree)).backward_error.normwise <= SOLVED * UNIT
