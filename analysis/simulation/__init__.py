"""Formulation stiffness: steps that an integrator loses to the rounding of an order."""

from ..states.manifold import begun
from .integration import SCIPY, Integration
from .motion import Motion, Record
from .run import Simulation, side_by_side, simulate

__all__ = ["SCIPY", "Integration", "Motion", "Record", "Simulation", "begun", "side_by_side", "simulate"]
