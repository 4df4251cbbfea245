"""O(n): RNEA and ABA are linear, CRBA is not; where ABA overtakes.

Counts of our own are polynomials fitted exactly to counted programs, and proved where the program
repeats; those of the literature are held beside them.
"""

from __future__ import annotations

from typing import Any

from flint import fmpq_poly

from pivotree import kkt, orderings
from pivotree.analysis.counts import COUNTS, Crossover, crossings, family_of, fit, polynomial, text_of
from pivotree.kkt import default_state

from ..item import Progress, Results, picture, value

AT = 10  # links at which counts are compared
WHOLE: dict[str, dict[str, Any]] = {"abm": {}, "crbm": {"solver": "cholesky", "bias": "inverse_dynamics"}}


def measure(progress: Progress, *, family: str = "dh") -> Results:
    """On a family of analysis.counts; the literature counts on Denavit-Hartenberg frames, as dh."""
    counts = {}
    for name in ("inverse_dynamics", "abm", "crbm"):
        progress(f"{name} on {family}")
        counts[name] = polynomial(name, family)
    for name, order in (("rnea", "inverse_dynamics"), ("aba", "abm")):
        count = counts[order]
        mul, add = (text_of(count.polynomials[kind]) for kind in ("mul", "add"))
        linear = count.degree == 1 and count.proved_from is not None
        yield value(name, f"{mul} mul, {add} add", linear, order=order, status=count.status)
    crbm = counts["crbm"]
    yield value("crba", f"{text_of(crbm.polynomials['mul'])} mul", crbm.degree == 3, status=crbm.status)
    frames, whole = "" if family == "dh" else "not the literature's frames", {}
    for order, said in (("abm", COUNTS[0].mul), ("crbm", COUNTS[1].mul)):
        progress(f"{order} from joint positions on")
        laws = whole[order] = from_positions(family, order)
        words = {"said": text_of(said), "here": text_of(laws["mul"]), "links": AT, "none": frames}
        name = "aba_from_q" if order == "abm" else "crba_from_q"
        yield value(name, int(laws["mul"](AT)), printed=int(said(AT)), **words)
    cross = {kind: _last(one) for kind, one in crossings(whole["crbm"], whole["abm"], 2).items()}
    yield value("overtakes_from_q", cross["mul"], none=frames, both=cross["both"])
    start = max(counts[name].holds_from or 1 for name in ("abm", "crbm"))
    here = crossings(crbm.polynomials, counts["abm"].polynomials, start)
    theirs = crossings(COUNTS[1].polynomials, COUNTS[0].polynomials)
    yield value("overtakes_printed", _last(theirs["mul"]))
    yield value("overtakes", _last(here["mul"]), family=family)
    yield picture("growth", "growth", family, counts)


def from_positions(family: str, order: str) -> dict[str, fmpq_poly]:
    """Multiplications and additions of forward dynamics from q on, bias included.

    Sines and cosines apart, the model's constants folded.
    """
    told = {}
    for n in range(2, 12):
        tree = default_state(family_of(family).build(n))
        told[n] = kkt.compile(tree, orderings.get(order), **WHOLE[order]).operations
    fits = {kind: fit({n: count[kind] for n, count in told.items()}) for kind in ("mul", "add")}
    return {kind: found[0] for kind, found in fits.items() if found is not None}


def _last(one: Crossover) -> int | str:
    """The last N before ABA is the cheaper one."""
    return "every N" if one.first is None else one.first - 1
