"""Expressions of a listing: what a named value is made from, with bodies or with index letters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pivotree.kkt.base.errors import PivotreeError

Family = tuple[Any, ...]  # (label, kinds, number): all values that are the same thing of different bodies

GROUP = ("group",)  # kinds of families of an order's own groups, and of a loop over them


class FoldingError(PivotreeError, RuntimeError):
    """Lines that are not their program, or that no loop tells: no fault of the input."""


class Index(NamedTuple):
    """The body, loop or group that an index letter stands for, or its parent."""

    letter: str
    of: str = ""  # "" or "parent"


class Leaf(NamedTuple):
    """A use of a named value or an input; index holds bodies, or an Index each when folded."""

    family: Family
    index: tuple[Any, ...]  # type: ignore[assignment]
    transposed: bool = False


class Node(NamedTuple):
    """An operation.

    mul      A B
    solve    A^-1 c, A a leaf
    inner    c1^T A^-1 c2 by way of L^-1 c1 and L^-1 c2
    eye      the identity; info = size
    T        transposed
    others   operations of the block program by their own names
    """

    op: str
    args: tuple[Any, ...]
    index: tuple[Any, ...] = ()  # type: ignore[assignment]
    info: tuple[Any, ...] = ()


class Term(NamedTuple):
    """A summand, with the bodies that it is summed over and the condition that it stands under."""

    sign: int
    node: Any
    over: tuple[Any, ...] = ()  # (letter, Set) each
    when: Any = None  # Condition, None for always


class Sum(NamedTuple):
    """A sum of terms, or the parts that an operation is made of."""

    terms: tuple[Term, ...]
    kind: str = "sum"  # "parts": of a stack or a rotation


def negated(node: Sum) -> Sum:
    """The sum with the other sign before each of its terms."""
    return node._replace(terms=tuple(term._replace(sign=-term.sign) for term in node.terms))


def children(node: Any) -> tuple[Any, ...]:
    if isinstance(node, Sum):
        return tuple(term.node for term in node.terms)
    return node.args if isinstance(node, Node) else ()


def within(thing: Any, kind: Any) -> Iterator[Any]:
    """All things of one kind in an expression, a line or a loop, one for each use."""
    waiting = [thing]
    while waiting:
        if isinstance(thing := waiting.pop(), kind):
            yield thing
        elif isinstance(thing, tuple):
            waiting += thing[::-1]


def leaves(node: Any) -> Iterator[Leaf]:
    """All leaves, one for each use."""
    return within(node, Leaf)


def shape(node: Any) -> tuple[Any, ...]:
    """What must be the same for two expressions to fold: all but bodies and inner sums."""
    if isinstance(node, Leaf):
        return ("leaf", node.family, node.transposed, len(node.index))
    if isinstance(node, Sum):
        return ("sum", node.kind)
    return (node.op, node.info, len(node.index), *(shape(arg) for arg in node.args))


def transpose(node: Any) -> Any:
    """The transposed expression, carried down to the leaves."""
    if isinstance(node, Leaf):
        return node._replace(transposed=not node.transposed)
    if isinstance(node, Sum):
        terms = tuple(term._replace(node=transpose(term.node)) for term in node.terms)
        return Sum(terms, node.kind)
    if node.op == "eye":
        return node
    if node.op == "mul":
        return node._replace(args=(transpose(node.args[1]), transpose(node.args[0])))
    if node.op == "inner":
        return node._replace(args=(node.args[0], node.args[2], node.args[1]))
    if node.op == "T":
        return node.args[0]
    return Node("T", (node,))


def symmetric(leaf: Leaf) -> bool:
    """Whether it is a diagonal block, such as an inertia."""
    _, kinds, *_ = leaf.family
    return kinds == "M" or (len(kinds) == 2 and kinds[0] == kinds[1] and len(leaf.index) == 1)
