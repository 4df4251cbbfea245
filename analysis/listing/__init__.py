"""Orders told as algorithms: ``of(system, order)`` gives loops, lines, symbols.

>>> from pivotree.analysis import listing
>>> print(listing.render(listing.of(pt.build(pt.chain(2)), "abm")))
abm on chain_2 (Featherstone 1983; Ascher, Pai & Cloutier 1996, eqs (5)-(7))
...
"""

from typing import overload

from pivotree.kkt import Matrix, System
from pivotree.kkt.base.errors import OrderError
from pivotree.kkt.order.sequence import OrderLike

from . import listing, matrices
from .latex import latex
from .listing import Listing
from .matrices import MatrixListing
from .python import python
from .text import full, pseudocode, text

__all__ = ["Listing", "MatrixListing", "full", "of", "render"]

STYLES = {"text": text, "pseudocode": pseudocode, "latex": latex, "python": python}


@overload
def of(system: System, order: OrderLike, notation: str | None = None) -> Listing: ...
@overload
def of(system: Matrix, order: OrderLike, notation: str | None = None) -> MatrixListing: ...
def of(system: System | Matrix, order: OrderLike, notation: str | None = None) -> Listing | MatrixListing:
    """The listing of an order (a function, a sequence, or a name) on a robot's tree, or on a matrix.

    ``notation`` is "ascher", "featherstone" or "yamane"; without it, the one in which the order is
    known.  A matrix has one notation.  Raises OrderError for an order that cannot be eliminated or an
    unknown notation, and SizeError for one that fills in too much to be read.

    >>> from pivotree.analysis import listing
    >>> listing.of(pt.build(pt.chain(2)), "abm", notation="ascher").notation
    'ascher'
    """
    if not isinstance(system, Matrix):
        return listing.of(system, order, notation)
    if notation is not None:
        raise OrderError(
            f"notation {notation!r}", f"is of robots, and {system.name} is a matrix", "leave it out"
        )
    return matrices.of_matrix(system, order)


def render(listing: Listing | MatrixListing, style: str = "text") -> str:
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
        raise OrderError(f"style {style!r}", "is unknown", f"use {', '.join(STYLES)}")
    if isinstance(listing, MatrixListing):
        return matrices.render(listing, style)
    return STYLES[style](listing)
