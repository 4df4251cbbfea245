"""Checks of lesson 1: the matrix from a tree."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from pivotree import kkt

from .verdict import Verdict, check, listed, names


@check("a number of rows")
def rows(answer: int) -> Verdict:
    """Rows of the humanoid's matrix."""
    system = kkt.build(kkt.humanoid())
    n, dof = system.tree.n, system.size - 12 * system.tree.n
    if answer == system.size:
        return Verdict(True, f"12 for each of {n} bodies and one for each of {dof} freedoms.")
    if answer == 12 * n:
        return Verdict(False, "Those are accelerations and forces; each freedom has a row as well.")
    if answer == 13 * n:
        return Verdict(False, "That gives every body one freedom; look at the root's joint.")
    return Verdict(False, f"{answer} is not 12 rows a body and one a freedom.")


@check("a list of blocks such as ('f', 'j2')")
def neighbours(answer: list) -> Verdict:
    """Nonzero blocks in the row pdd_j1 of star(3), read off the matrix."""
    system = kkt.build(kkt.star(3))
    row = system.matrix.tocsr()[system.blocks["pdd", "j1"]]
    truth = {str(block) for block, where in system.blocks.items() if abs(row[:, where]).sum() > 0}
    given = names(answer)
    if given == truth:
        return Verdict(True, "Its own inertia, its own force, and the force of every child.")
    if given - truth:
        return Verdict(False, f"The row has zeros at {listed(given - truth)}.")
    return Verdict(False, f"{len(truth - given)} more of its blocks are not zero.")


@cache
def mystery() -> Any:
    """A tree to be found from its matrix; body k is number k of the picture."""
    tree = kkt.new_tree("mystery")
    for body, parent in ((6, None), (4, 6), (5, 6), (1, 4), (2, 5), (3, 5)):
        place = {"com": (0.05, 0.0, 0.0), "p": (0.1, 0.0, 0.0)}
        kkt.add_body(tree, body, parent, mass=1.0, inertia=0.001 * np.eye(3), **place)
    return tree


@check("the parent of every body, such as {1: 2, 2: 3}, the root left out")
def parents(answer: dict) -> Verdict:
    """The mystery tree, its Phi blocks read off the matrix."""
    system = kkt.build(mystery())
    bodies, matrix = system.tree.names, system.matrix.tocsr()

    def meet(parent: int, child: int) -> bool:
        block = matrix[system.blocks["pdd", parent], system.blocks["f", child]]
        return parent != child and abs(block).sum() > 0

    truth = {c: p for c in bodies for p in bodies if meet(p, c)}
    wrong = sorted(c for c in {*truth, *answer} if answer.get(c) != truth.get(c))
    if not wrong:
        return Verdict(True, "A block Phi in row pdd_p and column f_c says that p is c's parent.")
    return Verdict(False, f"{len(wrong)} wrong; look down the column f_{wrong[0]} for a second row pdd.")
