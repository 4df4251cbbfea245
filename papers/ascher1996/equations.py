"""Equations (1) to (11), sections 2 and 3: each proved from the engine's own elimination."""

from ..proved import equations, values

__all__ = ["measure", "values"]

measure = equations(
    "Ascher, Pai & Cloutier 1996"
)  # all statements of it, or those with ``only`` in their name
