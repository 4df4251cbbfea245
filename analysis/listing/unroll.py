"""What is folded is unrolled again: the program's values, each once, after what it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from .loops import Line, Loop
from .nodes import FoldingError, Leaf, Node, Sum, leaves
from .sets import Context, Tree
from .values import Values


def contexts(tree: Tree, line: Line, k: int) -> Iterator[Context]:
    """What the letters of a line stand for, in one step of its loop."""
    start: Context = {"k": k}
    if not tree.holds(line.when, start):
        return
    yield from tree.spread(line.over, start)


def unrolled(tree: Tree, node: Any, context: Context) -> Any:
    """The expression of one context: bodies in the place of letters."""
    if isinstance(node, Sum):
        terms = []
        for term in node.terms:
            for inner in tree.spread(term.over, context):
                if tree.holds(term.when, inner):
                    terms.append(term._replace(node=unrolled(tree, term.node, inner), over=(), when=None))
        return Sum(tuple(terms), node.kind)
    index = tuple(tree.body(i, context) for i in node.index)
    if isinstance(node, Leaf):
        return node._replace(index=index)
    return Node(node.op, tuple(unrolled(tree, a, context) for a in node.args), index, node.info)


def canonical(node: Any) -> Any:
    """Equal for expressions that differ by the order of summands only."""
    if isinstance(node, Sum):
        counted = Counter((term.sign, canonical(term.node)) for term in node.terms)
        if node.kind == "list":
            return (node.kind, tuple((t.sign, canonical(t.node)) for t in node.terms))
        return (node.kind, frozenset(counted.items()))
    if isinstance(node, Leaf):
        return node
    return (node.op, node.index, node.info, tuple(canonical(arg) for arg in node.args))


def check(values: Values, tree: Tree, loops: tuple[Loop, ...]) -> None:
    """Raise FoldingError unless the loops make every value of the program, once and in time."""
    where = {(m.family, m.index): m for m in values.members.values()}
    made: set[tuple[Any, ...]] = set()
    for loop in loops:
        for k in loop.bodies:
            for line in loop.lines:
                for context in contexts(tree, line, k):
                    index = tuple(tree.body(i, context) for i in line.index)
                    key = (line.family, index)
                    if key not in where or key in made:
                        raise FoldingError(f"listing: {key} is made twice, or not in the program")
                    folded = unrolled(tree, line.expression, context)
                    wanted = values.tree(where[key].value)
                    if canonical(folded) != canonical(wanted):
                        raise FoldingError(f"listing: {key} is not what the program makes")
                    for leaf in leaves(folded):
                        if leaf.family[0] != "input" and (leaf.family, leaf.index) not in made:
                            raise FoldingError(
                                f"listing: {key} reads {leaf}, which no line before it makes; the "
                                "loops are in the wrong order"
                            )
                    made.add(key)
    if len(made) != len(where):
        raise FoldingError(f"listing: {len(where) - len(made)} values are left out")
