"""What :func:`kkt.eliminate` says of every answer, by the rule of :mod:`kkt.proof.trust`.

The residual of equation (4), row by row, for any number type, and the backward error it is.  It is
computed from the blocks of (4) themselves, not from a program, so that an error in tracing or
lowering, which every number type would share, cannot hide from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format
from ..arithmetic.objects import each
from ..base.errors import Refusal, reason_of
from ..matrix.blocks import Block
from ..matrix.entries import RIGHT_HAND_SIDE, UNIT, Entries, assemble, weight_of
from ..matrix.system import System, least_size
from ..model.spatial import matvec, transpose
from ..tape.tape import BackwardError, Elimination, Tape, Unknowns
from .trust import DOUBTFUL, ZERO, Longer, Lost, as_balls, ball_bits, ball_of, bound, longer_name, mark

BEYOND = 1e6  # rad/s^2 or m/s^2 from which on it is asked whether (4) is singular
OTHERWISE = "use another order or a longer format"
SMALLEST = 2.0**-1022  # that stands for units of more than 307 digits, which no double holds


def judged(
    system: System,
    tape: Tape,
    chosen: Format,
    entries: Entries,
    found: Elimination,
    longer: Longer | None,
    pivots: Mapping[int, Any] | None = None,
) -> Elimination:
    """``found`` with its backward error for the ``entries`` that the format starts from, and marks.

    ``longer`` is the same elimination in more digits, None where the numbers are exact; ``pivots``
    are those of the format, where they have not been looked at.
    """
    if found.failed_at is not None:
        return found
    if longer is None:
        if (chance := by_chance(system, found.qdd)) is not None:
            return replace(found, failed_at=chance)
        return replace(found, backward_error=backward_of(system, chosen, entries, found), error_estimate=0.0)
    error = longer.error(found.qdd, least_size(system))
    lost = None if pivots is None else longer.against(tape, pivots, chosen)
    failed = refusal(system, tape, chosen, entries, error, lost) or by_chance(system, found.qdd)
    if failed is not None:
        return replace(found, failed_at=failed)
    backward = backward_of(system, chosen, entries, found)
    held = _off_multipliers(system, chosen, found, longer)
    marked = mark(error, backward.normwise, chosen.name, chosen.unit, held)
    if not error <= bound(chosen.unit):
        from .idle import lost_to_range

        narrow = lost_to_range(system, tape, chosen)
        marked = f"{marked}: {narrow}" if narrow else marked
    if marked is None and lost is not None and lost.zero:
        marked = f"{named(tape, chosen, lost)}, though the answer is right"
    return replace(found, backward_error=backward, error_estimate=error, marked=marked)


def _off_multipliers(system: System, chosen: Format, found: Elimination, longer: Longer) -> float:
    """The error of lambda beside the largest force; 0 where there are no loops."""
    if not len(found.lam):
        return 0.0
    largest = max(float(abs(x)) for x in np.ravel(found.f))
    return longer.error_of(found.lam, longer.lam, largest, weight_of(system.entries), chosen.unit)


def by_chance(system: System, qdd: NDArray[Any] | None = None) -> str | None:
    """That (4) is regular by the rounding of its data alone, whatever format solves it; else None.

    Mounts at pi/2 whose cosine is 6e-17 leave joints parallel but for that: what answers an effort
    there is as large as rounding is small, and has all of its digits.  Where ``qdd`` is given, it is
    asked only if one is larger than BEYOND.
    """
    largest = np.inf if qdd is None else max((abs(float(x)) for x in np.ravel(qdd)), default=0.0)
    if not largest > BEYOND:
        return None
    from ..tape.idle import all_resist
    from .idle import idle_motion

    idle = None if all_resist(system.tree) else idle_motion(system, system.entries, UNIT)
    return None if idle is None else f"equation (4) is singular but for rounding of the model: {idle.why}"


def refusal(
    system: System, tape: Tape, chosen: Format, entries: Entries, error: float, lost: Lost | None
) -> str | None:
    """Why there is no answer: (4) is singular, or a pivot is zero for the format."""
    unit = max(chosen.unit, SMALLEST)
    off = 0.0 if lost is None else lost.apart * _data_unit(chosen) / unit
    if error <= bound(chosen.unit) and off < DOUBTFUL:
        return None
    gone = lost is not None and lost.zero and (lost.nothing or not error <= bound(chosen.unit))
    if gone and lost is not None:
        why = named(tape, chosen, lost, OTHERWISE)
        return at_fault(system, chosen, entries, why, tape)
    if chosen.from_model:  # its entries are as exact as it is
        return None
    from .idle import idle_motion

    idle = idle_motion(system, entries, _data_unit(chosen))
    return None if idle is None else _singular(chosen, idle.why)


def at_fault(system: System, chosen: Format, entries: Entries, why: str, tape: Tape | None = None) -> str:
    """Why a pivot is lost: (4) itself is singular, or the format's range, or the order: then ``why``."""
    from ..arithmetic.binary import Fixed
    from .idle import beyond_words, idle_motion, lost_to_range

    if tape is not None and isinstance(chosen, Fixed):
        beyond = beyond_words(system, tape, chosen, entries)
        if beyond is not None:  # the overflow is named, whatever it made of a pivot
            return beyond
    unit = UNIT if chosen.from_model else _data_unit(chosen)
    idle = idle_motion(system, system.entries if chosen.from_model else entries, unit)
    if idle is None:
        narrow = "" if tape is None else lost_to_range(system, tape, chosen)
        return f"{reason_of(why)}: {narrow}" if narrow else why
    return f"{_singular(chosen, idle.why)} ({reason_of(why)})"


