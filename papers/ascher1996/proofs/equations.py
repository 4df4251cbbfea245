"""Ascher, Pai & Cloutier 1996: equations (3) to (11) and footnote 6."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement, pairwise

from sympy import Identity, MatrixExpr, MatrixSymbol, ZeroMatrix

from pivotree.analysis.proofs import Bench, Claim, Engine, Equal, Misprint, statement, sum_of

PAPER = "Ascher, Pai & Cloutier 1996"
CHAIN = (2, 3, 0)
TREE = (3, 3, 5, 5, 0)  # bodies 1 and 2 on 3, 3 and 4 on 5
SHAPES = (CHAIN, TREE)


def below(t: Bench, k: int) -> list[int]:
    """k and all bodies on it."""
    return [k] + [j for c in t.children(k) for j in below(t, c)]


def above(t: Bench, k: int) -> list[int]:
    """k and its ancestors."""
    return [k] if t.parent(k) == 0 else [k, *above(t, t.parent(k))]


def from_parent(t: Bench, e: Engine, k: int) -> MatrixExpr:
    """Phi* p'' of the parent, whose p'' is minus the unknown; nothing at a root."""
    up = t.parent(k)
    return -t.Phi(up, k).T * e.x("pdd", up) if up else ZeroMatrix(6, 1)


class Articulated:
    """M^_k, D_k, b^_k and c_k of (7) and the lines below it, typed; a tree sums over children."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        t = Bench(shape)
        self.t: Bench = t
        self.M: dict[int, MatrixSymbol] = {}
        self.b: dict[int, MatrixSymbol] = {}
        for k in t.bodies:
            inertia, force = [t.M(k)], [t.b(k)]
            for c in t.children(k):
                Phi, M, H = t.Phi(k, c), self.M[c], t.H(c)
                inertia += [Phi * M * Phi.T, -Phi * M * H.T * self.D(c).I * H * M * Phi.T]
                force += [
                    Phi * (self.b[c] + M * t.a(c)),
                    Phi * M * H.T * self.D(c).I * (t.tau(c) - self.c(c)),
                ]
            self.M[k] = t.define(f"M^_{k}", sum_of(inertia, (6, 6)), symmetric=True)
            self.b[k] = t.define(f"b^_{k}", sum_of(force, (6, 1)))

    def D(self, k: int) -> MatrixExpr:
        return self.t.H(k) * self.M[k] * self.t.H(k).T

    def c(self, k: int) -> MatrixExpr:
        return self.t.H(k) * self.b[k] + self.t.H(k) * self.M[k] * self.t.a(k)

    def M_bar(self, k: int) -> MatrixExpr:
        M, H = self.M[k], self.t.H(k)
        return M - M * H.T * self.D(k).I * H * M

    def M_tilde(self, k: int) -> MatrixExpr:
        """Sum of Phi Mbar Phi* over the children."""
        t = self.t
        return sum_of([t.Phi(k, c) * self.M_bar(c) * t.Phi(k, c).T for c in t.children(k)], (6, 6))


def bodies_of(shapes: Iterable[tuple[int, ...]]) -> Iterator[tuple[Articulated, Bench, int]]:
    """Every body of every tree, with the tree's letters and what is typed of them."""
    for shape in shapes:
        right = Articulated(shape)
        yield from ((right, right.t, k) for k in right.t.bodies)


@statement(
    "equations (1) and (2)",
    f"{PAPER}, eqs (1), (2)",
    "p''_k = Phi* p''_k+1 + H* q''_k + a_k, f_k = Phi f_k-1 + M_k p''_k + b_k, tau_k = H f_k",
)
def equations_1_and_2() -> Iterable[Equal]:
    """What CRBM and ABM solve for; rows of accelerations along B_k and C_k, a basis together."""
    for shape in (CHAIN, (3, 3, 4, 0)):
        for order in ("crbm", "abm"):
            t = Bench(shape)
            e = t.eliminated(order)
            for k in t.bodies:
                t.bases(k)
                acceleration = -e.x("pdd", k)
                moved = t.H(k).T * e.x("qdd", k) + t.a(k) + from_parent(t, e, k)
                for basis in (t.B(k), t.C(k)):
                    left, right = basis.T * acceleration, basis.T * moved
                    yield Equal(f"{order}: (1) of p''_{k} along {basis}", t, left, right)
                force = [t.Phi(k, c) * e.x("f", c) for c in t.children(k)]
                force += [t.M(k) * acceleration, t.b(k)]
                yield Equal(f"{order}: (2) of f_{k}", t, e.x("f", k), sum_of(force, (6, 1)))
                yield Equal(f"{order}: (2) of tau_{k}", t, t.H(k) * e.x("f", k), t.tau(k))


