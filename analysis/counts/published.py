"""Counts that are printed, of methods that orders are counted beside."""

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
