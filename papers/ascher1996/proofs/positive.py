"""D_k > 0: the pivots are sums of squares where the inertias are (Ascher 1996, below (7)).

M_k is positive definite if and only if M_k = L_k L_k* with L_k regular.  A pivot is then

    D_k = (L_k* H_k*)* (L_k* H_k*) + sum over j below k of W_j* W_j,   W_j = L_j* Psi_kj* H_k*,

Psi_kj the product of Phi (1 - M^ H* D^-1 H) along the way from j to k.  The first square is
positive definite, H_k* being of full rank and L_k* regular; the others are at least 0.  So every
D_k is positive definite, and each one's inverse, on which the next rests, exists.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Identity, MatrixExpr

from pivotree.analysis.proofs import Bench, Equal, of_equation_4, statement, sum_of

from .equations import CHAIN, PAPER, Articulated, below

SHAPES = ((0,), (2, 0), CHAIN, (3, 3, 4, 0))


@statement(
    "D_k > 0",
    f"{PAPER}, below eq (7)",
    "D_k = H M H* + squares of L_j* Psi_kj* H_k*, M_j = L_j L_j*; the first is > 0",
)
def pivots_are_positive() -> Iterable[Equal]:
    for shape in SHAPES:
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
