"""Statements of Pasic, Williams & Hui 1999 that ``pivotree prove`` proves."""

from . import equations, interfaces

__all__ = ["equations", "interfaces"]
