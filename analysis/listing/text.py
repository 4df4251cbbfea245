"""``list`` as text and as pseudocode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .listing import ANY_TREE, ENDS, Listing
from .loops import Line, Loop, both, cases
from .nodes import Family, Index, Leaf, Node, Sum, Term, leaves, transpose, within
from .sets import ONLY, PARENT, SETS, TESTS, Condition, Set
from .style import Style


def in_full(lines: list[Line]) -> list[Line]:
    """Recursions in which what a step makes for its own use alone is put in where it is used.

    With U, D and the like put in, the lines of the articulated body method are those that Featherstone
    (1983) and Johnson & Su's slides write in one formula each.  Empty where nothing can be put in.
    """
    helpers = _helpers(lines)
    kept = [line for line in lines if line.family not in helpers]
    if not helpers or not kept:
        return []
    puts = [(line, _put(line.expression, helpers)) for line in kept]
    return [
        line._replace(expression=put if isinstance(put, Sum) else Sum((Term(1, put),))) for line, put in puts
    ]


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


PARENTS = "λ(k) is the parent of k; what holds λ(k) is absent where there is none."
LONG = 150  # characters of a recursion in full


def text(listing: Listing) -> str:
    """Loops and lines, symbols explained above."""
    style = Style(listing.names.symbols, listing.scalar)
    source = f" ({listing.source})" if listing.source else ""
    parts = [f"{listing.order} on {listing.system.name}{source}", ""]
    parts += legend(listing)
    for loop in listing.loops:
        parts += ["", head(listing, loop)]
        parts += [f"  {text}" for line in loop.lines for text in formulas(style, line)]
    whole = full(listing)
    parts += ["", "in full:", *whole] if whole else []
    parts += ["", *tables(listing)]
    return "\n".join(parts) + "\n"


def full(listing: Listing) -> list[str]:
    """The recursions with everything else put in, where they stay short.

    >>> from pivotree.analysis import listing
    >>> print(listing.full(listing.of(pt.build(pt.chain(2)), "crbm"))[0].strip())
    I^C_k = I_k + Σ_{c ∈ children(k)} X_cᵀ I^C_c X_c
    """
    style = Style(listing.names.symbols, listing.scalar)
    style.whole = True
    lines = [f"  {text}" for line in in_full(listing.lines()) for text in formulas(style, line)]
    return [] if any(len(line) > LONG for line in lines) else lines


def legend(listing: Listing) -> list[str]:
    """Symbols that are given, and those that are made, in words."""
    style = Style(listing.names.symbols, listing.scalar)
    lines = []
    for symbol, what in listing.legend():
        name = style.base(symbol)
        lines.append(("v × I v" if name.startswith("(v") else name, what))
    wide = max((len(name) for name, _ in lines), default=0)
    return [f"  {name:<{wide}}  {what}" for name, what in lines]


def head(listing: Listing, loop: Loop) -> str:
    words, only = listing.sequence(loop)
    where = f", {ONLY[only]}".replace("N", "N_k") if only else ""
    if words == "all":
        return f"for all k{where}:"
    return f"for k {'from' if words in ENDS else 'in'} {words}{where}:"


def shown(bodies: Sequence[object], most: int = 12) -> str:
    """Bodies or groups one after another, of many the first ones."""
    return ", ".join(map(str, bodies[:most])) + ", ..." * (len(bodies) > most)


def told(style: Style, line: Line) -> Iterator[tuple[str, str, list[str], str]]:
    """Of each case of a line: its left side, its right side, its sets, and its condition, "" for none."""
    for expression, one in cases(line):
        left, inverse = style.left(line.family, line.index)
        right, when = style.text(expression), both(line, one)
        if inverse:
            right = style.inverted(right)
        if when == PARENT and style.index(Index("k", "parent")) in left + right:
            when = None
        over = [style.member(letter, s) for letter, s in line.over]
        yield left, right, over, style.condition(when) if when else ""


def formulas(style: Style, line: Line, sign: str = "=") -> Iterator[str]:
    for left, right, over, when in told(style, line):
        where = f"   for {', '.join(over)}" if over else ""
        yield f"{left} {sign} {right}{where}" + (f"   if {when}" if when else "")


def tables_used(listing: Listing) -> list[str]:
    """Names of the sets that lines and sums run over."""
    used: dict[str, None] = {}
    for found in within(tuple(listing.lines()), Set | Condition):
        if isinstance(found, Set):
            used[found.name] = None
        elif any("tied" in TESTS[name].words for name, _ in found.tests):
            used["tied"] = None  # a condition tests the bodies of a loop
    return list(used)


def sets_told(listing: Listing) -> list[tuple[str, str]]:
    """Sets with what they are in words."""
    arguments = ("", "(k)", "(k,j)")
    return [(name + arguments[len(SETS[name].of)], SETS[name].what) for name in tables_used(listing)]


def tables(listing: Listing) -> list[str]:
    """Sets in words, and where the lines hold."""
    lines = [PARENTS] * (not listing.groups)
    lines += [f"{name}: {what}." for name, what in sets_told(listing)]
    return [*lines, *turn_told(listing), *loops_told(listing), *where_told(listing)]


def where_told(listing: Listing) -> list[str]:
    """Where the lines hold; nothing where that is any tree, or where they are of groups."""
    if listing.holds_on == ANY_TREE or listing.groups:
        return []
    return [f"These are the lines on {listing.holds_on}; on others there may be more."]


def turn_told(listing: Listing) -> list[str]:
    """In which sequence joints or groups go, in its author's words; nothing where no loop asks."""
    if listing.groups:
        groups = [" ".join(map(str, group)) for group in listing.groups]
        return [f"groups: {shown(groups)}. {listing.words}".rstrip()]
    if not any(listing.sequence(loop)[0].startswith("turn") for loop in listing.loops):
        return []
    return [f"turn: {shown(listing.tree.turn)}. {listing.words}".rstrip()]


def loops_told(listing: Listing) -> list[str]:
    """Which numbers loops and contacts have; nothing where there are none."""
    tree = listing.tree
    names = [f"{tree.n + c} is {name}" for c, name in enumerate(tree.structure.constraints)]
    if not names:
        return []
    return [
        f"Loops and contacts are numbered behind the bodies, N_k is how many rows one has: "
        f"{', '.join(names)}."
    ]


def pseudocode(listing: Listing) -> str:
    """Loops and assignments."""
    style = Style(listing.names.symbols, listing.scalar)
    lines = [f"algorithm {listing.order}"]
    for loop in listing.loops:
        lines.append(head(listing, loop).removesuffix(":") + " do")
        for line in loop.lines:
            pad = "    "
            for letter, s in line.over:
                lines.append(f"{pad}for {letter} in {style.set(s)} do")
                pad += "    "
            lines += [pad + text for text in formulas(style, line._replace(over=()), "←")]
    return "\n".join([*lines, "where", *("    " + line for line in tables(listing))]) + "\n"
