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


def both(text: str, same: bool, numbers: bool, why: str) -> Verdict:
    """What letters say and what exact numbers say, together; ``why`` the letters cannot tell."""
    if same and numbers:
        return Verdict(PROVED)
    if same:
        return Verdict(FAILED, f"{text}: equal by its normal form, not by exact numbers")
    if numbers:
        return Verdict(UNDECIDED, f"{text}: {why}")
    return Verdict(FAILED, f"{text}: wrong on an instance in exact fractions")


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
        why = "normal forms differ, numbers agree"
        try:
            same = self.bench.polynomial(self.left - self.right).is_zero
        except (Undecided, RecursionError) as error:
            same, why = False, str(error)
        return both(self.text, same, self.numbers_agree(), why)

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
            multiples, later = [c * value for c in (-2, -1, 0, 2)], []
            for wrong, what in mutants(formula, draw):
                number = self.bench.number(wrong, 0)
                mutant = replace(self, text=f"{self.text} [{what}]", **{side: wrong})
                if number in multiples:  # of the whole: easily seen, so the last to be taken
                    later.append(mutant)
                elif number != value:
                    yield mutant
            yield from later

    def rejects(self) -> bool:
        """Whether the normal form alone, without numbers, refuses to call this claim proved."""
        try:
            return not self.bench.polynomial(self.left - self.right).is_zero
        except (Undecided, RecursionError):
            return True


@dataclass(frozen=True)
class Misprint:
    """A formula as printed is not what (4) gives; ``meant`` is, and must not pass as wrong."""

    printed: Any  # a claim with a right side
    meant: Any

    @property
    def text(self) -> str:
        return f"{self.printed.text}, as printed, is wrong"

    def decide(self) -> Verdict:
        status = self.printed.decide().status
        if status == FAILED and self.printed.rejects():
            return Verdict(PROVED)
        return Verdict(FAILED, f"{self.printed.text}: what is printed is {status}")

    def mutants(self, draw: random.Random) -> Iterator[Any]:
        yield Misprint(replace(self.printed, right=self.meant), self.meant)

    def rejects(self) -> bool:
        return not self.printed.rejects()


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
