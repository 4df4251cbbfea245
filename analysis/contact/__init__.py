"""Contact of any tree: blows, and contacts that press.

>>> from pivotree.analysis import contact
>>> system = pt.build(pt.chain(3), loops=[pt.contact("j3", (0.1, 0.0, 0.0))])
>>> contact.impact(system, restitution=0.5, friction=0.3, law="poisson").impulses  # it opens
{'world-j3': array([0.])}
"""

from .impacts import Forces, Impact, forces, impact
from .laws import gain, newton, poisson

__all__ = ["Forces", "Impact", "forces", "gain", "impact", "newton", "poisson"]
