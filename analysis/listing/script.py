"""The Python that a listing is: loops over bodies, numpy blocks, and the model below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pivotree.kkt.base.errors import OrderError

from ..symbols import Symbol
from .listing import Listing
from .loops import Line, Loop, cases
from .nodes import Index, Leaf, Node, Sum, Term
from .sets import Condition, Set
from .style import ATOM, PRODUCT, SUM, Style, summands
from .vocabulary import ONLY, TESTS, needed, read_by

WIDTH = 100
TIPS = "tip_to_base"


class Script(Style):
    """Writes one listing as Python."""

    times = " @ "

    def __init__(self, listing: Listing) -> None:
        super().__init__(listing.names.symbols)
        self.listing = listing
        self.used: dict[str, None] = {}
        self.split: bool = False  # whether some line splits forces along their joint's axes

    # -- expressions --------------------------------------------------------------------------

    def index(self, index: Index) -> str:
        return f"parent[{index.letter}]" if index.of else index.letter

    def place(self, family: tuple[Any, ...], index: tuple[Index, ...]) -> str:
        symbol: Symbol = self.symbols[family]
        return f"{symbol.python}[{', '.join(self.index(i) for i in index)}]"

    def leaf(self, leaf: Leaf) -> tuple[str, int]:
        return self.place(leaf.family, leaf.index) + (".T" if leaf.transposed else ""), ATOM

    def transposed(self, text: str, level: int) -> str:
        return f"({text}).T"

    def level(self, node: Any) -> tuple[str, int]:
        if not isinstance(node, Node) or node.op in ("mul", "solve", "inner", "T"):
            return super().level(node)
        if node.op in ("eye", "zero"):
            return (f"np.eye({node.info[0]})" if node.op == "eye" else "0.0"), ATOM
        if node.op not in ("along", "across"):
            raise OrderError(
                f"order {self.listing.order!r}: solves for several blocks together, and a script for one; "
                "use style text, pseudocode or latex"
            )
        self.split = True
        return self.function(node.op, node.args)

    def quotient(self, by: Any, around: list[Any]) -> tuple[str, int]:
        solved = f"solve({self.text(by)}, {self.text(around[-1])})"
        return self.product([*map(self.level, around[:-1]), (solved, ATOM)])

    def product(self, parts: list[tuple[str, int]]) -> tuple[str, int]:
        """Factors from the left to the right, so that a later one that is a product stands in brackets."""
        if len(parts) == 1:
            return parts[0]
        return self.times.join(
            f"({text})" if level == SUM or text.startswith("-") or (level == PRODUCT and at) else text
            for at, (text, level) in enumerate(parts)
        ), PRODUCT

    def term(self, term: Term, first: bool = False) -> tuple[str, bool]:
        text, level = self.level(term.node)
        negative = term.sign < 0
        if term.over:
            test = f" if {self.condition(term.when)}" if term.when else ""
            return f"sum({text}{self.clauses(term)}{test})", negative
        if (level == SUM and (negative or term.when is not None or not first)) or text.startswith("-"):
            text = f"({text})"
        if term.when is not None:
            text = f"({text} if {self.condition(term.when)} else 0.0)"
        return text, negative

    def sum(self, node: Sum) -> tuple[str, int]:
        return super().sum(node) if node.terms else ("0.0", ATOM)

    def clauses(self, term: Term) -> str:
        """The ``for`` clauses of a term."""
        return "".join(f" for {letter} in {self.set(s)}" for letter, s in term.over)

    def set(self, s: Set) -> str:
        self.need(s.name)
        name = s.name.replace(" ", "_")
        text = f"{name}[{', '.join(s.of)}]" if s.of else name
        if s.only:
            text = f"[j_ for j_ in {text} if {TESTS[ONLY[s.only]].python.format('j_')}]"
        return text

    def need(self, name: str) -> None:
        self.used.update(dict.fromkeys(needed(name)))

    def condition(self, condition: Condition) -> str:
        texts = []
        for name, letters in condition.tests:
            for read in read_by(TESTS[name].python):
                self.need(read)
            texts.append(TESTS[name].python.format(*letters))
        return " and ".join(texts)

    # -- statements ---------------------------------------------------------------------------

    def loop(self, loop: Loop) -> Iterator[str]:
        words, only = self.listing.sequence(loop)
        bodies = "range(n)"
        if words != "all":
            name = "turn" if words.startswith("turn") else TIPS
            self.need(name)
            backward = words.startswith("base") or words.endswith("last to first")
            bodies = f"{name}[::-1]" if backward else name
        if only:
            bodies = f"(k for k in {bodies} if {'N[k]' if only == 'N' else 'N[k] < 6'})"
        yield f"for k in {bodies}:"
        yield from ("    " + line for line in list(self.lines(loop.lines)) or ["pass"])

    def lines(self, lines: tuple[Line, ...]) -> Iterator[str]:
        before: tuple[Any, ...] | None = None
        pad = ""
        for line in lines:
            head = (line.when, line.over)
            if head != before:
                pad, before = "", head
                heads = []
                if line.when is not None:
                    heads.append(f"if {self.condition(line.when)}:")
                heads += [f"for {letter} in {self.set(s)}:" for letter, s in line.over]
                for text in heads:
                    yield pad + text
                    pad += "    "
            place = self.place(line.family, line.index)
            several = cases(line)
            for number, (expression, when) in enumerate(several):
                inside = pad
                if len(several) > 1:
                    if when is not None and number == 0:
                        yield f"{pad}if {self.condition(when)}:"
                    else:
                        yield f"{pad}else:"
                    inside = pad + "    "
                yield from self.broken(f"{inside}{place} = {self.text(expression)}", inside)

    def broken(self, text: str, pad: str) -> Iterator[str]:
        """A long assignment in brackets, a summand a line."""
        if len(text) <= WIDTH - 8:
            yield text
            return
        left, _, right = text.partition(" = ")
        yield f"{left} = ("
        yield from (f"{pad}    {piece.strip()}" for piece in summands(right, "([{", ")]}"))
        yield f"{pad})"
