"""Digits that derivatives of qdd keep, order by order and format by format."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from pivotree import orderings
from pivotree.kkt import FormatError, PivotreeError, System, trace
from pivotree.kkt.arithmetic import Format
from pivotree.kkt.arithmetic.objects import each
from pivotree.kkt.matrix.system import require_system
from pivotree.kkt.proof.trust import ball_of, mark
from pivotree.kkt.solution.columns import Part, floor_of, worth

from ..states import traced as states_traced
from ..states.traced import Pair, TracedOrder
from ..study import cells
from .comparison import asked
from .row import digits_of, full_digits

FIELDS = states_traced.FIELDS["derivatives"]
PROVED = 50  # digits of the certified derivatives
HELD = 2.0**-106  # smallest relative error that references in double-double show
BITS = 256  # precision in which numbers of other types are compared
DATA = "data alone"  # the row of what rounding the data leaves, whatever the order


@dataclass(frozen=True)
class Gradients:
    """One order in one format: errors relative to the largest entry of each matrix.

    >>> from pivotree.analysis.comparison import compare_derivatives
    >>> crbm = compare_derivatives(pt.build(pt.chain(3)), ["crbm"], ["float64"])[0]
    >>> sorted(crbm.errors), crbm.refused
    (['dq', 'dqd', 'dtau', 'qdd'], None)
    """

    order: str
    format: str
    errors: Mapping[str, float] = field(default_factory=dict)  # of qdd, dq, dqd, dtau
    digits: Mapping[str, float | None] = field(default_factory=dict)
    errors_with_data: Mapping[str, float] = field(default_factory=dict)  # against unrounded data
    operations: int | None = None  # those of qdd included
    refused: str | None = None  # why there are no errors
    marked: str | None = None  # why they should not be relied on: by their own judge, or by these errors

    def as_dict(self) -> dict[str, Any]:
        """The row of a JSON document."""
        return {name: dict(x) if isinstance(x, Mapping) else x for name, x in self.__dict__.items()}


def compare_derivatives(
    system: System,
    orders: Iterable[str | Callable[..., Any]] | None = None,
    formats: Iterable[str | Format] = ("float32", "float64"),
    progress: Callable[[str], None] = lambda step: None,
) -> list[Gradients]:
    """Run orders in number formats, and hold d qdd / dq, dqd, dtau against 50 proved digits.

    As in :func:`compare`, ``errors`` are against the answer for the data as the format has them, so
    that the arithmetic alone is judged; ``errors_with_data`` against that for the model's doubles.
    A last row for each format, "data alone", has what lies between the two.  References are held
    to 32 digits, so that no more are ever told.  An order that has no derivatives here gives a row
    with ``refused``, and ``marked`` says of a row, by the rule of :func:`kkt.eliminate`, why it should not
    be relied on.  Raises what :func:`kkt.derivatives` raises of the system itself, and
    OrderError and FormatError for names that are unknown.

    >>> from pivotree.analysis.comparison import compare_derivatives
    >>> row, data = compare_derivatives(pt.build(pt.chain(3)), ["abm"], ["float32"])
    >>> row.order, row.digits["dtau"] > 5
    ('abm', True)
    """
    require_system(system)
    functions, chosen = asked(system, orders, formats)
    progress("certified derivatives")
    abm = orderings.get("abm")
    proof = TracedOrder(trace(system, abm), system, "derivatives")
    true = proof.certified(system, PROVED)
    rounded = {f.name: _reference(proof, system, f, true) for f in chosen}
    floors = [np.inf, *(floor_of(system, f"dqdd_{by}") for by in FIELDS[1:])]

    def traced(name: str, function: Callable[..., Any]) -> TracedOrder:
        progress(name)
        return proof if function is abm else TracedOrder(trace(system, function), system, "derivatives")

    def answer(name: str, order: TracedOrder, one: Format) -> Gradients:
        exact = rounded[one.name]
        if isinstance(exact, str):
            raise FormatError(exact)
        progress(f"{name} in {one.name}")
        parts = [Part(x, floor) for x, floor in zip(order.answer, floors, strict=True)]
        told = worth(system, order.tape, one, parts, order.given(system)["beside"])
        row = _row(name, one, _pair(np.stack(told.parts)), exact, true, order.operations)
        known = max(row.errors.values()) if one.unit > HELD else 0.0
        return replace(row, marked=told.marked or mark(known, 0.0, one.name, one.unit))

    rows = [
        Gradients(name, one.name, refused=str(row)) if isinstance(row, PivotreeError) else row
        for name, one, row in cells(functions, chosen, traced, answer)
    ]
    for one in chosen:
        exact = rounded[one.name]
        if not isinstance(exact, str) and exact is not true:
            rows.append(_row(DATA, one, exact, true, true, None))
    return rows


def _reference(proof: TracedOrder, system: System, chosen: Format, true: Pair) -> Pair | str:
    """The answer for the data as a format sees them, or why it cannot hold them."""
    if chosen.from_model:
        return true
    try:
        return proof.certified(system, PROVED, chosen)
    except PivotreeError as error:
        return str(error)


def _row(
    name: str, chosen: Format, found: Pair, exact: Pair, true: Pair, operations: int | None
) -> Gradients:
    """Largest differences over largest entries; infinite where there is no number."""
    errors, whole = (
        dict(zip(FIELDS, np.nan_to_num(of.largest(found.high, found.low), nan=np.inf).tolist(), strict=True))
        for of in (exact, true)
    )
    least = HELD if full_digits(chosen) > -math.log10(HELD) else 0.0
    kept = {x: digits_of(max(error, least), chosen) for x, error in errors.items()}
    return Gradients(name, chosen.name, errors, kept, whole, operations)


def _pair(found: NDArray[Any]) -> Pair:
    """Numbers of any type; of balls the middles."""
    if found.dtype.kind == "f":
        return Pair(found.astype(float), np.zeros(found.shape))
    with flint.ctx.workprec(BITS):
        return Pair.of_balls(each(ball_of, found), BITS)
