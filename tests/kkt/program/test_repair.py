"""Rules that repair: the same pivots, D_k or Mbar_k formed so that less of them is lost.

Exact answers come from closed forms in fractions, from certified balls, and from the claim that
in exact arithmetic every such rule is the articulated body method, pivot by pivot.
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from helpers import ALL_JOINTS, every_joint
from scipy.sparse.linalg import spsolve

from pivotree import kkt, orderings

SAME_PIVOTS = ("modified_abm", "modified_abm_stretched", "projected_abm", "joseph_abm", "gain_abm")
TREES = {
    "every joint": every_joint,
    "mixture": lambda: kkt.from_spec(f"random_tree:n=8,seed=3,mass_ratio=10,joints={ALL_JOINTS}"),
    "welded": lambda: kkt.from_spec("random_tree:n=9,seed=5,joints=fixed+fixed+revolute"),
    "star": lambda: kkt.star(4, joint="universal"),
    "free": lambda: kkt.from_spec("random_tree:n=4,seed=9,joints=floating"),
}


@cache
def exactly(name, order):
    return kkt.eliminate(kkt.build(TREES[name]()), orderings.get(order), "exact")


@pytest.mark.slow
@pytest.mark.parametrize("order", SAME_PIVOTS)
@pytest.mark.parametrize("name", TREES)
def test_in_fractions_every_rule_is_abm_pivot_by_pivot(name, order):
    ours, abm = exactly(name, order), exactly(name, "abm")
    for x in ("qdd", "pdd", "f"):
        assert (getattr(ours, x) == getattr(abm, x)).all()
    assert [s.pivots for s in ours.steps] == [s.pivots for s in abm.steps]


# -- Example 3 ----------------------------------------------------------------------------------


def directions(count, seed=1996):
    """Unit vectors in all directions, as float32 holds them."""
    x = np.random.default_rng(seed).normal(size=(count, 3))
    x /= np.linalg.norm(x, axis=1)[:, None]
    return x.astype(np.float32).astype(float)


def blocks_of(bodies):
    """Bodies (name, parent, mass, columns of S) with M = mass times 1, at rest, no gravity."""
    tree = kkt.new_tree("blocks", (0.0, 0.0, 0.0))
    for name, parent, mass, S in bodies:
        joint = "general" if len(S) else "fixed"
        extra = {"S": np.transpose(S)} if len(S) else {}
        kkt.add_body(tree, name, parent, mass=mass, inertia=mass * np.eye(3), joint=joint, **extra)
    return tree


def slide(h):
    return np.r_[0.0, 0.0, 0.0, h]


def run(tree, order, format="float32"):
    return kkt.eliminate(kkt.build(tree), orderings.get(order), format)


def pivots_of(result, body):
    (step,) = (s for s in result.steps if ("qdd", body) in s.blocks)
    return list(step.pivots)


def five_digits(h, order):
    """Example 3 with H = (0, h) twice, m1 = 1e8: is qdd_1 right to five digits?"""
    tree = blocks_of([(2, None, 1.0, [slide(h)]), (1, 2, 1e8, [slide(h)])])
    tree.graph.update(q=np.zeros(2), qd=np.zeros(2), tau=np.array([9.81, 981.0]))
    ours = run(tree, order).qdd[1]
    h2 = sum(Fraction(float(x)) ** 2 for x in h)
    tau1, tau2 = Fraction(981), Fraction(float(np.float32(9.81)))
    exact = tau1 / (Fraction(10) ** 8 * h2) - (tau2 - tau1) / h2
    return bool(np.isfinite(ours)) and abs(Fraction(float(ours)) / exact - 1) < Fraction(1, 10**5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "order,least,most", [("abm", 0, 2), ("modified_abm", 0, 10), ("projected_abm", 200, 200)]
)
def test_example_3_over_all_directions(order, least, most):
    """Eq (11) as it is printed is luck at 45 degrees; with E of eq (10) no direction fails."""
    kept = sum(five_digits(h, order) for h in directions(200))
    assert least <= kept <= most


@pytest.mark.slow
def test_several_children_are_projected_one_by_one():
    """A heavy child along the joint and a light one across it: their sum has no null space."""
    for h, g in zip(directions(20), directions(20, seed=7), strict=True):
        tree = blocks_of(
            [
                ("base", None, 1.0, [slide(h)]),
                ("heavy", "base", 1e8, [slide(h)]),
                ("light", "base", 2.0, [slide(g)]),
                ("weld", "base", 0.5, []),
            ]
        )
        (exact,) = pivots_of(run(tree, "abm", "exact"), "base")
        (ours,) = pivots_of(run(tree, "projected_abm"), "base")
        assert abs(Fraction(float(ours)) / exact - 1) < Fraction(1, 10**6)
        (rough,) = pivots_of(run(tree, "modified_abm"), "base")
        assert abs(Fraction(float(rough)) / exact - 1) > Fraction(1, 10**3)


@pytest.mark.thorough
def test_several_degrees_of_freedom_are_projected_together():
    """Two axes over two axes of the same heavy plane; the basis of the plane is another one."""
    for h, g in zip(directions(20), directions(20, seed=7), strict=True):
        plane = [slide(h), slide(g)]
        other = [slide(h + 0.5 * g), slide(g - 0.25 * h)]
        tree = blocks_of([("base", None, 1.0, other), ("heavy", "base", 1e6, plane)])
        exact = pivots_of(run(tree, "abm", "exact"), "base")
        ours = pivots_of(run(tree, "projected_abm"), "base")
        assert len(ours) == 2
        # what rounding the second pivot of L D L* can make of it: its cancellation, times u
        slack = Fraction(2, 10**6) * exact[0] / exact[1]
        for x, y in zip(ours, exact, strict=True):
            assert abs(Fraction(float(x)) / y - 1) < slack


def test_a_fixed_child_is_not_projected():
    """No joint, no null space: E = H, to the last bit and operation."""
    tree = kkt.from_spec("chain:3")
    for body, above in (("j4", "j3"), ("j5", "j3")):
        kkt.add_body(tree, body, above, mass=3.0, com=(0.1, 0.2, 0.3), inertia=np.eye(3), joint="fixed")
    for body in ("j2", "j3"):
        tree.nodes[body]["joint"] = "fixed"
    tree.graph.update(q=np.array([0.3]), qd=np.array([0.2]), tau=np.array([1.0]))
    ours, eq11 = (run(tree, order) for order in ("projected_abm", "modified_abm"))
    assert (ours.qdd == eq11.qdd).all() and ours.flops == eq11.flops


# -- Example 1 ----------------------------------------------------------------------------------

ANGLES = np.linspace(0.0, 2 * np.pi, 24, endpoint=False)


@cache
def sweep(tilt):
    """Example 1 over the circle with certified base accelerations for float32's data."""
    systems = [kkt.build(kkt.example1(q1=float(q1), tilt=tilt)) for q1 in ANGLES]
    return systems, [float(kkt.certify(s, 20, rounded_to="float32").qdd[0]) for s in systems]


