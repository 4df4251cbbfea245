"""What is proved: one equality between a value of the engine and a formula typed from a paper."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sympy import MatrixExpr

from ..algebra.algebra import Undecided
from .bench import INSTANCES, Bench
from .mutants import mutants

PROVED, FAILED, UNDECIDED = "proved", "failed", "undecided"


@dataclass(frozen=True)
class Verdict:
    status: str  # proved, failed or undecided
    why: str = ""  # of what is not proved


class Claim(Protocol):
    """One thing to prove.  A mutant is a claim falsified on purpose, which must not be proved."""

    @property
    def text(self) -> str: ...

    def decide(self) -> Verdict: ...

    def mutants(self, draw: random.Random) -> Iterator[Any]: ...


@dataclass(frozen=True)
class Equal:
    """left = right for blocks of every value; ``bench`` knows their letters."""

    text: str  # as the paper says it
    bench: Bench
    left: MatrixExpr
    right: MatrixExpr

    def decide(self) -> Verdict:
        """By the normal form, and by exact numbers: both must say so."""
        numbers = self.numbers_agree()
        why = ""
        try:
            same = self.bench.polynomial(self.left - self.right).is_zero
        except (Undecided, RecursionError) as error:
            same, why = False, str(error)
        if same and numbers:
            return Verdict(PROVED)
        if same:
            return Verdict(FAILED, f"{self.text}: equal by its normal form, not by exact numbers")
        if numbers:
            return Verdict(UNDECIDED, f"{self.text}: {why or 'normal forms differ, numbers agree'}")
        return Verdict(FAILED, f"{self.text}: wrong on an instance in exact fractions")

    def numbers_agree(self) -> bool:
        return all(
            self.bench.number(self.left, i) == self.bench.number(self.right, i)
            for i in range(INSTANCES)
        )

    def mutants(self, draw: random.Random) -> Iterator[Any]:
        """The right side, or the left where it is typed, with one thing wrong.

        One that changes no value, such as the transpose of what is symmetric, is no mutant.
        """
        for side in ("right", "left"):
            formula = getattr(self, side)
            value = self.bench.number(formula, 0)
            for wrong, what in mutants(formula, draw):
                if self.bench.number(wrong, 0) != value:
                    yield replace(self, text=f"{self.text} [{what}]", **{side: wrong})

    def rejects(self) -> bool:
        """Whether the normal form alone, without numbers, refuses to call this claim proved."""
        try:
            return not self.bench.polynomial(self.left - self.right).is_zero
        except (Undecided, RecursionError):
            return True


@dataclass(frozen=True)
class Misprint:
    """What a paper prints is wrong: the claim as printed must fail in exact numbers."""

    printed: Equal

    @property
    def text(self) -> str:
        return f"{self.printed.text}, as printed, is wrong"

    def decide(self) -> Verdict:
        if self.printed.decide().status == FAILED:
            return Verdict(PROVED)
        return Verdict(FAILED, f"{self.printed.text}: what is printed holds after all")

    def mutants(self, draw: random.Random) -> Iterator[Any]:
        return iter(())


@dataclass(frozen=True)
class Checked:
    """A fact about structures, looked up on every one of a finite list of them."""

    text: str
    holds: bool

    def decide(self) -> Verdict:
        return Verdict(PROVED) if self.holds else Verdict(FAILED, f"{self.text}: does not hold")

    def mutants(self, draw: random.Random) -> Iterator[Any]:
        return iter(())


def all_of(claims: Iterable[Any]) -> Verdict:
    """The first that is not proved, failures first."""
    worst = Verdict(PROVED)
    for claim in claims:
        verdict = claim.decide()
        if verdict.status == FAILED:
            return verdict
        if verdict.status == UNDECIDED and worst.status == PROVED:
            worst = verdict
    return worst
