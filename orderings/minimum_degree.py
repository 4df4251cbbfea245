"""Minimum degree, constrained to pivots that are feasible (Tinney & Walker 1967; George & Liu 1989)."""

from collections import defaultdict
from heapq import heappop, heappush
from typing import Any

from pivotree.kkt import Partition, Structure

from .registry import order

Block = tuple[str, Any]


@order("minimum_degree", source="Tinney & Walker 1967; George & Liu 1989, constrained")
def minimum_degree(structure: Structure) -> list:
    """Greedy: the feasible pivot with fewest neighbours, a pair (pdd f) counting as one."""
    if isinstance(structure, Partition):
        from . import graphs  # of matrices alone

        return graphs.groups(structure, graphs.degree)
    near: dict[Block, set[Block]] = defaultdict(set)
    for k in structure.names:
        for kind, body in (("pdd", k), ("qdd", k), ("pdd", structure.parent_of(k))):
            if body is not None and (kind != "qdd" or structure.dof[structure.index[k]]):
                near["f", k].add((kind, body))
                near[kind, body].add(("f", k))
    rank = {k: i for i, k in enumerate(structure.tip_to_base)}
    ready: set[Block] = set()  # joints whose diagonal is no longer zero

    def pivot(block: Block) -> list[Block]:
        return [block] if block[0] == "qdd" else [("pdd", block[1]), ("f", block[1])]

    def degree(block: Block) -> int:
        group = pivot(block)
        return len(set().union(*(near[b] for b in group)) - set(group))

    heap = sorted((degree(("pdd", k)), rank[k], ("pdd", k)) for k in structure.tip_to_base)
    groups: list = []
    gone: set[Block] = set()
    while heap:
        old, tie, block = heappop(heap)
        if block in gone:
            continue
        if (now := degree(block)) != old:
            heappush(heap, (now, tie, block))
            continue
        groups.append(group := pivot(block))
        gone.update(group)
        through = near[group[-1]] - gone  # coupled through f (or qdd): a clique
        beside = set().union(*(near[b] for b in group)) - gone
        for a in through:
            near[a] |= beside - {a}
            for b in beside - {a}:
                near[b].add(a)
        for b in beside:
            near[b] -= gone
            if b[0] == "pdd" or (b[0] == "qdd" and (b in ready or b in through)):
                ready.add(b)
                heappush(heap, (degree(b), rank[b[1]], b))
    return groups
