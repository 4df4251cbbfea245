"""Certificates: balls held against exact fractions and printed strings, by any feasible order."""

import json
from decimal import Decimal
from fractions import Fraction
from functools import cache

import flint
import numpy as np
import pytest
from designs import covering, listed
from helpers import ALL_JOINTS, light_tip, printed, solve, system_of, tape_of

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.simulation import begun
from pivotree.kkt.proof import certify
from pivotree.kkt.proof.certify import Nonsingular
from pivotree.kkt.proof.trust import decimal_ball

ORDERS = ("abm", "crbm", "lagrange", "divide_and_conquer", "virtual_work", "modified_abm")
SPECS = (f"random_tree:n=6,seed=2,joints={ALL_JOINTS}", "two_link:r=0.002", "star:3", "ur5")


def holds(ball, exact):
    return abs(Fraction(ball.mid) - exact) <= Fraction(ball.rad)


@cache
def in_fractions(spec):
    return solve(spec, "abm", "exact").qdd


@pytest.mark.parametrize(("order", "spec"), covering(ORDERS, SPECS))
def test_fractions_lie_in_the_decimal_balls_of_every_order(order, spec):
    exact = in_fractions(spec)
    certified = kkt.certify(system_of(spec), 40, order=tape_of(spec, order))
    assert certified.order == order
    for ball, x in zip(certified.balls(), exact, strict=True):
        assert isinstance(x, Fraction) and holds(ball, x)
        assert Fraction(ball.rad) <= Fraction(1, 10**40) * abs(x)
        assert not holds(ball, x * (1 + Fraction(1, 10**38)))


@pytest.mark.parametrize("model", listed(["ur5", "chain_10", "panda"], unmarked=1))
def test_balls_of_two_orders_hold_the_printed_digits(model):
    for order in ("abm", "lagrange"):
        balls = kkt.certify(system_of(model), 60, order=tape_of(model, order)).balls()
        for ball, text in zip(balls, printed(model), strict=True):
            assert abs(Decimal(ball.mid) - Decimal(text)) <= Decimal("1e-39") * abs(Decimal(text))
            assert len(Decimal(ball.mid).as_tuple().digits) == 61
            assert Decimal(ball.rad) <= Decimal("1e-60") * abs(Decimal(ball.mid))


def test_more_digits_than_were_proved_are_not_told():
    system = system_of("chain:3")
    few, many = kkt.certify(system, 20), kkt.certify(system, 300)
    for told, right in zip(few.decimals(300), many.decimals(), strict=True):
        assert 20 < len(told) < 100 and right.startswith(told[:-1])
    found = solve("chain:3", "abm", "float32")
    unknowns = {("f", "j2"): found.f[1], ("fJ", "j2"): found.f[1, :1]}
    whole, part = (few.block_error([kkt.Block(kind, "j2")], unknowns) for kind in ("f", "fJ"))
    assert whole == part > 0.0


@pytest.mark.parametrize("spec", ["four_bar", SPECS[0]])
def test_a_solution_that_is_off_in_one_block_is_refused_by_its_residual(spec, monkeypatch):
    """Whatever program found it: each unknown is held by a row of (4)."""
    system, tape, right = system_of(spec), tape_of(spec, "abm"), certify.run
    blocks = [b for b, balls in kkt.certify(system, 20, order=tape).solution.items() if len(balls)]
    assert {"pdd", "qdd", "f"} <= {b.kind for b in blocks}
    for block in blocks:

        def off(*given, block=block):
            solution, *rest = right(*given)
            return {**solution, block: solution[block] + flint.arb(1e-9)}, *rest

        monkeypatch.setattr(certify, "run", off)
        with pytest.raises(kkt.CertificationError, match="its solution does not satisfy row"):
            kkt.certify(system, 20, order=tape)


@pytest.mark.product
@pytest.mark.parametrize("digits", [1, 2, 3, 17, 300])
def test_decimal_balls_hold_what_the_ball_holds(digits):
    rng = np.random.default_rng(digits)
    with flint.ctx.workprec(8000):  # so that the edges are exact
        for _ in range(50):
            mid = flint.arb(float(rng.normal())) * flint.arb(10) ** int(rng.integers(-400, 400))
            ball = flint.arb(mid.mid(), float(rng.uniform(0, 1e-3)))
            inside = decimal_ball(ball, digits)
            for edge in (ball.lower(), ball.upper()):
                m, e = (int(x) for x in edge.mid().man_exp())
                assert holds(inside, Fraction(m) * Fraction(2) ** e)
    assert decimal_ball(flint.arb(0), digits) == ("0", "0")
    assert Fraction(decimal_ball(flint.arb(-2), digits).mid) == -2


@pytest.mark.uncached
def test_nonsingularity_is_proved_by_pivots_that_are_not_zero():
    """Example 3, case 1: D_1 = m1 = 1e8 and D_2 = 1 exactly."""
    system = kkt.build(kkt.example3(1e8, 1))
    proof = kkt.certify(system, 30, order=orderings.get("abm")).nonsingular
    assert proof.pivots == 2 and proof.block == ("qdd", 2) and 0.999 < proof.least <= 1.0
    assert str(proof) == "no ball of 2 pivots holds zero; |qdd_2| >= 1"
    assert str(Nonsingular(0, None, np.inf)) == "no ball of 0 pivots holds zero"


