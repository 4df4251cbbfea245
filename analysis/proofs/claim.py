"""What is proved: one equality between a value of the engine and a formula typed from a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from sympy import MatrixExpr

from ..algebra.algebra import Undecided
from .bench import Bench
from .fields import Singular, TooLarge


@dataclass(frozen=True)
class Statement:
    name: str
    source: str  # paper, comma, equation; of several papers with "; " between
    says: str  # the formula in plain letters
    claims: Callable[[], Iterable[Any]]

    def place(self, paper: str) -> str | None:
        """Where in a paper its source has it, as "eqs (6), (7)"; None where it names another."""
        for part in self.source.split("; "):
            if part.startswith(f"{paper}, "):
                return part.removeprefix(f"{paper}, ")
        return None


REGISTRY: dict[str, Statement] = {}


def statement(name: str, source: str, says: str) -> Callable[..., Callable[[], Iterable[Any]]]:
    """Register a function that yields the claims of one statement."""

    def keep(function: Callable[[], Iterable[Any]]) -> Callable[[], Iterable[Any]]:
        if name in REGISTRY:
            raise AssertionError(f"statement {name!r}: is there twice")  # ours: claims
        REGISTRY[name] = Statement(name, source, says, function)
        return function

    return keep


INSTANCES = 2  # random points at which every claim is evaluated
STATUSES = PROVED, FAILED, UNDECIDED = "proved", "failed", "undecided"
REWRITER, POLYNOMIALS, FRACTIONS = "rewriter", "polynomials", "fractions"  # who reads


@dataclass(frozen=True)
class Verdict:
    status: str  # proved, failed or undecided
    why: str = ""  # of what is not proved
    readers: Mapping[str, str] = field(default_factory=dict)  # the status that each gives
    symbols: int = 0  # claims that polynomials decided, with a symbol for every entry


def together(text: str, readers: Mapping[str, str], why: str, symbols: int = 0) -> Verdict:
    """The verdict of several readers, who must agree; ``why`` is told of one that cannot decide."""
    by = {status: [r for r in readers if readers[r] == status] for status in STATUSES}
    status = next(s for s in (FAILED, UNDECIDED, PROVED) if by[s])
    if by[FAILED] and by[PROVED]:
        why = f"proved by {_names(by[PROVED])}, wrong by {_names(by[FAILED])}: readers disagree"
    elif by[FAILED]:
        why = f"wrong by {_names(by[FAILED])}"
    why = "" if status == PROVED else f"{text}: {why}"
    return Verdict(status, why, readers, symbols)


def _names(readers: list[str]) -> str:
    return " and ".join(
        f"the {r}" if r == REWRITER else f"exact {r}" if r == FRACTIONS else r for r in readers
    )


class Claim(Protocol):
    """One thing to prove."""

    @property
    def text(self) -> str: ...

    def decide(self) -> Verdict: ...


@dataclass(frozen=True)
class Equal:
    """left = right for blocks of every value; ``bench`` knows their letters."""

    text: str  # as the paper says it
    bench: Bench
    left: MatrixExpr
    right: MatrixExpr
    rewritten: bool = True  # False: not by the normal form, so that polynomials must decide it

    def decide(self) -> Verdict:
        """By the normal form, by polynomials where they are not too long, and by numbers: all must agree."""
        readers, why = {}, "normal forms differ, numbers agree"
        if self.rewritten:
            try:
                same = self.bench.polynomial(self.left - self.right).is_zero
            except (Undecided, RecursionError) as error:
                same, why = False, str(error)
            readers[REWRITER] = PROVED if same else UNDECIDED
        by_polynomials = self.by_polynomials()
        if by_polynomials is not None:
            readers[POLYNOMIALS] = by_polynomials
            why = "a side of it has no value in symbols" if by_polynomials == UNDECIDED else why
        elif not self.rewritten:
            readers[POLYNOMIALS], why = UNDECIDED, "too large for a symbol for every entry"
        readers[FRACTIONS] = PROVED if self.numbers_agree() else FAILED
        return together(self.text, readers, why, int(by_polynomials is not None))

    def by_polynomials(self) -> str | None:
        """The status with a symbol for every entry; None where that is too large."""
        try:
            return PROVED if self.bench.field().equal(self.left, self.right) else FAILED
        except TooLarge:
            return None
        except Singular:
            return UNDECIDED

    def numbers_agree(self) -> bool:
        return all(self.bench.field(i).equal(self.left, self.right) for i in range(INSTANCES))


@dataclass(frozen=True)
class Misprint:
    """A formula as printed is not what (4) gives, and ``meant`` is: what is read is what the paper means."""

    printed: Any  # a claim with a right side
    meant: Any

    @property
    def text(self) -> str:
        return f"{self.printed.text}, as printed, is wrong"

    def decide(self) -> Verdict:
        found = self.printed.decide()
        by = {r: status for r, status in found.readers.items() if r != FRACTIONS}
        readers = {r: FAILED if status == PROVED else PROVED for r, status in by.items()}
        if found.status != FAILED or FAILED in readers.values():
            return Verdict(FAILED, f"{self.printed.text}: what is printed is {found.status}", readers)
        meant = replace(self.printed, right=self.meant).decide()
        return meant if meant.status != PROVED else Verdict(PROVED, "", readers)


@dataclass(frozen=True)
class Checked:
    """A fact about structures, looked up on every one of a finite list of them."""

    text: str
    holds: bool

    def decide(self) -> Verdict:
        return Verdict(PROVED) if self.holds else Verdict(FAILED, f"{self.text}: does not hold")


def all_of(claims: Iterable[Any]) -> Verdict:
    """The worst of all claims, with the worst that each reader says."""
    worst, readers, symbols = Verdict(PROVED), dict[str, str](), 0
    rank = (FAILED, UNDECIDED, PROVED).index
    for claim in claims:
        verdict = claim.decide()
        symbols += verdict.symbols
        for reader, status in verdict.readers.items():
            readers[reader] = min(status, readers.get(reader, PROVED), key=rank)
        if rank(verdict.status) < rank(worst.status):
            worst = verdict
    return replace(worst, readers=readers, symbols=symbols)
