"""O(n): RNEA and ABA are linear, inertia by unit vectors and CRBA not; where ABA overtakes.

Counts of our own are polynomials fitted exactly to counted programs, and proved where the program
repeats; those of the literature are held beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import fmpq_poly

from pivotree import kkt, orderings
from pivotree.analysis.counts import COUNTS, Count, Crossover, crossings, family_of, fit, polynomial, text_of
from pivotree.kkt import default_state

from ..paper import Progress, printed
from ..row import Row, within
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


def rows(found: Growth) -> list[Row]:
    paper = printed("featherstone1983")["growth"]
    result = []
    for item, order in (("RNEA", "inverse_dynamics"), ("ABA", "abm")):
        count = found.counts[order]
        mul, add = (text_of(count.polynomials[kind]) for kind in ("mul", "add"))
        result.append(
            Row(
                item,
                paper["rnea"],
                f"{mul} mul, {add} add",
                "linear in n, proved",
                count.degree == 1 and count.proved_from is not None,
                f"{order}: {count.status}",
            )
        )
    crbm, columns = found.counts["crbm"], found.columns
    result += [
        Row(
            "inertia by unit vectors, every column by RNEA",
            None,
            None if columns is None else f"{text_of(columns)} mul",
            "quadratic, exactly",
            columns is not None and columns.degree() == 2,
        ),
        Row(
            "CRBA",
            None,
            f"{text_of(crbm.polynomials['mul'])} mul",
            "cubic, from its factor",
            crbm.degree == 3,
            f"crbm: {crbm.status}",
        ),
    ]
    beyond = paper["faster_than_crba_beyond"]
    cross = {kind: _last(found.from_q[kind]) for kind in ("mul", "both")}
    on_dh = found.family == "dh"
    result += [
        Row(
            f"ABA from joint positions on, {AT} links, multiplications",
            int(COUNTS[0].mul(AT)),
            int(found.whole["abm"](AT)),
            "within 10 %, on dh",
            within(float(COUNTS[0].mul(AT)), float(found.whole["abm"](AT)), 0.1) if on_dh else None,
            f"{text_of(COUNTS[0].mul)} in Cloutier 1995; here {text_of(found.whole['abm'])}, "
            "operations of kkt.compile with the model's constants folded",
        ),
        Row(
            f"CRBA from joint positions on, bias by RNEA, Cholesky, {AT} links, multiplications",
            int(COUNTS[1].mul(AT)),
            int(found.whole["crbm"](AT)),
            "within 10 %, on dh",
            within(float(COUNTS[1].mul(AT)), float(found.whole["crbm"](AT)), 0.1) if on_dh else None,
            f"{text_of(COUNTS[1].mul)} in Cloutier 1995; here {text_of(found.whole['crbm'])}",
        ),
        Row(
            "N up to which CRBA takes fewer multiplications, from joint positions on",
            beyond,
            cross["mul"],
            "the same" if on_dh else "none: not the literature's frames",
            cross["mul"] == beyond if on_dh else None,
            f"of both kinds up to {cross['both']}; the slides give neither program, and ours has "
            "constants folded",
        ),
    ]
    for kind, what in (("mul", "multiplications"), ("add", "additions"), ("both", "both")):
        theirs, ours = found.theirs[kind], found.ours[kind]
        literal = kind == "mul"
        result.append(
            Row(
                f"N up to which CRBA takes fewer, {what}, counts of the literature",
                beyond if literal else None,
                _last(theirs),
                "the same" if literal else "none: the slides' N is that of multiplications",
                theirs.first == beyond + 1 if literal else None,
                "printed counts: Cloutier 1995, section 3.4, from Featherstone 1987",
            )
        )
        result.append(
            Row(
                f"N up to which CRBA takes fewer, {what}, solution of (4) on {found.family}",
                beyond if literal else None,
                _last(ours),
                "none: the programs that the slides compare are not given",
                None,
                "here a composite inertia is moved as any symmetric 6 x 6 block, and the bias is that "
                "of (4): a program that moves ten numbers, and takes the bias from RNEA, crosses later",
            )
        )
    return result


def _last(one: Crossover) -> int | str:
    """The last N before ABA is the cheaper one."""
    return "every N" if one.first is None else one.first - 1


def figures(found: Growth, style: str) -> dict[str, Any]:
    from .pictures import growth

    return {"growth": growth(found, style)}
