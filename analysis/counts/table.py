"""Operation counts of orders on families, as polynomials in n, and where two of them cross."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flint import fmpq_poly

from pivotree import kkt
from pivotree.kkt.base.errors import Refusal
from pivotree.kkt.order.sequence import OrderLike, as_order, as_orders

from .counting import KINDS, Counted, count_robot, dense_work
from .families import Family, family_of
from .polynomials import fits, largest_root, text_of
from .proof import Repetition, prove

CHAIN, DOUBLING = 9, 6  # members of a family that are counted
# orders searched or drawn anew for every n: nothing is proved of them
SEARCHES = ("minimum_degree", "random")
MOST_WORK = 5_000_000  # dense operations of a program that is still counted
Four = tuple[int, ...]  # multiplications, additions, divisions, square roots


@dataclass(frozen=True)
class Count:
    """Scalar operations that qdd (for inverse dynamics tau) needs, from the entries of (4).

    >>> from pivotree.analysis.counts import polynomial, text_of
    >>> rods = polynomial("abm", "planar")
    >>> text_of(rods.polynomials["add"]), rods.counted[3]
    ('104 n - 117', (205, 195, 14, 0))
    """

    order: str
    family: str
    variable: str  # what n counts
    polynomials: Mapping[str, fmpq_poly]  # by kind of operation; empty where there are none
    holds_from: int | None  # the polynomials are right from this n on
    proof: Repetition  # or why there is none
    counted: Mapping[int, Four]  # n -> operations, for the n that were counted

    def at(self, n: int) -> Four | None:
        """Operations at n, where it was counted or the polynomials hold; else None."""
        if n in self.counted or not self.polynomials or n < (self.holds_from or 1):
            return self.counted.get(n)
        return tuple(int(self.polynomials[kind](n)) for kind in KINDS)

    @property
    def degree(self) -> int | None:
        return max((p.degree() for p in self.polynomials.values()), default=None)

    @property
    def proved_from(self) -> int | None:
        """n from which the polynomials are proved; None where they are fitted only.

        Below what the proof reaches every n was counted.
        """
        return self.holds_from if self.polynomials and self.proof.proved else None

    @property
    def status(self) -> str:
        if not self.polynomials:
            return self.proof.why_not
        if self.proof.proved:
            return f"proved for n >= {self.holds_from} ({self.proof.kind})"
        return f"fitted only, n = {self.holds_from} to {max(self.counted)}"

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``; coefficients c_0, c_1 ... as texts."""
        return {
            "order": self.order,
            "family": self.family,
            "variable": self.variable,
            **{k: [str(c) for c in p.coeffs()] for k, p in self.polynomials.items()},
            "degree": self.degree,
            "holds_from": self.holds_from,
            "proved_from": self.proved_from,
            "proof": self.proof.kind or None,
            "why": self.proof.why_not or None,
            "counted": {str(n): dict(zip(KINDS, c, strict=True)) for n, c in self.counted.items()},
        }


def polynomial(order: str | Callable[..., Any], family: str | Family) -> Count:
    """Count an order on growing members of a family, fit, and prove what can be proved.

    Raises OrderError or ModelError for an unknown name, and SingularError or OrderError where the
    order cannot be used on such robots.

    >>> from pivotree.analysis.counts import polynomial, text_of
    >>> rods = polynomial("abm", "planar")
    >>> text_of(rods.polynomials["mul"]), rods.status
    ('109 n - 122', 'proved for n >= 2 (repeats)')
    """
    function = as_order(order)
    chosen = family_of(family) if isinstance(family, str) else family
    name = function.name
    counted = _counted(function, chosen)
    totals = {n: c.total for n, c in counted.items()}
    found = fits(totals, KINDS)
    if found is None:
        unproved = Repetition("", why_not="no polynomial in n")
        return Count(name, chosen.name, chosen.variable, {}, None, unproved, totals)
    polynomials, start = found
    if name.partition(":")[0] in SEARCHES:
        proof = Repetition("", why_not="the order is the result of a search")
    else:
        proof = prove(chosen, counted)
    if proof.proved and max(p.degree() for p in polynomials.values()) > proof.degree:
        proof = Repetition("", why_not="the fit is of higher degree than the proof allows")
    if proof.segment and proof.segment != tuple(p(1) - p(0) for p in polynomials.values()):
        proof = Repetition("", why_not="the fit has not the slope of the segment that repeats")
    return Count(name, chosen.name, chosen.variable, polynomials, start, proof, totals)


