"""The decorator that makes a function an order: name, source, and switches that decide rounding."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from pivotree.kkt import Order, Rules
from pivotree.kkt.order.sequence import OrderFunction


def order(
    name: str,
    *,
    source: str,
    links: str = "whole",
    problem: str = "qdd",
    composites: str = "counted",
    loops: bool = False,
    **rules: str,
) -> Callable[[OrderFunction], Order]:
    """Make a function from the structure to a list of groups of blocks an order.

    ``rules`` are the switches of :class:`kkt.Rules`; ``links`` says that the blocks are those of
    ``structure.with_links(links)``; ``composites`` "rigid" or "centre" that rigid inertias
    are formed as ten numbers, about the joint or the centre of mass; ``problem`` is "tau" for inverse
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


def orders_of(package: str, folder: Path, but: Container[str] = ()) -> Iterator[Order]:
    """The orders in the files of a folder, other folders and files named in ``but`` left out."""
    for file in iter_modules([str(folder)]):
        if file.ispkg or file.name in but:
            continue
        module = import_module(f".{file.name}", package)
        for value in vars(module).values():
            if isinstance(value, Order) and value.__module__ == module.__name__:
                yield value
