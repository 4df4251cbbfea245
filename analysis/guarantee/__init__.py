"""Digits that an order keeps in every state of a robot, proved: docs/guarantee.md."""

from .rows import guarantee, pivot_error

__all__ = ["guarantee", "pivot_error"]
