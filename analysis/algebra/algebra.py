"""Letters, what is known of them, and the normal form that decides whether two blocks are equal.

What is known is a list of rules "word = shorter or lower polynomial": H_k B_k = 1, D_k D_k^-1 = 1,
and for every pivot its definition, read as

    H_k M_k H_k* = D_k - (the other terms of D_k).

D_k itself stays an opaque letter: an inverse is never multiplied out, which is wrong where H_k is
not square.  A rule never holds but as an identity, so that words of equal normal form are equal.
Where no two rules overlap, the normal form is unique (Bergman 1978, the diamond lemma), and blocks
of different normal form are different in the algebra of these letters; whether they differ for
matrices of these sizes too, exact numbers say (:mod:`analysis.proofs.fields`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, product
from typing import Any, NamedTuple

from flint import fmpq
from sympy import Identity, Inverse, MatAdd, MatMul, MatPow, MatrixExpr, MatrixSymbol, Transpose, ZeroMatrix

from pivotree.kkt.program import BlockReader, Instruction

STAR = "*"  # behind the name of a letter that is transposed; a symmetric block is never written so
Word = tuple[str, ...]
Terms = dict[Word, fmpq]


@dataclass(frozen=True)
class BlockPolynomial:
    """``terms`` without zero coefficients, of a block of ``shape`` (rows, columns)."""

    terms: Terms
    shape: tuple[int, int]

    def __add__(self, other: BlockPolynomial) -> BlockPolynomial:
        _fit(self.shape == other.shape, "+", self, other)
        return BlockPolynomial(summed(chain(self.terms.items(), other.terms.items())), self.shape)

    def __neg__(self) -> BlockPolynomial:
        return self.scaled(fmpq(-1))

    def __sub__(self, other: BlockPolynomial) -> BlockPolynomial:
        return self + -other

    def __matmul__(self, other: BlockPolynomial) -> BlockPolynomial:
        _fit(self.shape[1] == other.shape[0], "times", self, other)
        pairs = product(self.terms.items(), other.terms.items())
        return BlockPolynomial(
            summed((u + v, c * d) for (u, c), (v, d) in pairs), (self.shape[0], other.shape[1])
        )

    def scaled(self, by: fmpq) -> BlockPolynomial:
        return BlockPolynomial({w: c * by for w, c in self.terms.items() if by != 0}, self.shape)

    def transposed(self, symmetric: Container[str]) -> BlockPolynomial:
        """Each word reversed and its letters turned, but for those that are symmetric."""
        terms = {turned(word, symmetric): c for word, c in self.terms.items()}
        return BlockPolynomial(terms, self.shape[::-1])

    @property
    def is_zero(self) -> bool:
        return not self.terms

    @property
    def key(self) -> frozenset[tuple[Word, fmpq]]:
        """Equal for equal polynomials."""
        return frozenset(self.terms.items())


def turned(word: Word, symmetric: Container[str]) -> Word:
    """The transpose of a word."""
    return tuple(
        letter if letter in symmetric else letter[:-1] if letter.endswith(STAR) else letter + STAR
        for letter in reversed(word)
    )


def summed(terms: Iterable[tuple[Word, fmpq]]) -> Terms:
    """Each word once, those without a coefficient left out."""
    total: Terms = {}
    for word, c in terms:
        total[word] = total.get(word, 0) + c
    return {word: c for word, c in total.items() if c != 0}


def zero(shape: tuple[int, int]) -> BlockPolynomial:
    return BlockPolynomial({}, shape)


def one(size: int) -> BlockPolynomial:
    return BlockPolynomial({(): fmpq(1)}, (size, size))


def total(terms: Iterable[BlockPolynomial], shape: tuple[int, int]) -> BlockPolynomial:
    parts = list(terms)
    for term in parts:
        _fit(term.shape == shape, "in a sum of", term, zero(shape))
    return BlockPolynomial(summed(item for term in parts for item in term.terms.items()), shape)


def _fit(fits: bool, what: str, a: BlockPolynomial, b: BlockPolynomial) -> None:
    if not fits:
        raise ValueError("{}x{} {} {}x{}: blocks do not fit".format(*a.shape, what, *b.shape))


INVERSE = "^-1"
MOST = 2_000_000  # steps of rewriting, after which an equality counts as undecided


class Undecided(Exception):
    """The normal form cannot tell."""


class Rule(NamedTuple):
    word: Word
    terms: Terms  # what it is equal to


class Algebra:
    """Letters with shapes, pivots with definitions, rules; grows as a program is read."""

    def __init__(self) -> None:
        self.shapes: dict[str, tuple[int, int]] = {}
        self.symmetric: set[str] = set()
        self._rules: dict[str, list[Rule]] = {}  # by the first letter
        self._pivots: dict[tuple[Any, ...], str] = {}  # name of a pivot, by its definition and shape
        self._factors: dict[frozenset[Any], int] = {}  # number of a factor, by what it is the inverse of
        self._known: dict[Word, Terms] = {}  # normal forms so far
        self._steps = 0

    # -- letters ------------------------------------------------------------------------------

    def letter(self, name: str, shape: tuple[int, int], symmetric: bool = False) -> BlockPolynomial:
        """A block of its own; the same letter for the same name."""
        if self.shapes.setdefault(name, shape) != shape:
            raise ValueError(
                f"letter {name!r}: stands for a block of shape {self.shapes[name]} already, not of "
                f"{shape}; give it another name"
            )
        if symmetric:
            self.symmetric.add(name)
        return BlockPolynomial({(name,): fmpq(1)}, shape)

    def t(self, p: BlockPolynomial) -> BlockPolynomial:
        return p.transposed(self.symmetric)

    def pivot(self, definition: BlockPolynomial, name: str) -> tuple[BlockPolynomial, BlockPolynomial]:
        """A pivot D and its inverse, as opaque letters; the same ones for the same definition.

        A pivot that is a letter, such as M_k, is that letter.
        """
        definition = self.normal(definition)
        if not self.equal(definition, self.t(definition)):
            raise Undecided(f"pivot {name}: its definition is not symmetric")
        key = (definition.key, definition.shape)  # the identity has no letters
        word = min(definition.terms, key=lambda w: (len(w), w), default=())
        if definition.terms.get(word, 0) < 0:  # one letter for a block and its opposite
            D, inverse = self.pivot(-definition, name)
            return -D, -inverse
        if definition.terms == {word: 1} and len(word) == 1:
            known = word[0]
            if known.endswith(INVERSE):  # of what is an inverse already
                inner = known.removesuffix(INVERSE)
                return self.letter(known, definition.shape), self.letter(inner, definition.shape)
            if known not in self._pivots.values():
                self._pivots[key] = known
                self._inverse_rules(known)
        elif (known := self._pivots.get(key, "")) == "":
            known = name
            while known in self.shapes:
                known += "'"
            self.letter(known, definition.shape, symmetric=True)
            self._pivots[key] = known
            self._define(known, definition)
            self._inverse_rules(known)
        return (
            self.letter(known, definition.shape),
            self.letter(f"{known}{INVERSE}", definition.shape, symmetric=True),
        )

    def named(self, name: str, definition: BlockPolynomial, symmetric: bool) -> BlockPolynomial:
        """A letter of its own for a block such as M^_k, by which others are written from now on.

        The shortest word of its definition, M_k there, is what the definition is solved for.
        """
        definition = self.normal(definition)
        if symmetric and not self.equal(definition, self.t(definition)):
            raise Undecided(f"{name}: its definition is not symmetric")
        letter = self.letter(name, definition.shape, symmetric)
        self._define(name, definition)
        return letter

    def factor(self, inverse: BlockPolynomial) -> tuple[BlockPolynomial, BlockPolynomial]:
        """L^-1 and diag^-1 of a pivot L diag L*, so that L^-* diag^-1 L^-1 is its inverse."""
        number = self._factors.setdefault(inverse.key, len(self._factors) + 1)
        L = self.letter(f"L{number}^-1", inverse.shape)
        d = self.letter(f"diag{number}^-1", inverse.shape, symmetric=True)
        self.know(self.t(L) @ d @ L, inverse)
        return L, d

    # -- rules --------------------------------------------------------------------------------

    def know(self, word: BlockPolynomial, equal_to: BlockPolynomial) -> None:
        """A single word is equal to a polynomial of other words: H_k B_k = 1."""
        ((w, c),) = word.terms.items()
        self._rule(w, equal_to.scaled(1 / c).terms)
        back = turned(w, self.symmetric)
        if back != w:
            self._rule(back, self.t(equal_to).scaled(1 / c).terms)

    def _rule(self, word: Word, terms: Terms) -> None:
        rules = self._rules.setdefault(word[0], [])
        if all(rule.word != word for rule in rules):
            rules.append(Rule(word, terms))
            self._known.clear()

    def _inverse_rules(self, name: str) -> None:
        self.letter(f"{name}{INVERSE}", self.shapes[name], symmetric=True)
        D, inverse = name, f"{name}{INVERSE}"
        self._rule((D, inverse), {(): fmpq(1)})
        self._rule((inverse, D), {(): fmpq(1)})

    def _define(self, name: str, definition: BlockPolynomial) -> None:
        """The shortest word of a definition is what the rule is solved for.

        Of a symmetric block it reads the same backward.  It may be no part of another word of the
        definition, or the rule would not come to an end.
        """
        words = sorted(definition.terms, key=lambda w: (len(w), w))
        for w in words:
            fits = name not in self.symmetric or turned(w, self.symmetric) == w
            if w and fits and not any(w != v and _within(w, v) for v in words):
                c, shape = definition.terms[w], definition.shape
                rest = {v: -d / c for v, d in definition.terms.items() if v != w}
                rest[(name,)] = 1 / c
                self.know(BlockPolynomial({w: fmpq(1)}, shape), BlockPolynomial(rest, shape))
                return

    # -- normal form --------------------------------------------------------------------------

    def normal(self, p: BlockPolynomial) -> BlockPolynomial:
        return BlockPolynomial(self.reduced(p.terms), p.shape)

    def equal(self, a: BlockPolynomial, b: BlockPolynomial) -> bool:
        return self.normal(a - b).is_zero

    def reduced(self, terms: Terms) -> Terms:
        return summed((w, c * d) for word, c in terms.items() for w, d in self._word(word).items())

    def _word(self, word: Word) -> Terms:
        known = self._known.get(word)
        if known is not None:
            return known
        self._steps += 1
        if self._steps > MOST:
            raise Undecided(f"not at an end after {MOST} steps of rewriting")
        result = {word: fmpq(1)}
        for i in range(len(word)):
            for rule in self._rules.get(word[i], ()):
                if word[i : i + len(rule.word)] == rule.word:
                    head, tail = word[:i], word[i + len(rule.word) :]
                    result = self.reduced({head + w + tail: c for w, c in rule.terms.items()})
                    self._known[word] = result
                    return result
        self._known[word] = result
        return result


def _within(word: Word, longer: Word) -> bool:
    return any(longer[i : i + len(word)] == word for i in range(len(longer) - len(word) + 1))


Name = Callable[[str, object], str]  # letter and body to the name of a block


class Reading(BlockReader):
    """Values of a program as polynomials, in the order of its instructions.

    ``name`` gives the name of an input block, ``entered`` what a block is that was entered as a
    formula.
    """

    def __init__(
        self,
        algebra: Algebra,
        instructions: Iterable[Instruction],
        shapes: Sequence[tuple[int, int]],
        name: Name,
        entered: Callable[[object], BlockPolynomial],
    ) -> None:
        super().__init__()
        self.algebra = algebra
        self.shapes = shapes
        self.name = name
        self.entered = entered
        self.sources: dict[int, tuple[str, object]] = {}  # input blocks
        self.inverses: dict[int, BlockPolynomial] = {}  # of what was factored
        self.squares: dict[int, tuple[dict[tuple[int, int], BlockPolynomial], list[BlockPolynomial]]] = {}
        self.partitions: list[tuple[int, ...]] = []
        self.read(instructions)

    def value(self, i: Instruction) -> BlockPolynomial:
        return self.algebra.normal(super().value(i))

    def transposed(self, value: BlockPolynomial) -> BlockPolynomial:
        return self.algebra.t(value)

    def unread(self, i: Instruction) -> Exception:
        return Undecided(f"the operation {i.op!r} has no reading in blocks")

    # -- leaves -------------------------------------------------------------------------------

    def _input(self, i: Instruction) -> BlockPolynomial:
        letter, body = i.info
        if letter == "formula":
            return self.entered(body)
        self.sources[i.out] = (letter, body)
        return self.algebra.letter(self.name(letter, body), self.shapes[i.out], i.symmetric)

    def _eye(self, i: Instruction) -> BlockPolynomial:
        return one(i.info[0])

    def basis(self, letter: str, i: Instruction) -> BlockPolynomial:
        """B with H B = 1, or C with H C = 0."""
        (H,) = i.present
        basis = self.algebra.letter(self.name(letter, self.sources[H.value][1]), self.shapes[i.out])
        rows = self.shapes[H.value][0]
        known = one(rows) if letter == "B" else zero((rows, self.shapes[i.out][1]))
        self.algebra.know(self(H) @ basis, known)
        return basis

    def _divide(self, i: Instruction, a: BlockPolynomial) -> BlockPolynomial:
        return a.scaled(fmpq(1, i.info[0]))

    # -- pivots -------------------------------------------------------------------------------

    def _factor(self, i: Instruction, a: BlockPolynomial) -> BlockPolynomial:
        (of,), name = i.present, f"D{i.out}"
        if of.value in self.squares:
            self.inverses[i.out] = block_inverse(self.algebra, *self.squares[of.value], name)
        else:
            self.inverses[i.out] = self.algebra.pivot(a, name)[1]
        return a

    def _solve(self, i: Instruction, a: BlockPolynomial, c: BlockPolynomial) -> BlockPolynomial:
        return self.inverses[i.present[0].value] @ c

    def _forward(self, i: Instruction, a: BlockPolynomial, c: BlockPolynomial) -> BlockPolynomial:
        return self.algebra.factor(self.inverses[i.present[0].value])[0] @ c

    def _inner(
        self, i: Instruction, a: BlockPolynomial, y: BlockPolynomial, z: BlockPolynomial
    ) -> BlockPolynomial:
        factor, left, _ = i.present
        middle = self.inverses[factor.value]
        if self.shapes[factor.value][0] > 1:  # else L is 1, and was left out
            middle = self.algebra.factor(middle)[1]
        return self(left.T) @ middle @ z

    # -- blocks of blocks ---------------------------------------------------------------------

    def _stack(self, i: Instruction, *blocks: BlockPolynomial | None) -> BlockPolynomial:
        parts = self._parts(i.info[0])
        return total(
            (E @ block for E, block in zip(parts, blocks, strict=True) if block is not None),
            self.shapes[i.out],
        )

    def _square(self, i: Instruction, *upper: BlockPolynomial | None) -> BlockPolynomial:
        sizes, t = i.info[0], self.algebra.t
        parts, given = self._parts(sizes), iter(upper)
        blocks: dict[tuple[int, int], BlockPolynomial] = {}
        for r in range(len(sizes)):
            for c in range(r, len(sizes)):
                block = next(given)
                blocks[r, c] = zero((sizes[r], sizes[c])) if block is None else block
                blocks[c, r] = t(blocks[r, c])
        self.squares[i.out] = (blocks, parts)
        return total((parts[r] @ block @ t(parts[c]) for (r, c), block in blocks.items()), self.shapes[i.out])

    def _rows(self, i: Instruction, a: BlockPolynomial) -> BlockPolynomial:
        (of,), (first, last) = i.present, i.info
        for sizes in self.partitions:
            ends = list(accumulate(sizes))
            if ends[-1] == self.shapes[of.value][of.transposed] and last in ends:
                block = ends.index(last)
                if ends[block] - sizes[block] == first:
                    return self.algebra.t(self._parts(sizes)[block]) @ a
        raise Undecided(f"rows {first} to {last} are no block")

    def _parts(self, sizes: tuple[int, ...]) -> list[BlockPolynomial]:
        """E_1, E_2 ...: columns of the identity, E_i* E_j = 1 where i = j, else 0."""
        size = sum(sizes)
        parts = [self.algebra.letter(f"E_{r}{list(sizes)}", (size, m)) for r, m in enumerate(sizes)]
        if sizes not in self.partitions:
            self.partitions.append(sizes)
            for r, left in enumerate(parts):
                for c, right in enumerate(parts):
                    known = one(sizes[r]) if r == c else zero((sizes[r], sizes[c]))
                    self.algebra.know(self.algebra.t(left) @ right, known)
        return parts


def block_inverse(
    algebra: Algebra, blocks: dict[tuple[int, int], BlockPolynomial], parts: list[BlockPolynomial], name: str
) -> BlockPolynomial:
    """The inverse of sum E_r A_rc E_c* by pivots D_1, D_2 ... on its diagonal, opaque ones.

    Whatever a dense factor does with its scalars, this is the inverse that it stands for.
    """
    n, A = len(parts), dict(blocks)
    inverse = []
    for k in range(n):
        inverse.append(algebra.pivot(A[k, k], f"{name}.{k + 1}")[1])
        for r in range(k + 1, n):
            gain = algebra.normal(A[r, k] @ inverse[k])
            for c in range(k + 1, n):
                A[r, c] = algebra.normal(A[r, c] - gain @ A[k, c])
    columns = []
    for j in range(n):  # A x = E_j*, forward and back
        x: list[BlockPolynomial] = []
        for r in range(n):
            y = algebra.t(parts[j]) if r == j else zero((A[r, r].shape[0], parts[j].shape[0]))
            for k in range(r):
                y = y - A[r, k] @ x[k]
            x.append(algebra.normal(inverse[r] @ y))
        for r in reversed(range(n)):
            for c in range(r + 1, n):
                x[r] = algebra.normal(x[r] - inverse[r] @ A[r, c] @ x[c])
        columns.append(total((E @ row for E, row in zip(parts, x, strict=True)), _square(parts)))
    return algebra.normal(total(columns, _square(parts)))


def _square(parts: list[BlockPolynomial]) -> tuple[int, int]:
    return (parts[0].shape[0], parts[0].shape[0])


def polynomial(
    expression: MatrixExpr, algebra: Algebra, values: Mapping[str, BlockPolynomial]
) -> BlockPolynomial:
    """A formula in block letters as a polynomial; ``values`` are symbols that stand for others.

    An inverse is that of a pivot: what stands under it becomes an opaque letter.
    """

    def read(e: Any) -> BlockPolynomial:
        shape = (int(e.shape[0]), int(e.shape[1]))
        if isinstance(e, MatrixSymbol):
            return values[e.name] if e.name in values else algebra.letter(e.name, shape)
        if isinstance(e, Identity):
            return one(shape[0])
        if isinstance(e, ZeroMatrix):
            return zero(shape)
        if isinstance(e, MatAdd):
            return total((read(arg) for arg in e.args), shape)
        if isinstance(e, Transpose):
            return algebra.t(read(e.arg))
        if isinstance(e, MatPow) and not isinstance(e, Inverse):
            return read(MatMul(*[e.base] * int(e.exp), evaluate=False))
        if isinstance(e, Inverse):
            return algebra.pivot(read(e.arg), f"D({e.arg})")[1]
        if isinstance(e, MatMul):
            coefficient, factors = e.as_coeff_matrices()
            result = read(factors[0])
            for factor in factors[1:]:
                result = algebra.normal(result @ read(factor))
            return result.scaled(fmpq(int(coefficient.p), int(coefficient.q)))
        raise TypeError(f"formula holds {type(e).__name__}, which is no operation on blocks")

    return algebra.normal(read(expression))
