"""The order in which the bodies are listed (Ascher, Pai & Cloutier 1996, equation (6))."""

from pivotree.kkt import Partition, Structure

from .graphs import in_turn
from .registry import order


@order("natural", source="Ascher, Pai & Cloutier 1996, eq (6), bodies as listed")
def natural(structure: Structure) -> list:
    """Body after body as the tree lists them, one block at a time: pdd, f, then qdd."""
    if isinstance(structure, Partition):
        return in_turn(structure, structure.names)
    return [[(kind, k)] for k in structure.names for kind in ("pdd", "f", "qdd")]
