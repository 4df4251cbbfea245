"""The symbolic factor: fill, elimination tree, counts. No values."""

from .symbolic import PAIR_FIRST

__all__ = ["PAIR_FIRST"]
