"""Featherstone's algorithm: the order abm lists the slides' I^A, p, q'' and a, (I) to (VI)."""

from __future__ import annotations

from typing import Any

from ..item import Progress
from . import lines
from .lines import Lines, values

__all__ = ["figures", "measure", "values"]


def measure(progress: Progress, *, model: str = "chain:6") -> Lines:
    """Listed on a model whose joints have one freedom, so that s* I s is a number."""
    return lines.measure(progress, "aba", "abm", model)


def figures(found: Lines, style: str) -> dict[str, Any]:
    from .pictures import page

    return {"aba": page(found, style)}
