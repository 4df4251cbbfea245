"""Operation counts and crossings as the papers print them, typed once."""

from __future__ import annotations

from dataclasses import dataclass

from .polynomials import Polynomial


@dataclass(frozen=True)
class Published:
    """A count of one method for n revolute joints on Denavit-Hartenberg frames."""

    method: str
    order: str  # ours that it is the count of
    mul: Polynomial
    add: Polynomial
    source: str
    div: Polynomial | None = None  # None where they are not printed

    @property
    def polynomials(self) -> dict[str, Polynomial]:
        return {"mul": self.mul, "add": self.add}


_TABLE = "Cloutier 1995, section 3.4, from Featherstone 1987"
ABM = Published("ABM", "abm", Polynomial.of(-267, 300), Polynomial.of(-259, 279), _TABLE)
CRBM = Published(
    "CRBM (Cholesky)",
    "crbm",
    Polynomial.of(-109, "481/3", "23/2", "1/6"),
    Polynomial.of(-102, "833/6", 7, "1/6"),
    _TABLE,
)
COUNTS = (ABM, CRBM)
"""Counts for n revolute joints, as Cloutier 1995 prints them.

>>> from pivotree.analysis.counts import COUNTS
>>> {c.method: c.mul.text() for c in COUNTS}["ABM"]
'300 n - 267'
"""

#: Pinocchio's template on symbols, which casadi counts once zeros, ones and constants are folded:
#: right from n = 3 on; tests/peers/pinocchio_counts.py counts again.
PINOCCHIO = Published(
    "Pinocchio 2.6.20 aba",
    "abm",
    Polynomial.of(-516, 337),
    Polynomial.of(-467, 292),
    "counted through casadi",
    Polynomial.of(-10, 6),
)
PEERS = (ABM, CRBM, PINOCCHIO)


@dataclass(frozen=True)
class Saying:
    """Where a paper says that one method overtakes the other."""

    source: str
    says: str


SAYINGS = (
    Saying("Cloutier 1995, section 3.4", "ABM is more efficient for n > 9"),
    Saying("Ascher, Pai & Cloutier 1996, sections 1 and 2", "CRBM has less overhead for n < 7"),
    Saying("Johnson & Su, slides", "ABM is faster than CRBM for n > 9"),
)
