"""Formulas with one thing wrong: a sign, a transpose, an index or a factor."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from sympy import Identity, Inverse, MatAdd, MatMul, MatrixExpr, MatrixSymbol, Transpose, ZeroMatrix

Path = tuple[int, ...]  # from argument to argument down to a part of a formula


def mutants(formula: MatrixExpr, draw: random.Random) -> Iterator[tuple[MatrixExpr, str]]:
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
