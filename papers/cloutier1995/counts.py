"""Table of section 3.4: operations of ABM and CRBM for n links, and where they cross.

Printed are Featherstone's polynomials.  Ours are fitted to counted programs of the solution of
equation (4) on Denavit-Hartenberg frames, and proved for all n; poses and bias are not in them
(docs/counts.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pivotree.analysis.counts import COUNTS, Count, crossings, polynomial, text_of

from ..paper import Progress
from ..row import Value, value, within

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


def values(found: Counts) -> Iterator[Value]:
    frames = "" if found.family == "dh" else "not the literature's frames"
    for one in COUNTS:
        ours, power = found.counts[one.order], LEADING[one.order]
        for kind, name in NAMES.items():
            p, said = ours.polynomials[kind], one.polynomials[kind]
            lead, asked = (float(x[power]) for x in (p, said))
            same = p.degree() == power and within(asked, lead, 0.10 if power == 1 else 0.0)
            words = {"method": one.method, "kind": name, "power": power, "links": AT}
            words |= {"said": text_of(said), "here": text_of(p), "status": ours.status}
            yield value(f"{one.order}_lead", lead, same, none=frames, printed=asked, **words)
            yield value(f"{one.order}_whole", int(p(AT)), none=frames, printed=int(said(AT)), **words)
    (abm, crbm), ours_ = COUNTS, found.roots()
    theirs = crossings(crbm.polynomials, abm.polynomials)
    for kind, name in (*NAMES.items(), ("both", "both")):
        first, other = theirs[kind].first, "" if kind == "mul" else "_other"
        cross, own = (None if x is None else round(x, 2) for x in (theirs[kind].root, ours_[kind]))
        last = None if first is None else first - 1
        yield value(f"overtakes{other}", last, kind=name, cross=cross)
        yield value(f"overtakes_here{other}", own, kind=name, family=found.family)


def figures(found: Counts, style: str) -> dict[str, Any]:
    from .pictures import crossing

    if found.family != "dh":
        return {}
    return {"counts": crossing(found.counts["crbm"], found.counts["abm"], style)}
