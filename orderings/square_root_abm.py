"""Square-root ABM: Gauss's principle (1829) as weighted least squares, by rotations.

The pivots are ABM's, found from weighted rows and not from inertias (see
:mod:`kkt.program.orthogonal`).  The rotations are Gentleman's (1973), without square roots.
Robots with closed loops or contacts are refused.
"""

from pivotree.kkt import Structure

from .abm import abm
from .registry import order


@order(
    "square_root_abm",
    source="Gauss 1829 (principle of least constraint); rotations: Gentleman 1973",
    elimination="orthogonal",
)
def square_root_abm(structure: Structure) -> list:
    """ABM's brackets, tip to base; each joint is rotated out of its subtree's rows."""
    return abm(structure)
