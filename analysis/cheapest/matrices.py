"""The cheapest order of a matrix of one's own: greedy orders with ties drawn, then blocks moved one by one.

Orders are compared by the operations of their factor with dense blocks, which structure alone gives; the
best of them are counted as they are played, with both rank updates.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from random import Random
from typing import Any

from pivotree.kkt import Matrix, OrderError, Partition, PivotSequence, Rules, SymbolicFactor, plan, symbolic
from pivotree.kkt.order.sequence import as_sequence
from pivotree.kkt.solution.matrix import regular, tape_of
from pivotree.orderings import GRAPHS, get
from pivotree.orderings.graphs import degree, fill, groups

DRAWN, WORK = 12, 60_000  # greedy orders of each rule, of so many squared blocks in all
STARTS, MOVES = 4, 500  # orders whose blocks are moved, and moves of each
Order = tuple[tuple[tuple[str, Hashable], ...], ...]  # groups of blocks
Counted = list[tuple[str, PivotSequence, int]]  # name, sequence, operations


def fill_then_couplings(graph: Any, k: Hashable) -> tuple[int, int]:
    """New couplings that it makes, and its couplings."""
    return fill(graph, k), len(graph[k])


def drawn(rule: Any, draw: Random, graph: Any, k: Hashable) -> tuple[Any, float]:
    """A rule whose ties fall as they are drawn."""
    return rule(graph, k), draw.random()


def largest_front(factor: SymbolicFactor) -> int:
    """Rows of the largest front: of a pivot, and of what is coupled with it by then; a pair is one pivot."""
    ends, largest, t = factor.column_pointer, 0, 0
    while t < len(factor.pivot):
        last = t + int(factor.pivot[t] == 1)
        rows = {*range(t, last + 1), *factor.column_index[ends[t] : ends[last + 1]].tolist()}
        largest, t = max(largest, int(factor.size[list(rows)].sum())), last + 1
    return largest


def least_front(structure: Partition, paired: bool = True) -> int:
    """Rows that :func:`largest_front` has at least in every order, or in those that have no pairs.

    A block of least degree joins the neighbour with which it has least in common, the lighter of the two
    staying, until none is left: each minor has treewidth of the matrix's graph at most (Bodlaender &
    Koster 2011, Treewidth computations II).  A pair of two unknowns takes two rows from it at most, since
    what is left holds the graph without them, and needs one whose own entry is zero.
    """
    graph = structure.graph.copy()
    size = dict(graph.nodes(data="size"))
    zeros = sum(size[k] == 1 and not own for k, own in graph.nodes(data="diagonal"))
    found = 0
    while len(graph):
        rows = {k: size[k] + sum(size[near] for near in graph[k]) for k in graph}
        k = min(rows, key=lambda k: rows[k])
        found = max(found, rows[k])
        if near := set(graph[k]):
            other = min(graph[k], key=lambda x: len(near.intersection(graph[x])))
            size[other] = min(size[other], size[k])
            graph.add_edges_from((other, x) for x in near - {other})
        graph.remove_node(k)
    return max(found - 2 * zeros * paired, 1)


def operations(system: Matrix, order: Order, update: str = "outer") -> int:
    """Operations as they are played; 0 where a pivot is zero for the numbers of this matrix."""
    try:
        tape = tape_of(system, PivotSequence(list(order), "search", rules=Rules(rank_update=update)))
    except OrderError:
        return 0
    return tape.flops * regular(system, tape)


def cheapest(system: Matrix, most: int, tick: Callable[[str], None]) -> tuple[Counted, str]:
    """The orders that were counted, at most ``most`` beside the registered ones, and what was searched.

    Raises OrderError where ``natural`` finds no sequence without a pivot that is zero, whatever the numbers,
    and where every one has a pivot that is zero for these numbers.
    """
    structure, draw = system.structure, Random(1967)
    dense: dict[Order, float] = {}
    counted: Counted = []
    played_in = cache(partial(operations, system))

    def cost(order: Order) -> float:
        """Operations with dense blocks; infinite where a pivot is structurally zero."""
        if order not in dense:
            try:
                dense[order] = float(symbolic(plan(list(order), structure)).flops)
            except OrderError:
                dense[order] = float("inf")
        return dense[order]

    def count(sequence: PivotSequence, order: Order) -> None:
        counted.append((sequence.name, sequence, played_in(order, sequence.rules.rank_update)))
        tick(f"{len(counted)} orders counted")

    def best() -> list[Order]:
        return sorted((order for order in dense if dense[order] < float("inf")), key=cost)

    def spelled(listed: Any) -> Order:
        return tuple(tuple(structure.spelled(group)) for group in listed)

    for name in ("natural", "minimum_degree", *GRAPHS):  # registered orders
        try:
            registered = as_sequence(get(name), structure)
        except OrderError:
            if name == "natural":
                raise
            continue  # METIS is not installed
        order = spelled(registered.groups)
        if played_in(order):
            count(PivotSequence(list(order), name, registered.source), order)
            cost(order)
    for number in range(max(1, min(DRAWN, WORK // structure.n**2))):  # greedy ones, ties drawn
        for rule in (degree, fill_then_couplings):
            with suppress(OrderError):  # blocks that are zero were left alone
                cost(spelled(groups(structure, partial(drawn, rule, draw))))
        tick(f"{number + 1} greedy orders by degree and by fill")
    for start in islice(filter(played_in, best()), STARTS):  # its blocks are moved, where that costs no more
        now = start
        for _ in range(MOVES):
            moved = list(now)
            moved.insert(draw.randrange(len(now)), moved.pop(draw.randrange(len(now))))
            now = tuple(moved) if cost(tuple(moved)) <= cost(now) else now
        tick(f"{len(dense)} orders by structure alone")
    words = f"{len(dense)} by structure alone: greedy ones with ties drawn, and blocks moved one by one"
    for order in islice(filter(played_in, best()[:most]), max(1, min(most // 2, STARTS))):
        for update in ("gain", "outer")[:most]:
            count(PivotSequence(list(order), "search", words, Rules(rank_update=update)), order)
    if not counted:
        what = "every order that was tried has a pivot that is zero for these numbers"
        other = "cut it into other blocks" if structure.dof.max() > 1 else "give a regular matrix"
        raise OrderError(system.name, what, other)
    return counted, words
