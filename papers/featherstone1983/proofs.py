"""Inverse and forward dynamics as recursions: Johnson & Su's slides; Featherstone 1983, 1987.

Their letters here: I_i = M_i, s_i = H_i*, Q_i = tau_i, v_i x I_i v_i = b_i, v x s q' = a_i, and
the acceleration a_i of a link is minus the unknown pdd_i.  The slides write all vectors in one
frame; Phi carries them between frames, and is 1 in the statements that are as printed.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Identity

from pivotree import orderings
from pivotree.analysis.proofs import Bench, Blocks, Engine, Equal, of_equation_4, statement, sum_of
from pivotree.kkt.program import trace_substitution

from ..ascher1996.proofs.equations import CHAIN, SHAPES, TREE, bodies_of, from_parent

SLIDES = "Johnson & Su"


def rnea(t: Bench) -> Engine:
    """The substitution with qdd known, whose input blocks tau hold qdd."""
    order = orderings.get("inverse_dynamics")
    program = trace_substitution(order(t.structure), t.structure, "inverse_dynamics")
    return Engine(t, program.instructions, program.shapes, program=program)


@statement("recursive Newton-Euler", f"{SLIDES}, RNEA steps 1 to 3", "a_i, f_i*, f_i and Q_i of the slides")
def newton_euler() -> Iterable[Equal]:
    """Every n: a line reads the parent's or the children's values alone, whatever these are."""
    for shape in (*SHAPES, (0,), (2, 3, 4, 5, 6, 0)):
        t = Bench(shape)
        e = rnea(t)
        for i in t.bodies:
            s, qdd = t.H(i).T, t.tau(i)
            a = t.a(i) + s * qdd + from_parent(t, e, i)
            net = -t.M(i) * e.x("pdd", i) + t.b(i)
            f = net + sum_of([t.Phi(i, c) * e.x("f", c) for c in t.children(i)], (6, 1))
            yield Equal(f"a_{i}", t, -e.x("pdd", i), a)
            yield Equal(f"f_{i}", t, e.x("f", i), f)
            yield Equal(f"Q_{i}", t, e.x("qdd", i), s.T * e.x("f", i))


def one_frame(t: Bench, bodies: Iterable[int]) -> Blocks:
    """(4) with every body in the same frame: Phi = 1."""
    blocks = of_equation_4(t, bodies)
    for row, column in blocks:
        if column and row[0] == "pdd" and column[0] == "f" and row[1] != column[1]:
            blocks[row, column] = -Identity(6)
    return blocks


@statement("two links of Featherstone", f"{SLIDES}, (I) to (III)", "I_1^A and p_1 of two links in one frame")
def two_links() -> Iterable[Equal]:
    """The slides' link 1 is body 2 here, link 2 is body 1; p_1 as printed, v_1 x v_2 being a_1."""
    t = Bench((2, 0))
    I1, I2, s = t.M(2), t.M(1), t.H(1).T
    c, Q = t.a(1), t.tau(1)
    e = t.after("abm", 1, one_frame(t, t.bodies))
    inertia = I1 + I2 - I2 * s * (s.T * I2 * s).I * s.T * I2
    gain = s * (s.T * I2 * s).I * (Q - s.T * (I2 * c + t.b(1)))
    yield Equal("I_1^A", t, e.entry(("pdd", 2), ("pdd", 2)), inertia)
    yield Equal("p_1", t, e.rhs(("pdd", 2)), t.b(2) + t.b(1) + I2 * (c + gain))


@statement("articulated-body recursion", f"{SLIDES}, inertia & bias forces (3)", "I_i^A and p_i")
def recursion() -> Iterable[Equal]:
    """In one frame as printed, on any chain that is left; then with Phi, on trees, every body."""
    t = Bench(CHAIN)
    I_A, s, c, Q = t.M(1), t.H(1).T, t.a(1), t.tau(1)
    d = s.T * I_A * s
    e = t.after("abm", 1, one_frame(t, t.bodies))
    inertia = t.M(2) + I_A - I_A * s * d.I * s.T * I_A
    force = t.b(2) + t.b(1) + I_A * c + I_A * s * d.I * (Q - s.T * (I_A * c + t.b(1)))
    yield Equal("I_i^A, one frame", t, e.entry(("pdd", 2), ("pdd", 2)), inertia)
    yield Equal("p_i, one frame", t, e.rhs(("pdd", 2)), force)
    for known, t, i in bodies_of((CHAIN, TREE, (4, 4, 4, 0))):
        terms, forces = [t.M(i)], [t.b(i)]
        for j in t.children(i):
            X, I_A, p, s, c = t.Phi(i, j), known.M[j], known.b[j], t.H(j).T, t.a(j)
            d = s.T * I_A * s
            terms.append(X * (I_A - I_A * s * d.I * s.T * I_A) * X.T)
            u = t.tau(j) - s.T * (I_A * c + p)
            forces.append(X * (p + I_A * c + I_A * s * d.I * u))
        e = t.after("abm", i - 1)
        yield Equal(f"I_{i}^A", t, e.entry(("pdd", i), ("pdd", i)), sum_of(terms, (6, 6)))
        yield Equal(f"p_{i}", t, e.rhs(("pdd", i)), sum_of(forces, (6, 1)))


@statement(
    "joint acceleration", f"{SLIDES}, (IV) to (VI)", "q'' = (Q - s*(I^A (a_b + v_b x s q') + p)) / s* I^A s"
)
def acceleration() -> Iterable[Equal]:
    for known, t, i in bodies_of((*SHAPES, (0,))):
        e, s, I_A, p = t.eliminated("abm"), t.H(i).T, known.M[i], known.b[i]
        carried = t.a(i) + from_parent(t, e, i)
        formula = (s.T * I_A * s).I * (t.tau(i) - s.T * (I_A * carried + p))
        yield Equal(f"q_{i}''", t, e.x("qdd", i), formula)
        yield Equal(f"a_{i}", t, -e.x("pdd", i), carried + s * e.x("qdd", i))
