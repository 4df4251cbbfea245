"""The order in which the bodies are listed (Ascher, Pai & Cloutier 1996, equation (6))."""

from pivotree.kkt import Structure

from .registry import order


@order("natural", source="Ascher, Pai & Cloutier 1996, eq (6), bodies as listed")
def natural(structure: Structure) -> list:
    """Body after body as the tree lists them, one block at a time: pdd, f, then qdd."""
    return [[(kind, k)] for k in structure.names for kind in ("pdd", "f", "qdd")]
