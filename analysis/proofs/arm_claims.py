"""Equalities of scalars of the planar arm: what the engine makes of (4), and typed formulas."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from flint import fmpq, fmpq_mat
from sympy import Expr, Symbol

from ..algebra.algebra import Undecided
from ..algebra.numbers import Exact
from .arm import FIELD, LETTERS, Scalars, blocks, is_zero, left_of
from .claim import FAILED, FRACTIONS, PROVED, SYMPY, UNDECIDED, Verdict, together
from .scalars import on_circle, value

POINTS = 3  # exact points at which every claim is evaluated


@dataclass(frozen=True)
class Arm:
    """The arm in its letters, and at exact points, with what the engine makes of it."""

    letters: ClassVar[Any] = (*LETTERS, "c_12")
    domain: ClassVar[Any] = FIELD
    points_taken: ClassVar[int] = POINTS
    is_zero: ClassVar[Any] = staticmethod(is_zero)
    hand: tuple[str | None, str | None] = ("l_2", None)  # where (n_3, f_3) acts on link 2
    made: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def engine(self, order: str, steps: int | None, name: str) -> Expr:
        """A value of the engine, as a symbol; see :func:`left_of` for names."""
        return Symbol(f"{order}:{'' if steps is None else steps}:{name}")

    def letter(self, name: str) -> Any:
        """The value of a symbol in the field of the letters."""
        if name == "c_12":
            return self.letter("c_1") * self.letter("c_2") - self.letter("s_1") * self.letter("s_2")
        if ":" not in name:
            return FIELD.field.gens[LETTERS.index(name)]
        order, steps, what = _parts(name)
        instructions, refs = left_of(order, steps)
        if (order, steps) not in self.made:
            self.made[order, steps] = Scalars(instructions, blocks(self.letter, self.hand))
        return self.made[order, steps](refs[what])[0, 0]

    def number(self, name: str, point: int) -> fmpq:
        """The value of a symbol at an exact point, by matrices of rationals."""
        if name == "c_12":
            c_1, s_1, c_2, s_2 = (self.number(x, point) for x in ("c_1", "s_1", "c_2", "s_2"))
            return c_1 * c_2 - s_1 * s_2
        if ":" not in name:
            return self.points[point][name]
        order, steps, what = _parts(name)
        instructions, refs = left_of(order, steps)
        if (order, steps, point) not in self.made:
            inputs = blocks(self.points[point].__getitem__, self.hand)
            self.made[order, steps, point] = Exact(
                instructions, lambda letter, body: fmpq_mat(inputs[letter, body].tolist())
            )
        return self.made[order, steps, point](refs[what])[0, 0]

    @cached_property
    def points(self) -> list[dict[str, fmpq]]:
        return [_point(random.Random(f"arm {i}")) for i in range(POINTS)]


def _parts(name: str) -> tuple[str, int | None, str]:
    order, steps, what = name.split(":")
    return order, int(steps) if steps else None, what


def _point(draw: random.Random) -> dict[str, fmpq]:
    """Random rationals for all letters, (c_i, s_i) on the circle."""
    values = {name: fmpq(draw.randint(1, 30), draw.randint(1, 30)) for name in LETTERS}
    for k in (1, 2):
        values[f"c_{k}"], values[f"s_{k}"] = on_circle(draw)
    return values


@dataclass(frozen=True)
class Same:
    """left = right for all values of the letters, as scalars."""

    text: str
    arm: Any  # Arm, or what else gives letters their values
    left: Expr
    right: Expr

    def decide(self) -> Verdict:
        """By sympy's remainders modulo c^2 + s^2 = 1, and at exact points: both must say so."""
        try:
            said = {SYMPY: self._zero(), FRACTIONS: self.numbers_agree()}
        except Undecided as error:
            return Verdict(UNDECIDED, f"{self.text}: {error}", {SYMPY: UNDECIDED})
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
