"""Every order in every number type against printed 40-digit accelerations.

The strings in ``tests/models`` come from a 40-digit recursion outside this project, on exactly
the doubles of each file.
"""

from decimal import Decimal
from fractions import Fraction
from functools import cache

import flint
import numpy as np
import pytest
from designs import covering, listed
from helpers import MODELS as FILES
from helpers import light_tip, printed, solve, system_of

from pivotree import kkt, orderings
from pivotree.kkt.proof.certify import decimal

MODELS = sorted(FILES, key=lambda name: kkt.compile_tree(kkt.load(FILES[name])).n)  # the longest last
KINDS = ("abm", "crbm", "virtual_work", "lagrange", "square_root_abm", "divide_and_conquer", "gain_abm")
ORDERS = [*KINDS, *(name for name in orderings.names() if name not in KINDS)]
CRBM = ("crbm", "crbm_block_row")  # orders that leave the joint-space inertia
STABLE = ("abm", "modified_abm", "square_root_abm", "bad_abm", "projected_abm", "joseph_abm", "gain_abm")
STABLE += ("modified_abm_stretched",)
BOUNDS = dict.fromkeys(STABLE, 1e-14) | {"lagrange": 1e-13}
OTHERS = 5e-12
UNIT = 1.1e-16  # float64


@cache
def certified(spec, rounded_to):
    return kkt.certify(system_of(spec), 30, rounded_to=rounded_to)


def assert_printed(model, qdd):
    """Each number has the 40 digits of the model's file."""
    for x, text in zip(qdd, printed(model), strict=True):
        assert Decimal(decimal(x, 40)) == Decimal(text)


def off(model, qdd):
    """max |qdd - exact| / max |exact|, in 60-digit decimals."""
    exact = [Decimal(x) for x in printed(model)]
    wrong = [abs(Decimal(float(x)) - y) for x, y in zip(qdd, exact, strict=True)]
    return float(max(wrong) / max(map(abs, exact)))


@pytest.mark.uncached
@pytest.mark.parametrize(("order", "model"), covering(ORDERS, MODELS, unmarked=2))
def test_float64(order, model):
    result = solve(model, order)
    assert result.qdd.dtype == np.float64 and result.failed_at is None
    bound = BOUNDS.get(order, OTHERS)
    if order in CRBM:  # normal equations: the condition of the joint-space inertia counts
        cond = system_of(model).graph.graph["expected"]["cond_M"]
        bound = 100 * UNIT * cond
    assert off(model, result.qdd) <= bound


@pytest.mark.parametrize(("order", "model"), covering(KINDS, MODELS, unmarked=1))
def test_mpmath_gives_every_printed_digit(order, model):
    assert_printed(model, solve(model, order, "mp:50").qdd)


@pytest.mark.parametrize(
    ("model", "order"),
    covering(MODELS, ["square_root_abm", "lagrange", "divide_and_conquer", "abm"], unmarked=1),
)
def test_balls_hold_every_printed_digit(model, order):
    qdd = solve(model, order, "ball:50").qdd
    assert_printed(model, qdd)
    for x, text in zip(qdd, printed(model), strict=True):
        with flint.ctx.workprec(400):
            assert x.rel_accuracy_bits() >= 50 * 3.32
            # the truth lies in the string's last digit, and the ball within it
            assert abs(x - flint.arb(text)) < abs(x) * flint.arb("1e-38")


def test_fractions_are_the_exact_answer():
    """One fraction whatever the order, inside the certified ball, with the printed digits."""
    answers = [solve("ur5", order, "exact").qdd for order in ("abm", "crbm", "lagrange")]
    assert (answers[0] == answers[1]).all() and (answers[0] == answers[2]).all()
    balls = kkt.certify(system_of("ur5"), 60).qdd
    for x, ball, text in zip(answers[0], balls, printed("ur5"), strict=True):
        assert isinstance(x, Fraction)
        with flint.ctx.workprec(1000):
            assert flint.fmpq(x.numerator, x.denominator) in ball
        assert abs(x - Fraction(text)) <= abs(x) * Fraction(1, 10**39)