def test_a_tree_without_freedom_has_an_empty_certificate():
    tree = kkt.new_tree("fixed")
    kkt.add_body(tree, "base", mass=1.0, inertia=np.eye(3), joint="fixed")
    assert kkt.certify(kkt.build(tree), 20).balls() == []


@pytest.mark.parametrize("spec", listed(["humanoid", "chain:100"], unmarked=1))
def test_fifty_digits(spec):
    assert kkt.certify(system_of(spec), 50).digits == 50


# -- loops and contacts --------------------------------------------------------------------------

CLOSED = [
    ("four_bar", "virtual_work"),
    ("quadruped:feet=2", "crbm"),
    ("stewart", "abm"),
    ("delta", "random:3"),
    ("gripper", "crbm"),
    ("quadruped:feet=4", "abm"),
    ("quadruped:feet=1", "crbm"),
    ("quadruped:feet=3", "virtual_work"),
]


def moving(spec):
    """In a random motion that keeps the loops, under random efforts."""
    tree = kkt.from_spec(spec)
    N, draw = kkt.compile_tree(tree).N, np.random.default_rng(len(spec))
    tree, _ = begun(tree, qd=draw.normal(size=N), project=True)
    return kkt.build(tree, tau=5.0 * draw.normal(size=N))


def dense(system):
    """All unknowns by arb_mat.solve on the whole matrix of (4), entries as doubles."""
    rows = [[flint.arb(float(x)) for x in row] for row in system.matrix.toarray()]
    right = [[flint.arb(float(x))] for x in system.rhs]
    return flint.arb_mat(rows).solve(flint.arb_mat(right), algorithm="lu")


@pytest.mark.parametrize(("spec", "order"), listed(CLOSED, unmarked=1))
def test_fifty_digits_of_qdd_and_lambda_are_those_of_the_whole_matrix(spec, order):
    """FLINT's dense solution of all rows of (4)."""
    system = moving(spec)
    found = kkt.certify(system, 50, rounded_to="float64", order=kkt.trace(system, orderings.get(order)))
    assert found.digits == 50 and len(found.lam) == len(system.entries.gamma)
    with flint.ctx.workprec(found.bits):
        x = dense(system)
        kinds = {"qdd": system.tree.names, "lam": system.structure.constraints}
        for kind, names in kinds.items():
            unknowns = [
                (ball, x[int(i), 0])
                for name in names
                if (kind, name) in found.solution
                for ball, i in zip(found.solution[kind, name], np.r_[system.blocks[kind, name]], strict=True)
            ]
            size = max(abs(float(ball.mid())) for ball, _ in unknowns)
            for ball, same in unknowns:
                assert ball.overlaps(same)
                assert float(ball.rad()) <= 1e-50 * size and float(same.rad()) <= 1e-40 * size
    lam = np.array([float(ball) for ball in found.lam])
    ours = kkt.eliminate(system, orderings.get("abm")).lam
    assert np.abs(ours - lam).max() <= 1e-10 * np.abs(lam).max()


def test_a_multiplier_that_carries_nothing_is_certified():
    """Symmetric: the coupling of two equal pendulums side by side has no effort."""
    tree = kkt.new_tree("pendulums")
    for name in "ab":
        rod = {"mass": 1.0, "com": (0.3, 0, 0), "inertia": np.eye(3)}
        kkt.add_body(tree, name, axis=(0, 1, 0), **rod)
    tree.graph["loops"] = [kkt.coupled_joints(tree, "b", "a", 1.0)]
    found = kkt.certify(kkt.build(tree, [0.3, 0.3]), 50)
    assert len(found.lam) == 1 and abs(float(found.lam[0])) < 1e-50


# -- the command line -----------------------------------------------------------------------------


def test_balls_stand_where_the_format_fails(capsys):
    """Example 3, case 2: crbm's D_2 is zero in float32, and proved to be nonzero in balls."""
    arguments = ["solve", "example3:m1=1e8,case=2", "--order", "crbm", "--format", "float32"]
    assert main(arguments) == 2
    assert "qdd_2" in capsys.readouterr().err
    assert main([*arguments, "--certify", "20"]) == 0
    out = capsys.readouterr().out
    assert "nonsingular: proved" in out and "crbm in float32 gives no answer: pivot qdd_2" in out
    assert main([*arguments, "--certify", "20", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["qdd"] == [None, None] and document["error"] is None
    assert len(document["balls"]) == 2


def test_solve_names_the_pivot_of_a_singular_system(tmp_path, capsys):
    path = tmp_path / "light.json"
    kkt.write_model(path, kkt.build(light_tip()).state)
    assert main(["solve", str(path), "--certify", "20"]) == 2
    error = capsys.readouterr().err
    assert "qdd_tip" in error and error.count("\n") == 1
