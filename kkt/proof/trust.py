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
  twice the digits (:class:`Longer`).  The distance of the answers is the error; a pivot
  that is :data:`NO_BIT` of itself away from its value there is zero.  Reports and sweeps judge qdd
  alone, and lambda is not among what they tell.
* What follows from further right-hand sides of the same pivots (``columns`` of an answer,
  :func:`kkt.joint_space_inverse` and derivatives) is judged likewise, each matrix by its own largest
  entry; it has no backward error.
* Checked kernels, and simulations and floors by them, have one factor, whose correction for the
  residual of inverse dynamics is the error (:mod:`kkt.machine.checking`).
* :func:`kkt.solve_large` body by body keeps no factor, and runs again on perturbed entries
  (:mod:`kkt.scale.large`).

Why twice the digits: a pivot that is zero need not come out as zero, since rounding leaves something
in its place, in every format, and what follows is divided by it.  No bound tells such a pivot from a
small one without false alarms, since bounds widen by some bits a body.  In twice the digits the
rounding is the square of what it was (Higham, section 1.13, on the method and on what it may miss).
Longer formats are run in balls.  A ball of python-flint (Johansson 2017) is a midpoint and a radius,
and holds the exact value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import flint
import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..arithmetic.objects import each
from ..matrix.entries import Entries, assemble
from ..matrix.system import System
from ..tape.player import GUARD_DIGITS, played, run, signed, started
from ..tape.tape import Tape

NO_BIT = 0.5  # relative error from which on no bit of a number is right
NOTHING = 2.0**-10  # of a pivot: it is rounding alone if in more digits it is no larger than this
DOUBTFUL = 1e-3  # relative error of a pivot from which on (4) itself is checked

ZERO = "pivot {}: zero for {}"  # a block and its step, a format
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
            about = f"about {off:.1g}" if off >= 0.0 else "unknown, as twice the digits overflow, too"
            return f"{kept.format(format)} ({what} {about})"
    return None if backward <= bound(unit) else LEFT.format(backward, format)


# longer formats ---------------------------------------------------------------------------------


class DecimalBall(NamedTuple):
    """A ball in decimals: the exact value lies within ``rad`` of ``mid``."""

    mid: str
    rad: str  # the ball's own radius, and what rounding its midpoint to decimals adds


def decimal_ball(ball: Any, digits: int) -> DecimalBall:
    """A finite ball as a midpoint of ``digits`` significant digits and a radius of two or three.

    What the ball holds, this one holds.
    """
    middle, _, radius = ball.str(digits, more=True).strip("[]").partition("+/-")
    mid, rad = (Decimal(text.strip() or 0) for text in (middle, radius))
    return DecimalBall(f"{mid:.{digits - 1}e}" if mid else "0", f"{rad:e}" if rad else "0")


def ball_of(x: Any) -> Any:
    if isinstance(x, float | np.floating):  # most are
        return flint.arb(float(x))
    if isinstance(x, flint.arb):
        return x
    if isinstance(x, Fraction):
        return flint.arb(flint.fmpq(x.numerator, x.denominator))
    if isinstance(x, complex):  # double-double, as it travels
        return flint.arb(x.real) + flint.arb(x.imag)
    if hasattr(x, "_mpf_"):  # mpmath
        return flint.arb(x)
    if hasattr(x, "as_integer_ratio"):  # a user's number
        return ball_of(Fraction(*x.as_integer_ratio()))
    return flint.arb(float(x))


def distance(x: Any, y: Any) -> float:
    """|x - y| at most; 0 for a fraction that lies in the ball y, since both are exact."""
    difference = ball_of(x) - y
    if isinstance(x, Fraction) and 0 in difference:
        return 0.0
    return magnitude(difference)


def magnitude(ball: Any) -> float:
    return float(abs(ball).upper()) if ball.is_finite() else float("inf")


