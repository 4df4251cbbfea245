"""For every number of bodies: one step on a matrix that any number of steps may have reached.

Base and step as :mod:`pivotree.analysis.proofs.induction` tells them: a closed form holds for every n
once it holds for (4) itself and each step carries it on.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Identity, MatrixExpr

from pivotree.analysis.proofs import (
    Bench,
    Blocks,
    Claim,
    Equal,
    any_freedom,
    leaves_first,
    left_is,
    of_equation_4,
    statement,
    sum_of,
)

from .equations import CHAIN, PAPER, Articulated, below

ANY = ((2, 3, 0), (3, 3, 4, 0))  # body 1 is the leaf; another child of its parent, and what carries


@statement(
    "articulated inertia, every n",
    f"{PAPER}, eq (7), by induction",
    "a leaf's bracket leaves (4) of the tree without it, M^ and b^ at its parent",
)
def articulated_step() -> Iterable[Claim]:
    """Base: M^_k = M_k at a leaf.  Step: (7) and the line below it, on any tree that is left."""
    for shape in ANY:
        for order in ("abm", "modified_abm", "gain_abm", "joseph_abm"):
            t = Bench(shape)
            p = t.parent(1)
            M, H, Phi = t.M(1), t.H(1), t.Phi(p, 1)
            D = H * M * H.T
            right = of_equation_4(t, t.bodies[1:])
            M_bar = M - M * H.T * D.I * H * M
            tau_c = t.tau(1) - H * t.b(1) - H * M * t.a(1)
            right[("pdd", p), ("pdd", p)] = t.M(p) + Phi * M_bar * Phi.T
            right[("pdd", p), None] = t.b(p) + Phi * (t.b(1) + M * t.a(1)) + Phi * M * H.T * D.I * tau_c
            e = t.after(order, 1, of_equation_4(t, t.bodies))
            yield Equal(f"{order}: D", t, e.pivot(("qdd", 1)), D)
            yield from left_is(f"{order} on {shape}", t, e, right)
    for order in ("abm", "modified_abm", "gain_abm", "joseph_abm"):
        yield leaves_first(order, (("pdd", "qdd", "f"),))
        yield any_freedom(order)


@statement("a root's bracket, every n", f"{PAPER}, below eq (7)", "D and tau - c of the body eliminated last")
def root_step() -> Iterable[Equal]:
    """What is left of a tree in the end is one body; its joint is solved for, then the others."""
    for shape in ((0,), (0, 0)):
        t = Bench(shape)
        e = t.after("abm", 1, of_equation_4(t, t.bodies))
        yield Equal("D", t, e.pivot(("qdd", 1)), t.H(1) * t.M(1) * t.H(1).T)
        yield from left_is(f"{shape}", t, e, of_equation_4(t, t.bodies[1:]))
        D = t.H(1) * t.M(1) * t.H(1).T
        tau_c = t.tau(1) - t.H(1) * (t.b(1) + t.M(1) * t.a(1))
        yield Equal("qdd", t, t.eliminated("abm").x("qdd", 1), D.I * tau_c)


@statement(
    "joint-space inertia, every n",
    f"{PAPER}, eq (3) and footnote 6, by induction",
    "(pdd_k f_k) hands R_k and the couplings H_j R_j Phi* of all joints below on to the parent",
)
def composite_step() -> Iterable[Claim]:
    """Bodies 1 and 2 are gone, each on another branch of 3; their joints wait.  3 is next.

    Before: (pdd_3, pdd_3) = R_3, (qdd_j, pdd_3) = -H_j R_j Phi_3j* (pdd is minus p''), any R_j.
    """
    t = Bench((3, 3, 4, 5, 0))
    R = t.symbol("R_3", 6, 6, symmetric=True)
    H, Phi, up = t.H(3), t.Phi(4, 3), ("pdd", 4)
    start, right = of_equation_4(t, (3, 4, 5)), of_equation_4(t, (4, 5))
    start[("pdd", 3), ("pdd", 3)] = R
    right[up, up] = t.M(4) + Phi * R * Phi.T
    right[up, None] = t.b(4) + Phi * (t.b(3) + R * t.a(3))
    own = ("qdd", 3)
    right[own, own], right[own, up] = H * R * H.T, -H * R * Phi.T
    right[own, None] = t.tau(3) - H * (t.b(3) + R * t.a(3))
    for j in (1, 2):
        joint, R_j = ("qdd", j), t.symbol(f"R_{j}", 6, 6, symmetric=True)
        W = -t.H(j) * R_j * t.Phi(3, j).T
        A = t.symbol(f"A_{j}{j}", t.dof(j), t.dof(j), symmetric=True)
        start[joint, ("pdd", 3)], start[joint, joint], start[joint, None] = W, A, t.tau(j)
        right[joint, up] = -t.H(j) * R_j * t.Phi(4, j).T
        right[joint, own] = t.H(j) * R_j * t.Phi(3, j).T * H.T
        right[joint, joint] = A
        right[joint, None] = t.tau(j) - t.H(j) * R_j * t.Phi(3, j).T * t.a(3)
    A_12 = t.symbol("A_12", t.dof(1), t.dof(2))
    start[("qdd", 1), ("qdd", 2)] = right[("qdd", 1), ("qdd", 2)] = A_12
    yield from left_is("crbm", t, t.after("crbm", 1, start), right)
    yield leaves_first("crbm", (("pdd", "f"), ("qdd",)))
    yield any_freedom("crbm")


@statement(
    "the same pivots, every n",
    f"{PAPER}, sec. 3, by induction",
    "qdd_k takes M^ H* D^-1 H M^ out of R_j of every ancestor: CRBM's pivots are H M^ H*",
)
def pivots_step() -> Iterable[Equal]:
    """Joints below k are gone, so that R_k is M^_k; i carries j, j carries k, by any Phi.

    Entry (i, j) stays H_i Phi_ij R_j H_j*, with R_j the composite inertia of j in which k's part
    is now Phi Mbar_k Phi*.
    """
    t = Bench((2, 3, 0))
    M_hat = t.symbol("M^_1", 6, 6, symmetric=True)
    D = t.H(1) * M_hat * t.H(1).T
    R = {k: t.symbol(f"R_{k}", 6, 6, symmetric=True) for k in (2, 3)}
    start: Blocks = {(("qdd", 1), ("qdd", 1)): D, (("qdd", 1), None): t.tau(1)}
    right: Blocks = {}
    for i in (2, 3):
        column = t.H(i) * t.Phi(i, 1) * M_hat * t.H(1).T
        start[("qdd", i), ("qdd", 1)], start[("qdd", i), None] = column, t.tau(i)
        right[("qdd", i), None] = t.tau(i) - column * D.I * t.tau(1)
        for j in range(2, i + 1):
            taken = M_hat * t.H(1).T * D.I * t.H(1) * M_hat
            R_j = R[j] - t.Phi(j, 1) * taken * t.Phi(j, 1).T
            start[("qdd", i), ("qdd", j)] = t.H(i) * t.Phi(i, j) * R[j] * t.H(j).T
            right[("qdd", i), ("qdd", j)] = t.H(i) * t.Phi(i, j) * R_j * t.H(j).T
    yield from left_is("crbm", t, t.after("crbm", 1, start), right)


@statement(
    "a joint's turn, every n",
    f"{PAPER}, sec. 3, by induction",
    "when all children's joints are gone, R_j has become M^_j of (7)",
)
def turn_step() -> Iterable[Equal]:
    """Before: bodies below the children c are gone, so that R_c is M^_c, any symmetric block, and
    R_j = M_j + sum of Phi M^_c Phi*.  Then the children's joints go, one after another.
    """
    for shape in ((2, 3, 0), (3, 3, 4, 0), (4, 4, 4, 5, 0)):
        t = Bench(shape)
        j = t.parent(1)
        children, up = t.children(j), t.parent(j)
        M_hat = {c: t.symbol(f"M^_{c}", 6, 6, symmetric=True) for c in children}
        D = {c: t.H(c) * M_hat[c] * t.H(c).T for c in children}
        R_j, M_j = t.M(j), t.M(j)  # as CRBM composes it, and (7)
        for c in children:
            Phi, M, H = t.Phi(j, c), M_hat[c], t.H(c)
            R_j = R_j + Phi * M * Phi.T
            M_j = M_j + Phi * M * Phi.T - Phi * M * H.T * D[c].I * H * M * Phi.T
        own, above = ("qdd", j), ("qdd", up)
        start: Blocks = {(("qdd", c), ("qdd", c)): D[c] for c in children}
        for c in children:
            start[own, ("qdd", c)] = t.H(j) * t.Phi(j, c) * M_hat[c] * t.H(c).T
            start[above, ("qdd", c)] = t.H(up) * t.Phi(up, c) * M_hat[c] * t.H(c).T
        start[own, own] = t.H(j) * R_j * t.H(j).T
        start[above, own] = t.H(up) * t.Phi(up, j) * R_j * t.H(j).T
        e = t.after("crbm", len(children), start)
        yield Equal(f"{shape}: D_{j}", t, e.entry(own, own), t.H(j) * M_j * t.H(j).T)
        right = t.H(up) * t.Phi(up, j) * M_j * t.H(j).T
        yield Equal(f"{shape}: entry {up},{j}", t, e.entry(above, own), right)


@statement(
    "joints of none and of six, every n",
    f"{PAPER}, eq (7), by induction",
    "a fixed leaf hands on M and b + M a, a free one H^-1 tau and no inertia",
)
def no_freedom_and_all() -> Iterable[Claim]:
    """N_k = 0 has no H and no pivot D.  For N_k = 6, H is regular, any M is H^-1 D H^-*, and Mbar
    is 0: the children's forces pass on, and no inertia does.
    """
    for shape in ANY:
        for order in ("abm", "bad_abm"):
            sizes = tuple(1 + k % 2 for k in range(len(shape) - 1))
            for N in (0, 6):
                t = Bench(shape, (N, *sizes))
                p, own = t.parent(1), ("pdd", 1)
                up, Phi, right = ("pdd", p), t.Phi(p, 1), of_equation_4(t, t.bodies[1:])
                start = of_equation_4(t, t.bodies)
                if N == 0:
                    handed, force = t.M(1), t.b(1) + t.M(1) * t.a(1)
                    right[up, up] = t.M(p) + Phi * handed * Phi.T
                else:
                    G = t.symbol("H_1^-1", 6, 6)
                    t.inverse(t.H(1), G)
                    start[own, own] = G * t.symbol("D_1", 6, 6, symmetric=True) * G.T
                    force = G * t.tau(1)
                right[up, None] = t.b(p) + Phi * force
                groups = 2 if order == "bad_abm" and N else 1
                e = t.after(order, groups, start)
                yield from left_is(f"{order}, N = {N}, on {shape}", t, e, right)


@statement(
    "a step reads what is left",
    "Duff & Reid 1983 (multifrontal elimination)",
    "k + 1 steps from (4) are one step from what k steps left",
)
def markov() -> Iterable[Equal]:
    """What an induction rests on, held against the engine's own fronts on a tree."""
    for order, steps in (("abm", 4), ("crbm", 7), ("bad_abm", 5)):
        t = Bench((3, 3, 5, 5, 0))
        for s in range(1, steps):
            now, later = t.after(order, s), t.after(order, s + 1)
            start: Blocks = {
                (tuple(i), tuple(j)): Identity(6)
                if {i.kind, j.kind} == {"pdd", "f"} and i.body == j.body
                else now.entry(i, j)
                for i, j in now.left.entries
                if (i.kind, i.body) <= (j.kind, j.body)
            }
            start |= {(tuple(i), None): now.rhs(i) for i in now.left.rhs}
            once = t.after(order, 1, start)
            for i, j in later.left.entries:
                yield Equal(f"{order}, step {s + 1}: {i}, {j}", t, once.entry(i, j), later.entry(i, j))
            for i in later.left.rhs:
                yield Equal(f"{order}, step {s + 1}: {i}", t, once.rhs(i), later.rhs(i))


