"""Formulas of a listing as text: precedence, signs, sums."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from ..symbols import Symbol
from .nodes import Index, Leaf, Node, Sum, Term, symmetric, transpose, within
from .sets import ONLY, PARENT, TESTS, Condition, Set

SUM, PRODUCT, ATOM = range(3)  # how tightly a text holds together


class Style:
    """Texts for a terminal."""

    times: str = " "
    repeated: str = " for "  # before the bodies that a block of a stack is repeated over

    def __init__(
        self, symbols: Mapping[tuple[Any, ...], Symbol] | None = None, scalar: Container[tuple[Any, ...]] = ()
    ) -> None:
        self.symbols: Mapping[tuple[Any, ...], Symbol] = symbols or {}  # of families
        self.scalar = scalar  # families whose values are single numbers in this model
        self.whole = False  # formulas in full, where blocks on the diagonal are known symmetric

    # -- atoms --------------------------------------------------------------------------------

    def index(self, index: Index) -> str:
        return f"λ({index.letter})" if index.of else index.letter

    def subscript(self, indices: tuple[Index, ...]) -> str:
        texts = [self.index(i) for i in indices]
        if not texts:
            return ""
        if all(len(t) == 1 for t in texts):
            return "_" + "".join(texts)
        return f"_{texts[0]}" if len(texts) == 1 else "_{" + ",".join(texts) + "}"

    def base(self, symbol: Symbol) -> str:
        return symbol.text

    def symbol(self, leaf: Leaf) -> str:
        symbol = self.symbols[leaf.family]
        return self._put(symbol, leaf.index[::-1] if symbol.reverse else leaf.index)

    def _put(self, symbol: Symbol, index: tuple[Index, ...]) -> str:
        text = self.base(symbol)
        if text.startswith("(v"):
            k = self.subscript(index)
            return f"v{k} × I{k} v{k}"
        return text + self.subscript(index)

    def leaf(self, leaf: Leaf) -> tuple[str, int]:
        symbol = self.symbols[leaf.family]
        text = self.symbol(leaf)
        level = PRODUCT if symbol.text.startswith("(v") else ATOM
        same = leaf.family in self.scalar or (self.whole and symmetric(leaf))
        if leaf.transposed != symbol.turned and not same:
            return self.transposed(text, level), ATOM
        return text, level

    def transposed(self, text: str, level: int) -> str:
        return f"{text}ᵀ" if level == ATOM else f"({text})ᵀ"

    def inverted(self, text: str) -> str:
        return f"({text})⁻¹"

    def inverse(self, leaf: Any) -> str:
        if isinstance(leaf, Leaf):
            symbol = self.symbols[leaf.family]
            return self.symbol(leaf) + ("" if symbol.inverse else "⁻¹")
        return self.inverted(self.text(leaf))

    # -- expressions --------------------------------------------------------------------------

    def text(self, node: Any) -> str:
        return self.level(node)[0]

    def level(self, node: Any) -> tuple[str, int]:
        if isinstance(node, Leaf):
            return self.leaf(node)
        if isinstance(node, Sum):
            return self.sum(node)
        if node.op == "mul":
            return self.product([self.level(arg) for arg in node.args])
        if node.op == "solve":
            return self.quotient(node.args[0], [node.args[1]])
        if node.op == "inner":
            return self.quotient(node.args[0], [transpose(node.args[1]), node.args[2]])
        if node.op in ("eye", "zero"):
            return ("1" if node.op == "eye" else "0"), ATOM
        if node.op in ("pivot", "row"):
            return self.level(node.args[0])
        if node.op == "T":
            return self.transposed(*self.level(node.args[0])), ATOM
        if node.op == "stack":
            return f"stack[{', '.join(self.part(term) for term in node.args[0].terms)}]", ATOM
        if node.op == "cut":
            return self.function(node.info[0], node.args)
        return self.function(node.op, node.args)

    def function(self, name: str, args: tuple) -> tuple[str, int]:
        return f"{name}({', '.join(self.text(arg) for arg in args)})", ATOM

    def closed(self, text: str, level: int) -> str:
        return f"({text})" if level == SUM or text.startswith("-") else text

    def product(self, parts: list[tuple[str, int]]) -> tuple[str, int]:
        negative, texts = False, []
        for text, level in parts:
            if text.startswith("-") and level != SUM:
                text, negative = text[1:], not negative
            if text != "1":
                inside = level == SUM or (" × " in text and level == PRODUCT)
                texts.append(f"({text})" if inside else text)
        whole = self.times.join(texts) or "1"
        return (f"-{whole}" if negative else whole), PRODUCT

    def quotient(self, by: Any, around: list[Any]) -> tuple[str, int]:
        """c1 A^-1 c2, or a quotient where A is one number."""
        parts = [self.level(arg) for arg in around]
        below = None  # the number that is divided by
        if isinstance(by, Node) and by.op == "pivot" and by.info in self.scalar:
            text, level = self.level(by.args[0])
            below = text if level == ATOM else f"({text})"
        elif isinstance(by, Leaf) and by.family in self.scalar:
            below = None if self.symbols[by.family].inverse else self.symbol(by)
        if below is not None:
            above = parts[0] if len(parts) == 1 else self.product(parts)
            return self.fraction(*above, below), PRODUCT
        return self.product([*parts[:-1], (self.inverse(by), ATOM), parts[-1]])

    def fraction(self, above: str, level: int, below: str) -> str:
        return f"{self.closed(above, level)} / {below}"

    def sum(self, node: Sum) -> tuple[str, int]:
        if node.kind != "sum":
            return "; ".join(self.part(term) for term in node.terms), ATOM
        if len(node.terms) == 1 and not node.terms[0].over and node.terms[0].when is None:
            term = node.terms[0]
            text, level = self.level(term.node)
            if term.sign > 0:
                return text, level
            if level == SUM:
                return f"-({text})", PRODUCT
            return (text[1:] if text.startswith("-") else f"-{text}"), PRODUCT
        texts = []
        for number, term in enumerate(node.terms):
            text, negative = self.term(term, number == 0)
            lead = ("-" if negative else "") if number == 0 else (" - " if negative else " + ")
            texts.append(lead + text)
        return "".join(texts), SUM

    def term(self, term: Term, first: bool = False) -> tuple[str, bool]:
        text, level = self.level(term.node)
        negative = term.sign < 0
        if text.startswith("-") and level != SUM:
            text, negative = text[1:], not negative
        if level == SUM and (negative or term.over or (text.startswith("-") and not first)):
            text = f"({text})"
        for letter, s in reversed(term.over):
            text = self.over(letter, s) + text
        if term.when is not None and not self.implied(term):
            text += self.bracket(self.condition(term.when))
        return text, negative

    def part(self, term: Term) -> str:
        """A block of a stack, with the bodies that it is repeated over."""
        text = self.text(term.node)
        for letter, s in term.over:
            text += self.repeated + self.member(letter, s)
        return text + (self.bracket(self.condition(term.when)) if term.when else "")

    def bracket(self, text: str) -> str:
        return f" [{text}]"

    def implied(self, term: Term) -> bool:
        """Whether a term's condition only asks for the parent in it: the notes say that once."""
        return term.when == PARENT and Index("k", "parent") in within(term.node, Index)

    def member(self, letter: str, s: Set) -> str:
        return f"{letter} ∈ {self.set(s)}"

    def over(self, letter: str, s: Set) -> str:
        return f"Σ_{{{self.member(letter, s)}}} "

    def set(self, s: Set) -> str:
        inside = f"({','.join(s.of)})" if s.of else ""
        return f"{s.name}{inside}" + (f", {ONLY[s.only]}" if s.only else "")

    def condition(self, condition: Condition) -> str:
        return " and ".join(self.tests(condition))

    def tests(self, condition: Condition) -> list[str]:
        return [(TESTS[name].words or f"{{0}} {name}").format(*letters) for name, letters in condition.tests]

    def left(self, family: tuple[Any, ...], index: tuple[Index, ...]) -> tuple[str, bool]:
        """The left side, and whether it is the inverse of what follows."""
        symbol = self.symbols[family]
        text = self.symbol(Leaf(family, index))
        if symbol.turned and family not in self.scalar:
            text = self.transposed(text, ATOM)
        return text, symbol.inverse


def summands(text: str, opening: str, closing: str) -> Iterator[str]:
    """A text cut before each plus and minus that stands outside of brackets."""
    start = depth = 0
    for at, sign in enumerate(text):
        depth += (sign in opening) - (sign in closing)
        if depth == 0 and at > start and text[at : at + 3] in (" + ", " - "):
            yield text[start:at]
            start = at
    yield text[start:]
