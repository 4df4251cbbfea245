"""The gallery: the trees are what their papers and docstrings say."""

import json
import re
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from helpers import ROOT
from scipy.sparse.linalg import spsolve

from pivotree import kkt
from pivotree.kkt.base.errors import ModelError
from pivotree.kkt.matrix.system import build
from pivotree.kkt.model.gallery import (
    binary,
    chain,
    comb,
    example1,
    example2,
    example3,
    featherstone,
    random_tree,
    rr_arm,
    star,
    two_link,
)
from pivotree.kkt.model.gallery_robots import humanoid, quadruped
from pivotree.kkt.model.load import load
from pivotree.kkt.model.specs import EXAMPLES, builders, from_spec
from pivotree.kkt.model.tree import compile_tree

MODELS = ROOT / "tests" / "models"
SPECS = [
    "chain:5",
    "chain:4,joint=spherical",
    "chain:3,joint=universal",
    "two_link:r=0.002",
    "example1:q1=1",
    "example2",
    "example3:m1=1e8,case=2",
    "random_tree:n=50,seed=1",
    "binary:4",
    "star:20",
    "comb:6",
    "rr_arm",
    "humanoid",
    "quadruped",
    "featherstone:12,2,0.3,0.9",
    "four_bar",
    "stewart",
    "delta",
    "gripper",
]


def accelerations(tree):
    """qdd by body, from a sparse solve of equation (4)."""
    system = build(tree)
    x = spsolve(system.matrix.tocsc(), system.rhs)
    return {body: x[system.blocks["qdd", body]] for body in tree.nodes}


@pytest.mark.product
@pytest.mark.parametrize("spec", SPECS)
def test_every_tree_builds_with_a_state_and_solves(spec):
    tree = from_spec(spec)
    compiled = compile_tree(tree)
    N = int(compiled.dof.sum())
    assert [len(tree.graph[key]) for key in ("q", "qd", "tau")] == [N, N, N]
    assert (compiled.mass > 0).all() and not compiled.indefinite() and not compiled.singular()
    again = compile_tree(from_spec(spec))
    assert (again.inertia == compiled.inertia).all() and again.joint == compiled.joint
    assert all(np.isfinite(qdd).all() for qdd in accelerations(tree).values())


def test_every_builder_is_covered_above():
    assert set(builders()) == set(EXAMPLES) == {spec.partition(":")[0] for spec in SPECS}


@pytest.mark.parametrize("n", [10, 100])
def test_chain_is_the_reference_chain(n):
    reference = json.loads((MODELS / f"chain_{n}.json").read_text())
    tree = compile_tree(chain(n))
    assert list(tree.names) == [body["name"] for body in reference["bodies"]]
    for k, body in enumerate(reference["bodies"]):
        assert tree.mass[k] == body["mass"]
        assert (tree.com[k] == body["com"]).all() and (tree.p[k] == body["p"]).all()
        np.testing.assert_allclose(tree.inertia[k], body["inertia_com"], rtol=1e-15)
    qdd = np.concatenate(list(accelerations(chain(n)).values()))
    exact = np.array([float(x) for x in reference["expected"]["qdd"]])
    assert np.abs(qdd - exact).max() <= 1e-13 * np.abs(exact).max()


def test_shapes_of_the_families():
    counts = {star(5): (6, 2), binary(3): (15, 4), comb(4): (8, 5), chain(7): (7, 7)}
    for tree, (bodies, height) in counts.items():
        compiled = compile_tree(tree)
        assert (compiled.n, len(compiled.levels)) == (bodies, height), tree
    assert sorted(degree for _, degree in comb(4).out_degree) == [0, 0, 0, 0, 1, 2, 2, 2]
    assert all(degree in (0, 2) for _, degree in binary(3).out_degree)


