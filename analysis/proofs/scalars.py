"""Formulas of scalars: read in any field, and made wrong in one place."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sympy import Add, Expr, Mul, Number, Pow, Rational, Symbol

from ..algebra.algebra import Undecided
from .mutants import shuffled

Family = Callable[[str], str]


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


def letters(name: str) -> str:
    """The family of a paper's symbol: its name without numbers and coordinates."""
    return re.sub(r"\d+[xyz]?", "", name)


def mutants(
    formula: Expr, draw: random.Random, symbols: Iterable[str], family: Family = letters
) -> Iterator[tuple[Expr, str]]:
    """Formulas with one sign, index, factor or constant wrong, in random order, and what it is.

    A symbol is exchanged for one of ``symbols`` that is of its family.
    """
    names = sorted(symbols)
    made = [(-formula, "sign of all")]
    for rebuilt, part in _parts(formula):
        made += [(rebuilt(wrong), what) for wrong, what in _wrong(part, names, family)]
    yield from shuffled(made, formula, draw)


def _parts(formula: Expr) -> Iterator[tuple[Callable[[Any], Expr], Expr]]:
    """Every part of a formula, with what makes the formula again from another such part."""
    yield (lambda wrong: wrong), formula
    for i, arg in enumerate(formula.args):
        for rebuilt, part in _parts(arg):

            def again(wrong: Any, i: int = i, rebuilt: Any = rebuilt) -> Expr:
                return formula.func(*formula.args[:i], rebuilt(wrong), *formula.args[i + 1 :])

            yield again, part


def _wrong(part: Expr, names: list[str], family: Family) -> Iterator[tuple[Expr, str]]:
    if isinstance(part, Add):
        for term in part.args:
            yield part - 2 * term, f"sign of {term}"
            yield part + term, f"factor 2 of {term}"
    if isinstance(part, Number) and part not in (0, 1, -1):
        yield part + 1, f"{part + 1} for {part}"
    if isinstance(part, Symbol):
        for other in names:
            if other != part.name and family(other) == family(part.name):
                yield Symbol(other), f"{other} for {part}"
