"""Orders told as algorithms: ``of(system, order)`` gives loops, lines, symbols, shapes, costs.

>>> print(analysis.listing.of(system, "abm").text())
"""

from .listing import Listing, of

__all__ = ["Listing", "of"]