def _singular(chosen: Format, why: str) -> str:
    to = "" if chosen.from_model else f" to {chosen.name}"
    return f"equation (4) is singular{to}: {why}"


def _data_unit(chosen: Format) -> float:
    """Unit roundoff of the entries that a format starts from."""
    return chosen.unit if chosen.kind == "float" else max(chosen.unit, UNIT)


def named(tape: Tape, chosen: Format, lost: Lost, remedy: str = "") -> Refusal:
    """A pivot that is zero for a format, and what rounding leaves of it."""
    record = tape.program.pivots[lost.number]
    pivot, _, why = ZERO.format(f"{record.blocks[0]}, step {record.step + 1}", chosen.name).partition(": ")
    left = f"whose rounding leaves {lost.own:.2g} of it where twice the digits leave {lost.exact:.2g}"
    return Refusal(pivot, why, remedy, left)


def backward_of(system: System, chosen: Format, entries: Entries, found: Elimination) -> Any:
    """Backward errors of an answer for these entries, in more digits than the format has."""
    x = found.unknowns
    if chosen.kind == "exact":
        return backward_error(system, entries, x)
    if chosen.kind == "float":
        digits: Any = float if longer_name(chosen) == "float64" else np.longdouble
        with np.errstate(all="ignore"):
            return backward_error(system, entries, x, digits)
    import flint

    with flint.ctx.workprec(ball_bits(system, chosen)):
        exact = as_balls(entries, chosen)
        middles = Unknowns(*(each(lambda y: ball_of(y).mid(), part) for part in x))
        return backward_error(system, exact, middles)


def in_balls(system: System, found: Elimination, bits: int) -> Elimination:
    """``found`` in balls, with an upper bound of the backward errors of all that it holds.

    Its digits are proved for the model's own doubles: it is marked where these are regular by chance.
    """
    import flint

    with flint.ctx.workprec(bits):
        entries = assemble(system.state, flint.arb)
        backward = backward_error(system, entries, found.unknowns)
    return replace(found, backward_error=backward, marked=by_chance(system, found.qdd))


# the residual -----------------------------------------------------------------------------------


def residual(system: System, entries: Entries, solution: dict[Block, Any]) -> dict[Block, NDArray[Any]]:
    """A x - b of every block row, named by the block that stands on its diagonal.

    ``solution`` holds pdd (6,), qdd (N_k,) and f (6,) of every body, lam (m,) of every loop.
    """
    tree, names = system.tree, system.tree.names
    force, effort, motion, closed = rows_of(system, entries, Unknowns.of(system, solution), -1)
    rows = {Block("pdd", b): force[k] for k, b in enumerate(names)}
    rows |= {Block("f", b): motion[k] for k, b in enumerate(names)}
    for k, b in enumerate(names):
        if tree.dof[k]:
            rows[Block("qdd", b)] = effort[tree.freedoms_of(k)]
    for side in system.structure.sides:
        rows[Block("lam", system.structure.ties[side.tie].name)] = closed[side.own]
    return rows


