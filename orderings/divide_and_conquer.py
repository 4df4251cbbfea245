"""Divide and conquer: nested dissection of the joints (Featherstone 1999; George 1973)."""

import numpy as np

from pivotree.kkt import Structure

from .registry import order
from .virtual_work import free_bodies


@order("divide_and_conquer", source="Featherstone 1999; nested dissection, George 1973")
def divide_and_conquer(structure: Structure) -> list:
    """The joint that halves a subtree is eliminated after both halves: depth log n on a chain."""
    from pivotree.kkt.order.pivots import halving_joints  # compiled

    parents_first = np.ascontiguousarray(structure.order[::-1])
    last_first = halving_joints(structure.parent, parents_first)
    return free_bodies(structure, [structure.names[k] for k in last_first[::-1]])
