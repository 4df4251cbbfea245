"""docs/theory/guarantee.md, step 9: terms of first order are not enough, and 1.25 times them are.

In exact fractions, in the standard model: each operation is off by 1 + d, |d| <= u; and in float64,
where a robot's numbers are such that roundings are all but u, and of one sign.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from pivotree import kkt, orderings
from pivotree.analysis.states.traced import TracedOrder
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.theorem.recursion import LARGEST, LOCAL, PHI, SECOND
from pivotree.kkt.theorem.roundings import roundings

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


def rod_on_a_slide():
    """A rod that turns about two axes, all but thin along one, on a slide of its own mass.

    With one = 2 u, float64's, b b is all but half of one below the number it is rounded to, and so
    is that, over a, below its own.  Of c 125 ones are left.
    """
    one, thin = 2.0**-52, 2.0**-10
    a, b = 1.0 + 46_302_394 * one, 1.0 + 47_457_878 * one
    c = b * b / a + 125 * one
    left = (Fraction(c) - Fraction(b) ** 2 / Fraction(a)) * Fraction(thin) ** 2
    b, c = b * thin, c * thin**2
    mass = float(left * Fraction(9995, 10000))  # the centre of mass is 1 m away: less than left
    tree, turns = kkt.new_tree("rod on a slide"), np.eye(6)[:, :2]
    point = {"com": (0, 0, 0), "inertia": mass * np.eye(3)}
    kkt.add_body(tree, "slide", joint="prismatic", axis=(1, 0, 0), mass=mass, **point)
    rod = {"com": (0, 0, 1), "inertia": [[a, b, 0], [b, c - mass, 0], [0, 0, a + c]]}
    kkt.add_body(tree, "rod", "slide", joint="general", S=turns, mass=mass, **rod)
    return tree, (a, b, c, mass)


def test_first_order_alone_is_refuted_by_a_run_in_float64():
    """The slide's pivot loses more than terms of first order say, those of its own included."""
    tree, (a, b, c, mass) = rod_on_a_slide()
    system, u = kkt.build(tree), Fraction(1, 2**53)
    M = system.entries.M[1]
    assert [M[0, 0], M[0, 1], M[1, 1], M[1, 3], M[3, 3]] == [a, b, c, mass, mass]
    assert not M[0, 3] and system.entries.M[0, 3, 3] == mass
    order = TracedOrder(kkt.trace(system, orderings.get("abm")), system)
    slots = order.tape.pivot_slots
    (found,) = order.found(get_format("float64"), order.values(system)[None], slots)
    slide = Fraction(float(found[0, 2]))  # tips first
    a, b, c, mass = map(Fraction, (a, b, c, mass))
    left = c - b * b / a
    off = abs(slide - (mass + mass - mass * mass / left))
    X2 = c / left
    e = 3 + 2 * Fraction(2 * math.sqrt(X2)) + 2 * X2  # step 4: p_2 = 2, r = 0, no armature
    second = Fraction(SECOND)
    assert second * u * 2 * X2 <= h and second * u * e <= L  # tests of the rod, and of the slide
    rest = 1000  # more units of s^2 than all else that is rounded into the slide's inertia
    assert Fraction(1007, 1000) * (e + rest) * u * mass < off <= second * e * u * mass


def needed(largest=L, local=h, most=MOST, phi=L):
    """The product of step 9, each factor from the theorem's own thresholds."""
    sizes = 1 + largest  # two roots of computed inertias
    pivot = 1 / ((1 - largest) * (1 - local))  # squared minimisers: computed D in the place of D
    computed = (1 + largest) * pivot  # Cauchy and Schwarz for computed c
    let_go = 1 + 24 * most  # what is left in rows that are zero
    gamma = 1 / (1 - 16 * most)  # gamma_m / (m u): the test below
    firm = 1 / (1 - phi)  # L_k with a rounded Phi
    root = Fraction(math.sqrt(most * local / Fraction(SECOND) / 2))  # u sqrt(eta), theta >= 2 eta
    axes = (1 + most) ** 2 / (1 - root) ** 2  # rounded themselves: sigma^2 and D
    lost = 1 + Fraction(6, 10_000)  # below the normal numbers
    return sizes * pivot * computed * let_go * gamma * firm * axes * lost


@pytest.mark.product
@pytest.mark.parametrize("armature", [0.0, 0.1])
def test_no_path_is_longer_than_what_gamma_covers(armature):
    """Of a wide tree, of joints of six freedoms that are full, and with armature."""
    tree, draw = kkt.new_tree("wide"), np.random.default_rng(0)
    link = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": np.eye(3)}
    kkt.add_body(tree, "base", **link)
    for i in range(12):
        R, _ = np.linalg.qr(draw.normal(size=(3, 3)))
        place = {"R": R * np.linalg.det(R), "p": draw.normal(size=3)}
        six = {"joint": "general", "S": draw.normal(size=(6, 6)), "armature": [armature] * 6}
        kkt.add_body(tree, f"c{i}", "base", **place, **six, **link)
    system = kkt.build(tree)
    counts, n = roundings(kkt.trace(system, orderings.get("abm"))), system.tree.n
    assert counts.frame.max() == 12 and counts.gathered.max() == n - 1
    assert 10 < counts.product.max() + counts.pivot.max() <= 12 + (armature > 0)
    for longest in (counts.frame.max() + counts.gathered.max(), 16):
        for u in (MOST / n, Fraction(1, 2**18), Fraction(1, 2**53)):
            m = Fraction(longest)
            assert m * u / (1 - m * u) <= Fraction(102, 100) * m * u
    # tf32: no tree of three bodies is looked at, and of two no path is longer than 13
    assert n * Fraction(1, 2**11) > MOST
    assert 1 / (1 - Fraction(13, 2**11)) < Fraction(102, 100)
    assert "too few digits" in kkt.guarantee(kkt.chain(3), orderings.get("abm"), "tf32").why


def test_the_product_of_all_factors_is_covered():
    assert 1 < needed() < Fraction(122, 100) < Fraction(SECOND)
    # PHI: entries of Phi, rounded, move |Phi| |M| |Phi|* by 2 u + u^2
    assert Fraction(PHI) >= 2 + MOST


@pytest.mark.parametrize("looser", [{"largest": 2 * L}, {"local": 6 * h}, {"most": 4 * MOST}, {"phi": 5 * L}])
def test_no_threshold_of_the_theorem_can_be_loosened_far(looser):
    """They are what the product is made of: the factor would no longer cover it."""
    assert needed(**looser) > Fraction(SECOND)