def test_exact_fractions_solve_the_sparse_matrix_exactly():
    """K x = rhs with no error at all, for data whose assembly is exact in doubles."""
    tree = kkt.new_tree("exact", (0.0, -8.0, 0.0))
    link = {"com": (0.5, 0.25, 0.0), "inertia": np.diag([1.0, 2.0, 2.5]), "p": (1.0, 0.5, 0.0)}
    link["axis"] = (0, 0, 1)
    for k in range(3):
        kkt.add_body(tree, k, k - 1 if k else None, mass=2.0**k, **link)
    system = kkt.build(tree, qd=[0.5, 1.5, -2.0], tau=[1.0, 0.25, 3.0])
    result = kkt.eliminate(system, orderings.get("abm"), "exact")
    x = [*result.pdd.ravel(), *result.qdd, *result.f.ravel()]
    assert not any(left_over(system, x))


def left_over(system, x, dtype=np.float64):
    """K x - rhs of the sparse matrix, its data rounded, in exact fractions."""
    left = [-Fraction(float(dtype(r))) for r in system.rhs]
    K = system.matrix.tocoo()
    for i, j, value in zip(K.row, K.col, K.data, strict=True):
        left[i] += Fraction(float(dtype(value))) * x[j]
    return left


@pytest.mark.parametrize("rounded_to", ["float32", "float64"])
def test_the_certified_answer_solves_the_rounded_matrix(rounded_to):
    """Its residual in equation (4), data rounded, in exact rational arithmetic."""
    system = system_of("panda")
    solution = certified("panda", rounded_to).solution
    x = [None] * system.size
    for block, where in system.blocks.items():
        for i, ball in zip(range(where.start, where.stop), solution[block], strict=True):
            mantissa, exponent = ball.mid().man_exp()
            x[i] = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    left = left_over(system, x, np.dtype(rounded_to).type)
    assert max(map(abs, left)) <= Fraction(1, 10**25) * max(map(abs, x))


def test_rounding_the_data_is_told_apart_from_rounding_the_arithmetic():
    """The float32 answer is held against float32's data: those differ by 1e-8 to 1e-6 here."""
    exact, rounded = certified("panda", None), certified("panda", "float32")
    apart = exact.error(np.array([float(x) for x in rounded.qdd]))
    assert 1e-9 < apart < 1e-4
    assert rounded.error(solve("panda", "abm", "float32").qdd) < 1e-5


LESS = ("modified_abm", "bad_abm", "virtual_work", "lagrange", "divide_and_conquer")
BOUNDS32 = dict.fromkeys(STABLE, 2e-6) | dict.fromkeys(LESS, 1e-5)


@pytest.mark.parametrize("order", listed(BOUNDS32, unmarked=1))
def test_a_chain_of_100_in_float32(order):
    result = solve("chain_100", order, "float32")
    assert result.qdd.dtype == np.float32
    assert 1e-9 < certified("chain_100", "float32").error(result.qdd) <= BOUNDS32[order]


@pytest.mark.parametrize(
    ("error", "mass", "named"),
    [
        (kkt.CertificationError, 1.0, r"qdd_tip cannot be told from zero .*the point mass 'tip'"),
        (kkt.PivotreeError, 0.0, r"'tip'.*give it an inertia"),
    ],
)
def test_a_singular_system_is_never_certified(error, mass, named):
    """A point mass on its own joint's axis, or none: D_tip is zero, though its entries are not."""
    with pytest.raises(error, match=named):
        kkt.certify(kkt.build(light_tip(mass)), 30)


@pytest.mark.parametrize("digits", [15, 40, 200])
def test_asked_digits_are_proved(digits):
    found = kkt.certify(system_of("chain_10"), digits)
    assert found.digits == digits and found.bits > digits * 3.32
    for ball, text in zip(found.qdd, printed("chain_10"), strict=True):
        with flint.ctx.workprec(4 * found.bits):
            assert ball.rad() <= abs(ball.mid()) * flint.arb(10) ** -digits
        assert decimal(ball, 15) == found.decimals(15)[found.qdd.index(ball)]
        shown = min(digits, 39)
        allowed = abs(Decimal(text)) * Decimal(10) ** (1 - shown)
        assert abs(Decimal(decimal(ball, shown)) - Decimal(text)) <= allowed
