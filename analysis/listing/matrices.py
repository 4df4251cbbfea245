"""An order of a matrix of one's own as an algorithm: a line for each block that a group forms, by name.

A matrix has no bodies to loop over, and is told group by group: the sparse L D L^T that its order is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from pivotree.kkt.base.errors import SizeError
from pivotree.kkt.order.sequence import OrderLike, as_order, plan
from pivotree.kkt.solution.matrix import Matrix
from pivotree.kkt.structure.symbolic import symbolic

from ..symbols import Symbol, escaped
from .latex import Latex, aligned, article
from .listing import COUPLING, LEFT, MATRIX, PIVOT, RIGHT, SOLUTION, groups_of
from .loops import Line
from .nodes import Family, Index, Leaf, Node, Sum, Term
from .style import Style
from .text import formulas

LINES = 2000  # that are told; more are read by nobody
SYMBOLS: dict[Family, Symbol] = {
    MATRIX: Symbol("A", "A", "A", "blocks of the matrix"),
    RIGHT: Symbol("b", "b", "b", "right-hand side"),
    PIVOT: Symbol("D", "D", "D", "pivots: what is left of A_kk at the turn of k"),
    COUPLING: Symbol("W", "W", "W", "what is left of A_kj then, for j to come"),
    LEFT: Symbol("y", "y", "y", "what is left of b_k then"),
    SOLUTION: Symbol("x", "x", "x", "solution"),
}
#: what these orders are on a matrix; robots have them, too
SAID = {
    "natural": {"what": "Block after block as the matrix lists them.", "source": ""},
    "minimum_degree": {
        "what": "The block with the fewest unknowns coupled with it.",
        "source": "Tinney & Walker 1967",
    },
}


@dataclass(frozen=True)
class MatrixListing:
    """An order of a matrix by its groups; ``given`` are couplings of groups that the matrix has.

    >>> from pivotree.analysis import listing
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> print(listing.render(listing.of(pt.matrix(A), "natural")).partition("eliminate 1:")[2])
    <BLANKLINE>
      D_1 = A_11 - W_01 W_01 / D_0
      y_1 = b_1 - W_01 y_0 / D_0
      W_12 = A_12
    ...
    """

    order: str
    source: str
    system: Matrix
    groups: tuple[tuple[int, ...], ...]  # numbers of blocks
    later: tuple[tuple[int, ...], ...]  # of each group those to come that it is coupled with at its turn
    given: frozenset[tuple[int, int]]

    @property
    def scalar(self) -> set[Family]:
        """Families whose values are single numbers: all, where each group is one."""
        return set(SYMBOLS) if self.system.size == len(self.groups) else set()

    def steps(self, called: Callable[[str], str] = str) -> Iterator[tuple[str, list[Line]]]:
        """A heading and its lines: group after group forward, then back."""
        known = self.system.structure.names
        texts = [" ".join(str(known[k]) for k in group) for group in self.groups]
        names = [
            Index(called(f"({text})" if len(group) > 1 else text))
            for text, group in zip(texts, self.groups, strict=True)
        ]
        before: list[list[int]] = [[c for c in range(k) if k in self.later[c]] for k in range(len(names))]

        def leaf(family: Family, *at: int) -> Leaf:
            return Leaf(family, tuple(names[k] for k in at))

        def line(family: Family, at: tuple[int, ...], given: Family, by: Family, gone: list[int]) -> Line:
            """What is given, less W_ck^T D_c^-1 of each group c that is gone, times what it has there."""
            whole = (at[0], at[-1]) if given == MATRIX else at
            terms = [Term(1, leaf(given, *whole))] if given != MATRIX or whole in self.given else []
            for c in gone:
                beside = leaf(by, c, at[-1]) if by == COUPLING else leaf(by, c)
                inner = (leaf(PIVOT, c), leaf(COUPLING, c, at[0]), beside)
                terms.append(Term(-1, Node("inner", inner)))
            return Line(family, tuple(names[k] for k in at), (), None, Sum(tuple(terms)))

        for k, near in enumerate(self.later):
            lines = [line(PIVOT, (k,), MATRIX, COUPLING, before[k]), line(LEFT, (k,), RIGHT, LEFT, before[k])]
            for j in near:
                shared = [c for c in before[k] if j in self.later[c]]
                lines.append(line(COUPLING, (k, j), MATRIX, COUPLING, shared))
            yield f"eliminate {names[k].letter}", lines
        back = []
        for k in reversed(range(len(names))):
            rest = [Term(-1, Node("mul", (leaf(COUPLING, k, j), leaf(SOLUTION, j)))) for j in self.later[k]]
            solved = Node("solve", (leaf(PIVOT, k), Sum((Term(1, leaf(LEFT, k)), *rest))))
            back.append(Line(SOLUTION, (names[k],), (), None, Sum((Term(1, solved),))))
        yield "back", back


def of_matrix(system: Matrix, order: OrderLike) -> MatrixListing:
    """As ``of``.  Raises OrderError for an order that cannot be eliminated, SizeError for a long one."""
    chosen = as_order(order)
    planned = symbolic(plan(chosen, system.structure)).plan
    groups = [[block - system.structure.n for block in group] for group in groups_of(planned)]
    turn = {block: k for k, group in enumerate(groups) for block in group}
    given = {(min(turn[i], turn[j]), max(turn[i], turn[j])) for i, j, _ in system.given}
    later: list[set[int]] = [set() for _ in groups]
    for k, j in given:
        later[k] |= {j} - {k}
    for near in later:
        if near:
            later[min(near)] |= near - {min(near)}
    told = sum(3 + len(near) for near in later)
    if told > LINES:
        raise SizeError(
            f"order {chosen.name!r}",
            f"takes {told:,} lines on {system.name}, and {LINES:,} are told",
            "list a smaller matrix of its kind",
        )
    return MatrixListing(
        chosen.name,
        SAID.get(chosen.name, {}).get("source", chosen.source),
        system,
        tuple(map(tuple, groups)),
        tuple(tuple(sorted(near)) for near in later),
        frozenset(given),
    )


# -- styles ---------------------------------------------------------------------------------------


def text(told: MatrixListing, sign: str = "=") -> str:
    """Lines of each group, letters explained above."""
    style = Style(SYMBOLS, told.scalar)
    title = f"{told.order} on {told.system.name}" + (f" ({told.source})" if told.source else "")
    parts = [title, "", *(f"  {symbol.text}  {symbol.what}" for symbol in SYMBOLS.values())]
    for head, lines in told.steps():
        parts += ["", f"{head}:", *(f"  {line}" for made in lines for line in formulas(style, made, sign))]
    return "\n".join(parts) + "\n"


def latex(told: MatrixListing) -> str:
    """A standalone article."""
    style = Latex(SYMBOLS, told.scalar)
    parts = []
    for head, lines in told.steps(lambda name: name if name.isdigit() else rf"\text{{{escaped(name)}}}"):
        verb, _, name = head.partition(" ")
        parts.append(rf"\medskip\textbf{{{verb.capitalize()}{f' ${name}$' if name else ''}:}}")
        parts += aligned(style, lines)
    legend = [(symbol.latex, escaped(symbol.what)) for symbol in SYMBOLS.values()]
    return article(f"{told.order} on {told.system.name}", told.source, legend, parts)


def python(told: MatrixListing) -> str:
    """A numpy script that runs: a function of A and b, and the matrix's own below it."""

    def written(node: Any) -> str:
        if isinstance(node, Sum):
            signed = "".join(f" {'-' if term.sign < 0 else '+'} {written(term.node)}" for term in node.terms)
            return signed.removeprefix(" + ").strip()
        if isinstance(node, Leaf):
            at = ", ".join(index.letter for index in node.index)
            rows = f"np.ix_(at[{at.replace(', ', '], at[')}])"
            given = {MATRIX: f"A[{rows}]", RIGHT: f"b[at[{at}]]"}
            return given.get(node.family, f"{SYMBOLS[node.family].text}[{at}]")
        first, *rest = map(written, node.args)
        if node.op == "inner":
            return f"{rest[0]}.T @ np.linalg.solve({first}, {rest[1]})"
        return f"{first} @ {rest[0]}" if node.op == "mul" else f"np.linalg.solve({first}, {rest[0]})"

    numbers, system = count(), told.system
    lines = []
    for _, made in told.steps(lambda _: str(next(numbers))):
        for line in made:
            at = ", ".join(index.letter for index in line.index)
            lines.append(f"    {SYMBOLS[line.family].text}[{at}] = {written(line.expression)}")
    groups = [np.concatenate([system.rows[k] for k in group]).tolist() for group in told.groups]
    table = system.matrix.tocoo()
    return f"""import numpy as np


def solve(A, b):
    {f"x of A x = b, A symmetric with blocks where {told.system.name} has them: {told.order}"!r}
    at = {groups}  # rows of each group
    D, W, y, x = {{}}, {{}}, {{}}, {{}}
{chr(10).join(lines)}
    return np.concatenate([x[k] for k in range(len(at))])[np.argsort(np.concatenate(at))]


A = np.zeros(({system.size}, {system.size}))
A[{table.row.tolist()}, {table.col.tolist()}] = {table.data.tolist()}
b = np.array({system.rhs.tolist()})

if __name__ == "__main__":
    print(solve(A, b))
"""


def render(told: MatrixListing, style: str) -> str:
    """As the room's own ``render``."""
    if style == "python":
        return python(told)
    return latex(told) if style == "latex" else text(told, "=" if style == "text" else "←")
