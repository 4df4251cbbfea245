"""docs/guarantee.md, step 9: terms of first order are not enough, and 1.25 times them are.

In exact fractions, in the standard model: each operation is off by 1 + d, |d| <= u.
"""

from fractions import Fraction

import pytest

from pivotree.kkt.proof.joint_inertia import LARGEST, PHI, SECOND
from pivotree.kkt.proof.recursion import LOCAL

MOST = Fraction(1, 1000)  # of n u, and so of u
L, h = Fraction(LARGEST).limit_denominator(), Fraction(LOCAL).limit_denominator()


def one_bracket(u, X):
    """Two freedoms [[1, 1], [1, 1 + d]], d = X^-2, beside an entry of which they let all go.

    What the computed Mbar is off by, over u s^2; e of step 4; and what the pivot is off by.
    """
    d = Fraction(1, X * X)
    s2 = d  # (beside / sqrt d)^2 with beside = d: Mbar = s2 - d^2 / d = 0
    quotient = Fraction(1) * (1 + u)
    term = 1 * quotient * (1 + u)  # c (c / d), both rounded up
    left = 1 + d - term  # a difference of near numbers is exact
    off = abs(s2 - d * d / left)
    e = 3 + 2 * 2 * X + 2 * (1 + d) * X * X  # 3 beside, 2 across, 2 in the second pivot
    return off / (u * s2), e, abs(left - d) / d


def test_first_order_alone_is_refuted_where_the_theorem_holds():
    X = 10**13
    u = h / Fraction(SECOND) / (2 * (X * X + 1))
    off, e, pivot = one_bracket(u, X)
    assert Fraction(SECOND) * u * 2 * (X * X + 1) <= h  # the theorem's own test of this joint
    assert e < off <= Fraction(SECOND) * e
    assert pivot > u * 2 * X * X  # 2 u + u^2 of the pivot


def needed(largest=L, local=h, most=MOST, phi=L):
    """The product of step 9, each factor from the theorem's own thresholds."""
    sizes = 1 + largest  # two roots of computed inertias
    pivot = 1 / ((1 - largest) * (1 - local))  # squared minimisers: computed D in the place of D
    computed = (1 + largest) * pivot  # Cauchy and Schwarz for computed c
    let_go = 1 + 24 * most  # what is left in rows that are zero
    gamma = 1 / (1 - 13 * most)  # gamma_m / (m u), m at most 12 and the children
    firm = 1 / (1 - phi)  # L_k with a rounded Phi
    return sizes * pivot * computed * let_go * gamma * firm


def test_the_product_of_all_factors_is_covered():
    assert 1 < needed() < Fraction(122, 100) < Fraction(SECOND)
    # PHI: entries of Phi, rounded, move |Phi| |M| |Phi|* by 2 u + u^2
    assert Fraction(PHI) >= 2 + MOST


@pytest.mark.parametrize(
    "looser", [{"largest": 2 * L}, {"local": 6 * h}, {"most": 4 * MOST}, {"phi": 5 * L}]
)
def test_no_threshold_of_the_theorem_can_be_loosened_far(looser):
    """They are what the product is made of: the factor would no longer cover it."""
    assert needed(**looser) > Fraction(SECOND)
