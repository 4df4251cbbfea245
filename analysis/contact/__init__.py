"""Contact of any tree: blows, pressing contacts, springs, and friction in joints.

>>> analysis.contact.impact(system, restitution=0.5, friction=0.3, law="poisson")
"""

from .floor import Floor
from .impacts import Forces, Impact, forces, impact
from .joints import JointFriction
from .laws import gain, newton, poisson
from .rigid import Fall, fall
from .springs import Springs

__all__ = [
    "Fall",
    "Floor",
    "Forces",
    "Impact",
    "JointFriction",
    "Springs",
    "fall",
    "forces",
    "gain",
    "impact",
    "newton",
    "poisson",
]
