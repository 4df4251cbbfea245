"""CRBM as one block row (Ascher, Pai & Cloutier 1996, the equation after (4))."""

from pivotree.kkt import Structure

from .registry import order


@order("crbm_block_row", source="Ascher, Pai & Cloutier 1996, equation after (4)")
def crbm_block_row(structure: Structure) -> list:
    """Two brackets: all of pdd and f, whose inverse holds Phi; then all joints."""
    bodies = structure.tip_to_base
    return [[(kind, k) for k in bodies for kind in ("pdd", "f")], [("qdd", k) for k in bodies]]
