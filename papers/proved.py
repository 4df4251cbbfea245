"""The equations of a paper that ``pivotree prove`` proves, as rows: all whose source names it."""

from __future__ import annotations

import re
from collections.abc import Callable

from pivotree.analysis.proofs import statements
from pivotree.analysis.proofs.prove import Proof, prove
from pivotree.kkt import PivotreeError

from .item import Progress, Results
from .row import Row


def equations(title: str) -> Callable[..., Results]:
    """``measure`` of the equations of a paper, which sources of statements name by ``title``."""

    def measure(progress: Progress, *, only: str = "") -> Results:
        return rows(progress, title, only)

    return measure


def rows(progress: Progress, title: str, only: str = "") -> Results:
    """Statements of a paper, in the order of its equations; those whose name holds ``only``.

    ``title`` is the paper as sources name it.  Raises PivotreeError where there are none.
    """
    found = {
        name: place
        for name, s in statements().items()
        if (place := s.place(title)) is not None and only in name
    }
    if not found:
        raise PivotreeError("equations", f"no statement of {title} has {only!r} in its name")
    names = sorted(found, key=lambda name: _order(found[name]))
    for proof in prove(names, done=lambda proof: progress(f"{proof.name}: {proof.status}")):
        yield told(found[proof.name], proof)


def told(place: str, p: Proof) -> Row:
    """The row of a statement; what proves that a printed formula is wrong refutes the formula."""
    ours = f"{p.status}: {p.claims} equalities"
    if "misprint" in p.name and p.holds:
        asked = "the printed one is right"
        return Row(f"{place}: {p.name}", "the formula", ours, asked, None, p.says, refuted=True)
    return Row(f"{place}: {p.name}", p.says, ours, "proved", p.holds, p.why)


def _order(place: str) -> tuple[bool, list[int]]:
    """Equations by their numbers, what has none after them."""
    equation = re.search(r"\((\d[\d.]*)\)", place)
    number = re.findall(r"\d+", equation[1] if equation else place)
    return equation is None, [int(x) for x in number]
