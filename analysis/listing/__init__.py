"""Orders told as algorithms: ``of(system, order)`` gives loops, lines, symbols.

>>> from pivotree.analysis import listing
>>> print(listing.render(listing.of(pt.build(pt.chain(2)), "abm")))
abm on chain_2 (Featherstone 1983; Ascher, Pai & Cloutier 1996, eqs (5)-(7))
...
"""

from pivotree.kkt.base.errors import OrderError

from .latex import latex
from .listing import Listing, of
from .python import python
from .text import full, pseudocode, text

__all__ = ["Listing", "full", "of", "render"]

STYLES = {"text": text, "pseudocode": pseudocode, "latex": latex, "python": python}


def render(listing: Listing, style: str = "text") -> str:
    """The listing in a style: "text", loops and lines, symbols explained; "pseudocode", loops and
    assignments in no language; "latex", a standalone article; "python", a numpy script that
    runs.  Raises OrderError for another style.

    >>> from pivotree.analysis import listing
    >>> print(listing.render(listing.of(pt.build(pt.chain(2)), "abm"), "pseudocode"))
    algorithm abm
    for k from tip to base do
        I^A_k ← I_k + Σ_{c ∈ children(k)} X_cᵀ (I^A_c - U_c U_cᵀ / D_c) X_c
    ...
    """
    if style not in STYLES:
        raise OrderError(f"style {style!r} is unknown; use {', '.join(STYLES)}")
    return STYLES[style](listing)
