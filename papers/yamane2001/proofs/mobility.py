"""Yamane & Nakamura 2001, section 6.1: their M_i+1 and the articulated-body inertia.

In words there: M_i+1 is "very similar to ABI", with "the inertia of link i + 1" included.  In
letters, K_k = C_k*:

    M_k^-1 = K_k ((I^A_k)^-1 + Phi* (I^A_p so far)^-1 Phi) K_k*

``so far``: what the carrying link p has become when joint k's turn comes, its earlier children
attached.  So M_k is the inertia of the relative motion of two articulated bodies across joint k.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sympy import Identity, ZeroMatrix

from pivotree.analysis.proofs import Bench, Equal, statement

from .equations import PAPER, TREE


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
        yield next(on(shape))


def on(shape: tuple[int, ...]) -> Iterator[Equal]:
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