def _counted(order: Callable[..., Any], family: Family) -> dict[int, Counted]:
    members = DOUBLING if family.doubles else CHAIN
    result: dict[int, Counted] = {}
    for i in range(1, members + 1):
        n = family.size(i)
        system = family.system(n)
        if i > 4 and dense_work(order, system.structure) > MOST_WORK:
            break
        result[n] = count_robot(order, system)
    return result


def table(orders: Iterable[OrderLike], families: Iterable[str]) -> list[Count | str]:
    """The count of every order on every family, or a text why the order is refused there.

    >>> from pivotree.analysis.counts import table, text_of
    >>> [text_of(row.polynomials["mul"]) for row in table(["abm", "lagrange"], ["planar"])]
    ['109 n - 122', '123 n - 117']
    """
    rows: list[Count | str] = []
    named = as_orders(orders)
    for family in families:
        for order in named:
            try:
                rows.append(polynomial(order, family_of(family)))
            except (kkt.SingularError, kkt.SizeError) as error:
                why = error.why  # without a remedy: nobody can change these robots
                told = Refusal(why.subject, why.reason, detail=why.detail)
                rows.append(f"{order.name} on {family}: {told}")
    return rows


# -- where two counts cross -----------------------------------------------------------------------


@dataclass(frozen=True)
class Crossover:
    """Where the first of two methods begins to cost more than the second, for good.

    >>> from pivotree.analysis.counts import COUNTS, crossings
    >>> abm, crbm = COUNTS
    >>> found = crossings(crbm.polynomials, abm.polynomials)["mul"]
    >>> round(found.root, 2), found.first
    (9.4, 10)
    """

    kind: str  # mul, add, both (mul + add), all (with divisions and roots)
    root: float | None  # largest positive real root of the difference
    first: int | None  # smallest n from which it costs more for every n; None: never


SUMS: dict[str, tuple[str, ...]] = {"mul": ("mul",), "add": ("add",), "both": ("mul", "add"), "all": KINDS}


def crossings(a: Mapping[str, fmpq_poly], b: Mapping[str, fmpq_poly], start: int = 1) -> dict[str, Crossover]:
    """Crossings of counts given by kind of operation; those that lack a kind leave it out.

    >>> from pivotree.analysis.counts import COUNTS, crossings
    >>> abm, crbm = COUNTS
    >>> {what: c.first for what, c in crossings(crbm.polynomials, abm.polynomials).items()}
    {'mul': 10, 'add': 14, 'both': 12}
    """
    result = {}
    for name, kinds in SUMS.items():
        if not all(kind in a and kind in b for kind in kinds):
            continue
        difference = sum((a[kind] - b[kind] for kind in kinds), fmpq_poly())
        root = largest_root(difference)
        first: int | None = None
        if difference.leading_coefficient() > 0:
            # beyond its largest root the difference is positive
            first = max(start, int(root or 0) + 2)
            while first > start and difference(first - 1) > 0:
                first -= 1
        result[name] = Crossover(name, root, first)
    return result


COUNT_HEAD = ("order", "multiplications", "additions", "divisions", "known how")


def count_cells(count: Count) -> tuple[str, ...]:
    """Order, three polynomials, status; square roots only where there are any."""
    name, status = count.order, count.status
    if count.polynomials:
        mul, add, div = (text_of(count.polynomials[kind]) for kind in ("mul", "add", "div"))
        if roots := count.polynomials["sqrt"]:
            status += f"; square roots {text_of(roots)}"
        return name, mul, add, div, status
    return name, "none", "none", "none", status


CROSSOVER_HEAD = ("", *("multiplications", "additions", "both", "with divisions"))


def crossover_cells(name: str, crossings: Mapping[str, Crossover]) -> tuple[str, ...]:
    """Root and first whole n of each sum."""
    cells = []
    for kind in SUMS:
        found = crossings.get(kind)
        if found is None:
            cells.append("")
        elif found.first is None:
            cells.append("never")
        else:
            root = "" if found.root is None else f"{found.root:.2f}, "
            cells.append(f"{root}from n = {found.first}")
    return name, *cells
