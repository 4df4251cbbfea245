"""Loops that hold in general, not on the model's tree alone.

On a chain of three, the children of a body and all bodies below it are the same wherever CRBM's
factor asks; on a tree with branches and depth they are not.  An order is a function of the tree: it
is folded on the model's tree and a larger one together, a forest, and must then make every value of
the model too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pivotree.kkt.base.errors import PivotreeError
from pivotree.kkt.matrix.blocks import Structure

from .choice import number_of
from .loops import Course, Loop, courses_of, loops_of, steps_of
from .nodes import FoldingError
from .sets import Tree, nameless
from .unroll import check
from .values import Values

TREE = (-1, 0, 0, 0, 1, 1, 4, 6, 6, 2, 7, -1)
CHAIN = (-1, 0, 1, 2, 3, 4, 5)
DOF = (1, 2, 3)  # mixed, so that shapes are told apart
ANY_TREE, CHAINS, THIS_TREE = "any tree", "chains", "this tree"

Eliminated = Callable[[Structure], tuple[Values, Tree]]


class Telling(NamedTuple):
    """Loops, the values that they were folded from, and where they hold."""

    values: Values
    tree: Tree
    loops: tuple[Loop, ...]
    holds_on: str


def in_general(structure: Structure, eliminated: Eliminated, values: Values, tree: Tree) -> Telling | None:
    """Loops that hold on any tree, or on chains where those are the simpler ones; else None.

    There are none for an order that is given for this tree alone, or looks at it as a whole, or
    takes links apart.
    """
    factor = values.program.symbolic
    if factor is not None and factor.plan.sequence.links != "whole":
        return None
    best = _beside(structure, TREE, ANY_TREE, eliminated, values, tree)
    if best is not None and values.program.columns:
        return best
    if all(len(children) < 2 for children in tree.children):
        chain = _beside(structure, CHAIN, CHAINS, eliminated, values, tree)
        if best is None or (chain is not None and _length(chain) < _length(best)):
            return chain
    return best


def on_this_tree(values: Values, tree: Tree) -> Telling:
    """Loops of the model itself, or its steps one by one where no loop tells them.

    Where constraint forces go one after another, sets of joints in turn are known as well.
    """
    turn = [number_of(tree.structure, r.blocks[0]) for r in values.program.pivots if r.blocks[0].kind == "fC"]
    trees = [tree, Tree(tree.structure, tree.columns, turn)] if turn else [tree]
    for known in trees:
        try:
            loops = tuple(loops_of(values, known, courses_of(values, known)))
            if nameless(loops):
                raise FoldingError("listing: no set of bodies with a name tells these lines")
            check(values, known, loops)
        except FoldingError:
            continue
        return Telling(values, known, loops, THIS_TREE)
    loops = tuple(steps_of(values, tree))
    check(values, tree, loops)
    return Telling(values, tree, loops, THIS_TREE)


def _beside(
    structure: Structure,
    parents: tuple[int, ...],
    holds_on: str,
    eliminated: Eliminated,
    values: Values,
    tree: Tree,
) -> Telling | None:
    for mixed in (True, False):
        try:
            told, told_tree = eliminated(_forest(structure, parents, mixed))
            courses = courses_of(told, told_tree)
            if not all(_regular(course, told_tree) for course in courses):
                continue
            folded = loops_of(told, told_tree, courses)
            if nameless(tuple(folded)):
                continue
            place, names = tree.structure.index, told_tree.structure.names
            loops = []
            for loop in folded:
                there = [names[k] for k in loop.bodies if names[k] in place]
                loops += [loop._replace(bodies=tuple(place[body] for body in there))] if there else []
            check(values, tree, tuple(loops))
        except PivotreeError:
            continue
        return Telling(told, told_tree, tuple(loops), holds_on)
    return None


def _regular(course: Course, tree: Tree) -> bool:
    """One kind of step, for all bodies or all that move, tip to base or base to tip."""
    bodies, inside = list(course.bodies), set(course.bodies)
    moving = {k for k, N in enumerate(tree.dof) if N}
    upward = [k for k in tree.order if k in inside]
    some = inside == moving or len(inside) == len(tree.parent)
    before = not any(unit.kinds for unit, _ in course.steps)  # what precedes the pivots
    straight = bodies in (upward, upward[::-1])
    return some and (straight or before)


def freedoms(telling: Telling) -> tuple[list[int], list[int]]:
    """N of roots and of other bodies for which lines were folded; 2 stands for 2 to 5."""
    tree = telling.tree
    kinds = [N if N in (0, 1, 6) else 2 for N in tree.dof]
    roots = sorted({N for N, up in zip(kinds, tree.parent, strict=True) if up < 0})
    return roots, sorted({N for N, up in zip(kinds, tree.parent, strict=True) if up >= 0})


def _forest(structure: Structure, parents: tuple[int, ...], mixed: bool) -> Structure:
    """The model's bodies, then the larger tree's: of the model's freedoms, ``mixed`` with DOF."""
    n = structure.n
    own = {int(d) for d in structure.dof[structure.parent >= 0]}
    inner = sorted(own | set(DOF) if mixed or not own else own)
    based = {int(d) for d in structure.dof[structure.parent < 0]}
    roots = sorted(based | {1, 2} if mixed else based)
    dof = []
    for i, up in enumerate(parents):
        some = roots if up < 0 else inner
        dof.append(some[i % len(some)])
    return Structure(
        (*structure.names, *(("larger", i) for i in range(len(parents)))),
        np.concatenate([structure.parent, [up + n if up >= 0 else -1 for up in parents]]),
        np.concatenate([structure.dof, dof]),
        armature=structure.armature.any() & (np.concatenate([structure.dof, dof]) > 0),
    )


def _length(telling: Telling) -> int:
    """How many lines and terms there are."""
    lines = [line for loop in telling.loops for line in loop.lines]
    return len(lines) + sum(len(line.expression.terms) for line in lines)
