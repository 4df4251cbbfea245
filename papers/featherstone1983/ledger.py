"""Operations counted by running formulas on numbers of which no more than their kind is known.

Numbers are zero, one, a constant of the model, or anything; an operation counts where a constant of
the model does not give its result.
"""

from __future__ import annotations

from typing import Any

ZERO, ONE = 0, 1
CONSTANT = 2
"""A number that the model gives: what is computed from such alone is found once, and not counted.

>>> from pivotree.papers.featherstone1983.ledger import CONSTANT, Known, Ledger
>>> ledger = Ledger()
>>> (Known(CONSTANT, ledger) + 2.0).kind == CONSTANT, ledger.add
(True, 0)
"""
ANY = 3
"""A number that the state gives, of which nothing is known.

>>> from pivotree.papers.featherstone1983.ledger import ANY, Known, Ledger
>>> ledger = Ledger()
>>> (Known(ANY, ledger) + 2.0).kind == ANY, ledger.add
(True, 1)
"""


class Ledger:
    """Multiplications and additions so far.

    >>> from pivotree.papers.featherstone1983.ledger import Ledger
    >>> Ledger().mul, Ledger().add
    (0, 0)
    """

    def __init__(self) -> None:
        self.mul = self.add = 0


class Known:
    """A number of which no more than its kind is known.

    >>> from pivotree.papers.featherstone1983.ledger import ANY, CONSTANT, Known, Ledger
    >>> ledger = Ledger()
    >>> q, length = Known(ANY, ledger), Known(CONSTANT, ledger)
    >>> total = q * length + 0 * q  # a product with zero is none, and leaves nothing to add
    >>> ledger.mul, ledger.add
    (1, 0)
    """

    __slots__ = ("kind", "ledger")

    def __init__(self, kind: int, ledger: Ledger) -> None:
        self.kind: int = kind
        self.ledger: Ledger = ledger

    def _of(self, other: Any) -> Known:
        if isinstance(other, Known):
            return other
        kind = ZERO if other == 0 else ONE if abs(other) == 1 else CONSTANT
        return Known(kind, self.ledger)

    def __neg__(self) -> Known:
        return self

    def __add__(self, other: Any) -> Known:
        other = self._of(other)
        if ZERO in (self.kind, other.kind):
            return self if other.kind == ZERO else other
        if ANY not in (self.kind, other.kind):
            return Known(CONSTANT, self.ledger)
        self.ledger.add += 1
        return Known(ANY, self.ledger)

    def __mul__(self, other: Any) -> Known:
        other = self._of(other)
        if ZERO in (self.kind, other.kind):
            return Known(ZERO, self.ledger)
        if ONE in (self.kind, other.kind):
            return self if other.kind == ONE else other
        if ANY not in (self.kind, other.kind):
            return Known(CONSTANT, self.ledger)
        self.ledger.mul += 1
        return Known(ANY, self.ledger)

    __radd__ = __sub__ = __rsub__ = __add__
    __rmul__ = __mul__