def test_featherstone_numbers_are_the_rule_of_the_book():
    parents = compile_tree(featherstone(9, 2)).parent + 1
    assert list(parents) == [0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert list(compile_tree(featherstone(6, 1)).parent + 1) == [0, 1, 2, 3, 4, 5]
    assert list(compile_tree(featherstone(7, 1.5)).parent + 1) == [0, 1, 2, 2, 3, 4, 4]
    tapered = compile_tree(featherstone(3, 1, 0.5, 0.5))
    np.testing.assert_allclose(tapered.mass, [1, 1 / 8, 1 / 64])
    np.testing.assert_allclose(tapered.inertia[2], tapered.inertia[0] / 2**10)
    assert tapered.R[1][1, 1] == np.cos(0.5) and (tapered.R[0] == np.eye(3)).all()


def test_random_trees_differ_by_seed_and_keep_the_mass_ratio():
    one, two = (compile_tree(random_tree(60, seed, 1e4)) for seed in (1, 2))
    assert one.joint != two.joint and not (one.parent == two.parent).all()
    assert one.mass.min() >= 1.0 and one.mass.max() <= 1e4 and one.mass.max() > 1e3
    assert len(set(one.joint)) == 7
    assert set(compile_tree(random_tree(9, joints="revolute+fixed")).joint) <= {"revolute", "fixed"}


def test_random_tree_is_the_same_on_every_machine():
    tree = compile_tree(random_tree(8, 7, 100.0))
    assert list(tree.parent) == [-1, 0, 1, 0, 0, 1, 5, 5]
    assert tree.joint[:4] == ("cylindrical", "revolute", "cylindrical", "planar")
    assert tree.mass[-1] == pytest.approx(4.951982395810682, rel=1e-14)
    drawn = compile_tree(random_tree(50, 1))
    assert (drawn.n, int(drawn.dof.sum()), len(drawn.levels)) == (50, 100, 15)


def test_robots_have_the_sizes_of_their_kind():
    man, dog = compile_tree(humanoid()), compile_tree(quadruped())
    assert (man.n, int(man.dof.sum())) == (45, 50) and 70 < man.mass.sum() < 85
    assert (dog.n, int(dog.dof.sum())) == (13, 18) and dog.mass.sum() == pytest.approx(33)
    left = [k for k, name in enumerate(man.names) if str(name).startswith("left")]
    right = [man.names.index(str(man.names[k]).replace("left", "right")) for k in left]
    assert (man.p[left] * [1, -1, 1] == man.p[right]).all()
    assert (man.com[left] * [1, -1, 1] == man.com[right]).all()


def planar_two_link(lengths, masses, width, g):
    """qdd (base, tip) at q = 0, at rest, exactly: the 2 x 2 system in fractions."""
    (l2, l1), (m2, m1), w = (tuple(map(Fraction, lengths)), tuple(map(Fraction, masses)), width)
    I2, I1 = m2 * (l2**2 + w**2) / 12, m1 * (l1**2 + w**2) / 12
    m12 = I1 + m1 * (l1 / 2) ** 2 + m1 * l2 * l1 / 2
    m22 = I1 + m1 * (l1 / 2) ** 2
    m11 = I2 + m2 * (l2 / 2) ** 2 + I1 + m1 * (l2 + l1 / 2) ** 2
    t_base = -g * (m2 * l2 / 2 + m1 * (l2 + l1 / 2))
    t_tip = -g * m1 * l1 / 2
    det = m11 * m22 - m12**2
    return float((m22 * t_base - m12 * t_tip) / det), float((m11 * t_tip - m12 * t_base) / det)


@pytest.mark.parametrize("tilt", [0.0, np.pi / 4, 1.0])
def test_example1_base_acceleration(tilt):
    """The exact value at q1 = 0; equation (4) in double precision meets kappa times u."""
    exact = planar_two_link(
        (Fraction(2, 100), 2), (Fraction(1, 10), 10), Fraction(2, 100), Fraction(981, 100)
    )
    assert exact[0] == pytest.approx(-492.10807809556515, rel=1e-15)
    qdd = accelerations(example1(tilt=tilt))
    assert qdd[2][0] == pytest.approx(exact[0], rel=1e-11)
    assert qdd[1][0] == pytest.approx(exact[1], rel=1e-11)


@pytest.mark.parametrize("r", [0.1, 0.0015])
def test_two_link_is_the_family_of_table_1(r):
    tree = two_link(r)
    compiled = compile_tree(tree)
    assert list(tree.edges) == [(2, 1)]  # 2 is the base link, 1 the tip
    assert compiled.mass.sum() == pytest.approx(1) and compiled.mass[0] == r
    assert compiled.com[1][0] * 2 == compiled.mass[1]  # l1 = m1
    g, h = Fraction(981, 100), Fraction(1, 10)
    size = (Fraction(r), 1 - Fraction(r))
    exact = planar_two_link(size, size, h, g)
    qdd = accelerations(tree)
    assert qdd[2][0] == pytest.approx(exact[0], rel=1e-9)


def test_tilt_moves_the_axis_and_nothing_else():
    straight, tilted = accelerations(example1(0.7)), accelerations(example1(0.7, tilt=0.6))
    axis = compile_tree(example1(0.7, tilt=0.6)).axis[0, 0]
    np.testing.assert_allclose(axis, [0.0, np.sin(0.6), np.cos(0.6)])
    for body in (1, 2):
        np.testing.assert_allclose(tilted[body], straight[body], rtol=1e-10)


@pytest.mark.parametrize("case", [1, 2])
def test_example3_is_table_2(case):
    system = build(example3(1e4, case))
    tree = compile_tree(example3(1e4, case))
    s = float(np.float32(np.sqrt(0.5)))
    H = np.array([0, 0, 0, 0, 0, 1.0] if case == 1 else [0, 0, 0, 0, s, s])
    assert all((tree.S[k][:, 0] == H).all() for k in (0, 1))
    for body, m in ((1, 1e4), (2, 1.0)):
        at = system.blocks["pdd", body]
        assert (system.matrix.toarray()[at, at] == m * np.eye(6)).all()
    # in case 2 s^2 + s^2 is not quite 1, so that tau counts for slightly more
    scale = float(H @ H)
    qdd = accelerations(example3(1e4, case))
    assert qdd[1][0] == pytest.approx((971.19 + 981 / 1e4) / scale, rel=1e-12)


def test_example2_is_the_first_case():
    assert example2(1e6).graph["name"] == "example2"
    one, two = compile_tree(example2(1e6)), compile_tree(example3(1e6, 1))
    assert (one.mass == two.mass).all() and (one.S[0] == two.S[0]).all()


def test_rr_arm_has_the_closed_form_of_the_paper():
    """Equation (20) of Pasic 1999, with l_c2 for the misprinted l_c3."""
    tree = rr_arm()
    q, qd, tau = np.array([0.3, -0.8]), np.array([0.7, 1.1]), np.array([0.4, 0.1])
    tree.graph.update(q=q, qd=qd, tau=tau)
    l1, lc1, lc2, I1, I2, m1, m2, g = 0.4, 0.2, 0.1, 0.2, 0.04, 12.0, 6.0, 9.81
    c1, c12, c2, s2 = np.cos(q[0]), np.cos(q.sum()), np.cos(q[1]), np.sin(q[1])
    m12 = I2 + m2 * lc2**2 + m2 * l1 * lc2 * c2
    M = np.array(
        [[I1 + I2 + m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2), m12], [m12, I2 + m2 * lc2**2]]
    )
    b = m2 * l1 * lc2 * s2
    f = tau + np.array(
        [
            2 * b * qd[0] * qd[1]
            + b * qd[1] ** 2
            - m2 * g * lc2 * c12
            - m1 * g * lc1 * c1
            - m2 * g * l1 * c1,
            -b * qd[0] ** 2 - m2 * g * lc2 * c12,
        ]
    )
    qdd = np.concatenate(list(accelerations(tree).values()))
    np.testing.assert_allclose(qdd, np.linalg.solve(M, f), rtol=1e-12)


