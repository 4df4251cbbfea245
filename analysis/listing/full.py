"""Recursions in full: what a step makes for its own use alone is put in where it is used.

With U, D and the like put in, the lines of the articulated body method are those that Featherstone
(1983) and Johnson & Su's slides write in one formula each.
"""

from __future__ import annotations

from typing import Any

from .loops import Line
from .nodes import Family, Index, Leaf, Node, Sum, Term, leaves, transpose
from .sets import PARENT


def in_full(lines: list[Line]) -> list[Line]:
    """All lines but those that are put into others; none where nothing can be put in."""
    helpers = _helpers(lines)
    kept = [line for line in lines if line.family not in helpers]
    if not helpers or not kept:
        return []
    told = []
    for line in kept:
        put = _put(line.expression, helpers)
        told.append(line._replace(expression=put if isinstance(put, Sum) else Sum((Term(1, put),))))
    return told


def _helpers(lines: list[Line]) -> dict[Family, Line]:
    """Lines to be put in where they are read: of one body, no unknown, and not recursive."""
    made: dict[Family, Line] = {}
    for line in lines:
        own = line.index == (Index("k"),) and not line.over
        plain = all(not t.over and t.when is None for t in line.expression.terms)
        if own and plain and line.when in (None, PARENT):
            made[line.family] = line
    read = {leaf.family for line in lines for leaf in leaves(line.expression)}
    return {
        family: line
        for family, line in made.items()
        if family in read and family[0] != "x" and not _recursive(family, made, set())
    }


def _recursive(family: Family, made: dict[Family, Line], seen: set[Family]) -> bool:
    if family in seen:
        return True
    line = made.get(family)
    return line is not None and any(
        _recursive(leaf.family, made, seen | {family}) for leaf in leaves(line.expression)
    )


def _put(node: Any, helpers: dict[Family, Line]) -> Any:
    """An expression with helpers put in, and common left factors taken out of its sums."""
    if isinstance(node, Leaf):
        line = helpers.get(node.family)
        if line is None or node.index[0].of:
            return node
        found = _put(_renamed(line.expression, node.index[0].letter), helpers)
        return _put(transpose(found), {}) if node.transposed else found
    if isinstance(node, Sum):
        terms = [t._replace(node=_put(t.node, helpers)) for t in node.terms]
        return _alone(Sum(tuple(_factored(_flat(terms))), node.kind))
    args = tuple(_put(arg, helpers) for arg in node.args)
    if node.op in ("solve", "inner") and isinstance(node.args[0], Leaf) and args[0] != node.args[0]:
        # a pivot is known for a single number by its family
        args = (Node("pivot", args[:1], (), node.args[0].family), *args[1:])
    return node._replace(args=args)


def _alone(node: Any) -> Any:
    """A sum of one plain term is the term."""
    if isinstance(node, Sum) and node.kind == "sum" and len(node.terms) == 1:
        (term,) = node.terms
        if term.sign > 0 and not term.over and term.when is None:
            return term.node
    return node


def _flat(terms: list[Term]) -> list[Term]:
    """Sums within a sum are its own terms."""
    result = []
    for term in terms:
        inner = term.node
        if isinstance(inner, Sum) and inner.kind == "sum" and not term.over and term.when is None:
            result += [t._replace(sign=t.sign * term.sign) for t in inner.terms]
        else:
            result.append(term)
    return result


def _factored(terms: list[Term]) -> list[Term]:
    """A x + A y as A (x + y), for terms of one sign that begin with the same block."""
    groups: dict[Any, list[Term]] = {}
    for place, term in enumerate(terms):
        first, rest = _first(term.node)
        plain = rest is not None and not term.over and term.when is None
        groups.setdefault((term.sign, first) if plain else place, []).append(term)
    result = []
    for group in groups.values():
        if len(group) == 1:
            result += group
            continue
        first = _first(group[0].node)[0]
        inside = tuple(Term(1, _first(term.node)[1]) for term in group)
        whole = Sum(tuple(_factored(_flat(list(inside)))))
        result.append(Term(group[0].sign, Node("mul", (first, whole))))
    return result


def _first(node: Any) -> tuple[Any, Any]:
    """The first block of a product, and what follows it; None where it is no product."""
    if not isinstance(node, Node) or node.op != "mul":
        return node, None
    left, right = node.args
    first, rest = _first(left)
    return first, right if rest is None else Node("mul", (rest, right))


def _renamed(node: Any, letter: str) -> Any:
    """The expression of another body than k."""
    if isinstance(node, Sum):
        return node._replace(terms=tuple(t._replace(node=_renamed(t.node, letter)) for t in node.terms))
    index = tuple(i._replace(letter=letter) if i.letter == "k" else i for i in node.index)
    if isinstance(node, Leaf):
        return node._replace(index=index)
    return node._replace(index=index, args=tuple(_renamed(arg, letter) for arg in node.args))
