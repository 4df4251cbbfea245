"""When an answer may be trusted: the rule that every solver of (4) follows, and its sentences.

Let u be the unit roundoff of a format.  The bound is half of its digits, sqrt(u): 2e-4 in float32,
1e-8 in float64.

An answer is *marked* if the error of qdd, relative to its largest entry, exceeds the bound (where
efforts, gravity and rates nearly cancel, relative to a part of what one of them would do alone:
:mod:`kkt.matrix.system`); if that of lambda does, relative to the largest force of joints and
loops (or to the weight of a body where all forces are zero but for rounding, as in free fall); or if
its backward error does: the least relative change of (4) in the maximum norm for which it is exact
(Rigal & Gaches 1967).  The least change entry by entry (Oettli & Prager 1964) is reported and marks
nothing: where forces are zero but for rounding, it is never small.  Both are in Higham, Accuracy and
Stability of Numerical Algorithms, 2nd ed., section 7.1.
An answer is *refused* if one of its pivots is zero for the format, which rounding hides, and if its
error exceeds the bound or the pivot is rounding alone; otherwise such an answer is marked.
A refusal *names* the pivot's block and step and, where (4) itself is singular, the body and the
joint (:mod:`kkt.tape.idle`).

How the error and the zero pivot are found depends on the digits that a solver has:

* :func:`kkt.eliminate`, refinement, comparisons, reports and sweeps run the same operations in
  twice the digits (:mod:`kkt.proof.longer`).  The distance of the answers is the error; a pivot
  that is :data:`NO_BIT` of itself away from its value there is zero.  Reports and sweeps judge qdd
  alone, and lambda is not among what they tell.
* What follows from further right-hand sides of the same pivots (``columns`` of an answer,
  :func:`kkt.joint_space_inverse` and derivatives) is judged likewise, each matrix by its own largest
  entry; it has no backward error.
* Checked kernels, and simulations and floors by them, have one factor.  The joint efforts less
  those of inverse dynamics, in float64 also for shorter formats and from the state on
  (:mod:`kkt.machine.checking`), are the residual of (4), whose other rows hold to rounding; the same
  factor's correction for this residual is the error (Higham, chapter 12).  A pivot is zero if it
  is no larger than :data:`ROUNDINGS` u times the inertia that its joint moves with all joints
  beyond it locked (:mod:`kkt.machine.checking`).
* :func:`kkt.solve_large` body by body has float64 alone, and keeps no factor.  Where the tree, the
  residual or the forces on joints give reason, it runs again, several times, on entries that are perturbed by
  :data:`ROUNDINGS` roundings: every operation then rounds otherwise, and the distance of the answers
  is the error, the data's own rounding included.  Pivots are not inspected: an answer is refused
  whose error is :data:`NO_BIT` or more, unless in equilibrium, or whose backward error exceeds the
  bound.  For up to 2000 bodies it is also checked whether (4) itself is singular.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..matrix.entries import LETTERS, Entries

NO_BIT = 0.5  # relative error from which on no bit of a number is right
NOTHING = 2.0**-10  # of a pivot: it is rounding alone if in more digits it is no larger than this
DOUBTFUL = 1e-3  # relative error of a pivot from which on (4) itself is checked
UNIT = 2.0**-53  # unit roundoff of the data of a model
ROUNDINGS = 4.0  # roundings that an entry, or a pivot that is zero, may have

ZERO = "pivot {}: zero for {}"  # a block and its step, a format
NO_NUMBER = "{}: overflow or not a number"  # a kind of unknowns
FEWER = "{} keeps fewer than half of its digits here"
NONE_LEFT = "{} keeps no digit here"
LEFT = "leaves {:.1g} of equation (4), more than half of {}'s digits"


def bound(unit: float) -> float:
    """The bound of errors and backward errors, in a format of this unit roundoff."""
    return math.sqrt(unit)


def mark(error: float, backward: float, format: str, unit: float, multipliers: float = 0.0) -> str | None:
    """Why an answer should not be relied on, or None.

    ``error`` of qdd relative to its largest entry, or what counts in its place; ``backward``:
    normwise, in (4); ``multipliers``: the error of lambda relative to the largest force.
    """
    for off, what in ((error, "error"), (multipliers, "error of lambda")):
        if not off <= bound(unit):
            kept = FEWER if off < NO_BIT else NONE_LEFT
            return f"{kept.format(format)} ({what} about {off:.1g})"
    return None if backward <= bound(unit) else LEFT.format(backward, format)


def size_of(x: Any) -> float:
    """The largest magnitude in an array; 1 where all are zero."""
    return float(np.abs(np.asarray(x, dtype=float)).max(initial=0.0)) or 1.0


def weight_of(entries: Entries) -> float:
    """What gravity or rates ask of a body at most, by the largest entries of M and a."""
    return size_of(entries.M) * size_of(entries.a)


def shaken(entries: Entries, most: float, times: int) -> Entries:
    """Entries in float64, each perturbed by up to ``most`` of itself, and anew for each ``times``.

    Equal numbers are perturbed alike, as rounding does, and 0 and 1 stay: they are exact in every
    format.  What is no larger than a rounding of the numbers beside it, as the cosine of pi/2 in
    float64, may stand for an exact zero: it is changed by a rounding of these.
    """
    return Entries(*(_shaken(np.asarray(getattr(entries, x)), most, times, x in "M S Phi") for x in LETTERS))


def _shaken(x: NDArray[Any], most: float, times: int, blocks: bool) -> NDArray[np.float64]:
    size = np.abs(np.ascontiguousarray(x, dtype=float))
    beside = _largest_beside(size) if blocks else size
    bits = size.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15 * (times + 1) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    change = (bits >> np.uint64(11)).astype(float) * 2.0**-52 - 1.0
    moved = np.asarray(x * np.where(size == 1.0, 1.0, 1.0 + most * change))
    chance = (size > 0.0) & (size <= ROUNDINGS * UNIT * beside)
    return np.where(chance, most * change * beside, moved)


def _largest_beside(size: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest number of each half (3,) of a row of S, or of each (3, 3) of M and Phi."""
    if size.ndim == 2:
        return np.repeat(size.reshape(-1, 2, 3).max(axis=2), 3, axis=1)
    quarters = size.reshape(-1, 2, 3, 2, 3).max(axis=(2, 4))
    return np.repeat(np.repeat(quarters, 3, axis=1), 3, axis=2)
