"""The lines of any order at all: its groups, one after another, on the blocks of (4).

A group is a bracket, whose blocks are eliminated together.  Where no loop over the bodies of a tree
tells what an order does, as for one that is drawn at random, this is the algorithm that it is: the
sparse L D L^T of (4), block by block, in the order's own groups.
"""

from __future__ import annotations

from typing import Any

from .loops import Line, Loop
from .nodes import Family, Index, Leaf, Node, Sum, Term
from .sets import Set

GROUP = ("group",)  # kinds of these families, and of a loop over groups
MATRIX, RIGHT = ("input", "K"), ("input", "r")
PIVOT, COUPLING, LEFT, SOLUTION = ((label, GROUP, False, 0) for label in ("D", "W", "y", "x"))
K, J, C = Index("k"), Index("j"), Index("c")


def loops_of_groups(count: int) -> tuple[Loop, Loop]:
    """Forward and back over so many groups; k is a group, and what it is coupled with is ``left``."""
    groups = tuple(range(count))
    gone, shared = (("c", Set("gone", ("k",))),), (("c", Set("shared", ("k", "j"))),)
    later, left = (("j", Set("left", ("k",))),), (("c", Set("left", ("k",))),)

    def made(
        family: Family, right: Leaf, taken: tuple[Any, ...], by: Leaf, index: tuple[Any, ...] = (K,)
    ) -> Line:
        """right - sum of W_ck^T D_c^-1 by, over the groups that are ``taken``."""
        inner = Node("inner", (Leaf(PIVOT, (C,)), Leaf(COUPLING, (C, K)), by))
        over = later if len(index) > 1 else ()
        return Line(family, index, over, None, Sum((Term(1, right), Term(-1, inner, taken))))

    forward = (
        made(PIVOT, Leaf(MATRIX, (K, K)), gone, Leaf(COUPLING, (C, K))),
        made(LEFT, Leaf(RIGHT, (K,)), gone, Leaf(LEFT, (C,))),
        made(COUPLING, Leaf(MATRIX, (K, J)), shared, Leaf(COUPLING, (C, J)), (K, J)),
    )
    rest = Sum(
        (
            Term(1, Leaf(LEFT, (K,))),
            Term(-1, Node("mul", (Leaf(COUPLING, (K, C)), Leaf(SOLUTION, (C,)))), left),
        )
    )
    solved = Sum((Term(1, Node("solve", (Leaf(PIVOT, (K,)), rest))),))
    back = (Line(SOLUTION, (K,), (), None, solved),)
    return Loop(False, GROUP, forward, groups), Loop(True, GROUP, back, groups[::-1])
