"""The Python that a listing is: loops over bodies, numpy blocks, and the model below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .listing import Listing
from .loops import Line, Loop, cases
from .names import Symbol
from .nodes import Index, Leaf, Node, Sum, Term, transpose
from .sets import Condition, Set
from .text import step

WIDTH = 100
TESTS = {
    "has a parent": "parent[{0}] >= 0",
    "is a root": "parent[{0}] < 0",
    "has children": "children[{0}]",
    "is a leaf": "not children[{0}]",
    "N > 0": "N[{0}] > 0",
    "N = 0": "N[{0}] == 0",
    "N < 6": "N[{0}] < 6",
    "N = 6": "N[{0}] == 6",
    "has a parent or no children": "(parent[{0}] >= 0 or not children[{0}])",
    "has moving children": "any(N[c] for c in children[{0}])",
    "has a carrier": "carrier[{0}] >= 0",
    "has no carrier": "carrier[{0}] < 0",
    "is whole": "whole[{0}] == {0}",
    "is a piece": "whole[{0}] != {0}",
    "same": "{0} == {1}",
    "differ": "{0} != {1}",
    "child of": "parent[{0}] == {1}",
    "parent of": "parent[{1}] == {0}",
    "siblings": "parent[{0}] == parent[{1}]",
    "on path": "{0} in path[{1}]",
    "on line": "{0} in line[{1}]",
    "off line": "{0} not in line[{1}]",
    "below": "{1} in ancestors[{0}]",
    "above": "{0} in ancestors[{1}]",
    "goes before": "place[{0}] < place[{1}]",
    "goes after": "place[{0}] > place[{1}]",
    "goes before its parent": "0 <= parent[{0}] and place[{0}] < place[parent[{0}]]",
    "goes after its parent": "0 <= parent[{0}] and place[{0}] > place[parent[{0}]]",
    "goes before its children": "children[{0}] and all(place[{0}] < place[c] for c in children[{0}])",
    "goes after its children": "children[{0}] and all(place[{0}] > place[c] for c in children[{0}])",
    "less": "{0} < {1}",
    "more": "{0} > {1}",
    "holds a loop": "held[{0}]",
    "holds no loop": "not held[{0}]",
    "comes first": "{0} == n",
    "comes last": "{0} == len(N) - 1",
    "is a body of": "({1}, {0}) in G",
    "has the body": "({0}, {1}) in G",
}
TREE = {  # each after those that it reads
    "children": "children = [[c for c in range(n) if parent[c] == k] for k in range(n)]",
    "ancestors": """ancestors = [[] for _ in range(n)]
for k in range(n):
    up = parent[k]
    while up >= 0:
        ancestors[k].append(up)
        up = parent[up]""",
    "tip_to_base": """levels = [[k for k in range(n) if parent[k] < 0]]
while levels[-1]:
    levels.append([c for k in levels[-1] for c in children[k]])
tip_to_base = [k for level in levels[::-1] for k in level]""",
    "rank": "rank = {k: i for i, k in enumerate(tip_to_base)}",
    "siblings": """siblings = [
    [j for j in range(n) if j != k and parent[j] == parent[k] >= 0] for k in range(n)
]""",
    "below": "below = [[j for j in range(n) if k in ancestors[j]] for k in range(n)]",
    "subtree": "subtree = [[j for j in range(n) if j == k or k in ancestors[j]] for k in range(n)]",
    "path": "path = [[k, *ancestors[k]] for k in range(n)]",
    "line": "line = [[j for j in range(n) if j in path[k] or k in path[j]] for k in range(n)]",
    "tree": "tree = [[j for j in range(n) if path[j][-1] == path[k][-1]] for k in range(n)]",
    "aside": "aside = [[j for j in tree[k] if j not in line[k]] for k in range(n)]",
    "via": """via = {
    (k, j): [c for c in children[k] if c in path[j]] for k in range(n) for j in range(n)
}""",
    "through": """through = {
    (k, j): [c for c in children[k] if c in ancestors[j]] for k in range(n) for j in range(n)
}""",
    "upto": """upto = {
    (k, j): [c for c in ancestors[k] if j in path[c]] for k in range(n) for j in range(n)
}""",
    "downto": """downto = {
    (k, j): [c for c in path[j] if k in ancestors[c]] for k in range(n) for j in range(n)
}""",
    "beneath": """beneath = {
    (k, j): [c for c in below[k] if c in line[j]] for k in range(n) for j in range(n)
}""",
    "joints": "joints = [[k, *children[k]] for k in range(n)]",
    "near": """near = [
    [*([parent[k]] if parent[k] >= 0 else []), *siblings[k], *children[k]] for k in range(n)
]""",
    "before": """before = [
    [j for j in [*siblings[k], *children[k]] if rank[j] < rank[k]] for k in range(n)
]""",
    "after": """after = [
    [j for j in [parent[k], *siblings[k]] if j >= 0 and rank[j] > rank[k]] for k in range(n)
]""",
    "turn": "turn = TURN",
    "place": "place = {k: turn.index(k) if k in turn else -1 for k in range(n)}",
    "left": """met, left = {k: {j for j in near[k] if j in turn} for k in turn}, {}
