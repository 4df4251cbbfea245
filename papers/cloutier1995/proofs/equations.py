"""Cloutier 1995: chapter 2, sections 3.1 to 3.3, 4.3, both methods on two links, and 6.4.2, impacts.

The thesis numbers links from the base, so that its link 2 is body 1 of two here; X_i+1,i is Phi*,
s is H*, gamma is b, rho is a, and the bias that it calls b is c.  Its articulated-body method takes
the bias from inverse dynamics: accelerations a_i there, forces p_i and I_i are those of (4) with
a = b = 0 and tau - c for tau.  Of (3.6) to (3.14) the scan is broken in places: (3.6) is missing,
and is the recursion that (3.11) says again, with (3.10); the last term of (3.14) is that of (3.9)
without I X a.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sympy import Identity, MatrixExpr, MatrixSymbol, ZeroMatrix

from pivotree.analysis.proofs import Bench, Blocks, Equal, of_equation_4, statement, sum_of
from pivotree.kkt import Structure

from ...ascher1996.proofs.equations import CHAIN, above, below, from_parent
from ...featherstone1983.proofs import rnea

PAPER = "Cloutier 1995"
SAME = ("abm", "bad_abm", "modified_abm", "crbm", "crbm_block_row")


class TwoLinks:
    """The letters of section 4.3, and what both methods have: s_2* M_2 s_2, and the numerator."""

    def __init__(self) -> None:
        self.t: Bench = Bench((2, 0))
        t = self.t
        _, M2, s1, s2, X = self.letters = t.M(2), t.M(1), t.H(2).T, t.H(1).T, t.Phi(2, 1).T
        left = t.after("crbm", 2)  # its right-hand side is tau - c of (3), the bias that the thesis calls b
        self.D2: MatrixExpr = s2.T * M2 * s2
        coupling = s1.T * X.T * M2 * s2
        self.numerator: MatrixExpr = left.rhs(("qdd", 2)) - coupling * self.D2.I * left.rhs(("qdd", 1))


@statement("two links by ABM", f"{PAPER}, eqs (4.5), (4.7), (4.8)", "the base joint, M_1 added last")
def by_abm() -> Iterable[Equal]:
    for order in SAME:
        two = TwoLinks()
        M1, M2, s1, s2, X = two.letters
        I1 = M1 + X.T * (M2 - M2 * s2 * two.D2.I * s2.T * M2) * X
        formula = (s1.T * I1 * s1).I * two.numerator
        yield Equal(f"{order}: theta_1''", two.t, two.t.eliminated(order).x("qdd", 2), formula)
        if order == "abm":
            left = two.t.after("abm", 1).entry(("pdd", 2), ("pdd", 2))
            yield Equal("I_1, (4.7)", two.t, left, I1)


@statement("two links' inertia", f"{PAPER}, eq (4.9)", "the 2 x 2 joint-space inertia")
def inertia() -> Iterable[Equal]:
    for order, steps in (("crbm", 2), ("crbm_block_row", 1)):
        two = TwoLinks()
        M1, M2, s1, s2, X = two.letters
        e = two.t.after(order, steps)
        base, tip = ("qdd", 2), ("qdd", 1)
        yield Equal("1,1", two.t, e.entry(base, base), s1.T * (M1 + X.T * M2 * X) * s1)
        yield Equal("1,2", two.t, e.entry(base, tip), s1.T * X.T * M2 * s2)
        yield Equal("2,1", two.t, e.entry(tip, base), s2.T * M2 * X * s1)
        yield Equal("2,2", two.t, e.entry(tip, tip), s2.T * M2 * s2)


@statement(
    "two links by CRBM", f"{PAPER}, eq (4.10)", "the base joint, the composite less what a joint takes"
)
def by_crbm() -> Iterable[Equal]:
    for order in SAME:
        two = TwoLinks()
        M1, M2, s1, s2, X = two.letters
        composite = s1.T * (M1 + X.T * M2 * X) * s1
        taken = s1.T * X.T * M2 * s2 * two.D2.I * s2.T * M2 * X * s1
        formula = (composite - taken).I * two.numerator
        left = two.t.eliminated(order).x("qdd", 2)
        yield Equal(f"{order}: theta_1''", two.t, left, formula)


# -- chapter 2 and section 3.1 ------------------------------------------------------------------


@statement(
    "inverse dynamics by operators",
    f"{PAPER}, sec. 2.5",
    "a = X (S theta'' + rho), f = X* (M a + gamma), tau = S* f",
)
def inverse_dynamics() -> Iterable[Equal]:
    """Both recursions of section 2.5, solved: X_ki carries from link i out to link k."""
    for shape in (CHAIN, (2, 3, 4, 0), (3, 3, 4, 0)):
        t = Bench(shape)
        e = rnea(t)  # its blocks tau hold theta''
        a = {}
        for k in t.bodies:
            terms = [t.Phi(j, k).T * (t.H(j).T * t.tau(j) + t.a(j)) for j in above(t, k)]
            a[k] = sum_of(terms, (6, 1))
            yield Equal(f"a_{k}", t, -e.x("pdd", k), a[k])
        for i in t.bodies:
            terms = [t.Phi(i, k) * (t.M(k) * a[k] + t.b(k)) for k in below(t, i)]
            yield Equal(f"f_{i}", t, e.x("f", i), sum_of(terms, (6, 1)))
            yield Equal(f"tau_{i}", t, e.x("qdd", i), t.H(i) * e.x("f", i))


@statement("equations of motion", f"{PAPER}, eqs (3.1), (3.2)", "H theta'' = tau - b, H = S* X* M X S")
def equations_of_motion() -> Iterable[Equal]:
    for order in ("abm", "crbm"):
        t = Bench(CHAIN)
        e, bias = t.eliminated(order), t.after("crbm", len(CHAIN))
        for i in t.bodies:
            terms = []
            for j in t.bodies:
                for k in range(1, min(i, j) + 1):
                    X_i, X_j = t.Phi(i, k).T, t.Phi(j, k).T
                    terms.append(t.H(i) * X_i.T * t.M(k) * X_j * t.H(j).T * e.x("qdd", j))
            left = sum_of(terms, (t.dof(i), 1))
            yield Equal(f"{order}: row {i}", t, bias.rhs(("qdd", i)), left)


@statement(
    "orthogonal complement",
    f"{PAPER}, sec. 3.1.2, eqs (3.3), (3.4)",
    "H = P* P, P* y = tau - b and P theta'' = y, for M = L L* and P = L* X S",
)
def orthogonal_complement() -> Iterable[Equal]:
    """P of Angeles & Ma from a square root of the extended mass; y is typed as P theta''."""
    t = Bench(CHAIN)
    L = {k: t.root(k) for k in t.bodies}
    n = len(CHAIN)

    def P(k: int, i: int) -> MatrixExpr:
        """Row k, column i, for a link k that joint i carries."""
        return L[k].T * t.Phi(i, k).T * t.H(i).T

    reduced, e = t.after("crbm", n), t.eliminated("abm")
    for i in t.bodies:
        for j in range(i, n + 1):
            both = [P(k, i).T * P(k, j) for k in t.bodies if k <= i]
            left = reduced.entry(("qdd", i), ("qdd", j))
            yield Equal(f"(P* P)_{i}{j}", t, left, sum_of(both, (t.dof(i), t.dof(j))))
    y = {
        k: t.let(f"y_{k}", sum_of([P(k, i) * e.x("qdd", i) for i in range(k, n + 1)], (6, 1)))
        for k in t.bodies
    }
    for i in t.bodies:
        row = sum_of([P(k, i).T * y[k] for k in t.bodies if k <= i], (t.dof(i), 1))
        yield Equal(f"(3.3), row {i}", t, reduced.rhs(("qdd", i)), row)


# -- section 3.3 --------------------------------------------------------------------------------


class Propagated:
    """I_i, p_i and both propagators of section 3.3.1 on a chain or a tree, typed."""

    def __init__(self, shape: tuple[int, ...], propagators: bool = False) -> None:
        t = Bench(shape)
        self.t: Bench = t
        self.I_A: dict[int, MatrixSymbol] = {}
        self.p: dict[int, MatrixSymbol] = {}
        self.moved: dict[int, MatrixExpr] = {k: t.symbol(f"u_{k}", t.dof(k), 1) for k in t.bodies}
        for k in t.bodies:
            inertia, force = [t.M(k)], []
            for c in t.children(k):
                X, s = t.Phi(k, c).T, t.H(c).T
                I_A, p, P_F = self.I_A[c], self.p[c], self.P_F(c)
                gain = I_A * s * self.d(c).I
                if propagators:
                    inertia.append(X.T * P_F * I_A * X)
                    force.append(X.T * (P_F * p + gain * self.moved[c]))
                else:
                    inertia.append(X.T * (I_A - gain * s.T * I_A) * X)
                    force.append(X.T * (p + gain * (self.moved[c] - s.T * p)))
            self.I_A[k] = t.define(f"I^A_{k}", sum_of(inertia, (6, 6)), symmetric=True)
            self.p[k] = t.let(f"p_{k}", sum_of(force, (6, 1)))

    def d(self, i: int) -> MatrixExpr:
        return self.t.H(i) * self.I_A[i] * self.t.H(i).T

    def P_F(self, i: int) -> MatrixExpr:
        """(3.10)."""
        return Identity(6) - self.I_A[i] * self.t.H(i).T * self.d(i).I * self.t.H(i)

    def P_A(self, i: int) -> MatrixExpr:
        """(3.13)."""
        return Identity(6) - self.t.H(i).T * self.d(i).I * self.t.H(i) * self.I_A[i]

    @property
    def given(self) -> dict[str, MatrixExpr]:
        """The right-hand side: a = b = 0, and u = tau - b in the place of tau."""
        blocks: dict[str, MatrixExpr] = {}
        for k in self.t.bodies:
            blocks |= {f"a_{k}": ZeroMatrix(6, 1), f"b_{k}": ZeroMatrix(6, 1), f"tau_{k}": self.moved[k]}
        return blocks

    def start(self) -> Blocks:
        """(4) with this right-hand side."""
        blocks = of_equation_4(self.t, self.t.bodies)
        for k in self.t.bodies:
            del blocks[("pdd", k), None], blocks[("f", k), None]
            blocks[("qdd", k), None] = self.moved[k]
        return blocks


RECURSIONS = ((2, 3, 0), (2, 3, 4, 0), (3, 3, 4, 0))


def carried(propagated: Propagated, texts: tuple[str, str]) -> Iterable[Equal]:
    t = propagated.t
    for i in t.bodies:
        e = t.after("abm", i - 1, propagated.start())
        up = ("pdd", i)
        yield Equal(f"{texts[0]}, I_{i}", t, e.entry(up, up), t.formulas[f"I^A_{i}"])
        yield Equal(f"{texts[1]}, p_{i}", t, e.rhs(up), t.formulas[f"p_{i}"])


@statement(
    "articulated-body method: inward",
    f"{PAPER}, eqs (3.6), (3.7)",
    "I_i and p_i, the bias taken from inverse dynamics",
)
def inward() -> Iterable[Equal]:
    for shape in RECURSIONS:
        yield from carried(Propagated(shape), ("(3.6)", "(3.7)"))


@statement("force propagator", f"{PAPER}, eqs (3.10) to (3.12)", "I_i = M_i + X* P_F I X, p_i by P_F")
def force_propagator() -> Iterable[Equal]:
    for shape in RECURSIONS:
        yield from carried(Propagated(shape, propagators=True), ("(3.11)", "(3.12)"))


@statement(
    "articulated-body method: outward",
    f"{PAPER}, eqs (3.8), (3.9), (3.14)",
    "a_i = X a_i-1 + s theta'', theta'' by I_i and p_i; a_i = P_A X a_i-1 + s (...) / s* I s",
)
def outward() -> Iterable[Equal]:
    """The engine's own accelerations on the right, as in every line of a recursion."""
    for shape in RECURSIONS:
        known = Propagated(shape)
        t = known.t
        e = t.eliminated("abm", known.given)
        for i in reversed(t.bodies):
            s, p = t.H(i).T, known.p[i]
            own, theta, moved = known.moved[i] - s.T * p, e.x("qdd", i), from_parent(t, e, i)
            formula = known.d(i).I * (own - s.T * known.I_A[i] * moved)
            yield Equal(f"(3.9), theta''_{i}", t, theta, formula)
            yield Equal(f"(3.8), a_{i}", t, -e.x("pdd", i), s * theta + moved)
            after = known.P_A(i) * moved + s * known.d(i).I * own
            yield Equal(f"(3.14), a_{i}", t, -e.x("pdd", i), after)


