"""One printed number or claim, beside ours."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """A line of ``pivotree reproduce``."""

    item: str  # "table2: m1 = 1e8, case 1, CRBM D_2"
    printed: Any  # number, text or list as in the paper; None where it prints none
    ours: Any
    criterion: str  # what an honest implementation meets
    met: bool | None  # None: not reproducible, or nothing to be held against
    why: str = ""  # of a row that is not met or not reproducible; else what differs

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def within(printed: float, ours: float, share: float) -> bool:
    """Whether ours differs from the printed number by at most this share of it."""
    return abs(ours - printed) <= share * abs(printed)
