"""Orders on a matrix of one's own, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pivotree.kkt import (
    CertificationError,
    Certified,
    Elimination,
    Matrix,
    OrderError,
    PivotreeError,
    certify,
    eliminate,
)
from pivotree.kkt.arithmetic import Format
from pivotree.kkt.solution.matrix import tape_of
from pivotree.kkt.tape.tape import Tape

from ..study.cells import cells
from .row import Row, reference_digits, refused, row_of

USUAL = ("natural", "minimum_degree", "minimum_fill", "reverse_cuthill_mckee", "nested_dissection")


def rows_of(
    system: Matrix, orders: dict[str, Any], formats: tuple[Format, ...], progress: Callable[[str], None]
) -> tuple[tuple[Row, ...], dict[tuple[str, str], Elimination]]:
    """A row for each order and format, held against x that is certified by the first order that can.

    Raises CertificationError where none of the orders certifies x.
    """
    truths: dict[str, Certified] = {}
    rows: list[Row] = []
    results: dict[tuple[str, str], Elimination] = {}

    def truth(f: Format) -> Certified:
        if f.name not in truths:
            progress(f"certified answer for {f.name}")
            trouble: PivotreeError = CertificationError(f"{system.name}: no order certifies x")
            for order in orders.values():
                try:
                    rounded = None if f.from_model else f
                    truths[f.name] = certify(system, reference_digits(f), tape=order, rounded_to=rounded)
                    break
                except PivotreeError as error:
                    trouble = error
            else:
                raise trouble
        return truths[f.name]

    def traced(name: str, order: Any) -> Tape:
        progress(name)
        return tape_of(system, order)

    def answer(name: str, tape: Tape, f: Format) -> Elimination:
        return eliminate(system, tape, f)

    for name, f, found in cells(orders, formats, traced, answer):
        if isinstance(found, PivotreeError):
            if len(orders) == 1 and type(found) is OrderError:
                raise found  # there is no other row
            rows.append(refused(name, f.name, found.why))
        else:
            results[name, f.name] = found
            rows.append(row_of(found, truth(f), f))
    return tuple(rows), results


def usual() -> list[str]:
    """Orders that are compared where none are named: METIS's where it is installed."""
    from importlib.util import find_spec

    return [name for name in USUAL if name != "nested_dissection" or find_spec("pymetis")]
