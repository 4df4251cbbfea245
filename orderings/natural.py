"""Sequences without a method: as listed (Ascher, Pai & Cloutier 1996, equation (6)), outward, at random."""

import random

from pivotree.kkt import Order, Partition, Structure

from .registry import order


@order("natural", source="Ascher, Pai & Cloutier 1996, eq (6), bodies as listed")
def natural(structure: Structure) -> list:
    """Body after body as the tree lists them, one block at a time: pdd, f, then qdd."""
    if isinstance(structure, Partition):
        from .graphs import in_turn  # of matrices alone

        return in_turn(structure, structure.names)
    return [[(kind, k)] for k in structure.names for kind in ("pdd", "f", "qdd")]


@order("base_to_tip", source="reverse of Brandl, Johanni & Otter 1986")
def base_to_tip(structure: Structure) -> list:
    """Brackets as in ABM, root first: 1/m of a body is absorbed where ABM absorbs m."""
    return [[("pdd", k), ("f", k), ("qdd", k)] for k in structure.base_to_tip]


def random_order(seed: int = 0) -> Order:
    """The random order of a seed; every linear extension can come up."""

    @order(f"random:{seed}", source="any linear extension of pdd < f < qdd")
    def shuffled(structure: Structure) -> list:
        """Blocks in a random order of this seed, pdd before f before qdd in every body."""
        turns = [k for k in structure.names for _ in range(3)]
        random.Random(seed).shuffle(turns)
        kinds = {k: iter(("pdd", "f", "qdd")) for k in structure.names}
        return [[(next(kinds[k]), k)] for k in turns]

    return shuffled
