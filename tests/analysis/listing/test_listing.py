"""Orders as algorithms: what a listing says is what the program does, and reads as the literature.

The scripts that ``python()`` gives are run as they stand and held against ``kkt.eliminate`` and
``kkt.inverse_dynamics``; the formulas of ABM, CRBM, inverse dynamics and virtual work are pinned.
That a listing unrolled is its program, ``listing.of`` checks itself of every listing made here.
"""

import json
from functools import cache

import numpy as np
import pytest
from armature import with_terms
from designs import covering
from helpers import every_joint
from latex import compiled, needs_latex
from listed import agrees, arguments, formulas, function_of

from pivotree import kkt, orderings
from pivotree.analysis import listing
from pivotree.analysis.listing.listing import check
from pivotree.analysis.listing.nodes import FoldingError
from pivotree.analysis.symbols import NOTATIONS


def geared():
    """Armature, damping, springs and friction; one joint without any."""
    tree = with_terms(TREES["joints"](), 3)
    tree.nodes["b4"].pop("armature", None)
    return tree


TREES = {
    "chain": lambda: kkt.chain(4),
    "one body": lambda: kkt.chain(1),
    "tree": lambda: kkt.from_spec("random_tree:n=7,seed=3"),
    "humanoid": lambda: kkt.from_spec("humanoid"),
    "forest": every_joint,
    "binary": lambda: kkt.from_spec("binary:3"),
    "joints": lambda: kkt.from_spec(
        "random_tree:n=8,seed=3,joints=revolute+spherical+fixed+floating+prismatic"
    ),
    "geared": geared,
    "star": lambda: kkt.star(5),
}
ORDERS = [*orderings.names(), "inverse_dynamics"]
FEW = ("abm", "crbm", "virtual_work", "lagrange")


@cache
def told(tree, order, notation=None):
    return listing.of(kkt.build(TREES[tree]()), order, notation)


# -- what runs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "tree"), covering(ORDERS, TREES))
def test_the_script_gives_the_same_answer(order, tree):
    if orderings.get(order).rules.elimination != "gauss" or told(tree, order).groups:
        with pytest.raises(kkt.OrderError, match=r"(over bodies|takes pivots); use style|bodies tell it"):
            listing.render(told(tree, order), "python")
        return
    one = told(tree, order)
    system, run = one.system, function_of(listing.render(one, "python"), one.problem)
    exact = kkt.eliminate(system, orderings.get("abm")).qdd
    if order == "inverse_dynamics":
        found = kkt.inverse_dynamics(system, exact, orderings.get(order))
        wanted = found.tau - (system.state.tau - system.entries.tau)  # what resists the motion
        assert np.abs(run(*arguments(system, exact)) - wanted).max() <= 1e-12 * np.abs(found.f).max()
        return
    result = kkt.eliminate(system, orderings.get(order)).qdd
    own = np.abs(result - exact).max()  # what the order loses in float64 by itself
    assert np.abs(run(*arguments(system)) - result).max() <= 1e-12 * np.abs(exact).max() + 10 * own


@pytest.mark.uncached
def test_orders_of_a_user_are_listed(tmp_path):
    """A file with a function, and a JSON list of groups that no loop fits."""
    file = tmp_path / "mine.py"
    file.write_text(
        "def hands(structure):\n"
        "    tips = [k for k in structure.tip_to_base if not structure.children(k)]\n"
        "    rest = [k for k in structure.tip_to_base if structure.children(k)]\n"
        "    return ([[('pdd', k), ('f', k)] for k in tips] + [[('qdd', k)] for k in tips]\n"
        "            + [[('pdd', k), ('qdd', k), ('f', k)] for k in rest])\n"
        "def pairs(structure):\n"
        "    return [b for k in structure.tip_to_base for b in ([('pdd', k)], [('f', k), ('qdd', k)])]\n"
    )
    system = kkt.build(kkt.from_spec("binary:2"))
    names = list(system.structure.tip_to_base)
    groups = [[["pdd", k], ["f", k]] for k in names[::2]]
    groups += [[["qdd", names[0]], ["qdd", names[2]]]]
    groups += [[["pdd", k], ["f", k]] for k in names[1::2]]
    groups += [[["qdd", k]] for k in names if k not in (names[0], names[2])]
    (tmp_path / "mine.json").write_text(json.dumps(groups))
    with pytest.raises(kkt.OrderError, match="is told by its groups, and a script by loops over bodies; use"):
        listing.render(listing.of(system, orderings.get(f"{file}:pairs")), "python")
    for name in (f"{file}:hands", str(tmp_path / "mine.json")):
        one = listing.of(system, orderings.get(name))
        text = listing.render(one)
        assert ("for k in groups:" in text) == bool(one.groups) and "= D_k⁻¹ (y_k - Σ" in text


