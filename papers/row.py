"""One printed number or claim, beside ours, and what became of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["met", "missed", "refuted", "open"]


@dataclass(frozen=True)
class Row:
    """A line of ``pivotree reproduce``; :func:`claim` makes one of a claim that may not hold."""

    item: str  # "table2: m1 = 1e8, case 1, CRBM D_2"
    printed: Any  # number, text or list as in the paper; None where it prints none
    ours: Any
    criterion: str  # what an honest implementation meets
    met: bool | None  # None: the claim is refuted, or the row is open
    why: str = ""  # of a row that is refuted, open or missed; else what differs
    refuted: bool = False  # the paper's claim does not hold here

    @property
    def state(self) -> State:
        """Met and missed are ours to answer for; refuted is the paper's; open says why.

        Open is only what the paper prints no number for, leaves out the input of, or does not say.
        """
        if self.met is not None:
            return "met" if self.met else "missed"
        return "refuted" if self.refuted else "open"

    @property
    def distance(self) -> float | None:
        """(ours - printed) / |printed|; of several numbers the largest in size; else None."""
        return distance(self.printed, self.ours)

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON: met is null for a row that is refuted or open."""
        return {
            "item": self.item,
            "printed": self.printed,
            "ours": self.ours,
            "distance": self.distance,
            "criterion": self.criterion,
            "met": self.met,
            "state": self.state,
            "why": self.why,
        }


def claim(item: str, printed: Any, ours: Any, criterion: str, holds: bool, why: str) -> Row:
    """A row that examines what the paper says: met where it holds here, refuted where not.

    ``criterion`` is what must come out for the paper to be right, and ``why`` the evidence.  Only
    what contradicts the paper's own words may be asked: what it says of another program, of exact
    arithmetic or from a guess that it does not print is an open :class:`Row`.
    """
    return Row(item, printed, ours, criterion, True if holds else None, why, refuted=not holds)


def within(printed: float, ours: float, share: float) -> bool:
    """Whether ours differs from the printed number by at most this share of it."""
    return abs(ours - printed) <= share * abs(printed)


def distance(printed: Any, ours: Any) -> float | None:
    """The relative difference of two numbers, or of the two farthest apart in two lists."""
    if isinstance(printed, list | tuple) and isinstance(ours, list | tuple):
        if len(printed) != len(ours):
            return None
        each = [d for p, o in zip(printed, ours, strict=True) if (d := distance(p, o)) is not None]
        return max(each, key=abs, default=None)
    p, o = _number(printed), _number(ours)
    if p is None or o is None:
        return None
    if p == 0.0:
        return 0.0 if o == 0.0 else None
    return (o - p) / abs(p)


def _number(value: Any) -> float | None:
    """A finite number, or a text that is one; a word, a list or infinity is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
