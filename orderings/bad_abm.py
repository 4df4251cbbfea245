"""ABM's pivots without its brackets (Cloutier 1995, section 5.3.1).

``assembly="right_looking"`` gives that section's formula to the letter: (M_p + Phi M Phi*) first.
"""

from kkt import Structure

from .registry import order


@order("bad_abm", source="Cloutier 1995, sec. 5.3.1")
def bad_abm(structure: Structure) -> list:
    """Phi M^ Phi* is formed before the projection is subtracted from it: as rough as CRBM."""
    return [
        group for k in structure.tip_to_base for group in ([("pdd", k), ("f", k)], [("qdd", k)])
    ]
