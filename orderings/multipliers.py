"""Where the multipliers of closed loops and contacts stand; an order that names none has them last.

On a tree without loops each of these is the order that it comes from.
"""

from collections.abc import Hashable, Iterable
from itertools import permutations

from pivotree.kkt import Structure

from .abm import abm
from .crbm import crbm
from .registry import order


@order(
    "lambda_first", loops=True,
    source="soft rows condensed into M + J^T D J, then CRBM: Todorov, Erez & Tassa 2012",
)  # fmt: skip
def lambda_first(structure: Structure) -> list:
    """Lambda of soft rows before any body; then CRBM of M_k and what they add to it."""
    return _soft(structure) + crbm(structure)


@order(
    "lambda_first_abm", loops=True,
    source="the same, then ABM of Featherstone 1983: springs at the bodies that they act on",
)  # fmt: skip
def lambda_first_abm(structure: Structure) -> list:
    """Lambda of soft rows before any body; then ABM of M_k and what they add to it."""
    return _soft(structure) + abm(structure)


@order(
    "lcaba", loops=True,
    source="Sathya & Carpentier 2026 (LCABA); joints in the order of Pinocchio's lcaba",
)  # fmt: skip
def lcaba(structure: Structure) -> list:
    """Lambda of soft rows before any body; then ABM, tips first that loops tie to the fewest."""
    return _soft(structure) + [[("pdd", k), ("qdd", k), ("f", k)] for k in _least_tied(structure)]


@order("closed_early", loops=True, source="Lubich et al. 1992; docs/loops.md")
def closed_early(structure: Structure) -> list:
    """ABM, with each lambda as soon as the last body of its loop is gone."""
    groups = []
    for k in structure.tip_to_base:
        groups.append([("pdd", k), ("qdd", k), ("f", k)])
        groups += [[("lam", c)] for c in structure.constraints if structure.closing(c) == k]
    return groups


def _soft(structure: Structure) -> list:
    """Multipliers that have a pivot of their own, which is their compliance."""
    return [[("lam", c)] for c in structure.constraints if structure.compliant(c)]


def _least_tied(structure: Structure) -> list[Hashable]:
    """Bodies, children before parents; of those that may go, one tied to the fewest others.

    A body that goes hands its ties to its parent, and ties those that it was tied to.
    """
    tied: dict[Hashable, set[Hashable]] = {k: set() for k in structure.names}
    for c in structure.constraints:
        _tie(tied, structure.tied(c))
    waiting = {k: len(structure.children(k)) for k in structure.names}
    tips = [k for k in reversed(structure.names) if not waiting[k]]
    found = []
    while tips:
        k = min(tips, key=lambda tip: len(tied[tip]))
        tips.remove(k)
        found.append(k)
        parent = structure.parent_of(k)
        others = tied.pop(k)
        for other in others:
            tied[other].discard(k)
        _tie(tied, others if parent is None else others | {parent})
        if parent is not None:
            waiting[parent] -= 1
            if not waiting[parent]:
                tips.insert(0, parent)
    return found


def _tie(tied: dict[Hashable, set[Hashable]], bodies: Iterable[Hashable]) -> None:
    """Each of these bodies to all others of them."""
    for one, other in permutations(bodies, 2):
        tied[one].add(other)