@statement(
    "propagators project",
    f"{PAPER}, sec. 3.3.1, below (3.14)",
    "Mbar_i = I P_A = P_F I P_A, P_A P_A = P_A, P_A s = 0: a projection, I its metric",
)
def projections() -> Iterable[Equal]:
    """The engine's Mbar_i is I P_A: what waits for the parent after the joint has moved."""
    for shape in RECURSIONS[1:]:
        known = Propagated(shape)
        t = known.t
        for i in t.bodies:
            P_A, s, I_A = known.P_A(i), t.H(i).T, known.I_A[i]
            M_bar = -t.after("abm", i).inverse(("f", i), ("f", i))
            yield Equal(f"Mbar_{i} = I P_A", t, M_bar, I_A * P_A)
            yield Equal(f"Mbar_{i} = P_F I P_A", t, M_bar, known.P_F(i) * I_A * P_A)
            yield Equal(f"P_A P_A, {i}", t, P_A * P_A, P_A)
            yield Equal(f"P_A s, {i}", t, P_A * s, 0 * s)


# -- section 6.4.2: two bodies that collide at a point, (6.3) to (6.5) and (6.9) ------------------
#
# An impact is an elimination too.  The velocities jump by dv_1 and dv_2, and p is the impulse along
# the normal n by which the bodies push each other:
#
#     M_1 dv_1 + n p = 0,   M_2 dv_2 - n p = 0,   n* dv_1 - n* dv_2 = (1 + e) n* v-,   v = v_2 - v_1
#
# The scan of (6.3) and (6.4) is broken; read here as dv_1N = - p n* M_1^-1 n and
# dv_2N = p n* M_2^-1 n, with the normal from body 1 to body 2.  Section 6.1 has it from 2 to 1; then
# the bodies approach where v_N > 0, and (6.6) would not let them part.