def rms(systems, exact, order):
    """rms relative error of the base joint's acceleration."""
    ours = [kkt.eliminate(s, orderings.get(order), "float32", records=False) for s in systems]
    off = [float(r.qdd[0]) / x - 1.0 for r, x in zip(ours, exact, strict=True)]
    return math.sqrt(sum(x * x for x in off) / len(off))


@pytest.mark.thorough
@pytest.mark.parametrize("degrees", [20, 45, 70])
def test_example_1_in_rotated_coordinates(degrees):
    """ABM and eq (11) lose three digits or more; with E five digits and more are kept."""
    tilted = sweep(math.radians(degrees))
    assert rms(*tilted, "abm") >= 5e-5
    assert rms(*tilted, "modified_abm") >= 5e-5
    assert rms(*tilted, "projected_abm") <= 1e-5


@pytest.mark.thorough
def test_example_1_untilted_loses_nothing_by_projection():
    assert rms(*sweep(0.0), "projected_abm") <= 2e-7


# -- eq (11) in two forms -----------------------------------------------------------------------

FORMS = {
    "chain": "chain:9",
    "several children": "binary:3",
    "all joints": f"random_tree:n=14,seed=1,mass_ratio=10,joints={ALL_JOINTS}",
    "several freedoms": "random_tree:n=9,seed=4,joints=universal+spherical+planar",
    "welded": "random_tree:n=12,seed=5,joints=fixed+fixed+revolute",
}


def both(spec, format):
    """The steps of eq (11) as a rule of accumulation and as pivots of the stretched matrix."""
    system = kkt.build(kkt.from_spec(spec))
    forms = ("modified_abm", "modified_abm_stretched")
    rule, matrix = (kkt.eliminate(system, orderings.get(order), format) for order in forms)
    assert [s.blocks[0] for s in rule.steps] == [s.blocks[0] for s in matrix.steps]
    return system, rule, matrix


