"""Equations of chapters 2, 3, 4 and 6: each proved from the engine or from the laws of motion."""

from __future__ import annotations

from ..paper import Progress
from ..proved import Proved, prove, rows

__all__ = ["measure", "rows"]


def measure(progress: Progress, *, only: str = "") -> Proved:
    """All statements of the thesis, or those with ``only`` in their name."""
    return prove(progress, "Cloutier 1995", only)
