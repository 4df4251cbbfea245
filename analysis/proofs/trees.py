"""All rooted trees and forests of a few bodies, with the numbers that fill formulas are made of."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

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
