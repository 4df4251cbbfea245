"""Digits that an order keeps in every state of a robot, proved: docs/guarantee.md."""

from .cheapest import by_role, cheapest
from .kinematics import kinematics
from .rows import guarantee, pivot_errors

__all__ = ["by_role", "cheapest", "guarantee", "kinematics", "pivot_errors"]
