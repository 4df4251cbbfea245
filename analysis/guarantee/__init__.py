"""Digits that an order keeps in every state of a robot, proved: docs/guarantee.md."""

from .rows import guarantee, pivot_errors

__all__ = ["guarantee", "pivot_errors"]
