"""``list --python``: a script that runs."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt.base.errors import OrderError, sentence
from pivotree.kkt.matrix.system import System
from pivotree.kkt.solution.eliminate import eliminate

from ..symbols import Symbol
from .listing import CHAINS, THIS_TREE, Listing, freedoms
from .loops import Line, Loop, cases
from .nodes import Index, Leaf, Node, Sum, Term
from .sets import ONLY, SETS, TESTS, Condition, Set, needed, read_by
from .style import ATOM, PRODUCT, SUM, Style, summands


def python(listing: Listing) -> str:
    """The listing as a standalone numpy script, with the model's data below.

    Raises OrderError for what is no loop over the bodies of a tree, pivot by pivot: for orders that
    their groups tell, for rotations, and for closed loops and contacts.
    """
    if (why := _untold(listing)) is not None:
        raise OrderError(f"order {listing.order!r}", why, "use style text, pseudocode or latex")
    script = Script(listing)
    body = [line for loop in listing.loops for line in script.loop(loop)]
    made = list(dict.fromkeys(listing.names.symbols[line.family].python for line in listing.lines()))
    given = _given(listing)
    result = listing.problem
    head = [
        f"def {result}(parent, {', '.join(given)}):",
        *textwrap.indent(_docstring(listing, given), "    ").splitlines(),
        "    n, N = len(parent), [len(h) for h in H]",
    ]
    head += _guards(listing)
    setup = "\n".join(SETS[name].table(name) for name in script.used)
    head += textwrap.indent(setup, "    ").splitlines()
    if len(made) == 1:
        head.append(f"    {made[0]} = {{}}")
    else:
        names = f"({', '.join(made)})"
        head += textwrap.wrap(names, 66, initial_indent="    ", subsequent_indent="     ")
        head[-1] += f" = ({{}} for _ in range({len(made)}))"
    tail = (
        f"    return np.concatenate([{result}[k] for k in range(n) if N[k]])"
        if any(listing.system.tree.dof)
        else "    return np.zeros(0)"
    )
    text = "\n".join([*head, *("    " + line for line in body), tail])
    said = _quoted(f"{listing.order} on {listing.system.name}, listed by pivotree.")
    first = f'"""{said}"""\n\nimport numpy as np\n' + "from numpy.linalg import solve\n" * ("solve(" in text)
    first += f"\n{_tables(listing, script)}{SPLIT * script.split}"
    return f"{first}\n\n{text}\n\n\n{_data(listing, given)}"


SPLIT = '''

def rows_of(H):
    """Rows of H.T that the split of forces solves for: large pivots, one a joint axis."""
    S, rows = H.T.copy(), []
    for j in range(S.shape[1]):
        row = int(np.argmax(abs(S[:, j])))
        rows.append(row)
        S = S - np.outer(S[:, j], S[row] / S[row, j])
        S[row] = 0.0
    return rows


def along(H):
    """B (6, N) with H B = 1."""
    rows, B = rows_of(H), np.zeros(H.T.shape)
    B[rows] = np.linalg.inv(H[:, rows])
    return B


def across(H):
    """C (6, 6 - N) with H C = 0."""
    rows = rows_of(H)
    other = [i for i in range(6) if i not in rows]
    C = np.zeros((6, len(other)))
    C[other] = np.eye(len(other))
    C[rows] = -np.linalg.solve(H[:, rows], H[:, other])
    return C
'''


def _untold(listing: Listing) -> str | None:
    """Why there is no script of a listing; None where there is one."""
    factor = listing.values.program.symbolic
    if listing.groups:
        return "is told by its groups, and a script by loops over bodies"
    if factor is not None and factor.plan.sequence.rules.elimination != "gauss":
        return "rotates rows, and a script takes pivots"
    return "has no script where loops close" if listing.tree.structure.ties else None


def _guards(listing: Listing) -> list[str]:
    """The beginning of the function: it refuses trees on which these lines do not hold."""
    head = []
    if listing.holds_on == CHAINS:
        head += [
            "    if len({k for k in parent if k >= 0}) < sum(k >= 0 for k in parent):",
            '        raise ValueError("these lines are those of chains; a body here carries two")',
        ]
    elif listing.holds_on == THIS_TREE:
        head += [
            "    if list(parent) != PARENT or N != FREEDOMS:",
            '        raise ValueError("these lines are those of another tree")',
        ]
    if listing.holds_on != THIS_TREE:
        roots, others = freedoms(listing.telling)
        head += [
            "    kinds = [m if m in (0, 1, 6) else 2 for m in N]  # 2 stands for 2 to 5",
            f"    if any(m not in ({roots} if up < 0 else {others}) for m, up in zip(kinds, parent)):",
            '        raise ValueError("these lines are those of joints of other freedoms")',
        ]
    return head


def _given(listing: Listing) -> dict[str, Any]:
    """The function's arguments after ``parent``: lists of blocks by body."""
    system = listing.system
    e = system.entries
    given: dict[str, Any] = {"M": e.M, "H": by_joint(system, e.S), "Phi": e.Phi}
    if listing.tree.structure.armature.any():
        given["A"] = [np.diag(block) for block in by_joint(system, e.A)]
    given |= {"a": e.a, "b": e.b}
    if listing.problem == "qdd":
        given["tau"] = by_joint(system, e.tau)
    else:  # the accelerations under the model's efforts
        given["qdd"] = by_joint(system, eliminate(system, None).qdd)
    return given


