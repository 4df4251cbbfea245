"""Compare orders on one system: fill, cost, and the digits that each number format keeps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pivotree import orderings
from pivotree.kkt import (
    CertificationError,
    Certified,
    Elimination,
    FormatError,
    LoopError,
    OrderError,
    PivotreeError,
    SingularError,
    SizeError,
    System,
    certify,
    eliminate,
    trace,
)
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.order.pivots import name_of
from pivotree.kkt.solution.conditioning import Conditioning, conditioning, lost_by_order
from pivotree.kkt.solution.refine import refined, require_refinable
from pivotree.kkt.tape.tape import Tape

from .row import Row
from .verdict import verdict

REFERENCE_DIGITS = 30  # proved digits of the answer that float32 and float64 are held against


@dataclass(frozen=True)
class Comparison:
    """Rows in the order asked for, with the eliminations behind them."""

    model: str
    bodies: int
    dof: int
    rows: tuple[Row, ...]
    eliminations: dict[tuple[str, str], Elimination] = field(repr=False, default_factory=dict)
    units: dict[str, float] = field(default_factory=dict)  # unit roundoff of each rounded format
    conditioning: Conditioning | None = None  # None where it is not known

    @property
    def verdict(self) -> str:
        """What a colleague would say, one sentence for each number format."""
        return verdict(self.model, self.rows, self.eliminations, self.units, self.kappa)

    @property
    def kappa(self) -> float | None:
        """Componentwise condition number of qdd; None where it is not known, or infinite."""
        return None if self.conditioning is None else _finite(self.conditioning.kappa)

    @property
    def kappa_inertia(self) -> float | None:
        """2-norm condition number of the joint-space inertia."""
        return None if self.conditioning is None else _finite(self.conditioning.kappa_inertia)

    def as_dict(self) -> dict[str, Any]:
        """The JSON document of ``pivotree compare --json``."""
        return {
            "model": self.model,
            "bodies": self.bodies,
            "dof": self.dof,
            "kappa": self.kappa,
            "kappa_inertia": self.kappa_inertia,
            "rows": [row.as_dict() for row in self.rows],
        }


def compare(
    system: System,
    orders: Iterable[str | Callable[..., Any]] | None = None,
    formats: Iterable[str | Format] = ("float32", "float64"),
    *,
    refine: int = 0,
    residual: str = "dynamics",
    progress: Callable[[str], None] = lambda step: None,
) -> Comparison:
    """Run orders (all registered ones where None) in number formats on one system.

    With ``refine`` K, every order has a second row in floating-point formats, "crbm +1" where K
    is 1: the same answer after K corrections (:mod:`kkt.solution.refine`).

    Every format is held against the certified solution for the data rounded to it.  An order
    that this robot's inertias, loops or size rule out gives a row with ``failed_at``.  Raises
    OrderError for an order that is unknown or infeasible, FormatError for a format that means
    nothing or is asked for twice, and CertificationError where the joint-space inertia is
    singular.
    """
    orders = [orders] if isinstance(orders, str) else orders
    formats = [formats] if isinstance(formats, str | Format) else formats
    chosen = [get_format(name) for name in formats]
    functions = [
        orderings.get(order) if isinstance(order, str) else order
        for order in (orderings.names() if orders is None else orders)
    ]
    names = [name_of(f) for f in functions]
    if not names or not chosen:
        raise PivotreeError("no order or no format is given; name at least one of each")
    for name in names:
        if names.count(name) > 1:
            raise OrderError(f"order {name!r}: is asked for twice; give each order its own name")
    for f in chosen:
        if [other.name for other in chosen].count(f.name) > 1:
            raise FormatError(f"format {f.name!r}: is asked for twice; give each one once")
    rounded = [f for f in chosen if f.kind == "float"]
    for f in rounded or chosen:
        require_refinable(f, refine, residual)
    references: dict[str, Certified] = {}
    overflow: dict[str, str] = {}  # formats that cannot hold this robot's data
    proof = trace(system, orderings.get("abm"))  # once for all formats
    for f in chosen:
        progress(f"certified answer for {f.name}")
        try:
            references[f.name] = reference(system, f, proof)
        except CertificationError as error:
            if len(overflow) + 1 == len(chosen) or "overflows" not in str(error):
                raise
            overflow[f.name] = str(error)
    progress("condition number")
    condition = _conditioning(system, proof)
    kappa = None if condition is None else condition.kappa
    rows: list[Row] = []
    results: dict[tuple[str, str], Elimination] = {}
    for name, function in zip(names, functions, strict=True):
        progress(name)
        try:
            tape = trace(system, function)
        except (LoopError, SingularError, SizeError) as error:
            rows += [_refused(name, f.name, str(error)) for f in chosen]
            continue
        for f in chosen:
            if f.name in overflow:
                rows.append(_refused(name, f.name, overflow[f.name]))
                continue
            progress(f"{name} in {f.name}")
            try:
                result = eliminate(system, tape, f, exact=True, reference=references[f.name])
            except (FormatError, SingularError) as error:  # a zero pivot, a root of fractions
                rows.append(_refused(name, f.name, str(error)))
                continue
            answers = [result]
            if refine and f in rounded:
                answers.append(refined(system, tape, f, result, refine, residual))
            for answer in answers:
                results[answer.order, f.name] = answer
                rows.append(_row(answer, references[f.name], f, kappa))
    units = {f.name: f.unit for f in chosen if f.unit > 0.0}
    dof = int(system.tree.offset[-1])
    return Comparison(system.name, system.tree.n, dof, tuple(rows), results, units, condition)


def _conditioning(system: System, tape: Tape) -> Conditioning | None:
    """None where the tree is too large for it, or float64 too short."""
    try:
        return conditioning(system, tape)
    except (SizeError, CertificationError):
        return None


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def reference(system: System, format: Format, tape: Tape | None = None) -> Certified:
    """The certified answer for the data as a format sees them."""
    if not format.from_model:
        digits = max(REFERENCE_DIGITS, int(full_digits(format)) + 10)
        return certify(system, digits, rounded_to=format, tape=tape)
    return certify(system, max(format.digits, REFERENCE_DIGITS) + 10, tape=tape)


def full_digits(format: Format) -> float:
    """Decimal digits of an answer without error: -log10 of the unit roundoff, or those asked."""
    if format.from_model:
        return float(format.digits or REFERENCE_DIGITS)
    return round(-math.log10(format.unit), 2)


def digits_of(error: float | None, format: Format) -> float | None:
    """Decimal digits that an error leaves; an error of 0 keeps all of the format's."""
    if error is None:
        return None
    most = full_digits(format)
    if error == 0.0:
        return most
    kept = max(0.0, round(-math.log10(error), 2))
    return min(kept, most)


def _row(result: Elimination, exact: Certified, format: Format, kappa: float | None) -> Row:
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
        marked=result.marked,
        **_against(result, format),
    )


def _against(result: Elimination, format: Format) -> dict[str, Any]:
    """What the order cancels in exact arithmetic, and what the format makes of it."""
    if format.from_model:  # rounding is told from zero, so that what they cancel is the order's
        radii = [step.radius_bits for step in result.steps if step.radius_bits is not None]
        bits = [step.cancelled_bits or 0 for step in result.steps]
        return {
            "cancelled_by_order": max(bits, default=None),
            "radius_bits": max(radii, default=None),
        }
    found = [step.against for step in result.steps if step.against is not None]
    if not found:
        return {}
    return {
        "cancelled_by_order": max(step.order for step in found),
        "cancelled_by_format": max(step.more for step in found),
        "left_by_format": max(step.less for step in found),
        "residues": sum(step.residues for step in found),
        "vanished": sum(step.vanished for step in found),
    }


def _refused(order: str, format: str, why: str) -> Row:
    return Row(order, format, None, None, None, None, None, None, None, None, why)