def bodies_first(structure: Structure) -> list[Any]:
    """Both bodies, then what holds them; here it is the row of the normal."""
    return [[(kind, body)] for kind in ("pdd", "f", "qdd") for body in structure.names]


class Collision:
    """Both bodies, any inertias, and the row of the contact normal, which is entered as qdd_1."""

    def __init__(self) -> None:
        t = Bench((0, 0), dof=(1, 1))
        self.t: Bench = t
        self.n: Any = t.symbol("n", 6, 1)
        self.before: Any = t.symbol("v_2", 6, 1) - t.symbol("v_1", 6, 1)
        self.e: Any = t.symbol("e", 1, 1)

    def impulse(self, closing: MatrixExpr) -> MatrixExpr:
        """p, for a speed along the normal that is to be made up for."""
        e = self.left(closing)
        return e.entry(("qdd", 1), ("qdd", 1)).I * e.rhs(("qdd", 1))

    def left(self, closing: MatrixExpr) -> Any:
        normal = ("qdd", 1)
        start: Blocks = {
            (("pdd", 1), ("pdd", 1)): self.t.M(1),
            (("pdd", 2), ("pdd", 2)): self.t.M(2),
            (normal, ("pdd", 1)): self.n.T,
            (normal, ("pdd", 2)): -self.n.T,
            (normal, None): closing,
        }
        return self.t.after(bodies_first, 2, start)


