"""Featherstone's algorithm: the order abm lists the slides' I^A, p, q'' and a, (I) to (VI)."""

from __future__ import annotations

from ..item import Progress, Results
from .lines import rows


def measure(progress: Progress, *, model: str = "chain:6") -> Results:
    """Listed on a model whose joints have one freedom, so that s* I s is a number."""
    return rows(progress, "aba", "abm", model)