@statement(
    "equation (4)",
    f"{PAPER}, eq (4); Yamane & Nakamura 2001, eqs (15) to (20)",
    "M, H and Phi^-1 where (4) has them",
)
def equation_4() -> Iterable[Equal]:
    for shape in SHAPES:
        t = Bench(shape)
        e = t.after("abm", 0)
        for k in t.bodies:
            pdd, qdd, f = ("pdd", k), ("qdd", k), ("f", k)
            yield Equal(f"M_{k}", t, e.entry(pdd, pdd), t.M(k))
            yield Equal(f"H_{k}", t, e.entry(qdd, f), t.H(k))
            yield Equal(f"1 of Phi^-1, {k}", t, e.entry(pdd, f), Identity(6))
            yield Equal(f"b_{k}", t, e.rhs(pdd), t.b(k))
            yield Equal(f"tau_{k}", t, e.rhs(qdd), t.tau(k))
            yield Equal(f"-a_{k}", t, e.rhs(f), -t.a(k))
            if t.parent(k):
                row = ("pdd", t.parent(k))
                yield Equal(f"Phi^-1 of {k}", t, e.entry(row, f), -t.Phi(t.parent(k), k))


def by_crbm() -> Iterator[tuple[str, Bench, Engine]]:
    """Trees of which the joints alone are left, by two orders."""
    for shape in SHAPES:
        for order, steps in (("crbm_block_row", 1), ("crbm", len(shape))):
            t = Bench(shape)
            yield order, t, t.after(order, steps)


@statement("joint-space inertia", f"{PAPER}, eq (3), strategy 1", "(H Phi M Phi* H*)_ij, by block rows")
def joint_space_inertia() -> Iterable[Equal]:
    """Phi_ik is the product of the steps from k up to i, and 0 where i does not carry k."""
    for order, t, e in by_crbm():
        for i, j in combinations_with_replacement(t.bodies, 2):
            both = [k for k in below(t, i) if k in below(t, j)]
            terms = [t.H(i) * t.Phi(i, k) * t.M(k) * t.Phi(j, k).T * t.H(j).T for k in both]
            left, right = e.entry(("qdd", i), ("qdd", j)), sum_of(terms, (t.dof(i), t.dof(j)))
            yield Equal(f"{order}: entry {i},{j} of H Phi M Phi* H*", t, left, right)


@statement("bias of the joints", f"{PAPER}, eq (3)", "c = H Phi (M Phi* a + b)")
def bias() -> Iterable[Equal]:
    for order, t, e in by_crbm():
        for i in t.bodies:
            terms = []
            for k in below(t, i):
                acceleration = sum_of([t.Phi(j, k).T * t.a(j) for j in above(t, k)], (6, 1))
                terms.append(t.H(i) * t.Phi(i, k) * (t.M(k) * acceleration + t.b(k)))
            c = sum_of(terms, (t.dof(i), 1))
            yield Equal(f"{order}: tau_{i} - c_{i}", t, e.rhs(("qdd", i)), t.tau(i) - c)


@statement("composite inertias", f"{PAPER}, footnote 6", "R_k = M_k + sum of Phi R_c Phi*, inside CRBM")
def composite() -> Iterable[Equal]:
    """M = H (R + Phi~ R + R Phi~*) H*, Phi~ = Phi - 1: R_k is what waits on pdd_k."""
    for shape in SHAPES:
        t = Bench(shape)

        def R(k: int, t: Bench = t) -> MatrixExpr:
            return sum_of([t.M(k), *(t.Phi(k, c) * R(c) * t.Phi(k, c).T for c in t.children(k))], (6, 6))

        for k in t.bodies:
            e = t.after("crbm", k - 1)
            yield Equal(f"R_{k}", t, e.entry(("pdd", k), ("pdd", k)), R(k))
        e = t.after("crbm", len(shape))
        for j in t.bodies:
            for i in above(t, j):
                left, right = e.entry(("qdd", i), ("qdd", j)), t.H(i) * t.Phi(i, j) * R(j) * t.H(j).T
                yield Equal(f"entry {i},{j} = H Phi R H*", t, left, right)


@statement("equation (5)", f"{PAPER}, eq (5)", "block k meets the rest by a~_k and b~_k alone")
def equation_5() -> Iterable[Equal]:
    """The engine's solution in the rows of block k: M pdd + f = b~, H f = tau, pdd + H* qdd = -a~.

    The unknown is minus the acceleration, so that Phi* p'' of the parent enters a~ with its sign.
    """
    for shape in SHAPES:
        t = Bench(shape)
        e = t.eliminated("abm")
        for k in t.bodies:
            pdd, f = e.x("pdd", k), e.x("f", k)
            b = t.b(k) + sum_of([t.Phi(k, c) * e.x("f", c) for c in t.children(k)], (6, 1))
            a = t.a(k) + from_parent(t, e, k)
            yield Equal(f"row pdd_{k}", t, t.M(k) * pdd + f, b)
            yield Equal(f"row qdd_{k}", t, t.H(k) * f, t.tau(k))
            yield Equal(f"row f_{k}", t, pdd + t.H(k).T * e.x("qdd", k), -a)


