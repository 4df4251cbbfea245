"""A formula as text, read symbol by symbol into a sum of words that do not commute.

Two formulas are the same if their words are: products multiplied out, terms in any order, every
symbol in its place.  A quotient by a number, 1 / (s* I s), may stand anywhere in its product; the
inverse of a matrix may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pivotree.kkt import PivotreeError

Word = tuple[tuple[str, ...], tuple[str, ...]]  # symbols in order; numbers divided by, sorted
Sum = dict[Word, int]

_TOKEN = re.compile(
    r"\s*(?:(?P<sum>Σ_\{[^}]*\})|(?P<name>[A-Za-z]+(?:''|'|\*)?(?:\^A)?(?:_(?:\{[^}]*\}|λ\([a-z]\)"
    r"|[a-z0-9]))?ᵀ?)|(?P<mark>⁻¹|[-+/()×]))"
)


def read(text: str) -> Sum:
    """The words of a formula.  Raises PivotreeError at what is no symbol."""
    tokens = []
    place = 0
    while place < len(text.rstrip()):
        found = _TOKEN.match(text, place)
        if found is None:
            raise PivotreeError(f"formula {text!r}: cannot read {text[place:]!r}")
        if found["sum"] is None:  # a sum over children is read as its one term
            tokens.append(found["name"] or found["mark"])
        place = found.end()
    words, rest = _sum(tokens)
    if rest:
        raise PivotreeError(f"formula {text!r}: {' '.join(rest)!r} is left over")
    return words


def _sum(tokens: list[str]) -> tuple[Sum, list[str]]:
    total: Sum = {}
    sign = 1
    while True:
        if tokens and tokens[0] in "+-":
            sign = 1 if tokens[0] == "+" else -1
            tokens = tokens[1:]
        term, tokens = _product(tokens)
        for word, count in term.items():
            total[word] = total.get(word, 0) + sign * count
        if not tokens or tokens[0] not in "+-":
            return {word: count for word, count in total.items() if count}, tokens


def _product(tokens: list[str]) -> tuple[Sum, list[str]]:
    total: Sum = {((), ()): 1}
    while tokens and tokens[0] not in ("+", "-", ")"):
        if tokens[0] == "/":
            below, tokens = _factor(tokens[1:])
            total = _times(total, {((), (key(below),)): 1})
        else:
            factor, tokens = _factor(tokens)
            total = _times(total, factor)
    return total, tokens


def _factor(tokens: list[str]) -> tuple[Sum, list[str]]:
    if not tokens or tokens[0] == "⁻¹":
        raise PivotreeError("formula: a symbol is missing")
    if tokens[0] != "(":
        return {((tokens[0],), ()): 1}, tokens[1:]
    inner, rest = _sum(tokens[1:])
    if not rest or rest[0] != ")":
        raise PivotreeError("formula: a bracket is not closed")
    if rest[1:2] == ["⁻¹"]:  # of a matrix: a symbol that keeps its place
        return {((f"({key(inner)})⁻¹",), ()): 1}, rest[2:]
    return inner, rest[1:]


def _times(a: Sum, b: Sum) -> Sum:
    total: Sum = {}
    for (left, below), m in a.items():
        for (right, more), n in b.items():
            word = (left + right, tuple(sorted(below + more)))
            total[word] = total.get(word, 0) + m * n
    return total


def key(words: Sum) -> str:
    """One text for a formula, whatever the order of its terms."""
    return " + ".join(sorted(f"{n}·{' '.join(w)}/{'/'.join(d)}" for (w, d), n in words.items()))


def put(words: Sum, rules: Mapping[str, str]) -> Sum:
    """Symbols that follow each other replaced by others; divisors are rewritten too."""
    pairs = [(tuple(_symbols(old)), tuple(_symbols(new))) for old, new in rules.items()]
    total: Sum = {}
    for (symbols, below), count in words.items():
        divisors = []
        for one in below:
            text = f" {one} "
            for old, new in pairs:
                text = text.replace(" ".join(old), " ".join(new))
            divisors.append(text.strip())
        word = (_replaced(symbols, pairs), tuple(sorted(divisors)))
        total[word] = total.get(word, 0) + count
    return total


def _symbols(text: str) -> list[str]:
    ((word, _),) = read(text)
    return list(word)


def _replaced(word: tuple[str, ...], pairs: list[tuple[tuple[str, ...], tuple[str, ...]]]) -> tuple[str, ...]:
    for old, new in pairs:
        done: list[str] = []
        at = 0
        while at < len(word):
            if word[at : at + len(old)] == old:
                done += new
                at += len(old)
            else:
                done.append(word[at])
                at += 1
        word = tuple(done)
    return word


def in_one_frame(text: str) -> str:
    """A line of a listing with i for k, i+1 for a child, i-1 for the parent, and X = 1."""
    text = re.sub(r"X_[kc]ᵀ?", "", text)
    text = re.sub(r"_λ\(k\)", "_{i-1}", text)
    text = re.sub(r"_c(?![a-z])", "_{i+1}", text)
    return re.sub(r"_k(?![a-z])", "_i", text)
