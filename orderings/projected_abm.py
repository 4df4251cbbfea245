"""Projected ABM: eq (11) with E of eq (10) for H (Ascher, Pai & Cloutier 1996, sections 3, 4)."""

from pivotree.kkt import Structure

from .abm import abm
from .registry import order


@order("projected_abm", source="Ascher, Pai & Cloutier 1996, eqs (10) and (11)", accumulate="projected")
def projected_abm(structure: Structure) -> list:
    """ABM's brackets; D_k = H M H* + E M~ E*, E being H without its part in the null space of M~.

    Along a heavy child's own joint H M~ H* is exactly zero but rounds to u |M~|, more than a light
    body's H M H*; E M~ E* rounds to E's own size.  Every child has its own E and M~.
    """
    return abm(structure)
