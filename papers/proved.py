"""The equations of a paper that ``pivotree prove`` proves, as rows: all whose source names it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pivotree.analysis.proofs import statements
from pivotree.analysis.proofs.prove import Proof, prove_one
from pivotree.kkt import PivotreeError

from .item import Progress
from .row import Row

Proved = list[tuple[str, Proof]]  # where in the paper, and the proof


def equations(title: str) -> Callable[..., Proved]:
    """``measure`` of the equations of a paper, which sources of statements name by ``title``."""

    def measure(progress: Progress, *, only: str = "") -> Proved:
        return prove(progress, title, only)

    return measure


def prove(progress: Progress, title: str, only: str = "") -> Proved:
    """Statements of a paper, in the order of its equations; those whose name holds ``only``.

    ``title`` is the paper as sources name it.  Raises PivotreeError where there are none.
    """
    found = {
        name: place
        for name, s in statements().items()
        if (place := s.place(title)) is not None and only in name
    }
    if not found:
        raise PivotreeError(f"equations: no statement of {title} has {only!r} in its name")
    result = []
    for name in sorted(found, key=lambda name: _order(found[name])):
        result.append((found[name], prove_one(name, progress)))
    return result


def values(found: Proved) -> Iterator[Row]:
    """A row for each statement; what proves that a printed formula is wrong refutes the formula."""
    for place, p in found:
        told = f"{p.status}: {p.claims} equalities"
        if "misprint" in p.name and p.holds:
            asked = "the printed one is right"
            yield Row(f"{place}: {p.name}", "the formula", told, asked, None, p.says, refuted=True)
        else:
            yield Row(f"{place}: {p.name}", p.says, told, "proved", p.holds, p.why)


def _order(place: str) -> tuple[bool, list[int]]:
    """Equations by their numbers, what has none after them."""
    equation = re.search(r"\((\d[\d.]*)\)", place)
    number = re.findall(r"\d+", equation[1] if equation else place)
    return equation is None, [int(x) for x in number]
