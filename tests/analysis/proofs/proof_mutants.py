"""Claims falsified on purpose: a sign, a transpose, an index, a factor or a place is wrong.

Every reader must refuse each of them by itself, without help of exact numbers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sympy import (
    Add,
    Expr,
    Identity,
    Inverse,
    MatAdd,
    MatMul,
    MatrixExpr,
    MatrixSymbol,
    Number,
    Symbol,
    Transpose,
    ZeroMatrix,
)

from pivotree.analysis.proofs.claim import FRACTIONS, PROVED, Equal, Misprint
from pivotree.analysis.proofs.scalars import Same

Family = Callable[[str], str]
Path = tuple[int, ...]  # from argument to argument down to a part of a formula


def refused(claim: Any) -> dict[str, bool]:
    """Whether each reader alone, without exact numbers, refuses to call a claim proved."""
    found = claim.decide()
    if isinstance(claim, Misprint):  # its readers say whether they refuse what is printed
        return {reader: status != PROVED for reader, status in found.readers.items()}
    if not found.readers:
        return {"engine": found.status != PROVED}
    return {reader: status != PROVED for reader, status in found.readers.items() if reader != FRACTIONS}


def chosen(claims: list[Any], most: int, draw: random.Random) -> list[Any]:
    """Mutants taken from the claims in turn, those of long formulas first."""
    ordered = draw.sample(claims, len(claims))
    ordered.sort(key=lambda claim: -len(str(getattr(claim, "right", ""))))
    waiting = [mutants(claim, draw) for claim in ordered]
    taken: list[Any] = []
    while waiting and len(taken) < most:
        source = waiting.pop(0)
        found = next(source, None)
        if found is not None:
            taken.append(found)
            waiting.append(source)
    return taken


def mutants(claim: Any, draw: random.Random) -> Iterator[Any]:
    """A claim with one thing wrong; one that changes no value is no mutant."""
    if isinstance(claim, Equal):
        yield from _of_equal(claim, draw)
    elif isinstance(claim, Misprint):
        yield Misprint(replace(claim.printed, right=claim.meant), claim.meant)
    elif isinstance(claim, Same):
        yield from _of_same(claim, draw)


def _of_equal(claim: Equal, draw: random.Random) -> Iterator[Equal]:
    """The right side, or the left where it is typed, with one thing wrong."""
    for side in ("right", "left"):
        formula = getattr(claim, side)
        point = claim.bench.field(0)
        value = point.value(formula)
        multiples, later = [value * c for c in (-2, -1, 0, 2)], []
        for wrong, what in of_blocks(formula, draw):
            number = point.value(wrong)
            mutant = replace(claim, text=f"{claim.text} [{what}]", **{side: wrong})
            if np.array_equal(number, value):
                continue
            if any(
                np.array_equal(number, other) for other in multiples
            ):  # of the whole: easily seen, so the last to be taken
                later.append(mutant)
            else:
                yield mutant
        yield from later


def _of_same(claim: Same, draw: random.Random) -> Iterator[Same]:
    for side in ("right", "left"):
        formula = getattr(claim, side)
        if isinstance(formula, Symbol) and ":" in formula.name:
            continue
        for wrong, what in of_scalars(formula, draw, claim.arm.letters):
            if claim._number(wrong, 0) != claim._number(formula, 0):
                yield replace(claim, text=f"{claim.text} [{what}]", **{side: wrong})


# -- formulas of blocks ---------------------------------------------------------------------------


def of_blocks(formula: MatrixExpr, draw: random.Random) -> Iterator[tuple[MatrixExpr, str]]:
    """Wrong formulas of the same shape, in random order, each with what was done to it."""
    symbols = sorted(formula.atoms(MatrixSymbol), key=str)
    made: list[tuple[MatrixExpr, str]] = []
    for place, part in places(formula):
        for wrong, what in _wrong(part, symbols):
            if wrong.shape == part.shape:
                made.append((_put(formula, place, wrong), what))
    yield from shuffled(made, formula, draw)


def shuffled(made: list[tuple[Any, str]], formula: Any, draw: random.Random) -> Iterator[tuple[Any, str]]:
    """What was made of a formula, in random order, each once and never the formula itself."""
    draw.shuffle(made)
    seen = {formula}
    for wrong, what in made:
        if wrong not in seen:
            seen.add(wrong)
            yield wrong, what


def places(formula: MatrixExpr, at: Path = ()) -> Iterator[tuple[Path, MatrixExpr]]:
    """Every part of a formula that is itself a block."""
    yield at, formula
    if isinstance(formula, MatAdd | MatMul | Transpose | Inverse):
        for i, arg in enumerate(formula.args):
            if isinstance(arg, MatrixExpr):
                yield from places(arg, (*at, i))


def _wrong(part: MatrixExpr, symbols: list[MatrixSymbol]) -> Iterator[tuple[MatrixExpr, str]]:
    if isinstance(part, MatAdd):
        for i, term in enumerate(part.args):
            rest = [arg for j, arg in enumerate(part.args) if j != i]
            yield MatAdd(*rest, -term), f"sign of {term}"
            yield MatAdd(*rest, 2 * term), f"factor 2 of {term}"
    if isinstance(part, MatMul):
        for i, factor in enumerate(part.args):
            rest = [*part.args[:i], *part.args[i + 1 :]]
            blocks = any(isinstance(other, MatrixExpr) for other in rest)
            if blocks and isinstance(factor, MatrixExpr) and factor.is_square:
                yield MatMul(*rest), f"factor {factor} left out"
    if isinstance(part, MatrixSymbol | Inverse) and part.is_square:
        yield part.T, f"transpose of {part}"
    if isinstance(part, Transpose) and part.is_square:
        yield part.arg, f"transpose of {part}"
    if isinstance(part, MatrixSymbol):
        for other in symbols:
            if other != part and _family(other) == _family(part):
                yield other, f"index: {other} for {part}"
    if isinstance(part, Identity | ZeroMatrix | MatrixSymbol):
        yield -part if not isinstance(part, ZeroMatrix) else part, f"sign of {part}"
    if isinstance(part, ZeroMatrix):
        for other in symbols:
            yield part + other, f"{other} added to 0"


def _family(symbol: MatrixSymbol) -> str:
    """The letters of a symbol without its bodies."""
    return re.sub(r"\d+", "", symbol.name)


def _put(formula: MatrixExpr, place: Path, wrong: MatrixExpr) -> MatrixExpr:
    if not place:
        return wrong
    args: list[Any] = list(formula.args)
    args[place[0]] = _put(args[place[0]], place[1:], wrong)
    rebuild: Callable[..., MatrixExpr] = formula.func
    return rebuild(*args)


# -- formulas of scalars --------------------------------------------------------------------------


def letters(name: str) -> str:
    """The family of a paper's symbol: its name without numbers and coordinates."""
    return re.sub(r"\d+[xyz]?", "", name)


def of_scalars(
    formula: Expr, draw: random.Random, symbols: Iterable[str], family: Family = letters
) -> Iterator[tuple[Expr, str]]:
    """Formulas with one sign, index, factor or constant wrong, in random order, and what it is.

    A symbol is exchanged for one of ``symbols`` that is of its family.
    """
    names = sorted(symbols)
    made = [(-formula, "sign of all")]
    for rebuilt, part in _scalar_parts(formula):
        made += [(rebuilt(wrong), what) for wrong, what in _wrong_scalar(part, names, family)]
    yield from shuffled(made, formula, draw)


def _scalar_parts(formula: Expr) -> Iterator[tuple[Callable[[Any], Expr], Expr]]:
    """Every part of a formula, with what makes the formula again from another such part."""
    yield (lambda wrong: wrong), formula
    for i, arg in enumerate(formula.args):
        for rebuilt, part in _scalar_parts(arg):

            def again(wrong: Any, i: int = i, rebuilt: Any = rebuilt) -> Expr:
                return formula.func(*formula.args[:i], rebuilt(wrong), *formula.args[i + 1 :])

            yield again, part


def _wrong_scalar(part: Expr, names: list[str], family: Family) -> Iterator[tuple[Expr, str]]:
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
