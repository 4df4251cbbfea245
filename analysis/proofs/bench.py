"""Where a statement is set up: letters of a tree for typed formulas, and the engine's values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from sympy import Identity, MatrixExpr, MatrixSymbol, ZeroMatrix

from pivotree.kkt.matrix.blocks import Block, Structure
from pivotree.kkt.order.sequence import plan
from pivotree.kkt.program.program import Program
from pivotree.kkt.program.readers import remaining
from pivotree.kkt.program.tracer import Tracer, program_of
from pivotree.kkt.structure.symbolic import symbolic

from ..algebra.algebra import Algebra, BlockPolynomial, Reading, one, polynomial, zero
from .fields import Field, Point, Symbols


class Bench:
    """Letters of one tree; bodies are numbered as in the paper, tip to base.

    ``parents`` are 1-based, 0 for a root: (2, 3, 0) is a chain of three.  ``dof`` are the N_k.
    """

    def __init__(self, parents: tuple[int, ...], dof: tuple[int, ...] | None = None) -> None:
        n = len(parents)
        sizes = dof or tuple(1 + k % 2 for k in range(n))  # of mixed freedoms if not given
        self.structure: Structure = Structure(
            tuple(range(1, n + 1)), np.array(parents, dtype=np.int64) - 1, np.array(sizes, dtype=np.int64)
        )
        self.algebra: Algebra = Algebra()
        self.values: dict[str, BlockPolynomial] = {}  # of names that stand for a formula
        self.formulas: dict[str, MatrixExpr] = {}  # of letters with a definition
        self.letters: dict[str, tuple[int, int]] = {}  # letters of any value, with their shapes
        self.symmetric: set[str] = set()
        self.inverses: dict[str, str] = {}  # letter -> what it is the inverse of
        self.engines: list[Engine] = []
        self._fields: dict[int | None, Field] = {}
        for k in self.bodies:
            self.M(k), self.H(k)

    @property
    def bodies(self) -> list[int]:
        return list(self.structure.names)  # type: ignore[arg-type]

    def dof(self, k: int) -> int:
        return int(self.structure.dof[k - 1])

    def parent(self, k: int) -> int:
        return int(self.structure.parent[k - 1]) + 1

    def children(self, k: int) -> list[int]:
        return self.structure.children(k)  # type: ignore[return-value]

    # -- letters, as the paper writes them ----------------------------------------------------

    def M(self, k: int) -> MatrixSymbol:
        return self.symbol(f"M_{k}", 6, 6, symmetric=True)

    def H(self, k: int) -> MatrixSymbol:
        return self.symbol(f"H_{k}", self.dof(k), 6)

    def Phi(self, i: int, k: int) -> MatrixExpr:
        """Phi_{i,k}: forces from k's frame to that of its ancestor i; the identity for i = k."""
        if i == k:
            return Identity(6)
        up = self.parent(k)
        if up == 0:
            raise AssertionError(f"Phi_{i}{k}: {i} is no ancestor of {k}")  # ours: claims
        step = self.symbol(f"Phi_{up}{k}", 6, 6)
        return step if up == i else self.Phi(i, up) * step

    def a(self, k: int) -> MatrixSymbol:
        return self.symbol(f"a_{k}", 6, 1)

    def b(self, k: int) -> MatrixSymbol:
        return self.symbol(f"b_{k}", 6, 1)

    def tau(self, k: int) -> MatrixSymbol:
        return self.symbol(f"tau_{k}", self.dof(k), 1)

    def B(self, k: int) -> MatrixSymbol:
        """Joint forces: H_k B_k = 1."""
        return self.symbol(f"B_{k}", 6, self.dof(k))

    def C(self, k: int) -> MatrixSymbol:
        """Constraint forces: H_k C_k = 0."""
        return self.symbol(f"C_{k}", 6, 6 - self.dof(k))

    def bases(self, k: int) -> None:
        """H_k B_k = 1 and H_k C_k = 0, for formulas that are typed before the engine is read."""
        H, N = self.polynomial(self.H(k)), self.dof(k)
        self.algebra.know(H @ self.polynomial(self.B(k)), one(N))
        self.algebra.know(H @ self.polynomial(self.C(k)), zero((N, 6 - N)))

    def symbol(self, name: str, rows: int, columns: int, symmetric: bool = False) -> MatrixSymbol:
        """A block of any value; the same one for the same name."""
        self.algebra.letter(name, (rows, columns), symmetric)
        self.enter(name, (rows, columns), symmetric)
        return MatrixSymbol(name, rows, columns)

    def enter(self, name: str, shape: tuple[int, int], symmetric: bool) -> None:
        """Note a letter that every reader must give a value: a free one, or a basis."""
        self.letters.setdefault(name, shape)
        if symmetric:
            self.symmetric.add(name)

    def basis_of(self, name: str) -> tuple[str, int] | None:
        """("B", k) or ("C", k), if a letter is such a basis."""
        letter, _, body = name.partition("_")
        return (letter, int(body)) if letter in ("B", "C") and body.isdigit() else None

    def define(
        self, name: str, formula: MatrixExpr, symmetric: bool = False, word: MatrixExpr | None = None
    ) -> MatrixSymbol:
        """A letter for a formula, by which everything read from now on is written: M^_k, b^_k.

        It is solved for ``word``, a term of it; for its shortest if none is given.
        """
        if word is None:
            self.algebra.named(name, self.polynomial(formula), symmetric)
        else:
            letter = self.algebra.letter(name, formula.shape, symmetric)
            term = self.polynomial(word)
            self.algebra.know(term, letter - (self.polynomial(formula) - term))
        self.formulas[name] = formula
        return MatrixSymbol(name, *formula.shape)

    def let(self, name: str, formula: MatrixExpr) -> MatrixSymbol:
        """A short name for a formula, which is read as the formula: no new letter."""
        if name in self.values or name in self.algebra.shapes:
            raise AssertionError(f"{name}: stands for something already")  # ours: claims
        self.values[name] = self.polynomial(formula)
        self.formulas[name] = formula
        return MatrixSymbol(name, *formula.shape)

    def inverse(self, X: MatrixSymbol, Y: MatrixSymbol) -> None:
        """Y is the inverse of X, which is square and not symmetric."""
        x, y = self.polynomial(X), self.polynomial(Y)
        self.algebra.know(x @ y, one(X.shape[0]))
        self.algebra.know(y @ x, one(X.shape[0]))
        self.inverses[Y.name] = X.name

    def root(self, k: int) -> MatrixSymbol:
        """L_k with M_k = L_k L_k*: M_k is positive definite where L_k is regular."""
        L = self.symbol(f"L_{k}", 6, 6)
        self.algebra.know(self.polynomial(L * L.T), self.polynomial(self.M(k)))
        self.formulas[f"M_{k}"] = L * L.T
        return L

    def name(self, letter: str, body: Any) -> str:
        """The engine's input blocks by the names used here."""
        k = int(body) + 1
        return f"Phi_{self.parent(k)}{k}" if letter == "Phi" else f"{letter}_{k}"

    # -- the engine ---------------------------------------------------------------------------

    def eliminated(self, order: Any, given: Mapping[str, MatrixExpr] | None = None) -> Engine:
        """All of (4) by an order, back-substitution included; ``given`` blocks are formulas."""
        program, known = self.program(order), dict(given or {})
        if unknown := known.keys() - {self.name(*i.info) for i in program.instructions if i.op == "input"}:
            raise AssertionError(f"{', '.join(sorted(unknown))}: no block of (4)")  # ours: claims
        instructions = tuple(
            i._replace(info=("formula", name))
            if i.op == "input" and (name := self.name(*i.info)) in known
            else i
            for i in program.instructions
        )
        return Engine(self, instructions, program.shapes, program=program, formulas=known)

    def program(self, order: Any) -> Program:
        return program_of(self._symbolic(order))

    def after(
        self, order: Any, steps: int, start: Mapping[tuple[Any, Any], MatrixExpr] | None = None
    ) -> Engine:
        """What is left of (4), or of another matrix, after the first steps of an order.

        ``start`` are its blocks: ((kind, body), (kind, body)) -> formula, or ((kind, body), None)
        for the right-hand side; a symmetric matrix, each coupling given once.
        """
        formulas: dict[str, MatrixExpr] = {}

        def enter(tracer: Tracer) -> None:
            for (row, column), formula in (start or {}).items():
                self._enter(tracer, row, column, formula, formulas)

        left = remaining(self._symbolic(order), steps, Tracer.enter_matrix if start is None else enter)
        return Engine(self, left.instructions, left.shapes, left=left, formulas=formulas)

    def _symbolic(self, order: Any) -> Any:
        return symbolic(plan(order, self.structure))

    def _enter(
        self, tracer: Tracer, row: Any, column: Any, formula: Any, formulas: dict[str, MatrixExpr]
    ) -> None:
        w, i = tracer.write, tracer.graph.number(*row)
        if isinstance(formula, Identity):
            ref = w.eye(int(formula.shape[0]))
        else:
            name = f"{Block(*row)},{column and Block(*column)}"
            formulas[name] = formula
            shape = (int(formula.shape[0]), int(formula.shape[1]))
            ref = w.emit("input", (), shape, row == column, ("formula", name))
        if column is None:
            tracer.fronts.set_rhs(i, ref)
        else:
            tracer.fronts.set(i, tracer.graph.number(*column), ref)

    # -- formulas -----------------------------------------------------------------------------

    def polynomial(self, formula: MatrixExpr) -> BlockPolynomial:
        return polynomial(formula, self.algebra, self.values)

    def field(self, point: int | None = None) -> Field:
        """All blocks with a symbol for every entry, or at a random point.

        Letters that came since the last call make it anew.
        """
        known = self._fields.get(point)
        if known is None or known.letters != self.letters.keys():
            known = Symbols(self) if point is None else Point(self, point)
            self._fields[point] = known
        return known