for k in turn:
    left[k] = sorted(met[k], key=turn.index)
    for j in left[k]:
        met[j] = (met[j] | met[k]) - {j, k}""",
    "gone": "gone = {k: [c for c in turn if k in left[c]] for k in turn}",
    "leading": "leading = {k: left[k][:-1] for k in turn}",
    "trailing": """trailing = {
    (k, j): [i for i in left[k] if place[i] > place[j]] for k in turn for j in left[k]
}""",
    "paired": """paired = [
    [c for c in children[k] if any(j in turn for j in siblings[c])] for k in range(n)
]""",
    "first joints": """first_joints = [
    [j for j in turn if j == k or parent[j] == k][:-1] for k in range(n)
]""",
    "shared": """shared = {
    (k, j): [c for c in turn if k in left[c] and j in left[c]] for k in turn for j in turn
}""",
    "next joints": """next_joints = {
    (k, j): [i for i in turn if k in (i, parent[i]) and place[i] > place[j]]
    for k in range(n) for j in first_joints[k]
}""",
    "siblings before": """siblings_before = [
    [j for j in siblings[k] if rank[j] < rank[k]] for k in range(n)
]""",
    "siblings after": """siblings_after = [
    [j for j in siblings[k] if rank[j] > rank[k]] for k in range(n)
]""",
    "roots": "roots = [k for k in range(n) if parent[k] < 0]",
    "bodies": "bodies = range(n)",
    "loops": "loops = range(n, len(N))",
    "tied": "tied = {c: sorted(k for d, k in G if d == c) for c in loops}",
    "ties": "ties = [[c for c in loops if (c, k) in G] for k in range(n)]",
    "held": "held = [sorted({c for j in subtree[k] for c in ties[j]}) for k in range(n)]",
    "moving": "moving = {c: [k for k in tip_to_base if c in held[k]] for c in loops}",
    "earlier": "earlier = {c: range(n, c) for c in loops}",
    "later": "later = {c: range(c + 1, len(N)) for c in loops}",
    "common": """common = {
    (c, d): [k for k in tip_to_base if {c, d} <= {*held[k]}] for c in loops for d in loops
}""",
    "toward": """toward = {
    (k, c): [j for j in children[k] if c in held[j]] for k in range(n) for c in loops
}""",
    "branch": """branch = {
    (k, c): [j for j in below[k] if c in held[j]] for k in range(n) for c in loops
}""",
}
NEEDS = {
    "below": ("ancestors",),
    "subtree": ("ancestors",),
    "path": ("ancestors",),
    "joints": ("children",),
    "line": ("path",),
    "tree": ("path",),
    "aside": ("tree", "line"),
    "via": ("children", "path"),
    "through": ("children", "ancestors"),
    "upto": ("path",),
    "downto": ("path",),
    "beneath": ("below", "line"),
    "near": ("siblings", "children"),
    "before": ("siblings", "children", "rank"),
    "after": ("siblings", "rank"),
    "siblings before": ("siblings", "rank"),
    "siblings after": ("siblings", "rank"),
    "place": ("turn",),
    "left": ("turn", "near"),
    "gone": ("left",),
    "shared": ("left",),
    "paired": ("children", "siblings", "turn"),
    "first joints": ("turn",),
    "next joints": ("first joints", "place"),
    "leading": ("left",),
    "trailing": ("left", "place"),
    "rank": ("tip_to_base",),
    "tip_to_base": ("children",),
    "common": ("held", "tip_to_base", "loops"),
    "toward": ("children", "held", "loops"),
    "branch": ("below", "held", "loops"),
    "moving": ("held", "tip_to_base", "loops"),
    "held": ("subtree", "ties"),
    "ties": ("loops",),
    "tied": ("loops",),
    "earlier": ("loops",),
    "later": ("loops",),
}


class Script:
    """Writes one listing as Python."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.symbols = listing.names.symbols
        self.used: dict[str, None] = {}
        self.functions: set[str] = set()

    # -- expressions --------------------------------------------------------------------------

    def index(self, index: Index) -> str:
        if index.of == "parent":
            return f"parent[{index.letter}]"
        return f"{index.of}[{index.letter}]" if index.of else index.letter

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
        for other in NEEDS.get(name, ()):
            self.need(other)
        self.used[name] = None

    def condition(self, condition: Condition) -> str:
        texts = []
        for name, letters in condition.tests:
            text = TESTS[name].format(*letters)
            for word in ("children", "ancestors", "held", "path", "line", "place"):
                if f"{word}[" in text:
                    self.need(word)
            texts.append(text)
        return " and ".join(texts)

    # -- statements ---------------------------------------------------------------------------

    def loop(self, loop: Loop) -> Iterator[str]:
        if loop.alone:
            yield f"# {step(loop)}"
            yield from self.lines(loop.lines)
            return
        sequence = self.listing.sequence(loop)
        bodies = str([*loop.bodies]) if sequence == "listed" else "range(n)"
        if sequence.startswith("loops"):
            self.need("loops")
            bodies = "loops" if sequence == "loops" else "loops[::-1]"
        if sequence.startswith("turn"):
            self.need("turn")
            bodies = "turn" if sequence == "turn" else "turn[::-1]"
        if sequence in ("tip to base", "base to tip"):
            self.need("tip_to_base")
            bodies = "tip_to_base" if sequence == "tip to base" else "tip_to_base[::-1]"
            if self.listing.moving(loop):
                bodies = f"(k for k in {bodies} if N[k])"
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
