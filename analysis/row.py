"""One line of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One order in one number format."""

    order: str
    format: str
    fill_blocks: int | None  # None where the order was refused before any number
    fill_entries: int | None
    flops: int | None
    height: int | None
    error: float | None  # max |qdd - exact| / max |exact|; None where the elimination failed
    digits: float | None  # -log10 of the error, not below 0
    cancelled_bits: int | None  # most in one sum that is not zero, as the format sees it
    absorbed_bits: float | None
    failed_at: str | None
    lost_by_order: float | None = None  # digits beyond those that the condition number forces
    # exact arithmetic on the same data, beside the format's; None where it divides by zero:
    cancelled_by_order: int | None = None  # most bits that one sum cancels in exact arithmetic
    cancelled_by_format: int | None = None  # most bits that a sum cancels in the format alone
    left_by_format: int | None = None  # most bits that a sum cancels in exact arithmetic alone
    residues: int | None = None  # sums that are zero exactly and not in the format
    vanished: int | None = None  # sums that are zero in the format and not exactly
    radius_bits: float | None = None  # balls: bits that the radii of pivots have taken
    backward_error: float | None = None  # of the answer in (4), normwise
    marked: str | None = None  # why the answer should not be relied on, though there is one

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)
