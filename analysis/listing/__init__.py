"""Orders told as algorithms: ``of(system, order)`` gives loops, lines, symbols.

>>> from pivotree.analysis import listing
>>> print(listing.render(listing.of(pt.build(pt.chain(2)), "abm")))
abm on chain_2 (Featherstone 1983; Ascher, Pai & Cloutier 1996, eqs (5)-(7))
...
"""

from .listing import Listing, of
from .render import render
from .text import full

__all__ = ["Listing", "full", "of", "render"]
