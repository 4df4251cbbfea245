"""Equations (2) to (20): each proved in letters, two misprints of (20) among them."""

from __future__ import annotations

from ..paper import Progress
from ..proved import Proved, prove, rows

__all__ = ["measure", "rows"]


def measure(progress: Progress, *, only: str = "") -> Proved:
    """All statements of the paper, or those with ``only`` in their name."""
    return prove(progress, "Pasic, Williams & Hui 1999", only)
