"""Composite rigid body method (Walker & Orin 1982; Ascher, Pai & Cloutier 1996, strategy 1)."""

from pivotree.kkt import Structure

from .registry import order


@order("crbm", source="Walker & Orin 1982; Ascher, Pai & Cloutier 1996, sec. 2, strategy 1")
def crbm(structure: Structure) -> list:
    """All (pdd f) tip to base, which leaves the joint-space inertia; then every joint."""
    bodies = structure.tip_to_base
    return [[("pdd", k), ("f", k)] for k in bodies] + [[("qdd", k)] for k in bodies]


@order("crbm_block_row", source="Ascher, Pai & Cloutier 1996, equation after (4)")
def crbm_block_row(structure: Structure) -> list:
    """Two brackets: all of pdd and f, whose inverse holds Phi; then all joints."""
    bodies = structure.tip_to_base
    return [[(kind, k) for k in bodies for kind in ("pdd", "f")], [("qdd", k) for k in bodies]]


@order("crbm_com", source="Walker & Orin 1982, method 3; Cloutier 1995, sec. 3.1.1", composites="centre")
def crbm_com(structure: Structure) -> list:
    """The pivots of crbm; a composite is its mass, centre of mass and inertia about that centre."""
    return crbm(structure)
