"""The recursive Newton-Euler algorithm: inverse dynamics lists steps 1 to 3 of the slides."""

from __future__ import annotations

from typing import Any

from ..item import Progress
from . import lines
from .lines import Lines, values

__all__ = ["figures", "measure", "values"]


def measure(progress: Progress, *, model: str = "chain:6") -> Lines:
    """Listed on a model whose joints have one freedom, so that s* I s is a number."""
    return lines.measure(progress, "rnea", "inverse_dynamics", model)


def figures(found: Lines, style: str) -> dict[str, Any]:
    from .pictures import page

    return {"rnea": page(found, style)}
