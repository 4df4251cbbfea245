"""Which orders there are: one method a file, its source first.

An order is a function from the structure of a tree to a list of groups of blocks:

>>> from pivotree import kkt, orderings
>>> @orderings.order("mine", source="a notebook")
... def mine(structure):
...     return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]
>>> kkt.eliminate(kkt.build(kkt.chain(3)), mine).fill
2
"""

if __name__ == "orderings":  # not twice: its exceptions would be other classes
    raise ImportError("import pivotree.orderings")

from typing import TYPE_CHECKING

from pivotree.kkt.base.lazy import lazily

if TYPE_CHECKING:
    from .aliases import ALIASES, Alias
    from .catalogue import LOOPS, ORDERS, get, names
    from .cheapest.search import SearchResult, search
    from .registry import order

WHERE = {
    "aliases": "ALIASES Alias",
    "catalogue": "LOOPS ORDERS get names",
    "cheapest.search": "SearchResult search",
    "registry": "order",
}

__all__ = ["ALIASES", "LOOPS", "ORDERS", "Alias", "SearchResult", "get", "names", "order", "search"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(__name__, WHERE)
