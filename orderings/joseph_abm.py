"""ABM with Mbar in Joseph's symmetric form (Bucy & Joseph 1968; Rodriguez 1987 for the filter)."""

from pivotree.kkt import Structure

from .abm import abm
from .registry import order


@order(
    "joseph_abm", source="Bucy & Joseph 1968; Rodriguez 1987 (ABM as a Kalman filter)", rank_update="joseph"
)
def joseph_abm(structure: Structure) -> list:
    """ABM's brackets; Mbar = (1 - K H) M^ (1 - K H)* with K = M^ H* D^-1: a sum of squares.

    An error of K enters Mbar in second order only, and Mbar stays positive where M^ is.
    """
    return abm(structure)
