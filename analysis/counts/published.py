"""Operation counts and crossings as the papers print them, typed once."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq, fmpq_poly


@dataclass(frozen=True)
class Published:
    """A count of one method for n revolute joints on Denavit-Hartenberg frames."""

    method: str
    order: str  # ours that it is the count of
    mul: fmpq_poly
    add: fmpq_poly
    source: str
    div: fmpq_poly | None = None  # None where they are not printed

    @property
    def polynomials(self) -> dict[str, fmpq_poly]:
        return {"mul": self.mul, "add": self.add}


_TABLE = "Cloutier 1995, section 3.4, from Featherstone 1987"
ABM = Published("ABM", "abm", fmpq_poly([-267, 300]), fmpq_poly([-259, 279]), _TABLE)
CRBM = Published(
    "CRBM (Cholesky)",
    "crbm",
    fmpq_poly([-109, fmpq(481, 3), fmpq(23, 2), fmpq(1, 6)]),
    fmpq_poly([-102, fmpq(833, 6), 7, fmpq(1, 6)]),
    _TABLE,
)
COUNTS = (ABM, CRBM)
"""Counts for n revolute joints, as Cloutier 1995 prints them.

>>> from pivotree.analysis.counts import COUNTS, text_of
>>> {c.method: text_of(c.mul) for c in COUNTS}["ABM"]
'300 n - 267'
"""

#: Pinocchio's template on symbols, which casadi counts once zeros, ones and constants are folded:
#: right from n = 3 on; tests/peers/pinocchio_counts.py counts again.
PINOCCHIO = Published(
    "Pinocchio 2.6.20 aba",
    "abm",
    fmpq_poly([-516, 337]),
    fmpq_poly([-467, 292]),
    "counted through casadi",
    fmpq_poly([-10, 6]),
)
PEERS = (ABM, CRBM, PINOCCHIO)
