"""When an answer may be trusted: the rule that every reader of (4) keeps, and its words.

Let u be the unit roundoff of a format.  The bound is half of its digits, sqrt(u): 2e-4 in float32,
1e-8 in float64.

*Marked* is an answer whose error, relative to its largest entry, exceeds the bound, or whose
backward error does: the least relative change of (4) in the maximum norm for which it is exact
(Rigal & Gaches 1967).  The change entry by entry (Oettli & Prager 1964) is told and marks nothing:
where forces are zero but for rounding, as in free fall, it is never small.  Both are in Higham,
Accuracy and Stability of Numerical Algorithms, 2nd ed., section 7.1.
*Refused* is an answer behind a pivot that is zero for the format, which rounding hides, if it is
off by more than the bound or nothing but rounding is left of the pivot.
*Named* are then the pivot's block and step and, where (4) itself is singular, the body and the
joint (:mod:`kkt.proof.idle`).

The error, and the zero, are seen in as many digits as a reader has:

* :func:`kkt.eliminate`, refinement, comparisons, reports and sweeps run the same operations in
  twice the digits (:mod:`kkt.proof.longer`).  The distance of the answers is the error; a pivot
  that is :data:`NO_BIT` of itself away from its value there is zero.
* Checked kernels, and simulations and floors by them, have one format.  What inverse dynamics
  leaves of the efforts is the residual of (4) whose other rows hold to rounding; the correction
  that it asks of the same factor is the error (Higham, chapter 12).  A pivot is zero that is no
  larger than :data:`ROUNDINGS` u times what its joint moves with all joints beyond it stuck
  (:mod:`kkt.machine.checking`).
* :func:`kkt.solve_large` has float64 alone, and no factor that is kept.  Where the tree or the
  residual gives reason, it runs again, some times, on entries that are shaken by
  :data:`ROUNDINGS` roundings: every operation then rounds otherwise, and the distance of the
  answers is the error, the data's own rounding included.  Pivots are not seen: refused is an
  answer that is off by :data:`NO_BIT`, but in equilibrium, or leaves more of (4) than the bound.
  Of up to 2000 bodies (4) itself is looked at as well.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..matrix.entries import LETTERS, Entries

NO_BIT = 0.5  # of a number, that it is off where no bit of it is right
NOTHING = 2.0**-10  # of a pivot, that more digits leave where it is rounding alone
DOUBTFUL = 1e-3  # relative error of a pivot from which (4) itself is looked at
ROUNDINGS = 4.0  # that an entry, or a pivot that is zero, may have met

ZERO = "pivot {}: zero for {}"  # a block and its step, a format
NO_NUMBER = "{}: overflow or not a number"  # a kind of unknowns
FEWER = "{} keeps fewer than half of its digits here"
NONE_LEFT = "{} keeps no digit here"
LEFT = "leaves {:.1g} of equation (4), more than half of {}'s digits"


def bound(unit: float) -> float:
    """Of errors and backward errors, in a format of this unit roundoff."""
    return math.sqrt(unit)


def mark(error: float, backward: float, format: str, unit: float) -> str | None:
    """Why an answer should not be relied on, or None.

    ``error`` of qdd relative to its largest entry; ``backward``: normwise, in (4).
    """
    if not error <= bound(unit):
        kept = FEWER if error < NO_BIT else NONE_LEFT
        return f"{kept.format(format)} (error about {error:.1g})"
    return None if backward <= bound(unit) else LEFT.format(backward, format)


def shaken(entries: Entries, most: float, times: int) -> Entries:
    """Entries in float64, each moved by up to ``most`` of itself; others for each of ``times``.

    Equal numbers move alike, as rounding moves them, and 0 and 1 stay: they are exact in every
    format.
    """
    return Entries(*(_shaken(np.asarray(getattr(entries, x)), most, times) for x in LETTERS))


def _shaken(x: NDArray[Any], most: float, times: int) -> NDArray[np.float64]:
    size = np.abs(np.ascontiguousarray(x, dtype=float))
    bits = size.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15 * (times + 1) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    change = (bits >> np.uint64(11)).astype(float) * 2.0**-52 - 1.0
    return np.asarray(x * np.where(size == 1.0, 1.0, 1.0 + most * change))
