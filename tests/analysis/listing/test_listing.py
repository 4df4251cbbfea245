"""Orders as algorithms: what a listing says is what the program does, and reads as the literature.

The scripts that ``python()`` gives are run as they stand and held against ``kkt.eliminate`` and
``kkt.inverse_dynamics``; the formulas of ABM, CRBM, inverse dynamics and virtual work are pinned.
"""

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from armature import with_terms
from helpers import every_joint

from pivotree import kkt, orderings
from pivotree.analysis import listing
from pivotree.analysis.listing import unroll
from pivotree.analysis.listing.cost import Poly


def geared():
    """Armature, damping, springs and friction; one joint without any."""
    tree = with_terms(TREES["joints"](), 3)
    tree.nodes["b4"].pop("armature", None)
    return tree


TREES = {
    "geared": geared,
    "chain": lambda: kkt.chain(4),
    "star": lambda: kkt.star(5),
    "binary": lambda: kkt.from_spec("binary:3"),
    "tree": lambda: kkt.from_spec("random_tree:n=7,seed=3"),
    "joints": lambda: kkt.from_spec(
        "random_tree:n=8,seed=3,joints=revolute+spherical+fixed+floating+prismatic"
    ),
    "forest": every_joint,
    "humanoid": lambda: kkt.from_spec("humanoid"),
    "one body": lambda: kkt.chain(1),
}
SMALL = ("chain", "star", "tree", "joints", "geared")
KEEPS = {"random:0": 1e-11, "natural": 1e-11, "base_to_tip": 1e-11}  # that lose digits themselves
ORDERS = [*orderings.names(), "inverse_dynamics"]


QUICK = ("chain", "tree", "one body")
SHAPES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in TREES]
COMPILED = [
    name
    if name in ("abm", "virtual_work", "inverse_dynamics")
    else pytest.param(name, marks=pytest.mark.slow)
    for name in ORDERS
]  # by pdflatex


@pytest.fixture(scope="module", params=SHAPES)
def system(request):
    return kkt.build(TREES[request.param]())


def told(tree, order, notation=None):
    return listing.of(kkt.build(TREES[tree]()), order, notation)


def formulas(one):
    """Lines of the text that are formulas, without the blanks before them."""
    lines = listing.render(one).partition("\nin full:")[0].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("for "))
    return [line.strip() for line in lines[start:] if line.startswith("  ") and " = " in line]


def blocks(system, x):
    offset = system.tree.offset
    return [x[offset[k] : offset[k + 1]] for k in range(system.tree.n)]


def armatures(system):
    """The argument A, where there is one."""
    A = system.entries.A
    return [[np.diag(x) for x in blocks(system, A)]] if A.size else []


def run(one, given=None):
    """The script's function on the system's blocks."""
    space = {"__name__": "listed"}
    exec(compile(listing.render(one, "python"), one.order, "exec"), space)
    system, e = one.system, one.system.entries
    rows = e.tau if given is None else given
    return space[one.problem](
        system.tree.parent.tolist(),
        e.M,
        blocks(system, e.S),
        e.Phi,
        *armatures(system),
        e.a,
        e.b,
        blocks(system, rows),
    )


# -- what runs ---------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("order", ORDERS)
def test_the_script_gives_the_same_answer(order, system):
    one = listing.of(system, order)
    exact = kkt.eliminate(system, orderings.get("abm")).qdd
    if order == "inverse_dynamics":
        wanted = kkt.inverse_dynamics(system, exact, orderings.get(order)).tau
        wanted = wanted - (system.state.tau - system.entries.tau)  # what resists the motion
        force = np.abs(kkt.inverse_dynamics(system, exact, orderings.get(order)).f).max()
        assert np.abs(run(one, exact) - wanted).max() <= 1e-12 * force
        return
    result = kkt.eliminate(system, orderings.get(order)).qdd
    own = np.abs(result - exact).max()  # what the order loses in float64 by itself
    assert np.abs(run(one) - result).max() <= 1e-12 * np.abs(exact).max() + 10 * own


