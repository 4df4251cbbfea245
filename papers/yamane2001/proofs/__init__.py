"""Statements of Yamane & Nakamura 2001 that ``pivotree prove`` proves."""

from . import equations, mobility

__all__ = ["equations", "mobility"]
