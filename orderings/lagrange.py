"""Lagrange multipliers in linear time (Baraff 1996)."""

from pivotree.kkt import Structure

from .registry import order


@order("lagrange", source="Baraff 1996, sec. 6")
def lagrange(structure: Structure) -> list:
    """Acceleration, joint torque, constraint force, body after body, leaf to root."""
    return [
        group for k in structure.tip_to_base for group in ([("pdd", k)], [("qdd", k), ("fJ", k)], [("fC", k)])
    ]
