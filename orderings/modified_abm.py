"""Modified ABM (Ascher, Pai & Cloutier 1996, equation (11)), in its unassembled form."""

from pivotree.kkt import Structure

from .abm import abm
from .registry import order


@order("modified_abm", source="Ascher, Pai & Cloutier 1996, eq (11)", accumulate="unassembled")
def modified_abm(structure: Structure) -> list:
    """ABM's brackets; D_k = H M H* + H M~ H* is summed after projecting, M and M~ kept apart."""
    return abm(structure)
