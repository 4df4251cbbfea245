"""ABM in gain form, Mbar = M^ - K (H M^) with K = M^ H* D^-1 (Rodriguez 1987; Jain 1991)."""

from pivotree.kkt import Structure

from .abm import abm
from .registry import order


@order("gain_abm", source="Rodriguez 1987; Jain 1991", rank_update="gain")
def gain_abm(structure: Structure) -> list:
    """ABM's brackets; (c/d) c* in the place of abm's outer product (c c*)/d."""
    return abm(structure)
