"""What compiled kernels take on a family: poses, bias and order in one program, as polynomials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flint import fmpq_poly

from pivotree import kkt, orderings
from pivotree.kkt import PivotreeError

from .counting import KINDS
from .families import Family
from .polynomials import fits, text_of
from .published import PEERS
from .table import Count

MOST = 20_000  # operations from the entries of (4) to qdd, of members whose kernels are traced
HEAD = ("from joint positions", "multiplications", "additions", "divisions, roots", "n = 7")
AT = 7


@dataclass(frozen=True)
class KernelCount:
    """Operations of an order's kernels, common subexpressions shared."""

    order: str  # its name, with that of a dense method that follows it
    counted: Mapping[int, Mapping[str, int]]  # n -> by kind
    polynomials: Mapping[str, fmpq_poly]  # by kind; none where they are no polynomials
    holds_from: int | None  # fitted, from this n on

    def at(self, n: int) -> dict[str, int] | None:
        if n in self.counted:
            return dict(self.counted[n])
        if not self.polynomials or n < (self.holds_from or 1):
            return None
        return {kind: int(p(n)) for kind, p in self.polynomials.items()}

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``; coefficients c_0, c_1 ... as texts."""
        return {
            "order": self.order,
            "holds_from": self.holds_from,
            **{kind: [str(c) for c in p.coeffs()] for kind, p in self.polynomials.items()},
            "counted": {str(n): dict(c) for n, c in self.counted.items()},
        }


def kernel_counts(counts: Iterable[Count], family: Family) -> list[KernelCount]:
    """Kernels of the orders that were counted on a family; of CRBM also with Cholesky's factor.

    Members whose elimination alone takes more than ``MOST`` operations are not traced.
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


def _counted(order: str, solver: str | None, family: Family, sizes: list[int]) -> KernelCount:
    counted: dict[int, dict[str, int]] = {}
    for n in sizes:
        made = kkt.compile(family.system(n), orderings.get(order), solver=solver).operations
        counted[n] = {kind: made[kind] for kind in KINDS}  # one sine and cosine a joint aside
    name = order if solver is None else f"{order} + {solver}"
    polynomials, start = fits({n: [*c.values()] for n, c in counted.items()}, KINDS) or ({}, None)
    return KernelCount(name, counted, polynomials, start)


def kernel_rows(counts: Iterable[KernelCount], family: Family) -> list[tuple[str, ...]]:
    """Rows of cells as in HEAD: our kernels, then counts of others on the same arm."""
    rows: list[tuple[str, ...]] = []
    for count in counts:
        at = count.at(AT)
        total = "" if at is None else _total(at["mul"], at["add"], at["div"] + at["sqrt"])
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
