"""ABM of closed loops, bodies by what loops tie them to (LCABA; Sathya & Carpentier 2026)."""

from collections.abc import Hashable
from itertools import combinations

from pivotree.kkt import Structure

from ..registry import order
from .multipliers import soft


@order(
    "lcaba", loops=True, source="Sathya & Carpentier 2026 (LCABA); joints in the order of Pinocchio's lcaba"
)
def lcaba(structure: Structure) -> list:
    """Lambda of soft rows before any body; then ABM, tips first that loops tie to the fewest."""
    return soft(structure) + [[("pdd", k), ("qdd", k), ("f", k)] for k in _least_tied(structure)]


def _least_tied(structure: Structure) -> list[Hashable]:
    """Bodies, children before parents; of those that may go, one tied to the fewest others.

    A body that goes hands its ties to its parent, and ties those that it was tied to.
    """
    import networkx as nx  # not by those who only ask for an order's name

    tied = nx.empty_graph(structure.names)
    for c in structure.constraints:
        tied.add_edges_from(combinations(structure.tied(c), 2))
    waiting = {k: len(structure.children(k)) for k in structure.names}
    tips = [k for k in reversed(structure.names) if not waiting[k]]
    found = []
    while tips:
        k = min(tips, key=lambda tip: len(tied[tip]))
        tips.remove(k)
        found.append(k)
        parent = structure.parent_of(k)
        others = {*tied[k], *([] if parent is None else [parent])}
        tied.remove_node(k)
        tied.add_edges_from(combinations(others, 2))
        if parent is not None:
            waiting[parent] -= 1
            if not waiting[parent]:
                tips.insert(0, parent)
    return found
