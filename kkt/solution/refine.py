"""Iterative refinement in one number format: residual, correction, and a test for divergence.

The residual is a program of its own, run in the same format; the correction is the order's tape
with the residual in place of a, b and tau.  If corrections do not shrink, the answer is as good as
this format allows, or it had no correct digit at the start (Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed., chapter 12).

The residual of inverse dynamics has rounding errors of its own.  Where a heavy body hangs on light
ones, a rounding error of qdd sends forces of size u m_heavy alpha through the light bodies.  These
are far larger than the light bodies' own forces, and their rounding errors are divided by small
D_k.  One rounding of r_k moves the correction by at least u |r_k| / D_k, where D_k is the inertia
with some joints held; this is known without a solve.

Proximal iteration solves rigid rows of loops and contacts, also dependent ones, in the same way.

Where rows depend on each other, the matrix of lambda is singular, and no order has a pivot for it.
With a compliance mu it is regular, but the answer is that of soft rows.  The proximal point
algorithm (Rockafellar 1976; for constrained dynamics Carpentier, Budhiraja & Mansard 2021) solves
the soft rows again and again, each time about the lambda found before,

    G pdd - mu (lambda_new - lambda) = -gamma,

until lambda does not change.  This is iterative refinement: the residual is that of the rigid rows,
the correction is solved for with the soft ones, by any order, whose factor is used again.  In each
step errors shrink by mu / (mu + s), s the smallest nonzero eigenvalue of J M^-1 J^T.  Where
redundant rows do not determine lambda, the result has the least sum of squares, since the iteration
starts from zero and never leaves the range of J.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Format
from ..base.errors import LoopError
from ..base.foreign import is_number
from ..matrix.entries import RIGHT_HAND_SIDE, Entries
from ..matrix.system import System
from ..program.program import Program
from ..program.residual_program import residual_program, update_program
from ..proof.soundness import backward_of, judged, rows_of
from ..proof.trust import bound, longer
from ..tape.player import rounded_entries, run
from ..tape.tape import Elimination, Proximal, Refinement, Tape, Unknowns, lower

if TYPE_CHECKING:
    from ..model.loops import Loop

SHRINK = 0.5  # a correction must be smaller than this part of the one before
DROWNED = 256  # roundings of a residual that count: it sums many terms larger than itself


def refined(
    system: System, tape: Tape, chosen: Format, first: Elimination, count: int, residual: str = "dynamics"
) -> Elimination:
    """``first``, an order's answer, after at most ``count`` corrections in the same format.

    ``residual`` is "dynamics" (tau - ID(qdd), ID inverse dynamics; corrections solve with
    a = b = 0) or "equations" (all rows of (4)).  Refinement stops where a correction is not smaller
    than half the one before it or, with "dynamics", is no larger than the effect of rounding its
    residual; then the answer whose next correction is smallest is kept.  The order is then named
    "crbm +1", say.  ``flops`` counts residuals, additions, and the operations of the order that
    depend on the right-hand side, since its factor is used again.
    """
    name = f"{first.order} +{count}" if count else first.order
    if first.failed_at is not None or not count:
        status = "not started" if first.failed_at else "done"
        return replace(first, order=name, refinement=Refinement(residual, (), status, 0))
    loop = Corrections(system, tape, chosen, residual)
    answers, sizes, status = loop.run(first.unknowns, count)
    if status == "done":
        kept = len(answers) - 1
    else:  # sizes[j + 1] is the correction that follows from answers[j]
        kept = int(np.nanargmin(sizes[1:])) if np.isfinite(sizes[1:]).any() else 0
        kept += status == "converged" and kept + 1 < len(answers)
        status = f"{status} after {len(sizes) - 1}"
    x = answers[kept]
    scale = sizes[0] or 1.0
    record = Refinement(residual, tuple(size / scale for size in sizes[1:]), status, kept)
    own = x if residual == "equations" else loop.defect(x)  # pdd and f of inverse dynamics at this qdd
    answer = replace(
        first,
        **own._replace(qdd=x.qdd, lam=x.lam)._asdict(),
        order=name,
        flops=first.flops + (len(sizes) - 1) * loop.flops,
        refinement=record,
    )
    entries = rounded_entries(system, chosen)
    return judged(system, tape, chosen, entries, answer, longer(system, tape, chosen, entries))


class Corrections:
    """The programs of refinement for one robot: residual, correction and sum, as tapes."""

    def __init__(
        self, system: System, tape: Tape, chosen: Format, residual: str, rigid: bool = False
    ) -> None:
        """With ``rigid``, rows of loops in the residual are without their compliance."""
        self.system = system
        self.chosen = chosen
        self.tape: Tape = tape
        self.dynamics: bool = residual == "dynamics"
        structure = system.structure
        if rigid:
            hard = tuple(tie._replace(compliant=False) for tie in structure.ties)
            structure = replace(structure, ties=hard)
        self.residual: Tape = lower(residual_program(structure, residual), system)
        self.update: Tape = lower(update_program(system.structure), system)
        if not self.dynamics and not system.pattern.a.all():
            # rows f_k whose a_k is structurally zero have a nonzero residual
            everywhere = replace(system.pattern, a=np.ones_like(system.pattern.a))
            self.tape = lower(tape.program, replace(system, pattern=everywhere, plans={}))

    @property
    def flops(self) -> int:
        """Operations of one correction, the factor used again."""
        if self.dynamics:
            again = operations_on_rhs(self.tape, ("qdd",), ("tau", "gamma"))
            return self.residual.flops + again + self.update.flops
        again = operations_on_rhs(self.tape, ("pdd", "qdd", "f", "lam"), RIGHT_HAND_SIDE)
        return self.residual.length + again + self.update.length

    def run(self, x: Unknowns, count: int) -> tuple[list[Unknowns], list[float], str]:
        """Answers, sizes of the first answer and of all corrections, and how refinement ended."""
        answers, sizes = [x], [x.size]
        for _ in range(count):
            d, doubt = self.correction(self.defect(x))
            sizes.append(d.size)
            if not sizes[-1] < np.inf:
                return answers, sizes, "diverged"
            if sizes[-1] <= self.chosen.unit * sizes[0]:
                return [*answers, self.sum(x, d)], sizes, "converged"
            if not sizes[-1] < SHRINK * sizes[-2]:
                return answers, sizes, "stalled" if sizes[-1] < sizes[-2] else "diverged"
            if DROWNED * doubt > sizes[-1]:
                return answers, sizes, "drowned"
            x = self.sum(x, d)
            if not np.isfinite(x.size):
                return answers, sizes, "diverged"
            answers.append(x)
        return answers, sizes, "done"

    def defect(self, x: Unknowns) -> Unknowns:
        """The residual of an answer."""
        given = {"qdd": x.qdd, "lam": x.lam} if self.dynamics else x._asdict()
        return self._solve(self.residual, given)[0]

    def correction(self, r: Unknowns) -> tuple[Unknowns, float]:
        """A correction, and a least effect on it of rounding its residual once, or 0."""
        given = {"a": -r.f, "b": r.pdd, "tau": r.qdd, "gamma": -r.lam}
        if not self.dynamics:
            return self._solve(self.tape, given)[0], 0.0
        zero = np.zeros_like(r.pdd)
        d, pivots = self._solve(self.tape, given | {"a": zero, "b": zero})
        inertia = self._inertia(pivots)
        moved = np.zeros(len(r.qdd))
        np.divide(np.abs(r.qdd), inertia, out=moved, where=inertia > 0.0)
        return d, self.chosen.unit * float(np.max(moved, initial=0.0))

    def _inertia(self, pivots: dict[int, NDArray[Any]]) -> NDArray[np.float64]:
        """(N,) |pivot| of every joint's unknowns, 0 where its pivot is shared with other blocks."""
        tree, index, places = self.system.tree, self.system.structure.index, np.arange(self.system.tree.N)
        out = np.zeros(tree.N)
        for number, record in enumerate(self.tape.program.pivots):
            if any(b.kind != "qdd" or b.body not in index for b in record.blocks):
                continue
            own = np.concatenate([places[tree.freedoms_of(index[b.body])] for b in record.blocks])
            values = np.abs(pivots[number]).astype(float).ravel()
            if own.size == values.size:
                out[own] = values
        return out

    def sum(self, x: Unknowns, d: Unknowns) -> Unknowns:
        return self._solve(self.update, {**x._asdict(), **{"d" + k: v for k, v in d._asdict().items()}})[0]

    def _solve(self, tape: Tape, given: dict[str, Any]) -> tuple[Unknowns, dict[int, NDArray[Any]]]:
        given = {k: v for k, v in given.items() if k in (*tape.inputs.given, *RIGHT_HAND_SIDE)}
        solution, pivots, _ = run(tape, self.system.entries, self.chosen, given=given)
        return Unknowns.of(self.system, solution, self.chosen.dtype), pivots