def _quoted(text: str) -> str:
    """Words of a docstring, which no name in them ends."""
    return sentence(text).replace("\\", "\\\\").replace('"', '\\"')


def _docstring(listing: Listing, given: Collection[str]) -> str:
    what = "Joint accelerations" if listing.problem == "qdd" else "Joint efforts"
    source = f" ({listing.source})" if listing.source else ""
    said = _quoted(f"{what} by {listing.order}{source}.")
    first = textwrap.wrap(f'"""{said}', 92, break_long_words=False)
    text = "\n".join(first) + "\n\n"
    text += (
        "parent[k] is the body that k hangs on, -1 for none; M (6, 6) inertias, H (N_k, 6) joint\n"
        "axes, Phi (6, 6) force transforms to the parent, a and b (6,) bias accelerations and\n"
        "forces, tau or qdd (N_k,), all of them lists by body.\n"
        + ("A (N_k, N_k) are armatures.\n" if "A" in given else "")
    )
    for family, symbol in listing.names.symbols.items():
        if family[0] != "input" and symbol.what:
            text += f"{symbol.python}: {symbol.what}.\n"
    return text + '"""'


def _tables(listing: Listing, script: Script) -> str:
    lines = []
    if listing.holds_on == THIS_TREE:
        lines.append(f"PARENT = {listing.system.tree.parent.tolist()}")
        lines.append(f"FREEDOMS = {[int(N) for N in listing.system.tree.dof]}")
    if "turn" in script.used:
        lines.append(f"TURN = {[*listing.tree.turn]}")
    return "".join(textwrap.fill(line, 98, subsequent_indent="    ") + "\n" for line in lines)


def _data(listing: Listing, given: dict[str, Any]) -> str:
    """The model's blocks, and the statement that prints what the function makes of them."""
    parent = listing.system.tree.parent.tolist()
    text = textwrap.fill(f"parent = {parent}", 98, subsequent_indent="    ") + "\n"
    text += "".join(_written(name, blocks) for name, blocks in given.items())
    lists = ", ".join(given)
    text += f"{lists} = (\n    [np.array(x, dtype=float) for x in blocks]\n    for blocks in ({lists})\n)\n"
    text += f"print({listing.problem}(parent, {lists}))\n"
    return 'if __name__ == "__main__":\n' + textwrap.indent(text, "    ")


def _written(name: str, blocks: Any) -> str:
    """The statement that gives a name its list of blocks."""

    def array(x: NDArray[Any]) -> str:
        if x.ndim > 1 and not len(x):
            return f"np.zeros({x.shape})"
        text = repr((np.asarray(x, dtype=float) + 0.0).tolist())  # no -0.0
        return text.replace(".0,", ".,").replace(".0]", ".]")

    fill = textwrap.TextWrapper(94, initial_indent="    ", subsequent_indent="     ", break_on_hyphens=False)
    inside = "".join(fill.fill(array(x)) + ",\n" for x in blocks)
    return f"{name} = [\n{inside}]\n"


def by_joint(system: System, x: np.ndarray) -> list[np.ndarray]:
    """(N,) numbers as blocks (N_k,) of every body."""
    offset = system.tree.offset
    return [x[offset[k] : offset[k + 1]] for k in range(system.tree.n)]


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
        self.split = True  # along, or across
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
