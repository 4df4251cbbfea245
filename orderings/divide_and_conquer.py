"""Divide and conquer: nested dissection of the joints (Featherstone 1999; George 1973)."""

from kkt import Structure

from .registry import order
from .virtual_work import free_bodies


@order("divide_and_conquer", source="Featherstone 1999; nested dissection, George 1973")
def divide_and_conquer(structure: Structure) -> list:
    """The joint that halves a subtree is eliminated after both halves: depth log n on a chain."""
    last_first: list = []
    waiting = [structure.order[::-1].tolist()]  # parts of the tree, parents before children
    while waiting:
        part = waiting.pop()
        cut, below = halve(structure, part)
        last_first.append(structure.names[cut])
        inside = set(below)
        # the part's own topmost joint stays with the upper half
        halves = [[k for k in part if k not in inside], [k for k in below if k != cut]]
        waiting += [half for half in halves if half]
    return free_bodies(structure, last_first[::-1])


def halve(structure: Structure, joints: list[int]) -> tuple[int, list[int]]:
    """The joint with nearest to half of the joints at or below it, and those joints."""
    parent = structure.parent
    below = dict.fromkeys(joints, 1)
    for k in reversed(joints):
        if parent[k] in below:
            below[int(parent[k])] += below[k]
    cut = min(joints, key=lambda k: abs(2 * below[k] - 1 - len(joints)))
    inside = {cut}
    inside.update(k for k in joints if parent[k] in inside or k == cut)
    for k in joints:  # parents come first, so that one pass finds the whole subtree
        if parent[k] in inside:
            inside.add(k)
    return cut, [k for k in joints if k in inside]
