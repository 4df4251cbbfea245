"""Statements of Ascher, Pai & Cloutier 1996 that ``pivotree prove`` proves."""

from . import equations, every_n, solves

__all__ = ["equations", "every_n", "solves"]
