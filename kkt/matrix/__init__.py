"""Equation (4) in one state: blocks, state, bias, entries, frames."""

from .blocks import FC, PDD, QDD, F

__all__ = ["FC", "PDD", "QDD", "F"]