@pytest.mark.parametrize(
    "spec, words",
    [
        ("chian:3", "did you mean chain"),
        ("nothing_like_it", "use one of binary, chain"),
        ("chain", "needs 'n'"),
        ("chain:x", "'n' is 'x'; give a whole number"),
        ("chain:1e3", "give a whole number"),
        ("chain:0", "ask for 1 to"),
        ("chain:-4", "ask for 1 to"),
        ("chain:3,lenght=2", "did you mean length"),
        ("chain:3,n=3", "'n' twice"),
        ("chain:3,axes=q", "use letters of xyz"),
        ("chain:3,joint=revolut", "did you mean revolute"),
        ("chain:3,mass=-1", "more than zero"),
        ("two_link:r=nan", "finite"),
        ("two_link:r=1", "between 0 and 1"),
        ("two_link:r=", "give a number"),
        ("example3:case=3", "1 and 2"),
        ("rr_arm:3", "takes none"),
        ("star:0", "ask for 1 to"),
        ("binary:99", "0 to 24"),
        ("random_tree:3,joints=fixed", "no degree of freedom"),
        ("featherstone:3,taper=0", "taper"),
    ],
)
def test_bad_specs_are_told_in_one_sentence(spec, words):
    with pytest.raises(ModelError, match=words) as caught:
        load(spec)
    assert "\n" not in str(caught.value)


def _unknown():
    tree = nx.DiGraph()
    tree.add_node("a", joint="wheel")
    return tree


@pytest.mark.parametrize(
    "wrong, says",
    [
        (lambda: kkt.example2(m1=0.0), "example2 has m1 = 0.0"),
        (lambda: kkt.random_turns(-1), "n is -1"),
        (lambda: kkt.new_tree("a", gravity=(0.0, 1.0)), "field 'gravity' has shape"),
        (lambda: kkt.default_state(_unknown()), "body 'a': field 'joint' is 'wheel'"),
    ],
)
def test_what_no_tree_can_have_is_named(wrong, says):
    with pytest.raises(kkt.ModelError, match=re.escape(says)):
        wrong()