@statement("articulated inertia", f"{PAPER}, eqs (6), (7)", "M^_k, and D_k = H_k M^_k H_k*")
def articulated() -> Iterable[Equal]:
    for right, t, k in bodies_of(SHAPES):
        before, done = t.after("abm", k - 1), t.after("abm", k)
        formula = t.formulas[f"M^_{k}"]  # in M^ of the children
        yield Equal(f"M^_{k}", t, before.entry(("pdd", k), ("pdd", k)), formula)
        yield Equal(f"D_{k}", t, done.pivot(("qdd", k)), right.D(k))


@statement("bias of the articulated body", f"{PAPER}, below eq (7)", "b^_k and tau_k - c_k")
def bias_hat() -> Iterable[Equal]:
    """qdd_k = D_k^-1 (tau_k - c_k - H_k M^_k Phi* p''_parent): tau_k - c_k alone at the root."""
    for right, t, k in bodies_of(SHAPES):
        full, e = t.eliminated("abm"), t.after("abm", k - 1)
        yield Equal(f"b^_{k}", t, e.rhs(("pdd", k)), t.formulas[f"b^_{k}"])
        moved = t.tau(k) - right.c(k) - t.H(k) * right.M[k] * from_parent(t, full, k)
        yield Equal(f"qdd_{k}", t, full.x("qdd", k), right.D(k).I * moved)


@statement("equation (8)", f"{PAPER}, eq (8)", "what is left of two links after the first")
def equation_8() -> Iterable[Claim]:
    t = Bench((2, 0))
    H1, M1, Phi = t.H(1), t.M(1), t.Phi(2, 1)
    D1 = H1 * M1 * H1.T
    M2 = t.M(2) + Phi * M1 * Phi.T - Phi * M1 * H1.T * D1.I * H1 * M1 * Phi.T
    c1 = H1 * t.b(1) + H1 * M1 * t.a(1)
    # the paper prints Phi* where forces are carried; Phi is meant, as in its (7)
    b2 = t.b(2) + Phi * t.b(1) + Phi * M1 * t.a(1) + Phi * M1 * H1.T * D1.I * (t.tau(1) - c1)
    pdd, qdd, f = ("pdd", 2), ("qdd", 2), ("f", 2)
    for order, steps in (("abm", 1), ("bad_abm", 2), ("gain_abm", 1), ("joseph_abm", 1)):
        e = t.after(order, steps)
        nothing = ZeroMatrix(t.dof(2), t.dof(2))
        yield Equal(f"{order}: M^_2", t, e.entry(pdd, pdd), M2)
        yield Equal(f"{order}: b^_2", t, e.rhs(pdd), b2)
        yield Equal(f"{order}: H_2", t, e.entry(qdd, f), t.H(2))
        yield Equal(f"{order}: 0 of (qdd, qdd)", t, e.entry(qdd, qdd), nothing)
        yield Equal(f"{order}: 1", t, e.entry(f, pdd), Identity(6))
        yield Equal(f"{order}: -a_2", t, e.rhs(f), -t.a(2))
    printed = t.b(2) + Phi.T * (t.b(1) + M1 * t.a(1) + M1 * H1.T * D1.I * (t.tau(1) - c1))
    yield Misprint(Equal("b^_2 with Phi*", t, t.after("abm", 1).rhs(pdd), printed), b2)


@statement("equation (9)", f"{PAPER}, eq (9)", "the 2 x 2 joint-space inertia and its last pivot")
def equation_9() -> Iterable[Equal]:
    t = Bench((2, 0))
    H1, H2, M1, M2, Phi = t.H(1), t.H(2), t.M(1), t.M(2), t.Phi(2, 1)
    e = t.after("crbm", 2)
    D1 = H1 * M1 * H1.T
    yield Equal("entry 1,1", t, e.entry(("qdd", 1), ("qdd", 1)), D1)
    yield Equal("entry 1,2", t, e.entry(("qdd", 1), ("qdd", 2)), H1 * M1 * Phi.T * H2.T)
    yield Equal("entry 2,1", t, e.entry(("qdd", 2), ("qdd", 1)), H2 * Phi * M1 * H1.T)
    M22 = H2 * (M2 + Phi * M1 * Phi.T) * H2.T
    yield Equal("entry 2,2", t, e.entry(("qdd", 2), ("qdd", 2)), M22)
    last = t.after("crbm", 3).entry(("qdd", 2), ("qdd", 2))
    M2_hat = M2 + Phi * M1 * Phi.T - Phi * M1 * H1.T * D1.I * H1 * M1 * Phi.T
    yield Equal("last pivot H_2 M^_2 H_2*", t, last, H2 * M2_hat * H2.T)


