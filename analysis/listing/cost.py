"""Shapes and costs of lines: dense blocks, as polynomials in N_k and in the sizes of sets.

Operations are those of the block program (:mod:`kkt.tape.emit`) on full blocks: a product
of r x c and c x m blocks has r c m multiplications and r (c - 1) m additions, a symmetric one half
of them and the diagonal's half more.  The tape folds zeros and ones and needs fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from .nodes import Leaf, Node, Sum, symmetric


class Poly:
    """A polynomial with rational coefficients; monomials are sorted tuples of names."""

    def __init__(self, terms: dict[tuple[str, ...], Fraction] | int | str = 0) -> None:
        if isinstance(terms, str):
            terms = {(terms,): Fraction(1)}
        if isinstance(terms, int):
            terms = {(): Fraction(terms)}
        self.terms = {key: value for key, value in terms.items() if value}

    def __add__(self, other: Any) -> Poly:
        other = other if isinstance(other, Poly) else Poly(other)
        result = dict(self.terms)
        for key, value in other.terms.items():
            result[key] = result.get(key, Fraction(0)) + value
        return Poly(result)

    def __neg__(self) -> Poly:
        return Poly({key: -value for key, value in self.terms.items()})

    def __sub__(self, other: Any) -> Poly:
        return self + (-(other if isinstance(other, Poly) else Poly(other)))

    def __rsub__(self, other: Any) -> Poly:
        return Poly(other) - self

    def __mul__(self, other: Any) -> Poly:
        other = other if isinstance(other, Poly) else Poly(other)
        result: dict[tuple[str, ...], Fraction] = {}
        for one, a in self.terms.items():
            for two, b in other.terms.items():
                key = tuple(sorted((*one, *two)))
                result[key] = result.get(key, Fraction(0)) + a * b
        return Poly(result)

    def __floordiv__(self, by: int) -> Poly:
        return Poly({key: value / by for key, value in self.terms.items()})

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly | int) and not (self - other).terms

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.terms.items())))

    def value(self, of: dict[str, int]) -> Fraction:
        """The number, names replaced."""
        total = Fraction(0)
        for key, coefficient in self.terms.items():
            for name in key:
                coefficient = coefficient * of[name]
            total += coefficient
        return total

    def text(self, name: Callable[[str], str] = str, times: str = " ", power: str = "^") -> str:
        """Highest powers first, such as 36 N_k^2 + 6."""
        if not self.terms:
            return "0"
        parts = []
        for key in sorted(self.terms, key=lambda key: (self.terms[key] < 0, -len(key), key)):
            c = self.terms[key]
            factors = [
                name(x) + (f"{power}{key.count(x)}" if key.count(x) > 1 else "") for x in dict.fromkeys(key)
            ]
            size = abs(c)
            if size != 1 or not factors:
                factors.insert(0, str(size))
            parts.append((" - " if c < 0 else " + ") + times.join(factors))
        text = "".join(parts)
        return text[3:] if text.startswith(" + ") else f"-{text[3:]}"


class Cost(NamedTuple):
    """Multiplications, additions (and subtractions), divisions."""

    mul: Any = 0
    add: Any = 0
    div: Any = 0

    def plus(self, other: Cost) -> Cost:
        return Cost(*(a + b for a, b in zip(self, other, strict=True)))

    def times(self, factor: Any) -> Cost:
        return Cost(*(factor * x for x in self))


Shape = tuple[Any, Any]
SHAPES = {"weigh": (6, 8), "rotate": (6, 8), "unweighed": (6, 1), "basis": (6, 6)}


class Coster:
    """Shapes and costs of expressions, in numbers or in polynomials.

    ``leaf`` gives the shape of a leaf as it stands, untransposed; ``count`` the size of a term's
    sets and conditions.
    """

    def __init__(
        self, leaf: Callable[[Leaf], Shape], count: Callable[[Any], Any], size: Callable[[Any, tuple], Any]
    ) -> None:
        self.leaf, self.count, self.size = leaf, count, size

    def shape(self, node: Any) -> Shape:
        if isinstance(node, Leaf):
            rows, columns = self.leaf(node)
            return (columns, rows) if node.transposed else (rows, columns)
        if isinstance(node, Sum):
            return self.shape(node.terms[0].node) if node.terms else (0, 1)
        args = node.args
        if node.op == "mul":
            return self.shape(args[0])[0], self.shape(args[1])[1]
        if node.op in ("solve", "forward", "back"):
            return self.shape(args[1])
        if node.op == "inner":
            return self.shape(args[1])[1], self.shape(args[2])[1]
        if node.op == "eye":
            return node.info[0], node.info[0]
        if node.op == "T":
            return self.shape(args[0])[::-1]
        if node.op == "part":
            return self._rows_of(node), self.shape(args[0])[1]
        if node.op == "weight":
            return self.shape(args[1])
        if node.op in ("stack", "square"):
            size: Any = 0
            for term in args[1].terms:
                size = size + self._rows_of(term.node) * self.count(term)
            return size, size if node.op == "square" else self.shape(args[0])[1]
        if node.op == "cut":
            return self._cut(node)
        if node.op in SHAPES:
            return SHAPES[node.op]
        return self.shape(args[0]) if args else (0, 0)

    def _rows_of(self, node: Node) -> Any:
        """Rows of a block of a kind and a body."""
        kind = node.info[0]
        if kind in ("pdd", "f"):
            return 6
        return self.size("C" if kind == "fC" else "N", node.index)

    def _cut(self, node: Node) -> Shape:
        """Rows or columns of weighted rows (6, 8); columns are cut out of the transpose."""
        columns = self.shape(node.args[0])[1]
        kind = node.info[0]
        if kind in ("residuals", "weights"):
            return 1, columns
        return self.size("N" if kind in ("along", "turned") else "C", node.index), columns

    def cost(self, node: Any) -> Cost:
        if isinstance(node, Leaf):
            return Cost()
        if isinstance(node, Sum):
            return self._sum(node)
        total = Cost()
        for arg in node.args:
            total = total.plus(self.cost(arg))
        return total.plus(self._own(node))

    def factor(self, size: Any) -> Cost:
        """L D L^T of a size x size block."""
        steps = (size * size * size - size) // 6
        return Cost(steps, steps, steps)

    def _half(self, size: Any, columns: Any) -> Cost:
        steps = (size * size - size) // 2 * columns
        return Cost(steps, steps, (size - 1) * columns)

    def _own(self, node: Node) -> Cost:
        args = node.args
        if node.op == "mul":
            rows, inner = self.shape(args[0])
            columns = self.shape(args[1])[1]
            entries = self._entries(node, rows, columns)
            return Cost(entries * inner, entries * (inner - 1), 0)
        if node.op == "solve":
            size, columns = self.shape(args[1])
            steps = (size * size - size) // 2 * columns
            return self._half(size, columns).plus(Cost(steps, steps, size * columns))
        if node.op == "inner":
            size = self.shape(args[0])[0]
            rows, columns = (self.shape(arg)[1] for arg in args[1:])
            entries = self._entries(node, rows, columns)
            cost = Cost(size * entries, (size - 1) * entries, size * entries)
            for c in {args[1]: 0, args[2]: 0}:
                cost = cost.plus(self._half(size, self.shape(c)[1]))
            return cost
        return Cost()

    def _entries(self, node: Node, rows: Any, columns: Any) -> Any:
        return (rows * rows + rows) // 2 if node.info else rows * columns

    def _sum(self, node: Sum) -> Cost:
        total, terms = Cost(), 0
        for term in node.terms:
            count = self.count(term)
            total = total.plus(self.cost(term.node).times(count))
            terms = terms + count
        if node.kind == "sum" and node.terms:
            rows, columns = self.shape(node)
            entries = (rows * rows + rows) // 2 if symmetric(node) else rows * columns
            total = total.plus(Cost(0, (terms - 1) * entries, 0))
        return total
