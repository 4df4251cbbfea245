"""What can be counted about an order: fill, height, operations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from counts_trees import chain_count, solve_exactly
from flint import Ordering, fmpq_mpoly, fmpq_mpoly_ctx

from pivotree import kkt, orderings
from pivotree.analysis.counts import FAMILIES as FAMILY_OF
from pivotree.analysis.counts import KINDS as COUNTED
from pivotree.analysis.counts import Count, count_robot, polynomial, text_of
from pivotree.kkt import SymbolicFactor
from pivotree.kkt.structure import PAIR_FIRST

TREES = ("chain:10", "star:10", "binary:3", "random_tree:n=50,seed=1")
FAMILIES = {"revolute": "chain of n", "star": "hub with n leaves"}
HALVED = range(1, 8)  # h of the chains of 2^h - 1 bodies that are counted
Function = kkt.Order


# -- fill and depth -----------------------------------------------------------------------------


@dataclass(frozen=True)
class OnTree:
    """What an order does to the blocks of one tree."""

    spec: str
    bodies: int
    fill: int  # blocks of one triangle
    entries: int  # of these blocks
    height: int  # blocks on the longest path of pivots that wait for each other


@cache
def system(spec: str) -> kkt.System:
    return kkt.build(kkt.from_spec(spec))


def on_tree(order: Function, spec: str) -> OnTree:
    of = system(spec).structure
    if order.problem == "tau":
        return OnTree(spec, of.n, 0, 0, max(levels(order, of)))
    found = symbolic(order, spec)
    return OnTree(spec, of.n, found.fill_blocks, found.fill_entries, found.height)


def symbolic(order: Function, spec: str) -> SymbolicFactor:
    return kkt.symbolic(kkt.plan(order, system(spec).structure))


def levels(order: Function, of: kkt.Structure) -> list[int]:
    """Of a substitution, pivot by pivot: how many must be done one after another to reach it.

    Raises ValueError where a row meets an unknown that comes later: that would be fill.
    """
    known = {("qdd", k): 0 for k in of.names}
    for row, unknown in order(of):
        needs = [block for block in row_of(of, row) if block != unknown]
        if not all(block in known for block in needs):
            raise ValueError(f"row {row[0]}_{row[1]} meets what is not solved yet")
        known[unknown] = 1 + max((known[block] for block in needs), default=0)
    return list(known.values())


def row_of(of: kkt.Structure, row: tuple[str, Any]) -> list[tuple[str, Any]]:
    """Unknowns in a row of (4), the effort among them."""
    kind, k = row
    if kind == "pdd":
        return [("pdd", k), ("f", k), *(("f", c) for c in of.children(k))]
    if kind == "qdd":
        return [("f", k), ("tau", k)]
    up = of.parent_of(k)
    return [("pdd", k), ("qdd", k), *([("pdd", up)] if up is not None else [])]


def critical_path(order: Function, spec: str = "chain:4") -> str:
    """A longest path of pivots that wait for each other, bodies numbered tip to base."""
    if order.problem == "tau":
        return ""
    found = symbolic(order, spec)
    level = found.levels.tolist()
    pointer = found.column_pointer.tolist()
    below: dict[int, list[int]] = {t: [] for t in range(len(level))}
    for s in range(len(level)):
        # a pair acts on its neighbours, those of both blocks, when its second block is done
        acts = s + (found.pivot[s] == PAIR_FIRST)
        for t in found.column_index[pointer[s] : pointer[s + 1]].tolist():
            for before in {s, acts} if t == acts else {acts}:
                if level[t] == level[before] + 1:
                    below[t].append(before)
    at = level.index(max(level))
    path = [at]
    while level[at] > 1:
        # of several, the one that stays with a kind of block, nearest in the sequence
        kind = [int(b) // found.plan.graph.structure.n for b in found.plan.blocks]
        at = max(below[at], key=lambda s: (kind[s] == kind[at], s))
        path.append(at)
    structure = found.plan.graph.structure
    carriers = structure.carriers.values()
    own = [int(k) for k in structure.order if int(k) not in carriers]
    number = {structure.names[k]: i for i, k in enumerate(own, start=1)}
    for c in carriers:
        number[structure.names[c]] = number[structure.names[int(structure.copy_of[c])]]
    blocks = [found.plan.graph.block(int(found.plan.blocks[t])) for t in reversed(path)]
    primed = {structure.names[c] for c in carriers}
    return " → ".join(f"{b.kind}{chr(39) if b.body in primed else ''}_{number[b.body]}" for b in blocks)


# -- operations ---------------------------------------------------------------------------------


def scalar_counts(order: Function) -> dict[str, Count]:
    """Polynomials of an order on each of FAMILIES."""
    return {family: polynomial(order, family) for family in FAMILIES}


def block_counts(order: Function) -> dict[str, str]:
    """By kind, such as "mul": of a chain of n joints of N freedoms each, every block full."""
    found = chain_count(order)
    return {kind: text_of(found[kind]) for kind in ("mul", "add", "div")} if found else {}


def growth(count: Count) -> str:
    """``n``, ``n^3``: how operations grow; "" where that is not known."""
    if count.degree is not None:
        return "n" if count.degree == 1 else f"n^{count.degree}"
    return "n" if halved(count.order, count.family) else ""


@cache
def halved(order: str, family: str) -> dict[str, fmpq_mpoly]:
    """a n + b h + c by kind, of an order that halves chains of n = 2^h - 1 bodies, of all h of HALVED.

    Empty for other orders, and where there is no chain.
    """
    robots = FAMILY_OF[family]
    if not robots.chain or order.startswith("random:"):
        return {}
    rows = [[1, h, 2**h - 1] for h in HALVED]
    totals = [count_robot(orderings.get(order), robots.system(row[-1])).total for row in rows]
    found = solve_exactly(rows, list(zip(*totals, strict=True))) or ()
    terms, ring = ((0, 0), (0, 1), (1, 0)), fmpq_mpoly_ctx.get(("n", "h"), Ordering.deglex)
    return {
        kind: ring.from_dict(dict(zip(terms, x, strict=True)))
        for kind, x in zip(COUNTED, found, strict=False)
    }


def per_body(count: Count) -> float | None:
    """Operations of every kind that one more body costs, where they are linear in n."""
    if count.degree != 1:
        return None
    return float(sum(p(1) - p(0) for p in count.polynomials.values()))
