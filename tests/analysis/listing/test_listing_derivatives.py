"""Derivatives as algorithms: the listed recursions give what ``kkt.derivatives`` gives."""

import re

import numpy as np
import pytest
from armature import with_terms
from designs import covering
from helpers import ROOT
from listed import arguments, function_of, lines_of

from pivotree import kkt, orderings
from pivotree.analysis import listing
from pivotree.analysis.cli import main
from pivotree.analysis.listing.python import by_joint

PAGE = ROOT / "docs" / "derivatives.md"
TREES = {
    "chain": lambda: kkt.chain(4),
    "tree": lambda: kkt.from_spec("random_tree:n=7,seed=3,joints=revolute+prismatic"),
    "joints": lambda: kkt.from_spec(
        "random_tree:n=6,seed=3,joints=revolute+spherical+fixed+floating+prismatic"
    ),
    "geared": lambda: with_terms(kkt.from_spec("random_tree:n=5,seed=3,joints=revolute+prismatic"), 3),
    "quadruped": kkt.quadruped,
}
TOLD = [name for name in orderings.names() if name not in ("square_root_abm", "crbm_block_row")]
CASES = [("chain", "abm"), ("geared", "abm"), ("joints", "abm"), ("quadruped", "crbm")]
CASES += [("tree", name) for name in TOLD]


def moving(tree):
    """A system with rates and efforts that are no round numbers."""
    rng = np.random.default_rng(7)
    N = len(kkt.build(tree).state.qd)
    return kkt.build(tree, qd=rng.normal(size=N), tau=rng.normal(size=N))


def run(text, system, terms):
    """The script's function on the blocks of a system."""
    more = [[np.diag(x) for x in by_joint(system, x)] for x in terms.values()]
    gravity = np.concatenate([np.zeros(3), system.state.gravity])
    given = (*arguments(system), by_joint(system, system.state.qd), gravity, *more)
    return function_of(text, "derivatives")(*given)


def differ(found, system):
    exact = kkt.derivatives(system, orderings.get("abm"))
    wanted = exact.qdd, exact.dq, exact.dqd, exact.dtau
    return [np.abs(x - y).max() / np.abs(y).max() for x, y in zip(found, wanted, strict=True)]


@pytest.mark.parametrize("case", covering(CASES, unmarked=1))
def test_the_script_gives_the_derivatives(case):
    tree, order = case
    system = moving(TREES[tree]())
    one = listing.of(system, order, derivatives=True)
    assert max(differ(run(listing.render(one, "python"), system, one.terms), system)) <= 1e-10


@pytest.mark.product
@pytest.mark.parametrize("order", ["abm", "gain_abm", "crbm"])
def test_lines_of_any_tree_hold_on_others(order):
    """What was listed for a chain of three runs on a tree with branches."""
    one = listing.of(kkt.build(kkt.chain(3)), order, derivatives=True)
    assert one.holds_on == "any tree" and not one.tree.tables
    system = moving(TREES["tree"]())
    assert max(differ(run(listing.render(one, "python"), system, {}), system)) <= 1e-10


@pytest.mark.product
def test_the_recursion_is_the_one_of_qdd_in_another_column():
    """With the column's letters struck out, abm's lines are those of its qdd."""
    one = listing.of(kkt.build(kkt.chain(3)), "abm", derivatives=True)
    lines = lines_of(one)
    for line in (
        "p^A_k[q_j] = b_k[q_j] + Σ_{c ∈ children(k)} X_cᵀ (p'_c[q_j] + U_c α_c[q_j])   for j ∈ path(k)",
        "p'_k[q_j] = p^A_k[q_j] + I^A_k c_k[q_j] [j ∈ path(k)]   for j ∈ line(k)",
        "α_k[q_j] = -s_kᵀ p'_k[q_j] / D_k   for j ∈ line(k)",
        "a'_k[q_j] = c_k[q_j] [j ∈ path(k)] + X_k a_λ(k)[q_j]   for j ∈ tree(k)",
    ):
        assert line in lines
    struck = re.sub(r"\[[qQ]'?_[jk]\]", "", "\n".join(lines))
    assert "p^A_k = b_k + Σ_{c ∈ children(k)} X_cᵀ (p'_c + U_c α_c)" in struck


@pytest.mark.product
@pytest.mark.parametrize("style", ["text", "latex"])
def test_the_command_writes_it(style, capsys):
    assert main(["list", "chain:3", "--derivatives", *(["--latex"] if style == "latex" else [])]) == 0
    printed = capsys.readouterr().out
    assert len(printed) > 3000 and ("[q_" in printed or r"[\dot q_" in printed)


@pytest.mark.docs
def test_the_page_has_the_listing_of_today():
    """``pivotree list chain:3 --derivatives --pseudocode`` stands in docs/derivatives.md."""
    one = listing.of(kkt.build(kkt.chain(3)), "abm", derivatives=True)
    assert listing.render(one, "pseudocode").strip() in PAGE.read_text(encoding="utf-8")
