"""The closed forms are proved, what is false is not, and what cannot be told is said to be so."""

import json
import random

import numpy as np
import pytest
from flint import fmpq_mat
from helpers import ROOT
from sympy import Identity, MatrixSymbol

from pivotree.analysis import cli, proofs
from pivotree.analysis.algebra.algebra import Algebra, Undecided
from pivotree.analysis.algebra.polynomial import one, zero
from pivotree.analysis.proofs import prove as proving
from pivotree.analysis.proofs import statements
from pivotree.analysis.proofs.ascher1996 import Articulated
from pivotree.analysis.proofs.bench import Bench
from pivotree.analysis.proofs.claim import FAILED, PROVED, UNDECIDED, Equal, Misprint, Statement
from pivotree.analysis.proofs.fields import LINE, SYMBOLS
from pivotree.analysis.proofs.interfaces import INNER, Subdomains
from pivotree.analysis.proofs.prove import FEWEST, prove_one
from pivotree.analysis.proofs.rigid import RigidBodies

QUICK = ("equation (9)", "composite inertias", "fill of Lagrange multipliers", "RR arm: misprint in m_12")


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=() if x in QUICK else pytest.mark.product) for x in statements()]
)
def test_every_statement_is_proved_and_every_mutant_is_not(name):
    proof = prove_one(name)
    assert (proof.status, proof.why, proof.survivors) == (PROVED, "", ())
    assert proof.mutants >= FEWEST and proof.killed == proof.mutants and proof.claims > 0


# -- what is false ------------------------------------------------------------------------------


def test_a_false_formula_fails():
    t = Articulated((2, 3, 0)).t
    left = t.after("abm", 1).entry(("pdd", 2), ("pdd", 2))
    composite = t.M(2) + t.Phi(2, 1) * t.M(1) * t.Phi(2, 1).T
    verdict = Equal("the composite inertia", t, left, composite).decide()
    assert verdict.status == FAILED and "composite" in verdict.why


def test_the_order_of_pivots_matters_to_what_is_left():
    t = Bench((2, 3, 0))
    left = t.after("abm", 1).entry(("pdd", 3), ("pdd", 3))
    assert Equal("", t, left, t.M(3)).decide().status == PROVED
    left = t.after("abm", 2).entry(("pdd", 3), ("pdd", 3))
    assert Equal("", t, left, t.M(3)).decide().status == FAILED


def test_an_inverse_is_not_multiplied_out():
    """(H M H*)^-1 is not H*^-1 M^-1 H^-1, which 'proves' M - M H* D^-1 H M = 0."""
    t = Bench((0,), dof=(2,))
    M, H = t.M(1), t.H(1)
    M_bar = M - M * H.T * (H * M * H.T).I * H * M
    assert not t.polynomial(M_bar).is_zero
    assert Equal("", t, M_bar * H.T, 0 * H.T).decide().status == PROVED
    assert Equal("", t, M_bar, 0 * M).decide().status == FAILED


def test_a_misprint_that_is_none_is_not_called_one():
    t = Bench((2, 0))
    left = t.after("abm", 0).entry(("qdd", 1), ("f", 1))
    meant = t.H(1)
    assert Misprint(Equal("H", t, left, t.H(1)), meant).decide().status == FAILED
    misprint = Misprint(Equal("H", t, left, 2 * t.H(1)), meant)
    assert misprint.decide().status == PROVED and not any(misprint.rejected().values())
    assert all(all(m.rejected().values()) for m in misprint.mutants(None))


def test_a_wrong_normal_form_is_caught_by_the_numbers():
    t = Bench((2, 0))
    wrong = t.polynomial(t.M(1))
    t.algebra.know(wrong, t.polynomial(t.M(2)))  # a rule that does not hold
    verdict = Equal("M_1 = M_2", t, t.M(1), t.M(2)).decide()
    assert verdict.status == FAILED and "readers disagree" in verdict.why
    assert verdict.readers == {"rewriter": PROVED, "sympy": FAILED, "fractions": FAILED}