def decimal(x: Any, digits: int) -> str:
    """A number as a decimal string of ``digits`` significant digits."""
    import mpmath

    context = mpmath.MPContext()
    context.dps = digits + 20
    if isinstance(x, flint.arb):
        mantissa, exponent = x.mid().man_exp()
        x = context.ldexp(context.mpf(int(mantissa)), int(exponent))
    elif not hasattr(x, "_mpf_"):
        x = context.mpf(x.numerator) / x.denominator
    return mpmath.nstr(x, digits, strip_zeros=False)


SHORT = 2.0**-30  # unit roundoff from which float64 has twice the digits
BITS_OF_PAIRS = 2 * 106 + 64
BITS_A_LEVEL = 8  # by which balls widen from tip to base, at most as a rule
DOUBLINGS = 3  # of the bits, where balls have widened more; wider ones hold a pivot that is zero

Floats = NDArray[np.float64]
Pair = tuple[NDArray[Any], NDArray[Any]]  # values as unevaluated sums high + low
Slots = NDArray[np.int64] | None
Numbers = NDArray[Any] | None


class Lost(NamedTuple):
    """A pivot of a format beside its value in more digits."""

    number: int  # of its record
    own: float
    exact: float
    apart: float  # their distance over the larger of the two

    @property
    def zero(self) -> bool:
        """No bit of it is right."""
        return self.apart >= NO_BIT

    @property
    def nothing(self) -> bool:
        """It is rounding alone."""
        return not abs(self.exact) > NOTHING * abs(self.own)


@dataclass(frozen=True)
class Longer:
    """Pivots and answers of a tape in more digits than those of a format.

    Numbers are unevaluated sums high + low of two float64, or balls of ``bits``.
    """

    pivots: Any  # (P,) of all records, one after another
    qdd: Any  # (N,) bodies in the tree's order
    bits: int = 0  # of balls
    lam: Any = None  # (m,) multipliers of all loops
    more: Any = None  # the numbers that were asked for beside these, flat

    def against(self, tape: Tape, pivots: Mapping[int, Any], chosen: Format) -> Lost | None:
        """The first pivot that is zero for the format, or else the one that is farthest off."""
        own, off, exact = self.apart(np.concatenate([np.zeros(0), *pivots.values()]), self.pivots)
        if not len(own):
            return None
        with np.errstate(all="ignore"):
            size = np.maximum(np.abs(own), np.abs(exact))
            apart = np.nan_to_num(np.where(size > 0.0, off / size, 0.0), nan=np.inf)
        wrong = apart >= NO_BIT
        at = int(np.argmax(wrong) if wrong.any() else np.argmax(apart))
        return Lost(int(tape.pivot_records[at]), own[at], exact[at], float(apart[at]))

    def error(self, qdd: NDArray[Any], least: float = 0.0) -> float:
        """max |qdd - this| / max |this|: the error of qdd in a format, to one digit.

        ``least`` is the size beside which it is taken, where no number is larger
        (:mod:`kkt.matrix.system`).
        """
        return self.error_of(qdd, self.qdd, least, 0.0, 0.0)

    def among(self, here: slice) -> Any:
        """Some of the numbers that were asked for beside qdd."""
        return self.more[here] if self.bits else tuple(part[here] for part in self.more)

    def error_of(self, own: NDArray[Any], exact: Any, largest: float, floor: float, unit: float) -> float:
        """max |own - exact| over the largest of ``exact`` and ``largest``.

        Where these are zero but for rounding, no larger than half of a format's digits beside
        ``floor``, it is relative to ``floor``.
        """
        _, off, high = self.apart(own, exact)
        with np.errstate(all="ignore"):
            worst, size = (float(np.max(np.abs(x), initial=0.0)) for x in (off, high))
        size = max(size, largest)
        size = floor if size <= bound(unit) * floor else size
        return worst / size if size else (0.0 if worst == 0.0 else np.inf)

    def apart(self, own: Any, exact: Any) -> tuple[Floats, Floats, Floats]:
        """Values of a format, their distance to these, and these, as float64."""
        if not self.bits:
            high, low = exact
            first, second = _pair(np.asarray(own).ravel())
            with np.errstate(all="ignore"):
                return first, np.abs((first - high) + (second - low)), high
        with flint.ctx.workprec(self.bits):
            pairs = [(ball_of(x).mid(), y.mid()) for x, y in zip(own, exact, strict=True)]
            values = [(float(x), abs(float(x - y)), float(y)) for x, y in pairs]
        first, off, high = np.array(values, dtype=float).reshape(-1, 3).T
        return first, off, high


