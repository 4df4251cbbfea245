"""Polynomials in block letters that do not commute: sums of words with rational coefficients.

A word is a tuple of letters by their names, each as it stands or transposed; the empty word is the
identity.
Shapes are the business of whoever makes the letters: here only rows and columns of the whole.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from flint import fmpq

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
        total = dict(self.terms)
        for word, c in other.terms.items():
            total[word] = total.get(word, 0) + c
        return BlockPolynomial(nonzero(total), self.shape)

    def __neg__(self) -> BlockPolynomial:
        return self.scaled(fmpq(-1))

    def __sub__(self, other: BlockPolynomial) -> BlockPolynomial:
        return self + -other

    def __matmul__(self, other: BlockPolynomial) -> BlockPolynomial:
        _fit(self.shape[1] == other.shape[0], "times", self, other)
        total: Terms = {}
        for u, c in self.terms.items():
            for v, d in other.terms.items():
                total[u + v] = total.get(u + v, 0) + c * d
        return BlockPolynomial(nonzero(total), (self.shape[0], other.shape[1]))

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


def nonzero(terms: Terms) -> Terms:
    return {word: c for word, c in terms.items() if c != 0}


def zero(shape: tuple[int, int]) -> BlockPolynomial:
    return BlockPolynomial({}, shape)


def one(size: int) -> BlockPolynomial:
    return BlockPolynomial({(): fmpq(1)}, (size, size))


def total(terms: Iterable[BlockPolynomial], shape: tuple[int, int]) -> BlockPolynomial:
    result: Terms = {}
    for term in terms:
        _fit(term.shape == shape, "in a sum of", term, zero(shape))
        for word, c in term.terms.items():
            result[word] = result.get(word, 0) + c
    return BlockPolynomial(nonzero(result), shape)


def _fit(fits: bool, what: str, a: BlockPolynomial, b: BlockPolynomial) -> None:
    if not fits:
        raise ValueError("{}x{} {} {}x{}: blocks do not fit".format(*a.shape, what, *b.shape))
