"""Which orders there are: one method a file, its source first.

An order is a function from the structure of a tree to a list of groups of blocks:

>>> @orderings.order("mine", source="a notebook")
... def mine(structure):
...     return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]
>>> kkt.eliminate(system, mine)
"""

from collections.abc import Callable
from typing import Any

from pivotree.kkt import OrderError

from . import load as _load
from .abm import abm
from .aliases import ALIASES, ELSEWHERE, Alias
from .bad_abm import bad_abm
from .base_to_tip import base_to_tip
from .cheapest.search import SearchResult, search
from .constraint_force import constraint_force
from .crbm import crbm
from .crbm_block_row import crbm_block_row
from .crbm_com import crbm_com
from .divide_and_conquer import divide_and_conquer
from .gain_abm import gain_abm
from .inverse_dynamics import inverse_dynamics
from .joseph_abm import joseph_abm
from .lagrange import lagrange
from .minimum_degree import minimum_degree
from .modified_abm import modified_abm
from .modified_abm_stretched import modified_abm_stretched
from .natural import natural
from .projected_abm import projected_abm
from .random_order import random_order
from .registry import order
from .square_root_abm import square_root_abm
from .virtual_work import virtual_work, virtual_work_split

ORDERS: dict[str, Callable[..., Any]] = {
    function.order_name: function  # type: ignore[attr-defined]
    for function in (
        crbm,
        crbm_block_row,
        crbm_com,
        abm,
        modified_abm,
        modified_abm_stretched,
        projected_abm,
        joseph_abm,
        gain_abm,
        square_root_abm,
        bad_abm,
        virtual_work,
        virtual_work_split,
        lagrange,
        constraint_force,
        divide_and_conquer,
        base_to_tip,
        natural,
        random_order(0),
        minimum_degree,
        inverse_dynamics,
    )
}


def get(name: str) -> Callable[..., Any]:
    """The order of a name: ``abm``, ``random:7``, ``my_file.py:my_order`` or ``my_order.json``.

    Names of the literature, such as ``vereshchagin``, are those of :mod:`orderings.aliases`.
    Raises :class:`kkt.OrderError`, with the nearest names, where there is none.
    """
    if name in ELSEWHERE:
        raise OrderError(f"order {name!r}: is no order of pivots; it is {ELSEWHERE[name]}")
    others = {other: ORDERS[alias.order] for other, alias in ALIASES.items()}
    return _load.get(name, ORDERS | others)


def names(problem: str = "qdd") -> list[str]:
    """Registered orders that solve for qdd (or, with "tau", for tau), in any number type.

    Those with composites of ten numbers take R R^T = 1, which rounded entries do not have, so that
    nothing can be certified with them; they are compared where they are named.  Raises OrderError
    for another ``problem``.
    """
    if problem not in ("qdd", "tau"):
        raise OrderError(f"orders: problem is {problem!r}; use 'qdd' or 'tau'")
    return [
        name
        for name, function in ORDERS.items()
        if getattr(function, "problem", "qdd") == problem
        and getattr(function, "composites", "general") == "general"
    ]


__all__ = ["ALIASES", "ORDERS", "Alias", "SearchResult", "get", "names", "order", "search"]
