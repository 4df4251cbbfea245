"""``list --latex``: an article that a journal could print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..symbols import Symbol, escaped
from .listing import Listing
from .loops import Line
from .nodes import Index
from .sets import ONLY, Condition, Set
from .style import ATOM, PRODUCT, SUM, Style, summands
from .text import head, loops_told, sets_told, told, turn_told, where_told

HEAD = r"""\documentclass[10pt]{article}
\usepackage{amsmath,amssymb}
\usepackage[a4paper,margin=22mm]{geometry}
\setlength{\parindent}{0pt}
\allowdisplaybreaks
\begin{document}
"""
LONG = 70  # characters that are seen of a row of a formula


class Latex(Style):
    """Formulas in amsmath."""

    times, repeated = r"\,", r",\ "

    def index(self, index: Index) -> str:
        return super().index(index).replace("λ", r"\lambda")

    def subscript(self, indices: tuple[Index, ...]) -> str:
        texts = [self.index(i) for i in indices]
        comma = "," if any(len(t) > 1 for t in texts) else ""
        return f"_{{{comma.join(texts)}}}" if texts else ""

    def base(self, symbol: Symbol) -> str:
        return symbol.latex

    def _put(self, symbol: Symbol, index: tuple[Index, ...]) -> str:
        k = self.subscript(index)
        if symbol.latex.startswith("(v"):
            return rf"v{k} \times I{k} v{k}"
        base = symbol.latex
        if base.endswith("'"):
            return rf"{base[:-1]}'{k}"
        down = re.fullmatch(r"(.*)_\{(.*)\}", base)
        if down:  # an index of its own comes first
            return f"{down[1]}_{{{down[2]}{',' if k else ''}{k[2:-1]}}}"
        return base + k

    def transposed(self, text: str, level: int) -> str:
        if level != ATOM:
            return rf"\bigl({text}\bigr)^{{T}}"
        match = re.fullmatch(r"([A-Za-z]+)\^([A-Za-z])(_\{.*\})", text)
        if match:  # I^A_k transposed: both stand above
            return f"({text})^{{T}}"
        return f"{text}'^{{T}}" if text.endswith("'") else f"{text}^{{T}}"

    def inverted(self, text: str) -> str:
        return f"({text})^{{-1}}"

    def inverse(self, leaf: Any) -> str:
        return super().inverse(leaf).replace("⁻¹", "^{-1}")

    def product(self, parts: list[tuple[str, int]]) -> tuple[str, int]:
        fixed = [(rf"({t})", ATOM) if r" \times " in t and lv == PRODUCT else (t, lv) for t, lv in parts]
        return super().product(fixed)

    def fraction(self, above: str, level: int, below: str) -> str:
        if above.startswith("-") and level != SUM:
            return rf"-\frac{{{above[1:]}}}{{{below}}}"
        return rf"\frac{{{above}}}{{{below}}}"

    def function(self, name: str, args: tuple[Any, ...]) -> tuple[str, int]:
        return super().function(rf"\operatorname{{{name}}}", args)

    def bracket(self, text: str) -> str:
        return rf"\ [{text}]"

    def member(self, letter: str, s: Set) -> str:
        return rf"{letter} \in {self.set(s)}"

    def over(self, letter: str, s: Set) -> str:
        return rf"\sum_{{{self.member(letter, s)}}} "

    def set(self, s: Set) -> str:
        inside = f"({','.join(s.of)})" if s.of else ""
        more = rf",\,{ONLY[s.only].replace(' ', '')}" if s.only else ""
        return rf"\text{{{s.name}}}{inside}{more}"

    def condition(self, condition: Condition) -> str:
        return r"\text{ and }".join(map(self.typeset, self.tests(condition)))

    def typeset(self, test: str) -> str:
        """A test in words: letters of bodies, and relations, are mathematics."""
        if not re.fullmatch(r"\S+ [=≠<>∈∉] \S+", test):
            words = re.sub(r"\b([a-z])\b(?= (is|are|and|has|holds|goes|comes)\b|$)", r"$\1$", test)
            return rf"\text{{{words}}}"
        test = re.sub(r"([a-z]{2,})\(", r"\\text{\1}(", test)
        for sign, tex in (("≠", r"\ne"), ("∈", r"\in"), ("∉", r"\notin")):
            test = test.replace(sign, tex)
        return test


def latex(listing: Listing) -> str:
    """The listing as a standalone article."""
    style = Latex(listing.names.symbols, listing.scalar)
    parts = []
    for loop in listing.loops:
        words = re.sub(r"\bk\b|N_k [<>] \d", r"$\g<0>$", head(listing, loop))
        parts += [rf"\medskip\textbf{{{words[0].upper()}{words[1:]}}}", *aligned(style, loop.lines)]
    letters = (r"v \times I v" if s.latex.startswith("(v") else s.latex for s, _ in listing.legend())
    legend = [(letter, _words(what)) for letter, (_, what) in zip(letters, listing.legend(), strict=True)]
    title = f"{listing.order} on {listing.system.name}"
    return article(title, listing.source, legend, [*parts, _notes(listing)])


def article(title: str, source: str, legend: Iterable[tuple[str, str]], parts: Iterable[str]) -> str:
    """A document that compiles by itself: title and source, letters with what they are, and its parts."""
    head = [HEAD, rf"\section*{{{escaped(title)}}}"]
    head += [rf"{escaped(source)}.\par\medskip"] * bool(source)
    rows = "\n".join(rf"${letter}$ & {what} \\" for letter, what in legend)
    head.append(f"\\begin{{tabular}}{{@{{}}ll@{{}}}}\n{rows}\n\\end{{tabular}}\\par\\medskip")
    return "\n".join([*head, *parts, "\\end{document}\n"])


def aligned(style: Latex, lines: Iterable[Line]) -> list[str]:
    """Lines below each other at their equal signs; nothing where there are none."""
    made = " \\\\\n".join(row for line in lines for row in rows(style, line))
    return [f"\\begin{{align*}}\n{made}\n\\end{{align*}}"] * bool(made)


def _words(text: str) -> str:
    """Explanations: letters between words are left as they are."""
    return escaped(text).replace("Φ", r"$\Phi$").replace("¨", r"\"{}").replace("⁻¹", "$^{-1}$")


def rows(style: Latex, line: Line) -> Iterator[str]:
    """A long sum goes on in the next row, inside brackets too."""
    for left, right, notes, when in told(style, line):
        notes += [when] * bool(when)
        tail = rf"\qquad ({', '.join(notes)})" if notes else ""
        yield f"{left} &= " + " \\\\\n&".join(_filled(right, LONG)) + tail


def _filled(text: str, width: int) -> list[str]:
    """Rows of about this width, broken before a plus or a minus outside of braces."""
    rows, row = [], ""
    for piece in summands(text, "{", "}"):
        if row and len(_plain(row + piece)) > width:
            rows.append(row)
            row = r"\qquad{}" + piece
        else:
            row += piece
    return [*rows, row]


def _plain(text: str) -> str:
    """About what is seen of a formula."""
    return re.sub(r"\\(text|operatorname|qquad|bigl|bigr|frac|sum|lambda|,|in)|[{}_^]", "", text)


def _notes(listing: Listing) -> str:
    parents = r"$\lambda(k)$ is the parent of $k$; what holds $\lambda(k)$ is absent where there is none."
    lines = [parents] * (not listing.groups)
    for name, what in sets_told(listing):
        word, of, inside = name.partition("(")
        lines.append(rf"\text{{{word}}}{f'${of}{inside}$' if of else ''}: {_words(what)}.")
    others = *turn_told(listing), *loops_told(listing), *where_told(listing)
    lines += [_words(line).replace(r"N\_k", "$N_k$") for line in others]
    return "\\medskip{\\small\\raggedright\n" + "\\par\n".join(lines) + "\\par}"
