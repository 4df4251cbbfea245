"""Digits that derivatives of qdd keep, order by order and format by format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import orderings
from pivotree.kkt import PivotreeError, System, derivatives
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.solution.derivatives import traced_derivatives

from .row import digits_of

FIELDS = ("qdd", "dq", "dqd", "dtau")
PROVED = "ball:50"  # what they are held against


@dataclass(frozen=True)
class Gradients:
    """One order in one format: errors relative to the largest entry of each matrix."""

    order: str
    format: str
    errors: Mapping[str, float] = field(default_factory=dict)  # of qdd, dq, dqd, dtau
    digits: Mapping[str, float | None] = field(default_factory=dict)
    operations: int | None = None  # those of qdd included
    refused: str | None = None  # why there are none

    def as_dict(self) -> dict[str, Any]:
        """The row of a JSON document."""
        return {**self.__dict__, "errors": dict(self.errors), "digits": dict(self.digits)}


def compare_derivatives(
    system: System,
    orders: Iterable[str] | None = None,
    formats: Iterable[str | Format] = ("float32", "float64"),
    progress: Callable[[str], None] = lambda step: None,
) -> list[Gradients]:
    """Run orders in number formats, and hold d qdd / dq, dqd, dtau against 50 proved digits.

    The reference is that of the model's doubles, so that rounding the data to a format counts;
    it is held as the doubles next to it, so that no more than 15.9 digits are ever told.
    An order that has no derivatives here gives a row with ``refused``.  Raises what
    :func:`kkt.derivatives` raises of the system itself, and OrderError and FormatError for names
    that are unknown.

    >>> from pivotree.analysis.comparison.gradients import compare_derivatives
    >>> [row] = compare_derivatives(pt.build(pt.chain(3)), ["abm"], ["float32"])
    >>> row.order, row.digits["dtau"] > 5
    ('abm', True)
    """
    names = orderings.names(loops=bool(system.loops)) if orders is None else list(orders)
    functions = {name: orderings.get(name) for name in names}
    chosen = [get_format(name) for name in formats]
    progress("certified derivatives")
    proved = _flat(derivatives(system, orderings.get("abm"), PROVED))
    exact = {name: np.array([float(x.mid()) for x in flat]) for name, flat in proved.items()}
    rows = []
    for name, function in functions.items():
        play: Callable[[Format], Any] | None = None  # traced once for all formats
        for one in chosen:
            progress(f"{name} in {one.name}")
            try:
                play = play or traced_derivatives(system, function)
                found = play(one)
            except PivotreeError as error:
                rows.append(Gradients(name, one.name, refused=str(error)))
                continue
            errors = {x: _error(flat, exact[x]) for x, flat in _flat(found).items()}
            kept = {x: digits_of(error, one) for x, error in errors.items()}
            rows.append(Gradients(name, one.name, errors, kept, found.operations))
    return rows


def _flat(found: Any) -> dict[str, NDArray]:
    return {name: np.ravel(getattr(found, name)) for name in FIELDS}


def _error(found: NDArray, exact: NDArray) -> float:
    """Largest difference over the largest entry; infinite where there is no number."""
    off = np.abs(np.array([float(x) for x in found]) - exact)
    worst = float(off.max(initial=0.0)) / (float(np.abs(exact).max(initial=0.0)) or 1.0)
    return worst if np.isfinite(worst) else float("inf")
