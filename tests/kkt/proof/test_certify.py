"""Certificates: balls held against exact fractions and printed strings, by any feasible order."""

import json
import re
from decimal import Decimal
from fractions import Fraction

import flint
import numpy as np
import pytest
from helpers import MODELS, every_joint, printed, solve, system_of, tape_of

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.kkt.proof.balls import decimal_ball
from pivotree.kkt.proof.certify import Nonsingular

ORDERS = ("abm", "crbm", "lagrange", "divide_and_conquer", "virtual_work", "modified_abm")


def holds(ball, exact):
    return abs(Fraction(ball.mid) - exact) <= Fraction(ball.rad)


@pytest.mark.product
@pytest.mark.parametrize("spec", ["random_tree:n=4,seed=2", "two_link:r=0.002", "star:3", "ur5"])
@pytest.mark.parametrize("order", ORDERS)
def test_fractions_lie_in_the_decimal_balls_of_every_order(spec, order):
    exact = solve(spec, "abm", "exact").qdd
    certified = kkt.certify(system_of(spec), 40, tape=tape_of(spec, order))
    assert certified.order == order
    for ball, x in zip(certified.balls(), exact, strict=True):
        assert isinstance(x, Fraction) and holds(ball, x)
        assert Fraction(ball.rad) <= Fraction(1, 10**40) * abs(x)
        assert not holds(ball, x * (1 + Fraction(1, 10**38)))


@pytest.mark.product
@pytest.mark.parametrize("model", MODELS)
def test_balls_of_two_orders_hold_the_printed_digits(model):
    for order in ("abm", "lagrange"):
        balls = kkt.certify(system_of(model), 60, tape=tape_of(model, order)).balls()
        for ball, text in zip(balls, printed(model), strict=True):
            assert abs(Decimal(ball.mid) - Decimal(text)) <= Decimal("1e-39") * abs(Decimal(text))
            assert len(Decimal(ball.mid).as_tuple().digits) == 61
            assert Decimal(ball.rad) <= Decimal("1e-60") * abs(Decimal(ball.mid))


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
    proof = kkt.certify(system, 30, tape=orderings.get("abm")).nonsingular
    assert proof.pivots == 2 and proof.block == ("qdd", 2) and 0.999 < proof.least <= 1.0
    assert str(proof) == "no ball of 2 pivots holds zero; |qdd_2| >= 1"
    assert str(Nonsingular(0, None, np.inf)) == "no ball of 0 pivots holds zero"


def test_a_tree_without_freedom_has_an_empty_certificate():
    tree = kkt.new_tree("fixed")
    kkt.add_body(tree, "base", mass=1.0, inertia=np.eye(3), joint="fixed")
    assert kkt.certify(kkt.build(tree), 20).balls() == []


@pytest.mark.parametrize("digits", [0, -3, 1_000_001, 2.5, True])
def test_numbers_of_digits_that_are_none(digits):
    with pytest.raises(kkt.CertificationError, match="ask for 1 to 1000000"):
        kkt.certify(system_of("ur5"), digits)


@pytest.mark.product
@pytest.mark.parametrize("spec", ["chain:100", "humanoid"])
def test_fifty_digits(spec):
    assert kkt.certify(system_of(spec), 50).digits == 50


@pytest.mark.product
def test_every_joint_by_every_order():
    system = kkt.build(every_joint())
    exact = kkt.eliminate(system, orderings.get("abm"), "exact").qdd
    for order in ORDERS:
        balls = kkt.certify(system, 25, tape=orderings.get(order)).balls()
        assert all(holds(ball, x) for ball, x in zip(balls, exact, strict=True))


# -- the command line -----------------------------------------------------------------------------


def test_solve_certify_in_json(capsys):
    path = str(MODELS["panda"])
    assert main(["solve", path, "--order", "crbm", "--certify", "30", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    first = ["model", "state", "order", "format", "qdd", "error", "certified_digits"]
    assert list(document)[:7] == first
    assert document["certified_digits"] == 30 and document["order"] == "crbm"
    assert document["bits"] >= 128 and document["nonsingular"].startswith("proved: no ball of")
    for ball, text in zip(document["balls"], printed("panda"), strict=True):
        assert abs(Decimal(ball["mid"]) - Decimal(text)) <= Decimal(ball["rad"])


def test_solve_certify_in_words(capsys):
    assert main(["solve", "chain:3", "--certify", "20"]) == 0
    out = capsys.readouterr().out
    assert "j1\t" in out and " +/- " in out
    assert re.search(r"20 digits of every qdd proved by abm in balls of \d{3} bits; ", out)
    assert "nonsingular: proved: no ball of 3 pivots holds zero" in out


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


@pytest.mark.parametrize("digits", ["0", "-1", "100001"])
def test_solve_refuses_other_numbers_of_digits(digits, capsys):
    assert main(["solve", "chain:3", f"--certify={digits}"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"pivotree: option --certify: {digits} ") and error.count("\n") == 1


def test_solve_names_the_pivot_of_a_singular_system(tmp_path, capsys):
    tree = kkt.new_tree("light tip")
    kkt.add_body(tree, "base", mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
    kkt.add_body(tree, "tip", "base", mass=1.0, com=(0.5, 0.5, 0.5), p=(1.0, 0, 0), axis=(1, 1, 1))
    path = tmp_path / "light.json"
    kkt.write_model(path, kkt.build(tree).state)
    assert main(["solve", str(path), "--certify", "20"]) == 2
    error = capsys.readouterr().err
    assert "qdd_tip" in error and error.count("\n") == 1
