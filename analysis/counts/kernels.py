"""What compiled kernels take on a family: poses, bias and order in one program, as polynomials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flint import fmpq, fmpq_poly

from pivotree import kkt, orderings
from pivotree.kkt import PivotreeError

from .counting import KINDS
from .families import Family
from .polynomials import fits, text_of
from .proof import Repetition
from .table import Count, Four


@dataclass(frozen=True)
class Published:
    """A count of one method for n revolute joints on Denavit-Hartenberg frames."""

    method: str
    order: str  # ours that it is the count of
    mul: fmpq_poly
    add: fmpq_poly
    source: str
    div: fmpq_poly | None = None  # None where they are not printed

    @property
    def polynomials(self) -> dict[str, fmpq_poly]:
        return {"mul": self.mul, "add": self.add}


_TABLE = "Cloutier 1995, section 3.4, from Featherstone 1987"
ABM = Published("ABM", "abm", fmpq_poly([-267, 300]), fmpq_poly([-259, 279]), _TABLE)
CRBM = Published(
    "CRBM (Cholesky)",
    "crbm",
    fmpq_poly([-109, fmpq(481, 3), fmpq(23, 2), fmpq(1, 6)]),
    fmpq_poly([-102, fmpq(833, 6), 7, fmpq(1, 6)]),
    _TABLE,
)
COUNTS = (ABM, CRBM)
"""Counts for n revolute joints, as Cloutier 1995 prints them.

>>> from pivotree.analysis.counts import COUNTS, text_of
>>> {c.method: text_of(c.mul) for c in COUNTS}["ABM"]
'300 n - 267'
"""

#: Pinocchio's template on symbols, which casadi counts once zeros, ones and constants are folded:
#: right from n = 3 on; tests/peers/pinocchio_counts.py counts again.
PINOCCHIO = Published(
    "Pinocchio 2.6.20 aba",
    "abm",
    fmpq_poly([-516, 337]),
    fmpq_poly([-467, 292]),
    "counted through casadi",
    fmpq_poly([-10, 6]),
)
PEERS = (ABM, CRBM, PINOCCHIO)


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
    counted: dict[int, Four] = {}
    for n in sizes:
        made = kkt.compile(family.system(n), orderings.get(order), solver=solver).operations
        counted[n] = tuple(made[kind] for kind in KINDS)  # one sine and cosine a joint aside
    name = order if solver is None else f"{order} + {solver}"
    polynomials, start = fits(counted, KINDS) or ({}, None)
    why = "" if polynomials else "no polynomial in n"
    proof = Repetition("", why_not="kernels are fitted only")
    return Count(name, family.name, family.variable, polynomials, start, proof, counted, why=why)


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
    for peer in PEERS if family.name == "dh" else ():
        third = "" if peer.div is None else text_of(peer.div)
        total = _total(peer.mul(AT), peer.add(AT), None if peer.div is None else peer.div(AT))
        rows.append((f"{peer.method}: {peer.source}", text_of(peer.mul), text_of(peer.add), third, total))
    return rows


def _total(mul: Any, add: Any, div: Any) -> str:
    return " + ".join(f"{int(x):,}" for x in (mul, add, div) if x is not None)
