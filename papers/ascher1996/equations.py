"""Equations (1) to (11), sections 2 and 3: each proved from the engine's own elimination."""

from __future__ import annotations

from ..paper import Progress
from ..proved import Proved, prove, rows

__all__ = ["measure", "rows"]


def measure(progress: Progress, *, only: str = "") -> Proved:
    """All statements of the paper, or those with ``only`` in their name."""
    return prove(progress, "Ascher, Pai & Cloutier 1996", only)
