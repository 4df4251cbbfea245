"""The algebra under a guarantee for every state: what is less than what, as sums of squares.

X <= Y where Y - X = E E*.  Each step of docs/guarantee.md is an equality whose right side is a sum
of squares, so that its inequality holds for every size, joint and inertia.  S(X) is what a body of
inertia X hands to its parent once its joint has let go.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Identity, MatrixExpr, MatrixSymbol

from .bench import Bench, sum_of
from .claim import Equal, statement
from .induction import Blocks, of_equation_4

SOURCE = "docs/theory/guarantee.md"
SHAPES = ((2, 0), (2, 3, 0), (3, 3, 4, 0))


def with_inertia(t: Bench, X: MatrixExpr, H: MatrixExpr | None = None) -> Blocks:
    """(4), with another inertia of body 1 and other axes of its joint."""
    blocks = of_equation_4(t, t.bodies)
    blocks[("pdd", 1), ("pdd", 1)] = X
    if H is not None:
        blocks[("qdd", 1), ("f", 1)] = H
    return blocks


def handed(t: Bench, blocks: Blocks, order: str = "abm") -> MatrixExpr:
    """What is left of the parent's inertia after body 1: M_p + Phi S(X) Phi*."""
    row = ("pdd", t.parent(1))
    return t.after(order, 1, blocks).entry(row, row)


def change(t: Bench) -> MatrixSymbol:
    """E, any change of six rows and as many columns."""
    return t.symbol("E", 6, 6)


def gain(X: MatrixExpr, H: MatrixExpr) -> MatrixExpr:
    return X * H.T * (H * X * H.T).I


@statement(
    "S is monotone",
    f"{SOURCE}, step 1",
    "S(X + E E*) - S(X) = P E E* P* + (K' - K) D (K' - K)*, P = 1 - K' H: no less than 0",
)
def monotone() -> Iterable[Equal]:
    """K = X H* D^-1 and D = H X H* of X, K' of X + E E*."""
    for shape in SHAPES:
        t = Bench(shape)
        X, H, E, Phi = t.M(1), t.H(1), change(t), t.Phi(t.parent(1), 1)
        Y = X + E * E.T
        t.define("D", H * X * H.T, symmetric=True)
        t.define("D'", H * Y * H.T, symmetric=True, word=H * E * E.T * H.T)
        K, K1 = gain(X, H), gain(Y, H)
        P = Identity(6) - K1 * H
        squares = P * E * E.T * P.T + (K1 - K) * (H * X * H.T) * (K1 - K).T
        grown = handed(t, with_inertia(t, Y)) - handed(t, with_inertia(t, X))
        yield Equal(f"S(X + E E*) - S(X) on {shape}", t, grown, Phi * squares * Phi.T)


@statement(
    "S lets go",
    f"{SOURCE}, steps 1 and 3",
    "X - S(X) = X H* D^-1 (X H* D^-1)* times D: an articulated inertia is at most the composite",
)
def lets_go() -> Iterable[Equal]:
    """The one that CRBM hands on, less the one that ABM hands on."""
    for shape in SHAPES:
        for order in ("abm", "gain_abm", "modified_abm"):
            t = Bench(shape)
            X, H, Phi = t.M(1), t.H(1), t.Phi(t.parent(1), 1)
            here = of_equation_4(t, t.bodies)
            gone = handed(t, here, "crbm") - handed(t, here, order)
            K = gain(X, H)
            right = (Phi * K) * (H * X * H.T) * (Phi * K).T
            yield Equal(f"crbm - {order} on {shape}", t, gone, right)


@statement(
    "S and congruence",
    f"{SOURCE}, step 1",
    "S(T X T*) with the axes H T^-1 is T S(X) T*; the axes G H are the joint of H",
)
def congruence() -> Iterable[Equal]:
    """With T = t 1 and G = t: S(t^2 X) = t^2 S(X), so that relative changes pass as they are."""
    for shape in SHAPES:
        t = Bench(shape)
        X, H, Phi, p = t.M(1), t.H(1), t.Phi(t.parent(1), 1), t.parent(1)
        T, back = t.symbol("T", 6, 6), t.symbol("Z", 6, 6)
        t.inverse(T, back)
        turned = handed(t, with_inertia(t, T * X * T.T, H * back))
        kept = X - gain(X, H) * H * X
        right = t.M(p) + Phi * T * kept * T.T * Phi.T
        yield Equal(f"T X T* on {shape}", t, turned, right)
        t = Bench(shape)
        X, H, Phi = t.M(1), t.H(1), t.Phi(t.parent(1), 1)
        G, back = t.symbol("G", t.dof(1), t.dof(1)), t.symbol("W", t.dof(1), t.dof(1))
        t.inverse(G, back)
        other = handed(t, with_inertia(t, X, G * H))
        right = t.M(p) + Phi * (X - gain(X, H) * H * X) * Phi.T
        yield Equal(f"G H on {shape}", t, other, right, rewritten=False)  # 1 / (G D G*)


@statement(
    "what a joint does not touch",
    f"{SOURCE}, step 8",
    "S(X + F) = S(X) + F and D is the same, F = C V C* with H C = 0",
)
def untouched() -> Iterable[Equal]:
    for shape in SHAPES:
        t = Bench(shape)
        t.bases(1)
        X, H, C, Phi = t.M(1), t.H(1), t.C(1), t.Phi(t.parent(1), 1)
        V = t.symbol("V", 6 - t.dof(1), 6 - t.dof(1), symmetric=True)
        F = C * V * C.T
        p = t.parent(1)
        e = t.after("abm", 1, with_inertia(t, X + F))
        right = t.M(p) + Phi * (X + F - X * H.T * (H * X * H.T).I * H * X) * Phi.T
        yield Equal(f"S(X + F) on {shape}", t, e.entry(("pdd", p), ("pdd", p)), right)
        yield Equal(f"D on {shape}", t, e.pivot(("qdd", 1)), H * X * H.T)


@statement(
    "the energy of M(q)",
    "Ascher 1996, equation (3)",
    "M(q)_ij = sum of (J_ki)* M_k J_kj over bodies k, J_ki = Phi_ik* H_i*: a sum of congruences",
)
def energy() -> Iterable[Equal]:
    """So that E_k in the place of M_k moves M(q) by sum J_k* E_k J_k, as much of it as of M_k."""
    for shape in SHAPES:
        t = Bench(shape)
        n = len(t.bodies)
        e = t.after("crbm", n)
        for i in t.bodies:
            for j in (j for j in t.bodies if j >= i):
                both = [k for k in t.bodies if carries(t, i, k) and carries(t, j, k)]
                terms = [(t.Phi(i, k).T * t.H(i).T).T * t.M(k) * (t.Phi(j, k).T * t.H(j).T) for k in both]
                right = sum_of(terms, (t.dof(i), t.dof(j)))
                left = e.entry(("qdd", i), ("qdd", j))
                yield Equal(f"M(q)_{i}{j} on {shape}", t, left, right)


def carries(t: Bench, i: int, k: int) -> bool:
    """Whether body i carries body k, or is it."""
    while k and k != i:
        k = t.parent(k)
    return k == i
