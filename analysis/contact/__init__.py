"""Contact of any tree: blows, pressing contacts, and springs.

>>> from pivotree.analysis import contact
>>> system = pt.build(pt.chain(3), loops=[pt.contact("j3", (0.1, 0.0, 0.0))])
>>> contact.impact(system, restitution=0.5, friction=0.3, law="poisson").impulses  # it opens
{'world-j3': array([0.])}
"""

from .floor import Floor
from .impacts import Forces, Impact, forces, impact
from .laws import gain, newton, poisson
from .rigid import Fall, fall
from .springs import Springs

__all__ = [
    "Fall",
    "Floor",
    "Forces",
    "Impact",
    "Springs",
    "fall",
    "forces",
    "gain",
    "impact",
    "newton",
    "poisson",
]
