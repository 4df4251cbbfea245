"""For every number of bodies: one step on a matrix that any number of steps may have reached.

A step of an elimination reads nothing but the blocks that are left.  So a closed form holds for
every n once it holds before the first step (the base: what (4) itself is) and each step carries it
on.  The step is proved on a matrix that is typed: (4) of what is left of a tree, with any symmetric
blocks where earlier steps have been.  Joints and bodies that are not shown meet the step as the
ones that are, pair by pair: an update of blocks (i, j) reads the couplings of i and of j alone.
That an order takes leaf after leaf, and that N_k changes nothing, is looked up on many trees.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sympy import Identity, MatrixExpr, ZeroMatrix

from pivotree import orderings
from pivotree.kkt.matrix.blocks import Structure
from pivotree.kkt.order.sequence import as_sequence

from .ascher1996 import PAPER
from .bench import Bench, Engine
from .claim import Checked, Claim, Equal, statement
from .trees import TREES_UP_TO, trees

Blocks = dict[tuple[tuple[str, int], tuple[str, int] | None], MatrixExpr]


def of_equation_4(t: Bench, bodies: Iterable[int]) -> Blocks:
    """Blocks of (4) for these bodies of a tree; M_k are any symmetric blocks."""
    blocks: Blocks = {}
    for k in bodies:
        pdd, qdd, f = ("pdd", k), ("qdd", k), ("f", k)
        blocks[pdd, pdd], blocks[pdd, f] = t.M(k), Identity(6)
        blocks[pdd, None], blocks[f, None] = t.b(k), -t.a(k)
        if t.dof(k):
            blocks[qdd, f], blocks[qdd, None] = t.H(k), t.tau(k)
        if t.parent(k):
            blocks[("pdd", t.parent(k)), f] = -t.Phi(t.parent(k), k)
    return blocks


def left_is(what: str, t: Bench, e: Engine, right: Blocks) -> Iterable[Equal]:
    """Every block that is left, those that must be zero too."""
    rows = sorted({row for row, _ in right} | {column for _, column in right if column})
    for i, row in enumerate(rows):
        for column in rows[i:]:
            known = right.get((row, column))
            if known is None and (column, row) in right:
                known = right[column, row].T
            left = e.entry(row, column)
            name = f"{what}: block {row[0]}_{row[1]}, {column[0]}_{column[1]}"
            yield Equal(name, t, left, ZeroMatrix(*left.shape) if known is None else known)
        left = e.rhs(row)
        name = f"{what}: right-hand side of {row[0]}_{row[1]}"
        yield Equal(name, t, left, right.get((row, None), ZeroMatrix(*left.shape)))


def leaves_first(order: str, brackets: tuple[tuple[str, ...], ...]) -> Checked:
    """The order is these brackets, one a body, each time for all bodies, children first.

    So each step meets a leaf of what is left, and what is left of a tree is a tree.
    """

    def holds(parents: tuple[int, ...]) -> bool:
        n = len(parents)
        up, freedoms = np.array(parents, dtype=np.int64), np.ones(n, dtype=np.int64)
        structure = Structure(tuple(range(n)), up, freedoms)
        groups = [list(g) for g in as_sequence(orderings.get(order), structure).groups]
        if len(groups) != n * len(brackets):
            return False
        for turn, kinds in enumerate(brackets):
            gone: set[Any] = set()
            for group in groups[turn * n : turn * n + n]:
                k = group[0][1]
                if [tuple(b) for b in group] != [(kind, k) for kind in kinds]:
                    return False
                if any(parents[c] == k and c not in gone for c in range(n)):
                    return False
                gone.add(k)
            if len(gone) < n:
                return False
        return True

    every = [tree for n in range(1, TREES_UP_TO + 1) for tree in trees(n)]
    return Checked(f"{order}: children first, on {len(every)} trees", all(map(holds, every)))


def any_freedom(order: str) -> Checked:
    """The program is the same for N_k = 2, 3, 4, 5; for 1 only L = 1 is left out of it.

    0 and 6 have other programs, and a statement of their own.
    """

    def instructions(N: int) -> list[tuple]:
        t = Bench((3, 3, 5, 5, 0), dof=(N,) * 5)
        made = t.program(order).instructions
        return [(i.op, i.out, i.args, i.step, i.symmetric) for i in made]

    same = all(instructions(N) == instructions(2) for N in (3, 4, 5))
    return Checked(f"{order}: one program for any N_k", same)


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
