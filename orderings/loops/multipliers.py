"""Multipliers of loops before bodies, or early (Todorov, Erez & Tassa 2012; Lubich et al. 1992).

An order that names none has them last.  On a tree without loops each order of this file is CRBM or ABM,
from which it is made.
"""

from pivotree.kkt import Structure

from ..abm import abm
from ..crbm import crbm
from ..registry import order


@order(
    "lambda_first",
    loops=True,
    source="soft rows condensed into M + J^T D J, then CRBM: Todorov, Erez & Tassa 2012",
)
def lambda_first(structure: Structure) -> list:
    """Lambda of soft rows before any body; then CRBM of M_k and what they add to it."""
    return soft(structure) + crbm(structure)


@order(
    "lambda_first_abm",
    loops=True,
    source="soft rows as springs (Todorov, Erez & Tassa 2012), then ABM: Featherstone 1983",
)
def lambda_first_abm(structure: Structure) -> list:
    """Lambda of soft rows before any body; then ABM of M_k and what they add to it."""
    return soft(structure) + abm(structure)


@order("closed_early", loops=True, source="Lubich et al. 1992; docs/loops.md")
def closed_early(structure: Structure) -> list:
    """ABM, with each lambda as soon as the last body of its loop is gone."""
    groups = []
    for k in structure.tip_to_base:
        groups.append([("pdd", k), ("qdd", k), ("f", k)])
        groups += [[("lam", c)] for c in structure.constraints if structure.closing(c) == k]
    return groups


def soft(structure: Structure) -> list:
    """Multipliers that have a pivot of their own, which is their compliance."""
    return [[("lam", c)] for c in structure.constraints if structure.compliant(c)]
