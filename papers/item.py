"""What an item is made of: values of its rows, pictures, printed numbers, and settings that can be."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pivotree.kkt import PivotreeError

from .row import Row
from .row import Value as Value
from .row import value as value
from .row import within as within

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Picture:
    """A figure that is drawn when it is asked for."""

    name: str
    how: str  # the function of the paper's pictures.py that draws it
    of: tuple[Any, ...]  # what it is given, before the style


Results = Iterator[Value | Row | Picture]


def picture(name: str, how: str, *of: Any) -> Picture:
    """The figure ``name``, drawn by ``how(*of, style)`` of the paper's pictures.py."""
    return Picture(name, how, of)


@cache
def printed(paper: str) -> dict[str, Any]:
    """The numbers that a paper prints, by item."""
    path = files(f"pivotree.papers.{paper}").joinpath("printed.toml")
    return tomllib.loads(path.read_text("utf-8"))


def between(name: str, given: float, least: float, most: float = math.inf) -> None:
    """Raise PivotreeError where a setting is not from ``least`` to ``most``."""
    if not least <= given <= most:
        top = f" to {most:g}" if most < math.inf else " or more"
        raise PivotreeError(f"setting {name}", f"is {given:g}", f"give {least:g}{top}")


def above(unit: str = "", **settings: float | tuple[float, ...]) -> None:
    """Raise PivotreeError where a setting, or one of several numbers of it, is not above 0."""
    for name, given in settings.items():
        numbers = given if isinstance(given, tuple) else (given,)
        if not all(0.0 < number < math.inf for number in numbers):
            told = f" [{unit}]" if unit else ""
            raise PivotreeError(f"setting {name}", f"is {given}", f"give more than 0{told}")


def each(name: str, given: Iterable[float], least: float, count: int = 1) -> None:
    """What ``between`` asks, of every one of several, of which there are at least ``count``."""
    numbers = tuple(given)
    if len(numbers) < count:
        raise PivotreeError(f"setting {name}", f"holds {len(numbers)} numbers", f"give {count} or more")
    for number in numbers:
        between(name, number, least)
