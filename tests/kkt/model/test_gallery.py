"""The gallery: the trees are what their papers and docstrings say; and products of their stacks."""

import json

import numpy as np
import pytest
from helpers import MODELS, one_sentence
from scipy.sparse.linalg import spsolve

from pivotree import kkt, orderings
from pivotree.kkt.model.spatial import matvec
from pivotree.papers.pasic1999.arm import PAPER


def accelerations(tree):
    """qdd by body, from a sparse solve of equation (4)."""
    system = kkt.build(tree)
    x = spsolve(system.matrix.tocsc(), system.rhs)
    return {body: x[system.blocks["qdd", body]] for body in tree.nodes}


@pytest.mark.parametrize("n", [10, 100])
def test_chain_is_the_reference_chain(n):
    reference = json.loads(MODELS[f"chain_{n}"].read_text())
    tree = kkt.compile_tree(kkt.chain(n))
    assert list(tree.names) == [body["name"] for body in reference["bodies"]]
    for k, body in enumerate(reference["bodies"]):
        assert tree.mass[k] == body["mass"]
        assert (tree.com[k] == body["com"]).all() and (tree.p[k] == body["p"]).all()
        np.testing.assert_allclose(tree.inertia[k], body["inertia_com"], rtol=1e-15)


def test_shapes_of_the_families():
    counts = {kkt.star(5): (6, 2), kkt.binary(3): (15, 4), kkt.comb(4): (8, 5), kkt.chain(7): (7, 7)}
    for tree, (bodies, height) in counts.items():
        compiled = kkt.compile_tree(tree)
        assert (compiled.n, len(compiled.levels)) == (bodies, height), tree
    assert sorted(degree for _, degree in kkt.comb(4).out_degree) == [0, 0, 0, 0, 1, 2, 2, 2]
    assert all(degree in (0, 2) for _, degree in kkt.binary(3).out_degree)


def test_long_stacks_have_the_bits_of_short_ones():
    draw = np.random.default_rng(1)
    a, x = draw.normal(size=(2500, 6, 6)), draw.normal(size=(2500, 6))
    short = np.concatenate([matvec(a[i : i + 100], x[i : i + 100]) for i in range(0, 2500, 100)])
    np.testing.assert_array_equal(matvec(a, x), short)


def test_random_trees_differ_by_seed_and_keep_the_mass_ratio():
    one, two = (kkt.compile_tree(kkt.random_tree(60, seed, 1e4)) for seed in (1, 2))
    assert one.joint != two.joint and not (one.parent == two.parent).all()
    assert one.mass.min() >= 1.0 and one.mass.max() <= 1e4 and one.mass.max() > 1e3
    assert len(set(one.joint)) == 7
    assert set(kkt.compile_tree(kkt.random_tree(9, joints="revolute+fixed")).joint) <= {"revolute", "fixed"}


def test_random_tree_is_the_same_on_every_machine():
    tree = kkt.compile_tree(kkt.random_tree(8, 7, 100.0))
    assert list(tree.parent) == [-1, 0, 1, 0, 0, 1, 5, 5]
    assert tree.joint[:4] == ("cylindrical", "revolute", "cylindrical", "planar")
    assert tree.mass[-1] == pytest.approx(4.951982395810682, rel=1e-14)
    drawn = kkt.compile_tree(kkt.random_tree(50, 1))
    assert (drawn.n, int(drawn.dof.sum()), len(drawn.levels)) == (50, 100, 15)


def test_robots_have_the_sizes_of_their_kind():
    man, dog = kkt.compile_tree(kkt.humanoid()), kkt.compile_tree(kkt.quadruped())
    assert (man.n, int(man.dof.sum())) == (45, 50) and 70 < man.mass.sum() < 85
    assert (dog.n, int(dog.dof.sum())) == (13, 18) and dog.mass.sum() == pytest.approx(33)
    left = [k for k, name in enumerate(man.names) if str(name).startswith("left")]
    right = [man.names.index(str(man.names[k]).replace("left", "right")) for k in left]
    assert (man.p[left] * [1, -1, 1] == man.p[right]).all()
    assert (man.com[left] * [1, -1, 1] == man.com[right]).all()


