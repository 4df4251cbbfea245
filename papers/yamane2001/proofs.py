"""Yamane & Nakamura, "O(N) forward dynamics ... principle of virtual work", eqs (21) to (53).

Their link m - 1 hangs on link m by joint m; here body k hangs on body p by joint k.  In their
letters, up to one sign for both: H_k,k-1 = C_k* and H_k,k = C_k* Phi*, with constraint forces C_k,
H_k C_k = 0 (their (11)), and n_k = -fC_k.  The last body's joint has the ground beside it, whose
inverse inertia is 0.  The matrix that they call Phi is called S here, its blocks S_k and S_kj.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sympy import Identity, MatrixExpr, MatrixSymbol, ZeroMatrix

from pivotree.analysis.proofs import Bench, Blocks, Equal, left_is, statement, sum_of

PAPER = "Yamane & Nakamura 2001"
CHAIN = (2, 3, 0)
LONG = (2, 3, 4, 0)
TREE = (3, 3, 5, 5, 0)


class FreeBodies:
    """S, a and their solution in the letters of the paper, typed."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        t = Bench(shape)
        self.t: Bench = t
        self.n: int = len(shape)
        self.inverse: dict[int, MatrixSymbol] = {}
        self.partial: dict[int, MatrixSymbol] = {}
        self.final: dict[int, MatrixSymbol] = {}
        for k in t.bodies:  # H_k B_k = 1 and H_k C_k = 0 are what these letters are
            t.bases(k)

    def own(self, k: int) -> MatrixExpr:
        """H_k,k-1: joint k's constraint seen from the body it carries."""
        return self.t.C(k).T

    def other(self, k: int) -> MatrixExpr:
        """H_k,k: seen from the body that carries it."""
        return self.t.C(k).T * self.t.Phi(self.t.parent(k), k).T

    def S(self, k: int, j: int) -> MatrixExpr:
        """Block (k, j) of Gamma A^-1 Gamma*, below (32) and (39); a tree's siblings are coupled."""
        t = self.t
        if k == j:
            terms = [self.own(k) * t.M(k).I * self.own(k).T]
            if t.parent(k):
                terms.append(self.other(k) * t.M(t.parent(k)).I * self.other(k).T)
            return sum_of(terms, (6 - t.dof(k), 6 - t.dof(k)))
        if t.parent(j) == k:
            return -self.own(k) * t.M(k).I * self.other(j).T
        if t.parent(k) == j:
            return self.S(j, k).T
        if t.parent(j) == t.parent(k) and t.parent(k):
            return self.other(k) * t.M(t.parent(k)).I * self.other(j).T
        return ZeroMatrix(6 - t.dof(k), 6 - t.dof(j))

    def free(self, k: int) -> MatrixExpr:
        """t_k, (28): what drives a body that is set free: joint forces, and its bias."""
        t = self.t
        pushed = [t.Phi(k, c) * t.B(c) * t.tau(c) for c in t.children(k)]
        return t.B(k) * t.tau(k) - t.b(k) - sum_of(pushed, (6, 1))

    def M(self, k: int) -> MatrixSymbol:
        """M_k of (41), on a chain; M_1 = S_1^-1."""
        if k not in self.inverse:
            whole = self.S(k, k)
            if k > 1:
                whole = whole - self.S(k, k - 1) * self.M(k - 1) * self.S(k, k - 1).T
            self.inverse[k] = self.t.let(f"M_{k} of (41)", whole.I)
        return self.inverse[k]

    def n_so_far(self, k: int) -> MatrixSymbol:
        """n_k with joints 1 to k in place, (40)."""
        if k not in self.partial:
            left = self.a(k)
            if k > 1:
                left = left - self.S(k, k - 1) * self.n_so_far(k - 1)
            self.partial[k] = self.t.let(f"n_{k} of (40)", self.M(k) * left)
        return self.partial[k]

    def n_in_all(self, k: int) -> MatrixSymbol:
        """n_k with every joint in place, (47)."""
        if k == self.n:
            return self.n_so_far(k)
        if k not in self.final:
            taken = self.M(k) * self.S(k + 1, k).T * self.n_in_all(k + 1)
            self.final[k] = self.t.let(f"n_{k} of (47)", self.n_so_far(k) - taken)
        return self.final[k]

    def a(self, k: int) -> MatrixExpr:
        """a_k = h_k - H A^-1 t, above (33): the acceleration that joint k must make up for.

        A body by itself has the acceleration M^-1 t_k; joint k wants p''_k - Phi* p''_p - a_k = 0
        beside its axes.
        """
        t = self.t
        result = self.own(k) * (t.M(k).I * self.free(k) - t.a(k))
        if t.parent(k):
            p = t.parent(k)
            result = result - self.other(k) * t.M(p).I * self.free(p)
        return result


