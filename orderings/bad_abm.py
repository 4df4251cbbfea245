"""ABM's pivots without its brackets (Cloutier 1995, section 5.3.1)."""

from pivotree.kkt import Structure

from .registry import order


@order("bad_abm", source="Cloutier 1995, sec. 5.3.1", assembly="right_looking")
def bad_abm(structure: Structure) -> list:
    """(M_p + Phi M^ Phi*) first, the projection subtracted after it: as rough as CRBM."""
    return [group for k in structure.tip_to_base for group in ([("pdd", k), ("f", k)], [("qdd", k)])]