@statement("the same pivots", f"{PAPER}, sec. 3, below Example 2", "D_k of CRBM is ABM's, and of all")
def same_pivots() -> Iterable[Equal]:
    """An engine pivot on one side, the paper's H_k M^_k H_k* on the other, for every relative."""
    for right, t, k in bodies_of(((2, 3, 4, 0), TREE)):
        left = t.after("crbm", len(t.bodies) + k - 1).entry(("qdd", k), ("qdd", k))
        yield Equal(f"crbm: D_{k}", t, left, right.D(k))
        for order in ("abm", "modified_abm", "gain_abm", "joseph_abm"):
            yield Equal(f"{order}: D_{k}", t, t.after(order, k).pivot(("qdd", k)), right.D(k))
        left = t.after("bad_abm", 2 * k).pivot(("qdd", k))
        yield Equal(f"bad_abm: D_{k}", t, left, right.D(k))


@statement("what the joint leaves", f"{PAPER}, above eq (10)", "Mbar_k H_k* = 0")
def projected() -> Iterable[Equal]:
    for right, t, k in bodies_of(SHAPES):
        M_bar = -t.after("abm", k).inverse(("f", k), ("f", k))
        yield Equal(f"Mbar_{k}", t, M_bar, right.M_bar(k))
        yield Equal(f"Mbar_{k} H_{k}*", t, M_bar * t.H(k).T, ZeroMatrix(6, t.dof(k)))


@statement("equation (10)", f"{PAPER}, eq (10)", "D_2 = H_2 M_2 H_2* + E_2 M~_2 E_2*")
def equation_10() -> Iterable[Equal]:
    """For every H_2* = E_2* + F_2* with F_2* = (Phi^-1)* H_1* X, whatever X is."""
    for shape in ((2, 0), CHAIN):
        right = Articulated(shape)
        t = right.t
        for c, k in pairwise(t.bodies):
            G = t.symbol(f"Phi_{k}{c}^-1", 6, 6)
            X = t.symbol(f"X_{k}", t.dof(c), t.dof(k))
            t.inverse(t.Phi(k, c), G)
            E = t.H(k) - X.T * t.H(c) * G
            formula = t.H(k) * t.M(k) * t.H(k).T + E * right.M_tilde(k) * E.T
            yield Equal(f"D_{k}", t, t.after("abm", k).pivot(("qdd", k)), formula)


@statement(
    "equation (11), stretched",
    f"{PAPER}, eq (11)",
    "with links in two, the rule of (11) is a plain pivot sequence: the same D_k, M~_k",
)
def stretched() -> Iterable[Equal]:
    """Body k is a massive part and a massless carrier of its children, behind the same joint."""
    order = "modified_abm_stretched"
    for right, t, k in bodies_of(SHAPES):
        before, e, full = t.after(order, k - 1), t.after(order, k), t.eliminated(order)
        M_tilde = right.M_tilde(k)
        formula = t.H(k) * t.M(k) * t.H(k).T + t.H(k) * M_tilde * t.H(k).T
        yield Equal(f"D_{k}", t, e.pivot(("qdd", k)), formula)
        yield Equal(f"M_{k} alone", t, before.entry(("pdd", k), ("pdd", k)), t.M(k))
        if t.children(k):
            carrier = ("pdd", (k, "carrier"))
            yield Equal(f"M~_{k}", t, before.entry(carrier, carrier), M_tilde)
        f, pdd = full.x("f", k), full.x("pdd", k)
        down = sum_of([t.Phi(k, c) * full.x("f", c) for c in t.children(k)], (6, 1))
        yield Equal(f"row pdd_{k}", t, t.M(k) * pdd + f - down, t.b(k))
        yield Equal(f"row qdd_{k}", t, t.H(k) * f, t.tau(k))


@statement("equation (11)", f"{PAPER}, eq (11)", "D_k = H_k M_k H_k* + H_k M~_k H_k*, M^ = M + M~")
def equation_11() -> Iterable[Equal]:
    for right, t, k in bodies_of(SHAPES):
        M_tilde = right.M_tilde(k)
        e, before = t.after("modified_abm", k), t.after("modified_abm", k - 1)
        formula = t.H(k) * t.M(k) * t.H(k).T + t.H(k) * M_tilde * t.H(k).T
        yield Equal(f"D_{k}", t, e.pivot(("qdd", k)), formula)
        left = before.entry(("pdd", k), ("pdd", k))
        yield Equal(f"M^_{k}", t, left, t.M(k) + M_tilde)