def rows_of(system: System, e: Entries, x: Unknowns, minus: int) -> Unknowns:
    """Rows pdd, qdd, f, lam of A x - b, with ``minus`` -1; states may stand in front of all arrays.

    With ``minus`` 1 whatever (4) subtracts is added: of magnitudes this is |A| |x| + |b|.
    """
    pdd, qdd, f, lam = x
    parent = system.tree.parent
    force = matvec(e.M, pdd) + f + minus * e.b
    motion = pdd + e.a
    inner = np.flatnonzero(parent >= 0)
    if inner.size:
        up, Phi = parent[inner], e.Phi[..., inner, :, :]
        motion[..., inner, :] = motion[..., inner, :] + minus * matvec(transpose(Phi), pdd[..., up, :])
        rows: Any = (..., up, slice(None))
        np.add.at(force, rows, minus * matvec(Phi, f[..., inner, :]))
    owner = system.tree.owner
    effort = minus * e.tau
    if len(owner):
        moved: Any = (..., owner, slice(None))
        np.add.at(motion, moved, e.S * qdd[..., None])
        effort = matvec(e.S[..., None, :], f[..., owner, :])[..., 0] + effort
        if e.A.size:
            effort = effort + e.A * qdd
    closed = e.gamma + minus * e.compliance * lam
    for _, k, sign, there, own in system.structure.sides:
        G = e.G[..., there, :] * (1 if minus > 0 else sign)
        closed[..., own] = closed[..., own] + matvec(G, pdd[..., k, :])
        force[..., k, :] = force[..., k, :] + matvec(transpose(G), lam[..., own])
    return Unknowns(force, effort, motion, closed)


def backward_error(system: System, entries: Entries, x: Unknowns, digits: Any = None) -> BackwardError:
    """How far (4) must be moved for ``x`` to solve it; arrays of a type with digits to spare.

    ``digits`` is a type of numpy's to reckon in.  Of balls both are upper bounds: no less than
    those of any answer in ``x``.

    Normwise: max |A x - b| / (max row sum of |A| times max |x| + max |b|) (Rigal & Gaches 1967).
    Componentwise: the largest ratio of a row of |A x - b| and of |A| |x| + |b| (Oettli & Prager
    1964).
    """
    if digits is not None:
        entries = Entries(*(np.asarray(array, digits) for array in entries))
        x = Unknowns(*(np.asarray(part, digits) for part in x))
    sizes = Entries(*map(np.abs, entries))
    left = [_balls(np.abs(part), "abs_upper") for part in rows_of(system, entries, x, -1)]
    size = [_balls(part, "abs_lower") for part in rows_of(system, sizes, Unknowns(*map(np.abs, x)), 1)]
    worst = 0.0
    for r, s in zip(left, size, strict=True):
        r, s = r.ravel(), s.ravel()
        kept = s > 0
        worst = max(worst, float(np.max(r[kept] / s[kept], initial=0)))
        worst = np.inf if (r[~kept] > 0).any() else worst
    return BackwardError(_normwise(system, sizes, x, left), worst)


def _normwise(system: System, sizes: Entries, x: Unknowns, left: list[NDArray[Any]]) -> float:
    none = sizes._replace(**{letter: np.zeros_like(getattr(sizes, letter)) for letter in RIGHT_HAND_SIDE})
    norm = _largest(rows_of(system, none, Unknowns(*map(np.ones_like, x)), 1))
    scale = norm * _largest(x) + _largest([getattr(sizes, letter) for letter in RIGHT_HAND_SIDE])
    scale = _balls(np.array([scale]), "abs_lower")[0]
    return float(_largest(left) / scale) if scale else 0.0


def _balls(x: NDArray[Any], bound: str) -> NDArray[Any]:
    """A bound of balls, abs_upper or abs_lower; numbers of other types as they are."""
    if x.dtype != object or not x.size or not hasattr(x.flat[0], bound):
        return x
    return each(lambda y: getattr(y, bound)(), x)


def _largest(arrays: Any) -> Any:
    """Largest magnitude of all; not a number where one is none."""
    parts = [np.abs(part).ravel() for part in arrays]
    return np.max(np.concatenate(parts), initial=0)