@pytest.mark.parametrize(
    ("notation", "tree", "orders"),
    [
        ("ascher", "chain", FEW[:2]),
        pytest.param("ascher", "geared", FEW[:2], marks=pytest.mark.product),
        pytest.param("featherstone", "joints", FEW, marks=pytest.mark.product),
        pytest.param("yamane", "geared", FEW[:2], marks=pytest.mark.product),
    ],
)
def test_the_letters_are_the_unknowns_of_the_matrix(notation, tree, orders):
    """p¨ is pdd of (4), sign and all; in the other notations it is called an acceleration."""
    assert ("minus" in NOTATIONS[notation]["pdd"].what) == (notation == "ascher")
    met = [agrees(told(tree, order, notation), 1e-10) for order in orders]
    assert set.union(*met) >= {"qdd", "pdd" if notation == "ascher" else "acc"}


def test_a_wrong_folding_is_found():
    """Each kind of fault: a line left out, lines in the wrong order, another index."""
    one = told("tree", "abm")
    first, second = one.loops
    less = first._replace(lines=first.lines[:-1])
    turned = first._replace(lines=first.lines[::-1])
    backward = first._replace(bodies=first.bodies[::-1])
    late = "reads .*, which no line before it makes; the loops are in the wrong order"
    for wrong, why in ((less, late), (turned, late), (backward, late)):
        with pytest.raises(FoldingError, match=why):
            check(one.values, one.tree, (wrong, second))
    with pytest.raises(FoldingError, match="values are left out"):
        check(one.values, one.tree, (first,))


# -- what it reads like ------------------------------------------------------------------------


def test_armature_stands_in_the_pivots_of_all_joints():
    def lines(order, notation="featherstone"):
        return formulas(listing.of(kkt.build(with_terms(kkt.chain(4), 1)), order, notation))

    assert "D_k = A_k + s_kᵀ U_k" in lines("abm")
    assert any(line.startswith("D_k = A_k + s_kᵀ I^C_k s_k - Σ") for line in lines("crbm"))
    assert "Q_k = s_kᵀ f_k + A_k q''_k" in lines("inverse_dynamics")
    rotated = lines("square_root_abm", "ascher")
    assert any(line.startswith("R^_k = rotate(R_k, ") and line.endswith(", A_k)") for line in rotated)
    assert any("turned(" in line for line in rotated)


def test_abm_reads_as_featherstone():
    """Recursions (I)-(VI) of the slides, with transforms between frames."""
    lines = formulas(told("binary", "abm"))
    assert "I^A_k = I_k + Σ_{c ∈ children(k)} X_cᵀ (I^A_c - U_c U_cᵀ / D_c) X_c" in lines
    assert "p^A_k = v_k × I_k v_k + Σ_{c ∈ children(k)} X_cᵀ (p'_c + U_c α_c)" in lines
    assert "p'_k = p^A_k + I^A_k c_k" in lines
    assert "U_k = I^A_k s_k" in lines and "D_k = s_kᵀ U_k" in lines
    assert "α_k = (Q_k - s_kᵀ p'_k) / D_k" in lines
    assert "q''_k = (Q_k - s_kᵀ p^A_k - U_kᵀ a'_k) / D_k   if k has a parent" in lines
    assert "a_k = a'_k + s_k q''_k   if k has a parent" in lines
    whole = listing.full(listing.of(kkt.build(kkt.binary(2)), "abm"))
    assert "  q''_k = (Q_k - s_kᵀ (p^A_k + I^A_k (c_k + X_k a_λ(k)))) / (s_kᵀ I^A_k s_k)" in whole
    assert len(lines) <= 12


def test_crbm_reads_as_walker_and_orin():
    """Composite inertias, F carried down, and the factor of branch-induced sparsity."""
    lines = formulas(told("binary", "crbm"))
    assert "I^C_k = I_k + Σ_{c ∈ children(k)} X_cᵀ I^C_c X_c" in lines
    assert any(line.startswith("F_{λ(k),k} = X_kᵀ I^C_k s_k") for line in lines)
    assert any(line.startswith("F_{λ(k),j} = X_kᵀ F_kj   for j ∈ below(k)") for line in lines)
    starts = ("H_kj = F_jkᵀ s_j - Σ_{c ∈ below(k)} H_ck", "D_k = s_kᵀ I^C_k s_k - Σ_{c ∈ below(k)}")
    for start in starts:
        assert any(line.startswith(start) for line in lines), start
    assert any("for j ∈ ancestors(k)" in line for line in lines)


