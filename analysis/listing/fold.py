"""Many expressions of one shape become one, with index letters for bodies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from .nodes import Index, Leaf, Node, Sum, Term, children, shape
from .sets import Context, Set, Tree, nameless

MAPS = ("", "parent")
LETTERS = "cdeghlmnruwxyz"  # of sums; "k" is the loop's, "j" and "i" a line's own


class Folder:
    """Folds aligned expressions; ``contexts`` say what the letters stand for in each."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def index(self, contexts: list[Context], bodies: Sequence[int]) -> Index | None:
        """An index expression that gives these bodies in all contexts."""
        for of in MAPS:
            for letter in contexts[0]:
                index = Index(letter, of)
                if all(self.tree.body(index, c) == b for c, b in zip(contexts, bodies, strict=True)):
                    return index
        return None

    def indices(self, contexts: list[Context], tuples: Sequence[tuple[int, ...]]) -> tuple[Index, ...] | None:
        result = []
        for bodies in zip(*tuples, strict=True):
            index = self.index(contexts, bodies)
            if index is None:
                return None
            result.append(index)
        return tuple(result)

    # -- one expression -----------------------------------------------------------------------

    def node(self, contexts: list[Context], nodes: Sequence[Any]) -> Any:
        """The folded expression; None where an index has no expression in these letters."""
        first = nodes[0]
        if isinstance(first, Sum):
            return self.sum(contexts, nodes)
        index = self.indices(contexts, [node.index for node in nodes])
        if index is None:
            return None
        if isinstance(first, Leaf):
            return first._replace(index=index)
        args = []
        for place in range(len(first.args)):
            arg = self.node(contexts, [node.args[place] for node in nodes])
            if arg is None:
                return None
            args.append(arg)
        return Node(first.op, tuple(args), index, first.info)

    def sum(self, contexts: list[Context], sums: Sequence[Sum]) -> Sum:
        """Terms of one shape become one, over a set of bodies or under a condition."""
        groups: dict[tuple[Any, ...], list[list[Any]]] = {}
        for place, one in enumerate(sums):
            for key, term in _keys(one):
                if key not in groups:
                    groups[key] = [[] for _ in sums]
                groups[key][place].append(term.node)
        ordered = self._in_order(groups, sums)
        terms: list[Term] = []
        for key in ordered:
            terms += self.terms(contexts, key[0], groups[key], sums[0].kind == "list")
        return Sum(tuple(terms), sums[0].kind)

    def _in_order(self, groups: dict[Any, Any], sums: Sequence[Sum]) -> list[tuple[Any, ...]]:
        """Groups in the order of the longest sum; groups that it lacks come last."""
        longest = max(sums, key=lambda one: len({key for key, _ in _keys(one)}))
        order = list(dict.fromkeys(key for key, _ in _keys(longest)))
        return [*order, *(key for key in groups if key not in order)]

    def terms(
        self, contexts: list[Context], sign: int, found: list[list[Any]], ordered: bool = False
    ) -> list[Term]:
        """Terms of one shape: one a context, or a sum over a set."""
        if all(len(nodes) <= 1 for nodes in found):
            there = [bool(nodes) for nodes in found]
            have = [c for c, yes in zip(contexts, there, strict=True) if yes]
            node = self.node(have, [nodes[0] for nodes in found if nodes])
            if node is not None:
                return [Term(sign, node, (), self.tree.name_condition(contexts, there))]
        whole = self._over(contexts, sign, found, ordered)
        if ordered or not nameless(whole.over):
            return [whole]
        slots = [[tuple(bodies(node)) for node in nodes] for nodes in found]
        parts = self.parts(contexts, found, slots)
        if len(parts) == 1:
            return [whole]
        split = [term for part in parts for term in self.terms(contexts, sign, part)]
        return [whole] if any(nameless(term.over) for term in split) else split

    def parts(
        self,
        contexts: list[Context],
        found: list[list[Any]],
        slots: list[list[tuple[int, ...]]],
        fine: bool = True,
    ) -> list[list[list[Any]]]:
        """What is found in each context, apart by how the bodies of its slots are related to k."""
        parts: dict[str, list[list[Any]]] = {}
        for place, (context, many) in enumerate(zip(contexts, found, strict=True)):
            for one, slot in zip(many, slots[place], strict=True):
                kind = " ".join(self.relation(context["k"], other, fine) for other in slot)
                parts.setdefault(kind, [[] for _ in found])[place].append(one)
        return [parts[kind] for kind in sorted(parts)]

    def relation(self, k: int, other: int, fine: bool = True) -> str:
        """How another body is related to k; ``fine``: parents, children and siblings apart."""
        parent, ancestors = self.tree.parent, self.tree.ancestors
        if other == k:
            return "0 same"
        if max(k, other) >= self.tree.n:
            return "5 loop"
        if other in ancestors[k]:
            return "1 parent" if fine and parent[k] == other else "1 above"
        if k in ancestors[other]:
            return "2 child" if fine and parent[other] == k else "2 below"
        return "3 sibling" if fine and parent[k] == parent[other] >= 0 else "4 beside"

    def _over(
        self, contexts: list[Context], sign: int, found: list[list[Any]], ordered: bool = False
    ) -> Term:
        """One term over a set, with as many letters as its free bodies need."""
        slots = [[tuple(bodies(node)) for node in nodes] for nodes in found]
        over, inner = self.spread(contexts, slots, LETTERS, ordered)
        node = self.node(inner, [node for nodes in found for node in nodes])
        assert node is not None
        return Term(sign, node, tuple(over))

    def spread(
        self, contexts: list[Context], slots: list[list[tuple[int, ...]]], letters: str, ordered: bool = False
    ) -> tuple[list[tuple[str, Set]], list[Context]]:
        """Letters for the bodies that the contexts' own letters do not give.

        ``slots[c]`` are tuples of bodies in context c.  Returns the new letters with their sets,
        and the contexts of the tuples one after another, in which every body has an expression.
        """
        owner = [place for place, tuples in enumerate(slots) for _ in tuples]
        flat = [t for tuples in slots for t in tuples]
        inner: list[Context] = [dict(contexts[place]) for place in owner]
        over: list[tuple[str, Set]] = []
        where = contexts
        for values in zip(*flat, strict=True):
            if self.index(inner, values) is not None:
                continue
            letter = next(x for x in letters if x not in inner[0])
            sets: list[dict[int, None]] = [{} for _ in where]
            for place, value in zip(owner, values, strict=True):
                sets[place][value] = None
            over.append((letter, self.tree.name_set(where, [tuple(x) for x in sets], ordered)))
            for context, value in zip(inner, values, strict=True):
                context[letter] = value
            number: dict[tuple[int, int], int] = {}
            deeper: list[Context] = []
            for place, context in enumerate(where):
                for value in sets[place]:
                    number[place, value] = len(deeper)
                    deeper.append({**context, letter: value})
            where = deeper
            owner = [number[o, v] for o, v in zip(owner, values, strict=True)]
        return over, inner


def _keys(one: Sum) -> Iterator[tuple[tuple[Any, ...], Term]]:
    """Terms with what must agree for them to fold; the same bodies twice are told apart."""
    times: Counter[tuple[Any, ...]] = Counter()
    for term in one.terms:
        key = (term.sign, shape(term.node))
        place = (*key, tuple(bodies(term.node)))
        yield (*key, times[place]), term
        times[place] += 1


def bodies(node: Any) -> Iterator[int]:
    """Bodies of an expression in reading order, those of inner sums left out."""
    if isinstance(node, Sum):
        return
    yield from node.index
    for child in children(node):
        yield from bodies(child)