def longer_name(chosen: Format) -> str:
    """float64 beside short formats, double-double beside float64, and balls beside longer ones."""
    if chosen.kind != "float":
        return "ball"
    return "float64" if chosen.unit > SHORT else "dd"


def longer(
    system: System, tape: Tape, chosen: Format, entries: Entries, more: Slots = None, beside: Numbers = None
) -> Longer:
    """Run a tape in more digits on the ``entries`` that a format starts from.

    For mp:D these are of the model itself, and more digits are taken from the assembly on.  ``more``
    (k,) are signed slots whose numbers are wanted too, and ``beside`` the doubles of the inputs
    that are not in (4).
    """
    name = longer_name(chosen)
    given = {} if beside is None or not beside.size else {"beside": beside}
    if given and not chosen.from_model:
        given["beside"] = chosen.shown(chosen.cast(given["beside"]))
    if name == "ball":
        return _in_balls(system, tape, chosen, entries, more, given)
    carrier = get_format(name)
    v = started(tape, entries, carrier, given)
    return of_slots(system, tape, played(tape, carrier.runner(tape), v), more)


def of_slots(system: System, tape: Tape, v: NDArray[Any], more: Slots = None) -> Longer:
    """From the values of all slots: float64, or pairs high + low i."""

    def values(slots: NDArray[np.int64]) -> Pair:
        with np.errstate(all="ignore"):
            return _pair(signed(v, slots))

    own = tape.unknowns(system)
    wanted = None if more is None else values(more)
    return Longer(values(tape.pivot_slots), values(own.qdd), lam=values(own.lam), more=wanted)


def _in_balls(
    system: System, tape: Tape, chosen: Format, entries: Entries, more: Slots, given: dict[str, NDArray[Any]]
) -> Longer:
    least, own = ball_bits(system, chosen), tape.unknowns(system)
    for bits in (least << doubled for doubled in range(DOUBLINGS + 1)):
        with flint.ctx.workprec(bits):
            if chosen.from_model:
                exact = assemble(system.state, flint.arb)
            else:
                exact = as_balls(entries, chosen)
            data = {letter: each(ball_of, values) for letter, values in given.items()}
            v = run(tape, exact, flint.arb, data)[2]
            pivots, qdd, lam = (signed(v, slots) for slots in (tape.pivot_slots, own.qdd, own.lam))
            wanted = None if more is None else signed(v, more)
            found = Longer(pivots, qdd, bits, lam, wanted)
            if _narrow(qdd if wanted is None else wanted, chosen.unit):
                break
    return found


def _narrow(qdd: Any, unit: float) -> bool:
    """Whether the midpoints of balls may stand for them beside numbers of a format."""
    width = max((float(x.rad()) for x in qdd), default=0.0)
    return width <= unit * max((float(abs(x.mid())) for x in qdd), default=0.0)


def ball_bits(system: System, chosen: Format) -> int:
    """Bits of balls that have twice a format's digits left at the base."""
    bits = BITS_OF_PAIRS
    if chosen.kind == "mp":
        bits = int(2 * 3.33 * (chosen.digits + GUARD_DIGITS)) + 64
    elif chosen.kind == "object":
        bits = int(-2 * np.log2(chosen.unit)) + 64
    return bits + BITS_A_LEVEL * len(system.tree.levels)


def as_balls(entries: Entries, chosen: Format) -> Entries:
    """Entries in a format's numbers as exact balls."""
    return Entries(*(each(ball_of, chosen.shown(np.asarray(array))) for array in entries))


def _pair(values: NDArray[Any]) -> Pair:
    """Numbers of a float format, pairs of double-double among them, as sums of two float64."""
    return np.asarray(values.real, dtype=float), np.asarray(values.imag, dtype=float)
