"""A statement about roundoff, and the error that most of them are about."""

from __future__ import annotations

from typing import Any, NamedTuple

from pivotree import kkt

FORMAT = "float32"
UNIT = 2.0**-24


class Fact(NamedTuple):
    """A claim and what is measured."""

    claim: str
    measured: str
    holds: str  # "yes", "no", "partly"
    data: dict[str, Any]


def error(system: kkt.System, order: Any, format: str = FORMAT, **options: Any) -> float:
    """max |qdd - exact| / max |exact|; infinite where the elimination failed."""
    result = kkt.eliminate(system, order, format, records=False, **options)
    if result.failed_at:
        return float("inf")
    off = kkt.certify(system, 25, rounded_to=format).error(result.qdd)
    return float("inf") if off is None else off
