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
    cancelled_bits: int | None
    absorbed_bits: float | None
    failed_at: str | None
    lost_by_order: float | None = None  # digits beyond those that the condition number forces

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)