@pytest.mark.thorough
@pytest.mark.parametrize("order", ["abm", "crbm", "virtual_work", "square_root_abm"])
def test_the_file_runs_by_itself(order, tmp_path):
    system = kkt.build(TREES["tree"]())
    path = tmp_path / "listed.py"
    path.write_text(listing.render(listing.of(system, order), "python"))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    printed = np.array([float(x) for x in done.stdout.strip(" []\n").split()])
    wanted = kkt.eliminate(system, orderings.get(order)).qdd
    assert np.abs(printed - wanted).max() <= 1e-7 * np.abs(wanted).max()  # print has 8 digits


@pytest.mark.thorough
def test_inverse_dynamics_script_returns_the_efforts(tmp_path):
    system = kkt.build(kkt.chain(3), tau=[1.0, -2.0, 0.5])
    path = tmp_path / "rnea.py"
    path.write_text(listing.render(listing.of(system, "inverse_dynamics"), "python"))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    printed = np.array([float(x) for x in done.stdout.strip(" []\n").split()])
    assert np.allclose(printed, [1.0, -2.0, 0.5], atol=1e-10)


@pytest.mark.thorough
def test_orders_of_a_user_are_listed(tmp_path):
    """A file with a function, and a JSON list of groups that no loop fits."""
    file = tmp_path / "mine.py"
    file.write_text(
        "def hands(structure):\n"
        "    tips = [k for k in structure.tip_to_base if not structure.children(k)]\n"
        "    rest = [k for k in structure.tip_to_base if structure.children(k)]\n"
        "    return ([[('pdd', k), ('f', k)] for k in tips] + [[('qdd', k)] for k in tips]\n"
        "            + [[('pdd', k), ('qdd', k), ('f', k)] for k in rest])\n"
    )
    system = kkt.build(kkt.from_spec("binary:3"))
    names = list(system.structure.tip_to_base)
    groups = [[["pdd", k], ["f", k]] for k in names[::2]]
    groups += [[["qdd", names[0]], ["qdd", names[2]]]]
    groups += [[["pdd", k], ["f", k]] for k in names[1::2]]
    groups += [[["qdd", k]] for k in names if k not in (names[0], names[2])]
    (tmp_path / "mine.json").write_text(json.dumps(groups))
    for name in (f"{file}:hands", str(tmp_path / "mine.json")):
        order = orderings.get(name)
        wanted = kkt.eliminate(system, order).qdd
        got = run(listing.of(system, order))
        assert np.abs(got - wanted).max() <= 1e-11 * np.abs(wanted).max()


@pytest.mark.slow
@pytest.mark.parametrize("tree", ["joints", "geared"])
@pytest.mark.parametrize("notation", ["ascher", "featherstone", "yamane"])
def test_the_letters_are_the_unknowns_of_the_matrix(notation, tree):
    """p¨ is pdd of (4), sign and all; in the other notations it is called an acceleration."""
    system = kkt.build(TREES[tree]())
    x = kkt.eliminate(system, orderings.get("abm"))
    qdd = dict(enumerate(blocks(system, x.qdd)))
    sign = 1.0 if notation == "ascher" else -1.0
    wanted = {
        "qdd": qdd,
        "pdd": dict(enumerate(x.pdd)),
        "acc": dict(enumerate(-x.pdd)),
        "f": dict(enumerate(x.f)),
    }
    assert ("minus" in listing.names.NOTATIONS[notation]["pdd"].what) == (sign > 0)
    met = set()
    for order in orderings.names():
        one = listing.of(system, order, notation)
        space = {"__name__": "listed"}
        text = listing.render(one, "python")
        exec(re.sub(r"(?m)^    return .*\[qdd\[k\].*$", "    return locals()", text), space)
        e = system.entries
        found = space["qdd"](
            system.tree.parent.tolist(),
            e.M,
            blocks(system, e.S),
            e.Phi,
            *armatures(system),
            e.a,
            e.b,
            blocks(system, e.tau),
        )
        for family, symbol in one.names.symbols.items():
            if symbol.python not in wanted or not isinstance(found.get(symbol.python), dict):
                continue
            met.add((family[1], symbol.python))
            for k, value in found[symbol.python].items():
                if k >= system.tree.n:  # a link that a stretched joint adds is no body of (4)
                    continue
                right = wanted[symbol.python][k]
                scale = np.abs(x.pdd).max() + np.abs(x.f).max()
                assert np.abs(np.ravel(value) - right).max(initial=0.0) <= 1e-10 * scale
    assert {name for _, name in met} >= {"qdd", "pdd" if notation == "ascher" else "acc"}