# -- D_k > 0: the pivots are sums of squares where the inertias are (below (7)) -----------------------
#
# M_k is positive definite if and only if M_k = L_k L_k* with L_k regular.  A pivot is then
#
#     D_k = (L_k* H_k*)* (L_k* H_k*) + sum over j below k of W_j* W_j,   W_j = L_j* Psi_kj* H_k*,
#
# Psi_kj the product of Phi (1 - M^ H* D^-1 H) along the way from j to k.  The first square is
# positive definite, H_k* being of full rank and L_k* regular; the others are at least 0.  So every
# D_k is positive definite, and each one's inverse, on which the next rests, exists.


@statement(
    "D_k > 0",
    f"{PAPER}, below eq (7)",
    "D_k = H M H* + squares of L_j* Psi_kj* H_k*, M_j = L_j L_j*; the first is > 0",
)
def pivots_are_positive() -> Iterable[Equal]:
    for shape in ((0,), (2, 0), CHAIN, (3, 3, 4, 0)):
        right = Articulated(shape)
        t = right.t
        L = {k: t.root(k) for k in t.bodies}

        def Psi(k: int, j: int, known: Articulated = right) -> MatrixExpr:
            """From j up to its ancestor k, through the joints in between."""
            t = known.t
            if j == k:
                return Identity(6)
            M, H = known.M[j], t.H(j)
            left = Identity(6) - M * H.T * known.D(j).I * H
            step = t.Phi(t.parent(j), j) * left
            return step if t.parent(j) == k else Psi(k, t.parent(j), known) * step

        for k in t.bodies:
            roots = [t.H(k) * Psi(k, j) * L[j] for j in below(t, k)]
            squares = sum_of([root * root.T for root in roots], (t.dof(k), t.dof(k)))
            for order in ("abm", "modified_abm"):
                yield Equal(f"{order}: D_{k}", t, t.after(order, k).pivot(("qdd", k)), squares)


@statement(
    "D_k > 0, every n",
    f"{PAPER}, below eq (7), by induction",
    "a leaf with M = L L* hands on Phi (P L) (P L)* Phi*, P = 1 - M H* D^-1 H: no less than 0",
)
def squares_are_handed_on() -> Iterable[Equal]:
    """So M^ of the parent is its own L L*, which is positive definite, and squares; it has a root
    of its own, and is the next leaf's M.
    """
    for shape in ((2, 3, 0), (3, 3, 4, 0)):
        for order in ("abm", "modified_abm", "gain_abm", "joseph_abm"):
            t = Bench(shape)
            L, p, H, M = t.root(1), t.parent(1), t.H(1), t.M(1)
            D = H * M * H.T
            e = t.after(order, 1, of_equation_4(t, t.bodies))
            yield Equal(f"{order}: D", t, e.pivot(("qdd", 1)), (H * L) * (H * L).T)
            handed = t.Phi(p, 1) * (Identity(6) - M * H.T * D.I * H) * L
            left = e.entry(("pdd", p), ("pdd", p))
            yield Equal(f"{order}: M^ on {shape}", t, left, t.M(p) + handed * handed.T)
