"""CRBM as its authors write it, composites by their centres of mass (Walker & Orin 1982)."""

from pivotree.kkt import Structure

from .crbm import crbm
from .registry import order


@order("crbm_com", source="Walker & Orin 1982, method 3; Cloutier 1995, sec. 3.1.1", composites="centre")
def crbm_com(structure: Structure) -> list:
    """The pivots of crbm; a composite is its mass, centre of mass and inertia about that centre."""
    return crbm(structure)