def operations_on_rhs(tape: Tape, kinds: Iterable[str], letters: Iterable[str]) -> int:
    """Operations for unknowns of these kinds that depend on these letters of the right-hand side.

    All other operations of the tape belong to the factor and are not repeated.
    """
    program: Program = tape.program
    live = program.live(tuple(kinds))
    letters = set(letters)
    moved = np.zeros(len(program.shapes), dtype=bool)
    count = 0
    for place, i in enumerate(program.instructions):
        if i.op == "input":
            moved[i.out] = i.info[0] in letters
        elif any(moved[ref.value] for ref in i.args if ref is not None):
            moved[i.out] = True
            if live[place]:
                count += int(tape.first[place + 1] - tape.first[place])
    return count


WIDE = np.longdouble  # the type in which residuals are computed


def softened(loops: Sequence[Loop], mu: float) -> list[Loop]:
    """The same rows, each with the compliance ``mu`` [rad/(s^2 N m), m/(s^2 N)] and no other.

    Raises LoopError for a ``mu`` that is not above zero.

    >>> [loop.compliance.tolist() for loop in pt.softened([pt.contact("j3", (0, 0, 0))], 1e-6)]
    [[1e-06]]
    """
    from ..model.loops import Loop

    if not is_number(mu) or mu <= 0.0:
        raise LoopError("proximal", f"mu is {mu!r}", "give a number above zero, such as 1e-4")
    for loop in loops if isinstance(loops, Iterable) else (loops,):
        if not isinstance(loop, Loop):
            what = f"{type(loop).__name__} is no loop or contact"
            raise LoopError("proximal", what, "give system.loops, or what contact and cut_joint make")
    return [replace(loop, compliance=np.full(loop.rows, float(mu))) for loop in loops]


