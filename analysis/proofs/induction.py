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
from functools import cache
from typing import Any

import numpy as np
from sympy import Identity, MatrixExpr, ZeroMatrix

from pivotree import orderings
from pivotree.kkt.matrix.blocks import Structure
from pivotree.kkt.order.sequence import as_sequence

from .bench import Bench, Engine
from .claim import Checked, Equal

Blocks = dict[tuple[tuple[str, int], tuple[str, int] | None], MatrixExpr]
Parents = tuple[int, ...]  # of body 0, 1 ... by index, parents first; -1 for the world
TREES_UP_TO = 8  # bodies


def canonical(parents: Parents, root: int = -1) -> tuple[Any, ...]:
    """Equal for trees that differ by the numbers of their bodies."""
    return tuple(sorted(canonical(parents, k) for k, up in enumerate(parents) if up == root))


@cache
def trees(n: int) -> tuple[Parents, ...]:
    """Every rooted tree of n bodies, once: 1, 1, 2, 4, 9, 20, 48, 115 of them."""
    if n == 1:
        return ((-1,),)
    grown = ((*parents, up) for parents in trees(n - 1) for up in range(n - 1))
    return tuple({canonical(parents): parents for parents in grown}.values())


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

    def holds(parents: Parents) -> bool:
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

    def instructions(N: int) -> list[tuple[Any, ...]]:
        t = Bench((3, 3, 5, 5, 0), dof=(N,) * 5)
        made = t.program(order).instructions
        return [(i.op, i.out, i.args, i.step, i.symmetric) for i in made]

    same = all(instructions(N) == instructions(2) for N in (3, 4, 5))
    return Checked(f"{order}: one program for any N_k", same)
