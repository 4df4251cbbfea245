"""Condition numbers of qdd, by adjoints: how much of an error the problem itself forces.

A relative change of each datum e of (4) by at most a unit roundoff u moves qdd_i by at most u times
sum |d qdd_i / d e| |e|, to first order (Skeel 1979; Higham, Accuracy and Stability of Numerical
Algorithms, 2nd ed., section 7.2).  An error beyond that is due to the order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import get_format
from ..base.errors import CertificationError, SizeError
from ..matrix.system import System, efforts_alone, least_size, require_system
from ..rounding.contributions import linearised
from ..tape.player import signed, started
from ..tape.tape import Tape
from ..tape.trace import tape_for
from .eliminate import eliminate

MOST_SWEPT = 1_000_000_000  # operations times outputs of the reverse sweeps at most: some seconds
TOGETHER = 64  # outputs of one sweep
ROUGH = 1e-2  # relative error of qdd in float64 above which derivatives mean nothing


@dataclass(frozen=True, eq=False)
class Conditioning:
    """Sensitivity of every qdd to the data of (4), and of the joint-space inertia.

    The data are the entries of M (one datum for (i, j) and (j, i)), H, Phi, a, b and tau that are
    not structurally zero or one.

    >>> found = pt.conditioning(pt.build(pt.chain(100)))
    >>> round(found.kappa), f"{found.kappa_inertia:.1e}"
    (12, '3.8e+07')
    """

    moved: NDArray[Any] = field(repr=False)  # (N,) sum over the data e of |d qdd_i / d e| |e| [as qdd]
    qdd: NDArray[Any] = field(repr=False)  # (N,) in float64
    shares: dict[str, float]  # shares of M, H, Phi, a, b, tau in kappa; their sum is 1
    inverse_inertia: NDArray[Any] = field(repr=False)  # (N, N) d qdd / d tau, of rank N - held
    held: int = 0  # freedoms that closed loops and contacts take away
    least: float = 0.0  # size that errors of qdd are relative to, where no qdd is larger [as qdd]
    # (N,) what efforts, gravity and rates can do to each joint, all magnitudes summed [as qdd]
    reach: NDArray[Any] = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def kappa(self) -> float:
        """max moved / max |qdd|: a first-order bound of the relative error, in unit roundoffs.

        Where a robot nearly holds still, as :mod:`kkt.matrix.system` has it, ``least`` takes the
        place of max |qdd|.
        """
        return _ratio(self.moved.max(initial=0.0), np.abs(self.qdd).max(initial=self.least))

    @property
    def joints(self) -> NDArray[Any]:
        """(N,) moved / |qdd| of each joint by itself; infinite where qdd is 0."""
        return np.array([_ratio(m, abs(x)) for m, x in zip(self.moved, self.qdd, strict=True)])

    @property
    def kappa_inertia(self) -> float:
        """2-norm condition number of the joint-space inertia, on the motions that loops allow."""
        free = self.qdd.size - self.held
        size = np.linalg.svd(self.inverse_inertia, compute_uv=False)
        return _ratio(size[0], size[free - 1]) if free > 0 else 1.0


def conditioning(system: System, order: Tape | Any = None) -> Conditioning:
    """Condition numbers of qdd with respect to the entries of (4), in float64.

    ``order`` may be a traced one; None is ABM.  Raises SizeError for a tree so large that it
    would take long, and CertificationError where float64 keeps less than two digits of qdd, so that
    its derivatives mean nothing.

    >>> found = pt.conditioning(pt.build(pt.chain(10)))
    >>> round(found.kappa, 1), max(found.shares, key=found.shares.get)
    (7.3, 'Phi')
    """
    require_system(system)
    tape = tape_for(system, order)
    N = system.tree.N
    if tape.length * N > MOST_SWEPT:
        what = f"a condition number takes {tape.length * N:.0e} operations, more than {MOST_SWEPT:.0e}"
        raise SizeError(system.name, what, "use a smaller tree")
    _require_digits(system, tape)
    double = get_format("float64")
    start = np.asarray(started(tape, system.entries, double))
    run = linearised(tape, system.entries, double, "float64")  # beside itself: derivatives at its values
    outputs = tape.unknowns(system).qdd
    inputs = tape.inputs
    letters = _letters(system)
    slots = {letter: _data(inputs.slots("S" if letter == "H" else letter)) for letter in letters}
    parts = {letter: np.zeros(N) for letter in letters}
    inverse = np.zeros((N, N))
    for first in range(0, N, TOGETHER):
        here = slice(first, first + TOGETHER)
        adjoint = np.stack([run.swept({slot: 1.0})[1] for slot in outputs[here].tolist()], axis=1)
        for letter, where in slots.items():
            parts[letter][here] = np.abs(start[where]) @ np.abs(adjoint[where])
        inverse[:, here] = adjoint[inputs.slots("tau")]
    moved = np.sum([*parts.values()], axis=0)
    worst = int(np.argmax(moved)) if N else 0
    shares = {
        letter: float(part[worst] / moved[worst]) if N and moved[worst] else 0.0
        for letter, part in parts.items()
    }
    held = int((system.entries.compliance == 0.0).sum())
    efforts, _ = efforts_alone(system.tree, system.entries)
    reach = np.abs(inverse) @ np.abs(efforts).sum(axis=0)
    qdd = signed(run.v, outputs)
    return Conditioning(moved, qdd, shares, inverse, held, least_size(system), reach)


def _letters(system: System) -> tuple[str, ...]:
    """M H Phi a b tau in this order, then A and the letters of loops where there are any."""
    more = ("G", "gamma", "compliance") if system.structure.ties else ()
    own = ("A",) if system.structure.armature.any() else ()
    return ("M", "H", "Phi", "a", "b", "tau", *own, *more)


def _require_digits(system: System, tape: Tape) -> None:
    """Raise CertificationError where an answer in twice the digits shows that float64 is off by ROUGH."""
    result = eliminate(system, tape, "float64", records=False)
    if result.error_estimate is None or not result.error_estimate < ROUGH:
        few = f"float64 by {tape.program.name!r} keeps no two digits of qdd, so that"
        raise CertificationError(system.name, f"{few} condition numbers taken from it would mean nothing")


def _data(slots: NDArray[np.int64]) -> NDArray[np.int64]:
    """The slots of data, each once, since M is symmetric; structural zeros and ones are no data."""
    return np.unique(slots[slots > 1])


def _ratio(x: float, y: float) -> float:
    if y:
        return float(x) / float(y)
    return math.inf if x else 0.0
