"""Claims about what an order does to the graph of a tree, on every one of some small trees.

The left side is what the engine counts, the right side is typed.  That the engine counts right is
tested on the same trees, by an elimination on booleans that shares nothing with it.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
from sympy import Expr, Symbol
from sympy.parsing.sympy_parser import implicit_multiplication, parse_expr, standard_transformations

from pivotree import orderings
from pivotree.kkt.matrix.blocks import Structure
from pivotree.kkt.order.pivots import plan
from pivotree.kkt.structure.symbolic import SymbolicFactor, symbolic

from ..algebra.algebra import Undecided
from . import scalars
from .claim import FAILED, PROVED, UNDECIDED, Verdict

Parents = tuple[int, ...]  # of body 0, 1 ... by index, parents first; -1 for the world

TREES_UP_TO, FORESTS_UP_TO = 8, 6  # bodies
NUMBERS = "nrDhPQk"  # of a tree, see numbers()


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


@cache
def forests(n: int) -> tuple[Parents, ...]:
    """Every set of rooted trees of n bodies together: what is left of a tree without its root."""
    return tuple(tuple(up - 1 for up in parents[1:]) for parents in trees(n + 1))


@cache
def all_shapes() -> tuple[Parents, ...]:
    """All trees of up to 8 bodies, and all that is not one tree of up to 6."""
    several = (p for n in range(1, FORESTS_UP_TO + 1) for p in forests(n) if p.count(-1) > 1)
    return (*(p for n in range(1, TREES_UP_TO + 1) for p in trees(n)), *several)


def chain(n: int) -> Parents:
    return tuple(range(-1, n - 1))


def above(parents: Parents, k: int) -> list[int]:
    """The ancestors of body k, nearest first."""
    return [] if parents[k] < 0 else [parents[k], *above(parents, parents[k])]


def branches(parents: Parents) -> bool:
    """Whether some body has more than one child."""
    inner = [up for up in parents if up >= 0]
    return len(set(inner)) < len(inner)


@cache
def numbers(parents: Parents) -> dict[str, int]:
    """What formulas are made of.

    n bodies; r roots; D, the sum of depths; h levels; P pairs of bodies of one tree; Q, the sum of
    squares of the numbers of children; k, how often n + 1 can be halved before it is less than 2.
    """
    n = len(parents)
    ancestors = [above(parents, k) for k in range(n)]
    sizes = Counter(up[-1] if up else k for k, up in enumerate(ancestors))
    children = Counter(up for up in parents if up >= 0)
    return {
        "n": n,
        "r": parents.count(-1),
        "D": sum(map(len, ancestors)),
        "h": 1 + max(map(len, ancestors)),
        "P": sum(size * (size - 1) // 2 for size in sizes.values()),
        "Q": sum(count**2 for count in children.values()),
        "k": (n + 1).bit_length() - 1,
    }


PRODUCTS = (*standard_transformations, implicit_multiplication)  # 2 D is 2 * D

# -- two orders that differ from CRBM in one thing -----------------------------------------------


def _one_by_one(structure: Structure) -> list[Any]:
    """CRBM with pdd and f as pivots of their own, not as a pair with its exact inverse."""
    bodies = structure.tip_to_base
    return [[(kind, b)] for b in bodies for kind in ("pdd", "f")] + [[("qdd", b)] for b in bodies]


def _joints_outward(structure: Structure) -> list[Any]:
    """CRBM with the joints eliminated from base to tip."""
    pairs = [[("pdd", b), ("f", b)] for b in structure.tip_to_base]
    return pairs + [[("qdd", b)] for b in structure.base_to_tip]


OWN = {"crbm, pdd and f apart": _one_by_one, "crbm, joints base to tip": _joints_outward}


@cache
def factor(order: str, parents: Parents) -> SymbolicFactor:
    """The engine's symbolic factor; bodies are 0, 1 ..."""
    return symbolic(plan(OWN.get(order) or orderings.get(order), structure(parents)))


def structure(parents: Parents) -> Structure:
    count = len(parents)
    ones = np.ones(count, dtype=np.int64)
    return Structure(tuple(range(count)), np.array(parents, dtype=np.int64), ones)


# -- claims -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counts:
    """A count of the engine's is the value of a formula, or more, on every one of some shapes."""

    order: str
    formula: str  # as it is told, in numbers of a tree
    shapes: tuple[Parents, ...] = field(default_factory=all_shapes)
    counted: str = "fill_blocks"  # or "height": pivots that must wait for each other
    before: str = ""  # words around the formula
    after: str = ""
    relation: Callable[[Any, Any], bool] = operator.eq

    @property
    def text(self) -> str:
        return f"{self.order}: {self.before}{self.formula}{self.after}"

    @property
    def right(self) -> Expr:
        return parse_expr(self.formula, {x: Symbol(x) for x in NUMBERS}, PRODUCTS)

    def engine(self, parents: Parents) -> int:
        return int(getattr(factor(self.order, parents), self.counted))

    def decide(self) -> Verdict:
        try:
            values = self.values(self.right)
        except Undecided as error:
            return Verdict(UNDECIDED, f"{self.text}: {error}")
        for parents, value in zip(self.shapes, values, strict=True):
            count = self.engine(parents)
            if not self.relation(count, value):
                why = f"the formula gives {value}, the engine {count}, for parents {parents}"
                return Verdict(FAILED, f"{self.text}: {why}")
        return Verdict(PROVED)

    def values(self, formula: Expr) -> list[Fraction]:
        return [scalars.value(formula, partial(_letter, p), Fraction) for p in self.shapes]


def _letter(parents: Parents, name: str) -> Fraction:
    known = numbers(parents)
    if name not in known:
        raise Undecided(f"a tree has no number {name}")
    return Fraction(known[name])


RELATIVES: dict[str, Callable[[Parents, int, int], bool]] = {  # what j is to i
    "itself": lambda parents, i, j: i == j,
    "parent": lambda parents, i, j: parents[i] == j,
    "grandparent": lambda parents, i, j: above(parents, i)[1:2] == [j],
    "ancestor": lambda parents, i, j: j in above(parents, i),
    "sibling": lambda parents, i, j: i != j and parents[i] == parents[j] >= 0,
    "relative": lambda parents, i, j: i != j and _root(parents, i) == _root(parents, j),
}
Meeting = tuple[str, str, str]  # kind of block of i, kind of block of j, what j is to i


def _root(parents: Parents, i: int) -> int:
    return [i, *above(parents, i)][-1]


@dataclass(frozen=True)
class Sits:
    """The blocks that an order fills are those of some places, and no others, on every shape."""

    text: str
    order: str
    shapes: tuple[Parents, ...]
    places: tuple[Meeting, ...]

    def decide(self) -> Verdict:
        for parents in self.shapes:
            if self.filled(parents) != self.said(parents):
                return Verdict(FAILED, f"{self.text}: other blocks fill for parents {parents}")
        return Verdict(PROVED)

    def filled(self, parents: Parents) -> frozenset[frozenset[Any]]:
        found = factor(self.order, parents)
        block = [tuple(found.plan.graph.block(int(b))) for b in found.plan.blocks]
        return frozenset(frozenset((block[i], block[j])) for i, j in found.fill.T.tolist())

    def said(self, parents: Parents) -> frozenset[frozenset[Any]]:
        bodies = range(len(parents))
        return frozenset(
            frozenset(((a, i), (b, j)))
            for a, b, what in self.places
            for i in bodies
            for j in bodies
            if RELATIVES[what](parents, i, j)
        )
