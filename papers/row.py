"""One printed number or claim, beside ours, and what became of it.

What a row says is data: ``printed.toml`` of its paper has its name, what is printed, the criterion
and why.  An item computes a :class:`Value` for it, and :func:`judged` reads the criterion.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

State = Literal["met", "checked", "missed", "refuted", "open"]


@dataclass(frozen=True)
class Row:
    """A line of ``pivotree reproduce``."""

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

        Checked is what is met and stands nowhere in the paper.  Open is only what the paper prints
        no number for, leaves out the input of, or does not say.
        """
        if self.met:
            return "checked" if self.printed is None else "met"
        if self.met is not None:
            return "missed"
        return "refuted" if self.refuted else "open"

    @property
    def distance(self) -> float | None:
        """(ours - printed) / |printed|; of several numbers the largest in size; else None."""
        return distance(self.printed, self.ours)

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON: met is null for a row that is refuted or open."""
        names = ("item", "printed", "ours", "distance", "criterion", "met", "state", "why")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Value:
    """What an item computes for a row that ``printed.toml`` has by this name."""

    name: str
    ours: Any
    holds: bool | None  # None: the criterion's words decide
    none: str  # why nothing is asked of it here; an open row
    words: Mapping[str, Any] = field(default_factory=dict)  # put into the row's texts


def value(name: str, ours: Any, holds: bool | None = None, /, **words: Any) -> Value:
    """A row's value; ``words`` fill its texts, and replace ``printed``, ``criterion`` or ``why``.

    ``none`` is why nothing is asked of it here, as of other settings than the paper's; "" where it is.
    """
    return Value(name, ours, holds, words.pop("none", ""), words)


def row(item: str, data: Mapping[str, Any], found: Value) -> Row:
    """The row of a value, by what ``printed.toml`` has of its item.

    A row that is a ``claim`` examines the paper's words: where it does not hold they are refuted.
    Only what contradicts them may be asked so: what the paper says of another program, of exact
    arithmetic or from a guess that it does not print is open, with ``none`` for why.
    """
    known, words = data["rows"][found.name], found.words

    def text(key: str) -> str:
        return str(words[key] if key in words else known.get(key, "").format_map(words))

    name, ours = text("item"), _plain(found.ours)
    name, printed = f"{item}: {name}" if name else item, _plain(words.get("printed", known.get("printed")))
    shown, why, none = _shown(ours, known), text("why"), found.none or text("none")
    if none:
        return Row(name, printed, shown, f"none: {none}", None, why)
    criterion = text("criterion")
    holds = judged(criterion, printed, ours) if found.holds is None else found.holds
    refuted = not holds and known.get("claim", False)
    return Row(name, printed, shown, criterion, None if refuted else bool(holds), why, refuted)


def plain(item: str, made: Row) -> Row:
    """A row that its item makes whole, because its words are data elsewhere: a proof, a listing."""
    numbers = {"printed": _plain(made.printed), "ours": _plain(made.ours), "met": _plain(made.met)}
    return replace(made, item=f"{item}: {made.item}" if made.item else item, **numbers)


def _shown(ours: Any, known: Mapping[str, Any]) -> Any:
    """A number as ``shown`` writes it, or to so many ``decimals`` or ``digits``."""
    if isinstance(ours, list) and not {"decimals", "digits"}.isdisjoint(known):
        return [_shown(each, known) for each in ours]
    if "shown" in known and isinstance(ours, float):
        return known["shown"].format(ours)
    if "decimals" in known and isinstance(ours, float):
        return round(ours, known["decimals"])
    if "digits" in known and isinstance(ours, float):
        return float(f"{ours:.{known['digits']}g}")
    return ours


_N = r"([-+]?\d[\d.]*(?:e[-+]?\d+)?)"
RULES: dict[str, Callable[..., bool]] = {  # words of a criterion -> ours, what is printed, numbers
    rf"at most {_N}": lambda x, said, most: x <= most,
    rf"at least {_N}": lambda x, said, least: x >= least,
    rf"above {_N}": lambda x, said, low: x > low,
    rf"between {_N} and {_N}|from {_N} to {_N}": lambda x, said, low, high: low <= x <= high,
    rf"{_N} (?:±|\+-) {_N}": lambda x, said, middle, off: abs(x - middle) <= off,
    rf"(?:mean )?within {_N} ?%": lambda x, said, share: within(said, x, share / 100.0),
    rf"within {_N} ?% of {_N}": lambda x, said, share, of: within(of, x, share / 100.0),
    rf"within {_N} of {_N}": lambda x, said, off, of: abs(x - of) <= off,
    rf"(?:within|(?:the same |equal )?to) {_N}": lambda x, said, off: abs(x) <= off,
}


def judged(criterion: str, printed: Any, ours: Any) -> bool:
    """Whether ours, or each number of it, meets the words of a criterion up to a comma or a colon.

    Raises ValueError for words that are no rule: the item has then to say whether they hold.
    """
    words = re.split("[,:;] ", criterion)[0]
    if words == "the same":
        return bool(ours == printed)
    for rule, holds in RULES.items():
        if read := re.fullmatch(rule, words):
            numbers = [float(number) for number in read.groups() if number is not None]
            return all(holds(x, printed, *numbers) for x in (ours if isinstance(ours, list) else [ours]))
    raise ValueError(f"criterion {criterion!r}: is no rule; say whether it holds")


def _plain(value: Any) -> Any:
    """Numbers of numpy as Python's own, several as a list."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


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