@statement("free bodies", f"{PAPER}, eqs (21), (31), (34), (39)", "S = Gamma A^-1 Gamma*, block by block")
def free_bodies() -> Iterable[Equal]:
    for shape in (CHAIN, TREE):
        for order in ("virtual_work", "divide_and_conquer", "constraint_force"):
            y = FreeBodies(shape)
            t = y.t
            e = t.after(order, 2 * y.n)
            for k in t.bodies:
                for j in t.bodies:
                    left = -e.entry(("fC", k), ("fC", j))
                    yield Equal(f"{order}: S_{k}{j}", t, left, y.S(k, j))
                yield Equal(f"{order}: a_{k}", t, e.rhs(("fC", k)), y.a(k))


@statement("constraint forces, one inverse", f"{PAPER}, eqs (36), (37), (43)", "M_i+1 and n_i+1 by S_i^-1")
def by_one_inverse() -> Iterable[Equal]:
    """S_i^-1 is typed from (43) and held against the engine's S_i; trees have more blocks in it."""
    for shape in (CHAIN, (3, 3, 4, 0)):
        y = FreeBodies(shape)
        t = y.t
        S = t.after("virtual_work", 2 * y.n)
        inverse: dict[tuple[int, int], MatrixExpr] = {}  # blocks of S_i^-1
        for new in t.bodies:
            old, size = range(1, new), 6 - t.dof(new)
            into = {}  # S_i^-1 S_i+1,i*
            for k in old:
                terms = [inverse[k, j] * y.S(new, j).T for j in old]
                column = sum_of(terms, (6 - t.dof(k), size))
                into[k] = t.let(f"S_{new - 1}^-1 S_{new},{k}*", column)
            pivot = y.S(new, new) - sum_of([y.S(new, k) * into[k] for k in old], (size, size))
            M = t.let(f"M_{new} of (37)", pivot.I)
            e = t.after("virtual_work", 2 * y.n + new)
            yield Equal(f"(37), {new}", t, -e.pivot(("fC", new)), pivot)
            # (36): n_i+1 = M_i+1 (a_i+1 - S_i+1,i N_i), N_i = S_i^-1 alpha_i
            N = {k: sum_of([inverse[k, j] * y.a(j) for j in old], (6 - t.dof(k), 1)) for k in old}
            moved = y.a(new) - sum_of([y.S(new, k) * N[k] for k in old], (size, 1))
            before = t.after("virtual_work", 2 * y.n + new - 1)
            yield Equal(f"(36), {new}", t, before.rhs(("fC", new)), moved)
            for k in old:
                for j in old:
                    grown = inverse[k, j] + into[k] * M * into[j].T
                    inverse[k, j] = t.let(f"S_{new}^-1 {k},{j}", grown)
                inverse[k, new] = t.let(f"S_{new}^-1 {k},{new}", -into[k] * M)
                inverse[new, k] = t.let(f"S_{new}^-1 {new},{k}", -M * into[k].T)
            inverse[new, new] = M
            for k in range(1, new + 1):
                for j in range(1, new + 1):
                    terms = [-S.entry(("fC", k), ("fC", m)) * inverse[m, j] for m in range(1, new + 1)]
                    shape_kj = (6 - t.dof(k), 6 - t.dof(j))
                    right = Identity(shape_kj[0]) if k == j else ZeroMatrix(*shape_kj)
                    yield Equal(f"(43), S_{new} {k},{j}", t, sum_of(terms, shape_kj), right)