def iterated(system: System, tape: Tape, chosen: Format, first: Elimination, count: int) -> Elimination:
    """The answer for rigid rows, by at most ``count`` iterations from ``first``, that of soft rows.

    ``proximal`` of the answer says what was done, ``backward_error`` is that for (4) with rigid
    rows, and ``marked`` says why the answer should not be relied on: rows that contradict each
    other, or an iteration that has not settled.  The order is then named "abm proximal", say.
    """
    if first.failed_at is not None:
        return first
    loop = Corrections(system, tape, chosen, "equations", rigid=True)
    x, sizes, status = _settled(loop, first.unknowns, count)
    entries = rounded_entries(system, chosen)
    rigid = entries._replace(compliance=np.zeros_like(entries.compliance))
    wide = Entries(*(np.asarray(array, WIDE) for array in rigid))
    left = rows_of(system, wide, Unknowns(*(np.asarray(part, WIDE) for part in x)), -1).lam
    mu = max(float(loop.compliance.max()) for loop in system.loops)
    record = Proximal(mu, len(sizes), float(np.abs(left).max()), status)
    found = replace(
        first,
        **x._asdict(),
        proximal=record,
        error_estimate=None,
        order=f"{first.order} proximal",
        flops=first.flops + len(sizes) * loop.flops,
    )
    return replace(
        found, backward_error=backward_of(system, chosen, rigid, found), marked=_mark(chosen, record, x)
    )


def _settled(loop: Corrections, x: Unknowns, most: int) -> tuple[Unknowns, list[float], str]:
    """The last answer, the sizes of all corrections, and how the iteration ended."""
    sizes: list[float] = []
    unit = loop.chosen.unit
    while len(sizes) < most:
        d, _ = loop.correction(loop.defect(x))
        before = sizes[-1] if sizes else math.inf
        sizes.append(d.size)
        if not d.size < before:  # the correction is rounding error, or grows
            return x, sizes, "settled" if before <= bound(unit) * x.size else "diverged"
        x = loop.sum(x, d)
        if d.size <= unit * x.size:
            return x, sizes, "converged"
    return x, sizes, "not settled"


def _mark(chosen: Format, record: Proximal, x: Unknowns) -> str | None:
    """Why the answer should not be relied on, or None."""
    if record.status in ("diverged", "not settled"):
        return (
            f"the proximal iteration has {record.status} after {record.iterations} iterations with "
            f"mu = {record.mu:g}; give a smaller mu, or a longer format than {chosen.name}"
        )
    scale = max(float(np.abs(x.pdd).max()), x.size)
    if record.residual <= bound(chosen.unit) * scale:
        return None
    return (
        f"rows of loops contradict each other: {record.residual:.2g} (rad/s^2 or m/s^2) is left of "
        f"them after {record.iterations} iterations"
    )