@statement(
    "impacts",
    f"{PAPER}, eqs (6.3) to (6.5), (6.9)",
    "v_N+ = - e v_N- with dv_iN = -+ p n* M_i^-1 n, and Poisson's p = (1 + e) p_c is Newton's",
)
def impacts() -> Iterable[Equal]:
    two = Collision()
    t, n = two.t, two.n
    v_N, restored = n.T * two.before, Identity(1) + two.e
    newton = two.left(v_N * restored)
    normal = ("qdd", 1)
    along = n.T * t.M(1).I * n + n.T * t.M(2).I * n
    yield Equal("mobility along n", t, newton.entry(normal, normal), -along)
    yield Equal("what p makes up for", t, newton.rhs(normal), v_N * restored)
    p = two.impulse(v_N * restored)
    dv_1, dv_2 = -t.M(1).I * n * p, t.M(2).I * n * p
    yield Equal("(6.5) by (6.3), (6.4)", t, v_N + n.T * (dv_2 - dv_1), -v_N * two.e)
    yield Equal("p of both", t, p, -along.I * v_N * restored)
    yield Equal("(6.9): Poisson's hypothesis", t, p, two.impulse(v_N) * restored)
    stopped = two.impulse(v_N)
    yield Equal("compression ends at rest", t, -along * stopped, v_N)
