"""Articulated body method (Featherstone 1983; Ascher, Pai & Cloutier 1996, equations (5)-(7))."""

from pivotree.kkt import Structure

from .registry import order


@order("abm", source="Featherstone 1983; Ascher, Pai & Cloutier 1996, eqs (5)-(7)")
def abm(structure: Structure) -> list:
    """One bracket a body, tip to base: D_k and Mbar_k are formed before Phi is met."""
    return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]
