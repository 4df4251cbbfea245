"""Formulation stiffness: steps that an integrator loses to the rounding of an order."""

from ..states.manifold import Manifold, begun
from .cash_karp import CashKarp
from .integration import SCIPY, Integration
from .motion import Motion
from .record import Keeper, Record
from .run import Simulation, simulate

__all__ = [
    "SCIPY",
    "CashKarp",
    "Integration",
    "Keeper",
    "Manifold",
    "Motion",
    "Record",
    "Simulation",
    "begun",
    "simulate",
]
