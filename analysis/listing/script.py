"""The Python that a listing is: loops over bodies, numpy blocks, and the model below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..symbols import Symbol
from .listing import Listing
from .loops import Line, Loop, cases
from .nodes import Index, Leaf, Node, Sum, Term, transpose
from .sets import Condition, Set
from .vocabulary import TESTS, needed, read_by

WIDTH = 100
TIPS = "tip_to_base"
RUNS = {"loops": "loops", "turn": "turn", "groups": "turn", "tip": TIPS, "base": TIPS}  # what loops run over


class Script:
    """Writes one listing as Python."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.symbols = listing.names.symbols
        self.used: dict[str, None] = {}
        self.functions: set[str] = set()

    # -- expressions --------------------------------------------------------------------------

    def index(self, index: Index) -> str:
        return f"parent[{index.letter}]" if index.of else index.letter

    def place(self, family: tuple, index: tuple[Index, ...]) -> str:
        symbol: Symbol = self.symbols[family]
        if family == ("input", "one"):
            return f"np.eye(N[{self.index(index[0])}])"
        if not index:
            return symbol.python
        return f"{symbol.python}[{', '.join(self.index(i) for i in index)}]"

    def text(self, node: Any) -> str:
        if isinstance(node, Leaf):
            return self.place(node.family, node.index) + (".T" if node.transposed else "")
        if isinstance(node, Sum):
            return self.sum(node)
        args = node.args
        if node.op == "mul":
            return f"{self.inside(args[0], False)} @ {self.inside(args[1], True)}"
        if node.op == "solve":
            return f"solve({self.text(args[0])}, {self.text(args[1])})"
        if node.op == "inner":
            left = self.inside(transpose(args[1]), False)
            return f"{left} @ solve({self.text(args[0])}, {self.text(args[2])})"
        if node.op == "eye":
            return f"np.eye({node.info[0]})"
        if node.op == "zero":
            return "0.0"
        if node.op == "T":
            return f"({self.text(args[0])}).T"
        if node.op == "divide":
            return f"{self.inside(args[0], False)} / {node.info[0]}"
        if node.op in ("stack", "square"):
            self.functions.add(node.op)
            return f"{node.op}({{{self.cells(args[0])}}}, {self.blocks(args[1])}, N)"
        if node.op == "part":
            self.functions.add("part")
            block = self.key(node)
            return f"part({self.text(args[0])}, {block}, {self.blocks(args[1])}, N)"
        if node.op == "cross":
            name = "crm" if node.info[0] == "motion" else "crf"
            self.functions.add(name)
            return f"{name}({self.text(args[0])})"
        if node.op in ("cut", "rotate"):
            self.functions.add(node.op)
            if node.op == "cut":
                return f'cut({self.text(args[0])}, "{node.info[0]}", N[{self.index(node.index[0])}])'
            size = f"N[{self.index(node.index[0])}]"
            rotors = "".join(f", {self.text(arg)}" for arg in args[2:])
            return f"rotate({self.text(args[0])}, [{self.sets(args[1])}], {size}{rotors})"
        self.functions.add(node.op)
        if node.op == "merge":
            soft = "".join(f", {self.text(arg)}" for arg in args[2:])
            return f"merge([{self.sets(args[0])}], sum(N[c] for _, c in {self.blocks(args[1])}){soft})"
        return f"{node.op}({', '.join(self.text(arg) for arg in args)})"

    def key(self, node: Node) -> str:
        """Kinds and bodies of a block, or of two."""
        pairs = [f'("{kind}", {self.index(i)})' for kind, i in zip(node.info, node.index, strict=True)]
        return pairs[0] if len(pairs) == 1 else f"({', '.join(pairs)})"

    def cells(self, node: Sum) -> str:
        texts = []
        for term in node.terms:
            cell = f"{self.key(term.node)}: {self.text(term.node.args[0])}"
            loops = self.over(term)
            if loops:
                cell = f"**{{{cell}{loops}}}"
            if term.when is not None:
                cell = cell if loops else f"**{{{cell}}}"
                cell = f"**({cell.removeprefix('**')} if {self.condition(term.when)} else {{}})"
            texts.append(cell)
        return ", ".join(texts)

    def blocks(self, node: Sum) -> str:
        texts = []
        for term in node.terms:
            loops = self.over(term)
            texts.append(f"*({self.key(term.node)}{loops})" if loops else self.key(term.node))
        return f"[{', '.join(texts)}]"

    def sets(self, node: Sum) -> str:
        texts = []
        for term in node.terms:
            one = f"({', '.join(self.text(arg) for arg in term.node.args)})"
            loops = self.over(term)
            texts.append(f"*({one}{loops})" if loops else one)
        return ", ".join(texts)

    def inside(self, node: Any, right: bool) -> str:
        """A factor of a product."""
        text = self.text(node)
        if isinstance(node, Sum):
            return text if _atom(node) else f"({text})"
        if right and isinstance(node, Node) and node.op in ("mul", "inner", "divide"):
            return f"({text})"
        return text

    def sum(self, node: Sum) -> str:
        texts = []
        for number, term in enumerate(node.terms):
            text = self.term(term)
            if number == 0:
                bare = not term.over and term.when is None and term.sign < 0
                text = self.inside(term.node, False) if bare else text
                texts.append(f"-{text}" if term.sign < 0 else text)
            else:
                texts.append((" - " if term.sign < 0 else " + ") + text)
        return "".join(texts) if node.terms else "0.0"

    def term(self, term: Term) -> str:
        text = self.text(term.node)
        if isinstance(term.node, Sum) and len(term.node.terms) > 1:
            text = f"({text})"
        if term.over:
            test = f" if {self.condition(term.when)}" if term.when else ""
            text = f"sum({text}{self.over(term)}{test})"
        elif term.when is not None:
            text = f"({text} if {self.condition(term.when)} else 0.0)"
        return text

    def over(self, term: Term) -> str:
        """The ``for`` clauses of a term."""
        return "".join(f" for {letter} in {self.set(s)}" for letter, s in term.over)

    def set(self, s: Set) -> str:
        self.need(s.name)
        name = s.name.replace(" ", "_")
        text = f"{name}[{', '.join(s.of)}]" if s.of else name
        if s.only:
            test = {"N": "N[j_] > 0", "C": "N[j_] < 6", "F": "N[j_] == 0"}[s.only]
            text = f"[j_ for j_ in {text} if {test}]"
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
        bodies = {"all": "range(n)", "all loops": "[n]"}.get(words, "")
        for start, name in (
            ("loops", "loops"),
            ("turn", "turn"),
            ("groups", "turn"),
            ("tip", TIPS),
            ("base", TIPS),
        ):
            if not bodies and words.startswith(start):
                self.need(name)
                backward = words.startswith("base") or words.endswith("last to first")
                bodies = f"{name}[::-1]" if backward else name
        if only:
            bodies = f"(k for k in {bodies} if {'N[k]' if only == 'N' else 'N[k] < 6'})"
        yield f"for k in {bodies}:"
        yield from ("    " + line for line in list(self.lines(loop.lines)) or ["pass"])

    def lines(self, lines: tuple[Line, ...]) -> Iterator[str]:
        before: tuple | None = None
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
        start = depth = 0
        for at, sign in enumerate(right):
            depth += (sign in "([{") - (sign in ")]}")
            if depth == 0 and at > start and right[at : at + 3] in (" + ", " - "):
                yield f"{pad}    {right[start:at].strip()}"
                start = at
        yield f"{pad}    {right[start:].strip()}"
        yield f"{pad})"


def _atom(node: Sum) -> bool:
    return (
        len(node.terms) == 1
        and node.terms[0].sign > 0
        and not node.terms[0].over
        and node.terms[0].when is None
        and isinstance(node.terms[0].node, Leaf)
    )
