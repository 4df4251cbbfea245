"""Table of section 3.4: operations of ABM and CRBM for n links, and where they cross.

Printed are Featherstone's polynomials.  Ours are fitted to counted programs of the solution of
equation (4) on Denavit-Hartenberg frames, and proved for all n; poses and bias are not in them
(docs/counts.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pivotree.analysis.counts import COUNTS, Count, crossings, polynomial, text_of

from ..paper import Progress, printed
from ..row import Row, within

NAMES = {"mul": "multiplications", "add": "additions"}
LEADING = {"abm": 1, "crbm": 3}  # power of n that the counts grow with
AT = 10  # links at which whole counts are compared


@dataclass(frozen=True)
class Counts:
    """Polynomials of the two orders on one family of robots."""

    family: str
    counts: dict[str, Count]  # order -> counts

    def roots(self) -> dict[str, float | None]:
        """kind -> n from which ABM is the cheaper one."""
        found = crossings(self.counts["crbm"].polynomials, self.counts["abm"].polynomials)
        return {kind: crossing.root for kind, crossing in found.items()}


def measure(progress: Progress, *, family: str = "dh") -> Counts:
    """Both orders on a family of analysis.counts, such as planar."""
    found = {}
    for one in COUNTS:
        progress(f"{one.order} on {family}")
        found[one.order] = polynomial(one.order, family)
    return Counts(family, found)


def rows(found: Counts) -> list[Row]:
    result = []
    for one in COUNTS:
        ours, power = found.counts[one.order], LEADING[one.order]
        for kind, name in NAMES.items():
            p, said = ours.polynomials[kind], one.polynomials[kind]
            lead, asked = (float(x[power]) for x in (p, said))
            share = 0.10 if power == 1 else 0.0
            own = found.family == "dh"
            criterion = "within 10 %" if power == 1 else "the same"
            met = p.degree() == power and within(asked, lead, share) if own else None
            here = f"{text_of(said)} in print, here {text_of(p)} ({ours.status})"
            result.append(
                Row(
                    f"{one.method}, {name}, coefficient of n^{power}",
                    asked,
                    lead,
                    criterion if own else "none: not the literature's frames",
                    met,
                    here,
                )
            )
            near = within(float(said(AT)), float(p(AT)), 0.10) if own else None
            result.append(
                Row(
                    f"{one.method}, {name}, {AT} links",
                    int(said(AT)),
                    int(p(AT)),
                    "within 10 %" if own else "none: not the literature's frames",
                    near,
                    here
                    if power == 1
                    else f"{here}; ours moves composites as 6 x 6 matrices, and has no bias and no poses",
                )
            )
    return result + _crossings(found)


def _crossings(found: Counts) -> list[Row]:
    (abm, crbm), known = COUNTS, printed("cloutier1995")["counts"]
    theirs, ours = crossings(crbm.polynomials, abm.polynomials), found.roots()
    result = []
    for kind, name in (*NAMES.items(), ("both", "both")):
        first, printed_ = theirs[kind].first, kind == "mul"
        last = None if first is None else first - 1
        cross, own = (None if x is None else round(x, 2) for x in (theirs[kind].root, ours[kind]))
        result += [
            Row(
                f"n up to which CRBM takes fewer, {name}, printed formulas",
                known["overtakes"] if printed_ else None,
                last,
                "the same" if printed_ else "none: the thesis's n is that of multiplications",
                last == known["overtakes"] if printed_ else None,
                f"{name}: they cross at {cross}",
            ),
            Row(
                f"the same, {name}, solution of (4) on {found.family}",
                known["overtakes"] if printed_ else None,
                own,
                "none: bias and poses, which the methods share, are not counted",
                None,
            ),
        ]
    return result


def figures(found: Counts, style: str) -> dict[str, Any]:
    from .counts_picture import picture

    if found.family != "dh" or style == "gray":
        return {}
    return {"counts": picture(found.counts["crbm"], found.counts["abm"], dark=style == "dark")}