@pytest.mark.slow
@pytest.mark.parametrize("spec", FORMS.values(), ids=FORMS)
def test_the_stretched_matrix_has_the_same_pivots(spec):
    """D_k = H M H* + H M~ H*: the same fractions; in float64 the same up to rounding."""
    _, rule, matrix = both(spec, "exact")
    assert [s.pivots for s in rule.steps] == [s.pivots for s in matrix.steps]
    _, rule, matrix = both(spec, "float64")
    for x, y in zip(rule.steps, matrix.steps, strict=True):
        np.testing.assert_allclose(x.pivots, y.pivots, rtol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("spec", ["chain:9", "binary:3", "star:6"])
def test_the_stretched_pivots_are_equal_to_the_bit_where_the_sums_agree(spec):
    """One freedom a joint: the first two levels see the same operations, above they part."""
    system, rule, matrix = both(spec, "float32")
    of = system.structure
    height = dict.fromkeys(of.names, 0)
    for b in of.tip_to_base:
        height[b] = max((1 + height[c] for c in of.children(b)), default=0)
    for x, y in zip(rule.steps, matrix.steps, strict=True):
        if height[x.blocks[0].body] <= 1:
            assert x.pivots == y.pivots


@pytest.mark.thorough
@pytest.mark.parametrize("spec", FORMS.values(), ids=FORMS)
def test_the_stretched_matrix_solves_equation_4(spec):
    """Against scipy on (4) itself: pdd of the massive part, f of both parts together."""
    system, _, matrix = both(spec, "float64")
    x = spsolve(system.matrix, system.rhs)
    for kind in ("pdd", "f"):
        exact = np.array([x[system.blocks[kind, b]] for b in system.tree.names])
        assert np.abs(getattr(matrix, kind) - exact).max() <= 1e-9 * np.abs(exact).max()
    exact = np.concatenate([x[system.blocks["qdd", b]] for b in system.tree.names])
    assert np.abs(matrix.qdd - exact).max() <= 1e-9 * np.abs(exact).max()


@pytest.mark.parametrize("m1", [1e8, 1e9])
def test_the_stretched_form_mends_case_2_of_example_3_as_eq_11_does(m1):
    tree = kkt.example3(m1, 2)
    rule, matrix = (run(tree, order) for order in ("modified_abm", "modified_abm_stretched"))
    assert pivots_of(rule, 2) == pivots_of(matrix, 2)
    assert matrix.failed_at is None and f"{float(matrix.qdd[1]):.2f}" == "971.19"


@pytest.mark.thorough
def test_stretching_costs_most_of_a_second_elimination():
    """The rule adds next to nothing, the larger matrix 70 to 100 per cent, with the same fill."""
    system = kkt.build(kkt.chain(100))
    abm, rule, matrix, apart = (
        kkt.eliminate(system, orderings.get(order), records=False)
        for order in ("abm", "modified_abm", "modified_abm_stretched", "projected_abm")
    )
    assert abm.flops < rule.flops <= 1.05 * abm.flops
    assert rule.flops < apart.flops <= 1.25 * abm.flops
    assert 1.7 * abm.flops <= matrix.flops <= 2.0 * abm.flops
    assert matrix.fill == abm.fill == 99


@pytest.mark.thorough
def test_structure_of_stretched_links():
    of = kkt.build(kkt.chain(3)).structure.stretched()
    assert of.names == ("j1", "j2", "j3", ("j1", "carrier"), ("j2", "carrier"))
    assert of.parent.tolist() == [-1, 3, 4, -1, 3] and of.dof.tolist() == [1, 1, 1, 0, 0]
    assert of.carriers == {0: 3, 1: 4}


@pytest.mark.parametrize(
    "groups,message",
    [
        ([[("pdd", ("j1", "carrier"))]], r"pivot pdd_\('j1', 'carrier'\) at step 1 is structurally"),
        ([[("fC", "j1")]], "stretched links have no fJ and fC; use f"),
    ],
)
def test_pivots_that_a_stretched_matrix_lacks(groups, message):
    of = kkt.build(kkt.chain(2)).structure
    rest = [[(kind, b)] for b in of.stretched().names for kind in ("pdd", "f")] + [
        [("qdd", b)] for b in of.names
    ]
    rest = [g for g in rest if g not in groups]
    with pytest.raises(kkt.OrderError, match=message):
        kkt.symbolic(kkt.plan(kkt.PivotSequence([*groups, *rest], links="stretched"), of))


def test_links_take_known_values_only():
    with pytest.raises(kkt.OrderError, match="links are 'double'; use whole, split, str"):
        kkt.plan(kkt.PivotSequence([], links="double"), kkt.build(kkt.chain(2)).structure)


@pytest.mark.thorough
def test_names_of_stretched_blocks():
    """Carriers are primed; what they hold is the paper's M~, and their zero is told apart."""
    from pivotree.analysis.figures.labels import Labels
    from pivotree.analysis.figures.state import block_state

    of = kkt.build(kkt.chain(2)).structure
    factor = kkt.symbolic(kkt.plan(orderings.get("modified_abm_stretched"), of))
    state = block_state(factor, 1)
    labels = Labels(state)
    names = [labels.unknown(t) for t in range(state.blocks)]
    assert names[3:] == [r"\ddot{p}_{2}", "f_{2}", r"\ddot{p}'_{2}", "f'_{2}", r"\ddot{q}_{2}"]
    assert labels.cell(5, 5) == r"\tilde{M}_{2}" and labels.cell(3, 3) == "M_{2}"
    assert labels.cell(1, 5) == r"-\Phi_{21}^{*}" and labels.cell(2, 5) == r"-H_{1}M_{1}\Phi_{21}^{*}"
    assert labels.key() == "1 = j2, 2 = j1"
    assert block_state(factor, 0).table()[5, 5] == 0
    whole = Labels(block_state(factor))
    assert whole.cell(7, 7) == "D_{2}"
