"""Cloutier 1995, section 4.3: both methods on two links, (4.5) to (4.10).

The thesis numbers links from the base, so that its link 2 is body 1 here; X_2,1 is Phi*, s is H*.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import MatrixExpr

from .bench import Bench
from .claim import Equal
from .statement import statement

PAPER = "Cloutier 1995"
SAME = ("abm", "bad_abm", "modified_abm", "crbm", "crbm_block_row")


class TwoLinks:
    """The letters of section 4.3."""

    def __init__(self) -> None:
        self.t = t = Bench((2, 0))
        self.M1, self.M2, self.s1, self.s2 = t.M(2), t.M(1), t.H(2).T, t.H(1).T
        self.X = t.Phi(2, 1).T
        left = t.after("crbm", 2)  # tau - c of (3): the bias that the thesis calls b
        self.moved1, self.moved2 = left.rhs(("qdd", 2)), left.rhs(("qdd", 1))

    @property
    def D2(self) -> MatrixExpr:
        return self.s2.T * self.M2 * self.s2

    @property
    def numerator(self) -> MatrixExpr:
        """(tau_1 - b_1) - s_1* X* M_2 s_2 (s_2* M_2 s_2)^-1 (tau_2 - b_2)."""
        coupling = self.s1.T * self.X.T * self.M2 * self.s2
        return self.moved1 - coupling * self.D2.I * self.moved2


@statement(
    "two links by ABM", f"{PAPER}, eqs (4.5), (4.7), (4.8)", "the base joint, M_1 added last"
)
def by_abm() -> Iterable[Equal]:
    for order in SAME:
        two = TwoLinks()
        M1, M2, s1, s2, X = two.M1, two.M2, two.s1, two.s2, two.X
        inner = M2 - M2 * s2 * two.D2.I * s2.T * M2
        I1 = M1 + X.T * inner * X
        e = two.t.eliminated(order)
        formula = (s1.T * I1 * s1).I * two.numerator
        yield Equal(f"{order}: theta_1''", two.t, e.x("qdd", 2), formula)
        if order == "abm":
            left = two.t.after("abm", 1).entry(("pdd", 2), ("pdd", 2))
            yield Equal("I_1, (4.7)", two.t, left, I1)


@statement("two links' inertia", f"{PAPER}, eq (4.9)", "the 2 x 2 joint-space inertia")
def inertia() -> Iterable[Equal]:
    for order, steps in (("crbm", 2), ("crbm_block_row", 1)):
        two = TwoLinks()
        M1, M2, s1, s2, X = two.M1, two.M2, two.s1, two.s2, two.X
        e = two.t.after(order, steps)
        base, tip = ("qdd", 2), ("qdd", 1)
        yield Equal("1,1", two.t, e.entry(base, base), s1.T * (M1 + X.T * M2 * X) * s1)
        yield Equal("1,2", two.t, e.entry(base, tip), s1.T * X.T * M2 * s2)
        yield Equal("2,1", two.t, e.entry(tip, base), s2.T * M2 * X * s1)
        yield Equal("2,2", two.t, e.entry(tip, tip), s2.T * M2 * s2)


@statement(
    "two links by CRBM",
    f"{PAPER}, eq (4.10)",
    "the base joint, the composite less what a joint takes",
)
def by_crbm() -> Iterable[Equal]:
    for order in SAME:
        two = TwoLinks()
        M1, M2, s1, s2, X = two.M1, two.M2, two.s1, two.s2, two.X
        composite = s1.T * (M1 + X.T * M2 * X) * s1
        taken = s1.T * X.T * M2 * s2 * two.D2.I * s2.T * M2 * X * s1
        formula = (composite - taken).I * two.numerator
        left = two.t.eliminated(order).x("qdd", 2)
        yield Equal(f"{order}: theta_1''", two.t, left, formula)