@pytest.mark.parametrize("r", [0.1, 0.0015])
def test_two_link_is_the_family_of_table_1(r):
    tree = kkt.two_link(r)
    compiled = kkt.compile_tree(tree)
    assert list(tree.edges) == [(2, 1)]  # 2 is the base link, 1 the tip
    assert compiled.mass.sum() == pytest.approx(1) and compiled.mass[0] == r
    assert compiled.com[1][0] * 2 == compiled.mass[1]  # l1 = m1


@pytest.mark.parametrize("case", [1, 2])
def test_example3_is_table_2(case):
    system = kkt.build(kkt.example3(1e4, case))
    tree = kkt.compile_tree(kkt.example3(1e4, case))
    s = float(np.float32(np.sqrt(0.5)))
    H = np.array([0, 0, 0, 0, 0, 1.0] if case == 1 else [0, 0, 0, 0, s, s])
    assert all((tree.S[k][:, 0] == H).all() for k in (0, 1))
    for body, m in ((1, 1e4), (2, 1.0)):
        at = system.blocks["pdd", body]
        assert (system.matrix.toarray()[at, at] == m * np.eye(6)).all()
    # in case 2 s^2 + s^2 is not quite 1, so that tau counts for slightly more
    scale = float(H @ H)
    qdd = accelerations(kkt.example3(1e4, case))
    assert qdd[1][0] == pytest.approx((971.19 + 981 / 1e4) / scale, rel=1e-12)


def test_example2_is_the_first_case_and_the_second_is_an_angle():
    one, two = kkt.compile_tree(kkt.example2(1e6)), kkt.compile_tree(kkt.example3(1e6, 1))
    assert (one.mass == two.mass).all() and (one.S[0] == two.S[0]).all()
    for case, angle in ((1, 0.0), (2, 45.0)):
        a, b = (kkt.build(kkt.example3(1e8, *x)).entries.S for x in ((case,), (case, angle)))
        assert (a == b).all()


def test_rr_arm_is_the_arm_of_the_paper():
    """Of Pasic 1999, whose equation (20) papers/pasic1999 holds against its accelerations."""
    ours, theirs = kkt.compile_tree(kkt.rr_arm()), kkt.compile_tree(PAPER.tree)
    for field in ("mass", "com", "inertia", "p"):
        assert (getattr(ours, field) == getattr(theirs, field)).all()


@pytest.mark.product
@pytest.mark.parametrize(
    "spec, words",
    [
        ("chian:3", "did you mean chain"),
        ("nothing_like_it", "use one of binary, chain"),
        ("chain:x", "'n' is 'x'; give a whole number"),
        ("chain:1e3", "give a whole number"),
        ("chain:0", "ask for 1 to"),
        ("chain:3,lenght=2", "did you mean length"),
        ("chain:3,axes=q", "use letters of xyz"),
        ("chain:3,joint=revolut", "did you mean revolute"),
        ("chain:3,mass=-1", "more than zero"),
        ("two_link:r=1", "between 0 and 1"),
        ("example2:m1=0", "example2 has m1 = 0.0"),
        ("example3:case=3", "1 and 2"),
        ("rr_arm:3", "takes none"),
        ("binary:99", "0 to 24"),
        ("random_tree:3,joints=fixed", "no degree of freedom"),
    ],
)
def test_bad_specs_are_told_in_one_sentence(spec, words):
    with one_sentence(kkt.ModelError, words):
        kkt.load(spec)


def test_efforts_of_a_default_state_turn_no_light_joint_fast():
    """At most what gives a joint 3 rad/s^2 or m/s^2, beside the joint-space inertia at q = 0."""
    tree = kkt.random_tree(8, seed=4, joints="revolute+prismatic+spherical+planar+universal+floating")
    N = len(tree.graph["tau"])
    plain = kkt.default_state(tree.copy(), effort=2.0).graph["tau"]
    capped = kkt.default_state(tree, effort=2.0, most=3.0).graph
    crbm = orderings.get("crbm")
    inertia = np.diag(kkt.joint_space_inertia(kkt.build(tree, q=np.zeros(N)), crbm))
    right = np.clip(plain, -3.0 * inertia, 3.0 * inertia)
    assert np.allclose(capped["tau"], right, rtol=1e-12) and (right != plain).any() and (right == plain).any()
    assert capped["state_formulas"]["tau"] == "2 sin(0.9 k) up to what gives its joint 3 rad/s² or m/s²"
