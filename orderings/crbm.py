"""Composite rigid body method (Walker & Orin 1982; Ascher, Pai & Cloutier 1996, strategy 1)."""

from pivotree.kkt import Structure

from .registry import order


@order("crbm", source="Walker & Orin 1982; Ascher, Pai & Cloutier 1996, sec. 2, strategy 1")
def crbm(structure: Structure) -> list:
    """All (pdd f) tip to base, which leaves the joint-space inertia; then every joint."""
    bodies = structure.tip_to_base
    return [[("pdd", k), ("f", k)] for k in bodies] + [[("qdd", k)] for k in bodies]
