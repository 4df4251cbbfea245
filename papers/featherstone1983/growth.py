"""O(n): RNEA and ABA are linear, inertia by unit vectors and CRBA not; where ABA overtakes.

Counts of our own are polynomials fitted exactly to counted programs, and proved where the program
repeats; those of the literature are held beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flint import fmpq_poly

from pivotree import kkt, orderings
from pivotree.analysis.counts import COUNTS, Count, Crossover, crossings, family_of, fit, polynomial, text_of
from pivotree.kkt import default_state

from ..item import Progress
from ..row import Value, value
from ..unit_vectors import dense_solution, operations

AT = 10  # links at which counts are compared
WHOLE: dict[str, dict[str, str]] = {"abm": {}, "crbm": {"solver": "cholesky", "bias": "inverse_dynamics"}}


@dataclass(frozen=True)
class Growth:
    family: str
    counts: Mapping[str, Count]  # inverse_dynamics, abm, crbm
    columns: fmpq_poly | None  # multiplications of the bias and every column by inverse dynamics
    ours: Mapping[str, Crossover]  # crbm over abm
    whole: Mapping[str, fmpq_poly]  # multiplications from joint positions on, bias included
    from_q: Mapping[str, Crossover]  # crossing of these
    theirs: Mapping[str, Crossover]  # of the printed counts


def measure(progress: Progress, *, family: str = "dh") -> Growth:
    """On a family of analysis.counts; the literature counts on Denavit-Hartenberg frames, as dh."""
    counts = {}
    for name in ("inverse_dynamics", "abm", "crbm"):
        progress(f"{name} on {family}")
        counts[name] = polynomial(name, family)
    progress("unit vectors")
    chosen = family_of(family)
    columns = {}
    for n in range(1, 8):
        system = chosen.system(n)
        N = len(system.entries.tau)
        columns[n] = operations(system).whole[0] - dense_solution(N)[0]
    law = fit(columns)
    whole = {}
    for name, options in WHOLE.items():
        progress(f"{name} from joint positions on")
        told = {n: compiled(family, n, name, options) for n in range(2, 12)}
        fits = {kind: fit({n: c[kind] for n, c in told.items()}) for kind in ("mul", "add")}
        whole[name] = {kind: found[0] for kind, found in fits.items() if found is not None}
    start = max(counts[name].holds_from or 1 for name in ("abm", "crbm"))
    abm, crbm = COUNTS
    return Growth(
        family,
        counts,
        None if law is None else law[0],
        crossings(counts["crbm"].polynomials, counts["abm"].polynomials, start),
        {name: laws["mul"] for name, laws in whole.items()},
        crossings(whole["crbm"], whole["abm"], 2),
        crossings(crbm.polynomials, abm.polynomials),
    )


def compiled(family: str, n: int, order: str, options: Mapping[str, Any]) -> dict[str, int]:
    """Operations of forward dynamics from q on, sines and cosines apart, constants folded."""
    tree = default_state(family_of(family).build(n))
    return kkt.compile(tree, orderings.get(order), **options).operations


def values(found: Growth) -> Iterator[Value]:
    for name, order in (("rnea", "inverse_dynamics"), ("aba", "abm")):
        count = found.counts[order]
        mul, add = (text_of(count.polynomials[kind]) for kind in ("mul", "add"))
        linear = count.degree == 1 and count.proved_from is not None
        yield value(name, f"{mul} mul, {add} add", linear, order=order, status=count.status)
    crbm, columns = found.counts["crbm"], found.columns
    ours = None if columns is None else f"{text_of(columns)} mul"
    yield value("columns", ours, columns is not None and columns.degree() == 2)
    ours = f"{text_of(crbm.polynomials['mul'])} mul"
    yield value("crba", ours, crbm.degree == 3, status=crbm.status)
    frames = "" if found.family == "dh" else "not the literature's frames"
    for name, order, said in (("aba_from_q", "abm", COUNTS[0].mul), ("crba_from_q", "crbm", COUNTS[1].mul)):
        law, at = found.whole[order], {"printed": int(said(AT)), "links": AT}
        yield value(name, int(law(AT)), none=frames, said=text_of(said), here=text_of(law), **at)
    cross = {kind: _last(found.from_q[kind]) for kind in ("mul", "both")}
    yield value("overtakes_from_q", cross["mul"], none=frames, both=cross["both"])
    for kind, what in (("mul", "multiplications"), ("add", "additions"), ("both", "both")):
        literal = "" if kind == "mul" else "_other"
        yield value(f"overtakes_printed{literal}", _last(found.theirs[kind]), what=what)
        yield value(f"overtakes{literal}", _last(found.ours[kind]), what=what, family=found.family)


def _last(one: Crossover) -> int | str:
    """The last N before ABA is the cheaper one."""
    return "every N" if one.first is None else one.first - 1


def figures(found: Growth, style: str) -> dict[str, Any]:
    from .pictures import growth

    return {"growth": growth(found, style)}
