"""The recursive Newton-Euler algorithm: inverse dynamics lists steps 1 to 3 of the slides."""

from __future__ import annotations

from ..item import Progress, Results
from .lines import rows


def measure(progress: Progress, *, model: str = "chain:6") -> Results:
    """Listed on a model whose joints have one freedom, so that s* I s is a number."""
    return rows(progress, "rnea", "inverse_dynamics", model)
