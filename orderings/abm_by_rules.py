"""ABM's brackets under other rules (Rodriguez 1987; Ascher, Pai & Cloutier 1996; Bucy & Joseph 1968).

In gain form Mbar = M^ - K (H M^) with K = M^ H* D^-1; what each rule changes is in docs/elimination.md.
Rotations find its pivots from weighted rows (:mod:`kkt.program.orthogonal`); they take no loops or contacts.
Last stand ABM's pivots without its brackets (Cloutier 1995, section 5.3.1).
"""

from pivotree.kkt import Structure

from .abm import abm
from .registry import order


@order("gain_abm", source="Rodriguez 1987; Jain 1991", rank_update="gain")
def gain_abm(structure: Structure) -> list:
    """ABM's brackets; (c/d) c* in the place of abm's outer product (c c*)/d."""
    return abm(structure)


@order("modified_abm", source="Ascher, Pai & Cloutier 1996, eq (11)", accumulate="unassembled")
def modified_abm(structure: Structure) -> list:
    """ABM's brackets; D_k = H M H* + H M~ H* is summed after projecting, M and M~ kept apart."""
    return abm(structure)


@order("projected_abm", source="Ascher, Pai & Cloutier 1996, eqs (10) and (11)", accumulate="projected")
def projected_abm(structure: Structure) -> list:
    """ABM's brackets; D_k = H M H* + E M~ E*, E being H without its part in the null space of M~.

    Along a heavy child's own joint H M~ H* is exactly zero but rounds to u |M~|, more than a light
    body's H M H*; E M~ E* rounds to E's own size.  Every child has its own E and M~.
    """
    return abm(structure)


@order(
    "joseph_abm", source="Bucy & Joseph 1968; Rodriguez 1987 (ABM as a Kalman filter)", rank_update="joseph"
)
def joseph_abm(structure: Structure) -> list:
    """ABM's brackets; Mbar = (1 - K H) M^ (1 - K H)* with K = M^ H* D^-1: a sum of squares.

    An error of K enters Mbar in second order only, and Mbar stays positive where M^ is.
    """
    return abm(structure)


@order(
    "square_root_abm",
    source="Gauss 1829 (principle of least constraint); rotations: Gentleman 1973",
    elimination="orthogonal",
)
def square_root_abm(structure: Structure) -> list:
    """ABM's brackets, tip to base; each joint is rotated out of its subtree's rows."""
    return abm(structure)


@order("bad_abm", source="Cloutier 1995, sec. 5.3.1", assembly="right_looking")
def bad_abm(structure: Structure) -> list:
    """(M_p + Phi M^ Phi*) first, the projection subtracted after it: as rough as CRBM."""
    return [group for k in structure.tip_to_base for group in ([("pdd", k), ("f", k)], [("qdd", k)])]
