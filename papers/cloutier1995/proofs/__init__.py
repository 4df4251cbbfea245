"""Statements of Cloutier 1995 that ``pivotree prove`` proves."""

from . import equations, motion

__all__ = ["equations", "motion"]
