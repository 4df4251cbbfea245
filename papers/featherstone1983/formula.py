"""A formula as text, read by sympy as a sum of products of symbols that do not commute.

Two formulas are the same if they are so multiplied out: terms in any order, every symbol in its
place.  A quotient by a number, 1 / (s* I s), may stand anywhere in its product; the inverse of a
matrix may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from tokenize import TokenError
from typing import Any

from sympy import Expr, Pow, Symbol, expand
from sympy.parsing.sympy_parser import parse_expr

from pivotree.kkt import PivotreeError

_TOKEN = re.compile(
    r"\s*(?:(?P<sum>Σ_\{[^}]*\})|(?P<name>[A-Za-z]+(?:''|'|\*)?(?:\^A)?(?:_(?:\{[^}]*\}|λ\([a-z]\)"
    r"|[a-z0-9]))?ᵀ?|×)|(?P<mark>⁻¹|[-+/()]))"
)

INVERSE = Symbol("inverse")  # the exponent of a matrix's, which keeps its place


def read(text: str) -> Expr:
    """A formula in symbols.  Raises PivotreeError at what is none.

    A sum over children is read as its one term.
    """
    symbols: dict[str, Symbol] = {}
    written, place, open_ = "", 0, False  # open_: a product may go on
    while place < len(text.rstrip()):
        found = _TOKEN.match(text, place)
        if found is None:
            raise PivotreeError(f"formula {text!r}: cannot read {text[place:]!r}")
        name, mark, place = found["name"], found["mark"], found.end()
        if name or mark == "(":
            written += "*" if open_ else ""
        if name:
            letter = f"n{len(symbols)}_"
            symbols[letter] = Symbol(name, commutative=False)
        written += letter if name else "**inverse" if mark == "⁻¹" else mark or ""
        open_ = bool(name) or mark in (")", "⁻¹") or (open_ and mark is None)
    try:
        result: Any = parse_expr(written, local_dict={**symbols, "inverse": INVERSE})
    except (SyntaxError, TypeError, ValueError, TokenError) as error:
        raise PivotreeError(f"formula {text!r}: is no sum of products ({type(error).__name__})") from None
    return result


def key(formula: Expr) -> str:
    """One text for a formula multiplied out; quotients by numbers commute with all symbols."""

    def settled(e: Pow) -> Expr:
        name = f"({key(e.base)})"
        if e.exp == INVERSE:
            return Symbol(f"{name}⁻¹", commutative=False)
        return Symbol(f"1/{name}") ** -e.exp

    def inverted(e: Expr) -> bool:
        return isinstance(e, Pow) and bool(e.exp == INVERSE or e.exp.is_negative)

    return str(expand(formula.replace(inverted, settled)))


def put(formula: Expr, rules: Mapping[str, str]) -> Expr:
    """Symbols that follow each other replaced by others, in divisors too."""
    for old, new in rules.items():
        formula = expand(formula, power_base=False).subs(read(old), read(new))  # a quotient stays whole
    return formula


def in_one_frame(text: str) -> str:
    """A line of a listing with i for k, i+1 for a child, i-1 for the parent, and X = 1."""
    text = re.sub(r"X_[kc]ᵀ?", "", text)
    text = re.sub(r"_λ\(k\)", "_{i-1}", text)
    text = re.sub(r"_c(?![a-z])", "_{i+1}", text)
    return re.sub(r"_k(?![a-z])", "_i", text)
