"""Settings of chapters 3 and 6 that cannot be, told in one sentence."""

from __future__ import annotations

from collections.abc import Iterable

from pivotree.kkt import PivotreeError


def between(name: str, value: float, least: float, most: float = float("inf")) -> None:
    """Raise PivotreeError where a setting is not from ``least`` to ``most``."""
    if not least <= value <= most:
        top = f" to {most:g}" if most < float("inf") else " or more"
        raise PivotreeError(f"setting {name}: is {value:g}; give {least:g}{top}")


def each(name: str, values: Iterable[float], least: float, count: int = 1) -> None:
    """The same for every one of several, of which there must be at least ``count``."""
    values = tuple(values)
    if len(values) < count:
        raise PivotreeError(f"setting {name}: holds {len(values)} numbers; give {count} or more")
    for value in values:
        between(name, value, least)
