"""Inverse dynamics: qdd known, tau unknown (recursive Newton-Euler; Luh, Walker & Paul 1980)."""

from pivotree.kkt import Structure

from .registry import order


@order("inverse_dynamics", source="Luh, Walker & Paul 1980 (RNEA)", problem="tau")
def inverse_dynamics(structure: Structure) -> list:
    """(row, unknown): accelerations base to tip, forces tip to base, efforts; no fill."""
    return [
        *((("f", k), ("pdd", k)) for k in structure.base_to_tip),
        *((("pdd", k), ("f", k)) for k in structure.tip_to_base),
        *((("qdd", k), ("tau", k)) for k in structure.tip_to_base if structure.dof[structure.index[k]]),
    ]
