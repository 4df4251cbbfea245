"""One line of a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree.kkt import (
    CertificationError,
    Certified,
    Elimination,
    OrderError,
    PivotreeError,
    SizeError,
    System,
    certify,
)
from pivotree.kkt.arithmetic import Format
from pivotree.kkt.matrix.system import least_size
from pivotree.kkt.proof.trust import mark
from pivotree.kkt.solution.conditioning import Conditioning, conditioning
from pivotree.kkt.tape.tape import Tape

from ..study import cells

REFERENCE_DIGITS = 30  # proved, of the answer that float32 and float64 are held against


def reference(system: System | Any, format: Format, tape: Any = None) -> Certified:
    """The certified answer for the data as a format sees them.

    >>> from pivotree.kkt.arithmetic import get_format
    >>> from pivotree.analysis import comparison
    >>> system = pt.build(pt.chain(3))
    >>> comparison.reference(system, get_format("float32")).digits >= 30
    True
    """
    if not format.from_model:
        return certify(system, reference_digits(format), rounded_to=format, order=tape)
    return certify(system, max(format.digits, REFERENCE_DIGITS) + 10, order=tape)


def reference_digits(format: Format) -> int:
    """Proved digits of the answer that a rounded format is held against."""
    return max(REFERENCE_DIGITS, int(full_digits(format)) + 10)


def cancelling(exact: Certified) -> str:
    """What errors are relative to where all that moves a robot nearly cancels; else empty."""
    least = least_size(exact.system)
    if exact.size != least:
        return ""
    return (
        f"Efforts, gravity and rates nearly cancel here: errors are relative to {least:.2g} (rad/s² or "
        "m/s²), a hundredth of what one of them would do alone."
    )


def finite(x: float) -> float | None:
    """A number, None where it is infinite or none."""
    return x if math.isfinite(x) else None


def known_conditioning(system: System, tape: Tape | None) -> Conditioning | None:
    """Condition numbers; None for trees too large to find them, or out of float64's reach."""
    try:
        return conditioning(system, tape)
    except (SizeError, CertificationError):
        return None


def full_digits(format: Format) -> float:
    """Decimal digits of an answer without error: -log10 of the unit roundoff, or those asked."""
    if format.from_model:
        return float(format.digits or REFERENCE_DIGITS)
    return round(-math.log10(format.unit), 2)


def digits_of(error: float | None, format: Format) -> float | None:
    """Decimal digits that an error leaves; an error of 0 keeps all of the format's."""
    if error is None:
        return None
    kept = math.inf if error == 0.0 else max(0.0, round(-math.log10(error), 2))
    return min(kept, full_digits(format))


@dataclass(frozen=True)
class Row:
    """One order in one number format.

    >>> row = pt.compare(pt.build(pt.chain(30)), ["crbm"], ["float32"]).rows[0]
    >>> row.order, row.fill_blocks, row.flops, round(row.digits, 1), round(row.lost_by_order, 1)
    ('crbm', 870, 31585, 2.9, 3.3)
    """

    order: str
    format: str
    fill_blocks: int | None = None  # None where the order was refused before any number
    fill_entries: int | None = None
    flops: int | None = None
    height: int | None = None
    error: float | None = None  # max |qdd - exact| / max |exact|; None where the elimination failed.  Where
    #                             efforts and loads cancel, relative to what :mod:`kkt.matrix.system` says
    digits: float | None = None  # -log10 of the error, not below 0
    cancelled_bits: int | None = None  # most in one sum that is nonzero in the format
    absorbed_bits: float | None = None
    failed_at: str | None = None
    lost_by_order: float | None = None  # digits beyond those that the condition number forces
    backward_error: float | None = None  # of the answer in (4), normwise
    marked: str | None = None  # why the answer should not be relied on, though there is one
    # each joint beside what efforts, gravity and rates can do to it; None without a condition number:
    worst_joint: str | None = None  # where the fewest digits are right
    worst_digits: float | None = None  # these
    # of the last bits of qdd, those that the roundings of all pivots take; None where it was refined:
    reached_bits: float | None = None

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


def marked(result: Elimination, error: float | None, format: Format) -> str | None:
    """Why an answer should not be relied on: by its own marks, or else by its known ``error``.

    An answer may agree with itself in more digits and be wrong in both.

    >>> from pivotree.kkt.arithmetic import get_format
    >>> from pivotree.analysis import comparison
    >>> system, float32 = pt.build(pt.chain(3)), get_format("float32")
    >>> found = pt.eliminate(system, pt.orderings.get("abm"), float32)
    >>> comparison.marked(found, 1e-7, float32), bool(comparison.marked(found, 0.1, float32))
    (None, True)
    """
    if result.marked or error is None or not format.unit:
        return result.marked
    left = 0.0 if result.backward_error is None else result.backward_error.normwise
    return mark(error, left, format.name, format.unit)


