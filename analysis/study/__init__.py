"""One measurement: orders in formats at states, against a reference (:mod:`.measure`), and its one loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pivotree.kkt import PivotreeError
from pivotree.kkt.arithmetic import Format


def cells(
    orders: Mapping[str, Any],
    formats: Sequence[Format],
    traced: Callable[[str, Any], Any],
    answer: Callable[[str, Any, Format], Any],
) -> Iterator[tuple[str, Format, Any]]:
    """Every order in every format: what ``answer`` gives, or the PivotreeError that refuses it.

    ``traced`` makes of an order what all formats share.  An order or a format that is refused takes
    no other with it.
    """
    for name, order in orders.items():
        try:
            shared: Any = traced(name, order)
        except PivotreeError as error:
            shared = error
        for format in formats:
            try:
                yield name, format, shared if isinstance(shared, Exception) else answer(name, shared, format)
            except PivotreeError as error:
                yield name, format, error