@statement("constraint forces, leaf to root", f"{PAPER}, eqs (40), (41)", "M_i+1 = (S - S M_i S*)^-1")
def leaf_to_root() -> Iterable[Equal]:
    for shape in (CHAIN, LONG):
        y = FreeBodies(shape)
        t = y.t
        for k in t.bodies:
            before, done = (t.after("virtual_work", 2 * y.n + s) for s in (k - 1, k))
            right, moved = y.S(k, k), y.a(k)
            if k > 1:
                coupling = y.S(k, k - 1)
                right = right - coupling * y.M(k - 1) * coupling.T
                moved = moved - coupling * y.n_so_far(k - 1)
            yield Equal(f"M_{k}^-1, (41)", t, -done.pivot(("fC", k)), right)
            yield Equal(f"M_{k}, (40)", t, before.rhs(("fC", k)), moved)
            one = Identity(6 - t.dof(k))
            yield Equal(f"M_{k} M_{k}^-1", t, y.M(k) * -done.pivot(("fC", k)), one)


@statement(
    "constraint forces, every n",
    f"{PAPER}, eqs (40), (41), by induction",
    "joint i hands S - S M_i S* and a - S n_i on to the next, whatever it is",
)
def leaf_to_root_step() -> Iterable[Equal]:
    """What is left of S is block tridiagonal, with any blocks; its first joint is next."""
    t = Bench((2, 3, 0))
    n = {k: 6 - t.dof(k) for k in t.bodies}
    S = {k: t.symbol(f"S_{k}{k}", n[k], n[k], symmetric=True) for k in t.bodies}
    below = {k: t.symbol(f"S_{k}{k - 1}", n[k], n[k - 1]) for k in (2, 3)}
    a = {k: t.symbol(f"alpha_{k}", n[k], 1) for k in t.bodies}
    start: Blocks = {(("fC", k), ("fC", k)): -S[k] for k in t.bodies}
    start |= {(("fC", k), ("fC", k - 1)): -below[k] for k in (2, 3)}
    start |= {(("fC", k), None): a[k] for k in t.bodies}
    e = t.after("virtual_work", 1, start)
    M = t.let("M_1 of (41)", S[1].I)
    right: Blocks = {
        (("fC", 2), ("fC", 2)): -(S[2] - below[2] * M * below[2].T),
        (("fC", 3), ("fC", 3)): -S[3],
        (("fC", 3), ("fC", 2)): -below[3],
        (("fC", 2), None): a[2] - below[2] * M * a[1],
        (("fC", 3), None): a[3],
    }
    yield from left_is("virtual_work", t, e, right)


@statement("constraint forces, root to leaf", f"{PAPER}, eq (47)", "n_i-1 = n_i-1 so far - M_i-1 S* n_i")
def root_to_leaf() -> Iterable[Equal]:
    """The engine gives whole forces: f_k = B_k tau_k - C_k n_k."""
    for shape in (CHAIN, LONG):
        y = FreeBodies(shape)
        t = y.t
        e = t.eliminated("virtual_work")
        for k in t.bodies:
            n = y.n_so_far(k)
            if k < y.n:
                n = n - y.M(k) * y.S(k + 1, k).T * y.n_in_all(k + 1)
            yield Equal(f"n_{k}", t, e.x("f", k), t.B(k) * t.tau(k) - t.C(k) * n)


@statement("joint accelerations", f"{PAPER}, eqs (50) to (53)", "q'' by S_J and the constraint forces")
def joint_accelerations() -> Iterable[Equal]:
    """q'' is counted from the carried body to the carrying one there: both sides change sign."""
    y = FreeBodies(CHAIN)
    t = y.t
    e = t.eliminated("virtual_work")
    for k in t.bodies:
        p = t.parent(k)
        own, other = t.B(k).T, t.B(k).T * t.Phi(p, k).T if p else None
        a_J = own * (t.a(k) - t.M(k).I * y.free(k))
        S_J = {k: own * t.M(k).I * y.own(k).T}
        if other is not None:
            a_J = a_J + other * t.M(p).I * y.free(p)
            S_J[k] = S_J[k] + other * t.M(p).I * y.other(k).T
            S_J[p] = -other * t.M(p).I * y.own(p).T
        for c in t.children(k):
            S_J[c] = -own * t.M(k).I * y.other(c).T
        forces = sum_of([S_J[j] * y.n_in_all(j) for j in S_J], (t.dof(k), 1))
        yield Equal(f"q_{k}'', (53)", t, -e.x("qdd", k), forces + a_J)