def row_of(
    result: Elimination, exact: Certified, format: Format, condition: Conditioning | None = None
) -> Row:
    """The row of an elimination, its error taken against the certified answer."""
    kappa = None if condition is None else finite(condition.kappa)
    error = None if result.failed_at else exact.error(result.qdd)
    seen = [s for s in result.steps if s.cancelled_bits is not None]
    return Row(
        order=result.order,
        format=result.format,
        fill_blocks=result.fill,
        fill_entries=result.symbolic.fill_entries,
        flops=result.flops,
        height=result.height,
        error=error,
        digits=digits_of(error, format),
        cancelled_bits=max((s.cancelled_bits or 0 for s in seen), default=None),
        absorbed_bits=max((round(s.absorbed_bits or 0.0, 1) for s in seen), default=None),
        failed_at=result.failed_at,
        lost_by_order=lost_by_order(error, kappa, format.unit) if format.unit else None,
        backward_error=None if result.backward_error is None else result.backward_error.normwise,
        marked=None if result.failed_at else marked(result, error, format),
        reached_bits=None if result.refinement or result.failed_at else reached_bits(result),
        **_at_joints(result, exact, format, condition),
    )


def reached_bits(result: Elimination) -> float | None:
    """Bits of qdd that rounding takes, log2(1 + r); None without records of it.

    r is the error that a pivot's operations leave in qdd, in units of rounding, as the root of its
    squares' sum over the pivots: errors of different pivots cancel by luck, those of one do not.

    >>> from pivotree.analysis import comparison
    >>> system = pt.build(pt.example1())
    >>> for name in ("crbm", "abm"):
    ...     found = pt.eliminate(system, pt.orderings.get(name), "float32", reach=True)
    ...     print(name, round(comparison.reached_bits(found)))
    crbm 14
    abm 1
    """
    units = [step.reached for step in result.steps if step.reached is not None]
    return round(math.log2(1.0 + math.hypot(*units)), 2) if units else None


def _at_joints(
    result: Elimination, exact: Certified, format: Format, condition: Conditioning | None
) -> dict[str, Any]:
    """The joint where the fewest digits are right, beside what can move it."""
    if condition is None or result.failed_at or not format.unit or not len(exact.qdd):
        return {}
    size = np.maximum(condition.reach, np.abs(condition.qdd))
    with np.errstate(all="ignore"):
        off = np.abs(exact.differences(result.qdd)) / size
    off = np.where(size > 0.0, np.nan_to_num(off, nan=np.inf), 0.0)
    worst = int(off.argmax())
    name = exact.system.tree.freedom_names[worst]
    return {"worst_joint": name, "worst_digits": digits_of(float(off[worst]), format)}


def rows_of(
    orders: Mapping[str, Any],
    formats: Sequence[Format],
    traced: Callable[[str, Any], Any],
    answers: Callable[[str, Any, Format], Sequence[Elimination]],
    exact: Callable[[str], Certified],
    condition: Conditioning | None = None,
) -> tuple[tuple[Row, ...], dict[tuple[str, str], Elimination]]:
    """A row for each answer of every order in every format, and the eliminations behind them.

    ``exact`` is what a format's answers are held against.  Raises OrderError where there is one order
    and it is refused.
    """
    rows: list[Row] = []
    results: dict[tuple[str, str], Elimination] = {}
    for name, f, found in cells(orders, formats, traced, answers):
        if isinstance(found, PivotreeError):
            if len(orders) == 1 and type(found) is OrderError:
                raise found  # there is no other row
            rows.append(Row(name, f.name, failed_at=found.why))
            continue
        for result in found:
            results[result.order, f.name] = result
            rows.append(row_of(result, exact(f.name), f, condition))
    return tuple(rows), results


def lost_by_order(error: float | None, kappa: float | None, unit: float) -> float | None:
    """Decimal digits lost beyond those that the condition number forces; None without a kappa.

    They are log10(error / (kappa u)), at least 0 and at most the digits that the condition number
    leaves.  All of these are lost where the elimination failed (``error`` None).

    >>> from pivotree.analysis.comparison import lost_by_order
    >>> round(lost_by_order(1e-4, 10.0, 2.0**-24), 1)
    2.2
    """
    if kappa is None:
        return None
    least = max(kappa, 1.0) * unit  # an answer is rounded at least once, however insensitive
    if error == 0.0 or least >= 1.0:
        return 0.0
    return max(0.0, math.log10(min(1.0 if error is None else error, 1.0) / least))
