"""Equations (2) to (20): each proved in letters, two misprints of (20) among them."""

from ..proved import equations, values

__all__ = ["measure", "values"]

measure = equations(
    "Pasic, Williams & Hui 1999"
)  # all statements of it, or those with ``only`` in their name