# -- section 6.1: their M_i+1 and the articulated-body inertia ----------------------------------------
#
# In words there: M_i+1 is "very similar to ABI", with "the inertia of link i + 1" included.  In
# letters, K_k = C_k*:
#
#     M_k^-1 = K_k ((I^A_k)^-1 + Phi* (I^A_p so far)^-1 Phi) K_k*
#
# ``so far``: what the carrying link p has become when joint k's turn comes, its earlier children
# attached.  So M_k is the inertia of the relative motion of two articulated bodies across joint k.


@statement(
    "constraint forces and articulated bodies",
    f"{PAPER}, sec. 6.1",
    "M_1^-1 = K_1 (M_1^-1 + Phi* M_p^-1 Phi) K_1*, of the first leaf of small trees",
)
def both_sides() -> Iterable[Equal]:
    """Inverses of sums are beyond the rewriter, and of later joints too long for polynomials.

    The rewriter proves each step to these in the next statement.
    """
    for shape in ((2, 0), (2, 3, 0), (3, 3, 0), (2, 3, 4, 0), (3, 3, 4, 0), TREE):
        yield next(mobilities(shape))


def mobilities(shape: tuple[int, ...]) -> Iterator[Equal]:
    """On one tree, the engine on both sides: a pivot by virtual work, inertias by ABM."""
    t = Bench(shape)
    for k in t.bodies:
        t.bases(k)
    for k in t.bodies:
        before, C, p = t.after("abm", k - 1), t.C(k), t.parent(k)
        mobility = before.entry(("pdd", k), ("pdd", k)).I
        if p:
            carrying = before.entry(("pdd", p), ("pdd", p)).I
            mobility = mobility + t.Phi(p, k).T * carrying * t.Phi(p, k)
        pivot = t.after("virtual_work", 2 * len(shape) + k).pivot(("fC", k))
        right = C.T * mobility * C
        yield Equal(f"{shape}: M_{k}^-1", t, -pivot, right, rewritten=False)


@statement(
    "constraint forces and articulated bodies, every n",
    f"{PAPER}, sec. 6.1, by induction",
    "what joint k hands on to S is what its articulated body hands on to I^A of the parent",
)
def handed_on() -> Iterable[Equal]:
    """Joint k is next; by induction its pivot is P = Q + U* M^-1 U with Q = K (I^A_k)^-1 K*,
    U = Phi K*, M what p is so far.  (41) takes M^-1 U P^-1 U* M^-1 out of p's mobility, (7) adds
    Phi Mbar Phi* to its inertia.  Two claims make the first the inverse of the second:

    * Mbar = K* Q^-1 K, on both of H* (where K H* = 0) and (I^A)^-1 K*, together a basis;
    * (M^-1 - M^-1 U P^-1 U* M^-1) (M + U Q^-1 U*) = 1.
    """
    t = Bench((2, 3, 0))
    t.bases(1)
    e = t.after("abm", 1)
    M_bar = -e.inverse(("f", 1), ("f", 1))
    C, I_A = t.C(1), t.M(1)
    Q_1 = C.T * I_A.I * C
    yield Equal("Mbar times H*", t, M_bar * t.H(1).T, ZeroMatrix(6, t.dof(1)))
    left, right = M_bar * I_A.I * C, C * Q_1.I * C.T * I_A.I * C
    yield Equal("Mbar times (I^A)^-1 K*", t, left, right)
    S = Bench((2, 3, 0))
    S.bases(1)
    M, U = S.M(2), S.Phi(2, 1) * S.C(1)
    Q = S.symbol("Q", 6 - S.dof(1), 6 - S.dof(1), symmetric=True)
    middle = U.T * M.I * U
    P = S.define("P", Q + middle, symmetric=True, word=middle)
    mobility = M.I - M.I * U * P.I * U.T * M.I
    inertia = M + U * Q.I * U.T
    yield Equal("mobility times inertia", S, mobility * inertia, Identity(6))
    yield Equal("inertia times mobility", S, inertia * mobility, Identity(6))
