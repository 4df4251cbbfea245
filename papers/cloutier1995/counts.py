"""Table of section 3.4: operations of ABM and CRBM for n links, and where they cross.

Printed are Featherstone's polynomials.  Ours are fitted to counted programs of the solution of
equation (4) on Denavit-Hartenberg frames, and proved for all n; poses and bias are not in them
(docs/counts.md).
"""

from __future__ import annotations

from pivotree.analysis.counts import COUNTS, crossings, polynomial, text_of

from ..item import Progress, Results, picture, value, within

NAMES = {"mul": "multiplications", "add": "additions"}
LEADING = {"abm": 1, "crbm": 3}  # power of n that the counts grow with
AT = 10  # links at which whole counts are compared


def measure(progress: Progress, *, family: str = "dh") -> Results:
    """Both orders on a family of analysis.counts, such as planar."""
    frames, found = "" if family == "dh" else "not the literature's frames", {}
    for one in COUNTS:
        progress(f"{one.order} on {family}")
        ours = found[one.order] = polynomial(one.order, family)
        power = LEADING[one.order]
        for kind, name in NAMES.items():
            p, said = ours.polynomials[kind], one.polynomials[kind]
            lead, asked = (float(x[power]) for x in (p, said))
            same = p.degree() == power and within(asked, lead, 0.10 if power == 1 else 0.0)
            words = {"method": one.method, "kind": name, "power": power, "links": AT}
            words |= {"said": text_of(said), "here": text_of(p), "status": ours.status}
            yield value(f"{one.order}_lead", lead, same, none=frames, printed=asked, **words)
            yield value(f"{one.order}_whole", int(p(AT)), none=frames, printed=int(said(AT)), **words)
    abm, crbm = COUNTS
    here = crossings(found["crbm"].polynomials, found["abm"].polynomials)["mul"].root
    theirs = crossings(crbm.polynomials, abm.polynomials)["mul"]
    cross, own = (None if root is None else round(root, 2) for root in (theirs.root, here))
    yield value("overtakes", None if theirs.first is None else theirs.first - 1, cross=cross)
    yield value("overtakes_here", own, family=family)
    if family == "dh":
        yield picture("counts", "crossing", found["crbm"], found["abm"])
