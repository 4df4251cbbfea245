"""Rigid rows of loops and contacts, also dependent ones, by proximal iteration.

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
from dataclasses import fields, replace

import numpy as np

from ..arithmetic.formats import Format
from ..base.errors import LoopError
from ..matrix.entries import Entries, assemble
from ..matrix.state import following
from ..matrix.system import System, require_system
from ..model.loops import Loop
from ..proof.residual import rows_of
from ..proof.soundness import backward_of
from ..tape.player import rounded_entries
from ..tape.tape import Elimination, Proximal, Tape
from ..tape.trust import bound
from .refine import Answer, Corrections

WIDE = np.longdouble  # the type in which residuals are computed


def softened(loops: Sequence[Loop], mu: float) -> list[Loop]:
    """The same rows, each with the compliance ``mu`` [rad/(s^2 N m), m/(s^2 N)] and no other.

    Raises LoopError for a ``mu`` that is not above zero.

    >>> [loop.compliance.tolist() for loop in pt.softened([pt.contact("j3", (0, 0, 0))], 1e-6)]
    [[1e-06]]
    """
    good = isinstance(mu, int | float | np.number) and not isinstance(mu, bool)
    if not good or not 0.0 < mu < math.inf:
        raise LoopError(f"proximal: mu is {mu!r}; give a number above zero, such as 1e-4")
    for loop in loops if isinstance(loops, Iterable) else (loops,):
        if not isinstance(loop, Loop):
            told = f"proximal: {type(loop).__name__} is no loop or contact"
            raise LoopError(f"{told}; give system.loops, or what contact and cut_joint make")
    return [replace(loop, compliance=np.full(loop.rows, float(mu))) for loop in loops]


def rigid(system: System) -> System:
    """The system in the same state with rigid rows, without rows that depend on others.

    The remaining rows give the accelerations of all rows, if these do not contradict each other,
    and every order can eliminate them (Carpentier, Budhiraja & Mansard 2021 iterate towards the
    same).  ``system`` is returned as it is where no row has a compliance.  Raises nothing.

    >>> tree = pt.four_bar()
    >>> pin = pt.cut_joint("coupler", "rocker", p=(3, 0, 0), p_second=(2.5, 0, 0), name="pin")
    >>> hard = pt.kkt.rigid(pt.build(tree, loops=pt.softened([pin], 1e-4)))
    >>> hard.loops[0].numbers, hard.loops[0].compliance.tolist()
    ((2, 3), [0.0, 0.0])
    """
    require_system(system)
    if not any(loop.compliance.any() for loop in system.loops):
        return system
    kept = [np.arange(loop.rows) for loop in system.loops]
    for c, lost in following(system.state, kept):
        kept[c] = np.setdiff1d(kept[c], lost)
    beside, ties, sides = [], [], [np.zeros(0, dtype=bool)]
    for rows, closure, tie in zip(kept, system.state.loops, system.structure.ties, strict=True):
        sides += [np.isin(np.arange(tie.rows), rows)] * len(tie.bodies)
        if rows.size:
            loop = closure.loop
            numbers = tuple(loop.numbers[r] for r in rows)
            hard = replace(loop, C=loop.C[:, rows], compliance=np.zeros(rows.size), numbers=numbers)
            beside.append(replace(closure, loop=hard))
            ties.append(tie._replace(rows=rows.size, compliant=False))
    state = replace(system.state, loops=tuple(beside))
    there = np.concatenate(sides)
    old = system.pattern
    pattern = replace(
        old,
        G=old.G[there],
        G_one=old.G_one[there],
        compliance=np.zeros(sum(tie.rows for tie in ties), dtype=bool),
    )
    return replace(
        system,
        state=state,
        entries=assemble(state, None, system.entries.M),
        pattern=pattern,
        structure=replace(system.structure, ties=tuple(ties)),
        loops=tuple(closure.loop for closure in beside),
        plans={},
    )


def iterated(system: System, tape: Tape, chosen: Format, first: Elimination, count: int) -> Elimination:
    """The answer for rigid rows, by at most ``count`` iterations from ``first``, that of soft rows.

    ``proximal`` of the answer says what was done, ``backward_error`` is that for (4) with rigid
    rows, and ``marked`` says why the answer should not be relied on: rows that contradict each
    other, or an iteration that has not settled.  The order is then named "abm proximal", say.
    """
    if first.failed_at is not None:
        return first
    loop = Corrections(system, tape, chosen, "equations", rigid=True)
    x, sizes, status = _settled(loop, Answer(first.pdd, first.qdd, first.f, first.lam), count)
    entries = rounded_entries(system, chosen)
    rigid = replace(entries, compliance=np.zeros_like(entries.compliance))
    wide = Entries(*(np.asarray(getattr(rigid, part.name), WIDE) for part in fields(rigid)))
    pdd, qdd, f, lam = (np.asarray(part, WIDE) for part in (x.pdd, x.qdd, x.f, x.lam))
    left = rows_of(system, wide, (pdd, qdd, f, lam), -1)[3]
    mu = max(float(loop.compliance.max()) for loop in system.loops)
    record = Proximal(mu, len(sizes), float(np.abs(left).max()), status)
    found = replace(
        first,
        pdd=x.pdd,
        qdd=x.qdd,
        f=x.f,
        lam=x.lam,
        proximal=record,
        error_estimate=None,
        order=f"{first.order} proximal",
        flops=first.flops + len(sizes) * loop.flops,
    )
    return replace(
        found, backward_error=backward_of(system, chosen, rigid, found), marked=_mark(chosen, record, x)
    )


def _settled(loop: Corrections, x: Answer, most: int) -> tuple[Answer, list[float], str]:
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


def _mark(chosen: Format, record: Proximal, x: Answer) -> str | None:
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
