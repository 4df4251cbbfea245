"""``list`` as text and as pseudocode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .full import in_full
from .general import ANY_TREE, ENDS
from .listing import Listing
from .loops import Line, Loop, both, cases
from .nodes import Sum, within
from .sets import ONLY, PARENT, SETS, TESTS, Condition, Set
from .style import Style

PARENTS = "λ(k) is the parent of k; what holds λ(k) is absent where there is none."
LONG = 150  # characters of a recursion in full


def text(listing: Listing) -> str:
    """Loops and lines, symbols explained above."""
    style = Style(listing.names.symbols, listing.scalar)
    parts = [_title(listing), ""]
    parts += legend(listing)
    for loop in listing.loops:
        parts += ["", head(listing, loop)]
        for line in loop.lines:
            parts += _line(style, line)
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
    lines = []
    for line in in_full(listing.lines()):
        for expression, when in cases(line):
            lines.append("  " + formula(style, line, expression, both(line, when)))
    return [] if any(len(line) > LONG for line in lines) else lines


def _title(listing: Listing) -> str:
    source = f" ({listing.source})" if listing.source else ""
    return f"{listing.order} on {listing.system.name}{source}"


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
    if words == "all loops":
        return f"for all loops together, k = {listing.tree.n}:"
    where = f", {ONLY[only]}".replace("N", "N_k") if only else ""
    if words == "all":
        return f"for all k{where}:"
    return f"for k {'from' if words in ENDS else 'in'} {words}{where}:"


def shown(bodies: Sequence[object], most: int = 12) -> str:
    """Bodies or groups one after another, of many the first ones."""
    return ", ".join(map(str, bodies[:most])) + ", ..." * (len(bodies) > most)


def _line(style: Style, line: Line) -> Iterator[str]:
    for expression, when in cases(line):
        yield "  " + formula(style, line, expression, both(line, when))


def formula(style: Style, line: Line, expression: Sum, when: Condition | None, sign: str = "=") -> str:
    left, inverse = style.left(line.family, line.index)
    right = style.text(expression)
    if inverse:
        right = f"({right})⁻¹"
    text = f"{left} {sign} {right}"
    if line.over:
        text += "   for " + ", ".join(f"{letter} ∈ {style.set(s)}" for letter, s in line.over)
    if when is not None and not (when == PARENT and "λ(k)" in text):
        text += f"   if {style.condition(when)}"
    return text


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
    lines += turn_told(listing)
    lines += loops_told(listing)
    if listing.holds_on != ANY_TREE and not listing.groups:
        lines.append(f"These are the lines on {listing.holds_on}; on others there may be more.")
    return lines


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
            bare = line._replace(over=())
            for expression, when in cases(line):
                lines.append(pad + formula(style, bare, expression, both(line, when), "←"))
    return "\n".join([*lines, "where", *("    " + line for line in tables(listing))]) + "\n"
