"""Divide and conquer: nested dissection of the joints (Featherstone 1999; George 1973)."""

from pivotree.kkt import Structure

from .registry import order
from .virtual_work import free_bodies


@order("divide_and_conquer", source="Featherstone 1999; nested dissection, George 1973")
def divide_and_conquer(structure: Structure) -> list:
    """The joint that halves a subtree is eliminated after both halves: depth log n on a chain."""
    bodies = structure.order[::-1].tolist()  # parents before children
    last_first = halving_joints(structure.parent.tolist(), bodies)
    return free_bodies(structure, [structure.names[k] for k in last_first[::-1]])


def halving_joints(parent: list[int], bodies: list[int]) -> list[int]:
    """Joints, named by their bodies, each of which cuts a part into two most equal halves.

    The halves are the part's joints below the cut, and all others but the cut.  A part's cut comes
    before those of its halves.  ``bodies`` lists all of them, parents before children.
    """
    waiting, found = [bodies], []
    while waiting:
        part = waiting.pop()
        if not part:
            continue
        below = dict.fromkeys(part, 1)
        for k in reversed(part):
            if parent[k] in below:
                below[parent[k]] += below[k]
        cut = min(part, key=lambda k: abs(2 * below[k] - 1 - len(part)))
        found.append(cut)
        under = {cut}
        for k in part:
            if parent[k] in under:
                under.add(k)
        waiting.append([k for k in part if k not in under])
        waiting.append([k for k in part if k in under and k != cut])
    return found
