"""The registered orders, their other names, and how an order is found by its name.

Other packages give orders as entry points of the group ``pivotree.orders``: a function from the
structure to a list of groups, or an order made of one.

Other names, from the literature, stand in the table ``aliases.toml``; tests/orderings/test_aliases.py
checks each, pivot by pivot, against its recursion, written on its own after Cloutier 1995 (section 3.3)
and Featherstone 2008: the originals were not at hand.  ELSEWHERE has methods that are no order of
pivots, and the room of the project that holds them.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pivotree.kkt import Order, OrderError
from pivotree.kkt.base.errors import close_names
from pivotree.kkt.base.reading import read_text
from pivotree.kkt.order.sequence import TEN

from .natural import random_order
from .registry import orders_of

FIRST = """
crbm crbm_block_row crbm_com
abm modified_abm modified_abm_stretched projected_abm joseph_abm gain_abm square_root_abm bad_abm
virtual_work virtual_work_split lagrange constraint_force divide_and_conquer
base_to_tip natural random:0 minimum_degree
"""  # as tables and pages list them; others come after these, by name

HERE = ("catalogue", "graphs", "load", "registry")  # these hold no order of robots


@dataclass(frozen=True)
class Alias:
    """Another name of a registered order.

    >>> pt.orderings.ALIASES["vereshchagin"].order
    'abm'
    """

    order: str
    source: str
    same: str
    differs: str


_TABLE = tomllib.loads(read_text(Path(__file__).with_name("aliases.toml")))
ALIASES = {name: Alias(**told) for name, told in _TABLE.items()}
"""Methods of the literature that are a registered order under another name.

>>> sorted(pt.orderings.ALIASES)[:3]
['armstrong', 'baraff', 'brandl_johanni_otter']
"""

ELSEWHERE = {
    "walker_orin_1": "analysis.inertia.solve(system)",
    "walker_orin_4": "analysis.gradients.solve(system)",
}


_FOUND = orders_of(__package__, Path(__file__).parent, HERE)
_BY_NAME = {found.name: found for found in (random_order(0), *_FOUND)}
_NAMES = dict.fromkeys((*FIRST.split(), *sorted(_BY_NAME)))
ORDERS: dict[str, Order] = {name: _BY_NAME[name] for name in _NAMES}
"""Every registered order by its name, those of the literature first.

>>> list(pt.orderings.ORDERS)[:4]
['crbm', 'crbm_block_row', 'crbm_com', 'abm']
"""


def get(name: str) -> Order:
    """The order of a name: ``abm``, ``random:7``, ``my_file.py:my_order`` or ``my_order.json``.

    Names of the literature, such as ``vereshchagin``, are those of ``ALIASES``.
    Raises :class:`kkt.OrderError`, with the nearest names, where there is none.

    >>> pt.orderings.get("abm").__name__
    'abm'
    >>> pt.orderings.get("joseph")
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.OrderError: order 'joseph' is unknown; nearest: joseph_abm
    """
    if not isinstance(name, str):
        raise OrderError(f"order {name!r}", "is no name", "give one as a text, such as 'abm'")
    if name in ELSEWHERE:
        raise OrderError(f"order {name!r}", "is no order of pivots", f"it is {ELSEWHERE[name]}")
    registered = ORDERS | {other: ORDERS[alias.order] for other, alias in ALIASES.items()}
    if name in registered:
        return registered[name]
    head, _, tail = name.partition(":")
    if head == "random":
        if not (tail.isdecimal() and tail.isascii() and len(tail) <= 300):
            raise OrderError(f"order {name!r}", f"{tail!r} is no seed", "use a number, as in random:7")
        return random_order(int(tail))
    from .graphs import GRAPHS
    from .load import added, from_json, from_package, from_python
    from .loops import LOOPS

    registered |= LOOPS | GRAPHS
    if name in registered:
        return registered[name]
    if name.endswith(".json"):
        return from_json(Path(name))
    if ".py:" in name:
        path, _, function = name.rpartition(":")
        return from_python(Path(path), function)
    if name.endswith(".py"):
        raise OrderError(f"order {name!r}", "is a file", f"name a function of it, as in {name}:FUNCTION")
    others = added()
    if name in others:
        return from_package(others[name])
    known = [*registered, *others]
    near = close_names(name, [*known, "random:0"], n=3, cutoff=0.4)
    hint = f"nearest: {', '.join(near)}" if near else f"there are {', '.join(known)}"
    raise OrderError(f"order {name!r}", "is unknown", hint)


def names(problem: str = "qdd", loops: bool = False) -> list[str]:
    """Registered orders that solve for qdd (or, with "tau", for tau), in any number type.

    With ``loops``, those that take closed loops: also orders that place multipliers, and none by
    rotations.

    Orders with composites of ten numbers are left out: they assume R R^T = 1, which rounded entries
    do not satisfy, so that nothing can be certified with them; they are compared where they are
    named.  Raises OrderError for another ``problem``.

    >>> "abm" in pt.orderings.names(), pt.orderings.names("tau")
    (True, ['inverse_dynamics'])
    """
    if problem not in ("qdd", "tau"):
        raise OrderError("orders", f"problem is {problem!r}", "use 'qdd' or 'tau'")
    registered = ORDERS
    if loops:
        from .loops import LOOPS

        registered = ORDERS | LOOPS
    return [
        name
        for name, order in registered.items()
        if order.problem == problem and order.composites not in TEN
        if not (loops and order.rules.elimination == "orthogonal")
    ]
