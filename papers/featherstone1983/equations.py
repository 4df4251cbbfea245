"""Equations of the slides, RNEA and (I) to (VI): each proved from the engine's own elimination."""

from __future__ import annotations

from ..paper import Progress
from ..proved import Proved, prove, rows

__all__ = ["measure", "rows"]


def measure(progress: Progress, *, only: str = "") -> Proved:
    """All statements of the slides, or those with ``only`` in their name."""
    return prove(progress, "Johnson & Su", only)
