"""The decorator that makes a function an order: name, source, and switches that decide rounding."""

from __future__ import annotations

from collections.abc import Callable

from pivotree.kkt import Order, Rules
from pivotree.kkt.order.sequence import OrderFunction


def order(
    name: str,
    *,
    source: str,
    links: str = "whole",
    problem: str = "qdd",
    composites: str = "general",
    loops: bool = False,
    **rules: str,
) -> Callable[[OrderFunction], Order]:
    """Make a function from the structure to a list of groups of blocks an order.

    ``rules`` are the switches of :class:`kkt.Rules`; ``links`` says that the blocks are those of
    ``structure.with_links(links)``; ``composites`` "rigid" or "centre" that rigid inertias
    are ten numbers, about the joint or the centre of mass; ``problem`` is "tau" for inverse
    dynamics; ``loops`` that the order places multipliers, and is compared where there are any.
    Raises OrderError for a value that a rule does not have.

    >>> @pt.order("mine", source="a notebook")
    ... def mine(structure):
    ...     return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]
    >>> pt.eliminate(pt.build(pt.chain(3)), mine).fill
    2
    """

    def mark(function: OrderFunction) -> Order:
        return Order(function, name, source, Rules(**rules), links, composites, problem, loops)

    return mark
