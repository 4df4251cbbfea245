"""Equalities of scalars: letters, what is made of them, and typed formulas, read in any field."""

from __future__ import annotations

import random
from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from flint import fmpq
from sympy import Add, Expr, Mul, Pow, Rational, Symbol

from ..algebra.algebra import Undecided
from .claim import FAILED, FRACTIONS, POLYNOMIALS, PROVED, UNDECIDED, Verdict, together


class Letters:
    """Letters, and what is made of them, as elements of a field and at random rational points."""

    letters: ClassVar[tuple[str, ...]]
    domain: ClassVar[Any]  # the field of their rational functions
    points_taken: ClassVar[int] = 3
    seed: ClassVar[str]

    def made(self, of: Callable[[str], Any]) -> MutableMapping[str, Any]:
        """By its name, all that is made of the letters, whose values are ``of(name)``."""
        raise NotImplementedError

    @staticmethod
    def of(what: str, *at: int) -> Symbol:
        """The symbol of an entry of what is made."""
        return Symbol(f"{what}:[{','.join(map(str, at))}]")

    def letter(self, name: str) -> Any:
        known = self._generators
        return known[name] if name in known else self._made[name] + self.domain.field.zero

    def number(self, name: str, point: int) -> Any:
        return self._numbers[point][name]

    def is_zero(self, x: Any) -> bool:
        return bool(x == 0)

    def drawn(self, draw: random.Random) -> dict[str, fmpq]:
        """Random rationals for all letters."""
        return {x: fmpq(draw.randint(1, 30), draw.randint(1, 30)) for x in self.letters}

    @cached_property
    def _generators(self) -> dict[str, Any]:
        field = self.domain.field
        return dict(zip(map(str, field.symbols), field.gens, strict=True))

    @cached_property
    def _made(self) -> Mapping[str, Any]:
        return self.made(self.letter)

    @cached_property
    def _numbers(self) -> list[Mapping[str, Any]]:
        draws = (random.Random(f"{self.seed} {i}") for i in range(self.points_taken))
        points = map(self.drawn, draws)
        return [ChainMap(known, self.made(known.__getitem__)) for known in points]


def on_circle(draw: random.Random) -> tuple[fmpq, fmpq]:
    """A rational cosine and the sine that belongs to it."""
    t = fmpq(draw.randint(-20, 20), draw.randint(1, 20))
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def value(formula: Expr, of: Callable[[str], Any], rational: Callable[[int, int], Any]) -> Any:
    """A formula in a field: ``of`` gives a symbol's value, ``rational(p, q)`` that of p / q.

    Raises Undecided where it holds anything but sums, products, whole powers and fractions.
    """

    def read(e: Any) -> Any:
        if isinstance(e, Symbol):
            return of(e.name)
        if isinstance(e, Rational):
            return rational(int(e.p), int(e.q))
        if isinstance(e, Add | Mul):
            result = read(e.args[0])
            for arg in e.args[1:]:
                result = result + read(arg) if isinstance(e, Add) else result * read(arg)
            return result
        if isinstance(e, Pow) and e.exp.is_Integer:
            base = read(e.base)
            return base ** int(e.exp) if e.exp > 0 else rational(1, 1) / base ** int(-e.exp)
        raise Undecided(f"{e} is no sum, product or power")

    return read(formula)


@dataclass(frozen=True)
class Same:
    """left = right for all values of the letters, as scalars."""

    text: str
    arm: Letters
    left: Expr
    right: Expr

    def decide(self) -> Verdict:
        """By sympy's polynomials, modulo what is known of the letters, and at points: both must agree."""
        try:
            said = {POLYNOMIALS: self._zero(), FRACTIONS: self.numbers_agree()}
        except Undecided as error:
            return Verdict(UNDECIDED, f"{self.text}: {error}", {POLYNOMIALS: UNDECIDED})
        readers = {reader: PROVED if same else FAILED for reader, same in said.items()}
        return together(self.text, readers, "", 1)

    def _zero(self) -> bool:
        left, right = (
            value(side, self.arm.letter, lambda p, q: self.arm.domain(p) / q)
            for side in (self.left, self.right)
        )
        return bool(self.arm.is_zero(left - right))

    def numbers_agree(self) -> bool:
        points = range(self.arm.points_taken)
        return all(self._number(self.left, i) == self._number(self.right, i) for i in points)

    def _number(self, formula: Expr, point: int) -> Any:
        return value(formula, lambda name: self.arm.number(name, point), fmpq)
