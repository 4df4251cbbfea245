"""Johnson & Su's slides on Featherstone's algorithm: formulas, robots of peers, held-out cases."""

import re

import numpy as np
import pytest
from helpers import MODELS, Mechanics, by_body, every_joint
from paper_rows import missed, rows_of
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.analysis import listing
from pivotree.analysis.counts import COUNTS, crossings
from pivotree.papers.featherstone1983 import growth, lines, slides
from pivotree.papers.featherstone1983.efficiency import lagrangian
from pivotree.papers.featherstone1983.lines import in_one_frame, key, put, read
from pivotree.papers.featherstone1983.slides import aba, rnea
from pivotree.papers.item import printed

DATA = printed("featherstone1983")


# -- formulas -------------------------------------------------------------------------------------


SWAPS = (
    ("s_iᵀ", "s_i"),
    ("I^A_{i+1} s_{i+1}", "s_{i+1} I^A_{i+1}"),
    ("I_2 s_2", "s_2"),
    ("q''_i", "q'_i"),
    ("v_1 × v_2", "v_2 × v_1"),
    ("i+1", "i-1"),
)


def wrong(formula):
    """The formula with one thing wrong, several ways."""
    if " + " in formula:
        yield formula.replace(" + ", " - ", 1)
    if " - " in formula:
        yield formula.replace(" - ", " + ", 1)
    first, _, rest = formula.partition(" ")
    if not first.startswith("("):
        yield f"{first} {first} {rest}"
    yield formula + " + s_i"
    for old, new in SWAPS:
        if old in formula:
            yield formula.replace(old, new, 1)


@pytest.mark.parametrize("part", ["rnea", "aba"])
def test_listings_are_the_slides_formulas_and_none_with_one_thing_wrong(part):
    model, order = {"rnea": ("chain:6", "inverse_dynamics"), "aba": ("star:3", "abm")}[part]
    listed = listing.of(kkt.build(kkt.load(model)), order, "featherstone")
    beside = lines.compared(part, listed)
    assert listed.holds_on == "any tree" and all(one.same for one in beside)
    assert [one.slide for one in beside] == [row["slide"] for row in DATA[part]]
    told = {one.line: one.ours for one in beside}
    tried = 0
    for row in DATA[part]:
        for formula in wrong(row["formula"]):
            assert not lines._beside({**row, "formula": formula}, told, DATA["rules"]).same, formula
            tried += 1
    assert tried >= 3 * len(DATA[part])


def test_formulas_are_read_as_sums_of_words():
    assert key(read("a_i (b_i + c_i)")) == key(read("a_i c_i + a_i b_i"))
    assert key(read("a_i b_i")) != key(read("b_i a_i"))
    assert key(read("a_i / (s_i + t_i) b_i")) == key(read("a_i b_i / (t_i + s_i)"))
    assert read("a_i - a_i") == 0
    assert key(read("(a_i + b_i)⁻¹ c_i")) != key(read("c_i (a_i + b_i)⁻¹"))
    assert key(put(read("I_i v_i × s_i q'_i"), DATA["rules"])) == key(read("I_i c_i"))
    assert in_one_frame("c_k + X_k a_λ(k) + c_c") == "c_i +  a_{i-1} + c_{i+1}"
    for text, said in (
        ("a_i + ?", "cannot read ' ?'"),
        ("(a_i", "is no sum of products"),
        ("a_i)", "is no sum of products"),
        ("a_i /", "is no sum of products"),
    ):
        with pytest.raises(kkt.PivotreeError, match=re.escape(said)):
            read(text)


# -- recursions -----------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize("spec", ["panda", "anymal_c_ff", "random_64"])
def test_robots_with_40_digits_from_their_files(spec):
    """An arm and robots with many limbs, whose accelerations come with the model."""
    one = slides.on(kkt.read_model(MODELS[spec]))
    assert one.given and max(*one.rnea, *one.aba) <= slides.MOST


def test_the_slides_recursions_on_every_joint_against_dense_equation_4():
    tree = every_joint(general=True)
    graph = tree.graph
    system = kkt.build(tree)
    draw = np.random.default_rng(4)
    wrench = draw.normal(size=(system.tree.n, 6))
    pushed = kkt.build(tree, f_ext=wrench)
    rows = [list(system.tree.names).index(b) for b in tree.nodes]
    matrix, rhs = Mechanics(tree, graph["q"], graph["qd"]).equation4(graph["tau"], wrench[rows])
    n, N = len(tree), len(graph["q"])
    qdd = np.linalg.solve(matrix, rhs)[6 * n : 6 * n + N]
    found = aba(pushed)
    assert np.abs(found - qdd).max() <= 1e-6 * np.abs(qdd).max()  # dS/dt is by differences there
    order = orderings.get("inverse_dynamics")
    efforts = kkt.inverse_dynamics(pushed, found, order).tau
    assert np.abs(rnea(pushed, found) - efforts).max() <= 1e-10 * np.abs(efforts).max()
    assert set(by_body(system, found)) == set(tree.nodes)


def test_the_pseudocode_is_right_without_external_forces():
    system = kkt.build(kkt.chain(6))
    qdd = np.linspace(-1.0, 1.0, 6)
    assert np.allclose(rnea(system, qdd), rnea(system, qdd, pseudocode=True), rtol=1e-14)


# -- growth ---------------------------------------------------------------------------------------


def test_lagrangian_form_on_a_chain_with_sliding_joints():
    """Accelerations of the classic form are those of (4)."""
    draw = np.random.default_rng(4)
    tree = kkt.new_tree("arm")
    for k, kind in enumerate(["revolute", "prismatic", "revolute", "revolute", "prismatic"]):
        solid = {"mass": 1.0 + k, "com": draw.normal(size=3), "inertia": np.diag([2.0, 3.0, 4.0])}
        place = {"axis": Rotation.random(random_state=k).as_matrix()[0], "p": draw.normal(size=3)}
        kkt.add_body(tree, k, k - 1 if k else None, joint=kind, **solid, **place)
    q, qd, tau = draw.normal(size=(3, 5))
    system = kkt.build(tree, q=q, qd=qd, tau=tau)
    form = lagrangian(system)
    exact = np.array([float(x.mid()) for x in kkt.certify(system, 20).qdd])
    assert np.allclose(form.accelerations(tau), exact, rtol=1e-10)
    still = lagrangian(kkt.build(tree, q=q, tau=tau))
    assert not np.allclose(still.bias, form.bias)  # rates count


@pytest.mark.product
def test_growth_on_the_literatures_frames():
    rows = rows_of(growth)
    (name,) = missed(rows)  # poses, bias too
    assert name.endswith("multiplications, from joint positions on")
    by = {row.item: row for row in rows}
    assert (by[name].printed, by[name].ours) == (9, 5)
    theirs = crossings(COUNTS[1].polynomials, COUNTS[0].polynomials)
    roots = [theirs[kind].root for kind in ("mul", "add", "both")]
    assert roots == pytest.approx([9.40, 13.84, 11.31], abs=0.005)
    (here,) = (row.ours for row in rows if row.item.endswith("solution of (4) on dh"))
    assert here == 12
    # the factor's n^3 / 6 is the literature's, whatever else is counted
    assert growth.from_positions("dh", "crbm")["mul"][3] == COUNTS[1].mul[3]