# -- unrolled ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("tree", SMALL)
@pytest.mark.parametrize("order", ORDERS)
def test_unrolled_it_is_the_program(tree, order):
    one = told(tree, order)
    unroll.check(one.values, one.tree, one.loops)
    made = sum(
        1
        for loop in one.loops
        for case, k in loop.steps
        for line in loop.cases[case].lines
        for _ in unroll.contexts(one.tree, line, k)
    )
    assert made == len(one.values.members) > 0


@pytest.mark.thorough
def test_a_wrong_folding_is_found():
    """Each kind of fault: a line left out, lines in the wrong order, another index."""
    one = told("tree", "abm")
    first, second = one.loops
    case = first.cases[0]
    less = first._replace(cases=(case._replace(lines=case.lines[:-1]),))
    turned = first._replace(cases=(case._replace(lines=case.lines[::-1]),))
    backward = first._replace(steps=first.steps[::-1])
    late = "reads .*, which no line before it makes; the loops are in the wrong order"
    for wrong, why in ((less, late), (turned, late), (backward, late)):
        with pytest.raises(unroll.FoldingError, match=why):
            unroll.check(one.values, one.tree, (wrong, second))
    with pytest.raises(unroll.FoldingError, match="values are left out"):
        unroll.check(one.values, one.tree, (first,))


# -- what it reads like ------------------------------------------------------------------------


@pytest.mark.thorough
def test_armature_stands_in_the_pivots_of_all_joints():
    def lines(order, notation="featherstone"):
        return formulas(listing.of(kkt.build(with_terms(kkt.chain(4), 1)), order, notation))

    assert "D_k = A_k + s_kᵀ U_k" in lines("abm")
    assert any(line.startswith("D_k = A_k + s_kᵀ I^C_k s_k - Σ") for line in lines("crbm"))
    assert "Q_k = s_kᵀ f_k + A_k q''_k" in lines("inverse_dynamics")
    rotated = lines("square_root_abm", "ascher")
    assert any(line.startswith("R^_k = rotate(R_k, ") and line.endswith(", A_k)") for line in rotated)


@pytest.mark.thorough
@pytest.mark.parametrize("tree", ["chain", "binary"])
def test_abm_reads_as_featherstone(tree):
    """Recursions (I)-(VI) of the slides, with transforms between frames."""
    lines = formulas(told(tree, "abm"))
    assert "I^A_k = I_k + Σ_{c ∈ children(k)} X_cᵀ (I^A_c - U_c U_cᵀ / D_c) X_c" in lines
    assert "p^A_k = v_k × I_k v_k + Σ_{c ∈ children(k)} X_cᵀ (p'_c + U_c α_c)" in lines
    assert "p'_k = p^A_k + I^A_k c_k" in lines
    assert "U_k = I^A_k s_k" in lines and "D_k = s_kᵀ U_k" in lines
    assert "α_k = (Q_k - s_kᵀ p'_k) / D_k" in lines
    assert "q''_k = (Q_k - s_kᵀ p^A_k - U_kᵀ a'_k) / D_k   if k has a parent" in lines
    assert "a_k = a'_k + s_k q''_k   if k has a parent" in lines
    assert len(lines) <= 12


@pytest.mark.thorough
def test_abm_reads_as_featherstone_on_a_floating_base():
    lines = formulas(told("humanoid", "abm"))
    assert any(line.startswith("I^A_k = I_k + Σ_{c ∈ children(k)") for line in lines)
    assert any(line.startswith("U_k = I^A_k s_k") for line in lines)
    assert len(lines) <= 16


