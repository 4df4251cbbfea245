"""Constraint force algorithm: odd-even elimination (Fijany, Sharf & D'Eleuterio 1995)."""

from pivotree.kkt import Structure

from .registry import order
from .virtual_work import free_bodies


@order("constraint_force", source="Fijany, Sharf & D'Eleuterio 1995 (cyclic reduction)")
def constraint_force(structure: Structure) -> list:
    """Constraint forces of every other joint, then of every other one left, and so on."""
    depth = dict(zip(structure.names, (structure.depth + 1).tolist(), strict=True))

    def round_of(body: object) -> int:
        """Trailing zeros of the joint's number along its branch: the round that takes it."""
        number = depth[body]
        return (number & -number).bit_length()

    return free_bodies(structure, sorted(structure.tip_to_base, key=round_of))
