"""Lines of ``pivotree list`` beside formulas of the slides, on models whose joints have one freedom.

So s* I s is a number.  A formula as text is read by sympy as a sum of products of symbols that do not
commute.  Two formulas are the same if they are so multiplied out: terms in any order, every symbol in its
place.  A quotient by a number, 1 / (s* I s), may stand anywhere in its product; the inverse of a matrix
may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from tokenize import TokenError
from typing import Any

from sympy import Expr, Pow, Symbol, expand
from sympy.parsing.sympy_parser import parse_expr

from pivotree import kkt
from pivotree.analysis import listing
from pivotree.analysis.listing import full
from pivotree.kkt import PivotreeError

from ..item import Progress, Results, picture, printed
from ..row import Row

CRITERION = "the same symbols, multiplied out, X = 1"


@dataclass(frozen=True)
class Beside:
    """One formula, as the slides have it and as the order's listing does."""

    slide: str
    printed: str
    line: str  # left side in the listing
    ours: str  # right side as listed
    same: bool


def rnea(progress: Progress, *, model: str = "chain:6") -> Results:
    """The recursive Newton-Euler algorithm: inverse dynamics lists steps 1 to 3 of the slides."""
    return rows(progress, "rnea", "inverse_dynamics", model)


def aba(progress: Progress, *, model: str = "chain:6") -> Results:
    """Featherstone's algorithm: the order abm lists the slides' I^A, p, q'' and a, (I) to (VI)."""
    return rows(progress, "aba", "abm", model)


def rows(progress: Progress, part: str, order: str, model: str) -> Results:
    """The formulas of a part of the slides."""
    progress(f"listing {order}")
    beside = compared(part, listing.of(kkt.build(kkt.load(model)), order, "featherstone"))
    for one in beside:
        ours, why = f"{one.line} = {one.ours}", "" if one.same else "the words differ"
        yield Row(one.slide, one.printed, ours, CRITERION, one.same, why)
    yield picture(part, "page", order, beside)


def compared(part: str, told: Any) -> list[Beside]:
    """Every formula of a part of the slides, beside its line of a listing."""
    data, lines = printed("featherstone1983"), listed(told)
    return [_beside(row, lines, data["rules"]) for row in data[part]]


def listed(told: Any) -> dict[str, str]:
    """Left side -> right side, recursions in full where they are; a body that has a parent."""
    texts = full(told) or [line.replace("←", "=") for line in listing.render(told, "pseudocode").splitlines()]
    result: dict[str, str] = {}
    for text in texts:
        left, equals, right = text.strip().partition(" = ")
        right, _, condition = right.partition("   if ")
        if equals and "a root" not in condition:
            result[left] = right.strip()
    return result


def _beside(row: dict[str, Any], lines: dict[str, str], rules: dict[str, str]) -> Beside:
    formula = row["formula"]
    for symbol, meaning in row.get("where", {}).items():
        formula = formula.replace(symbol, f"({meaning})")
    ours = lines.get(row["line"], "")
    mine = in_one_frame(ours)
    if row.get("leaf"):  # link 2 hangs on link 1 and carries nothing
        mine = mine.replace("I^A_{i+1}", "I_2").replace("p^A_{i+1}", "v_2 × I_2 v_2")
        mine = mine.replace("_{i+1}", "_2").replace("_i", "_1")
    theirs = put(read(formula), rules)
    same = bool(ours) and key(read(mine)) == key(theirs)
    return Beside(row["slide"], row["formula"], row["line"], ours, same)


# -- formulas ---------------------------------------------------------------------------------------

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
            raise PivotreeError(f"formula {text!r}", f"cannot read {text[place:]!r}")
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
        raise PivotreeError(f"formula {text!r}", f"is no sum of products ({type(error).__name__})") from None
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
