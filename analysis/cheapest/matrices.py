"""The cheapest order of a matrix of one's own: greedy orders with ties drawn, then blocks moved one by one.

Orders are compared by the operations of their factor with dense blocks, which structure alone gives; the
best of them are counted as they are played, with both rank updates, and then with brackets joined.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from random import Random
from typing import Any

from pivotree.kkt import Matrix, OrderError, PivotSequence, Rules, plan, symbolic
from pivotree.kkt.order.sequence import as_sequence
from pivotree.kkt.solution.matrix import tape_of
from pivotree.orderings import GRAPHS, get
from pivotree.orderings.graphs import groups

UPDATES = ("gain", "outer")
DRAWN, WORK = 12, 60_000  # orders for each greedy rule, of so many squared blocks in all
MOVES = 2000  # that are tried
BEST = 4  # orders whose moves, and those that are counted for each rank update
Order = tuple[tuple[Hashable, ...], ...]  # groups of names


class Moves:
    """Orders of one matrix, each with its operations by structure alone."""

    def __init__(self, system: Matrix, tick: Callable[[str], None]) -> None:
        self.system, self.tick, self.draw = system, tick, Random(1967)
        self.known: dict[Order, float] = {}

    def cost(self, order: Order) -> float:
        """Operations with dense blocks; infinite where a pivot is structurally zero."""
        if order not in self.known:
            try:
                self.known[order] = float(symbolic(plan(list(order), self.system.structure)).flops)
            except OrderError:
                self.known[order] = float("inf")
        return self.known[order]

    def greedy(self) -> None:
        """Orders by degree and by fill, whose ties fall as they are drawn."""
        structure = self.system.structure
        size = dict(structure.graph.nodes(data="size"))

        def degree(graph: Any, k: Hashable) -> Any:
            return sum(size[near] for near in graph[k]), self.draw.random()

        def fill(graph: Any, k: Hashable) -> Any:
            near = list(graph[k])
            made = len(near) * (len(near) - 1) // 2 - graph.subgraph(near).number_of_edges()
            return made, len(near), self.draw.random()

        drawn = max(1, min(DRAWN, WORK // structure.n**2))
        for rule in (degree, fill):
            for number in range(drawn):
                self.cost(tuple(map(tuple, groups(structure, rule))))
                self.tick(f"greedy order {number + 1} of {drawn} by {rule.__name__}")

    def best(self, count: int) -> list[Order]:
        """The cheapest orders so far."""
        feasible = [order for order, cost in self.known.items() if cost < float("inf")]
        return sorted(feasible, key=self.known.__getitem__)[:count]

    def improve(self) -> None:
        """Move one block at a time elsewhere, and keep what is no dearer."""
        for start in self.best(BEST):
            now = start
            for number in range(MOVES // BEST):
                moved = list(now)
                group = moved.pop(self.draw.randrange(len(moved)))
                moved.insert(self.draw.randrange(len(moved) + 1), group)
                if self.cost(tuple(moved)) <= self.cost(now):
                    now = tuple(moved)
                if number % 50 == 0:
                    self.tick(f"{len(self.known)} orders tried by structure")


def cheapest(
    system: Matrix, most: int, tick: Callable[[str], None]
) -> tuple[list[tuple[str, PivotSequence, int]], str]:
    """(name, sequence, operations) of the orders that were counted, and what was searched, in words.

    At most ``most`` orders are counted beside the registered ones.
    """
    moves = Moves(system, tick)
    counted: list[tuple[str, PivotSequence, int]] = []

    def count(name: str, order: Iterable[Any], rules: Rules) -> int | None:
        named = [[("x", block) for block in group] for group in order]
        sequence = PivotSequence(named, name, "a search over a matrix's orders", rules)
        try:
            counted.append((name, sequence, tape_of(system, sequence).flops))
        except OrderError:  # a block that is singular whatever its numbers
            return None
        tick(f"{len(counted)} orders counted")
        return counted[-1][2]

    for name in ("natural", "minimum_degree", *GRAPHS):
        try:
            order = as_sequence(get(name), system.structure)
            order = replace(order, groups=[system.structure.spelled(group) for group in order.groups])
            counted.append((name, order, tape_of(system, order).flops))
        except OrderError:
            continue
        moves.cost(tuple(tuple(block for _, block in group) for group in order.groups))
    moves.greedy()
    moves.improve()
    left, found = most, []
    for groups_of in moves.best(BEST):
        for update in UPDATES:
            rules = Rules(rank_update=update)
            if left > 0 and (flops := count("search", groups_of, rules)) is not None:
                found.append((flops, groups_of, rules))
            left -= 1
    if found:
        flops, best, rules = min(found, key=lambda one: one[0])
        k = len(best) - 1
        while k > 0 and left > 0:  # from the end, where brackets are full
            joined = (*best[: k - 1], (*best[k - 1], *best[k]), *best[k + 1 :])
            fewer = count("search", joined, rules)
            if fewer is not None and fewer < flops:
                flops, best = fewer, joined
            k, left = k - 1, left - 1
    if not counted:
        raise OrderError(f"{system.name}: no order that was tried meets pivots other than zero; give groups")
    words = f"{len(moves.known)} more by structure alone: greedy ones with ties drawn, and blocks moved"
    return counted, f"{words} one by one; then brackets were joined"
