"""The closed forms are proved, what is false is not, and what cannot be told is said to be so."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from helpers import ROOT
from proof_mutants import chosen, mutants, refused

from pivotree import kkt
from pivotree.analysis import cli, proofs
from pivotree.analysis.algebra.algebra import Algebra, Undecided, one
from pivotree.analysis.proofs import prove as proving
from pivotree.analysis.proofs import statements
from pivotree.analysis.proofs.arm import Arm, blocks
from pivotree.analysis.proofs.bench import Bench
from pivotree.analysis.proofs.claim import FAILED, PROVED, UNDECIDED, Equal, Misprint, Statement, all_of
from pivotree.analysis.proofs.rigid import RigidBodies
from pivotree.analysis.proofs.scalars import Same
from pivotree.papers.pasic1999.proofs import equations as pasic1999
from pivotree.papers.pasic1999.proofs.interfaces import INNER, Subdomains

QUICK = ("equation (9)", "composite inertias", "RR arm: misprint in m_12")

FEWEST = 5  # mutants of a statement

# of seconds to a minute each
DEAR = (
    *("orders solve (4)", "free bodies", "orders of free bodies solve (4)", "constraint forces, one inverse"),
    *("constraint forces, leaf to root", "constraint forces, root to leaf", "articulated-body recursion"),
    *("constraint forces and articulated bodies", "Lagrange multipliers", "equations (1) and (2)"),
    *("a step reads what is left", "RR arm: accelerations"),
    *("D_k > 0", "D_k > 0, every n", "the same pivots", "S is monotone", "propagators project"),
    *("joints of none and of six, every n", "inverse dynamics by operators", "equation (5)"),
    *("joint accelerations", "articulated inertia, every n", "force propagator", "bias of the joints"),
    *("articulated-body method: inward", "articulated-body method: outward", "equation (11), stretched"),
    *("bias of the articulated body", "equation (11)", "articulated inertia"),
    *("two links by ABM", "a joint's turn, every n", "equations of motion", "what the joint leaves"),
)
MARKS = dict.fromkeys(QUICK, ()) | dict.fromkeys(DEAR, pytest.mark.soak)


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=MARKS.get(x, pytest.mark.product)) for x in statements()]
)
def test_every_statement_is_proved_and_every_mutant_is_not(name):
    """A statement of which five mutants cannot be made says too little to be tested."""
    claims = list(statements()[name].claims())
    verdict = all_of(claims)
    assert (verdict.status, verdict.why) == (PROVED, "") and claims
    wrong = chosen(claims, FEWEST, random.Random(name))
    assert len(wrong) == FEWEST
    passed = [(one.text, [reader for reader, no in refused(one).items() if not no]) for one in wrong]
    assert [(text, by) for text, by in passed if by] == []


# -- what is false ------------------------------------------------------------------------------


def test_an_inverse_is_not_multiplied_out():
    """(H M H*)^-1 is not H*^-1 M^-1 H^-1, which 'proves' M - M H* D^-1 H M = 0."""
    t = Bench((0,), dof=(1,))
    M, H = t.M(1), t.H(1)
    M_bar = M - M * H.T * (H * M * H.T).I * H * M
    assert Equal("", t, M_bar * H.T, 0 * H.T).decide().status == PROVED
    readers = Equal("", t, M_bar, 0 * M).decide().readers
    assert readers == {"rewriter": UNDECIDED, "polynomials": FAILED, "fractions": FAILED}
    assert not any(t.field(point).equal(M_bar, 0 * M) for point in (None, 0))


def test_a_misprint_that_is_none_is_not_called_one():
    t = Bench((2, 0))
    left = t.after("abm", 0).entry(("qdd", 1), ("f", 1))
    meant = t.H(1)
    assert Misprint(Equal("H", t, left, t.H(1)), meant).decide().status == FAILED
    misprint = Misprint(Equal("H", t, left, 2 * t.H(1)), meant)
    assert misprint.decide().status == PROVED and not any(refused(misprint).values())
    assert all(all(refused(m).values()) for m in mutants(misprint, random.Random(0)))
    misread = replace(
        misprint, printed=replace(misprint.printed, left=-left)
    )  # what is meant is not there, too
    assert misread.decide().status == FAILED


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda t: t.after("abm", 1).entry(("pdd", 1), ("pdd", 2)), "pdd_1: is not left"),
        (lambda t: t.after("abm", 1).rhs(("pdd", 1)), "pdd_1: is not left"),
        (lambda t: t.after("abm", 9).rhs(("pdd", 2)), "pdd_2: is not left"),
        (lambda t: t.after("abm", 1).inverse(("f", 2), ("f", 2)), "f_2: is not left"),
        (lambda t: t.eliminated("abm", {"tau_3": t.tau(1)}), "tau_3: no block of"),
    ],
)
def test_a_block_that_is_not_there_is_not_called_zero(ask, why):
    with pytest.raises(AssertionError, match=why):
        ask(Bench((2, 0)))


# -- what cannot be told ------------------------------------------------------------------------


@pytest.fixture
def one_statement(monkeypatch):
    """The registry holds one statement with these claims."""

    def put(claims):
        only = {"s": Statement("s", "nobody", "nothing", claims)}
        monkeypatch.setattr(proofs, "statements", lambda: only)

    return put


def parallel_sum():
    """True, but the normal form cannot tell."""
    t = Bench((0,))
    A, B = (t.symbol(name, 6, 6, symmetric=True) for name in ("A", "B"))
    claim = Equal("parallel sum", t, A * (A + B).I * B, (A.I + B.I).I)
    assert claim.numbers_agree()
    return [claim]


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


# -- the command --------------------------------------------------------------------------------


@pytest.mark.soak
def test_side_by_side_is_one_after_another():
    names = ["equation (9)", "equation (8)"]
    once = proving.prove(names, 1)
    heard = []
    twice = proving.prove(names, 2, heard.append)
    assert [p.name for p in twice] == names and {p.name for p in heard} == set(names)
    assert [(p.status, p.claims) for p in once] == [(p.status, p.claims) for p in twice]


# -- the algebra --------------------------------------------------------------------------------


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


def test_engine_values_and_letters_have_the_same_numbers():
    t = Bench((2, 0))
    e = t.eliminated("abm")
    left, a = e.x("pdd", 2) + t.H(2).T * e.x("qdd", 2), t.a(2)
    assert t.field(0).equal(left, -a) and not np.array_equal(t.field(0).value(a), t.field(1).value(a))
    for k in t.bodies:
        assert t.field(0).equal(t.H(k) * t.B(k), sp.Identity(t.dof(k)))
        assert not t.field(0).value(t.H(k) * t.C(k)).any()


@pytest.mark.docs
def test_the_page_lists_every_statement():
    page = (ROOT / "docs/proofs.md").read_text(encoding="utf-8")
    rows = [f"| {s.name} | `{s.says}` | {s.source} |" for s in statements().values()]
    assert [row for row in rows if row not in page] == []
    table = page.partition("| statement | says | source |")[2]
    assert table.count("\n| ") == len(rows)


# -- polynomials beside the rewriter ------------------------------------------------------------------


def test_polynomials_have_a_verdict_of_their_own_that_no_rule_can_sway(monkeypatch):
    """A rewriter that calls everything zero is contradicted, by name."""
    monkeypatch.setattr(Algebra, "reduced", lambda self, terms: {})
    t = Bench((2, 0))
    left = t.after("abm", 1).entry(("pdd", 2), ("pdd", 2))
    assert Equal("M^_2", t, left, left).decide().status == PROVED
    wrong = Equal("M^_2", t, left, t.M(2))
    assert refused(wrong) == {"rewriter": False, "polynomials": True}
    verdict = wrong.decide()
    assert (verdict.readers["rewriter"], verdict.readers["polynomials"]) == (PROVED, FAILED)
    assert verdict.status == FAILED and "readers disagree" in verdict.why


def test_polynomials_read_nothing_of_the_rewriter():
    text = (ROOT / "analysis/proofs/fields.py").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if "import" in line and "algebra" in line] == []


def test_numbers_solve_the_whole_of_4_where_symbols_are_too_many():
    """A solution put back: the row of a body, in numbers; the readers say who decided it."""
    t = Bench((3, 3, 4, 0))
    e, at = t.eliminated("abm"), t.field(0)
    left, right = t.M(1) * e.x("pdd", 1) + e.x("f", 1), t.b(1)
    assert at.equal(left, right) and at.value(e.x("f", 1)).any()
    assert at.value(e.x("qdd", 2)).shape == (2, 1)
    assert Equal("", t, left, right).decide().readers == {"rewriter": PROVED, "fractions": PROVED}
    by_nobody = Equal("", t, left, right, rewritten=False).decide()
    assert by_nobody.status == UNDECIDED and "too large" in by_nobody.why


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


# -- the arm ------------------------------------------------------------------------------------


def test_the_arm_in_letters_is_the_arm_of_the_gallery():
    """Blocks of (4) at the gallery's numbers, against what kkt.build makes of its tree."""
    tree = kkt.load("rr_arm")
    q, qd, tau = np.array([0.3, -0.8]), np.array([0.7, 1.1]), np.array([0.4, 0.1])
    tree.graph.update(q=q, qd=qd, tau=tau)
    system = kkt.build(tree)
    at = {"l_1": 0.4, "l_2": 0.2, "l_c1": 0.2, "l_c2": 0.1, "m_1": 12.0, "m_2": 6.0, "g": 9.81}
    for k, I33 in ((1, 0.2), (2, 0.04)):
        at |= {f"I_{k}11": I33 / 10, f"I_{k}22": I33, f"I_{k}33": I33}
        at |= {f"c_{k}": np.cos(q[k - 1]), f"s_{k}": np.sin(q[k - 1])}
        at |= {f"thetad_{k}": qd[k - 1], f"tau_{k}": tau[k - 1]}
    ours = blocks(lambda name: at.get(name, 0.0), ("l_2", None))
    A, x = system.matrix.toarray(), system.rhs
    for k, link in enumerate(("link1", "link2")):
        pdd, qdd, f = (system.blocks[kind, link] for kind in ("pdd", "qdd", "f"))
        pairs = [(A[pdd, pdd], ours["M", k]), (A[qdd, f], ours["H", k])]
        pairs += [(x[pdd], ours["b", k][:, 0]), (x[f], -ours["a", k][:, 0])]
        pairs += [(x[qdd], ours["tau", k][:, 0])]
        if k:
            pairs.append((A[system.blocks["pdd", "link1"], f], -ours["Phi", k]))
        for theirs, block in pairs:
            np.testing.assert_allclose(theirs, block.astype(float), atol=1e-12)


def test_a_wrong_term_fails_and_what_is_no_polynomial_is_undecided():
    arm = Arm()
    claim = Same("m_22", arm, arm.engine("crbm", 2, "qdd_2,qdd_2"), pasic1999.M_22)
    assert claim.decide().status == PROVED
    for wrong in (pasic1999.M_22 + pasic1999.l_1, pasic1999.M_22 * 2, pasic1999.M_12):
        assert replace(claim, right=wrong).decide().status == FAILED
    assert replace(claim, right=sp.sqrt(pasic1999.M_22**2)).decide().status == UNDECIDED


def test_circles_are_what_makes_formulas_equal():
    """c^2 + s^2 = 1 is used, and c s = 1 is not."""
    arm, (c, s) = Arm(), sp.symbols("c_2 s_2")
    assert Same("circle", arm, c**2 + s**2, sp.Integer(1)).decide().status == PROVED
    assert Same("no circle", arm, c**2 - s**2, sp.Integer(1)).decide().status == FAILED
