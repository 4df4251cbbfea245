"""Lagrange multipliers (Baraff 1996) and constraint forces (Fijany, Sharf & D'Eleuterio 1995).

Both are told as Yamane & Nakamura compare them, sec. 6: the constraint forces are the unknowns of
J M^-1 J* lambda = right-hand side, which Baraff eliminates in the sparse system with the bodies and
Fijany in odd-even order.  Row k of J is C_k* (p''_k - Phi* p''_parent), H_k C_k = 0.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Identity, MatrixExpr

from .bench import Bench, sum_of
from .claim import Equal, statement
from .induction import Blocks, left_is

CHAIN, TREE = (2, 3, 4, 0), (3, 3, 5, 5, 0)


def J(t: Bench, k: int, i: int) -> MatrixExpr | None:
    """Block (k, i): the constraint of joint k on the acceleration of body i."""
    if i == k:
        return t.C(k).T
    return -t.C(k).T * t.Phi(i, k).T if t.parent(k) == i else None


def JMJ(t: Bench, k: int, j: int) -> MatrixExpr:
    """Block (k, j) of J M^-1 J*."""
    terms = []
    for i in t.bodies:
        row, column = J(t, k, i), J(t, j, i)
        if row is not None and column is not None:
            terms.append(row * t.M(i).I * column.T)
    return sum_of(terms, (6 - t.dof(k), 6 - t.dof(j)))


@statement("Lagrange multipliers", "Baraff 1996, sec. 4, (7), (8)", "A lambda = b with A = J M^-1 J*")
def multipliers() -> Iterable[Equal]:
    """b = J M^-1 F - c: F drives the free bodies, J p'' = c is what the joints ask for."""
    for shape in (CHAIN, TREE):
        t = Bench(shape)
        e = t.after("virtual_work", 2 * len(shape))
        for k in t.bodies:
            for j in t.bodies:
                left = -e.entry(("fC", k), ("fC", j))
                yield Equal(f"A_{k}{j}", t, left, JMJ(t, k, j))
            b = -t.C(k).T * t.a(k)
            for i in t.bodies:
                row = J(t, k, i)
                if row is not None:
                    F = t.B(i) * t.tau(i) - t.b(i)
                    F = F - sum_of([t.Phi(i, c) * t.B(c) * t.tau(c) for c in t.children(i)], (6, 1))
                    b = b + row * t.M(i).I * F
            yield Equal(f"b_{k}", t, e.rhs(("fC", k)), b)


@statement(
    "Lagrange multipliers, leaf to root",
    "Baraff 1996, sec. 6, every n by induction",
    "body, joint, constraint: M_p + Phi C (C* M^-1 C)^-1 C* Phi* is left at the parent",
)
def sparse_step() -> Iterable[Equal]:
    """Three steps on any leaf; M_k are any symmetric blocks, so the next leaf meets the same."""
    for shape in ((2, 3, 0), (3, 3, 4, 0)):
        t = Bench(shape)
        t.bases(1)
        p = t.parent(1)
        M, B, C, Phi = t.M(1), t.B(1), t.C(1), t.Phi(p, 1)
        S = C.T * M.I * C
        start, right = split_4(t, t.bodies), split_4(t, t.bodies[1:])
        up = ("pdd", p)
        right[up, up] = t.M(p) + Phi * C * S.I * C.T * Phi.T
        drive = C.T * M.I * (t.b(1) - B * t.tau(1)) + C.T * t.a(1)
        right[up, None] = t.b(p) + Phi * B * t.tau(1) + Phi * C * S.I * drive
        e = t.after("lagrange", 3, start)
        yield Equal(f"{shape}: pivot M", t, e.pivot(("pdd", 1)), M)
        yield Equal(f"{shape}: pivot -C* M^-1 C", t, e.pivot(("fC", 1)), -S)
        yield from left_is(f"{shape}", t, e, right)


def split_4(t: Bench, bodies: Iterable[int]) -> Blocks:
    """(4) with f = B fJ + C fC."""
    blocks: Blocks = {}
    for k in bodies:
        pdd, qdd, fJ, fC = ((kind, k) for kind in ("pdd", "qdd", "fJ", "fC"))
        blocks[pdd, pdd], blocks[pdd, None], blocks[qdd, None] = t.M(k), t.b(k), t.tau(k)
        blocks[qdd, fJ] = Identity(t.dof(k))
        for part, basis in ((fJ, t.B(k)), (fC, t.C(k))):
            blocks[pdd, part], blocks[part, None] = basis, -basis.T * t.a(k)
            if t.parent(k):
                blocks[("pdd", t.parent(k)), part] = -t.Phi(t.parent(k), k) * basis
    return blocks


@statement(
    "constraint force algorithm",
    "Fijany, Sharf & D'Eleuterio 1995 (odd-even elimination)",
    "every other joint: S_ij - S_ie S_ee^-1 S_ej, tridiagonal again",
)
def odd_even() -> Iterable[Equal]:
    """One round on a chain of four: joints whose number from the base is odd go first."""
    t = Bench(CHAIN)
    n = len(CHAIN)
    first, rest = (2, 4), (1, 3)  # numbers 3 and 1 from the base, then 4 and 2
    e = t.after("constraint_force", 2 * n + len(first))
    for k in first:
        yield Equal(f"pivot {k}", t, -e.pivot(("fC", k)), JMJ(t, k, k))
    for k in rest:
        for j in rest:
            taken = [JMJ(t, k, m) * JMJ(t, m, m).I * JMJ(t, m, j) for m in first]
            shape = (6 - t.dof(k), 6 - t.dof(j))
            right = JMJ(t, k, j) - sum_of(taken, shape)
            yield Equal(f"block {k},{j}", t, -e.entry(("fC", k), ("fC", j)), right)