# -- what cannot be told ------------------------------------------------------------------------


def test_what_the_normal_form_cannot_decide_is_undecided():
    t = Bench((0,))
    A, B = (t.symbol(name, 6, 6, symmetric=True) for name in ("A", "B"))
    turned = Equal("A (A + B)^-1 B = B (A + B)^-1 A", t, A * (A + B).I * B, B * (A + B).I * A)
    assert turned.numbers_agree()
    parallel = Equal("parallel sum", t, A * (A + B).I * B, (A.I + B.I).I)
    assert parallel.numbers_agree() and parallel.decide().status == UNDECIDED


@pytest.fixture
def one_statement(monkeypatch):
    """The registry holds one statement with these claims."""

    def put(claims):
        only = {"s": Statement("s", "nobody", "nothing", claims)}
        monkeypatch.setattr(proofs, "statements", lambda: only)

    return put


def parallel_sum():
    t = Bench((0,))
    A, B = (t.symbol(name, 6, 6, symmetric=True) for name in ("A", "B"))
    return [Equal("parallel sum", t, A * (A + B).I * B, (A.I + B.I).I)]


def false():
    t = Bench((2, 0))
    return [Equal("M", t, t.after("abm", 0).entry(("pdd", 1), ("pdd", 1)), t.M(2))]


