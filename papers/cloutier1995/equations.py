"""Equations of chapters 2, 3, 4 and 6: each proved from the engine or from the laws of motion."""

from ..proved import equations

measure = equations("Cloutier 1995")
