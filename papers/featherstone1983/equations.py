"""Equations of the slides, RNEA and (I) to (VI): each proved from the engine's own elimination."""

from ..proved import equations, values

__all__ = ["measure", "values"]

measure = equations("Johnson & Su")