@pytest.mark.parametrize(
    ("claims", "status", "why"),
    [
        (parallel_sum, UNDECIDED, "normal form"),
        (false, FAILED, "M"),
        (list, UNDECIDED, "there is nothing to prove"),
        (lambda: 1 / 0, FAILED, "ZeroDivisionError"),
    ],
)
def test_what_is_not_proved_exits_1_and_is_named(claims, status, why, one_statement, capsys):
    one_statement(claims)
    assert cli.main(["prove", "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert row["status"] == status and why in row["why"]
    assert cli.main(["prove"]) == 1
    out = capsys.readouterr().out
    assert "0 of 1 statements proved" in out and f"s: {status}" in out


def test_a_surviving_mutant_exits_1(one_statement, capsys):
    t = Articulated((2, 3, 0)).t

    class Blind(Equal):
        def rejected(self):
            return {"rewriter": False, "sympy": True}

    left = t.after("abm", 1).entry(("pdd", 2), ("pdd", 2))
    right = t.formulas["M^_2"]
    one_statement(lambda: [Blind("M^_2", t, left, right)])
    assert cli.main(["prove"]) == 1
    out = capsys.readouterr().out
    assert "a mutant is not rejected" in out and "1 of 1 statements proved; 0 of 8" in out


# -- the command --------------------------------------------------------------------------------


def test_json_has_what_design_asks_for(capsys):
    assert cli.main(["prove", "--only", "equation (9),equation (8)", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == ["equation (9)", "equation (8)"]
    assert all({"name", "source", "status", "seconds"} <= row.keys() for row in rows)
    assert all(row["status"] == "proved" and row["killed"] == row["mutants"] for row in rows)


@pytest.mark.parametrize("only", ["equation (99)", "", " , "])
def test_an_unknown_statement_is_one_sentence(only, capsys):
    assert cli.main(["prove", "--only", only]) == 2
    error = capsys.readouterr().err
    assert error.startswith("pivotree: option --only") and error.count("\n") == 1


@pytest.mark.product
def test_side_by_side_is_one_after_another():
    names = ["equation (9)", "equation (8)"]
    once = proving.prove(names, 1)
    heard = []
    twice = proving.prove(names, 2, heard.append)
    assert [p.name for p in twice] == names and {p.name for p in heard} == set(names)
    assert [(p.status, p.claims, p.killed) for p in once] == [(p.status, p.claims, p.killed) for p in twice]


# -- the algebra --------------------------------------------------------------------------------


def test_transposes_and_symmetry():
    a = Algebra()
    X, S = a.letter("X", (2, 3)), a.letter("S", (3, 3), symmetric=True)
    assert a.t(X @ S) == S @ a.t(X) and a.t(a.t(X)) == X and a.t(S) == S
    assert (X @ S) @ a.t(X) == X @ (S @ a.t(X))
    with pytest.raises(ValueError, match="2x3 times 2x3"):
        X @ X
    with pytest.raises(ValueError, match=r"2x3 \+ 3x3"):
        X + S


def test_a_pivot_is_one_letter_for_one_definition():
    a = Algebra()
    M, H = a.letter("M", (6, 6), symmetric=True), a.letter("H", (2, 6))
    D, inverse = a.pivot(H @ M @ a.t(H), "D")
    assert a.pivot(H @ M @ a.t(H), "another")[0] == D
    assert a.equal(D @ inverse, one(2)) and a.equal(inverse @ H @ M @ a.t(H), one(2))
    minus, of_minus = a.pivot(-(H @ M @ a.t(H)), "D")
    assert minus == -D and of_minus == -inverse
    with pytest.raises(Undecided, match="not symmetric"):
        a.pivot(H @ a.t(H @ M) + H @ a.letter("N", (6, 6)) @ a.t(H), "E")


def test_rules_of_bases_do_not_overlap():
    t = Bench((2, 3, 0))
    for k in t.bodies:
        t.bases(k)
    assert t.algebra.overlaps() == []
    assert t.polynomial(t.H(1) * t.C(1)) == zero((t.dof(1), 6 - t.dof(1)))


def test_engine_values_and_letters_have_the_same_numbers():
    t = Bench((2, 0))
    e = t.eliminated("abm")
    left = e.x("pdd", 2) + t.H(2).T * e.x("qdd", 2)
    assert t.number(left, 0) == t.number(-t.a(2), 0) and t.number(t.a(2), 0) != t.number(t.a(2), 1)
    B = t.number(t.H(1) * t.B(1), 0)
    assert fmpq_mat([[int(r == c) for c in range(t.dof(1))] for r in range(t.dof(1))]) == B


def test_sympy_refuses_shapes_that_do_not_fit():
    t = Bench((2, 0))
    with pytest.raises(Exception, match=r"[Ss]hape|not aligned"):
        _ = t.H(1) * t.H(2)
    assert isinstance(t.M(1), MatrixSymbol) and t.Phi(2, 2) == Identity(6)


@pytest.mark.docs
def test_the_page_lists_every_statement():
    page = (ROOT / "docs/proofs.md").read_text(encoding="utf-8")
    rows = [f"| {s.name} | `{s.says}` | {s.source} |" for s in statements().values()]
    assert [row for row in rows if row not in page] == []
    table = page.partition("| statement | says | source |")[2]
    assert table.count("\n| ") == len(rows)


# -- sympy beside the rewriter ------------------------------------------------------------------


def test_sympy_has_a_verdict_of_its_own_that_no_rule_can_sway(monkeypatch):
    """A rewriter that calls everything zero is contradicted, by name."""
    monkeypatch.setattr(Algebra, "reduced", lambda self, terms: {})
    t = Bench((2, 0))
    left = t.after("abm", 1).entry(("pdd", 2), ("pdd", 2))
    for right, sympy in ((t.M(2), FAILED), (left, PROVED)):
        verdict = Equal("M^_2", t, left, right).decide()
        assert verdict.readers["rewriter"] == PROVED and verdict.readers["sympy"] == sympy
    assert Equal("M^_2", t, left, t.M(2)).rejected() == {"rewriter": False, "sympy": True}
    verdict = Equal("M^_2", t, left, t.M(2)).decide()
    assert verdict.status == FAILED and "readers disagree" in verdict.why


def test_sympy_reads_nothing_of_the_rewriter():
    for module in ("fields", "fractions"):
        text = (ROOT / f"analysis/proofs/{module}.py").read_text(encoding="utf-8")
        imports = [line for line in text.splitlines() if "import" in line and "algebra" in line]
        assert imports == []


def test_sympy_does_not_multiply_out_an_inverse_either():
    t = Bench((0,), dof=(1,))
    M, H = t.M(1), t.H(1)
    M_bar = M - M * H.T * (H * M * H.T).I * H * M
    for kind in (SYMBOLS, LINE):
        assert t.field(kind).equal(M_bar * H.T, 0 * H.T)
        assert not t.field(kind).equal(M_bar, 0 * M)


def test_sympy_solves_the_whole_of_4():
    """A solution put back: the row of a body, with numbers put in the place of t."""
    t = Bench((3, 3, 0))
    e, f = t.eliminated("abm"), t.field(LINE)
    row = f.value(t.M(1) * e.x("pdd", 1) + e.x("f", 1) - t.b(1))
    assert row.numer.is_zero_matrix and not f.value(e.x("f", 1)).numer.is_zero_matrix
    assert f.value(e.x("qdd", 2)).shape == (2, 1)  # joints of two freedoms, vectors of 3


def test_disagreement_is_named_and_exits_1(one_statement, capsys, monkeypatch):
    monkeypatch.setattr(Algebra, "reduced", lambda self, terms: {})

    def claims():
        t = Bench((2, 0))
        return [Equal("M", t, t.M(1), t.M(2))]

    one_statement(claims)
    assert cli.main(["prove", "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["rewriter"], row["sympy"], row["status"]) == (PROVED, FAILED, FAILED)
    assert "readers disagree" in row["why"]


# -- what the new statements rest on ------------------------------------------------------------


def test_a_root_of_M_is_what_makes_D_positive():
    """Without M = L L* the sum of squares is refused by all readers; H must be of full rank."""
    t = Bench((0,))
    D, L = t.after("abm", 1).pivot(("qdd", 1)), t.symbol("L_1", 6, 6)
    squares = t.H(1) * L * L.T * t.H(1).T
    assert Equal("", t, D, squares).decide().status == FAILED
    t = Bench((0,))
    D, L = t.after("abm", 1).pivot(("qdd", 1)), t.root(1)
    assert Equal("", t, D, t.H(1) * L * L.T * t.H(1).T).decide().status == PROVED


def test_equal_numbers_are_no_mutant_of_zero():
    t = Bench((2, 0))
    zero = 0 * t.M(1)
    claim = Equal("", t, t.after("abm", 0).entry(("pdd", 1), ("pdd", 2)), zero)
    for mutant in claim.mutants(random.Random(1)):
        assert not mutant.numbers_agree()


def test_a_body_as_printed_is_the_toolkit_at_numbers():
    """b of a body that turns and moves, by Newton and Euler in numpy, at one exact point."""
    bodies = RigidBodies()
    at = {name: bodies.number(name, 0) for name in bodies.letters}
    v = [float(at[f"v_{i}"]) for i in range(1, 7)]
    d, J = (
        [float(at[name]) for name in names]
        for names in (("d_1x", "d_1y", "d_1z"), ("J_11", "J_12", "J_13", "J_22", "J_23", "J_33"))
    )
    whole = np.array([[J[0], J[1], J[2]], [J[1], J[3], J[4]], [J[2], J[4], J[5]]])
    force = float(at["m_1"]) * np.cross(v[:3], np.array(v[3:]) + np.cross(v[:3], d))
    moment = np.cross(v[:3], whole @ v[:3]) + np.cross(d, force)
    ours = [float(bodies.number(f"b_1:[{i}]", 0)) for i in range(1, 7)]
    np.testing.assert_allclose(ours, [*moment, *force], rtol=1e-12)


def test_one_newton_step_ends_the_matching_of_a_linear_equation_and_none_does_not():
    parts = Subdomains()
    assert all(parts.number(f"phi after:[{i}]", 0) == 0 for i in INNER)
    assert all(parts.number(f"phi:[{i}]", 0) != 0 for i in INNER)