class Engine:
    """Values that the engine made, as symbols of formulas."""

    def __init__(
        self,
        bench: Bench,
        instructions: Any,
        shapes: Any,
        program: Any = None,
        left: Any = None,
        formulas: dict[str, MatrixExpr] | None = None,
    ) -> None:
        self.bench = bench
        self.program = program
        self.left = left
        self.instructions: Any = instructions
        self.formulas: dict[str, MatrixExpr] = formulas or {}
        self.shapes = shapes
        self.label: str = f"e{len(bench.engines) + 1}"
        bench.engines.append(self)
        for i in instructions:
            if i.op == "input" and i.info[0] != "formula":
                bench.enter(bench.name(*i.info), shapes[i.out], i.symmetric)
        self.refs: dict[str, Any] = {}
        given = bench.algebra, instructions, shapes, bench.name
        self.reading: Reading = Reading(*given, lambda name: bench.polynomial(self.formulas[str(name)]))

    # -- what there is ------------------------------------------------------------------------

    def entry(self, i: tuple[str, Hashable], j: tuple[str, Hashable]) -> MatrixExpr:
        """Block (i, j) of what is left."""
        i, j = self._there(self.left.entries, i, j)
        return self._bound(f"({i},{j})", self.left.entries.get((i, j)), (self._size(i), self._size(j)))

    def rhs(self, i: tuple[str, Hashable]) -> MatrixExpr:
        """Block i of the right-hand side of what is left."""
        (i,) = self._there(self.left.entries, i)
        return self._bound(f"rhs({i})", self.left.rhs.get(i), (self._size(i), 1))

    def inverse(self, i: tuple[str, Hashable], j: tuple[str, Hashable]) -> MatrixExpr:
        """Block (i, j) of the inverse of the last bracket by itself."""
        i, j = self._there(self.left.inverse, i, j)
        return self._bound(f"inv({i},{j})", self.left.inverse.get((i, j)), (self._size(i), self._size(j)))

    def _there(self, pairs: Iterable[Any], *blocks: tuple[str, Hashable]) -> list[Any]:
        """These blocks; one that is in no pair is gone, and nothing of it may be called zero."""
        if gone := [Block(*block) for block in blocks if not any(block in pair for pair in pairs)]:
            raise AssertionError(f"{gone[0]}: is not left")  # ours: claims
        return [Block(*block) for block in blocks]

    def pivot(self, *blocks: tuple[str, Hashable]) -> MatrixExpr:
        """The dense pivot on these blocks, before it is factored."""
        names = tuple(Block(*b) for b in blocks)
        size = sum(self._size(b) for b in blocks)
        return self._bound(f"D({','.join(map(str, names))})", self.left.factors[names], (size, size))

    def x(self, kind: str, body: Hashable) -> MatrixExpr:
        """A block of the solution."""
        ref = self.program.solution[Block(kind, body)]
        return self._bound(f"{kind}_{body}", ref, (self._size((kind, body)), 1))

    def _size(self, block: tuple[str, Hashable]) -> int:
        body = block[1]
        N = self.bench.dof(body) if isinstance(body, int) else 0  # a carrier has no joint
        return {"pdd": 6, "f": 6, "qdd": N, "fJ": N, "fC": 6 - N}[block[0]]

    def _bound(self, what: str, ref: Any, shape: tuple[int, int]) -> MatrixExpr:
        if ref is None:
            return ZeroMatrix(*shape)
        name = f"{self.label}.{what}"
        self.refs[name] = ref
        self.bench.values[name] = self.reading(ref)
        return MatrixSymbol(name, *shape)


def sum_of(terms: list[MatrixExpr], shape: tuple[int, int]) -> MatrixExpr:
    """A sum that may have no terms."""
    result: MatrixExpr = ZeroMatrix(*shape)
    for term in terms:
        result = result + term
    return result
