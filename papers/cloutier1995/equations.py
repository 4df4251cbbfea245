"""Equations of chapters 2, 3, 4 and 6: each proved from the engine or from the laws of motion."""

from ..proved import equations, values

__all__ = ["measure", "values"]

measure = equations("Cloutier 1995")