@pytest.mark.thorough
@pytest.mark.parametrize("tree", ["tree", "binary"])
def test_crbm_reads_as_walker_and_orin(tree):
    """Composite inertias, F carried down, and the factor of branch-induced sparsity."""
    lines = formulas(told(tree, "crbm"))
    assert "I^C_k = I_k + Σ_{c ∈ children(k)} X_cᵀ I^C_c X_c" in lines
    assert any(line.startswith("F_{λ(k),k} = X_kᵀ I^C_k s_k") for line in lines)
    assert any(line.startswith("F_{λ(k),j} = X_kᵀ F_kj   for j ∈ below(k)") for line in lines)
    starts = ("H_kj = F_jkᵀ s_j - Σ_{c ∈ below(k)} H_ck", "D_k = s_kᵀ I^C_k s_k - Σ_{c ∈ below(k)}")
    for start in starts:
        assert any(line.startswith(start) for line in lines), start
    assert any("for j ∈ ancestors(k)" in line for line in lines)


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_modified_abm_reads_as_equation_11():
    lines = formulas(told("tree", "modified_abm"))
    assert "D_k = H_k M_k H_kᵀ + H_k M~_k H_kᵀ   if k has children" in [
        line.replace("H_kᵀ", "H_kᵀ") for line in lines
    ]


def test_gain_and_outer_forms_differ_in_one_line():
    outer, gain = (set(formulas(told("tree", name))) for name in ("abm", "gain_abm"))
    assert len(outer - gain) == len(gain - outer) == 1


@pytest.mark.thorough
def test_notations_name_the_same_lines():
    texts = [formulas(told("chain", "abm", name)) for name in ("ascher", "featherstone", "yamane")]
    assert len({len(text) for text in texts}) == 1 and len({tuple(text) for text in texts}) == 3
    assert any(line.startswith("M^_k = M_k + Σ_{c ∈ children(k)} Φ_c") for line in texts[0])


# -- what it costs -----------------------------------------------------------------------------


@pytest.mark.thorough
def test_costs_are_counted_from_shapes():
    one = told("chain", "abm")
    cost = {line.family[:2]: one.cost(line) for line in one.lines()}
    U = cost["W", ("qdd", "f")]
    assert U.mul == 36 * Poly("N_k") and U.add == 30 * Poly("N_k") and U.div == 0
    assert cost["s", ("pdd", "f")].mul == 36 and cost["s", ("pdd", "f")].add == 36
    # U D^-1 U^T has 21 entries; X^T (6x6) then X, of which the upper triangle
    inertia = cost["own", ("pdd", "pdd")].mul.value({"N_c": 1, "|c|": 1})
    assert inertia == 21 + 216 + 126
    mul, add, div = one.total
    assert (mul, add) > (0, 0) and div > 0


def test_polynomials():
    x = Poly("N_k")
    assert ((6 - x) * (6 - x)).value({"N_k": 1}) == 25
    assert (2 * x * x - x + 3).text() == "2 N_k^2 + 3 - N_k"
    assert Poly(0).text() == "0" and (x - x) == 0


@pytest.mark.slow
def test_a_long_chain_folds_to_the_same_text():
    short, long = (formulas(listing.of(kkt.build(kkt.chain(n)), "abm")) for n in (6, 300))
    assert short == long


# -- LaTeX and pseudocode ----------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("order", COMPILED)
def test_latex_compiles(order, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    (tmp_path / "listed.tex").write_text(listing.render(told("tree", order), "latex"), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "listed.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout, done.stdout[-2000:]


def test_pseudocode_has_loops_and_assignments():
    text = listing.render(told("tree", "abm"), "pseudocode")
    assert text.startswith("algorithm abm\nfor k from tip to base do\n    I^A_k ← I_k + ")
    assert "for k from base to tip do" in text and " = " not in text.split("where")[0].replace("N = ", "")
