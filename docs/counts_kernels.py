"""What compiled kernels take, for docs/counts.md: poses, bias and order in one program, as polynomials."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flint import fmpq_poly

from pivotree import kkt, orderings
from pivotree.analysis.counts import COUNTS, KINDS, Count, Family, text_of
from pivotree.analysis.counts.polynomials import fits
from pivotree.analysis.counts.proof import Repetition
from pivotree.kkt import PivotreeError

# Pinocchio's template on symbols, which casadi counts once zeros, ones and constants are folded:
# right from n = 3 on; tests/peers/pinocchio_counts.py counts again.
PINOCCHIO = {"mul": fmpq_poly([-516, 337]), "add": fmpq_poly([-467, 292]), "div": fmpq_poly([-10, 6])}
PEERS = {
    **{f"{count.method}: {count.source}": count.polynomials for count in COUNTS},
    "Pinocchio 2.6.20 aba: counted through casadi": PINOCCHIO,
}

MOST = 20_000  # operations from the entries of (4) to qdd, of members whose kernels are traced
HEAD = ("from joint positions", "multiplications", "additions", "divisions, roots", "n = 7")
AT = 7


def kernel_counts(counts: Iterable[Count], family: Family) -> list[Count]:
    """Kernels of the orders that were counted on a family; of CRBM also with Cholesky's factor.

    Their common subexpressions are shared.  Members whose elimination alone takes more than ``MOST``
    operations are not traced.
    """
    found = []
    for count in counts:
        small = [n for n, total in count.counted.items() if sum(total) <= MOST]
        for solver in (None, "cholesky") if count.order == "crbm" else (None,):
            try:
                found.append(_counted(count.order, solver, family, small))
            except PivotreeError:  # an order without a kernel has no line
                continue
    return found


def _counted(order: str, solver: str | None, family: Family, sizes: list[int]) -> Count:
    counted: dict[int, tuple[int, ...]] = {}
    for n in sizes:
        made = kkt.compile(family.system(n), orderings.get(order), solver=solver).operations
        counted[n] = tuple(made[kind] for kind in KINDS)  # one sine and cosine a joint aside
    name = order if solver is None else f"{order} + {solver}"
    polynomials, start = fits(counted, KINDS) or ({}, None)
    proof = Repetition("", why_not="kernels are fitted only")
    return Count(name, family.name, family.variable, polynomials, start, proof, counted)


def kernel_rows(counts: Iterable[Count], family: Family) -> list[tuple[str, ...]]:
    """Rows of cells as in HEAD: our kernels, then counts of others on the same arm."""
    rows: list[tuple[str, ...]] = []
    for count in counts:
        at = count.at(AT)
        total = "" if at is None else _total(at[0], at[1], sum(at[2:]))
        if not count.polynomials:
            rows.append((count.order, "no polynomial", "", "", total))
            continue
        mul, add, div, sqrt = (count.polynomials[kind] for kind in KINDS)
        start = f" (n >= {count.holds_from})" if (count.holds_from or 1) > 2 else ""
        rows.append((f"{count.order}{start}", text_of(mul), text_of(add), text_of(div + sqrt), total))
    for name, theirs in PEERS.items() if family.name == "dh" else ():
        cells = [text_of(theirs[kind]) if kind in theirs else "" for kind in KINDS[:3]]
        rows.append((name, *cells, _total(*(p(AT) for p in theirs.values()))))
    return rows


def _total(*counts: Any) -> str:
    return " + ".join(f"{int(x):,}" for x in counts)
