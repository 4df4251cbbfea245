"""Settings of the papers' items that cannot be, told in one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pivotree.kkt import PivotreeError


def between(name: str, value: float, least: float, most: float = math.inf) -> None:
    """Raise PivotreeError where a setting is not from ``least`` to ``most``."""
    if not least <= value <= most:
        top = f" to {most:g}" if most < math.inf else " or more"
        raise PivotreeError(f"setting {name}: is {value:g}; give {least:g}{top}")


def above(unit: str = "", **settings: float | tuple[float, ...]) -> None:
    """Raise PivotreeError where a setting, or one of several numbers of it, is not above 0."""
    for name, value in settings.items():
        numbers = value if isinstance(value, tuple) else (value,)
        if not all(0.0 < number < math.inf for number in numbers):
            told = f" [{unit}]" if unit else ""
            raise PivotreeError(f"setting {name}: is {value}; give more than 0{told}")


def each(name: str, values: Iterable[float], least: float, count: int = 1) -> None:
    """What ``between`` asks, of every one of several, of which there are at least ``count``."""
    values = tuple(values)
    if len(values) < count:
        raise PivotreeError(f"setting {name}: holds {len(values)} numbers; give {count} or more")
    for value in values:
        between(name, value, least)
