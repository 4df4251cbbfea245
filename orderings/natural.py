"""The order in which equation (4) is written, made feasible."""

from kkt import Structure

from .registry import order


@order("natural", source="Ascher, Pai & Cloutier 1996, eq (4), as written")
def natural(structure: Structure) -> list:
    """Block rows of (4) one after another; qdd, whose diagonal is zero, waits for f."""
    return [[(kind, k)] for kind in ("pdd", "f", "qdd") for k in structure.names]