@pytest.mark.product
def test_virtual_work_reads_as_yamane_and_nakamura():
    """(36), (37), (41) and (47): n_k = M_k (a_k - S n), M_k the inverse of S_k - S^T M S."""
    lines = formulas(told("chain", "virtual_work"))
    terms = ("K_k A_k⁻¹ K_kᵀ", "H_{k,λ(k)} A_λ(k)⁻¹ H_{k,λ(k)}ᵀ", " - Σ_{c ∈ children(k)} S_ckᵀ M_c S_ck")
    (M,) = (line for line in lines if line.startswith("M_k = ("))
    assert M.endswith(")⁻¹") and all(term in M for term in terms)
    assert "n_k = M_k (a_k - S_{k,λ(k)} n_λ(k))" in lines
    tree = formulas(told("tree", "virtual_work"))
    assert any(line.startswith("S_{k,λ(k)} = ") for line in tree)


def test_inverse_dynamics_reads_as_the_slides():
    assert formulas(told("tree", "inverse_dynamics")) == [
        "a_k = c_k + X_k a_λ(k) + s_k q''_k",
        "f_k = v_k × I_k v_k + I_k a_k + Σ_{c ∈ children(k)} X_cᵀ f_c",
        "Q_k = s_kᵀ f_k",
    ]


def test_forms_of_abm_differ_in_a_line():
    outer, gain, modified = (set(formulas(told("tree", x))) for x in ("abm", "gain_abm", "modified_abm"))
    assert len(outer - gain) == len(gain - outer) == 1
    assert "D_k = H_k M_k H_kᵀ + H_k M~_k H_kᵀ   if k has children" in modified  # equation (11)


@pytest.mark.parametrize("order", ["constraint_force", "divide_and_conquer"])
@pytest.mark.parametrize("tree", ["chain", "binary"])
def test_constraint_forces_in_turn_are_loops_over_named_sets(order, tree):
    """Sparse elimination, whatever the turn: what went before, and what is left beside it."""
    one = told(tree, order)
    lines, text = formulas(one), listing.render(one)
    assert one.groups == ()
    assert "for k in turn:" in text and "for k in turn, last to first:" in text
    assert any(line.startswith("M_k = (") and "Σ_{c ∈ gone(k)} S_ckᵀ M_c S_ck" in line for line in lines)
    assert any(line.startswith("n_k = M_k (a_k - Σ_{c ∈ left(k)} S_kc n_c)") for line in lines)
    assert orderings.get(order).__doc__.splitlines()[0] in text  # its author's words


BY_GROUPS = ["random:0", "crbm_block_row", "base_to_tip", "modified_abm_stretched", "natural"]


@pytest.mark.parametrize(("order", "tree"), covering(BY_GROUPS, ["tree", "joints", "geared"]))
def test_what_no_loop_over_bodies_tells_is_told_by_its_groups(order, tree):
    """The same lines for all of them, the groups being the order's own, each block in one of them."""
    one = told(tree, order)
    blocks = [block for group in one.groups for block in group]
    assert len({*blocks}) == len(blocks) and {str(b) for b in blocks} >= {f"pdd_{k}" for k in TREES[tree]()}
    if order != "modified_abm_stretched":  # whose carriers are blocks of a larger matrix
        assert {*blocks} == {block for block, at in one.system.blocks.items() if at.start < at.stop}
    lines, text = formulas(one), listing.render(one)
    assert lines == formulas(told("chain", "random:0"))
    assert "W_kj = K_kj - Σ_{c ∈ shared(k,j)} W_ckᵀ D_c⁻¹ W_cj   for j ∈ left(k)" in lines
    assert "for k in groups, last to first:" in text and "λ(k)" not in text
    assert f"groups: {' '.join(map(str, one.groups[0]))}, " in text
    assert orderings.get(order).__doc__.splitlines()[0] in text  # its author's words


@pytest.mark.product
def test_a_long_chain_folds_to_the_same_text():
    short, long = (formulas(listing.of(kkt.build(kkt.chain(n)), "abm")) for n in (6, 60))
    assert short == long


# -- LaTeX, pseudocode and the command ---------------------------------------------------------


@needs_latex
@pytest.mark.product
def test_latex_compiles(tmp_path):
    """Every order, and some with loops, in one document."""
    soft = kkt.load("quadruped:feet=4")
    held = [kkt.build(soft), kkt.build(soft, loops=kkt.softened(soft.graph["loops"], 1e-2))]
    ones = [told("tree", order) for order in ORDERS]
    ones += [listing.of(held[0], order) for order in ("abm", "closed_early")]
    ones += [listing.of(held[1], "lambda_first")]
    texts = [listing.render(one, "latex") for one in ones]
    (head,) = {text.partition(r"\begin{document}")[0] for text in texts}
    bodies = [text.partition(r"\begin{document}")[2].partition(r"\end{document}")[0] for text in texts]
    path = tmp_path / "listed.tex"
    whole = "\n\\clearpage\n".join(bodies)
    path.write_text(rf"{head}\begin{{document}}{whole}\end{{document}}", encoding="utf-8")
    assert "Overfull" not in compiled(path)[0]
