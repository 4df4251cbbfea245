"""Statements of Cloutier 1995 that ``pivotree prove`` proves."""

from . import equations, impacts, motion

__all__ = ["equations", "impacts", "motion"]
