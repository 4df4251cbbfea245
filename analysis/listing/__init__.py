"""Orders told as algorithms: ``of(system, order)`` gives loops, lines, symbols, shapes, costs.

>>> listing = analysis.listing
>>> print(listing.render(listing.of(system, "abm")))
"""

from .listing import Listing, of
from .render import render
from .text import full

__all__ = ["Listing", "full", "of", "render"]
